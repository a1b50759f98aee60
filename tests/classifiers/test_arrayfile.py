"""Model files that would fill the memory, or are smaller than declared, are refused in one line."""

import io
import struct
import zipfile
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import numpy as np
import pytest

from langfocus.classifiers.arrayfile import MAX_UNPACKED_BYTES, read_arrays, write_arrays
from langfocus.classifiers.errors import ModelError

GIGABYTE = 1 << 30


def header(items: int) -> bytes:
    """The head of an .npy file that promises so many bytes."""
    head = io.BytesIO()
    description = {"descr": "|u1", "fortran_order": False, "shape": (items,)}
    np.lib.format.write_array_header_1_0(head, description)
    return head.getvalue()


def packed(path: Path, name: str, head: bytes, zeros: int) -> None:
    """Write an archive of one member: the head and so many bytes of zero."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w") as file,
    ):
        file.write(head)
        for _ in range(zeros // (1 << 20)):
            file.write(bytes(1 << 20))


def claiming(path: Path, size: int) -> None:
    """Change the size of the only member in the directory of an archive."""
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", size)
    path.write_bytes(data)


def test_arrays_come_back_as_they_were_written(tmp_path: Path) -> None:
    write_arrays(tmp_path / "m.npz", a=np.arange(9), b=np.array(["x"]))
    arrays = read_arrays(tmp_path / "m.npz", "a", "b")
    assert arrays["a"].tolist() == list(range(9))
    assert arrays["b"].tolist() == ["x"]


def test_a_file_that_unpacks_to_gigabytes_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    packed(path, "weights.npy", header(3 * GIGABYTE), 1 << 20)
    claiming(path, 3 * GIGABYTE)
    with pytest.raises(ModelError, match="unpacks to 3,221 MB; at most 1,074 MB are read"):
        read_arrays(path, "weights")


def test_an_array_that_is_not_asked_for_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    packed(path, "other.npy", header(3 * GIGABYTE), 0)
    claiming(path, 3 * GIGABYTE)
    with pytest.raises(ModelError, match="no array 'weights'"):
        read_arrays(path, "weights")


@pytest.mark.parametrize("promised", [MAX_UNPACKED_BYTES - 4096, 3 * GIGABYTE])
def test_a_file_that_holds_less_than_it_promises_takes_no_memory(
    tmp_path: Path, promised: int
) -> None:
    path = tmp_path / "m.npz"
    packed(path, "weights.npy", header(promised), 1 << 20)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelError, match="cannot be read"):
        read_arrays(path, "weights")
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 100_000

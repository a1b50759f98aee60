"""Lines of files and pipes in batches, whatever the pieces in which they arrive."""

import gzip
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.commands.input_lines import LONGEST_LINE, MOST_LINES, InputLines, _whole_lines


def split(data: bytes) -> list[bytes]:
    """Return the lines as iterating over a file gives them, without their ends."""
    return [line.removesuffix(b"\n") for line in BytesIO(data)]


@given(st.lists(st.lists(st.sampled_from([b"\n", b"a", b"bc\n", b"\n\n"])).map(b"".join)))
def test_the_pieces_in_which_lines_arrive_change_nothing(pieces: list[bytes]) -> None:
    blocks = list(_whole_lines(iter(pieces)))
    lines = [line for block in blocks for line in block.split(b"\n")]
    assert lines == split(b"".join(pieces))


@given(st.lists(st.sampled_from([b"\n", b"a", b"bc\r\n", b"\xff"])).map(b"".join), st.booleans())
def test_a_file_gives_its_lines_gzipped_or_not(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, is_gzip: bool
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a"
    path.write_bytes(gzip.compress(data) if is_gzip else data)
    lines = [
        line.encode("utf-8", "surrogateescape") for batch in InputLines(str(path)) for line in batch
    ]
    assert lines == [line.rstrip(b"\r") for line in split(data)]
    blocks = InputLines(str(path)).blocks()
    assert [line for block in blocks for line in block.split(b"\n")] == split(data)


def test_batches_and_lines_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a"
    long = b"x" * (3 * LONGEST_LINE)
    path.write_bytes(b"\xef\xbb\xbfa\n" + long + b"\nb\n" + b"\n" * (2 * MOST_LINES))
    batches = list(InputLines(str(path)))
    assert max(map(len, batches)) == MOST_LINES
    lines = [line for batch in batches for line in batch]
    assert (lines[0], lines[2], len(lines)) == ("a", "b", 3 + 2 * MOST_LINES)
    assert lines[1] == "x" * LONGEST_LINE


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(InputLines(str(tmp_path / "none")))

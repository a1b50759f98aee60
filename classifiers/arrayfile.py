"""Safe .npz files of learned arrays: read and written without unpickling."""

import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from langfocus.classifiers.errors import ModelError

MODELS: Final = Path(__file__).with_name("models")
"""Folder of the shipped models."""

DAMAGE: Final = (
    EOFError,
    MemoryError,
    RuntimeError,
    OSError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)
"""Errors raised while a damaged .npz file is read."""

MAX_UNPACKED_BYTES: Final = 1 << 30
"""Unpacked bytes read from a file at most; the largest shipped file unpacks to 20 million."""

Arrays = dict[str, npt.NDArray[Any]]


def write_arrays(path: Path, **arrays: Any) -> None:
    """Write the arrays to `path`, uncompressed; equal arrays produce equal bytes."""
    with Path(path).open("wb") as file:
        np.savez(file, **arrays)


def read_arrays(path: Path, *names: str, optional: Sequence[str] = ()) -> Arrays:
    """Return the named arrays, and the `optional` arrays present in the file.

    Raises ModelError if the file is missing, damaged or too large, or lacks a named array. The size
    is checked before any array is unpacked.
    """
    if Path(path).exists() and not Path(path).is_file():  # a pipe would wait for a writer
        raise ModelError(f"{path}: the model is not a regular file")
    try:
        with Path(path).open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                raise ValueError("one array, not an .npz archive")
            with loaded:
                missing = [name for name in names if name not in loaded.files]
                if missing:
                    raise ModelError(f"{path}: not a model of this kind: no array {missing[0]!r}")
                read = [*names, *(name for name in optional if name in loaded.files)]
                # zipfile unpacks no more than the declared size.
                infos = loaded.zip.infolist()
                size = sum(i.file_size for i in infos if i.filename.removesuffix(".npy") in read)
                if size > MAX_UNPACKED_BYTES:
                    raise ModelError(
                        f"{path}: the model file unpacks to {size / 1e6:,.0f} MB; "
                        f"at most {MAX_UNPACKED_BYTES / 1e6:,.0f} MB are read"
                    )
                return {name: loaded[name] for name in read}
    except FileNotFoundError as error:
        raise ModelError(f"{path}: no such model file; `langfocus train` writes one") from error
    except ModelError:
        raise
    except DAMAGE as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> ModelError:
    """Return a one-line error for a damaged model file."""
    reason = " ".join(str(error).split())[:120] or type(error).__name__
    return ModelError(f"{path}: the model file cannot be read ({reason})")

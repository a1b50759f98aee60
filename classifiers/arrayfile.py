"""Reads and writes learned arrays in one .npz file, without unpickling."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from classifiers.errors import ModelError
from classifiers.shipped import shipped_folder

MODELS: Final = shipped_folder("models", "classifiers/models")
"""The folder of the models that ship."""

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
"""Errors that reading a damaged .npz file raises."""

Arrays = dict[str, npt.NDArray[Any]]


def write_arrays(path: Path, **arrays: Any) -> None:
    """Write the file; the same arrays give the same bytes."""
    with Path(path).open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_arrays(path: Path, *names: str) -> Arrays:
    """The arrays with these names; ModelError if the file is missing or damaged or lacks one."""
    try:
        with Path(path).open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                raise ValueError("one array, not an .npz archive")
            with loaded:
                missing = [name for name in names if name not in loaded.files]
                if missing:
                    raise ModelError(f"{path}: not a model of this kind: no array {missing[0]!r}")
                return {name: loaded[name] for name in names}
    except FileNotFoundError as error:
        raise ModelError(f"{path}: no such model file; `scrapy train` makes one") from error
    except ModelError:
        raise
    except DAMAGE as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise ModelError(f"{path}: the model file cannot be read ({reason})") from error

"""Functions compiled by numba, and the folder of its cache on disk.

numba compiles a function anew after a change in the function's file. It does not notice a change in
another file, of a function that is called or of a constant that is read. So the cache is in a
folder that is named by a digest of all files that name this module: each of their changes
compiles all functions anew, in some 20 s. Where no folder can be written, each process does.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, TypeVar, cast

import numba

_BLAS: Final = "scipy.linalg.cython_blas"
if _BLAS not in sys.modules:
    # numba reads scipy's linear algebra if it can: 15 MB and 0.3 s for what no code here calls.
    sys.modules[_BLAS] = None  # type: ignore[assignment]  # "not to be imported"
    importlib.import_module("numba.np.arraymath")
    del sys.modules[_BLAS]

Function = TypeVar("Function", bound=Callable[..., Any])

_ROOT: Final = Path(__file__).resolve().parents[1]
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
_MARK: Final = b"classifiers.compiled"


def compiled(function: Function) -> Function:
    """The function compiled at its first call, or read from the cache on disk."""
    return cast(Function, numba.njit(cache=_has_cache(), **_OPTIONS)(function))


def inlined(function: Function) -> Function:
    """The function compiled as a part of the functions that call it."""
    return cast(Function, numba.njit(forceinline=True, **_OPTIONS)(function))


def sources(root: Path = _ROOT) -> list[Path]:
    """The files that name this module; compiled code reads constants of no others."""
    files = (path for room in ("classifiers", "crawler") for path in (root / room).rglob("*.py"))
    return sorted(path for path in files if _MARK in path.read_bytes())


def digest(files: Iterable[Path]) -> str:
    """A digest of the contents of some files."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


@cache
def _has_cache() -> bool:
    """Point numba to the folder of the cache; False if none can be written."""
    name = digest([Path(__file__), *sources()])
    config: Any = numba.config
    asked: str = config.CACHE_DIR  # the variable NUMBA_CACHE_DIR
    usual = [str(_ROOT / "classifiers/__pycache__"), "~/.cache/langfocus"]
    for base in [asked] if asked else usual:
        try:
            folder = Path(base).expanduser() / name
            folder.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder).close()
        except (OSError, RuntimeError):  # no permission; no home
            continue
        config.CACHE_DIR = str(folder)
        return True
    return False

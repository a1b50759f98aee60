"""Functions compiled by numba at their first call, and the folder of its cache on disk.

numba compiles a function anew after a change in the function's file. It does not notice a change in
another file, of a function that is called or of a constant that is read. So the cache is in a
folder that is named by a digest of all files that name this module: each of their changes
compiles all functions anew, in some 15 s. Where no folder can be written, each process does.
Otherwise of several processes that begin at once one compiles a function, and the others wait.

numba takes half a second and 100 MB, so Python itself runs what is done for a few URLs. The source
is the same, and so are the numbers.
"""

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, TypeVar, cast

import numpy as np

try:
    import fcntl
except ImportError:  # each process compiles for itself
    fcntl = None  # type: ignore[assignment]

Function = TypeVar("Function", bound=Callable[..., Any])

_BLAS: Final = "scipy.linalg.cython_blas"
_FEW: Final = 2000
"""Code points of some 30 URLs; each URL takes 10 ms in Python."""
_ROOT: Final = Path(__file__).resolve().parents[1]
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
_MARK: Final = b"classifiers.compiled"


class _Compiled:
    """A function for numba; for the first `few` values of its first argument Python runs it."""

    def __init__(self, function: Callable[..., Any], few: int = 0, **options: bool) -> None:
        update_wrapper(self, function)
        self._function, self._few, self._options = function, few, options
        self._is_compiled = False

    def __call__(self, *arguments: Any) -> Any:
        if self._few > 0 and "numba" not in sys.modules:
            self._few -= len(arguments[0])
            if self._few > 0:
                with np.errstate(over="ignore"):  # hashes overflow
                    return self._function(*arguments)
        if not self._is_compiled:
            dispatcher = self.dispatcher
            with _alone(self._function.__qualname__):
                dispatcher.compile(tuple(map(_numba().typeof, arguments)))
            self._is_compiled = True
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba knows it."""
        options = self._options or {"cache": _has_cache()}
        return _numba().njit(**options, **_OPTIONS)(self._function)


class _Inlined(_Compiled):
    """A part of compiled functions; called only where Python runs one of them."""

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)


def compiled(function: Function) -> Function:
    """The function compiled at its first call, or read from the cache on disk."""
    return cast(Function, _Compiled(function))


def compiled_for_many(function: Function) -> Function:
    """The same, but a process that has not loaded numba runs it in Python at first."""
    return cast(Function, _Compiled(function, _FEW))


def inlined(function: Function) -> Function:
    """The function compiled as a part of the functions that call it."""
    # Without the wrappers for calls from Python all takes a fifth less time to compile.
    options = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, _Inlined(function, **options))


@cache
def _numba() -> Any:
    """Load numba, and let functions that it compiles call each other."""
    if _BLAS not in sys.modules:
        # numba reads scipy's linear algebra if it can: 15 MB and 0.3 s for what no code here calls.
        sys.modules[_BLAS] = None  # type: ignore[assignment]  # "not to be imported"
        importlib.import_module("numba.np.arraymath")
        del sys.modules[_BLAS]
    numba: Any = importlib.import_module("numba")
    typed = numba.extending.typeof_impl.register(_Compiled)
    typed(lambda function, _: numba.types.Dispatcher(function.dispatcher))
    return numba


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
    config = _numba().config
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
        if sys.stderr.isatty() and not any(folder.rglob("*.nbi")):
            sys.stderr.write("langfocus: compiling, once for an installation; about 15 seconds\n")
        return True
    return False


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Let no other process compile the function of this name, if there is a cache for both."""
    if fcntl is None or not _has_cache():
        yield
        return
    with (Path(_numba().config.CACHE_DIR) / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

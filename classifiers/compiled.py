"""Functions compiled by numba at the first call, with a cache on disk.

numba recompiles a function after a change in the function's file. numba overlooks changes in other
files: to a called function, or to a constant. So the cache folder is named after a digest of every
file that mentions this module: a change in any such file recompiles all functions, in some 20 s.
Without a writable folder, every process compiles. With a cache, one process compiles a function
while concurrent processes wait.

Loading numba costs half a second and 100 MB, so Python itself runs small batches of URLs. Both run
the same source and compute the same numbers.
"""

import hashlib
import importlib
import logging
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

_UNUSED: Final = {
    "scipy.linalg.cython_blas": "np.arraymath",
    "cffi": "core.typing.cffi_utils",
    "yaml": "core.config",
}
"""Modules that numba loads if importable: 16 MB and 0.4 s; the modules that load them."""
_FEW: Final = 2000
"""Code points in some 30 URLs; Python needs 10 ms per URL."""
_ROOT: Final = Path(__file__).resolve().parents[1]
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
_MARK: Final = b"classifiers.compiled"


class _Compiled:
    """A numba function; Python runs the first `few` values of the first argument."""

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
        """Return numba's dispatcher for the function."""
        options = self._options or {"cache": _has_cache()}
        numba = _numba()
        dispatcher = numba.njit(**options, **_OPTIONS)(self._function)
        template, plain = dispatcher.get_call_template, numba.types.unliteral
        # Otherwise numba compiles the function again for each constant among its arguments.
        dispatcher.get_call_template = lambda args, kws: template(tuple(map(plain, args)), kws)
        return dispatcher


class _Inlined(_Compiled):
    """A function inlined by numba into compiled functions; called directly only from Python."""

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)


def compiled(function: Function) -> Function:
    """Return the function compiled at the first call, or loaded from the cache on disk."""
    return cast(Function, _Compiled(function))


def compiled_for_many(function: Function) -> Function:
    """Return a compiled function that runs in Python for small inputs until numba is loaded."""
    return cast(Function, _Compiled(function, _FEW))


def inlined(function: Function) -> Function:
    """Return the function for inlining into the compiled functions that call it."""
    # Without wrappers for calls from Python, compilation takes a fifth less time.
    options = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, _Inlined(function, **options))


@cache
def _numba() -> Any:
    """Load numba, and register compiled functions as callable from each other."""
    unused = _UNUSED.keys() - sys.modules.keys()
    sys.modules.update(dict.fromkeys(unused))  # type: ignore[arg-type]  # "not to be imported"
    for user in _UNUSED.values():
        importlib.import_module(f"numba.{user}")
    for name in unused:
        del sys.modules[name]
    numba: Any = importlib.import_module("numba")
    # Scrapy logs from level 0: a record for each step of the compiler takes a tenth of its time.
    logging.getLogger("numba").setLevel(logging.WARNING)
    typed = numba.extending.typeof_impl.register(_Compiled)
    typed(lambda function, _: numba.types.Dispatcher(function.dispatcher))
    return numba


def sources(root: Path = _ROOT) -> list[Path]:
    """Return the files that mention this module: all sources of compiled code and constants."""
    files = (path for room in ("classifiers", "crawler") for path in (root / room).rglob("*.py"))
    return sorted(path for path in files if _MARK in path.read_bytes())


def digest(files: Iterable[Path]) -> str:
    """Return a digest of the files' contents."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


@cache
def _has_cache() -> bool:
    """Point numba to the cache folder; False without a writable folder."""
    name = digest([Path(__file__), *sources()])
    config = _numba().config
    configured: str = config.CACHE_DIR  # the variable NUMBA_CACHE_DIR
    usual = [str(_ROOT / "classifiers/__pycache__"), "~/.cache/langfocus"]
    for base in [configured] if configured else usual:
        try:
            folder = Path(base).expanduser() / name
            folder.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder).close()
        except (OSError, RuntimeError):  # no permission; no home
            continue
        config.CACHE_DIR = str(folder)
        if sys.stderr.isatty() and not any(folder.rglob("*.nbi")):
            sys.stderr.write("langfocus: compiling, once for an installation; about 20 seconds\n")
        return True
    return False


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Lock the compilation of the named function against other processes that share the cache."""
    if fcntl is None or not _has_cache():
        yield
        return
    with (Path(_numba().config.CACHE_DIR) / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

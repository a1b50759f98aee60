"""Functions compiled by numba, and a cache on disk that notices every change in them.

numba keeps a compiled function on disk until the file of that function changes. It does not notice
a change in another file, of a function that is called or of a constant that is read. Here the key
of each cache entry holds a digest of these too, so compiled code can stand in several files.

numba also loads all of its compiler before it reads a function from the cache. Here it does so only
before it compiles, which takes 28 MB and 0.1 s less.

Where no folder for the cache can be written, every process compiles anew. This is the only module
that touches private parts of numba: `FunctionCache`, the symbols of the runtime, the class of a
dispatcher and its `_cache`, the option `_nrt` and the import of `numba.np.arraymath`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pickle import UnpicklingError
from sys import stdlib_module_names
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import binding as llvm
from numba.core import types
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher

Function = TypeVar("Function", bound=Callable[..., Any])

_FOREIGN = stdlib_module_names | {"numba", "numpy", "llvmlite"}
"""Packages whose functions are not read: numba's own key has its version."""
_DAMAGED = (OSError, EOFError, UnpicklingError, AttributeError, ImportError)
"""Errors of a cache that is damaged, on a full disk, or names a class that is gone."""
_PLAIN = (type(None), bool, int, float, str, bytes, np.generic)
_OPTIONS: Mapping[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # code for calls from C, which nothing makes
}
_BORROWING: Mapping[str, Any] = {**_OPTIONS, "_nrt": False}


def inlined(function: Function) -> Function:
    """The function compiled as a part of the functions that call it."""
    return _inner(function, **_OPTIONS)


def compiled(function: Function) -> Function:
    """The function compiled, or read from the cache on disk."""
    return _cached(function, numba.njit(**_OPTIONS))


def borrowing(function: Function) -> Function:
    """The function compiled without counts of references, or read from the cache on disk.

    Otherwise each field of a tuple and each argument of a call has its references counted, which
    can take longer than the work. The function and its steps borrow the arrays of their caller:
    numba refuses code that makes one, and a returned one would be freed while it is in use.
    """
    return _cached(function, numba.njit(**_BORROWING))


def step(function: Function) -> Function:
    """The function compiled into the functions that call it, without counts of references.

    It must not return an array, see `borrowing`.
    """
    return _inner(function, **_BORROWING, forceinline=True)


def part(function: Function) -> Function:
    """The function compiled once for the functions that call it, without counts of references.

    Each call passes all fields of its tuples, but the code of a `step` is there for each call.
    """
    return _inner(function, **_BORROWING)


def _inner(function: Function, **options: Any) -> Function:
    """The function compiled for other compiled functions; a call from Python is a `TypeError`.

    numba would also compile code that takes the arguments of a call from Python. That is most of
    the code of a function with tuples of arrays, and half of the time.
    """
    njit: Any = numba.njit
    dispatcher = njit(**options, no_cpython_wrapper=True)(function)
    dispatcher.__class__ = _Inner
    return cast(Function, dispatcher)


class _Inner(CPUDispatcher):
    """A function without code for a call from Python, which would be a crash."""

    def compile(self, sig: Any) -> Any:
        """Compile it once for all numbers of a type; numba's own does so for each constant."""
        parent: Any = super()
        return parent.compile(tuple(map(types.unliteral, sig)))

    def __call__(self, *_: object) -> None:
        raise TypeError(f"{self.py_func.__name__} is for compiled code; Python calls its py_func")


def _cached(function: Function, compile_it: Callable[[Any], Any]) -> Function:
    dispatcher = compile_it(function)
    cached: Any = _DigestCache
    try:
        dispatcher._cache = cached(function)
    except RuntimeError:  # no folder for the cache can be written
        _leave_out_scipy()
    return cast(Function, dispatcher)


class _DigestCache(FunctionCache):
    """numba's cache of one function, keyed by `source_digest` too; a damaged entry is ignored."""

    def _index_key(self, sig: Any, codegen: Any) -> tuple[object, ...]:
        parent: Any = super()
        key = parent._index_key(sig, codegen)
        return (*key, _fields(sig), source_digest(self._py_func))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The function, or None if it is not in the cache; numba's own loads the compiler first."""
        parent: Any = super()
        found = None
        try:
            _define_runtime()
            with parent._guard_against_spurious_io_errors():
                found = parent._load_overload(sig, target_context)
        except _DAMAGED:
            with suppress(OSError):
                parent.flush()
        if found is None:
            _leave_out_scipy()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        parent: Any = super()
        with suppress(*_DAMAGED):
            parent.save_overload(sig, data)


@cache
def _define_runtime() -> None:
    """Define numba's runtime for LLVM. numba's own way also compiles a part of it: 20 MB."""
    runtime: Any = import_module("numba.core.runtime._nrt_python")
    for name, address in runtime.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


@cache
def _leave_out_scipy() -> None:
    """Load numba's functions of arrays without scipy, which nothing here needs.

    They are loaded before numba compiles. numba imports scipy.linalg to look for a library of
    linear algebra, which takes 0.25 s (numba 0.68). Other code in the process finds the library as
    before.
    """
    linalg: Any = import_module("numba.np.linalg")
    look = getattr(linalg, "ensure_blas", None)
    if look is None:  # a later version of numba
        return

    def find_none() -> None:
        raise ImportError

    linalg.ensure_blas = find_none
    try:
        arraymath: Any = import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = look
    if arraymath.ensure_blas is find_none:  # this was the first import
        arraymath.ensure_blas, arraymath._HAVE_BLAS = look, True


def _fields(kinds: Any) -> tuple[object, ...]:
    """The names of the fields of named tuples: numba compares their types alone."""
    return tuple(
        (getattr(kind, "fields", ()), _fields(getattr(kind, "types", ()))) for kind in kinds
    )


@cache
def source_digest(function: Callable[..., Any]) -> str:
    """A digest of the bytecode of a function and of all functions and constants that it uses.

    Raises `TypeError` for a global whose value has no digest.
    """
    found = hashlib.sha256()
    waiting, seen = [function], {function}
    while waiting:
        for part in _parts(waiting.pop()):
            if isinstance(part, str):
                found.update(part.encode("utf-8", "surrogatepass") + b"\0")
            elif part not in seen:
                seen.add(part)
                waiting.append(part)
    return found.hexdigest()


def _parts(function: Callable[..., Any]) -> Iterator[str | Callable[..., Any]]:
    """The parts of a function: text that stands for its code, and the functions that it names."""
    own = cast(FunctionType, function)
    cells = zip(own.__code__.co_freevars, own.__closure__ or (), strict=True)
    known = own.__globals__ | {name: cell.cell_contents for name, cell in cells}
    for code in _codes(own.__code__):
        constants = [value for value in code.co_consts if not isinstance(value, CodeType)]
        yield f"{code.co_code.hex()} {code.co_varnames} {code.co_names}"
        yield from _value(constants)
        for name in (*code.co_names, *code.co_freevars):
            if name in known:
                yield name
                yield from _value(known[name])


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code and the code of functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _value(value: Any) -> Iterator[str | Callable[..., Any]]:
    """Text that stands for a value, or the function that it is."""
    value = getattr(value, "py_func", getattr(value, "__wrapped__", value))
    package = str(getattr(value, "__module__", "")).partition(".")[0]
    if isinstance(value, _PLAIN):
        yield f"{type(value).__name__} {value!r}"
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, tuple | list):
        yield str(len(value))
        for item in value:
            yield from _value(item)
    elif isinstance(value, frozenset):
        yield from _value(sorted(map(repr, value)))
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, type) or package in _FOREIGN:
        fields = getattr(value, "_fields", ())
        yield f"{package} {getattr(value, '__qualname__', type(value).__name__)} {fields}"
    elif isinstance(value, FunctionType):
        yield value
    else:
        raise TypeError(f"compiled code uses {value!r}, for which there is no digest")

"""Weights of many languages in one byte each, and the sums of some rows of them.

A weight is code * |code| * scale, its code being an int8: a few weights are many times the others,
and even steps would round the others to nothing. A table has one row of codes for each bucket of
features; what a text scores is the sum of its features' rows.

What stands here is compiled into the functions that call it. numba keeps those in a cache that
looks at the caller's file alone: after a change here, touch `urls/ngrams.py` and
`pages/textgrams.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES: Final = 16
"""Languages whose weights are added at once."""

_FAINTEST: Final = 13
"""Codes of weights from which they are kept."""
_AHEAD = 16
"""Rows of weights that memory is asked for before they are needed."""
_LINE = np.uint64(64)

Function = TypeVar("Function", bound=Callable[..., Any])
Codes = npt.NDArray[np.int8]
Buckets = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


def _leave_out_scipy() -> None:
    """Load numba's functions of arrays without scipy, a fifth of the time to the first score.

    They import it to look for linear algebra, which nothing here needs; whatever else needs it
    in this process finds it as it would have.
    """
    linalg: Any = import_module("numba.np.linalg")

    def nothing() -> None:
        raise ImportError

    look = linalg.ensure_blas
    linalg.ensure_blas = nothing
    try:
        arraymath: Any = import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = look
    if arraymath.ensure_blas is nothing:  # nobody has loaded them before
        arraymath.ensure_blas, arraymath._HAVE_BLAS = look, True


_leave_out_scipy()


def inlined(function: Function) -> Function:
    """The function compiled as a part of those that call it."""
    return cast(Function, numba.njit(nogil=True, error_model="numpy")(function))


def compiled(function: Function) -> Function:
    """The function compiled, from numba's cache where one can be written, else anew."""
    try:
        return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
    except RuntimeError:  # no folder for the cache can be written
        return inlined(function)


def quantised(weights: Floats) -> tuple[Codes, Floats]:
    """Codes (n_languages, n_buckets) and scales (n_languages,) of some weights.

    What is less than a hundredth of the largest becomes 0: it makes the file a quarter smaller
    and changes the F1 of the URL model by 0.01.
    """
    largest = np.abs(weights).max(axis=1)
    scales = np.where(largest > 0, largest / 127**2, 1).astype(np.float32)
    codes = np.empty(weights.shape, np.int8)
    for at, scale in enumerate(scales):
        codes[at] = np.rint(np.sign(weights[at]) * np.sqrt(np.abs(weights[at]) / scale))
    codes[np.abs(codes) < _FAINTEST] = 0
    return codes, scales


def _instructions(function: Callable[..., Any]) -> Callable[..., None]:
    """What writes LLVM's own instructions, as a function that compiled code can call."""
    return cast(Callable[..., None], intrinsic(function))


def _first(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Where the data of an array begin, as a pointer."""
    return context.make_array(kind)(context, builder, array).data


@_instructions
def prefetch(typing: Any, table: Any, at: Any) -> Any:
    """Ask memory for the line of a table that a position is in, and wait for nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        start = _first(context, builder, signature.args[0], arguments[0])
        kind = ir.FunctionType(ir.VoidType(), [pointer, *3 * [number]])
        find: Callable[..., Any] = cgutils.get_or_insert_function
        function = find(builder.module, kind, "llvm.prefetch.p0i8")
        place = builder.bitcast(builder.gep(start, [arguments[1]]), pointer)
        builder.call(function, [place, number(0), number(3), number(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(table, at), generate


@_instructions
def _add_lanes(
    typing: Any, sums: Any, table: Any, a: Any, b: Any, c: Any, d: Any, first: Any
) -> Any:
    """Add LANES weights, from the language `first` on, of the rows that begin at a, b, c and d.

    A weight is code * |code|, at most 127**2: two of them fit into 16 bits. LLVM does not find
    these instructions in a loop over languages, which takes twice as long.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        small, middle, large = (ir.VectorType(ir.IntType(bits), LANES) for bits in (8, 16, 32))
        total, codes = (
            _first(context, builder, signature.args[at], arguments[at]) for at in (0, 1)
        )
        zero = ir.Constant(middle, [0] * LANES)

        def weights(row: Any) -> Any:
            place = builder.gep(codes, [builder.add(row, arguments[6])])
            code = builder.load(builder.bitcast(place, small.as_pointer()), align=1)
            code = builder.sext(code, middle)
            is_positive = builder.icmp_signed(">", code, zero)
            return builder.mul(code, builder.select(is_positive, code, builder.sub(zero, code)))

        def pair(one: Any, other: Any) -> Any:
            return builder.sext(builder.add(weights(one), weights(other)), large)

        place = builder.bitcast(builder.gep(total, [arguments[6]]), large.as_pointer())
        four = builder.add(pair(*arguments[2:4]), pair(*arguments[4:6]))
        builder.store(builder.add(builder.load(place, align=4), four), place, align=4)
        return context.get_dummy_value()

    return types.void(sums, table, a, b, c, d, first), generate


@inlined
def filled(buckets: Buckets, count: int, zeros: int) -> int:
    """Fill up with rows of zeros to a multiple of four."""
    while count & 3:
        buckets[count] = zeros
        count += 1
    return count


@inlined
def _prefetch_row(table: Codes, buckets: Buckets, at: int) -> None:
    width = np.uint64(table.shape[1])
    row = np.uint64(buckets[at]) * width
    prefetch(table, row)
    if width > _LINE:
        prefetch(table, row + _LINE)


@inlined
def sum_rows(table: Codes, buckets: Buckets, count: int, sums: Ints) -> None:
    """The sums of the weights of some buckets, as many as a multiple of four, (width,)."""
    width = np.uint64(table.shape[1])
    for language in range(table.shape[1]):
        sums[language] = 0
    for at in range(min(_AHEAD, count)):
        _prefetch_row(table, buckets, at)
    for at in range(0, count, 4):
        for later in range(at + _AHEAD, min(at + _AHEAD + 4, count)):
            _prefetch_row(table, buckets, later)
        a, b = np.uint64(buckets[at]) * width, np.uint64(buckets[at + 1]) * width
        c, d = np.uint64(buckets[at + 2]) * width, np.uint64(buckets[at + 3]) * width
        first = np.uint64(0)
        while first < width:
            _add_lanes(sums, table, a, b, c, d, first)
            first += np.uint64(LANES)


def table_of(weights: Codes) -> Codes:
    """What `score_many` reads, from the codes of some languages, (n_languages, n_buckets).

    One row of codes for each bucket and one of zeros, padded to a multiple of LANES.
    """
    n_languages, n_buckets = weights.shape
    table = np.zeros((n_buckets + 1, max(-(-n_languages // LANES), 1) * LANES), np.int8)
    table[:n_buckets, :n_languages] = weights.T
    return table

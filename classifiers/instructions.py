"""Instructions of the processor that numba does not offer, as functions for compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES: Final = 16
"""Languages whose weights are added at once."""


def _instructions(function: Callable[..., Any]) -> Callable[..., None]:
    """The function that compiled code calls, from one that writes instructions of LLVM."""
    return cast(Callable[..., None], intrinsic(function))


def _first(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """A pointer to the data of an array."""
    return context.make_array(kind)(context, builder, array).data


@_instructions
def prefetch(typing: Any, table: Any, at: Any) -> Any:
    """Ask memory for the cache line of `table[at]` without waiting for it."""

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
def add_lanes(
    typing: Any, sums: Any, table: Any, a: Any, b: Any, c: Any, d: Any, first: Any
) -> Any:
    """Add LANES weights, from the language `first` on, of the rows that begin at a, b, c and d.

    A weight is code * |code|, at most 127**2, so the sum of two fits into 16 bits. LLVM does not
    find these instructions in a loop over languages, which takes twice as long.
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

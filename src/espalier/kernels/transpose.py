"""An 8 x 8 block of doubles, transposed in registers: sequences in rows become lanes, and back.

transpose(p, dp, q, dq)        from rows dp bytes apart at p to rows dq bytes apart at q
transpose_f32(p, dp, q, dq)    the same, rounded to single precision
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from espalier.kernels.vector import LANES, SINGLES, VECTOR, pointer_to

__all__ = ["transpose", "transpose_f32"]


def _interleave(builder, rows, distance):
    """One butterfly of the transpose: exchange the blocks of `distance` lanes between rows that far apart."""
    lane = ir.VectorType(ir.IntType(32), LANES)
    low = [k if not k & distance else LANES + k - distance for k in range(LANES)]
    high = [k + distance if not k & distance else LANES + k for k in range(LANES)]
    out = list(rows)
    for i in range(LANES):
        if not i & distance:
            a, b = rows[i], rows[i + distance]
            out[i] = builder.shuffle_vector(a, b, ir.Constant(lane, low))
            out[i + distance] = builder.shuffle_vector(a, b, ir.Constant(lane, high))
    return out


def _transposed(builder, source, source_step):
    """Load the 8 x 8 block whose rows lie `source_step` bytes apart; return its columns."""
    rows = []
    for i in range(LANES):
        address = builder.add(source, builder.mul(source_step, ir.IntType(64)(i)))
        rows.append(builder.load(pointer_to(builder, address, VECTOR), align=8))
    for distance in (4, 2, 1):
        rows = _interleave(builder, rows, distance)
    return rows


@intrinsic
def transpose(typingctx, source, source_step, target, target_step):
    """Copy the 8 x 8 block whose rows lie `source_step` bytes apart, transposed, to rows `target_step` apart."""

    def codegen(context, builder, sig, args):
        source, source_step, target, target_step = args
        for i, row in enumerate(_transposed(builder, source, source_step)):
            address = builder.add(target, builder.mul(target_step, ir.IntType(64)(i)))
            builder.store(row, pointer_to(builder, address, VECTOR), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), codegen


@intrinsic
def transpose_f32(typingctx, source, source_step, target, target_step):
    """Transpose an 8 x 8 block of doubles into rows of single-precision floats."""

    def codegen(context, builder, sig, args):
        source, source_step, target, target_step = args
        for i, row in enumerate(_transposed(builder, source, source_step)):
            address = builder.add(target, builder.mul(target_step, ir.IntType(64)(i)))
            builder.store(builder.fptrunc(row, SINGLES), pointer_to(builder, address, SINGLES), align=4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), codegen

"""Eight doubles as one value: the only module that speaks to LLVM.

A `Vec` lives in registers inside a kernel; `+ - * <` work on it, and a dozen functions load, store and
combine it. Plain Numba loops cannot keep such accumulators in registers, and that is a factor of five in
the kernels that use this. LLVM splits a Vec where the machine's registers are narrower, so the code is the
same everywhere. Addresses are plain integers (`array.ctypes.data`), because array arguments of inlined
helpers would be reference-counted in the innermost loop.

    load(p)            the eight doubles at address p           store(p, v)
    load_f32(p)        the same from single precision           store_f32(p, v)
    load_i16(p)        the same from 16-bit whole numbers
    splat(x)           eight copies of the float x              read(p), write(p, x): one double
    fma(a, b, c)       a * b + c, rounded once                  maximum(a, b)
    where_positive(m, a)   a where m > 0, else 0                exp(v): within 2 ulp; exp(-inf) = 0
    total(v)           sum of the eight lanes
    transpose(p, dp, q, dq)   rows of eight doubles, dp bytes apart at p, to rows dq bytes apart at q: sequences in rows
                       become lanes, and back               transpose_f32: the same, rounded to single precision
"""

from __future__ import annotations

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from espalier.kernels import LANES, VEC_BYTES

__all__ = [
    "LANES",
    "VEC_BYTES",
    "any_at_least",
    "below_exp",
    "exp",
    "fma",
    "load",
    "load_f32",
    "load_i16",
    "maximum",
    "minimum",
    "read",
    "read_f32",
    "read_i32",
    "read_i64",
    "read_now",
    "splat",
    "store",
    "store_f32",
    "total",
    "transpose",
    "transpose_f32",
    "vanished",
    "where_positive",
    "write",
    "write_i32",
]

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_SINGLES = ir.VectorType(ir.FloatType(), LANES)
_SHORTS = ir.VectorType(ir.IntType(16), LANES)
_BITS = ir.VectorType(ir.IntType(64), LANES)


class VecType(types.Type):
    """The Numba type of eight doubles."""


VEC = VecType("Vec8")


@register_model(VecType)
class _VecModel(models.PrimitiveModel):
    """A Vec is an LLVM vector, in memory and in registers."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _VECTOR)


for _operator, _emit in (
    (operator.add, ir.IRBuilder.fadd),
    (operator.sub, ir.IRBuilder.fsub),
    (operator.mul, ir.IRBuilder.fmul),
    (operator.truediv, ir.IRBuilder.fdiv),
):

    @infer_global(_operator)
    class _Template(ConcreteTemplate):
        cases = [signature(VEC, VEC, VEC)]  # noqa: RUF012

    @lower_builtin(_operator, VEC, VEC)
    def _lower(context, builder, sig, args, emit=_emit):
        return emit(builder, *args)


def _pointer(builder, address, element):
    return builder.inttoptr(address, element.as_pointer())


def _constant(value):
    return ir.Constant(_VECTOR, [value] * LANES)


def _call(builder, name, *args):
    kind = ir.FunctionType(args[0].type, [a.type for a in args])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name=name)
    return builder.call(function, args)


@intrinsic
def load(typingctx, address):
    """Return the eight doubles at an address."""

    def codegen(context, builder, sig, args):
        return builder.load(_pointer(builder, args[0], _VECTOR), align=8)

    return VEC(types.int64), codegen


@intrinsic
def store(typingctx, address, value):
    """Write eight doubles to an address."""

    def codegen(context, builder, sig, args):
        builder.store(args[1], _pointer(builder, args[0], _VECTOR), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, VEC), codegen


@intrinsic
def load_f32(typingctx, address):
    """Return the eight single-precision floats at an address, widened."""

    def codegen(context, builder, sig, args):
        return builder.fpext(builder.load(_pointer(builder, args[0], _SINGLES), align=4), _VECTOR)

    return VEC(types.int64), codegen


@intrinsic
def load_i16(typingctx, address):
    """Return the eight 16-bit whole numbers at an address, as doubles."""

    def codegen(context, builder, sig, args):
        return builder.sitofp(builder.load(_pointer(builder, args[0], _SHORTS), align=2), _VECTOR)

    return VEC(types.int64), codegen


@intrinsic
def store_f32(typingctx, address, value):
    """Write eight lanes to an address, rounded to single precision."""

    def codegen(context, builder, sig, args):
        builder.store(builder.fptrunc(args[1], _SINGLES), _pointer(builder, args[0], _SINGLES), align=4)
        return context.get_dummy_value()

    return types.void(types.int64, VEC), codegen


@intrinsic
def read(typingctx, address):
    """Return the double at an address."""

    def codegen(context, builder, sig, args):
        return builder.load(_pointer(builder, args[0], _DOUBLE), align=8)

    return types.float64(types.int64), codegen


@intrinsic
def read_f32(typingctx, address):
    """Return the single-precision float at an address, widened."""

    def codegen(context, builder, sig, args):
        return builder.fpext(builder.load(_pointer(builder, args[0], ir.FloatType()), align=4), _DOUBLE)

    return types.float64(types.int64), codegen


@intrinsic
def read_i32(typingctx, address):
    """Return the 32-bit integer at an address, as a 64-bit one."""

    def codegen(context, builder, sig, args):
        return builder.sext(builder.load(_pointer(builder, args[0], ir.IntType(32)), align=4), ir.IntType(64))

    return types.int64(types.int64), codegen


@intrinsic
def read_i64(typingctx, address):
    """Return the 64-bit integer at an address."""

    def codegen(context, builder, sig, args):
        return builder.load(_pointer(builder, args[0], ir.IntType(64)), align=8)

    return types.int64(types.int64), codegen


@intrinsic
def read_now(typingctx, address):
    """Return the 64-bit integer at an address as other threads see it now."""

    def codegen(context, builder, sig, args):
        return builder.load_atomic(_pointer(builder, args[0], ir.IntType(64)), ordering="acquire", align=8)

    return types.int64(types.int64), codegen


@intrinsic
def write_i32(typingctx, address, value):
    """Write an integer to an address, as a 32-bit one."""

    def codegen(context, builder, sig, args):
        builder.store(builder.trunc(args[1], ir.IntType(32)), _pointer(builder, args[0], ir.IntType(32)), align=4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def write(typingctx, address, value):
    """Write one double to an address."""

    def codegen(context, builder, sig, args):
        builder.store(args[1], _pointer(builder, args[0], _DOUBLE), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.float64), codegen


@intrinsic
def splat(typingctx, value):
    """Return eight copies of a float."""

    def codegen(context, builder, sig, args):
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), args[0], ir.IntType(32)(0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(one, one, mask)

    return VEC(types.float64), codegen


@intrinsic
def fma(typingctx, a, b, c):
    """Return a * b + c, rounded once."""

    def codegen(context, builder, sig, args):
        return _call(builder, "llvm.fma.v8f64", *args)

    return VEC(VEC, VEC, VEC), codegen


@intrinsic
def maximum(typingctx, a, b):
    """Return the larger of each pair of lanes (no lane may be nan)."""

    def codegen(context, builder, sig, args):
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return VEC(VEC, VEC), codegen


@intrinsic
def any_at_least(typingctx, a, b):
    """Return whether a is b or larger in any lane."""

    def codegen(context, builder, sig, args):
        lanes = builder.bitcast(builder.fcmp_ordered(">=", *args), ir.IntType(LANES))
        return builder.icmp_unsigned("!=", lanes, ir.IntType(LANES)(0))

    return types.boolean(VEC, VEC), codegen


@intrinsic
def where_positive(typingctx, mask, a):
    """Return a where the mask is above 0, else 0."""

    def codegen(context, builder, sig, args):
        return builder.select(builder.fcmp_ordered(">", args[0], _constant(0.0)), args[1], _constant(0.0))

    return VEC(VEC, VEC), codegen


@intrinsic
def minimum(typingctx, a, b):
    """Return the smaller of each pair of lanes (no lane may be nan)."""

    def codegen(context, builder, sig, args):
        return builder.select(builder.fcmp_ordered("<", *args), *args)

    return VEC(VEC, VEC), codegen


@intrinsic
def vanished(typingctx, product, a, b):
    """Return 1 where a product of positive a and b is too small to be a good number (below 1e-290), else 0."""

    def codegen(context, builder, sig, args):
        zero = _constant(0.0)
        small = builder.fcmp_ordered("<", args[0], _constant(1e-290))
        positive = builder.and_(builder.fcmp_ordered(">", args[1], zero), builder.fcmp_ordered(">", args[2], zero))
        return builder.select(builder.and_(small, positive), _constant(1.0), zero)

    return VEC(VEC, VEC, VEC), codegen


@intrinsic
def below_exp(typingctx, a):
    """Return 1 where e^x is 0 although x is not -inf (see `exp`), else 0."""

    def codegen(context, builder, sig, args):
        low = builder.fcmp_ordered("<=", args[0], _constant(_SMALLEST))
        finite = builder.fcmp_ordered(">", args[0], _constant(float("-inf")))
        return builder.select(builder.and_(low, finite), _constant(1.0), _constant(0.0))

    return VEC(VEC), codegen


@intrinsic
def total(typingctx, a):
    """Return the sum of the eight lanes, in a fixed order."""

    def codegen(context, builder, sig, args):
        v, width = args[0], LANES
        while width > 1:  # (0+4, 1+5, ...), then (0+2, 1+3), then 0+1: the same tree on every machine
            width //= 2
            lane = ir.VectorType(ir.IntType(32), LANES)
            mask = ir.Constant(lane, [(k + width) % LANES for k in range(LANES)])
            v = builder.fadd(v, builder.shuffle_vector(v, v, mask))
        return builder.extract_element(v, ir.IntType(32)(0))

    return types.float64(VEC), codegen


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
        rows.append(builder.load(_pointer(builder, address, _VECTOR), align=8))
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
            builder.store(row, _pointer(builder, address, _VECTOR), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), codegen


@intrinsic
def transpose_f32(typingctx, source, source_step, target, target_step):
    """Transpose an 8 x 8 block of doubles into rows of single-precision floats."""

    def codegen(context, builder, sig, args):
        source, source_step, target, target_step = args
        for i, row in enumerate(_transposed(builder, source, source_step)):
            address = builder.add(target, builder.mul(target_step, ir.IntType(64)(i)))
            builder.store(builder.fptrunc(row, _SINGLES), _pointer(builder, address, _SINGLES), align=4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), codegen


# exp(x) = 2^k e^r with k = round(x / ln 2) and |r| <= ln 2 / 2. Adding 1.5 * 2^52 leaves k in the low bits of the
# sum; shifted to the exponent field they multiply by 2^k. The series to r^13/13! is exact to double precision.
_SHIFT = 6755399441055744.0
_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SMALLEST = -708.0
_TAYLOR = (1.0 / np.cumprod([1.0, *range(1, 14)]))[::-1].tolist()  # 1/13! ... 1/1!, 1/0!


@intrinsic
def exp(typingctx, a):
    """Return e^x in each lane, 0 below -708 (where doubles end) and for -inf; x must not exceed 700."""

    def codegen(context, builder, sig, args):
        alive = builder.fcmp_ordered(">", args[0], _constant(_SMALLEST))
        x = builder.select(alive, args[0], _constant(0.0))
        shifted = _call(builder, "llvm.fma.v8f64", x, _constant(_LOG2E), _constant(_SHIFT))
        k = builder.fsub(shifted, _constant(_SHIFT))
        r = _call(builder, "llvm.fma.v8f64", k, _constant(-_LN2_HIGH), x)
        r = _call(builder, "llvm.fma.v8f64", k, _constant(-_LN2_LOW), r)
        y = _constant(_TAYLOR[0])
        for c in _TAYLOR[1:]:
            y = _call(builder, "llvm.fma.v8f64", y, r, _constant(c))
        exponent = builder.shl(builder.bitcast(shifted, _BITS), ir.Constant(_BITS, [52] * LANES))
        y = builder.bitcast(builder.add(builder.bitcast(y, _BITS), exponent), _VECTOR)
        return builder.select(alive, y, _constant(0.0))

    return VEC(VEC), codegen

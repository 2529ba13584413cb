"""Waiting without sleeping: threads that meet again within microseconds watch memory instead of the clock.

Waking a sleeping thread costs more than a whole small piece of work; watching costs nothing but the core's idle time,
and only for as long as the caller allows.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from espalier.kernels.jit import njit

__all__ = ["spin_while_any", "spin_while_equal"]


@intrinsic
def _watch(typingctx, address):
    """Return the 64-bit integer at an address as other threads see it now."""

    def codegen(context, builder, sig, args):
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(pointer, ordering="acquire", align=8)

    return types.int64(types.int64), codegen


@njit(cache=True, nogil=True)
def spin_while_equal(watched, value, limit):
    """Look at watched[0] up to `limit` times; return True as soon as it is not `value`."""
    address = watched.ctypes.data
    left = limit
    while left > 0 and _watch(address) == value:
        left -= 1
    return left > 0


@njit(cache=True, nogil=True)
def spin_while_any(watched, limit):
    """Look up to `limit` times; return True as soon as every number is 0."""
    address = watched.ctypes.data
    for _ in range(limit):
        busy = 0
        for k in range(len(watched)):
            busy |= _watch(address + 8 * k)
        if busy == 0:
            return True
    return False

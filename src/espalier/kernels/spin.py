"""Waiting without sleeping: threads that meet again within microseconds watch memory instead of the clock.

Waking a sleeping thread costs more than a whole small piece of work; watching costs nothing but the core's idle time,
and only for as long as the caller allows.
"""

from __future__ import annotations

from espalier.kernels import njit
from espalier.kernels.vector import read_now

__all__ = ["spin_while_any", "spin_while_equal"]


@njit(cache=True, nogil=True)
def spin_while_equal(watched, value, limit):
    """Look at watched[0] up to `limit` times; return True as soon as it is not `value`."""
    address = watched.ctypes.data
    left = limit
    while left > 0 and read_now(address) == value:
        left -= 1
    return left > 0


@njit(cache=True, nogil=True)
def spin_while_any(watched, limit):
    """Look up to `limit` times; return True as soon as every number is 0."""
    address = watched.ctypes.data
    for _ in range(limit):
        busy = 0
        for k in range(len(watched)):
            busy |= read_now(address + 8 * k)
        if busy == 0:
            return True
    return False

"""How arrays lie in memory for the kernels, and when kernels are worth loading; nothing here is compiled."""

from __future__ import annotations

import math
import sys

import numpy as np

__all__ = ["BLOCK", "LANES", "LARGEST", "VEC_BYTES", "aligned", "padded", "worth_loading"]

PATIENCE = 16_384
"""Tokens that are scored and decoded without kernels before they are loaded."""

_seen = 0  # module state, on purpose: kernels are loaded once in a process

LANES = 8
"""Doubles in a Vec."""

VEC_BYTES = 8 * LANES

LARGEST = 250.0
"""Beyond this a product of two exponentials may leave the range of doubles: the log-space kernel takes over."""

BLOCK = 16
"""Labels summed at once: two Vecs, so that two additions are always under way."""


def worth_loading(n_tokens: int) -> bool:
    """Is it time to load the kernels for so many tokens more?

    Numba and a few kernels take half a second and 100 MB, NumPy a millisecond more for a short text. So a process that
    parses one reference never loads them, and one that parses for as long as loading takes does. Results do not depend
    on it.
    """
    global _seen
    _seen += n_tokens
    return "numba" in sys.modules or _seen > PATIENCE


def padded(n_labels: int) -> int:
    """Return the row length for so many labels."""
    return (n_labels + BLOCK - 1) // BLOCK * BLOCK


def aligned(*shape: int, dtype: type = np.float64, empty: bool = False) -> np.ndarray:
    """Return zeros (or, `empty`, anything) that begin on a 64-byte border, so that no Vec straddles two cache lines."""
    size, item = math.prod(shape), np.dtype(dtype).itemsize
    raw: np.ndarray = (np.empty if empty else np.zeros)(size + 64 // item, dtype)
    skip = (-raw.ctypes.data % 64) // item
    return raw[skip : skip + size].reshape(shape)

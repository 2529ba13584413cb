"""The two sweeps over an L-BFGS history: all inner products at once, then one linear combination.

The textbook's two-loop recursion reads every vector of the history several times. All it needs are inner products
among the history and the gradient (Chen, Wang & Zhou 2014); with them at hand the direction is one weighted sum. So
an iteration streams the history twice, whatever its length. The history is kept in single precision: it only shapes
the direction, and half the size is half the time. Vectors are padded with zeros to a multiple of 8.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from espalier.kernels.vector import LANES, fma, load, load_f32, splat, store, total

__all__ = ["combine", "difference", "dot", "inner_products"]

STRETCH = 2048
"""Elements kept in the first cache while every row passes over them."""


@njit(cache=True, nogil=True)
def dot(a, b):
    """Return a·b, added in one fixed order (BLAS adds in an order that depends on its threads, and waits for them)."""
    pa, pb, n = a.ctypes.data, b.ctypes.data, len(a)
    v, w = splat(0.0), splat(0.0)
    whole = n // (2 * LANES) * (2 * LANES)
    for k in range(0, whole * 8, 2 * LANES * 8):
        v = fma(load(pa + k), load(pb + k), v)
        w = fma(load(pa + k + LANES * 8), load(pb + k + LANES * 8), w)
    s = total(v + w)
    for k in range(whole, n):
        s += a[k] * b[k]
    return s


@njit(cache=True, nogil=True)
def difference(a, b, out):
    """out[:n] = a - b, in single precision; a, b : float64[n]."""
    for k in range(len(a)):
        out[k] = np.float32(a[k] - b[k])


@njit(cache=True, nogil=True)
def inner_products(lo, hi, rows, a, b, g, out):
    """out[r] = (rows[r]·a, rows[r]·b, rows[r]·g) over elements lo..hi-1 (multiples of 8).

    rows, a, b : float32; g : float64.
    """
    pa, pb, pg = a.ctypes.data, b.ctypes.data, g.ctypes.data
    base, width = rows.ctypes.data, rows.shape[1] * 4
    out[:] = 0.0
    for first in range(lo, hi, STRETCH):
        last = min(first + STRETCH, hi)
        for r in range(rows.shape[0]):
            row = base + r * width
            va, vb, vg = splat(0.0), splat(0.0), splat(0.0)
            for k in range(first * 4, last * 4, LANES * 4):
                v = load_f32(row + k)
                va, vb = fma(v, load_f32(pa + k), va), fma(v, load_f32(pb + k), vb)
                vg = fma(v, load(pg + 2 * k), vg)
            out[r, 0] += total(va)
            out[r, 1] += total(vb)
            out[r, 2] += total(vg)


@njit(cache=True, nogil=True)
def combine(lo, hi, rows, weights, g, g_weight, out):
    """out = g_weight g + Σ_r weights[r] rows[r], over elements lo..hi-1 (multiples of 8)."""
    pg, po = g.ctypes.data, out.ctypes.data
    base, width = rows.ctypes.data, rows.shape[1] * 4
    for k in range(lo * 4, hi * 4, LANES * 4):
        v = load(pg + 2 * k) * splat(g_weight)
        for r in range(rows.shape[0]):
            v = fma(load_f32(base + r * width + k), splat(weights[r]), v)
        store(po + 2 * k, v)

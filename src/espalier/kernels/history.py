"""The two sweeps over an L-BFGS history: all inner products at once, then one linear combination.

The textbook's two-loop recursion reads every vector of the history several times. All it needs are inner products
among the history and the gradient (Chen, Wang & Zhou 2014); with them at hand the direction is one weighted sum. So
an iteration streams the history twice, whatever its length.

The history is kept in 16-bit whole numbers of a unit a vector. It only shapes the direction: with the unit at 1/32767
of the largest element a run needs as many iterations, within a few, as in double precision, and a quarter of the size
pays for a longer memory, which needs far fewer. Vectors are padded with zeros to a multiple of 8.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import njit
from espalier.kernels.vector import LANES, fma, load, load_i16, splat, store, total

__all__ = ["combine", "difference", "dot", "inner_products"]

STRETCH = 1024
"""Elements kept in the first cache while every row passes over them."""

LARGEST = 32767.0
"""The largest element of a vector of the history, in its units."""


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
    """Set out[:n] = a - b in whole numbers of a unit, and return the unit; a, b : float64[n], out : int16."""
    largest = 0.0
    for k in range(len(a)):
        largest = max(largest, abs(a[k] - b[k]))
    per_unit = LARGEST / largest if largest > 0.0 else 0.0
    for k in range(len(a)):
        out[k] = np.int16(np.rint((a[k] - b[k]) * per_unit))
    return largest / LARGEST


@njit(cache=True, nogil=True)
def inner_products(lo, hi, rows, a, b, g, out):
    """out[r] = (rows[r]·a, rows[r]·b, rows[r]·g) over elements lo..hi-1 (multiples of 8).

    rows, a, b : int16, in their units; g : float64.
    """
    wide = np.empty(2 * STRETCH)
    pa, pb, pg = wide.ctypes.data, wide.ctypes.data + STRETCH * 8, g.ctypes.data
    base, width = rows.ctypes.data, rows.shape[1] * 2
    out[:] = 0.0
    for first in range(lo, hi, STRETCH):
        n = min(STRETCH, hi - first)
        for k in range(0, n, LANES):
            store(pa + 8 * k, load_i16(a.ctypes.data + 2 * (first + k)))
            store(pb + 8 * k, load_i16(b.ctypes.data + 2 * (first + k)))
        for r in range(rows.shape[0]):
            row, slope = base + r * width + 2 * first, pg + 8 * first
            va, vb, vg = splat(0.0), splat(0.0), splat(0.0)
            for k in range(0, n, LANES):
                v = load_i16(row + 2 * k)
                va, vb = fma(v, load(pa + 8 * k), va), fma(v, load(pb + 8 * k), vb)
                vg = fma(v, load(slope + 8 * k), vg)
            out[r, 0] += total(va)
            out[r, 1] += total(vb)
            out[r, 2] += total(vg)
    return wide  # mentioned here, so that it lives until the last load through its address


@njit(cache=True, nogil=True)
def combine(lo, hi, rows, weights, g, g_weight, out):
    """out = g_weight g + Σ_r weights[r] rows[r], over elements lo..hi-1 (multiples of 8); rows : int16."""
    pg, po = g.ctypes.data, out.ctypes.data
    base, width = rows.ctypes.data, rows.shape[1] * 2
    for k in range(lo, hi, LANES):
        v = load(pg + 8 * k) * splat(g_weight)
        for r in range(rows.shape[0]):
            v = fma(load_i16(base + r * width + 2 * k), splat(weights[r]), v)
        store(po + 8 * k, v)

"""Scores and gradients as sums of rows: S = X W and G = Xᵀ P for the two-level feature matrix.

W is sparse by nature: most attributes were seen with one or two labels. An attribute with many labels is
*wide* and has a row of its own in a dense table, added with vectors; a *narrow* one is added weight by weight.

    row[l] = Σ_{r in dense refs} table[r, l] + Σ_{a in narrow refs} Σ_{p of a: label[p] = l} w[p]

The gradient goes the other way and gathers, never scatters: the row of a bundle is the sum of its tokens'
rows, the gradient of a weight is the sum over the tokens and bundles that have its attribute. So no two
threads write to one place, and the result does not depend on how many there are.

Rows are padded to a multiple of 16 doubles (`kernels.padded`). Values (real-valued features) come as arrays beside
the references; empty arrays mean that every value is one. The plain references of these kernels are the
same sums written with SciPy's sparse products, in `tests/kernels/test_rows.py`.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import BLOCK, njit
from espalier.kernels.vector import (
    LANES,
    fma,
    load,
    load_f32,
    read,
    read_f32,
    read_i32,
    read_i64,
    splat,
    store,
    store_f32,
    write,
)

__all__ = ["attribute_gradient", "bundle_gradient", "fill_wide", "score_rows"]


@njit(cache=True, nogil=True)
def fill_wide(lo, hi, wide_attribute, pair_ptr, pair_label, w, table):
    """Write the weights of wide attributes lo..hi-1 into their rows (all other entries are zero already)."""
    for r in range(lo, hi):
        a = wide_attribute[r]
        for p in range(pair_ptr[a], pair_ptr[a + 1]):
            table[r, pair_label[p]] = w[p]


@njit(cache=True, nogil=True)
def score_rows(lo, hi, split, pair_ptr, pair_label, w, table, out, first_out):
    """out[first_out + r] = the score row of item r (a token or a bundle) of `Split`, for r in lo..hi-1."""
    dense_ptr, dense_rows, dense_values, narrow_ptr, narrow_refs, narrow_values = split
    width = table.shape[1] * 8
    source, target, rows = table.ctypes.data, out.ctypes.data, dense_rows.ctypes.data
    dense, narrow = dense_ptr.ctypes.data, narrow_ptr.ctypes.data
    ptr, weight = pair_ptr.ctypes.data, w.ctypes.data
    weighted, narrow_weighted = len(dense_values) > 0, len(narrow_values) > 0
    for r in range(lo, hi):
        first, last = read_i64(dense + 8 * r), read_i64(dense + 8 * r + 8)
        row = target + (first_out + r) * width
        for block in range(0, width, BLOCK * 8):
            low, high = splat(0.0), splat(0.0)
            if weighted:
                for k in range(first, last):
                    p = source + read_i32(rows + 4 * k) * width + block
                    v = splat(dense_values[k])
                    low, high = fma(load(p), v, low), fma(load(p + 64), v, high)
            else:
                for k in range(4 * first, 4 * last, 4):
                    p = source + read_i32(rows + k) * width + block
                    low, high = low + load(p), high + load(p + 64)
            store(row + block, low)
            store(row + block + 64, high)
        for k in range(read_i64(narrow + 8 * r), read_i64(narrow + 8 * r + 8)):
            a = ptr + 8 * np.int64(narrow_refs[k])
            v = narrow_values[k] if narrow_weighted else 1.0
            for p in range(read_i64(a), read_i64(a + 8)):
                at = row + pair_label[p] * 8
                write(at, read(at) + v * read(weight + 8 * p))


@njit(cache=True, nogil=True, inline="always")
def _row_part(size, p):
    """Eight numbers of a row; its precision is known when the kernel is compiled."""
    return load_f32(p) if size == 4 else load(p)


@njit(cache=True, nogil=True)
def bundle_gradient(lo, hi, owner_ptr, owners, owner_values, rows, first_out):
    """rows[first_out + b] = Σ over the tokens that refer to bundle b of their rows, for bundles lo..hi-1.

    rows : [., padded(L)], float64 or float32 (half the size is half the time, and enough for probabilities).
    """
    size = rows.itemsize
    width, half = rows.shape[1] * size, LANES * size
    base, refs = rows.ctypes.data, owners.ctypes.data
    weighted = len(owner_values) > 0
    for b in range(lo, hi):
        first, last = owner_ptr[b], owner_ptr[b + 1]
        row = base + (first_out + b) * width
        for block in range(0, width, 2 * half):
            low, high = splat(0.0), splat(0.0)
            if weighted:
                for k in range(first, last):
                    p, v = base + read_i32(refs + 4 * k) * width + block, splat(owner_values[k])
                    low, high = fma(_row_part(size, p), v, low), fma(_row_part(size, p + half), v, high)
            else:
                for k in range(4 * first, 4 * last, 4):
                    p = base + read_i32(refs + k) * width + block
                    low, high = low + _row_part(size, p), high + _row_part(size, p + half)
            if size == 4:
                store_f32(row + block, low)
                store_f32(row + block + half, high)
            else:
                store(row + block, low)
                store(row + block + half, high)


@njit(cache=True, nogil=True)
def attribute_gradient(lo, hi, owner_ptr, owners, owner_values, pair_ptr, pair_label, wide, rows, row, out):
    """out[p] = Σ over the rows (tokens and bundles) that have p's attribute of row[label[p]], attributes lo..hi-1.

    rows : as in `bundle_gradient`; `row` : float64[padded(L)] is working space.
    """
    size = rows.itemsize
    width, half = rows.shape[1] * size, LANES * size
    base, refs, buffer = rows.ctypes.data, owners.ctypes.data, row.ctypes.data
    weighted = len(owner_values) > 0
    for a in range(lo, hi):
        first, last = owner_ptr[a], owner_ptr[a + 1]
        if wide[a]:
            for block in range(0, width, 2 * half):
                low, high = splat(0.0), splat(0.0)
                if weighted:
                    for k in range(first, last):
                        p, v = base + read_i32(refs + 4 * k) * width + block, splat(owner_values[k])
                        low, high = fma(_row_part(size, p), v, low), fma(_row_part(size, p + half), v, high)
                else:
                    for k in range(4 * first, 4 * last, 4):
                        p = base + read_i32(refs + k) * width + block
                        low, high = low + _row_part(size, p), high + _row_part(size, p + half)
                at = buffer + block // size * 8
                store(at, low)
                store(at + 64, high)
            for p in range(pair_ptr[a], pair_ptr[a + 1]):
                out[p] = row[pair_label[p]]
        else:
            for p in range(pair_ptr[a], pair_ptr[a + 1]):
                at = base + pair_label[p] * size
                s = 0.0
                for k in range(first, last):
                    v = owner_values[k] if weighted else 1.0
                    x = at + read_i32(refs + 4 * k) * width
                    s += v * (read_f32(x) if size == 4 else read(x))
                out[p] = s

"""Scores and gradients as sums of rows: S = X W and G = Xᵀ P for the two-level feature matrix.

W is sparse by nature: most attributes were seen with one or two labels. An attribute with many labels is
*wide* and has a row of its own in a dense table, added with vectors; a *narrow* one is added weight by weight.

    row[l] = Σ_{r in dense refs} table[r, l] + Σ_{a in narrow refs} Σ_{p of a: label[p] = l} w[p]

The gradient goes the other way and gathers, never scatters: the row of a bundle is the sum of its tokens'
rows, the gradient of a weight is the sum over the tokens and bundles that have its attribute. So no two
threads write to one place, and the result does not depend on how many there are.

Rows are padded to a multiple of 16 doubles (`padded`). Values (real-valued features) come as arrays beside
the references; empty arrays mean that every value is one. The plain references of these kernels are the
same sums written with SciPy's sparse products, in `tests/kernels/test_rows.py`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from espalier.kernels.vector import fma, load, read, read_i32, read_i64, splat, store, write, write_i64

__all__ = ["attribute_gradient", "bundle_gradient", "fill_wide", "padded", "score_rows"]

BLOCK = 16
"""Labels summed at once: two Vecs, so that two additions are always under way."""


def padded(n_labels: int) -> int:
    """Return the row length for so many labels."""
    return (n_labels + BLOCK - 1) // BLOCK * BLOCK


@njit(cache=True, nogil=True)
def fill_wide(lo, hi, wide_attribute, pair_ptr, pair_label, w, table):
    """Write the weights of wide attributes lo..hi-1 into their rows (all other entries are zero already)."""
    for r in range(lo, hi):
        a = wide_attribute[r]
        for p in range(pair_ptr[a], pair_ptr[a + 1]):
            table[r, pair_label[p]] = w[p]


@njit(cache=True, nogil=True)
def score_rows(lo, hi, items, ptr, refs, values, row_of, pair_ptr, pair_label, w, table, out, first_out):
    """out[first_out + r] = the score row of items[r] (a token or a bundle; -1: zeros), for r in lo..hi-1.

    row_of : int32[A + R]; the row of each reference in the table, -1 for narrow attributes.
    """
    width = table.shape[1] * 8
    source, target, found, first_ref = table.ctypes.data, out.ctypes.data, row_of.ctypes.data, refs.ctypes.data
    weighted = len(values) > 0
    longest = 0
    for r in range(lo, hi):
        if items[r] >= 0:
            longest = max(longest, ptr[items[r] + 1] - ptr[items[r]])
    resolved = np.empty((3, longest + 1), np.int64)  # rows to add, the places of their values, narrow references
    dense, places, narrow = resolved[0].ctypes.data, resolved[1].ctypes.data, resolved[2].ctypes.data
    for r in range(lo, hi):
        row = target + (first_out + r) * width
        n_dense = n_narrow = 0
        m = items[r]
        if m >= 0:
            for k in range(ptr[m], ptr[m + 1]):
                at = read_i32(found + 4 * read_i32(first_ref + 4 * k))
                if at >= 0:
                    write_i64(dense + n_dense, source + at * width)
                    write_i64(places + n_dense, k)
                    n_dense += 8
                else:
                    write_i64(narrow + n_narrow, k)
                    n_narrow += 8
        for block in range(0, width, BLOCK * 8):
            low, high = splat(0.0), splat(0.0)
            for k in range(0, n_dense, 8):
                p = read_i64(dense + k) + block
                if weighted:
                    v = splat(values[read_i64(places + k)])
                    low, high = fma(load(p), v, low), fma(load(p + 64), v, high)
                else:
                    low, high = low + load(p), high + load(p + 64)
            store(row + block, low)
            store(row + block + 64, high)
        for n in range(0, n_narrow, 8):
            k = read_i64(narrow + n)
            a = refs[k]
            v = values[k] if weighted else 1.0
            for p in range(pair_ptr[a], pair_ptr[a + 1]):
                at = row + pair_label[p] * 8
                write(at, read(at) + v * w[p])


@njit(cache=True, nogil=True)
def bundle_gradient(lo, hi, owner_ptr, owners, owner_values, rows, first_out):
    """rows[first_out + b] = Σ over the tokens that refer to bundle b of their rows, for bundles lo..hi-1."""
    width = rows.shape[1] * 8
    base, refs = rows.ctypes.data, owners.ctypes.data
    weighted = len(owner_values) > 0
    for b in range(lo, hi):
        first, last = owner_ptr[b], owner_ptr[b + 1]
        row = base + (first_out + b) * width
        for block in range(0, width, BLOCK * 8):
            low, high = splat(0.0), splat(0.0)
            for k in range(first, last):
                p = base + read_i32(refs + 4 * k) * width + block
                if weighted:
                    v = splat(owner_values[k])
                    low, high = fma(load(p), v, low), fma(load(p + 64), v, high)
                else:
                    low, high = low + load(p), high + load(p + 64)
            store(row + block, low)
            store(row + block + 64, high)


@njit(cache=True, nogil=True)
def attribute_gradient(lo, hi, owner_ptr, owners, owner_values, pair_ptr, pair_label, wide, rows, row, out):
    """out[p] = Σ over the rows (tokens and bundles) that have p's attribute of row[label[p]], attributes lo..hi-1.

    `row` : float64[padded(L)] is working space.
    """
    width = rows.shape[1] * 8
    base, refs, buffer = rows.ctypes.data, owners.ctypes.data, row.ctypes.data
    weighted = len(owner_values) > 0
    for a in range(lo, hi):
        first, last = owner_ptr[a], owner_ptr[a + 1]
        if wide[a]:
            for block in range(0, width, BLOCK * 8):
                low, high = splat(0.0), splat(0.0)
                for k in range(first, last):
                    p = base + read_i32(refs + 4 * k) * width + block
                    if weighted:
                        v = splat(owner_values[k])
                        low, high = fma(load(p), v, low), fma(load(p + 64), v, high)
                    else:
                        low, high = low + load(p), high + load(p + 64)
                store(buffer + block, low)
                store(buffer + block + 64, high)
            for p in range(pair_ptr[a], pair_ptr[a + 1]):
                out[p] = row[pair_label[p]]
        else:
            for p in range(pair_ptr[a], pair_ptr[a + 1]):
                at = base + pair_label[p] * 8
                s = 0.0
                for k in range(first, last):
                    v = owner_values[k] if weighted else 1.0
                    s += v * read(at + read_i32(refs + 4 * k) * width)
                out[p] = s

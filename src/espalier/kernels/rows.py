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

Behind them stands the index arithmetic that runs once a training run or once a batch of text, linear in the size of its
input: which rows to add and, transposed, which to gather; which attributes are twins: they stand on exactly the same
tokens. The fingerprint of an attribute is the sum of its tokens' random numbers; equal sets have equal sums, and
different sets of tokens collide with a chance of about A² / 2^64.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import BLOCK, SplitRefs, njit
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
    write_i32,
)

__all__ = [
    "attribute_gradient",
    "bundle_gradient",
    "count_pairs",
    "expand_pairs",
    "fill_wide",
    "fingerprints",
    "keep_representatives",
    "mark_pairs",
    "observed_counts",
    "resolve_refs",
    "score_rows",
    "transpose_refs",
]


@njit(cache=True, nogil=True)
def fill_wide(lo, hi, wide_attribute, pair_ptr, pair_label, w, table):
    """Write the weights of wide attributes lo..hi-1 into their rows (all other entries are zero already)."""
    for r in range(lo, hi):
        a = wide_attribute[r]
        for p in range(pair_ptr[a], pair_ptr[a + 1]):
            table[r, pair_label[p]] = w[p]


@njit(cache=True, nogil=True)
def score_rows(lo, hi, split, pair_ptr, pair_label, w, table, out, first_out):
    """out[first_out + r] = the score row of item r (a token or a bundle) of `SplitRefs`, for r in lo..hi-1."""
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


# Index arithmetic, once.


@njit(cache=True, nogil=True)
def mark_pairs(levels, y, seen, bundle_seen):
    """Set bit l of seen[a] for every attribute a that occurs on a token labelled l (bundles by way of theirs)."""
    token_ptr, token_refs, _, bundle_ptr, bundle_ids, _ = levels
    n_attributes = len(seen)
    for m in range(len(y)):
        if y[m] < 0:
            continue
        word, bit = y[m] // 64, np.uint64(1) << np.uint64(y[m] % 64)
        for k in range(token_ptr[m], token_ptr[m + 1]):
            ref = token_refs[k]
            if ref < n_attributes:
                seen[ref, word] |= bit
            else:
                bundle_seen[ref - n_attributes, word] |= bit
    for b in range(len(bundle_ptr) - 1):
        for k in range(bundle_ptr[b], bundle_ptr[b + 1]):
            for word in range(seen.shape[1]):
                seen[bundle_ids[k], word] |= bundle_seen[b, word]


@njit(cache=True, nogil=True)
def count_pairs(seen, pair_ptr):
    """pair_ptr[a + 1] - pair_ptr[a] = number of labels seen with attribute a."""
    pair_ptr[0] = 0
    for a in range(len(seen)):
        n = 0
        for word in range(seen.shape[1]):
            bits = seen[a, word]
            while bits != 0:
                bits &= bits - np.uint64(1)
                n += 1
        pair_ptr[a + 1] = pair_ptr[a] + n


@njit(cache=True, nogil=True)
def expand_pairs(seen, pair_ptr, pair_label):
    """List the labels seen with each attribute, in increasing order."""
    for a in range(len(seen)):
        p = pair_ptr[a]
        for word in range(seen.shape[1]):
            for bit in range(64):
                if (seen[a, word] >> np.uint64(bit)) & np.uint64(1):
                    pair_label[p] = word * 64 + bit
                    p += 1


@njit(cache=True, nogil=True)
def _count(a, v, label, pair_ptr, pair_label, counts):
    """Add v to the pair (a, label), if it has a weight."""
    for p in range(pair_ptr[a], pair_ptr[a + 1]):
        if pair_label[p] == label:
            counts[p] += v
            return


@njit(cache=True, nogil=True)
def observed_counts(levels, y, weight, pair_ptr, pair_label, counts):
    """counts[p] += Σ weight · value over the tokens that have p's attribute and label."""
    token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values = levels
    n_attributes = len(pair_ptr) - 1
    for m in range(len(y)):
        if y[m] < 0:
            continue
        for k in range(token_ptr[m], token_ptr[m + 1]):
            ref = token_refs[k]
            v = weight[m] * (token_values[k] if len(token_values) > 0 else 1.0)
            if ref < n_attributes:
                _count(ref, v, y[m], pair_ptr, pair_label, counts)
                continue
            for q in range(bundle_ptr[ref - n_attributes], bundle_ptr[ref - n_attributes + 1]):
                value = bundle_values[q] if len(bundle_values) > 0 else 1.0
                _count(bundle_ids[q], v * value, y[m], pair_ptr, pair_label, counts)


@njit(cache=True, nogil=True)
def resolve_refs(items, ptr, refs, values, row_of, pair_ptr):
    """Split the references of each item into rows of the dense table and narrow attributes.

    items : int64[n]; the item behind each output row, -1 for a row that stands for nothing. row_of : int32[A + R], the
    table row of each reference, -1 for narrow attributes; those without weights are left out.
    Returns a `SplitRefs`.
    """
    n, weighted = len(items), len(values) > 0
    capacity = 0
    for r in range(n):
        if items[r] >= 0:
            capacity += ptr[items[r] + 1] - ptr[items[r]]
    dense_ptr, narrow_ptr = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    dense_rows, narrow_refs = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    dense_values = np.empty(capacity if weighted else 0)
    narrow_values = np.empty(capacity if weighted else 0)
    source, found, rows = refs.ctypes.data, row_of.ctypes.data, dense_rows.ctypes.data
    d = s = 0
    for r in range(n):
        if items[r] >= 0:
            for k in range(ptr[items[r]], ptr[items[r] + 1]):
                ref = read_i32(source + 4 * k)
                row = read_i32(found + 4 * ref)
                if row >= 0:
                    write_i32(rows + 4 * d, row)
                    if weighted:
                        dense_values[d] = values[k]
                    d += 1
                elif pair_ptr[ref + 1] > pair_ptr[ref]:
                    narrow_refs[s] = ref
                    if weighted:
                        narrow_values[s] = values[k]
                    s += 1
        dense_ptr[r + 1], narrow_ptr[r + 1] = d, s
    return SplitRefs(dense_ptr, dense_rows[:d], dense_values[:d], narrow_ptr, narrow_refs[:s], narrow_values[:s])


@njit(cache=True, nogil=True)
def transpose_refs(levels, row_of_token, n_attributes, n_rows):
    """Turn 'which refs has a row' around: the rows that own each attribute (ids 0..A-1) and bundle (A..A+R-1).

    Tokens are rows row_of_token[m]; bundle b, as an owner of attributes, is row n_rows + b.
    Returns owner_ptr int64[A + R + 1], owners int32, owner_values (empty if every value is one).
    """
    token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values = levels
    n_bundles = len(bundle_ptr) - 1
    n_refs = n_attributes + n_bundles
    weighted = len(token_values) > 0 or len(bundle_values) > 0
    ptr = np.zeros(n_refs + 1, np.int64)
    for k in range(len(token_refs)):
        ptr[token_refs[k] + 1] += 1
    for k in range(len(bundle_ids)):
        ptr[bundle_ids[k] + 1] += 1
    for a in range(n_refs):
        ptr[a + 1] += ptr[a]
    at = ptr[:-1].copy()
    owners = np.empty(ptr[n_refs], np.int32)
    values = np.ones(ptr[n_refs] if weighted else 0)
    for m in range(len(row_of_token)):
        for k in range(token_ptr[m], token_ptr[m + 1]):
            a = token_refs[k]
            owners[at[a]] = row_of_token[m]
            if len(token_values) > 0:
                values[at[a]] = token_values[k]
            at[a] += 1
    for b in range(n_bundles):
        for k in range(bundle_ptr[b], bundle_ptr[b + 1]):
            a = bundle_ids[k]
            owners[at[a]] = n_rows + b
            if len(bundle_values) > 0:
                values[at[a]] = bundle_values[k]
            at[a] += 1
    return ptr, owners, values


@njit(cache=True, nogil=True)
def fingerprints(levels, n_attributes, random):
    """Return the fingerprint of every attribute, uint64[A]; random : uint64[M]."""
    token_ptr, token_refs, _, bundle_ptr, bundle_ids, _ = levels
    n_bundles = len(bundle_ptr) - 1
    print_of = np.zeros(n_attributes + n_bundles, np.uint64)
    for m in range(len(random)):
        for k in range(token_ptr[m], token_ptr[m + 1]):
            print_of[token_refs[k]] += random[m]
    for b in range(n_bundles):
        for k in range(bundle_ptr[b], bundle_ptr[b + 1]):
            print_of[bundle_ids[k]] += print_of[n_attributes + b]
    return print_of[:n_attributes]


@njit(cache=True, nogil=True)
def keep_representatives(levels, n_attributes, new_id, n_new):
    """Drop every reference to an attribute whose new_id is -1; a bundle left with one attribute gives way to it.

    Returns the new token_ptr, token_refs, bundle_ptr, bundle_ids over n_new attributes.
    """
    token_ptr, token_refs, _, bundle_ptr, bundle_ids, _ = levels
    n_bundles = len(bundle_ptr) - 1
    ids = np.empty(len(bundle_ids), np.int32)
    ptr = np.zeros(n_bundles + 1, np.int64)
    new_bundle = np.empty(n_bundles, np.int64)  # the reference that stands for the bundle now, -1 if it is empty
    kept = size = 0
    for b in range(n_bundles):
        first = size
        for k in range(bundle_ptr[b], bundle_ptr[b + 1]):
            if new_id[bundle_ids[k]] >= 0:
                ids[size] = new_id[bundle_ids[k]]
                size += 1
        if size - first >= 2:
            new_bundle[b] = n_new + kept
            kept += 1
            ptr[kept] = size
        else:
            new_bundle[b] = ids[first] if size > first else -1
            size = first
    refs = np.empty(len(token_refs), np.int32)
    out_ptr = np.zeros(len(token_ptr), np.int64)
    n = 0
    for m in range(len(token_ptr) - 1):
        for k in range(token_ptr[m], token_ptr[m + 1]):
            ref = token_refs[k]
            new = new_id[ref] if ref < n_attributes else new_bundle[ref - n_attributes]
            if new >= 0:
                refs[n] = new
                n += 1
        out_ptr[m + 1] = n
    return out_ptr, refs[:n].copy(), ptr[: kept + 1].copy(), ids[:size].copy()

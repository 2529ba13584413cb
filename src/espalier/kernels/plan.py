"""Index arithmetic for the row kernels: which rows to add and, transposed, which to gather; which attributes are twins.

Twins are attributes that stand on exactly the same tokens. The fingerprint of an attribute is the sum of its tokens'
random numbers; equal sets have equal sums, and different sets of tokens collide with a chance of about A² / 2^64.

Everything here runs once a training run or once a batch of text, and is linear in the size of its input.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import Split, njit
from espalier.kernels.vector import read_i32, write_i32

__all__ = [
    "count_pairs",
    "expand_pairs",
    "fingerprints",
    "keep_representatives",
    "mark_pairs",
    "observed_counts",
    "resolve_refs",
    "transpose_refs",
]


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
    Returns a `Split`.
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
    return Split(dense_ptr, dense_rows[:d], dense_values[:d], narrow_ptr, narrow_refs[:s], narrow_values[:s])


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

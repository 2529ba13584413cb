"""Index arithmetic for twins: attributes that stand on exactly the same tokens.

The fingerprint of an attribute is the sum of its tokens' random numbers; equal sets have equal sums, and different
sets of tokens collide with a chance of about A² / 2^64.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels.jit import njit

__all__ = ["fingerprints", "keep_representatives"]


@njit(cache=True, nogil=True)
def fingerprints(token_ptr, token_refs, bundle_ptr, bundle_ids, n_attributes, random):
    """Return the fingerprint of every attribute, uint64[A]; random : uint64[M]."""
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
def keep_representatives(token_ptr, token_refs, bundle_ptr, bundle_ids, n_attributes, new_id, n_new):
    """Drop every reference to an attribute whose new_id is -1; a bundle left with one attribute gives way to it.

    Returns the new token_ptr, token_refs, bundle_ptr, bundle_ids over n_new attributes.
    """
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

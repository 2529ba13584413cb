"""One short sequence: its scores and its best labels, in plain loops.

What `tagging` and `charged` do for eight sequences at a time. Their NumPy twins, for a process that has not loaded any
kernel, are `models.rows.sum_of_few` and `decoders.single`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["sum_pairs", "viterbi_one"]


@njit(cache=True, nogil=True)
def _add_pairs(lo, hi, refs, values, A, ptr, label, w, bundles, row):
    """Add the weights of attributes and the rows of bundles that refs[lo:hi] name."""
    for k in range(lo, hi):
        a, v = refs[k], values[k] if len(values) else 1.0
        if a >= A:
            for j in range(len(row)):
                row[j] += v * bundles[a - A, j]
        else:
            for p in range(ptr[a], ptr[a + 1]):
                row[label[p]] += v * w[p]


@njit(cache=True, nogil=True)
def sum_pairs(token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values, A, ptr, label, w, unary):
    """Write the scores of a small matrix into unary : float64[M, L], all zeros before; see `FeatureMatrix`, `Pairs`."""
    bundles = np.zeros((len(bundle_ptr) - 1, unary.shape[1]))
    for r in range(len(bundles)):
        _add_pairs(bundle_ptr[r], bundle_ptr[r + 1], bundle_ids, bundle_values, A, ptr, label, w, bundles, bundles[r])
    for m in range(len(unary)):
        _add_pairs(token_ptr[m], token_ptr[m + 1], token_refs, token_values, A, ptr, label, w, bundles, unary[m])


@njit(cache=True, nogil=True)
def viterbi_one(rows, change, kind, steps, start, end, omega, path):
    """Write the best labels of one sequence into path : int16[T] and return their score; ties go to the lowest label.

    rows : float64[T, L]; steps : float64[C, L, L], by source and target; change : float64[T], the price of a change of
    label into a token; omega : float64[L], what a run of each label costs.
    """
    T, L = rows.shape
    delta = np.empty((T, L))
    for j in range(L):
        delta[0, j] = rows[0, j] + (start[j] - omega[j])
    best = np.empty(L)
    for t in range(1, T):
        matrix, c = steps[kind[t]], change[t]
        best[:] = -np.inf
        for i in range(L):
            before, others = delta[t - 1, i], best[i]
            stay = before + matrix[i, i]
            for j in range(L):
                s = before + matrix[i, j] - c - omega[j]
                best[j] = s if s > best[j] else best[j]
            best[i] = stay if stay > others else others  # what the loop put here is no change of label
        for j in range(L):
            delta[t, j] = best[j] + rows[t, j]
    y, score = 0, -np.inf
    for i in range(L):
        if delta[T - 1, i] + end[i] > score:
            y, score = i, delta[T - 1, i] + end[i]
    path[T - 1] = y
    for t in range(T - 2, -1, -1):
        matrix, c, j, most = steps[kind[t + 1]], change[t + 1], y, -np.inf
        y = 0
        for i in range(L):
            s = delta[t, i] + matrix[i, j]
            if i != j:
                s = s - c - omega[j]
            if s > most:
                y, most = i, s
        path[t] = y
    return score

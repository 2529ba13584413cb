"""One short sequence: its scores, its best labels and their probabilities, in plain loops.

What `tagging`, `charged` and `lanes` do for eight sequences at a time. Their NumPy twins, for a process that has not
loaded any kernel, are in `models.rows` and `decoders.single`.
"""

from __future__ import annotations

import math

import numpy as np

from espalier.kernels import njit

__all__ = ["posterior_one", "sum_pairs", "viterbi_one"]


@njit(cache=True, nogil=True)
def _add_pairs(lo, hi, refs, values, A, ptr, label, w, bundles, row):
    """Add the weights of attributes and the rows of bundles that refs[lo:hi] name."""
    for k in range(lo, hi):
        a, v = refs[k], values[k] if len(values) else 1.0
        if a >= A:
            bundle = bundles[a - A]
            for j in range(len(row)):
                row[j] += v * bundle[j]
        else:
            for p in range(np.uint64(ptr[a]), np.uint64(ptr[a + 1])):  # unsigned: nothing counts from the end
                row[np.uint64(label[p])] += v * w[p]


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


@njit(cache=True, nogil=True)
def posterior_one(x, peak, steps, first, last, y, tokens):
    """Write p(y_t) of the labels of one sequence into tokens : float32[T]; return log Z, nan if nothing is possible.

    A label of -1 stands for the likeliest. x : float64[T, L], e to the scores minus peak : float64[T], the largest of
    each token; steps, first, last : e to the transitions, start and end. The recurrences are those of `lanes`.
    """
    T, L = x.shape
    alpha, scale, here = np.empty((T, L)), np.empty(T), np.empty(L)
    log_z = 0.0
    for t in range(T):
        if t == 0:
            for j in range(L):
                here[j] = first[j]
        else:
            here[:] = 0.0
            for i in range(L):
                before = alpha[t - 1, i]
                for j in range(L):
                    here[j] += before * steps[i, j]
        total = 0.0
        for j in range(L):
            here[j] *= x[t, j]
            total += here[j]
        if not total > 0.0:
            return np.nan
        scale[t] = total
        log_z += peak[t] + math.log(total)
        for j in range(L):
            alpha[t, j] = here[j] / total
    z = 0.0
    for j in range(L):
        z += alpha[T - 1, j] * last[j]
    if not z > 0.0:
        return np.nan
    beta, after, into = last / z, np.empty(L), steps.T.copy()
    for t in range(T - 1, -1, -1):
        label = y[t]
        if label < 0:
            label = 0
            for j in range(1, L):
                if alpha[t, j] * beta[j] > alpha[t, label] * beta[label]:
                    label = j
        tokens[t] = alpha[t, label] * beta[label]
        for j in range(L):
            after[j] = x[t, j] * beta[j] / scale[t]
        beta[:] = 0.0
        for j in range(L):  # row by row of the transpose: sums that do not wait for each other
            for i in range(L):
                beta[i] += into[j, i] * after[j]
    return log_z + math.log(z)

"""Expectations over segmentations whose scores are sums, without a table of all segments.

The score of the segment of tokens a..e with label l is

    ψ(a, e, l) = Σ_{a≤m≤e} tokens[m, l] + first[a, l] + last[e, l] + table[kind(a, e), l]

The three row arrays are read through prefix sums P of `tokens`: what depends on a alone is added when a segment opens,
what depends on e alone when it closes, and only the small table couples the two ends:

    o_a(l) = ε_a(l) + first[a, l] - P_a(l)                        ε: as in `kernels.segment`
    α_e(l) = last[e, l] + P_{e+1}(l) + log Σ_a exp( o_a(l) + table[kind(a, e), l] )

    kind(a, e) = 2 bin(e - a + 1) + [is there a mark among the tokens a..e-1?]

`reach[e, l]` is the number of tokens that a segment l may have at most if it ends at e; 0 forbids it. That one array
says how long segments may be, and what is known of the labels (see `reaches`).

Time O(T L (L + D)) for segments of at most D tokens, memory O(T L). Plain references: `kernels.segment` on the table
that `segment_scores` fills.
"""

from __future__ import annotations

from math import exp, log

import numpy as np
from numba import njit

from espalier.kernels.chain import log_step, longest, share

__all__ = ["expectations", "reaches", "segment_scores"]

NEGLIGIBLE = -42.0
"""exp(-42) is below the last digit of 1: such a term changes no sum, and its exponential need not be taken."""


@njit(cache=True, nogil=True)
def reaches(indptr, y, cuts, limit, out):
    """Write how far back from each token a segment of each label may reach, int32[M, L], at most limit : int64[L].

    y : int16[M], the label that covers the token, -1 unknown. cuts : int8[M], 1 where a segment is known to start,
    0 where none does, -1 unknown; every first token is a start whatever it says.
    """
    L = len(limit)
    run = np.empty(L, np.int64)
    for i in range(len(indptr) - 1):
        a, b = indptr[i], indptr[i + 1]
        for m in range(a, b):
            ends = m + 1 == b or cuts[m + 1] != 0
            for l in range(L):
                if y[m] >= 0 and y[m] != l:
                    run[l] = 0
                elif m == a or cuts[m] == 1:
                    run[l] = 1
                else:
                    run[l] += 1
                out[m, l] = min(run[l], limit[l]) if ends else 0


@njit(cache=True, nogil=True)
def kind_of(m, d, bins, marks):
    """Return the kind of the segment of d + 1 tokens that ends at token m; marks[m] counts the marks before m."""
    return 2 * bins[d + 1] + (1 if marks[m] > marks[m - d] else 0)


@njit(cache=True, nogil=True)
def segment_scores(indptr, lo, hi, tokens, first, last, table, bins, marks, limit, out):
    """Write ψ of every segment of the sequences lo..hi-1 into out : float64[their tokens, D, L]; -inf beyond limit.

    Entries that would start before the first token of a sequence are -inf too.
    """
    D, L = out.shape[1], out.shape[2]
    base = indptr[lo]
    total = np.empty(L)
    for i in range(lo, hi):
        a = indptr[i]
        for m in range(a, indptr[i + 1]):
            total[:] = 0.0
            out[m - base] = -np.inf
            for d in range(min(D, m - a + 1)):
                kind = kind_of(m, d, bins, marks)
                for l in range(L):
                    total[l] += tokens[m - d, l]
                    if d < limit[l]:
                        out[m - base, d, l] = total[l] + first[m - d, l] + last[m, l] + table[kind, l]


@njit(cache=True, nogil=True)
def expectations(indptr, lo, hi, weight, tokens, first, last, table, bins, marks, trans, reach,
                 log_z, covering, starting, ending, kinds, transitions):  # fmt: skip
    """Add the weighted expectations of the sequences lo..hi-1 to the outputs, and write log_z : float64[N].

    weight : float64[N]; tokens, first, last : float64[≥ M, ≥ L]; table : float64[2 B, L]; bins : int64[≥ D + 1], the
    bin of each length; marks : int64[M + 1]; trans : float64[L, L]; reach : int32[M, L].
    covering, starting, ending : float64[≥ M, ≥ L], to which weight times the probability that a segment l covers,
    starts at, ends at the token is added; kinds : float64[2 B, L], expected segments by kind;
    transitions : float64[L, L], expected steps between consecutive segments. Nothing is added where log_z is not finite.
    """
    L = len(trans)
    T = longest(indptr, lo, hi)
    opened, within, alpha = np.empty((L, T)), np.empty((T, L)), np.empty((T, L))
    starts, ends = np.empty((T, L)), np.empty((T, L))
    by_label = table.T.copy()
    for i in range(lo, hi):
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        log_z[i] = 0.0
        if T == 0:
            continue
        log_z[i] = forward(a, T, tokens, first, last, by_label, bins, marks, trans, reach, opened, within, alpha)
        if not np.isfinite(log_z[i]):
            continue
        for y in range(L):
            ends[T - 1, y] = exp(alpha[T - 1, y] - log_z[i])
        backward(
            a,
            T,
            weight[i],
            by_label,
            bins,
            marks,
            trans,
            reach,
            opened,
            within,
            alpha,
            starts,
            ends,
            kinds,
            transitions,
        )
        for y in range(L):
            cover = 0.0
            for t in range(T):
                cover += starts[t, y]
                covering[a + t, y] += weight[i] * cover
                starting[a + t, y] += weight[i] * starts[t, y]
                ending[a + t, y] += weight[i] * ends[t, y]
                cover -= ends[t, y]


@njit(cache=True, nogil=True)
def forward(a, T, tokens, first, last, by_label, bins, marks, trans, reach, opened, within, alpha):
    """Return log_z of the T >= 1 tokens from a on; fill opened : o [L, T], alpha : α, within : α less what e adds."""
    L = len(trans)
    entry, shift, prefix = np.zeros(L), np.empty(L), np.zeros(L)
    terms, kind = np.empty(T), np.empty(T, np.int64)
    for t in range(T):
        m = a + t
        if t > 0:
            log_step(alpha[t - 1], trans, shift, entry)
        for d in range(min(t + 1, reach[m].max())):
            kind[d] = kind_of(m, d, bins, marks)
        for y in range(L):
            opened[y, t] = entry[y] + first[m, y] - prefix[y]
            prefix[y] += tokens[m, y]
            n, top, total = reach[m, y], -np.inf, 0.0
            for d in range(n):
                terms[d] = opened[y, t - d] + by_label[y, kind[d]]
                top = max(top, terms[d])
            if top == -np.inf:
                within[t, y] = alpha[t, y] = -np.inf
                continue
            for d in range(n):
                if terms[d] - top > NEGLIGIBLE:
                    total += exp(terms[d] - top)
            within[t, y] = top + log(total)
            alpha[t, y] = within[t, y] + last[m, y] + prefix[y]
    result = np.empty(1)
    log_step(alpha[T - 1], np.zeros((L, 1)), shift, result)
    return result[0]


@njit(cache=True, nogil=True)
def backward(
    a, T, weight, by_label, bins, marks, trans, reach, opened, within, alpha, starts, ends, kinds, transitions
):
    """Fill starts and ends, float64[≥ T, L], from ends[T - 1]; add weighted counts to kinds and transitions."""
    L = len(trans)
    pair, scratch = np.empty((L, L)), np.empty((3, L))
    smallest = exp(NEGLIGIBLE)
    starts[:T] = 0.0
    for t in range(T - 1, -1, -1):
        m = a + t
        if t < T - 1:
            share(alpha[t], trans, starts[t + 1], ends[t], pair, scratch)
            for y in range(L):
                for z in range(L):
                    transitions[y, z] += weight * pair[y, z]
        for y in range(L):
            if ends[t, y] < smallest:
                continue
            for d in range(reach[m, y]):
                kind = kind_of(m, d, bins, marks)
                term = opened[y, t - d] + by_label[y, kind] - within[t, y]
                if term > NEGLIGIBLE:
                    p = ends[t, y] * exp(term)
                    starts[t - d, y] += p
                    kinds[kind, y] += weight * p

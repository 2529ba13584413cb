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

Rows are padded to W labels, whole vectors (`kernels.rows.padded`), and labels run in the inner loops, which the
compiler turns into vector code; exponentials are taken eight at a time. What stands in the padding is never read out.

Time O(T L (L + D)) for segments of at most D tokens, memory O(T L). Plain references: `kernels.segment` on the table
that `segment_scores` fills.
"""

from __future__ import annotations

from math import log

import numpy as np

from espalier.kernels import njit
from espalier.kernels.chain import longest
from espalier.kernels.vector import LANES, exp, load, store

__all__ = ["expectations", "reaches", "segment_scores"]


@njit(cache=True, nogil=True)
def reaches(indptr, y, cuts, limit, out):
    """Write how far back from each token a segment of each label may reach, int32[M, ≥ L], at most limit : int64[L].

    y : int16[M], the label that covers the token, -1 unknown. cuts : int8[M], 1 where a segment is known to start,
    0 where none does, -1 unknown; every first token is a start whatever it says.
    """
    L = len(limit)
    run = np.empty(L, np.int64)
    for i in range(len(indptr) - 1):
        a, b = indptr[i], indptr[i + 1]
        for m in range(a, b):
            ends = m + 1 == b or cuts[m + 1] != 0
            for z in range(L):
                if y[m] >= 0 and y[m] != z:
                    run[z] = 0
                elif m == a or cuts[m] == 1:
                    run[z] = 1
                else:
                    run[z] += 1
                out[m, z] = min(run[z], limit[z]) if ends else 0


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
                for z in range(L):
                    total[z] += tokens[m - d, z]
                    if d < limit[z]:
                        out[m - base, d, z] = total[z] + first[m - d, z] + last[m, z] + table[kind, z]


@njit(cache=True, nogil=True)
def expectations(indptr, lo, hi, weight, tokens, first, last, table, bins, marks, trans, reach,
                 log_z, covering, starting, ending, kinds, transitions):  # fmt: skip
    """Add the weighted expectations of the sequences lo..hi-1 to the outputs, and write log_z : float64[N].

    weight : float64[N]; tokens, first, last : float64[≥ M, W]; table : float64[2 B, L]; bins : int64[≥ D + 1], the bin
    of each length; marks : int64[M + 1]; trans : float64[L, L]; reach : int32[M, W], 0 in the padding.
    covering, starting, ending : float64[≥ M, W], to which weight times the probability that a segment l covers,
    starts at, ends at the token is added; kinds : float64[2 B, L], expected segments by kind;
    transitions : float64[L, L], expected steps between segments. Where log_z is not finite nothing is added.
    """
    L, W, T = len(trans), tokens.shape[1], longest(indptr, lo, hi)
    wide_table, wide_trans = np.zeros((len(table), W)), np.zeros((L, W))
    wide_table[:, :L], wide_trans[:, :L] = table, trans
    wide_kinds, wide_steps = np.zeros((len(table), W)), np.zeros((L, W))
    entry, opened, within, alpha = np.empty((T, W)), np.empty((T, W)), np.empty((T, W)), np.empty((T, W))
    starts, ends = np.empty((T, W)), np.zeros((T, W))
    terms = np.empty((max(T, L), W))
    for i in range(lo, hi):
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        log_z[i] = 0.0
        if T == 0:
            continue
        forward(
            a, T, tokens, first, last, wide_table, bins, marks, wide_trans, reach, entry, opened, within, alpha, terms
        )
        log_z[i] = final(alpha[T - 1], L, terms, ends[T - 1])
        if not np.isfinite(log_z[i]):
            continue
        backward(
            a, T, weight[i], wide_table, bins, marks, wide_trans, reach, entry, opened, within, alpha,
            starts, ends, terms, wide_kinds, wide_steps,
        )  # fmt: skip
        cover = np.zeros(W)
        for t in range(T):
            for y in range(W):
                cover[y] += starts[t, y]
                covering[a + t, y] += weight[i] * cover[y]
                starting[a + t, y] += weight[i] * starts[t, y]
                ending[a + t, y] += weight[i] * ends[t, y]
                cover[y] -= ends[t, y]
    kinds += wide_kinds[:, :L]
    transitions += wide_steps[:, :L]


@njit(cache=True, nogil=True)
def exponentials(terms, n):
    """Replace the first n rows of terms : float64[≥ n, W] by their exponentials."""
    address = terms.ctypes.data
    for at in range(address, address + 8 * n * terms.shape[1], 8 * LANES):
        store(at, exp(load(at)))


@njit(cache=True, nogil=True)
def log_sums(terms, n, out):
    """Set out[y] = log Σ_{r<n} exp(terms[r, y]); the terms are used up."""
    W = terms.shape[1]
    top, total = np.full(W, -np.inf), np.zeros(W)
    for r in range(n):
        for y in range(W):
            top[y] = max(top[y], terms[r, y])
    for y in range(W):
        top[y] = top[y] if top[y] > -np.inf else 0.0  # nothing leads here, and -inf - (-inf) would be nan
    for r in range(n):
        for y in range(W):
            terms[r, y] -= top[y]
    exponentials(terms, n)
    for r in range(n):
        for y in range(W):
            total[y] += terms[r, y]
    for y in range(W):
        out[y] = top[y] + log(total[y]) if total[y] > 0.0 else -np.inf


@njit(cache=True, nogil=True)
def lay_lengths(m, t, table, bins, marks, reach, opened, terms):
    """Set terms[d, y] = o_{t-d}(y) + table[kind, y] for the segments that end at token m, the t-th; return how many d.

    Lengths out of reach get -inf.
    """
    n = reach[m].max()
    for d in range(n):
        kind = kind_of(m, d, bins, marks)
        for y in range(terms.shape[1]):
            terms[d, y] = opened[t - d, y] + table[kind, y] if d < reach[m, y] else -np.inf
    return n


@njit(cache=True, nogil=True)
def forward(a, T, tokens, first, last, table, bins, marks, trans, reach, entry, opened, within, alpha, terms):
    """Fill entry : ε, opened : o, alpha : α, within : α less what e adds, float64[≥ T, W], for T >= 1 tokens from a."""
    W = tokens.shape[1]
    prefix = np.zeros(W)
    entry[0] = 0.0
    for t in range(T):
        m = a + t
        if t > 0:
            for x in range(len(trans)):
                for y in range(W):
                    terms[x, y] = alpha[t - 1, x] + trans[x, y]
            log_sums(terms, len(trans), entry[t])
        for y in range(W):
            opened[t, y] = entry[t, y] + first[m, y] - prefix[y]
            prefix[y] += tokens[m, y]
        n = lay_lengths(m, t, table, bins, marks, reach, opened, terms)
        log_sums(terms, n, within[t])
        for y in range(W):
            alpha[t, y] = within[t, y] + last[m, y] + prefix[y]


@njit(cache=True, nogil=True)
def final(alpha, L, terms, ends):
    """Return log_z from the last α, and write the probability that the last segment has each label."""
    for y in range(L):
        terms[0, y] = alpha[y]
    top = terms[0, :L].max()
    if not np.isfinite(top):
        return top
    terms[0, :L] -= top
    terms[0, L:] = -np.inf
    exponentials(terms, 1)
    total = terms[0, :L].sum()
    ends[:L] = terms[0, :L] / total
    return top + log(total)


@njit(cache=True, nogil=True)
def backward(a, T, weight, table, bins, marks, trans, reach, entry, opened, within, alpha,
             starts, ends, terms, kinds, steps):  # fmt: skip
    """Fill starts and ends, float64[≥ T, W], from ends[T - 1]; add weighted counts to kinds and steps."""
    L, W = trans.shape
    shift = np.empty(W)
    starts[:T] = 0.0
    for t in range(T - 1, -1, -1):
        m = a + t
        if t < T - 1:
            for y in range(W):
                shift[y] = entry[t + 1, y] if entry[t + 1, y] > -np.inf else 0.0  # as in log_sums
            for x in range(L):
                for y in range(W):
                    terms[x, y] = alpha[t, x] + trans[x, y] - shift[y]
            exponentials(terms, L)
            for x in range(L):
                ends[t, x] = 0.0
                for y in range(L):
                    pair = terms[x, y] * starts[t + 1, y]
                    steps[x, y] += weight * pair
                    ends[t, x] += pair
        for y in range(W):
            shift[y] = within[t, y] if within[t, y] > -np.inf else 0.0
        n = lay_lengths(m, t, table, bins, marks, reach, opened, terms)
        for d in range(n):
            for y in range(W):
                terms[d, y] -= shift[y]
        exponentials(terms, n)
        for d in range(n):
            kind = kind_of(m, d, bins, marks)
            for y in range(W):
                p = ends[t, y] * terms[d, y]
                starts[t - d, y] += p
                kinds[kind, y] += weight * p

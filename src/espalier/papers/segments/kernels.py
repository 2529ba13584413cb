"""Exact inference over segmentations (semi-Markov chains), in log space.

    s(y)      = start(l_1) + Σ_k ψ(e_k, d_k, l_k) + Σ_{k≥2} τ(l_{k-1}, l_k) + end(l_K)

for segments k with label l_k that end at token e_k and have d_k + 1 tokens (Sarawagi & Cohen 2004).

    entry     ε_0(l) = start(l)                 ε_t(l) = max_{l'} α_{t-1}(l') + τ(l', l)       a segment l starts at t
    Viterbi   α_t(l) = max_d ε_{t-d}(l) + ψ(t, d, l)                                        a segment l ends at t
    forward   the same with log Σ exp for max; log Z = log Σ_l exp(α_T(l) + end(l))
    backward  from the last token on: the probability that l ends at t is shared among its lengths,
              p(d | t, l) ∝ exp(ε_{t-d}(l) + ψ(t, d, l)), and the probability that l starts at t among the labels
              of the segment before, p(l' | t, l) ∝ exp(α_{t-1}(l') + τ(l', l)); the entropies of the shares add up.

Sums take the scores of `Segments`, which need no table of all segments:

    ψ(a, e, l) = Σ_{a≤m≤e} tokens[m, l] + first[a, l] + last[e, l] + table[kind(a, e), l]

The three row arrays are read through prefix sums P of `tokens`: what depends on a alone is added when a segment opens,
what depends on e alone when it closes, and only the table couples the two ends:

    o_a(l) = ε_a(l) + first[a, l] - P_a(l)
    α_e(l) = last[e, l] + P_{e+1}(l) + log Σ_a exp( o_a(l) + table[kind(a, e), l] )

A model has a few kinds, by length and by marks inside; potentials have one for each segment (`inference`). Rows are
padded to W labels, whole vectors (`kernels.padded`), and labels run in the inner loops, which the compiler turns into
vector code; exponentials are taken eight at a time. What stands in the padding is never read out.

Time O(T L (L + D)) (k-best: times k), memory O(T L) beside the scores (k-best: O(T L k)). D may exceed T: entries
ψ(t, d, ·) with d > t, which would start before the first token, are never read.

Ties: compare two segmentations from their last segments backwards; at the first that differs the lower label wins,
or with equal labels the shorter segment. k-best lists ties in that order.

The rest is as in `chain`: ranges of sequences, empty and infeasible sequences.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import njit

# Numba's cache does not follow imports: after a change to these helpers, touch this file too.
from espalier.kernels.chain import best_before, draw, exponentials, longest, max_step, merge

__all__ = [
    "SegmentSums",
    "Segments",
    "expectations",
    "k_best",
    "log_partition",
    "path_scores",
    "reaches",
    "sample",
    "segment_scores",
    "viterbi",
]

Float = NDArray[np.float64]


class Segments(NamedTuple):
    """What segments of N sequences score, and which may be.

    indptr : int64[N + 1]; tokens, first, last : float64[≥ M, W]; table : float64[kinds, W]; kinds : how many rows of
    the table a token has by itself; bins : int64[≥ D + 1], the row for each length among them; marks : int64[M + 1],
    the marks before each token: a segment that has one before its last token takes the row after; trans :
    float64[L, W].
    reach : int32[M, W], the tokens that a segment may have at most if it ends at a token, 0 in the padding.
    """

    indptr: NDArray[np.int64]
    tokens: Float
    first: Float
    last: Float
    table: Float
    kinds: int
    bins: NDArray[np.int64]
    marks: NDArray[np.int64]
    trans: Float
    reach: NDArray[np.int32]


class SegmentSums(NamedTuple):
    """What is expected of segmentations; all but log_z and entropy are added to, weighted by sequence.

    log_z, entropy : float64[N], the latter float64[0] if unwanted; covering, starting, ending : float64[≥ M, W], the
    probability that a segment l covers, starts at, ends at the token; kinds : float64[kinds, W], segments by row of the
    table; transitions : float64[L, W], steps between segments.
    """

    log_z: Float
    entropy: Float
    covering: Float
    starting: Float
    ending: Float
    kinds: Float
    transitions: Float


class Columns(NamedTuple):
    """Working space for one sequence: ε, o, α less what e adds, and α, float64[T, W]; terms : float64[≥ T and L, W]."""

    entry: Float
    opened: Float
    within: Float
    alpha: Float
    terms: Float


@njit(cache=True, nogil=True)
def gather(m, t, y, score, entry, opened, length):
    """Lay out the possible lengths of a segment y that ends at token m, the t-th of its sequence; return how many.

    opened[d] = entry[t - d, y]; length[d, 0] = score[m, d, y]: one column of a step from `opened`.
    """
    n = min(score.shape[1], t + 1)
    for d in range(n):
        opened[d] = entry[t - d, y]
        length[d, 0] = score[m, d, y]
    return n


@njit(cache=True, nogil=True)
def viterbi(indptr, score, trans, start, end, lo, hi, labels, starts, scores):
    """Write the best segmentation into labels : int16[M], starts : bool[M] (of segments) and scores : float64[N]."""
    D, L = score.shape[1], score.shape[2]
    last = end.reshape(L, 1)
    T = longest(indptr, lo, hi)
    entry, alpha = np.empty((T, L)), np.empty((T, L))
    opened, length = np.empty(D), np.empty((D, 1))
    for i in range(lo, hi):
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        scores[i] = 0.0
        if T == 0:
            continue
        entry[0] = start
        for t in range(T):
            if t > 0:
                max_step(alpha[t - 1], trans, entry[t])
            alpha[t] = -np.inf
            for d in range(min(D, t + 1)):
                for y in range(L):
                    alpha[t, y] = max(alpha[t, y], entry[t - d, y] + score[a + t, d, y])
        t, y = T - 1, best_before(alpha[T - 1], last, 0)
        scores[i] = -np.inf if y < 0 else alpha[t, y] + end[y]
        labels[a : a + T] = -1
        starts[a : a + T] = False
        while y >= 0:
            n = gather(a + t, t, y, score, entry, opened, length)
            first = t - best_before(opened[:n], length[:n], 0)
            labels[a + first : a + t + 1] = y
            starts[a + first] = True
            if first == 0:
                break
            t, y = first - 1, best_before(alpha[first - 1], trans, y)


@njit(cache=True, nogil=True)
def k_best(indptr, score, trans, start, end, lo, hi, labels, starts, scores):
    """Write the k best distinct segmentations: labels : int16[k, M], starts : bool[k, M], scores : float64[N, k].

    Where fewer than k segmentations have a finite score, the rest is -1, False and -inf.
    """
    D, L, k = score.shape[1], score.shape[2], scores.shape[1]
    last = end.reshape(L, 1)
    T = longest(indptr, lo, hi)
    entry, alpha = np.empty((T, L, k)), np.empty((T, L, k))
    entry_back, alpha_back = np.empty((T, L, k), np.int32), np.empty((T, L, k), np.int32)
    opened, length = np.empty((D, k)), np.empty((D, 1))
    final, heads = np.empty(k, np.int32), np.empty(max(L, D), np.int64)
    for i in range(lo, hi):
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        scores[i] = -np.inf
        if T == 0:
            scores[i, 0] = 0.0
            continue
        for t in range(T):
            n = min(D, t + 1)
            for y in range(L):
                if t == 0:
                    entry[0, y] = -np.inf
                    entry[0, y, 0] = start[y]
                else:
                    merge(alpha[t - 1], trans, y, heads, entry[t, y], entry_back[t, y])
                for d in range(n):
                    opened[d] = entry[t - d, y]
                    length[d, 0] = score[a + t, d, y]
                merge(opened[:n], length[:n], 0, heads, alpha[t, y], alpha_back[t, y])
        merge(alpha[T - 1], last, 0, heads, scores[i], final)
        for r in range(k):
            labels[r, a : a + T] = -1
            starts[r, a : a + T] = False
            t, state = T - 1, final[r]
            while state >= 0:
                y = state // k
                lengths = alpha_back[t, y, state % k]  # encodes d and the rank among the entries at t - d
                first = t - lengths // k
                labels[r, a + first : a + t + 1] = y
                starts[r, a + first] = True
                if first == 0:
                    break
                t, state = first - 1, entry_back[first, y, lengths % k]


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
def kind_of(m, d, kinds, bins, marks):
    """Return the row of the table for the segment of d + 1 tokens that ends at token m."""
    return kinds * m + bins[d + 1] + (1 if marks[m] > marks[m - d] else 0)


@njit(cache=True, nogil=True)
def segment_scores(segments, lo, hi, out):
    """Write ψ of every segment of the sequences lo..hi-1 into out : float64[their tokens, D, L]; -inf out of reach."""
    D, L = out.shape[1], out.shape[2]
    indptr, tokens, first, last, _, kinds, bins, marks, _, _ = segments
    base = indptr[lo]
    total = np.empty(L)
    for i in range(lo, hi):
        a = indptr[i]
        for m in range(a, indptr[i + 1]):
            total[:] = 0.0
            out[m - base] = -np.inf
            for d in range(min(D, m - a + 1)):
                kind = kind_of(m, d, kinds, bins, marks)
                for z in range(L):
                    total[z] += tokens[m - d, z]
                    if d < segments.reach[m, z]:
                        out[m - base, d, z] = total[z] + first[m - d, z] + last[m, z] + segments.table[kind, z]


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
    exponentials(terms, n * W)
    for r in range(n):
        for y in range(W):
            total[y] += terms[r, y]
    for y in range(W):
        out[y] = top[y] + log(total[y]) if total[y] > 0.0 else -np.inf


@njit(cache=True, nogil=True)
def columns_for(segments, lo, hi):
    """Return working space for the longest of the sequences lo..hi-1."""
    L, W = segments.trans.shape
    T = longest(segments.indptr, lo, hi)
    return Columns(np.empty((T, W)), np.empty((T, W)), np.empty((T, W)), np.empty((T, W)), np.empty((max(T, L), W)))


@njit(cache=True, nogil=True)
def lay_lengths(segments, m, t, opened, terms):
    """Set terms[d, y] = o_{t-d}(y) + table[kind, y] for the segments that end at token m, the t-th; return how many d.

    Lengths out of reach get -inf.
    """
    table, kinds, bins, marks, reach = segments.table, segments.kinds, segments.bins, segments.marks, segments.reach
    n = reach[m].max()
    for d in range(n):
        kind = kind_of(m, d, kinds, bins, marks)
        for y in range(terms.shape[1]):
            terms[d, y] = opened[t - d, y] + table[kind, y] if d < reach[m, y] else -np.inf
    return n


@njit(cache=True, nogil=True)
def forward(segments, i, columns, ends):
    """Fill the columns of sequence i, and ends : float64[W] with the probability of the last label; return log_z."""
    entry, opened, within, alpha, terms = columns
    tokens, first, last, trans = segments.tokens, segments.first, segments.last, segments.trans
    a, T, (L, W) = segments.indptr[i], segments.indptr[i + 1] - segments.indptr[i], trans.shape
    if T == 0:
        return 0.0
    prefix = np.zeros(W)
    entry[0] = 0.0
    for t in range(T):
        m = a + t
        if t > 0:
            for x in range(L):
                for y in range(W):
                    terms[x, y] = alpha[t - 1, x] + trans[x, y]
            log_sums(terms, L, entry[t])
        for y in range(W):
            opened[t, y] = entry[t, y] + first[m, y] - prefix[y]
            prefix[y] += tokens[m, y]
        log_sums(terms, lay_lengths(segments, m, t, opened, terms), within[t])
        for y in range(W):
            alpha[t, y] = within[t, y] + last[m, y] + prefix[y]
    return final(alpha[T - 1], L, terms, ends)


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
    exponentials(terms, terms.shape[1])
    total = terms[0, :L].sum()
    ends[:L] = terms[0, :L] / total
    return top + log(total)


@njit(cache=True, nogil=True)
def log_partition(segments, lo, hi, log_z):
    """Write log Σ exp s over all segmentations of each sequence into log_z : float64[N]: the forward pass alone."""
    columns, ends = columns_for(segments, lo, hi), np.empty(segments.trans.shape[1])
    for i in range(lo, hi):
        log_z[i] = forward(segments, i, columns, ends)


@njit(cache=True, nogil=True)
def expectations(segments, lo, hi, weight, expected):
    """Add what is expected of the sequences lo..hi-1, times weight : float64[N]; where log_z is not finite, nothing."""
    T, W = longest(segments.indptr, lo, hi), segments.trans.shape[1]
    columns, starts, ends, cover = columns_for(segments, lo, hi), np.empty((T, W)), np.zeros((T, W)), np.empty(W)
    for i in range(lo, hi):
        a, T = segments.indptr[i], segments.indptr[i + 1] - segments.indptr[i]
        if len(expected.entropy) > 0:
            expected.entropy[i] = 0.0
        expected.log_z[i] = 0.0
        if T == 0:
            continue
        expected.log_z[i] = forward(segments, i, columns, ends[T - 1])
        if not np.isfinite(expected.log_z[i]):
            continue
        backward(segments, i, weight[i], columns, starts, ends, expected)
        cover[:] = 0.0
        covering, starting, ending = expected.covering, expected.starting, expected.ending
        for t in range(T):
            for y in range(W):
                cover[y] += starts[t, y]
                covering[a + t, y] += weight[i] * cover[y]
                starting[a + t, y] += weight[i] * starts[t, y]
                ending[a + t, y] += weight[i] * ends[t, y]
                cover[y] -= ends[t, y]


@njit(cache=True, nogil=True)
def surprise(p, q):
    """Return -p log q, 0 for a p of 0."""
    return -p * log(q) if p > 0.0 else 0.0


@njit(cache=True, nogil=True)
def backward(segments, i, weight, columns, starts, ends, expected):
    """Fill starts and ends, float64[≥ T, W], from the last row of ends; add to kinds, transitions and entropy."""
    entry, opened, within, alpha, terms = columns
    trans, kinds, bins, marks = segments.trans, segments.kinds, segments.bins, segments.marks
    a, T, (L, W) = segments.indptr[i], segments.indptr[i + 1] - segments.indptr[i], trans.shape
    shift, total, added = np.empty(W), np.empty(W), expected.kinds
    steps, asked, entropy = expected.transitions, len(expected.entropy) > 0, 0.0
    starts[:T] = 0.0
    for y in range(L if asked else 0):
        entropy += surprise(ends[T - 1, y], ends[T - 1, y])
    for t in range(T - 1, -1, -1):
        m = a + t
        if t < T - 1:
            for y in range(W):
                shift[y] = entry[t + 1, y] if entry[t + 1, y] > -np.inf else 0.0  # as in log_sums
            for x in range(L):
                for y in range(W):
                    terms[x, y] = alpha[t, x] + trans[x, y] - shift[y]
            exponentials(terms, L * W)
            total[:] = 0.0
            for x in range(L):
                for y in range(W):
                    total[y] += terms[x, y]
            for y in range(W):
                total[y] = starts[t + 1, y] / total[y] if total[y] > 0.0 else 0.0
            for x in range(L):
                ends[t, x] = 0.0
                for y in range(L):
                    pair = terms[x, y] * total[y]
                    steps[x, y] += weight * pair
                    ends[t, x] += pair
                    if asked:
                        entropy += surprise(pair, terms[x, y])
        for y in range(W):
            shift[y] = within[t, y] if within[t, y] > -np.inf else 0.0
        n = lay_lengths(segments, m, t, opened, terms)
        for d in range(n):
            for y in range(W):
                terms[d, y] -= shift[y]
        exponentials(terms, n * W)
        total[:] = 0.0
        for d in range(n):
            for y in range(W):
                total[y] += terms[d, y]  # 1, but for what rounding made of large scores
        for y in range(W):
            total[y] = ends[t, y] / total[y] if total[y] > 0.0 else 0.0
        for d in range(n):
            kind = kind_of(m, d, kinds, bins, marks)
            for y in range(W):
                p = total[y] * terms[d, y]
                starts[t - d, y] += p
                added[kind, y] += weight * p
                if asked:
                    entropy += surprise(p, terms[d, y])
    if asked:
        expected.entropy[i] = entropy


@njit(cache=True, nogil=True)
def sample(segments, lo, hi, uniforms, labels, starts, log_z):
    """Write n exact samples into labels : int16[n, M] and starts : bool[n, M], and log_z : float64[N].

    uniforms : float64[n, M, 2]; a segment that ends at token m takes its label by uniforms[r, m, 0], its length by
    uniforms[r, m, 1].
    """
    kinds, bins, marks, (L, W) = segments.kinds, segments.bins, segments.marks, segments.trans.shape
    columns, ends = columns_for(segments, lo, hi), np.empty(W)
    lengths, before = np.empty(len(columns.alpha)), np.empty(L)
    for i in range(lo, hi):
        a, b = segments.indptr[i], segments.indptr[i + 1]
        log_z[i] = forward(segments, i, columns, ends)
        for r in range(len(labels) if b > a else 0):
            labels[r, a:b] = -1
            starts[r, a:b] = False
            if log_z[i] == -np.inf:
                continue
            m, y = b - 1, draw(columns.alpha[b - a - 1, :L], uniforms[r, b - 1, 0])
            while True:
                n = segments.reach[m, y]
                for d in range(n):
                    lengths[d] = columns.opened[m - a - d, y] + segments.table[kind_of(m, d, kinds, bins, marks), y]
                first = m - draw(lengths[:n], uniforms[r, m, 1])
                labels[r, first : m + 1] = y
                starts[r, first] = True
                if first == a:
                    break
                for x in range(L):
                    before[x] = columns.alpha[first - a - 1, x] + segments.trans[x, y]
                m, y = first - 1, draw(before, uniforms[r, first - 1, 0])


@njit(cache=True, nogil=True)
def path_scores(indptr, score, trans, start, end, lo, hi, labels, starts, scores):
    """Write s of the segmentations given by labels : int16[M] and starts : bool[M] into scores : float64[N].

    A segment of more than D tokens scores -inf. Each first token must start a segment.
    """
    D = score.shape[1]
    for i in range(lo, hi):
        a, b = indptr[i], indptr[i + 1]
        scores[i] = 0.0
        if b == a:
            continue
        scores[i] = start[labels[a]] + end[labels[b - 1]]
        first = a
        for m in range(a, b):
            if starts[m] and m > a:
                first = m
                scores[i] += trans[labels[m - 1], labels[m]]
            if m + 1 == b or starts[m + 1]:
                scores[i] += score[m, m - first, labels[m]] if m - first < D else -np.inf

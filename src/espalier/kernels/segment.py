"""Exact inference over segmentations (semi-Markov chains), in log space.

    s(y)      = start(l_1) + Σ_k ψ(e_k, d_k, l_k) + Σ_{k≥2} τ(l_{k-1}, l_k) + end(l_K)

for segments k with label l_k that end at token e_k and have d_k + 1 tokens (Sarawagi & Cohen 2004).

    entry     ε_0(l) = start(l)                 ε_t(l) = max_{l'} α_{t-1}(l') + τ(l', l)       a segment l starts at t
    Viterbi   α_t(l) = max_d ε_{t-d}(l) + ψ(t, d, l)                                        a segment l ends at t
    forward   the same with log Σ exp for max; log Z = log Σ_l exp(α_T(l) + end(l))
    backward  from the last token on: the probability that l ends at t is shared among its lengths,
              p(d | t, l) ∝ exp(ε_{t-d}(l) + ψ(t, d, l)), and the probability that l starts at t among the labels
              of the segment before, p(l' | t, l) ∝ exp(α_{t-1}(l') + τ(l', l)); the entropies of the shares add up.

Time O(T L (L + D)) (k-best: times k), memory O(T L) beside the scores (k-best: O(T L k)). D may exceed T: entries
ψ(t, d, ·) with d > t, which would start before the first token, are never read.

Ties: compare two segmentations from their last segments backwards; at the first that differs the lower label wins,
or with equal labels the shorter segment. k-best lists ties in that order.

The rest is as in `chain`: ranges of sequences, empty and infeasible sequences, steps as matrices.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from espalier.kernels import njit

# Numba's cache does not follow imports: after a change to these helpers, touch this file too.
from espalier.kernels.chain import add, best_before, draw_before, log_step, longest, max_step, merge, share

__all__ = ["forward_backward", "k_best", "log_partition", "path_scores", "sample", "viterbi"]


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
def forward(a, T, score, trans, start, end, shift, entry, alpha):
    """Return log_z of the T >= 1 tokens from a on, or -inf, and fill entry and alpha : float64[≥ T, L]."""
    D, L = score.shape[1], score.shape[2]
    entry[0] = start
    for t in range(T):
        n = min(D, t + 1)
        if t > 0:
            log_step(alpha[t - 1], trans, shift, entry[t])
        for y in range(L):
            shift[y] = -np.inf
            alpha[t, y] = 0.0
        for d in range(n):
            for y in range(L):
                shift[y] = max(shift[y], entry[t - d, y] + score[a + t, d, y])
        for d in range(n):
            for y in range(L):
                if shift[y] > -np.inf:
                    alpha[t, y] += exp(entry[t - d, y] + score[a + t, d, y] - shift[y])
        for y in range(L):
            alpha[t, y] = shift[y] + log(alpha[t, y]) if alpha[t, y] > 0.0 else -np.inf
    total = np.empty(1)
    log_step(alpha[T - 1], end.reshape(L, 1), shift, total)
    return total[0]


@njit(cache=True, nogil=True)
def log_partition(indptr, score, trans, start, end, lo, hi, log_z):
    """Write log Σ exp s over all segmentations of each sequence into log_z : float64[N]: the forward pass alone."""
    L = score.shape[2]
    T = longest(indptr, lo, hi)
    entry, alpha, shift = np.empty((T, L)), np.empty((T, L)), np.empty(L)
    for i in range(lo, hi):
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        log_z[i] = forward(a, T, score, trans, start, end, shift, entry, alpha) if T > 0 else 0.0


@njit(cache=True, nogil=True)
def forward_backward(
    indptr, score, trans, start, end, lo, hi, log_z, marginals, segment_marginals, transitions, entropy
):
    """Write the whole posterior of each sequence.

    log_z, entropy : float64[N]; marginals : float64[M, L], the label of the segment that covers each token;
    segment_marginals : float64[M, D, L], the probability of each segment, or float64[0, D, L] if unwanted;
    transitions : float64[L, L], to which the expected transition counts between segments are added.
    """
    L = score.shape[2]
    T = longest(indptr, lo, hi)
    entry, alpha = np.empty((T, L)), np.empty((T, L))
    starting = np.empty((T, L))  # starting[t, y]: the probability that a segment y starts at t
    for i in range(lo, hi):
        a, b = indptr[i], indptr[i + 1]
        log_z[i] = entropy[i] = 0.0
        marginals[a:b] = 0.0
        if len(segment_marginals) > 0:
            segment_marginals[a:b] = 0.0
        if b > a:
            log_z[i] = forward(a, b - a, score, trans, start, end, np.empty(L), entry, alpha)
        if b > a and log_z[i] > -np.inf:
            entropy[i] = backward(
                a, b - a, score, trans, end, entry, alpha, starting, marginals, segment_marginals, transitions
            )


@njit(cache=True, nogil=True)
def backward(a, T, score, trans, end, entry, alpha, starting, marginals, segment_marginals, transitions):
    """Add the marginals of the T >= 1 tokens from a on to the outputs of `forward_backward`; return the entropy."""
    D, L = score.shape[1], score.shape[2]
    scratch = np.empty((3, L))
    ending = np.empty(L)  # the probability that a segment y ends at t
    pair, final_pair, certain = np.empty((L, L)), np.empty((L, 1)), np.ones(1)
    opened, length, lengths, column, one = np.empty(D), np.empty((D, 1)), np.empty(D), np.empty((D, 1)), np.empty(1)
    starting[:T] = 0.0
    entropy = share(alpha[T - 1], end.reshape(L, 1), certain, ending, final_pair, scratch)
    for t in range(T - 1, -1, -1):
        if t < T - 1:
            entropy += share(alpha[t], trans, starting[t + 1], ending, pair, scratch)
            add(pair, transitions)
        for y in range(L):
            if ending[y] == 0.0:
                continue
            one[0] = ending[y]
            n = gather(a + t, t, y, score, entry, opened, length)
            entropy += share(opened[:n], length[:n], one, lengths, column, scratch)
            covering = 0.0  # the probability of the segments of at least d + 1 tokens
            for d in range(n - 1, -1, -1):
                covering += lengths[d]
                starting[t - d, y] += lengths[d]
                marginals[a + t - d, y] += covering
                if len(segment_marginals) > 0:
                    segment_marginals[a + t, d, y] = lengths[d]
    return entropy


@njit(cache=True, nogil=True)
def sample(indptr, score, trans, start, end, lo, hi, uniforms, labels, starts, log_z):
    """Write n exact samples into labels : int16[n, M] and starts : bool[n, M], and log_z : float64[N].

    uniforms : float64[n, M, 2]; a segment that ends at token m takes its label by uniforms[r, m, 0], its length by
    uniforms[r, m, 1].
    """
    D, L = score.shape[1], score.shape[2]
    last = end.reshape(L, 1)
    T = longest(indptr, lo, hi)
    entry, alpha, shift = np.empty((T, L)), np.empty((T, L)), np.empty(L)
    opened, length = np.empty(D), np.empty((D, 1))
    for i in range(lo, hi):
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        log_z[i] = 0.0
        if T == 0:
            continue
        log_z[i] = forward(a, T, score, trans, start, end, shift, entry, alpha)
        for r in range(len(labels)):
            labels[r, a : a + T] = -1
            starts[r, a : a + T] = False
            if log_z[i] == -np.inf:
                continue
            t, y = T - 1, draw_before(alpha[T - 1], last, 0, uniforms[r, a + T - 1, 0])
            while True:
                n = gather(a + t, t, y, score, entry, opened, length)
                first = t - draw_before(opened[:n], length[:n], 0, uniforms[r, a + t, 1])
                labels[r, a + first : a + t + 1] = y
                starts[r, a + first] = True
                if first == 0:
                    break
                t, y = first - 1, draw_before(alpha[first - 1], trans, y, uniforms[r, a + first - 1, 0])


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

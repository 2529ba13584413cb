"""Exact inference in chains, in log space: the plain kernels that every faster one is checked against.

    s(y)      = start(y_1) + Σ_t ψ_t(y_t) + Σ_{t≥2} τ_t(y_{t-1}, y_t) + end(y_T)

    Viterbi   α_1(y) = start(y) + ψ_1(y)        α_t(y) = ψ_t(y) + max_{y'} α_{t-1}(y') + τ_t(y', y)
    forward   the same with log Σ exp for max; log Z = log Σ_y exp(α_T(y) + end(y))
    backward  p(y_{t-1} | y_t) ∝ exp(α_{t-1}(y_{t-1}) + τ_t(y_{t-1}, y_t)), so that from the last token on
              p(y_{t-1}, y_t) = p(y_t) p(y_{t-1} | y_t)   and   H(y) = H(y_T) + Σ_t H(y_{t-1} | y_t)

The backward pass multiplies probabilities that are normalised where they stand. There is no β and no
difference of large numbers: marginals, entropy and samples stay accurate for long sequences and large scores.
k-best keeps the best prefixes of every state, and finds the next one of a state where it is asked for.

Every step from one column of the lattice to the next is a matrix `step`; `end` is the step into one last state.
Time O(T L²) (k-best: O(T (L² + (L + k) k)) at most), memory O(T L) (k-best: O(T L k)). The log kernels take 2 L²
exponentials a token.

Ties: the lowest label at the last token, then the lowest at the last but one, and so on to the first: among equal
scores the winner is the first labelling in lexicographic order read backwards. k-best lists ties in that order.

Every kernel works on the sequences lo..hi-1 of a batch (see `ChainBatch`) and writes only their part of the outputs,
so that disjoint ranges can run in threads. A sequence without tokens has one labelling, of score 0. A sequence whose
every labelling scores -inf gets score and log_z -inf, labels -1, marginals and entropy 0.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from espalier.kernels import njit

__all__ = ["forward_backward", "k_best", "log_partition", "path_scores", "sample", "viterbi"]


@njit(cache=True, nogil=True)
def max_step(previous, step, out):
    """Set out[y] = max_{y'} previous[y'] + step[y', y]."""
    for y in range(step.shape[1]):
        out[y] = -np.inf
    for y_prev in range(step.shape[0]):
        for y in range(step.shape[1]):
            out[y] = max(out[y], previous[y_prev] + step[y_prev, y])


@njit(cache=True, nogil=True)
def log_step(previous, step, shift, out):
    """Set out[y] = log Σ_{y'} exp(previous[y'] + step[y', y]); shift is scratch for the largest exponents."""
    max_step(previous, step, shift)
    for y in range(step.shape[1]):
        out[y] = 0.0
        if shift[y] == -np.inf:
            shift[y] = 0.0  # nothing leads here, and -inf - (-inf) would be nan
    for y_prev in range(step.shape[0]):
        if previous[y_prev] > -np.inf:
            for y in range(step.shape[1]):
                out[y] += exp(previous[y_prev] + step[y_prev, y] - shift[y])
    for y in range(step.shape[1]):
        out[y] = shift[y] + log(out[y]) if out[y] > 0.0 else -np.inf


@njit(cache=True, nogil=True)
def share(previous, step, after, before, pair, scratch):
    """Share the probability after[y] of every y among its predecessors; return Σ_y after[y] H(y' | y).

    p(y' | y) ∝ exp(previous[y'] + step[y', y]); pair[y', y] = after[y] p(y' | y); before[y'] = Σ_y pair[y', y];
    scratch : float64[3, ≥ L].
    """
    shift, total, energy = scratch[0], scratch[1], scratch[2]
    max_step(previous, step, shift)
    for y in range(step.shape[1]):
        total[y] = energy[y] = 0.0
        if shift[y] == -np.inf:
            shift[y] = 0.0  # as in log_step
    for y_prev in range(step.shape[0]):
        for y in range(step.shape[1]):
            exponent = previous[y_prev] + step[y_prev, y] - shift[y]
            weight = exp(exponent)
            pair[y_prev, y] = weight
            total[y] += weight
            if weight > 0.0:
                energy[y] += weight * exponent
    entropy = 0.0
    for y in range(step.shape[1]):
        if after[y] > 0.0:
            entropy += after[y] * (log(total[y]) - energy[y] / total[y])
            total[y] = after[y] / total[y]
        else:
            total[y] = 0.0
    for y_prev in range(step.shape[0]):
        mass = 0.0
        for y in range(step.shape[1]):
            pair[y_prev, y] *= total[y]
            mass += pair[y_prev, y]
        before[y_prev] = mass
    return entropy


@njit(cache=True, nogil=True)
def add(pair, counts):
    """Add pair to counts, both float64[L, L] (an array expression would allocate at every token)."""
    for y_prev in range(pair.shape[0]):
        for y in range(pair.shape[1]):
            counts[y_prev, y] += pair[y_prev, y]


@njit(cache=True, nogil=True)
def best_before(previous, step, y):
    """Return the lowest y' with the largest previous[y'] + step[y', y]; -1 if all are -inf."""
    best, best_score = -1, -np.inf
    for y_prev in range(step.shape[0]):
        if previous[y_prev] + step[y_prev, y] > best_score:
            best, best_score = y_prev, previous[y_prev] + step[y_prev, y]
    return best


@njit(cache=True, nogil=True)
def draw_before(previous, step, y, uniform):
    """Return y' drawn with p(y') ∝ exp(previous[y'] + step[y', y]) by one uniform in [0, 1); y must be reachable.

    It is the first y' whose cumulated probability exceeds the uniform.
    """
    top = best_before(previous, step, y)
    shift = previous[top] + step[top, y]
    total = 0.0
    for y_prev in range(step.shape[0]):
        total += exp(previous[y_prev] + step[y_prev, y] - shift)
    reached = 0.0
    for y_prev in range(step.shape[0]):
        reached += exp(previous[y_prev] + step[y_prev, y] - shift)
        if reached > uniform * total:
            return y_prev
    return top  # only for a uniform of 1: otherwise the complete sum, `total` again, exceeds uniform * total


@njit(cache=True, nogil=True)
def merge(previous, step, y, heads, out, back):
    """Merge sorted lists: out[r] is the r-th best previous[y', q] + step[y', y], back[r] = y' k + q says which.

    previous : float64[n, k], every row descending; out : float64[k], filled up with -inf; back : int32[k], with -1;
    heads : int64[≥ n] is scratch.
    """
    n, k = previous.shape
    for y_prev in range(n):
        heads[y_prev] = 0
    for r in range(k):
        best, best_score = -1, -np.inf
        for y_prev in range(n):
            if heads[y_prev] < k and previous[y_prev, heads[y_prev]] + step[y_prev, y] > best_score:
                best, best_score = y_prev, previous[y_prev, heads[y_prev]] + step[y_prev, y]
        out[r] = best_score
        back[r] = -1
        if best >= 0:
            back[r] = best * k + heads[best]
            heads[best] += 1


@njit(cache=True, nogil=True)
def longest(indptr, lo, hi):
    """Return the largest number of tokens in one of the sequences lo..hi-1."""
    T = 0
    for i in range(lo, hi):
        T = max(T, indptr[i + 1] - indptr[i])
    return T


@njit(cache=True, nogil=True)
def viterbi(indptr, unary, trans, trans_class, start, end, lo, hi, labels, scores):
    """Write the best labelling of each sequence into labels : int16[M] and its score into scores : float64[N].

    Only α is kept; the path back searches each column again (O(L) a token), so the inner loop is a bare maximum.
    """
    L = unary.shape[1]
    last = end.reshape(L, 1)
    alpha = np.empty((longest(indptr, lo, hi), L))
    for i in range(lo, hi):
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        scores[i] = 0.0
        if T == 0:
            continue
        alpha[0] = start
        for t in range(T):
            if t > 0:
                max_step(alpha[t - 1], trans[trans_class[a + t]], alpha[t])
            for y in range(L):
                alpha[t, y] += unary[a + t, y]
        y = best_before(alpha[T - 1], last, 0)
        scores[i] = -np.inf if y < 0 else alpha[T - 1, y] + end[y]
        labels[a + T - 1] = y
        for t in range(T - 2, -1, -1):
            if y >= 0:
                y = best_before(alpha[t], trans[trans_class[a + t + 1]], y)
            labels[a + t] = y


@njit(cache=True, nogil=True)
def next_prefix(previous, known, step, y, k, r, heads, back):
    """Return the r-th best previous[y', q] + step[y', y], back[r] = y' k + q, where the r better ones are in back.

    previous : float64[L, k], of which known[y'] are there, descending; heads : int64[L] is scratch. -inf: no more.
    """
    for y_prev in range(len(known)):
        heads[y_prev] = 0
    for before in range(r):
        heads[back[before] // k] += 1
    best, best_score = -1, -np.inf
    for y_prev in range(len(known)):
        if heads[y_prev] < known[y_prev] and previous[y_prev, heads[y_prev]] + step[y_prev, y] > best_score:
            best, best_score = y_prev, previous[y_prev, heads[y_prev]] + step[y_prev, y]
    back[r] = best * k + heads[best] if best >= 0 else -1
    return best_score


@njit(cache=True, nogil=True)
def k_best(indptr, unary, trans, trans_class, start, end, lo, hi, labels, scores):
    """Write the k best distinct labellings into labels : int16[k, M], their scores into scores : float64[N, k].

    Where fewer than k labellings have a finite score, the rest is -1 and -inf. The best prefix to every label at every
    token comes first; the others are found when a better one behind them is used up (Huang and Chiang, 2005): the
    next labelling needs one new prefix a token at most.
    """
    L, k = unary.shape[1], scores.shape[1]
    last = end.reshape(L, 1)
    most = longest(indptr, lo, hi)
    prefixes = np.empty((most, L, k))  # the best scores of prefixes that end in y at t, as far as they are known
    back = np.empty((most + 1, L, k), np.int32)  # in row T, label 0: the whole labellings
    known = np.empty((most, L), np.int64)
    more = np.empty((most, L), np.bool_)  # may there be another prefix?
    heads, wanted = np.empty(L, np.int64), np.empty(most + 1, np.int64)
    for i in range(lo, hi):
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        scores[i] = -np.inf
        if T == 0:
            scores[i, 0] = 0.0
            continue
        for y in range(L):
            prefixes[0, y, 0] = start[y] + unary[a, y]
            known[0, y], more[0, y] = 1, False
        for t in range(1, T):
            step = trans[trans_class[a + t]]
            for y in range(L):
                score = next_prefix(prefixes[t - 1], known[t - 1], step, y, k, 0, heads, back[t, y]) + unary[a + t, y]
                prefixes[t, y, 0] = score
                known[t, y] = 1 if score > -np.inf else 0
                more[t, y] = score > -np.inf and k > 1
        for r in range(k):
            # Down along the prefixes that were used last, as long as what follows them is not known; then up again.
            t, y, used = T, 0, r
            wanted[T] = 0
            while used > 0 and t > 0:
                state = back[t, y, used - 1]
                y_prev = state // k
                if state % k + 1 < known[t - 1, y_prev] or not more[t - 1, y_prev]:
                    break
                t, y, used = t - 1, y_prev, known[t - 1, y_prev]
                wanted[t] = y
            while t < T:
                y, step = wanted[t], trans[trans_class[a + t]]
                n = known[t, y]
                score = next_prefix(prefixes[t - 1], known[t - 1], step, y, k, n, heads, back[t, y]) + unary[a + t, y]
                if score > -np.inf:
                    prefixes[t, y, n] = score
                    known[t, y] = n + 1
                more[t, y] = score > -np.inf and n + 1 < k
                t += 1
            scores[i, r] = next_prefix(prefixes[T - 1], known[T - 1], last, 0, k, r, heads, back[T, 0])
            if scores[i, r] == -np.inf:
                break
        for r in range(k):
            state = back[T, 0, r] if scores[i, r] > -np.inf else -1
            for t in range(T - 1, -1, -1):
                labels[r, a + t] = state // k if state >= 0 else -1
                if state >= 0 and t > 0:
                    state = back[t, state // k, state % k]


@njit(cache=True, nogil=True)
def forward(a, T, unary, trans, trans_class, start, end, shift, alpha):
    """Return log_z of the T >= 1 tokens from a on, or -inf; alpha[t] is α_t less its maximum (log_z has them all)."""
    L = unary.shape[1]
    log_z = 0.0
    alpha[0] = start
    for t in range(T):
        if t > 0:
            log_step(alpha[t - 1], trans[trans_class[a + t]], shift, alpha[t])
        top = -np.inf
        for y in range(L):
            alpha[t, y] += unary[a + t, y]
            top = max(top, alpha[t, y])
        if top == -np.inf:
            return top
        for y in range(L):
            alpha[t, y] -= top
        log_z += top
    total = np.empty(1)
    log_step(alpha[T - 1], end.reshape(L, 1), shift, total)
    return log_z + total[0]


@njit(cache=True, nogil=True)
def log_partition(indptr, unary, trans, trans_class, start, end, lo, hi, log_z):
    """Write log Σ_y exp s(y) of each sequence into log_z : float64[N]: the forward pass alone."""
    L = unary.shape[1]
    alpha = np.empty((longest(indptr, lo, hi), L))
    shift = np.empty(L)
    for i in range(lo, hi):
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        log_z[i] = forward(a, T, unary, trans, trans_class, start, end, shift, alpha) if T > 0 else 0.0


@njit(cache=True, nogil=True)
def forward_backward(
    indptr, unary, trans, trans_class, start, end, lo, hi, log_z, marginals, pairs, transitions, entropy
):
    """Write the whole posterior of each sequence.

    log_z, entropy : float64[N]; marginals : float64[M, L]; pairs : float64[M, L, L], where pairs[m] is the
    joint probability of the labels of tokens m - 1 and m (0 at first tokens), or float64[0, L, L] if unwanted;
    transitions : float64[C, L, L], to which the expected transition counts of each class are added.
    """
    L = unary.shape[1]
    last = end.reshape(L, 1)
    alpha = np.empty((longest(indptr, lo, hi), L))
    scratch = np.empty((3, L))
    pair, final_pair, certain = np.empty((L, L)), np.empty((L, 1)), np.ones(1)
    for i in range(lo, hi):
        a, b = indptr[i], indptr[i + 1]
        log_z[i] = entropy[i] = 0.0
        if b == a:
            continue
        if len(pairs) > 0:
            pairs[a] = 0.0
        log_z[i] = forward(a, b - a, unary, trans, trans_class, start, end, scratch[0], alpha)
        if log_z[i] == -np.inf:
            marginals[a:b] = 0.0
            if len(pairs) > 0:
                pairs[a:b] = 0.0
            continue
        entropy[i] = share(alpha[b - a - 1], last, certain, marginals[b - 1], final_pair, scratch)
        for m in range(b - 1, a, -1):
            c = trans_class[m]
            entropy[i] += share(alpha[m - a - 1], trans[c], marginals[m], marginals[m - 1], pair, scratch)
            add(pair, transitions[c])
            if len(pairs) > 0:
                pairs[m] = pair


@njit(cache=True, nogil=True)
def sample(indptr, unary, trans, trans_class, start, end, lo, hi, uniforms, labels, log_z):
    """Write n exact samples from p(y) ∝ exp s(y) into labels : int16[n, M], and log_z : float64[N].

    uniforms : float64[n, M], each in [0, 1); token m of sample r takes its label by uniforms[r, m].
    """
    L = unary.shape[1]
    last = end.reshape(L, 1)
    alpha = np.empty((longest(indptr, lo, hi), L))
    shift = np.empty(L)
    for i in range(lo, hi):
        a, b = indptr[i], indptr[i + 1]
        log_z[i] = 0.0
        if b == a:
            continue
        log_z[i] = forward(a, b - a, unary, trans, trans_class, start, end, shift, alpha)
        for r in range(len(labels)):
            if log_z[i] == -np.inf:
                labels[r, a:b] = -1
                continue
            y = draw_before(alpha[b - a - 1], last, 0, uniforms[r, b - 1])
            labels[r, b - 1] = y
            for m in range(b - 2, a - 1, -1):
                y = draw_before(alpha[m - a], trans[trans_class[m + 1]], y, uniforms[r, m])
                labels[r, m] = y


@njit(cache=True, nogil=True)
def path_scores(indptr, unary, trans, trans_class, start, end, lo, hi, labels, scores):
    """Write s(y) of the given labels : int16[M] (all known) into scores : float64[N]."""
    for i in range(lo, hi):
        a, b = indptr[i], indptr[i + 1]
        scores[i] = 0.0
        if b == a:
            continue
        scores[i] = start[labels[a]] + end[labels[b - 1]]
        for m in range(a, b):
            scores[i] += unary[m, labels[m]]
            if m > a:
                scores[i] += trans[trans_class[m], labels[m - 1], labels[m]]

"""Exact inference in chains, in log space: the plain kernels that every faster one is checked against.

    s(y)      = start(y_1) + Σ_t ψ_t(y_t) + Σ_{t≥2} τ_t(y_{t-1}, y_t) + end(y_T)

    Viterbi   α_1(y) = start(y) + ψ_1(y)        α_t(y) = ψ_t(y) + max_{y'} α_{t-1}(y') + τ_t(y', y)
    forward   the same with log Σ exp for max; log Z = log Σ_y exp(α_T(y) + end(y))
    backward  p(y_{t-1} | y_t) ∝ exp(α_{t-1}(y_{t-1}) + τ_t(y_{t-1}, y_t)), so that from the last token on
              p(y_{t-1}, y_t) = p(y_t) p(y_{t-1} | y_t)   and   H(y) = H(y_T) + Σ_t H(y_{t-1} | y_t)

The backward pass multiplies probabilities that are normalised where they stand. There is no β and no
difference of large numbers: marginals, entropy and samples stay accurate for long sequences and large scores.
k-best keeps the best prefixes of every state, and finds the next one of a state where it is asked for.

Sums run over a `NodeColumns`, columns of nodes and the edges between them: a chain has a node a label in every column;
rules add what they remember (`decoders.lattice`), or how much they have counted (`decoders.counted`). The best
labellings are asked of chains alone, where every step to the next column is a matrix; `end` is the step into a last
state.

Viterbi takes O(T L²) time (k-best: O(T (L² + (L + k) k)) at most) and O(T L) memory (k-best: O(T L k)); sums over E
edges take O(E) time and 2 E exponentials.

Ties: the lowest label at the last token, then the lowest at the last but one, and so on to the first: among equal
scores the winner is the first labelling in lexicographic order read backwards. k-best lists ties in that order.

Every kernel works on the sequences lo..hi-1 of a batch (see `ChainBatch`) and writes only their part of the outputs,
so that disjoint ranges can run in threads. A sequence without tokens has one labelling, of score 0. A sequence whose
every labelling scores -inf gets score and log_z -inf, labels -1, marginals and entropy 0.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import njit
from espalier.kernels.vector import LANES, load, store
from espalier.kernels.vector import exp as exp_of_lanes

__all__ = [
    "NodeColumns",
    "best_path",
    "forward_backward",
    "k_best",
    "log_partition",
    "path_scores",
    "sample",
    "viterbi",
]


SMALLEST, LARGEST = 1e-150, 250.0
"""Sums of products of exponentials above this have lost nothing to speak of, if the scores of edges are below that."""


class NodeColumns(NamedTuple):
    """A column of nodes for each token, and the edges between neighbouring columns; -inf forbids.

    indptr : int64[N + 1], the tokens of sequences; nodes : int64[M + 1], the nodes of tokens; score : float64[nodes].
    kind : int32[M], which table of edges leads into a token, any at first tokens; rows : int64[K], the first row of
    each table, which has one for each node that edges lead into; into : int64[R + 1], the edges of each row; source :
    int32[E], where they come from, by its place in its column; edge : float64[E], their scores.
    """

    indptr: NDArray[np.int64]
    nodes: NDArray[np.int64]
    score: NDArray[np.float64]
    kind: NDArray[np.int32]
    rows: NDArray[np.int64]
    into: NDArray[np.int64]
    source: NDArray[np.int32]
    edge: NDArray[np.float64]


@njit(cache=True, nogil=True)
def max_step(previous, step, out):
    """Set out[y] = max_{y'} previous[y'] + step[y', y]."""
    for y in range(step.shape[1]):
        out[y] = -np.inf
    for y_prev in range(step.shape[0]):
        for y in range(step.shape[1]):
            out[y] = max(out[y], previous[y_prev] + step[y_prev, y])


@njit(cache=True, nogil=True)
def exponentials(terms, n):
    """Replace the first n numbers by their exponentials, eight at a time: what follows up to the eighth is changed."""
    address = terms.ctypes.data
    for at in range(address, address + 8 * n, 8 * LANES):
        store(at, exp_of_lanes(load(at)))


@njit(cache=True, nogil=True)
def lay_terms(lattice, row, before, terms):
    """Set terms[:n] = before[y'] + score for the n edges from y' into a row; return the first edge, n, and the largest.

    Numbers without a sign: nothing counts from the end.
    """
    into, source, edge = lattice.into, lattice.source, lattice.edge
    first, last = np.uint64(into[row]), np.uint64(into[row + 1])
    top, odd = -np.inf, -np.inf
    for e in range(first, last):
        terms[e - first] = before[np.uint64(source[e])] + edge[e]
    for e in range(np.uint64(1), last - first, np.uint64(2)):  # two maxima, which do not wait for each other
        top, odd = max(top, terms[e - np.uint64(1)]), max(odd, terms[e])
    if (last - first) % np.uint64(2) == 1:
        top = max(top, terms[last - first - np.uint64(1)])
    return first, last - first, max(top, odd)


@njit(cache=True, nogil=True)
def weights_of(lattice):
    """Return e to the score of every edge, with room behind for a vector; none at all where one is too large."""
    n = len(lattice.edge)
    for e in range(n):
        if not lattice.edge[e] < LARGEST:  # nan, too
            return np.empty(0)
    weights = np.zeros(n + LANES)
    weights[:n] = lattice.edge
    exponentials(weights, n)
    return weights


@njit(cache=True, nogil=True)
def mass_of(before, mass):
    """Set mass[y] = exp(before[y]), of a column whose largest is 0."""
    mass[: len(before)] = before
    exponentials(mass, len(before))


@njit(cache=True, nogil=True, inline="always")
def arriving(lattice, weights, row, mass):
    """Return Σ mass[y'] · weight over the edges from y' into a row; 0 if so little that it is not to be trusted."""
    source, even, odd = lattice.source, 0.0, 0.0
    first, last = np.uint64(lattice.into[row]), np.uint64(lattice.into[row + 1])
    if len(weights) == 0:
        return 0.0
    for e in range(first, last - (last - first) % np.uint64(2), np.uint64(2)):  # two sums, which do not wait
        even += mass[np.uint64(source[e])] * weights[e]
        odd += mass[np.uint64(source[e + np.uint64(1)])] * weights[e + np.uint64(1)]
    if (last - first) % np.uint64(2) == 1:
        even += mass[np.uint64(source[last - np.uint64(1)])] * weights[last - np.uint64(1)]
    return even + odd if even + odd > SMALLEST else 0.0


@njit(cache=True, nogil=True)
def log_step(lattice, weights, kind, before, out, scratch):
    """Set out[y] = log Σ exp(before[y'] + score) over the edges of a kind from y' to y.

    The exponentials are those of nodes and of edges; only a sum so small that something may be lost there is one of
    sums. scratch : float64[2, ≥ len(before) + 7].
    """
    terms, mass = scratch[0], scratch[1]
    mass_of(before, mass)
    for y in range(len(out)):
        total, top = arriving(lattice, weights, lattice.rows[kind] + y, mass), 0.0
        if total == 0.0:
            _, n, top = lay_terms(lattice, lattice.rows[kind] + y, before, terms)
            if top > -np.inf:  # something leads here; -inf - (-inf) would be nan
                for e in range(n):
                    terms[e] -= top
                exponentials(terms, n)
                for e in range(n):
                    total += terms[e]
        out[y] = top + log(total) if total > 0.0 else -np.inf


@njit(cache=True, nogil=True)
def shares(terms, n, top, weights):
    """Set weights[:n] ∝ exp(terms[:n]), the largest, top, to 1; return their sum and Σ weight · log weight."""
    total = energy = 0.0
    for e in range(n):
        weights[e] = terms[e] - top
    exponentials(weights, n)
    for e in range(n):
        total += weights[e]
        if weights[e] > 0.0:
            energy += weights[e] * (terms[e] - top)
    return total, energy


@njit(cache=True, nogil=True)
def share(lattice, edge_weights, kind, before, after, below, counts, scratch):
    """Share the probability after[y] of every y among the edges into it; return Σ_y after[y] H(y' | y).

    p(y' | y) ∝ exp(before[y'] + score); what each edge gets is added to counts : float64[E], and below[y'] is the sum
    over those from y'. scratch : float64[4, ≥ len(before) + 7].
    """
    terms, weights, mass, level = scratch[0], scratch[1], scratch[2], scratch[3]
    source, edge, entropy = lattice.source, lattice.edge, 0.0
    below[:] = 0.0
    mass_of(before, mass)
    for y in range(len(before)):
        level[y] = before[y] if before[y] > -np.inf else 0.0
    for y in range(len(after)):
        if after[y] <= 0.0:
            continue
        row, energy = lattice.rows[kind] + y, 0.0
        total = arriving(lattice, edge_weights, row, mass)
        if total > 0.0:
            part = after[y] / total
            for e in range(np.uint64(lattice.into[row]), np.uint64(lattice.into[row + 1])):
                k = np.uint64(source[e])
                weight = mass[k] * edge_weights[e]
                energy += weight * (level[k] + edge[e])
                below[k] += weight * part
                counts[e] += weight * part
        else:
            first, n, top = lay_terms(lattice, row, before, terms)
            total, energy = shares(terms, n, top, weights)
            part = after[y] / total
            for e in range(n):
                below[np.uint64(source[first + e])] += weights[e] * part
                counts[first + e] += weights[e] * part
        entropy += after[y] * (log(total) - energy / total)
    return entropy


@njit(cache=True, nogil=True)
def best_before(previous, step, y):
    """Return the lowest y' with the largest previous[y'] + step[y', y]; -1 if all are -inf."""
    best, best_score = -1, -np.inf
    for y_prev in range(step.shape[0]):
        if previous[y_prev] + step[y_prev, y] > best_score:
            best, best_score = y_prev, previous[y_prev] + step[y_prev, y]
    return best


@njit(cache=True, nogil=True)
def draw(terms, uniform):
    """Return k drawn with p(k) ∝ exp(terms[k]) by one uniform in [0, 1); one of the terms is finite.

    It is the first k whose cumulated probability exceeds the uniform.
    """
    top = np.argmax(terms)
    total = 0.0
    for term in terms:
        total += exp(term - terms[top])
    reached = 0.0
    for k in range(len(terms)):
        reached += exp(terms[k] - terms[top])
        if reached > uniform * total:
            return k
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
def best_path(unary, trans, trans_class, start, end, alpha, path):
    """Write the best labelling of T >= 1 tokens into path : int16[T], and return its score.

    alpha : float64[≥ T, L] is scratch. Only α is kept; the path back searches each column again (O(L) a token), so the
    inner loop is a bare maximum.
    """
    T, L = unary.shape
    alpha[0] = start
    for t in range(T):
        if t > 0:
            max_step(alpha[t - 1], trans[trans_class[t]], alpha[t])
        for y in range(L):
            alpha[t, y] += unary[t, y]
    y = best_before(alpha[T - 1], end.reshape(L, 1), 0)
    score = -np.inf if y < 0 else alpha[T - 1, y] + end[y]
    path[T - 1] = y
    for t in range(T - 2, -1, -1):
        if y >= 0:
            y = best_before(alpha[t], trans[trans_class[t + 1]], y)
        path[t] = y
    return score


@njit(cache=True, nogil=True)
def viterbi(indptr, unary, trans, trans_class, start, end, lo, hi, labels, scores):
    """Write the best labelling of each sequence into labels : int16[M] and its score into scores : float64[N]."""
    alpha = np.empty((longest(indptr, lo, hi), unary.shape[1]))
    for i in range(lo, hi):
        a, b = indptr[i], indptr[i + 1]
        scores[i] = 0.0
        if b > a:
            scores[i] = best_path(unary[a:b], trans, trans_class[a:b], start, end, alpha, labels[a:b])


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
def columns_of(lattice, lo, hi):
    """Return the most nodes of one sequence, and of one column, among the sequences lo..hi-1."""
    most = widest = 0
    for i in range(lo, hi):
        most = max(most, lattice.nodes[lattice.indptr[i + 1]] - lattice.nodes[lattice.indptr[i]])
    for m in range(lattice.indptr[lo], lattice.indptr[hi]):
        widest = max(widest, lattice.nodes[m + 1] - lattice.nodes[m])
    return most, widest


@njit(cache=True, nogil=True)
def forward(lattice, weights, i, alpha, scratch):
    """Return log_z of sequence i, or -inf; alpha gets α of its nodes, less the maximum of each column.

    weights : `weights_of` the edges; scratch : as of `log_step`.
    """
    first, last = lattice.indptr[i], lattice.indptr[i + 1]
    begin = lattice.nodes[first]
    log_z = 0.0
    for m in range(first, last):
        here = alpha[lattice.nodes[m] - begin : lattice.nodes[m + 1] - begin]
        if m > first:
            before = alpha[lattice.nodes[m - 1] - begin : lattice.nodes[m] - begin]
            log_step(lattice, weights, lattice.kind[m], before, here, scratch)
        else:
            here[:] = 0.0
        top = -np.inf
        for y in range(len(here)):
            here[y] += lattice.score[lattice.nodes[m] + y]
            top = max(top, here[y])
        if top == -np.inf:
            return top
        for y in range(len(here)):
            here[y] -= top
        log_z += top
    total = 1.0 if first == last else 0.0
    for m in range(max(last - 1, first), last):
        for node in range(lattice.nodes[m], lattice.nodes[m + 1]):
            total += exp(alpha[node - begin])
    return log_z + log(total)


@njit(cache=True, nogil=True)
def log_partition(lattice, lo, hi, log_z):
    """Write log Σ_y exp s(y) of each sequence into log_z : float64[N]: the forward pass alone."""
    most, widest = columns_of(lattice, lo, hi)
    alpha, scratch, weights = np.empty(most), np.empty((2, widest + LANES)), weights_of(lattice)
    for i in range(lo, hi):
        log_z[i] = forward(lattice, weights, i, alpha, scratch)


@njit(cache=True, nogil=True)
def forward_backward(lattice, lo, hi, log_z, marginals, counts, entropy):
    """Write the whole posterior of each sequence.

    log_z, entropy : float64[N]; marginals : float64[nodes]; counts : float64[E], to which is added how often each edge
    is expected to be taken.
    """
    most, widest = columns_of(lattice, lo, hi)
    alpha, scratch, weights = np.empty(most), np.empty((4, widest + LANES)), weights_of(lattice)
    nodes = lattice.nodes
    for i in range(lo, hi):
        first, last = lattice.indptr[i], lattice.indptr[i + 1]
        begin = nodes[first]
        entropy[i] = 0.0
        log_z[i] = forward(lattice, weights, i, alpha, scratch)
        if first == last:
            continue
        if log_z[i] == -np.inf:
            marginals[begin : nodes[last]] = 0.0
            continue
        after = marginals[nodes[last - 1] : nodes[last]]
        total, energy = shares(alpha[nodes[last - 1] - begin :], len(after), 0.0, scratch[1])  # α is at most 0
        entropy[i] = log(total) - energy / total
        for y in range(len(after)):
            after[y] = scratch[1, y] / total
        for m in range(last - 1, first, -1):
            before, below = alpha[nodes[m - 1] - begin : nodes[m] - begin], marginals[nodes[m - 1] : nodes[m]]
            after = marginals[nodes[m] : nodes[m + 1]]
            entropy[i] += share(lattice, weights, lattice.kind[m], before, after, below, counts, scratch)


@njit(cache=True, nogil=True)
def sample(lattice, lo, hi, uniforms, places, log_z):
    """Write n exact samples from p(y) ∝ exp s(y), and log_z : float64[N].

    uniforms : float64[n, M], each in [0, 1); token m of sample r takes its node by uniforms[r, m], and places :
    int[n, M] gets the place of that node in its column.
    """
    most, widest = columns_of(lattice, lo, hi)
    alpha, scratch, weights = np.empty(most), np.empty((2, widest + LANES)), weights_of(lattice)
    terms = scratch[0]
    for i in range(lo, hi):
        first, last = lattice.indptr[i], lattice.indptr[i + 1]
        log_z[i] = forward(lattice, weights, i, alpha, scratch)
        for r in range(len(places) if last > first else 0):
            if log_z[i] == -np.inf:
                places[r, first:last] = -1
                continue
            begin = lattice.nodes[first]
            y = draw(alpha[lattice.nodes[last - 1] - begin : lattice.nodes[last] - begin], uniforms[r, last - 1])
            places[r, last - 1] = y
            for m in range(last - 1, first, -1):
                before = alpha[lattice.nodes[m - 1] - begin : lattice.nodes[m] - begin]
                edges, n, _ = lay_terms(lattice, lattice.rows[lattice.kind[m]] + y, before, terms)
                y = lattice.source[edges + np.uint64(draw(terms[:n], uniforms[r, m - 1]))]
                places[r, m - 1] = y


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

"""The k best labellings of each sequence under rules, from a list in falling order of a bound.

    f(y) = s(y) - λ · (A n(y) - b)                    a chain, so its best labellings can be listed one after the other

For multipliers 0 <= λ <= ρ (those of Soft-DD, see `charged`) no labelling scores more than f once all rules are paid.
So when the k-th best score of the labellings listed so far is not below f of the next one, they are the k best of all.

The list is Lawler's: behind a labelling come those that agree with it from some token t + 1 on, take the next-best
label at token t, and go on to the beginning as well as possible. Every labelling has one such place, so it is met once,
and the next one costs T looks at L labels. The forward maxima cost O(T L²) once.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import njit
from espalier.kernels.charged import count_labels, overcharge
from espalier.kernels.parts import part_entry
from espalier.kernels.search import pop, push

__all__ = ["rank_readings"]

MOST_ENTRIES = 65_536
"""Of the list and its heap, for one sequence."""


@njit(cache=True, nogil=True)
def _forward(rows, change, kind, start, moves, omega, tau, delta):
    """Fill delta : float64[T, L], the best score of the labels before each label at each token, this one included."""
    T, L = rows.shape
    for j in range(L):
        delta[0, j] = rows[0, j] - tau[j] + (start[j] - omega[j])
    for t in range(1, T):
        matrix, c = moves[kind[t]], change[t]
        for j in range(L):
            into, best = matrix[j], -np.inf
            for i in range(L):
                s = delta[t - 1, i] + into[i]
                best = s if s > best else best
            stay = delta[t - 1, j] + matrix[L, j]
            best = best - c - omega[j]
            delta[t, j] = (stay if stay > best else best) + rows[t, j] - tau[j]


@njit(cache=True, nogil=True, inline="always")
def _step(t, i, j, change, kind, end, moves, omega):
    """What label j (-1: the end) at token t + 1 adds to label i at token t."""
    if j < 0:
        return end[i]
    if i == j:
        return moves[kind[t + 1], len(end), j]
    return moves[kind[t + 1], j, i] - change[t + 1] - omega[j]


@njit(cache=True, nogil=True)
def _next_label(t, j, delta, change, kind, end, moves, omega, value, label):
    """Return the best label at token t before label j (-1: the end) that comes after `label` of a value; and its value.

    Labels come in falling order of their value, the lowest first where it is equal; -1 if there is none.
    """
    L, found, most = delta.shape[1], -1, -np.inf
    for i in range(L):
        s = delta[t, i] + _step(t, i, j, change, kind, end, moves, omega)
        if s > most and (s < value or (s == value and i > label)):
            found, most = i, s
    return found, most


@njit(cache=True, nogil=True)
def _machines_charge(pattern, path, L, parts):
    """What all parts charge for one labelling; nan if a machine got lost, so that nobody knows."""
    ptr, n_classes, end_ptr, after, paid, ending, closing, class_of, label_of = parts
    total, known = 0.0, True
    for q in range(len(ptr)):
        state, i = 0, L
        for t in range(len(path)):
            j = label_of[path[t]]
            entry = part_entry(ptr[q], n_classes[q], L, state, class_of[pattern[t], q], i, j)
            total += paid[entry]
            state, i = after[entry], j
        total += ending[end_ptr[q] + state]
        known &= ending[end_ptr[q] + state] == closing[end_ptr[q] + state]
    return total if known or total == np.inf else np.nan


@njit(cache=True, nogil=True)
def _rank(rows, change, kind, pattern, start, end, moves, counting, price, multiplier, n_labels, parts, k, most,
          labels, scores):  # fmt: skip
    """List one sequence: fill labels : int16[k, T] and scores : float64[k]; return what any other scores at most."""
    label_ptr, label_row, label_open, label_token, bound = counting
    T, L = rows.shape
    omega, tau, values, credit = np.zeros(L), np.zeros(L), np.empty(len(bound)), 0.0
    for j in range(L):
        for q in range(label_ptr[j], label_ptr[j + 1]):
            omega[j] += multiplier[label_row[q]] * label_open[q]
            tau[j] += multiplier[label_row[q]] * label_token[q]
    for r in range(len(bound)):
        credit += multiplier[r] * bound[r]
    delta = np.empty((T, L))
    _forward(rows, change, kind, start, moves, omega, tau, delta)
    most = min(most, MOST_ENTRIES // T)
    paths, behind = np.empty((most, T), np.int16), np.zeros((most, T + 1))
    heap, keys = np.empty(most * T + 2, np.int32), np.empty(most * T + 2)
    base, at, chosen = np.empty(len(heap), np.int32), np.empty(len(heap), np.int32), np.empty(len(heap), np.int32)
    first, value = _next_label(T - 1, -1, delta, change, kind, end, moves, omega, np.inf, -1)
    if first < 0:
        return -np.inf
    base[0], at[0], chosen[0] = -1, T - 1, first
    n_open, made, listed = push(heap, keys, 0, 0, value), 1, 0
    while n_open > 0:
        if listed == most or scores[k - 1] >= keys[0] + credit:
            return keys[0] + credit
        entry, f = heap[0], keys[0]
        n_open = pop(heap, keys, n_open)
        p, changed, path, score_of = base[entry], at[entry], paths[listed], behind[listed]
        floor = scores[k - 1] - credit
        for t in range(T - 1, changed, -1):
            path[t], score_of[t] = paths[p, t], behind[p, t]
        # Down from the change: the label, what the labels from it on score, and the best label of another kind there.
        label = chosen[entry]
        for t in range(changed, -1, -1):
            j = path[t + 1] if t + 1 < T else -1
            after = score_of[t + 1] if t + 1 < T else 0.0
            if t < changed:
                label, value = _next_label(t, j, delta, change, kind, end, moves, omega, np.inf, -1)
            else:
                value = delta[t, label] + _step(t, label, j, change, kind, end, moves, omega)
            other, second = _next_label(t, j, delta, change, kind, end, moves, omega, value, label)
            if other >= 0 and second + after > floor:
                base[made], at[made], chosen[made] = (p if t == changed else listed), t, other
                n_open = push(heap, keys, n_open, made, second + after)
                made += 1
            path[t] = label
            score_of[t] = after + rows[t, label] - tau[label] + _step(t, label, j, change, kind, end, moves, omega)
        count_labels(0, T, path, label_ptr, label_row, label_open, label_token, values)
        score = f
        for r in range(len(bound)):
            score += multiplier[r] * values[r]
        score -= overcharge(values, bound, price) + _machines_charge(pattern, path, n_labels, parts)
        if score != score:
            return f + credit
        listed += 1
        r = k
        while r > 0 and score > scores[r - 1]:
            if r < k:
                scores[r], labels[r] = scores[r - 1], labels[r - 1]
            r -= 1
        if r < k and score > -np.inf:
            scores[r], labels[r] = score, path
    return -np.inf


@njit(cache=True, nogil=True)
def rank_readings(lo, hi, indptr, rows, change, kind, pattern, start, end, moves, counting, price, multipliers,
                  n_labels, parts, most, labels, scores, rest):  # fmt: skip
    """Write the best labellings of the sequences lo..hi-1; an empty one has none.

    rows : float64[M, L], scores minus charges; change : float64[M]; kind : int32[M]; moves : see `charged`. counting :
    label_ptr, label_row, label_open, label_token and bound of the rows; price : float64[N, R]; multipliers :
    float64[N, R], λ. parts : see `parts`. most : labellings that are listed for a sequence. Writes labels :
    int16[k, M]; scores : float64[N, k], -inf where there is none; rest : float64[N], what any other labelling scores
    at most: where it is above the k-th score, that one is not proven.
    """
    k = scores.shape[1]
    for i in range(lo, hi):
        a, b = indptr[i], indptr[i + 1]
        found = np.full((k, b - a), -1, np.int16)
        scores[i], rest[i] = -np.inf, -np.inf
        if a == b:
            continue
        rest[i] = _rank(
            rows[a:b], change[a:b], kind[a:b], pattern[a:b], start, end, moves, counting, price[i], multipliers[i],
            n_labels, parts, k, most, found, scores[i],
        )  # fmt: skip
        labels[:, a:b] = found

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
from espalier.kernels.charged import charge_labels, count_labels, forward_one, overcharge, step_into
from espalier.kernels.layout import ChargedRows
from espalier.kernels.parts import charge_part
from espalier.kernels.search import pop, push

__all__ = ["rank_readings"]

MOST_ENTRIES = 65_536
"""Of the list and its heap, for one sequence."""


@njit(cache=True, nogil=True, inline="always")
def _step(t, i, j, change, kind, end, moves, omega):
    """What label j (-1: the end) at token t + 1 adds to label i at token t."""
    return end[i] if j < 0 else step_into(t + 1, i, j, change, kind, moves) - (0.0 if i == j else omega[j])


@njit(cache=True, nogil=True)
def _next_label(t, j, delta, chain, value, label):
    """Return the best label at token t before label j (-1: the end) that comes after `label` of a value; and its value.

    chain : what `_step` takes. Labels come in falling order of their value, the lowest first where it is equal; -1 if
    there is none.
    """
    change, kind, end, moves, omega = chain
    found, most = -1, -np.inf
    for i in range(len(end)):
        s = delta[t, i] + _step(t, i, j, change, kind, end, moves, omega)
        if s > most and (s < value or (s == value and i > label)):
            found, most = i, s
    return found, most


@njit(cache=True, nogil=True)
def _machines_charge(path, pattern, parts):
    """What all parts charge for one labelling; nan if a machine got lost, so that nobody knows."""
    total, known = 0.0, True
    for q in range(len(parts.ptr)):
        paid, end = charge_part(q, path, pattern, parts)
        total += paid + parts.ending[end]
        known &= parts.ending[end] == parts.closing[end]
    return total if known or total == np.inf else np.nan


@njit(cache=True, nogil=True)
def _rank(laid, model, counting, price, multiplier, parts, most, labels, scores):
    """List one sequence: fill labels : int16[k, T] and scores : float64[k]; return what any other scores at most."""
    (rows, change, kind, pattern), (start, end, moves, matrices) = laid, model
    label_ptr, label_row, label_open, label_token, bound, _ = counting
    T, L, width, k = len(rows), len(start), rows.shape[1], len(scores)
    values, credit, fixed = np.empty(len(bound)), 0.0, np.zeros((3, width))
    fixed[0, :L] = start
    omega, tau = fixed[1, :L], fixed[2, :L]
    chain = change, kind, end, moves, omega
    charge_labels(label_ptr, label_row, label_open, label_token, multiplier, omega, tau)
    for r in range(len(bound)):
        credit += multiplier[r] * bound[r]
    buffer = np.empty((T + 1) * width)
    shift = (-(buffer.ctypes.data // 8)) % 8
    delta = buffer[shift : shift + T * width].reshape((T, width))
    forward_one(T, 0, rows, change, kind, matrices, fixed, buffer.ctypes.data + shift * 8)
    most = min(most, MOST_ENTRIES // T)
    paths, behind = np.empty((most, T), np.int16), np.zeros((most, T + 1))
    heap, keys = np.empty(most * T + 2, np.int32), np.empty(most * T + 2)
    base, at, chosen = np.empty(len(heap), np.int32), np.empty(len(heap), np.int32), np.empty(len(heap), np.int32)
    first, value = _next_label(T - 1, -1, delta, chain, np.inf, -1)
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
                label, value = _next_label(t, j, delta, chain, np.inf, -1)
            else:
                value = delta[t, label] + _step(t, label, j, change, kind, end, moves, omega)
            other, second = _next_label(t, j, delta, chain, value, label)
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
        score -= overcharge(values, bound, price) + _machines_charge(path, pattern, parts)
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
def rank_readings(lo, hi, indptr, laid, model, counting, price, multipliers, parts, most, lists):
    """Write the best labellings of the sequences lo..hi-1 into `lists`; an empty one has none.

    Nor has a sequence of which `lists.rest` says before that nothing is possible.
    price : float64[N, R]; multipliers : float64[N, R], λ. most : labellings that are listed for a sequence.
    """
    k = lists.scores.shape[1]
    for i in range(lo, hi):
        a, b = indptr[i], indptr[i + 1]
        found = np.full((k, b - a), -1, np.int16)
        lists.scores[i], lists.labels[:, a:b] = -np.inf, -1
        if a == b or lists.rest[i] == -np.inf:
            lists.rest[i] = -np.inf
            continue
        own = ChargedRows(laid.rows[a:b], laid.change[a:b], laid.kind[a:b], laid.pattern[a:b])
        lists.rest[i] = _rank(own, model, counting, price[i], multipliers[i], parts, most, found, lists.scores[i])
        lists.labels[:, a:b] = found

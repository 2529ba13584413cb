"""The best path of a chain through an automaton: Viterbi over states instead of labels.

    best[t, s'] = max over s, j with next(s, c_t, j) = s' of
                  best[t - 1, s] + trans(l(s), j) + unary[t, j] - cost(s, c_t, j)

With h[t, j] the best that the potentials alone can add after label j at token t, a state whose best + h is below a
score that is known to be possible is left out: what is left is a small part of S states for most tokens.

O(T S L) time at most, O(T S) memory.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import njit

__all__ = ["automaton_path"]


@njit(cache=True, nogil=True)
def _completions(unary, trans, end):
    """h : float64[T, L]."""
    T, L = unary.shape
    h = np.empty((T, L))
    h[T - 1] = end
    for t in range(T - 2, -1, -1):
        matrix = trans[t if len(trans) > 1 else 0]
        for i in range(L):
            top = -np.inf
            for j in range(L):
                top = max(top, matrix[i, j] + unary[t + 1, j] + h[t + 1, j])
            h[t, i] = top
    return h


@njit(cache=True, nogil=True)
def automaton_path(unary, trans, start, end, classes, label, following, cost_ids, costs, ending, floor, path):
    """Write the best labelling into path, int16[T]; return its score and the number of states met.

    unary : float64[T, L], T >= 1; trans : float64[1 or T - 1, L, L]; classes : int32[T]; label : int16[S], -1 for the
    beginning, which is state 0; following, cost_ids : int32[S, C, L]; costs : float64[U]; ending : float64[S], what the
    end costs. Labellings below `floor` may be missed; the score is -inf if there is none above it.
    """
    T, L = unary.shape
    S = len(label)
    h = _completions(unary, trans, end)
    best, after = np.full(S, -np.inf), np.full(S, -np.inf)
    alive, later = np.empty(S, np.int32), np.empty(S, np.int32)
    before = np.empty((T, S), np.int32)
    best[0], alive[0] = 0.0, 0
    n, met = 1, 0
    for t in range(T):
        c, m = classes[t], 0
        for a in range(n):
            s = alive[a]
            for j in range(L):
                step = start[j] if t == 0 else trans[t - 1 if len(trans) > 1 else 0, label[s], j]
                value = best[s] + step + unary[t, j] - costs[cost_ids[s, c, j]]
                if not value + h[t, j] >= floor or value == -np.inf:
                    continue
                s2 = following[s, c, j]
                if after[s2] == -np.inf:
                    later[m] = s2
                    m += 1
                if value > after[s2]:
                    after[s2], before[t, s2] = value, s
        for a in range(n):
            best[alive[a]] = -np.inf
        best, after, alive, later, n = after, best, later, alive, m
        met += n
    score, last = -np.inf, -1
    for a in range(n):
        s = alive[a]
        value = best[s] + end[label[s]] - ending[s]
        if value > score:
            score, last = value, s
    if last < 0:
        return score, met
    for t in range(T - 1, -1, -1):
        path[t] = label[last]
        last = before[t, last]
    return score, met

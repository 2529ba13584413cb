"""What can follow at best: the backward maxima that guide the search, for labels alone and with the machines' states.

    h_t(i) = max_j  trans(i, j) - c_t [i ≠ j] - ω(j) [i ≠ j] + s_t(j) - τ(j) + h_{t+1}(j)

(`charged`'s recurrence from the other end). With machines the maximum is over (j, m'), the states m' that follow m, and
pays what the machines charge: exact for them, at 2^bits times the cost.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels.jit import njit
from espalier.kernels.parts import part_entry

__all__ = ["best_after", "best_after_machines", "machines_end", "machines_step"]


@njit(cache=True, nogil=True)
def best_after(T, end, moves, rows, change, kind, omega, tau):
    """h : float64[T, L]; the best that can follow label j at token t, charged with ω and τ."""
    L = len(end)
    h = np.empty((T, L))
    h[T - 1] = end
    for t in range(T - 2, -1, -1):
        matrix = moves[kind[t + 1]]
        for i in range(L):
            h[t, i] = h[t + 1, i] + rows[t + 1, i] - tau[i] + matrix[L, i]
        for j in range(L):
            into = h[t + 1, j] + rows[t + 1, j] - tau[j] - omega[j] - change[t + 1]
            if into > -np.inf:
                for i in range(L):
                    h[t, i] = max(h[t, i], into + matrix[j, i])
    return h


@njit(cache=True, nogil=True)
def machines_step(m, i, j, pattern, machines):
    """Read label j of the chain after i (-1: none); return the states of the active parts and what they charge."""
    L, active, shift, parts = machines
    ptr, n_classes, _, after, paid, _, _, class_of, label_of = parts
    before, label = label_of[i] if i >= 0 else L, label_of[j]
    new, total = np.uint64(0), 0.0
    for a in range(len(active)):
        q = active[a]
        state = np.int64((m >> shift[a]) & ((np.uint64(1) << (shift[a + 1] - shift[a])) - np.uint64(1)))
        entry = part_entry(ptr[q], n_classes[q], L, state, class_of[pattern, q], before, label)
        new |= np.uint64(after[entry]) << shift[a]
        total += paid[entry]
    return new, total


@njit(cache=True, nogil=True)
def machines_end(m, machines):
    """What the end charges."""
    _, active, shift, parts = machines
    end_ptr, ending, total = parts[2], parts[5], 0.0
    for a in range(len(active)):
        state = np.int64((m >> shift[a]) & ((np.uint64(1) << (shift[a + 1] - shift[a])) - np.uint64(1)))
        total += ending[end_ptr[active[a]] + state]
    return total


@njit(cache=True, nogil=True)
def _reachable(T, h, start, moves, rows, kind, pattern, machines, n_codes):
    """bool[T, L, n_codes]: can the machines be in these states behind this label?"""
    L = h.shape[1]
    found = np.zeros((T, L, n_codes), np.bool_)
    for j in range(L):
        if start[j] + rows[0, j] + h[0, j] > -np.inf:
            found[0, j, machines_step(np.uint64(0), -1, j, pattern[0], machines)[0]] = True
    for t in range(1, T):
        for i in range(L):
            for m in range(n_codes):
                if found[t - 1, i, m]:
                    for j in range(L):
                        step = moves[kind[t], L, j] if i == j else moves[kind[t], j, i]
                        if step + rows[t, j] + h[t, j] > -np.inf:
                            found[t, j, machines_step(np.uint64(m), i, j, pattern[t], machines)[0]] = True
    return found


@njit(cache=True, nogil=True)
def best_after_machines(T, h, start, end, moves, rows, change, kind, omega, tau, pattern, machines):
    """float64[T, L, 2^bits]; the best that can follow label j at token t with the machines in these states.

    h : that without machines; -inf behind it is -inf here.
    """
    L, n_codes = h.shape[1], 1 << np.int64(machines[2][-1])
    reached = _reachable(T, h, start, moves, rows, kind, pattern, machines, n_codes)
    best = np.full((T, L, n_codes), -np.inf)
    for j in range(L):
        for m in range(n_codes):
            if reached[T - 1, j, m]:
                best[T - 1, j, m] = end[j] - machines_end(np.uint64(m), machines)
    for t in range(T - 2, -1, -1):
        matrix, at = moves[kind[t + 1]], t + 1
        for i in range(L):
            for m in range(n_codes):
                if not reached[t, i, m]:
                    continue
                for j in range(L):
                    step = matrix[L, j] if i == j else matrix[j, i] - change[at] - omega[j]
                    step += rows[at, j] - tau[j]
                    if step + h[at, j] > best[t, i, m]:
                        new, paid = machines_step(np.uint64(m), i, j, pattern[at], machines)
                        best[t, i, m] = max(best[t, i, m], step - paid + best[at, j, new])
    return best

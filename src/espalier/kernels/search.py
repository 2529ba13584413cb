"""A* from right to left for one sequence under count rules, with the Lagrangian bound.

A node is (t, j, v): tokens t+1.. are labelled, y_t = j, and v_r = a_r · n of what lies right of t (the segment that
holds t is not counted: it may open further left). With g the score of the right part and d the forward maxima under the
multipliers λ (`charged`'s recurrence, so that d pays λ for everything up to t),

    f = d_t(j) + g + Σ_r G_r(v_r)     G_r(v) = -ρ_r (v - b_r)  where a_r >= 0 and v >= b_r,  else  λ_r (b_r - v)

is never below the best completion: what is already exceeded is paid in full, and for 0 <= λ <= ρ a relaxed price is
never too high. Rows with a_r >= 0 forget how far they are past b_r (the price is in G already), so equal nodes merge,
and the better g wins. A goal's value is its true score; when no open node is above the best labelling known, that
labelling is optimal.

Exact; O(nodes log nodes) and at most max_nodes nodes: then the best open f is returned as the bound.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["count_search"]


@njit(cache=True, nogil=True)
def _push(heap, keys, size, node, key):
    """Add a node to a binary heap with the largest key on top; return the new size."""
    i = size
    while i > 0 and keys[(i - 1) // 2] < key:
        heap[i], keys[i] = heap[(i - 1) // 2], keys[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i], keys[i] = node, key
    return size + 1


@njit(cache=True, nogil=True)
def _pop(heap, keys, size):
    """Remove the top; return the new size."""
    size -= 1
    node, key, i = heap[size], keys[size], 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        heap[i], keys[i] = heap[child], keys[child]
        i = child
    heap[i], keys[i] = node, key
    return size


@njit(cache=True, nogil=True)
def _relaxed(v, bound, price, multiplier, rising):
    """Σ_r G_r(v_r)."""
    total = 0.0
    for r in range(len(bound)):
        if rising[r] and v[r] >= bound[r]:
            if v[r] > bound[r]:
                total -= price[r] * (v[r] - bound[r])
        else:
            total += multiplier[r] * (bound[r] - v[r])
    return total


@njit(cache=True, nogil=True)
def _slot(table, t, j, v, nodes_t, nodes_j, nodes_v):
    """Return the place of node (t, j, v) in the hash table, or of the gap where it belongs."""
    h = np.uint64(t * 1000003 + j)
    for r in range(len(v)):
        h = (h ^ np.uint64(np.int64(v[r]) + 32768)) * np.uint64(1099511628211)
    mask = len(table) - 1
    at = np.int64(h >> np.uint64(20)) & mask
    while table[at] >= 0:
        node = table[at]
        if nodes_t[node] == t and nodes_j[node] == j:
            same = True
            for r in range(len(v)):
                if nodes_v[node, r] != v[r]:
                    same = False
                    break
            if same:
                return at
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True)
def count_search(place, T, start, end, moves, rows, change, label_ptr, label_row, label_open, label_token,
                 bound, price, multiplier, rising, max_nodes, primal, path):  # fmt: skip
    """Search the sequence in rows place, place + 1, ...; return (score, bound, nodes made).

    path holds a labelling of score `primal` (-inf: none) on entry and the best one found on return; the result is
    proven optimal if the returned bound is not above the score. rising : bool[R], where no coefficient is negative.
    """
    L, R = len(start), len(bound)
    omega, tau = np.zeros(L), np.zeros(L)
    for j in range(L):
        for q in range(label_ptr[j], label_ptr[j + 1]):
            omega[j] += multiplier[label_row[q]] * label_open[q]
            tau[j] += multiplier[label_row[q]] * label_token[q]
    d = np.empty((T, L))
    for t in range(T):
        at = place + t
        for j in range(L):
            best = start[j] - omega[j] if t == 0 else d[t - 1, j] + moves[L, j]
            if t > 0:
                for i in range(L):
                    best = max(best, d[t - 1, i] + moves[j, i] - change[at] - omega[j])
            d[t, j] = rows[at, j] - tau[j] + best

    nothing = np.zeros(R)
    if max_nodes <= L:  # not even the last token's labels fit
        top = primal
        for j in range(L):
            top = max(top, d[T - 1, j] + end[j] + _relaxed(nothing, bound, price, multiplier, rising))
        return primal, top, 0
    nodes_t, nodes_j = np.empty(max_nodes, np.int32), np.empty(max_nodes, np.int32)
    nodes_g, nodes_v = np.empty(max_nodes), np.empty((max_nodes, R))
    parent, dead = np.empty(max_nodes, np.int32), np.zeros(max_nodes, np.bool_)
    heap, keys = np.empty(max_nodes + 1, np.int32), np.empty(max_nodes + 1)
    size = 1
    while size < 4 * max_nodes:
        size *= 2
    table = np.full(size, -1, np.int32)
    n = n_open = 0
    v = np.zeros(R)
    for j in range(L):
        f = d[T - 1, j] + end[j] + _relaxed(v, bound, price, multiplier, rising)
        if f > primal:
            nodes_t[n], nodes_j[n], nodes_g[n], parent[n] = T - 1, j, end[j], -1
            nodes_v[n] = 0.0
            table[_slot(table, T - 1, j, v, nodes_t, nodes_j, nodes_v)] = n
            n_open = _push(heap, keys, n_open, n, f)
            n += 1
    while n_open > 0:
        if keys[0] <= primal:
            return primal, primal, n
        if n + L > max_nodes:
            return primal, keys[0], n
        node = heap[0]
        n_open = _pop(heap, keys, n_open)
        if dead[node]:
            continue
        t, j = nodes_t[node], nodes_j[node]
        at = place + t
        base = nodes_g[node] + rows[at, j]
        if t == 0:
            v[:] = nodes_v[node]
            for q in range(label_ptr[j], label_ptr[j + 1]):
                v[label_row[q]] += label_open[q] + label_token[q]
            score = base + start[j]
            for r in range(R):
                if v[r] > bound[r]:
                    score -= price[r] * (v[r] - bound[r])
            # Past the bound, rising rows were cut off at it; what they had before is in g already.
            if score > primal:
                primal = score
                k = node
                while k >= 0:
                    path[place + nodes_t[k]] = nodes_j[k]
                    k = parent[k]
            continue
        for i in range(L):
            g = base + (moves[L, j] if i == j else moves[j, i] - change[at])
            v[:] = nodes_v[node]
            for q in range(label_ptr[j], label_ptr[j + 1]):
                v[label_row[q]] += label_token[q] + (label_open[q] if i != j else 0.0)
            for r in range(R):
                if rising[r] and v[r] > bound[r]:
                    g -= price[r] * (v[r] - bound[r])
                    v[r] = bound[r]
            f = d[t - 1, i] + g + _relaxed(v, bound, price, multiplier, rising)
            if not f > primal:
                continue
            slot = _slot(table, t - 1, i, v, nodes_t, nodes_j, nodes_v)
            if table[slot] >= 0:
                if nodes_g[table[slot]] >= g:
                    continue
                dead[table[slot]] = True
            nodes_t[n], nodes_j[n], nodes_g[n], parent[n] = t - 1, i, g, node
            nodes_v[n] = v
            table[slot] = n
            n_open = _push(heap, keys, n_open, n, f)
            n += 1
    return primal, primal, n

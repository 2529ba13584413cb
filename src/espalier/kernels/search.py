"""A* for one sequence under rules that count and rules that machines read, with the Lagrangian bound.

A node is (t, j, v, m): tokens 0..t are labelled, y_t = j, v_r = a_r · n of what is labelled, and m are the states of
the active machines (`parts`). With g the score so far, with everything paid that is certain, and h the backward maxima
under the multipliers λ, so that h pays λ for all that follows (`charged`'s recurrence from the other end),

    h_t(i) = max_j  trans(i, j) - c_t [i ≠ j] - ω(j) [i ≠ j] + s_t(j) - τ(j) + h_{t+1}(j)

    f = g + h_t(j) + Σ_r G_r(v_r)     G_r(v) = 0 where v >= b_r can only grow, or v <= b_r only fall; else λ_r (b_r - v)

is never below the best completion: for 0 <= λ <= ρ a relaxed price is never too high, and machines only charge. If
their states are few, h may know them, too: its maximum is then over (j, m'), the states m' that follow m, and pays what
they charge, exactly and at 2^bits times the cost (`best_after_machines`). Rows whose coefficients have one sign forget
how far they are past b_r (what that costs is in g), so equal nodes merge, and the better g wins. A goal's value is its
true score; when no open node is above the best labelling known, that labelling is optimal.

Exact; O(nodes log nodes) and at most max_nodes nodes: then the best open f is returned as the bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from espalier.kernels import njit
from espalier.kernels.charged import charge_labels, step_into
from espalier.kernels.parts import part_entry

__all__ = ["count_search", "pop", "push"]


class _Ask(NamedTuple):
    """One sequence: what `count_search` is given, h and, if its last axis is not empty, h with the machines' states."""

    model: Any
    laid: Any
    counting: Any
    price: Any
    multiplier: Any
    machines: Any
    h: Any
    refined: Any


class _Nodes(NamedTuple):
    """Token, label, score, counts, states and parent of every node; dead : has a better one taken its place?"""

    t: Any
    j: Any
    g: Any
    v: Any
    m: Any
    parent: Any
    dead: Any


class _Queue(NamedTuple):
    """A heap of nodes by their keys, and a hash table of all nodes."""

    heap: Any
    keys: Any
    table: Any


@njit(cache=True, nogil=True)
def _best_after(laid, model, omega, tau):
    """h : float64[T, L]; the best that can follow label j at token t, charged with ω and τ."""
    (rows, change, kind, _), (_, end, moves, _) = laid, model
    T, L = len(rows), len(end)
    h = np.empty((T, L))
    h[T - 1] = end
    for t in range(T - 2, -1, -1):
        matrix, scores = moves[kind[t + 1]], rows[t + 1]
        for i in range(L):
            h[t, i] = h[t + 1, i] + scores[i] - tau[i] + matrix[L, i]
        for j in range(L):
            into = h[t + 1, j] + scores[j] - tau[j] - omega[j] - change[t + 1]
            if into > -np.inf:
                for i in range(L):
                    h[t, i] = max(h[t, i], into + matrix[j, i])
    return h


@njit(cache=True, nogil=True)
def _machines_step(m, i, j, pattern, machines):
    """Read label j of the chain after i (-1: none); return the states of the active parts and what they charge."""
    active, shift, parts = machines
    ptr, n_classes, after, paid = parts.ptr, parts.n_classes, parts.after, parts.paid
    class_of, label_of, L = parts.class_of, parts.label_of, parts.n_labels
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
def _machines_end(m, machines):
    """What the end charges."""
    active, shift, parts = machines
    end_ptr, ending, total = parts.end_ptr, parts.ending, 0.0
    for a in range(len(active)):
        state = np.int64((m >> shift[a]) & ((np.uint64(1) << (shift[a + 1] - shift[a])) - np.uint64(1)))
        total += ending[end_ptr[active[a]] + state]
    return total


@njit(cache=True, nogil=True)
def _reachable(h, laid, model, machines, n_codes):
    """bool[T, L, n_codes]: can the machines be in these states behind this label?"""
    (T, L), (rows, change, kind, pattern), (start, _, moves, _) = h.shape, laid, model
    found = np.zeros((T, L, n_codes), np.bool_)
    for j in range(L):
        if start[j] + rows[0, j] + h[0, j] > -np.inf:
            found[0, j, _machines_step(np.uint64(0), -1, j, pattern[0], machines)[0]] = True
    for t in range(1, T):
        for i in range(L):
            for m in range(n_codes):
                if found[t - 1, i, m]:
                    for j in range(L):
                        if step_into(t, i, j, change, kind, moves) + rows[t, j] + h[t, j] > -np.inf:
                            found[t, j, _machines_step(np.uint64(m), i, j, pattern[t], machines)[0]] = True
    return found


@njit(cache=True, nogil=True)
def _best_after_machines(h, laid, model, omega, tau, machines):
    """float64[T, L, 2^bits]; the best that can follow label j at token t with the machines in these states.

    h : that without machines; -inf behind it is -inf here.
    """
    (T, L), (rows, change, kind, pattern), (_, end, moves, _) = h.shape, laid, model
    n_codes = 1 << np.int64(machines.shift[-1])
    reached = _reachable(h, laid, model, machines, n_codes)
    best = np.full((T, L, n_codes), -np.inf)
    for j in range(L):
        for m in range(n_codes):
            if reached[T - 1, j, m]:
                best[T - 1, j, m] = end[j] - _machines_end(np.uint64(m), machines)
    for t in range(T - 1, 0, -1):
        for i in range(L):
            for m in range(n_codes):
                if not reached[t - 1, i, m]:
                    continue
                for j in range(L):
                    step = step_into(t, i, j, change, kind, moves) - (0.0 if i == j else omega[j])
                    step += rows[t, j] - tau[j]
                    if step + h[t, j] > best[t - 1, i, m]:
                        new, paid = _machines_step(np.uint64(m), i, j, pattern[t], machines)
                        best[t - 1, i, m] = max(best[t - 1, i, m], step - paid + best[t, j, new])
    return best


@njit(cache=True, nogil=True)
def push(heap, keys, size, node, key):
    """Add a node to a binary heap with the largest key on top; return the new size."""
    i = size
    while i > 0 and keys[(i - 1) // 2] < key:
        heap[i], keys[i] = heap[(i - 1) // 2], keys[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i], keys[i] = node, key
    return size + 1


@njit(cache=True, nogil=True)
def pop(heap, keys, size):
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
def _relaxed(v, ask):
    """Σ_r G_r(v_r)."""
    bound, drift, multiplier, total = ask.counting.bound, ask.counting.drift, ask.multiplier, 0.0
    for r in range(len(bound)):
        if not (drift[r] > 0 and v[r] >= bound[r]) and not (drift[r] < 0 and v[r] <= bound[r]):
            total += multiplier[r] * (bound[r] - v[r])
    return total


@njit(cache=True, nogil=True)
def _slot(table, t, j, v, m, nodes):
    """Return the place of node (t, j, v, m) in the hash table, or of the gap where it belongs."""
    nodes_t, nodes_j, nodes_v, nodes_m = nodes.t, nodes.j, nodes.v, nodes.m
    h = (np.uint64(t * 1000003 + j) ^ m) * np.uint64(1099511628211)
    for r in range(len(v)):
        h = (h ^ np.uint64(np.int64(v[r]) + 32768)) * np.uint64(1099511628211)
    mask = len(table) - 1
    at = np.int64((h ^ (h >> np.uint64(32))) >> np.uint64(8)) & mask
    while table[at] >= 0:
        node = table[at]
        if nodes_t[node] == t and nodes_j[node] == j and nodes_m[node] == m:
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
def _nothing_counted(v, ask):
    """Set v to the counts of no tokens; return what that certainly costs."""
    bound, drift, price, paid = ask.counting.bound, ask.counting.drift, ask.price, 0.0
    for r in range(len(bound)):
        v[r] = 0.0
        if (drift[r] > 0 and bound[r] < 0.0) or (drift[r] < 0 and bound[r] > 0.0):
            paid += price[r] * -bound[r] if bound[r] < 0.0 and price[r] > 0.0 else 0.0
            v[r] = bound[r]
    return paid


@njit(cache=True, nogil=True)
def _count_in(v, j, opened, ask):
    """Count a token of label j into v; return what that certainly costs."""
    (label_ptr, label_row, label_open, label_token, bound, drift), price, paid = ask.counting, ask.price, 0.0
    for q in range(label_ptr[j], label_ptr[j + 1]):
        r = label_row[q]
        if price[r] == 0.0:
            continue
        v[r] += label_token[q] + (label_open[q] if opened else 0.0)
        if drift[r] > 0 and v[r] > bound[r]:
            paid += price[r] * (v[r] - bound[r])
            v[r] = bound[r]
        elif drift[r] < 0 and v[r] < bound[r]:
            v[r] = bound[r]
    return paid


@njit(cache=True, nogil=True)
def _overdue(v, ask):
    """What the rows cost at the end that they have not paid yet."""
    bound, price, total = ask.counting.bound, ask.price, 0.0
    for r in range(len(bound)):
        if v[r] > bound[r] and price[r] > 0.0:
            total += price[r] * (v[r] - bound[r])
    return total


@njit(cache=True, nogil=True)
def _expand(node, g_before, nothing, floor, n, n_open, nodes, queue, ask):
    """Make the children of a node (-1: the first tokens) that may lead above `floor`; return n and n_open."""
    (rows, change, kind, pattern), (start, end, moves, _) = ask.laid, ask.model
    nodes_t, nodes_j, nodes_g, nodes_v, nodes_m = nodes.t, nodes.j, nodes.g, nodes.v, nodes.m
    parent, dead, h, machines, refined, table = nodes.parent, nodes.dead, ask.h, ask.machines, ask.refined, queue.table
    v, t, i, m_before = np.empty(len(nothing)), 0, -1, np.uint64(0)
    if node >= 0:
        t, i, m_before = nodes_t[node] + 1, nodes_j[node], nodes_m[node]
    for j in range(len(start)):
        g = g_before + (start[j] if i < 0 else step_into(t, i, j, change, kind, moves)) + rows[t, j]
        if not g + h[t, j] > -np.inf:
            continue
        v[:] = nodes_v[node] if node >= 0 else nothing
        g -= _count_in(v, j, i != j, ask)
        credit = _relaxed(v, ask)
        if not g + h[t, j] + credit > floor:
            continue
        m, paid = _machines_step(m_before, i, j, pattern[t], machines)
        g -= paid
        f = g + credit + (refined[t, j, m] if len(refined) else h[t, j])
        if t == len(h) - 1:  # a whole labelling: its true score
            g += end[j] - _overdue(v, ask) - _machines_end(m, machines)
            f = g
        if not f > floor:
            continue
        slot = _slot(table, t, j, v, m, nodes)
        if table[slot] >= 0:
            if nodes_g[table[slot]] >= g:
                continue
            dead[table[slot]] = True
        nodes_t[n], nodes_j[n], nodes_g[n], nodes_m[n], parent[n] = t, j, g, m, node
        nodes_v[n] = v
        table[slot] = n
        n_open = push(queue.heap, queue.keys, n_open, n, f)
        n += 1
    return n, n_open


@njit(cache=True, nogil=True)
def _room(max_nodes, R):
    """Empty memory for so many nodes."""
    size = 1
    while size < 4 * max_nodes:
        size *= 2
    nodes = _Nodes(
        np.empty(max_nodes, np.int32), np.empty(max_nodes, np.int32), np.empty(max_nodes), np.empty((max_nodes, R)),
        np.empty(max_nodes, np.uint64), np.empty(max_nodes, np.int32), np.zeros(max_nodes, np.bool_),
    )  # fmt: skip
    return nodes, _Queue(np.empty(max_nodes + 1, np.int32), np.empty(max_nodes + 1), np.full(size, -1, np.int32))


@njit(cache=True, nogil=True)
def count_search(model, laid, counting, price, multiplier, machines, refine, max_nodes, slack, primal, path):
    """Search one sequence; return (score, bound, nodes made).

    path : int16[T], a labelling of score `primal` (-inf: none) on entry and the best one found on return; a score that
    is not above primal means that none is better by more than `slack`. It is proven optimal if the returned bound is
    not above the score. laid : of this sequence; price, multiplier : float64[R]; refine : bound with the machines'
    states, too?
    """
    T, n_labels, R = len(laid.rows), len(model.start), len(counting.bound)
    omega, tau, nothing = np.empty(n_labels), np.empty(n_labels), np.empty(R)
    label_ptr, label_row, label_open, label_token, _, _ = counting
    charge_labels(label_ptr, label_row, label_open, label_token, multiplier, omega, tau)
    h = _best_after(laid, model, omega, tau)
    refined = _best_after_machines(h, laid, model, omega, tau, machines) if refine else np.empty((0, 0, 0))
    ask = _Ask(model, laid, counting, price, multiplier, machines, h, refined)
    nodes, queue = _room(max_nodes, R)
    heap, keys, _ = queue
    g = -_nothing_counted(nothing, ask)
    floor, top, node = primal + slack if primal > -np.inf else -np.inf, np.inf, -1
    n = n_open = 0
    while True:
        if n + n_labels > max_nodes:  # the children may not fit; nothing open is above the node itself
            return primal, max(top, primal), n
        n, n_open = _expand(node, g, nothing, floor, n, n_open, nodes, queue, ask)
        while n_open > 0 and nodes.dead[heap[0]]:
            n_open = pop(heap, keys, n_open)
        if n_open == 0 or keys[0] <= floor:
            return primal, primal if floor == -np.inf else floor, n
        node, top, g = heap[0], keys[0], nodes.g[heap[0]]
        n_open = pop(heap, keys, n_open)
        if nodes.t[node] == T - 1:  # nothing open is above it
            while node >= 0:
                path[nodes.t[node]] = nodes.j[node]
                node = nodes.parent[node]
            return g, g, n

"""One pass of SampleRank over a corpus: propose, rank twice, learn from disagreement, move (Wick et al. 2009).

A proposal changes the labels of tokens lo..hi-1 of one sequence from y to z. Only what touches them is looked at:

    Δs = s(z) - s(y)        unary rows of lo..hi-1 and the transitions into lo..hi
    Δloss                   wrong tokens, or 1 - F1 of segments, of which only those around lo..hi-1 are read again
    Δd = Σ_k p_k Δd_k       local rules at lo..hi, and the rows a·n(y) <= b whose sums are kept

    ΔF = -κ_loss Δloss + κ_model Δs - 2 κ_rules Δd

With (a, b) = (z, y) if ΔF > 0 and (y, z) if ΔF < 0:  w += α (f(a) - f(b)) where s(a) - s(b) <= margin. Then y becomes
z with probability min(1, exp(Δs / τ)). Averages as in `kernels.perceptron`: a change δ at step c adds c δ to u.

Cost of a proposal: O(attributes of hi - lo tokens + rows of the rules); T enters nowhere but in long segments.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import njit

__all__ = [
    "loss_change",
    "row_sums",
    "rule_change",
    "samplerank_epoch",
    "segment_ends",
    "step_change",
    "token_change",
    "uniform",
]

TIE = 1e-6
"""What a wrong token adds to 1 - F1: one label seldom completes a segment, and F1 alone is flat nearly everywhere."""


@njit(cache=True, nogil=True)
def uniform(state):
    """Return the next number in [0, 1) of xorshift64*; state : uint64[1], not zero."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return ((x * np.uint64(2685821657736338717)) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def step_change(lo, hi, y, z, trans, start, end):
    """Return what transitions, first and last label add to s(z) - s(y); -inf if z is forbidden.

    y, z : int16[T], which differ in lo..hi-1 only; y itself is allowed.
    """
    T = len(y)
    change = start[z[0]] - start[y[0]] if lo == 0 else 0.0
    for t in range(max(lo, 1), min(hi + 1, T)):
        change += trans[z[t - 1], z[t]] - trans[y[t - 1], y[t]]
    if hi == T:
        change += end[z[T - 1]] - end[y[T - 1]]
    return change


@njit(cache=True, nogil=True)
def token_change(m, old, new, token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values, L, w):
    """Return what token m adds to s when its label changes from old to new; w : float64[A · L], by attribute."""
    A, change = len(w) // L, 0.0
    for k in range(token_ptr[m], token_ptr[m + 1]):
        ref, value = token_refs[k], token_values[k] if len(token_values) > 0 else 1.0
        if ref < A:
            change += value * (w[ref * L + new] - w[ref * L + old])
        else:
            for j in range(bundle_ptr[ref - A], bundle_ptr[ref - A + 1]):
                inner = value * bundle_values[j] if len(bundle_values) > 0 else value
                change += inner * (w[bundle_ids[j] * L + new] - w[bundle_ids[j] * L + old])
    return change


@njit(cache=True, nogil=True)
def move(p, amount, step, w, u):
    """Add an amount to weight p at this step."""
    w[p] += amount
    u[p] += step * amount


@njit(cache=True, nogil=True)
def move_token(m, old, new, amount, step, token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values,
               L, w, u):  # fmt: skip
    """Move the weights of every attribute of token m from the old to the new label."""
    A = len(w) // L
    for k in range(token_ptr[m], token_ptr[m + 1]):
        ref, value = token_refs[k], amount * token_values[k] if len(token_values) > 0 else amount
        if ref < A:
            move(ref * L + new, value, step, w, u)
            move(ref * L + old, -value, step, w, u)
        else:
            for j in range(bundle_ptr[ref - A], bundle_ptr[ref - A + 1]):
                inner = value * bundle_values[j] if len(bundle_values) > 0 else value
                move(bundle_ids[j] * L + new, inner, step, w, u)
                move(bundle_ids[j] * L + old, -inner, step, w, u)


@njit(cache=True, nogil=True)
def opens_at(t, y, gold, opens):
    """Does a segment of y open at token t?  Tokens without a gold label are in no segment and end those before."""
    if gold[t] < 0:
        return False
    before = len(opens) - 1 if t == 0 or gold[t - 1] < 0 else y[t - 1]
    return opens[before, y[t]]


@njit(cache=True, nogil=True)
def border_at(t, y, gold, field, opens):
    """Does whatever stands before token t end there?"""
    return gold[t] < 0 or field[y[t]] < 0 or opens_at(t, y, gold, opens)


@njit(cache=True, nogil=True)
def segment_ends(y, gold, field, opens, ends):
    """Write where the segment that opens at each token ends, -1 where none opens, into ends : int64[T]."""
    T = len(y)
    following = T
    for t in range(T - 1, -1, -1):
        ends[t] = following if opens_at(t, y, gold, opens) else -1
        if border_at(t, y, gold, field, opens):
            following = t


@njit(cache=True, nogil=True)
def count_segments(lo, hi, y, gold, field, opens, gold_ends):
    """Return how many segments of y open in lo..hi-1, and how many of these are gold's; hi is a border or T."""
    found, right, following = 0, 0, hi
    for t in range(hi - 1, lo - 1, -1):
        if opens_at(t, y, gold, opens):
            found += 1
            right += gold_ends[t] == following and field[y[t]] == field[gold[t]]
        if border_at(t, y, gold, field, opens):
            following = t
    return found, right


@njit(cache=True, nogil=True)
def f1_loss(found, right, true):
    """1 - F1; F1 of no segments at all is 0."""
    return 1.0 - 2.0 * right / (found + true) if found + true > 0 else 1.0


@njit(cache=True, nogil=True)
def loss_change(lo, hi, y, z, gold, by_segments, field, opens, gold_ends, counts, new_counts):
    """Return loss(z) - loss(y): wrong tokens, or 1 - F1 of the segments.

    gold : int16[T], -1 not judged; field : int64[L], -1 outside; opens : bool[L + 1, L], does a segment open when j
    follows i (i = L: nothing does); gold_ends : of `segment_ends`; counts : int64[3], segments of y, of them right, of
    gold; new_counts gets those of z.
    """
    wrong = 0.0
    for t in range(lo, hi):
        if gold[t] >= 0:
            wrong += (z[t] != gold[t]) - (y[t] != gold[t])
    if not by_segments:
        return wrong
    first, last, T = max(lo - 1, 0), hi + 1, len(y)
    while first > 0 and not border_at(first, y, gold, field, opens):
        first -= 1
    while last < T and not border_at(last, y, gold, field, opens):
        last += 1
    last = min(last, T)
    found, right = count_segments(first, last, y, gold, field, opens, gold_ends)
    new_found, new_right = count_segments(first, last, z, gold, field, opens, gold_ends)
    new_counts[0], new_counts[1] = counts[0] + new_found - found, counts[1] + new_right - right
    return f1_loss(new_counts[0], new_counts[1], counts[2]) - f1_loss(counts[0], counts[1], counts[2]) + TIE * wrong


@njit(cache=True, nogil=True)
def row_sums(y, row_values, sums):
    """Write a·n(y) of every row into sums : int64[R]; row_values : int64[L + 1, L, R], what j after i adds."""
    sums[:] = 0
    for t in range(len(y)):
        before = y[t - 1] if t > 0 else len(row_values) - 1
        for r in range(len(sums)):
            sums[r] += row_values[before, y[t], r]


@njit(cache=True, nogil=True)
def rule_change(lo, hi, y, z, unary_pattern, unary_charge, pair_pattern, pair_charge, row_values, bound, price,
                sums, new_sums):  # fmt: skip
    """Return Σ_k p_k (d_k(z) - d_k(y)) for labellings that differ in lo..hi-1 only.

    unary_pattern, pair_pattern : int64[T], the conditions that hold at a token, as a number; unary_charge :
    float64[P, L]; pair_charge : float64[Q, L + 1, L], from label i (L: none) to j; row_values : int64[L + 1, L, R];
    bound : int64[R]; price : float64[R]; sums : int64[R], those of y; new_sums gets those of z.
    """
    T, L, R = len(y), unary_charge.shape[1], len(bound)
    change = 0.0
    for t in range(lo, hi):
        change += unary_charge[unary_pattern[t], z[t]] - unary_charge[unary_pattern[t], y[t]]
    new_sums[:] = sums
    for t in range(lo, min(hi + 1, T)):
        i, j = (z[t - 1] if t > 0 else L), z[t]
        i_old, j_old = (y[t - 1] if t > 0 else L), y[t]
        change += pair_charge[pair_pattern[t], i, j] - pair_charge[pair_pattern[t], i_old, j_old]
        for r in range(R):
            new_sums[r] += row_values[i, j, r] - row_values[i_old, j_old, r]
    for r in range(R):
        change += price[r] * (max(new_sums[r] - bound[r], 0) - max(sums[r] - bound[r], 0))
    return change


@njit(cache=True, nogil=True)
def truth_change(lo, hi, y, z, better, kappa, gold, by_segments, field, opens, gold_ends, counts, new_counts,
                 unary_pattern, unary_charge, pair_pattern, pair_charge, row_values, bound, price, sums,
                 new_sums):  # fmt: skip
    """Return F(z) - F(y); better : s(z) - s(y); kappa : float64[3], the weights of loss, model and rules."""
    truer = kappa[1] * better
    if kappa[0] != 0.0:
        truer -= kappa[0] * loss_change(lo, hi, y, z, gold, by_segments, field, opens, gold_ends, counts, new_counts)
    if kappa[2] != 0.0:
        truer -= 2.0 * kappa[2] * rule_change(lo, hi, y, z, unary_pattern, unary_charge, pair_pattern, pair_charge,
                                              row_values, bound, price, sums, new_sums)  # fmt: skip
    return truer


@njit(cache=True, nogil=True)
def move_steps(lo, hi, y, z, amount, step, boundaries, trans, trans_u, start, start_u, end, end_u):
    """Move the transitions into lo..hi, and with `boundaries` first and last labels, from y to z."""
    T = len(y)
    for t in range(max(lo, 1), min(hi + 1, T)):
        move((z[t - 1], z[t]), amount, step, trans, trans_u)
        move((y[t - 1], y[t]), -amount, step, trans, trans_u)
    if boundaries and lo == 0:
        move(z[0], amount, step, start, start_u)
        move(y[0], -amount, step, start, start_u)
    if boundaries and hi == T:
        move(z[T - 1], amount, step, end, end_u)
        move(y[T - 1], -amount, step, end, end_u)


@njit(cache=True, nogil=True)
def propose(state, y, z, block, follows):
    """Write a proposal into z, which equals y, and return lo, hi: one label at a token, and its continuation after it.

    A token, a number of tokens up to block, and a label, each drawn uniformly; follows : int16[L], how a label goes on.
    """
    T, L = len(y), len(follows)
    lo = int(uniform(state) * T)
    hi = min(lo + 1 + int(uniform(state) * block), T) if block > 1 else lo + 1
    if hi == lo + 1:
        z[lo] = (y[lo] + 1 + int(uniform(state) * (L - 1))) % L  # another label than the one that is there
    else:
        z[lo] = int(uniform(state) * L)
        for t in range(lo + 1, hi):
            z[t] = follows[z[t - 1]]
    return lo, hi


@njit(cache=True, nogil=True)
def samplerank_epoch(state, order, sweeps, step, alpha, margins, temperature, block, follows, indptr, y, omega,
                     gold, kappa, by_segments, field, opens,
                     unary_pattern, unary_charge, pair_pattern, pair_charge, row_values, bound, price,
                     token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values,
                     boundaries, w, u, trans, trans_u, start, start_u, end, end_u):  # fmt: skip
    """Visit the sequences in the given order; labels and weights change in place; `step` proposals were made before.

    sweeps : int64[N], proposals a token; margins, omega : float64[N], sample weights times alpha are the step size;
    y : int16[M], the walk's labels, allowed ones; gold : int16[M], what the loss compares with; kappa : float64[N, 3],
    the weights of loss, model and rules in F; price : float64[N, R] or [1, R]; the other arrays as in the functions
    above and in `perceptron_epoch`. Returns the numbers of proposals, updates and moves.
    """
    longest = max(np.max(indptr[1:] - indptr[:-1]), 1)
    L, z, ends = len(start), np.empty(longest, np.int16), np.empty(longest, np.int64)
    counts, new_counts = np.zeros(3, np.int64), np.zeros(3, np.int64)
    sums, new_sums = np.zeros(len(bound), np.int64), np.zeros(len(bound), np.int64)
    before, updates, moves = step, 0, 0
    for i in order:
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        if T == 0 or L == 1 or omega[i] == 0.0:
            continue
        now, new, truth, gold_ends = y[a : a + T], z[:T], gold[a : a + T], ends[:T]
        new[:] = now
        prices = price[i if len(price) > 1 else 0]
        segment_ends(truth, truth, field, opens, gold_ends)
        counts[2] = np.sum(gold_ends >= 0)
        counts[0], counts[1] = count_segments(0, T, now, truth, field, opens, gold_ends)
        row_sums(now, row_values, sums)
        for _ in range(sweeps[i] * T):
            step += 1
            lo, hi = propose(state, now, new, block, follows)
            better = step_change(lo, hi, now, new, trans, start, end)
            accepted = False
            if better > -np.inf:
                for t in range(lo, hi):
                    better += token_change(a + t, now[t], new[t], token_ptr, token_refs, token_values, bundle_ptr,
                                           bundle_ids, bundle_values, L, w)  # fmt: skip
                truer = truth_change(
                    lo, hi, now, new, better, kappa[i], truth, by_segments, field, opens, gold_ends, counts, new_counts,
                    unary_pattern[a : a + T], unary_charge, pair_pattern[a : a + T], pair_charge, row_values, bound,
                    prices, sums, new_sums)  # fmt: skip
                if (truer > 0.0 and better <= margins[i]) or (truer < 0.0 and -better <= margins[i]):
                    updates += 1
                    amount = np.sign(truer) * alpha * omega[i]
                    for t in range(lo, hi):
                        move_token(a + t, now[t], new[t], amount, step, token_ptr, token_refs, token_values,
                                   bundle_ptr, bundle_ids, bundle_values, L, w, u)  # fmt: skip
                    move_steps(lo, hi, now, new, amount, step, boundaries, trans, trans_u, start, start_u, end, end_u)
                accepted = better >= 0.0 or uniform(state) < np.exp(better / temperature)
            if accepted:
                moves += 1
                now[lo:hi] = new[lo:hi]
                counts[:2] = new_counts[:2]
                sums[:] = new_sums
            else:
                new[lo:hi] = now[lo:hi]
    return step - before, updates, moves

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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.kernels import njit

# Numba's cache does not follow imports: after a change to these helpers, touch this file too.
from espalier.kernels.perceptron import change, change_steps

__all__ = [
    "TruthCounts",
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


class TruthCounts(NamedTuple):
    """What is counted of a labelling, and of one that is proposed.

    ends : int64[T], of `segment_ends` for gold; counts : int64[3], segments, right ones, those of gold; sums :
    int64[R], a·n(y) of every row of the rules; new_counts, new_sums : of the proposal.
    """

    ends: NDArray[np.int64]
    counts: NDArray[np.int64]
    new_counts: NDArray[np.int64]
    sums: NDArray[np.int64]
    new_sums: NDArray[np.int64]


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
def token_change(m, old, new, levels, L, w):
    """Return what token m adds to s when its label changes from old to new; w : float64[A · L], by attribute."""
    token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values = levels
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
def move_token(m, old, new, amount, step, levels, L, w, u):
    """Move the weights of every attribute of token m from the old to the new label."""
    token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values = levels
    A = len(w) // L
    for k in range(token_ptr[m], token_ptr[m + 1]):
        ref, value = token_refs[k], amount * token_values[k] if len(token_values) > 0 else amount
        if ref < A:
            change(ref * L + new, value, step, w, u)
            change(ref * L + old, -value, step, w, u)
        else:
            for j in range(bundle_ptr[ref - A], bundle_ptr[ref - A + 1]):
                inner = value * bundle_values[j] if len(bundle_values) > 0 else value
                change(bundle_ids[j] * L + new, inner, step, w, u)
                change(bundle_ids[j] * L + old, -inner, step, w, u)


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
def loss_change(lo, hi, y, z, gold, by_segments, segments, tally):
    """Return loss(z) - loss(y): wrong tokens, or 1 - F1 of the segments.

    gold : int16[T], -1 not judged; segments : `SegmentTables`; tally : `TruthCounts` of y, which get those of z.
    """
    field, opens, _ = segments
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
    counts, new_counts = tally.counts, tally.new_counts
    found, right = count_segments(first, last, y, gold, field, opens, tally.ends)
    new_found, new_right = count_segments(first, last, z, gold, field, opens, tally.ends)
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
def rule_change(a, lo, hi, y, z, rules, price, tally):
    """Return Σ_k p_k (d_k(z) - d_k(y)) for labellings that differ in lo..hi-1 only.

    a : where the sequence begins; rules : `RuleTables`; price : float64[R]; tally : `TruthCounts` of y, which get those
    of z.
    """
    unary, pair, values = rules.unary_charge, rules.pair_charge, rules.row_values
    T, L, R = len(y), unary.shape[1], len(rules.bound)
    change = 0.0
    for t in range(lo, hi):
        change += unary[rules.unary_pattern[a + t], z[t]] - unary[rules.unary_pattern[a + t], y[t]]
    tally.new_sums[:] = tally.sums
    for t in range(lo, min(hi + 1, T)):
        i, j = (z[t - 1] if t > 0 else L), z[t]
        i_old, j_old = (y[t - 1] if t > 0 else L), y[t]
        pattern = rules.pair_pattern[a + t]
        change += pair[pattern, i, j] - pair[pattern, i_old, j_old]
        for r in range(R):
            tally.new_sums[r] += values[i, j, r] - values[i_old, j_old, r]
    for r in range(R):
        change += price[r] * (max(tally.new_sums[r] - rules.bound[r], 0) - max(tally.sums[r] - rules.bound[r], 0))
    return change


@njit(cache=True, nogil=True)
def truth_change(i, a, lo, hi, y, z, better, by_segments, segments, truth, tally):
    """Return F(z) - F(y) for sequence i, which begins at a; better : s(z) - s(y); truth : `Truth`."""
    loss, model, rules = truth.kappa[i]
    truer = model * better
    if loss != 0.0:
        truer -= loss * loss_change(lo, hi, y, z, truth.gold[a : a + len(y)], by_segments, segments, tally)
    if rules != 0.0:
        price = truth.rules.price[i if len(truth.rules.price) > 1 else 0]
        truer -= 2.0 * rules * rule_change(a, lo, hi, y, z, truth.rules, price, tally)
    return truer


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
def samplerank_epoch(state, order, step, proposals, truth, segments, indptr, y, levels, learned):
    """Visit the sequences in the given order; labels and weights change in place; `step` proposals were made before.

    proposals, truth, segments : `Proposals`, `Truth` and `SegmentTables` of `samplerank.training`; y : int16[M], the
    walk's labels, allowed ones; levels, learned : as in `perceptron_epoch`. Returns the numbers of proposals, updates
    and moves.
    """
    longest = max(np.max(indptr[1:] - indptr[:-1]), 1)
    L, z, space = len(learned.start), np.empty(longest, np.int16), np.empty(longest, np.int64)
    counts, sums = np.zeros((2, 3), np.int64), np.zeros((2, len(truth.rules.bound)), np.int64)
    before, updates, moves = step, 0, 0
    for i in order:
        a, T, amount = indptr[i], indptr[i + 1] - indptr[i], proposals.alpha * truth.omega[i]
        if T == 0 or L == 1 or truth.omega[i] == 0.0:
            continue
        now, new, gold = y[a : a + T], z[:T], truth.gold[a : a + T]
        tally = TruthCounts(space[:T], counts[0], counts[1], sums[0], sums[1])
        new[:] = now
        segment_ends(gold, gold, segments.field, segments.opens, tally.ends)
        counts[0, 2] = np.sum(tally.ends >= 0)
        counts[0, 0], counts[0, 1] = count_segments(0, T, now, gold, segments.field, segments.opens, tally.ends)
        row_sums(now, truth.rules.row_values, tally.sums)
        for _ in range(truth.sweeps[i] * T):
            step += 1
            lo, hi = propose(state, now, new, proposals.block, segments.follows)
            better = step_change(lo, hi, now, new, learned.trans, learned.start, learned.end)
            accepted = False
            if better > -np.inf:
                for t in range(lo, hi):
                    better += token_change(a + t, now[t], new[t], levels, L, learned.w)
                truer = truth_change(i, a, lo, hi, now, new, better, proposals.by_segments, segments, truth, tally)
                margin = truth.margin[i]
                if (truer > 0.0 and better <= margin) or (truer < 0.0 and -better <= margin):
                    updates += 1
                    signed = np.sign(truer) * amount
                    for t in range(lo, hi):
                        move_token(a + t, now[t], new[t], signed, step, levels, L, learned.w, learned.w_u)
                    change_steps(lo, hi, new, now, signed, step, proposals.boundaries, learned)
                accepted = better >= 0.0 or uniform(state) < np.exp(better / proposals.temperature)
            if accepted:
                moves += 1
                now[lo:hi] = new[lo:hi]
                counts[0, :2] = counts[1, :2]
                tally.sums[:] = tally.new_sums
            else:
                new[lo:hi] = now[lo:hi]
    return step - before, updates, moves

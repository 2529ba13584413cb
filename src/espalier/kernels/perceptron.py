"""One pass of the structured perceptron over a corpus: score, decode, update, remember when.

For sequence i with the current weights w:  ŷ = argmax_y w·f(x, y),  y* = argmax over the labellings that agree with
the known labels (the labels themselves if all are known),  w += ω_i (f(x, y*) - f(x, ŷ)).

The average of w over all n steps needs no second pass: a change δ made at step c is part of n + 1 - c of the averaged
vectors, so with u = Σ c δ the average is ((n + 1) w - u) / n.

Cost of a step: O(attributes of its tokens × labels + T L²). Weights change after every sequence, so bundles are
walked attribute by attribute, not scored once. Ties go to the lowest label from the last token backwards, as in
`kernels.chain`.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import njit

# Numba's cache does not follow imports: after a change to these helpers, touch this file too.
from espalier.kernels.chain import best_path, longest

__all__ = ["move", "perceptron_epoch", "score_sequence"]


@njit(cache=True, nogil=True)
def add_attribute(a, value, pair_ptr, pair_label, w, row):
    """row[l] += value w(a, l) for the labels l that attribute a has weights with."""
    first, last = pair_ptr[a], pair_ptr[a + 1]
    if last - first == len(row):  # all labels, in order: no look-up, and vectors
        for label in range(len(row)):
            row[label] += value * w[first + label]
    else:
        for p in range(first, last):
            row[pair_label[p]] += value * w[p]


@njit(cache=True, nogil=True)
def score_sequence(a, levels, pair_ptr, pair_label, w, rows):
    """Write the scores of the tokens from a on into rows : float64[T, L]."""
    token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values = levels
    n_attributes = len(pair_ptr) - 1
    rows[:] = 0.0
    for t in range(len(rows)):
        row = rows[t]
        for k in range(token_ptr[a + t], token_ptr[a + t + 1]):
            ref = token_refs[k]
            value = token_values[k] if len(token_values) > 0 else 1.0
            if ref < n_attributes:
                add_attribute(ref, value, pair_ptr, pair_label, w, row)
            else:
                b = ref - n_attributes
                for j in range(bundle_ptr[b], bundle_ptr[b + 1]):
                    inner = value * bundle_values[j] if len(bundle_values) > 0 else value
                    add_attribute(bundle_ids[j], inner, pair_ptr, pair_label, w, row)


@njit(cache=True, nogil=True)
def change_attribute(a, amount, gold, guess, step, pair_ptr, pair_label, w, u):
    """w(a, gold) += amount, w(a, guess) -= amount, where they exist."""
    for p in range(pair_ptr[a], pair_ptr[a + 1]):
        label = pair_label[p]
        if label == gold:
            w[p] += amount
            u[p] += step * amount
        elif label == guess:
            w[p] -= amount
            u[p] -= step * amount


@njit(cache=True, nogil=True)
def change_token(m, amount, gold, guess, step, levels, pair_ptr, pair_label, w, u):
    """Move the weights of every attribute of token m towards the gold label."""
    token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values = levels
    n_attributes = len(pair_ptr) - 1
    for k in range(token_ptr[m], token_ptr[m + 1]):
        ref = token_refs[k]
        value = amount * token_values[k] if len(token_values) > 0 else amount
        if ref < n_attributes:
            change_attribute(ref, value, gold, guess, step, pair_ptr, pair_label, w, u)
        else:
            b = ref - n_attributes
            for j in range(bundle_ptr[b], bundle_ptr[b + 1]):
                inner = value * bundle_values[j] if len(bundle_values) > 0 else value
                change_attribute(bundle_ids[j], inner, gold, guess, step, pair_ptr, pair_label, w, u)


@njit(cache=True, nogil=True)
def change(place, amount, step, weights, sums):
    """Add an amount to one weight at this step."""
    weights[place] += amount
    sums[place] += step * amount


@njit(cache=True, nogil=True)
def change_steps(lo, hi, gold, guess, amount, step, boundaries, learned):
    """Move the transitions into lo..hi, and with `boundaries` first and last labels, from the guess to the gold path.

    The two differ in lo..hi-1 at most.
    """
    T = len(gold)
    for t in range(max(lo, 1), min(hi + 1, T)):
        if gold[t - 1] != guess[t - 1] or gold[t] != guess[t]:
            change((gold[t - 1], gold[t]), amount, step, learned.trans, learned.trans_u)
            change((guess[t - 1], guess[t]), -amount, step, learned.trans, learned.trans_u)
    if boundaries and lo == 0:
        change(gold[0], amount, step, learned.start, learned.start_u)
        change(guess[0], -amount, step, learned.start, learned.start_u)
    if boundaries and hi == T:
        change(gold[T - 1], amount, step, learned.end, learned.end_u)
        change(guess[T - 1], -amount, step, learned.end, learned.end_u)


@njit(cache=True, nogil=True)
def move(a, gold, guess, amount, step, levels, pair_ptr, pair_label, boundaries, learned):
    """Update: w += amount (f(x, gold) - f(x, guess)) for the tokens from a on; return how many labels differ."""
    wrong, w, u = 0, learned.w, learned.w_u
    for t in range(len(gold)):
        if gold[t] != guess[t]:
            wrong += 1
            change_token(a + t, amount, gold[t], guess[t], step, levels, pair_ptr, pair_label, w, u)
    if wrong > 0:
        change_steps(0, len(gold), gold, guess, amount, step, boundaries, learned)
    return wrong


@njit(cache=True, nogil=True)
def perceptron_epoch(order, step, indptr, y, omega, levels, pair_ptr, pair_label, boundaries, learned):
    """Visit the sequences in the given order and update the weights in place; `step` steps were taken before.

    order : int64[N]; indptr : int64[N + 1]; y : int16[M], -1 unknown; omega : float64[N], sample weights; levels : the
    feature matrix; pair_ptr, pair_label : which weights exist; learned : those of transitions and first labels are
    -inf where forbidden.

    Returns the number of sequences that made a change, and -1; or the first sequence whose known labels no allowed
    labelling agrees with, which ends the pass.
    """
    L, most = len(learned.start), max(longest(indptr, 0, len(indptr) - 1), 1)
    space, alpha, same = np.empty((most, L)), np.empty((most, L)), np.zeros(most, np.int32)
    golds, guesses = np.empty(most, np.int16), np.empty(most, np.int16)
    trans, start, end = learned.trans.reshape(1, L, L), learned.start, learned.end
    mistakes = 0
    for i in order:
        step += 1
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        if T == 0 or omega[i] == 0.0:
            continue
        rows, gold, guess = space[:T], golds[:T], guesses[:T]
        labelled = 0
        for t in range(T):
            gold[t] = y[a + t]
            labelled += gold[t] >= 0
        if labelled == 0:
            continue
        score_sequence(a, levels, pair_ptr, pair_label, learned.w, rows)
        if best_path(rows, trans, same[:T], start, end, alpha, guess) == -np.inf:
            return mistakes, i
        if labelled < T:
            for t in range(T):
                for label in range(L):
                    if gold[t] >= 0 and gold[t] != label:
                        rows[t, label] = -np.inf
            if best_path(rows, trans, same[:T], start, end, alpha, gold) == -np.inf:
                return mistakes, i
        mistakes += move(a, gold, guess, omega[i], step, levels, pair_ptr, pair_label, boundaries, learned) > 0
    return mistakes, -1

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

__all__ = ["decode", "move", "perceptron_epoch", "score_sequence"]


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
def score_token(m, token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values,
                pair_ptr, pair_label, w, row):  # fmt: skip
    """Write the scores of token m into row : float64[L]."""
    row[:] = 0.0
    n_attributes = len(pair_ptr) - 1
    for k in range(token_ptr[m], token_ptr[m + 1]):
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
def score_sequence(a, T, token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values,
                   pair_ptr, pair_label, w, rows):  # fmt: skip
    """Write the scores of tokens a ... a + T - 1 into rows : float64[>= T, L]."""
    for t in range(T):
        score_token(a + t, token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values,
                    pair_ptr, pair_label, w, rows[t])  # fmt: skip


@njit(cache=True, nogil=True)
def change_attribute(a, amount, gold, guess, step, pair_ptr, pair_label, w, u):
    """w(a, gold) += amount, w(a, guess) -= amount, where they exist."""
    first, last = pair_ptr[a], pair_ptr[a + 1]
    for p in range(first, last):
        label = pair_label[p]
        if label == gold:
            w[p] += amount
            u[p] += step * amount
        elif label == guess:
            w[p] -= amount
            u[p] -= step * amount


@njit(cache=True, nogil=True)
def change_token(m, amount, gold, guess, step, token_ptr, token_refs, token_values, bundle_ptr, bundle_ids,
                 bundle_values, pair_ptr, pair_label, w, u):  # fmt: skip
    """Move the weights of every attribute of token m towards the gold label."""
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
def decode(T, rows, trans, start, end, known, alpha, path):
    """Write the best labels that agree with known : int16[T] (-1 unknown) into path; return their score."""
    L = len(start)
    for t in range(T):
        for y in range(L):
            best = -np.inf
            if known[t] < 0 or known[t] == y:
                if t == 0:
                    best = start[y]
                else:
                    for y_prev in range(L):
                        best = max(best, alpha[t - 1, y_prev] + trans[y_prev, y])
                best += rows[t, y]
            alpha[t, y] = best
    label, score = 0, -np.inf
    for y in range(L):
        s = alpha[T - 1, y] + end[y]
        if s > score:
            label, score = y, s
    path[T - 1] = label
    for t in range(T - 2, -1, -1):
        previous, best = 0, -np.inf
        for y_prev in range(L):
            s = alpha[t, y_prev] + trans[y_prev, label]
            if s > best:
                previous, best = y_prev, s
        label = previous
        path[t] = label
    return score


@njit(cache=True, nogil=True)
def change_steps(T, gold, guess, amount, step, boundaries, trans, trans_u, start, start_u, end, end_u):
    """Move the transitions, and with `boundaries` the first and last labels, from the guess to the gold path."""
    for t in range(1, T):
        if gold[t - 1] != guess[t - 1] or gold[t] != guess[t]:
            trans[gold[t - 1], gold[t]] += amount
            trans_u[gold[t - 1], gold[t]] += step * amount
            trans[guess[t - 1], guess[t]] -= amount
            trans_u[guess[t - 1], guess[t]] -= step * amount
    if boundaries:
        start[gold[0]] += amount
        start_u[gold[0]] += step * amount
        start[guess[0]] -= amount
        start_u[guess[0]] -= step * amount
        end[gold[T - 1]] += amount
        end_u[gold[T - 1]] += step * amount
        end[guess[T - 1]] -= amount
        end_u[guess[T - 1]] -= step * amount


@njit(cache=True, nogil=True)
def move(a, T, gold, guess, amount, step, token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values,
         pair_ptr, pair_label, boundaries, w, u, trans, trans_u, start, start_u, end, end_u):  # fmt: skip
    """Update: w += amount (f(x, gold) - f(x, guess)) for tokens a ... a + T - 1; return how many labels differ."""
    wrong = 0
    for t in range(T):
        if gold[t] != guess[t]:
            wrong += 1
            change_token(a + t, amount, gold[t], guess[t], step, token_ptr, token_refs, token_values, bundle_ptr,
                         bundle_ids, bundle_values, pair_ptr, pair_label, w, u)  # fmt: skip
    if wrong > 0:
        change_steps(T, gold, guess, amount, step, boundaries, trans, trans_u, start, start_u, end, end_u)
    return wrong


@njit(cache=True, nogil=True)
def perceptron_epoch(order, step, indptr, y, omega, token_ptr, token_refs, token_values, bundle_ptr, bundle_ids,
                     bundle_values, pair_ptr, pair_label, boundaries, w, u, trans, trans_u, start, start_u,
                     end, end_u):  # fmt: skip
    """Visit the sequences in the given order and update the weights in place; `step` steps were taken before.

    order : int64[N]; indptr : int64[N + 1]; y : int16[M], -1 unknown; omega : float64[N], sample weights;
    token_*, bundle_* : the feature matrix; pair_ptr, pair_label : which weights exist; w, u : float64[P];
    trans, start, end : float64[L, L], [L], [L], -inf where forbidden; *_u : their sums Σ c δ.

    Returns the number of sequences that made a change, and -1; or the first sequence whose known labels no allowed
    labelling agrees with, which ends the pass.
    """
    L, longest = len(start), 1
    for i in range(len(indptr) - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    rows, alpha = np.empty((longest, L)), np.empty((longest, L))
    gold, guess = np.empty(longest, np.int16), np.empty(longest, np.int16)
    nothing = np.full(longest, -1, np.int16)
    mistakes = 0
    for i in order:
        step += 1
        a, T = indptr[i], indptr[i + 1] - indptr[i]
        if T == 0 or omega[i] == 0.0:
            continue
        labelled = 0
        for t in range(T):
            gold[t] = y[a + t]
            labelled += gold[t] >= 0
        if labelled == 0:
            continue
        score_sequence(a, T, token_ptr, token_refs, token_values, bundle_ptr, bundle_ids, bundle_values,
                       pair_ptr, pair_label, w, rows)  # fmt: skip
        if decode(T, rows, trans, start, end, nothing, alpha, guess) == -np.inf:
            return mistakes, i
        if labelled < T and decode(T, rows, trans, start, end, y[a : a + T], alpha, gold) == -np.inf:
            return mistakes, i
        mistakes += move(a, T, gold, guess, omega[i], step, token_ptr, token_refs, token_values, bundle_ptr,
                         bundle_ids, bundle_values, pair_ptr, pair_label, boundaries, w, u, trans, trans_u,
                         start, start_u, end, end_u) > 0  # fmt: skip
    return mistakes, -1

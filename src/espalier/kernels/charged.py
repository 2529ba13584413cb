"""Viterbi with charges, and the Soft-DD loop around it.

    δ_0(j) = s_0(j) - τ(j) + start(j) - ω(j)
    δ_t(j) = s_t(j) - τ(j) + max( δ_{t-1}(j) + trans(j, j),  max_{i≠j} δ_{t-1}(i) + trans(i, j) - c_t - ω(j) )

c_t is the price of a change of label into token t (a local rule such as "change only after punctuation"); ω(j) and
τ(j) are what the multipliers λ of the rules charge for a segment of label j and for a token of it. A rule here is a row

    a_r · n(y) <= b_r,   price ρ_r a unit,   n = (segments of each label, tokens of each label)

and the loop is algorithm 2 of Anzaroot, Passos, Belanger and McCallum (2014): the dual
D(λ) = max_y [ s(y) - λ·(A n(y) - b) ] falls towards the optimum from above, the labellings met on the way approach it
from below; where the two meet, the labelling is optimal. The step is a · min(D - primal, 6) / |g|², projected on
[0, ρ], |g|² over the multipliers that can move; a shrinks by 0.7 when D does not fall. (Without the cap, hard rules
overshoot.)

The transition matrix may be another at every token (`kind`). It is one sequence at a time, eight target labels in a
vector: sequences wait for nobody's length, matrix, or number of rounds. (Eight sequences at a time, one a lane, are
faster where no rule counts and all tokens share a matrix.) Cost of a pass: O(T L²) / 8 a sequence.

The arrays come as the named tuples of `kernels.layout`.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import njit
from espalier.kernels.vector import LANES, VEC_BYTES, load, maximum, read, splat, store

__all__ = [
    "charge_counts",
    "charge_labels",
    "charged_viterbi",
    "count_labels",
    "forward_one",
    "lay_out",
    "overcharge",
    "soft_dual",
    "step_into",
]

LARGEST_STEP = 6.0
SHRINK = 0.7


@njit(cache=True, nogil=True)
def lay_out(lo, hi, token_of_row, unary, pattern, charges, prices, rows, change):
    """Write the rows of the tokens token_of_row[lo:hi], charged: see `Tokens` and `ChargedRows`."""
    M, L = unary.shape
    width = rows.shape[1] * 8
    read_ahead = (L + LANES - 1) // LANES * LANES
    source, target, charged = unary.ctypes.data, rows.ctypes.data, charges.ctypes.data
    for r in range(hi - lo):
        m = token_of_row[lo + r]
        if m * L + read_ahead > M * L:  # a last token, behind which there is nothing to read
            for j in range(L):
                rows[r, j] = unary[m, j] - charges[pattern[m], j]
        else:
            row, score, charge = target + r * width, source + m * L * 8, charged + pattern[m] * width
            for k in range(0, L * 8, VEC_BYTES):
                store(row + k, load(score + k) - load(charge + k))
        change[r] = prices[pattern[m]]


@njit(cache=True, nogil=True)
def forward_one(T, place, rows, change, kind, matrices, fixed, delta):
    """Fill delta[t][j], an address, for the sequence in rows place, place + 1, ...: eight targets in a vector.

    rows, change, kind : see `ChargedRows`; fixed : float64[3, width]; start, ω and τ. delta : aligned, as wide as rows.
    """
    L, row = matrices.shape[1] - 1, rows.shape[1] * 8
    source, start = rows.ctypes.data + place * row, fixed.ctypes.data
    omega, tau = start + row, start + 2 * row
    for k in range(0, L * 8, VEC_BYTES):
        store(delta + k, load(source + k) - load(tau + k) + (load(start + k) - load(omega + k)))
    for t in range(1, T):
        here, before, c = delta + t * row, delta + (t - 1) * row, splat(change[place + t])
        from_ = matrices.ctypes.data + kind[place + t] * (L + 1) * row
        stay = from_ + L * row
        # Two vectors and two sources at once: four chains that do not wait. A last vector alone has two.
        for k in range(0, L * 8 - VEC_BYTES, 2 * VEC_BYTES):
            even = odd = other = last = splat(-np.inf)
            for i in range(0, L - 1, 2):
                b, at = splat(read(before + i * 8)), from_ + i * row + k
                even, other = maximum(b + load(at), even), maximum(b + load(at + VEC_BYTES), other)
                b, at = splat(read(before + i * 8 + 8)), at + row
                odd, last = maximum(b + load(at), odd), maximum(b + load(at + VEC_BYTES), last)
            if L % 2:
                b, at = splat(read(before + (L - 1) * 8)), from_ + (L - 1) * row + k
                even, other = maximum(b + load(at), even), maximum(b + load(at + VEC_BYTES), other)
            _enter(k, maximum(even, odd), c, here, before, stay, omega, source + t * row, tau)
            _enter(k + VEC_BYTES, maximum(other, last), c, here, before, stay, omega, source + t * row, tau)
        if (L + LANES - 1) // LANES % 2:
            even, odd, k = splat(-np.inf), splat(-np.inf), (L - 1) // LANES * VEC_BYTES
            for i in range(0, L - 1, 2):
                even = maximum(splat(read(before + i * 8)) + load(from_ + i * row + k), even)
                odd = maximum(splat(read(before + i * 8 + 8)) + load(from_ + (i + 1) * row + k), odd)
            if L % 2:
                even = maximum(splat(read(before + (L - 1) * 8)) + load(from_ + (L - 1) * row + k), even)
            _enter(k, maximum(even, odd), c, here, before, stay, omega, source + t * row, tau)


@njit(cache=True, nogil=True, inline="always")
def _enter(k, best, c, here, before, stay, omega, scores, tau):
    """δ_t of a vector of labels from the best change into each."""
    best = maximum(load(before + k) + load(stay + k), best - c - load(omega + k))
    store(here + k, best + load(scores + k) - load(tau + k))


@njit(cache=True, nogil=True)
def _backward(T, buffer, delta, width, place, change, kind, end, moves, omega, path, first):
    """Follow the maxima of one sequence back into path[first + t]; return their score. Ties go to the lowest label.

    δ_t(i) is buffer[delta + t width + i]; the array itself is passed, because an address does not keep it alive.
    omega : float64[L].
    """
    L, score, y = len(end), -np.inf, 0
    for t in range(T - 1, -1, -1):
        at, j = delta + t * width, y
        matrix = moves[kind[place + min(t + 1, T - 1)]]
        into = end if t == T - 1 else matrix[j]  # matrix[j] is -inf at j itself
        best, y = -np.inf, 0
        for i in range(L):
            s = buffer[at + i] + into[i]
            if s > best:
                best, y = s, i
        if t == T - 1:
            score = best
        else:
            best = best - change[place + t + 1] - omega[j]
            stay = buffer[at + j] + matrix[L, j]
            if stay > best or (stay == best and j < y):
                y = j
        path[first + t] = y
    return score


@njit(cache=True, nogil=True, inline="always")
def step_into(t, i, j, change, kind, moves):
    """What label j at token t >= 1 after label i adds to the scores of both."""
    return moves[kind[t], moves.shape[2], j] if i == j else moves[kind[t], j, i] - change[t]


@njit(cache=True, nogil=True)
def charged_viterbi(lo, hi, indptr, tokens, model, path, scores):
    """Best labels of the sequences lo..hi, with c_t but no multipliers; empty ones are left alone.

    path : int16[M] and scores : float64[N] are filled where these sequences are.
    """
    (unary, pattern, charges, prices, kind), (start, end, moves, matrices) = tokens, model
    L, width, longest = len(start), charges.shape[1], 1
    for k in range(lo, hi):
        longest = max(longest, indptr[k + 1] - indptr[k])
    buffer = np.empty((2 * longest + 2) * width)
    shift = (-(buffer.ctypes.data // 8)) % 8
    rows = buffer[shift + longest * width : shift + 2 * longest * width].reshape((longest, width))
    change, free, itself = np.empty(longest), np.zeros(L), np.arange(indptr[lo], indptr[hi])
    fixed = np.zeros((3, width))
    fixed[0, :L] = start
    for k in range(lo, hi):
        a, b = indptr[k], indptr[k + 1]
        if a < b:
            lay_out(a - indptr[lo], b - indptr[lo], itself, unary, pattern, charges, prices, rows, change)
            forward_one(b - a, 0, rows, change, kind[a:b], matrices, fixed, buffer.ctypes.data + shift * 8)
            scores[k] = _backward(b - a, buffer, shift, width, 0, change, kind[a:b], end, moves, free, path, a)


@njit(cache=True, nogil=True)
def count_labels(place, n, path, label_ptr, label_row, label_open, label_token, values):
    """values[r] = a_r · n(y) of the labelling path[place : place + n]."""
    values[:] = 0.0
    before, since = -1, 0
    for t in range(n + 1):  # one visit a run of equal labels
        j = path[place + t] if t < n else -1
        if j == before:
            continue
        if before >= 0:
            for k in range(label_ptr[before], label_ptr[before + 1]):
                values[label_row[k]] += label_open[k] + label_token[k] * (t - since)
        before, since = j, t


@njit(cache=True, nogil=True)
def charge_labels(label_ptr, label_row, label_open, label_token, multiplier, omega, tau):
    """Write ω and τ : what the multipliers charge for a segment and for a token of each label."""
    omega[:], tau[:] = 0.0, 0.0
    for j in range(len(label_ptr) - 1):
        for q in range(label_ptr[j], label_ptr[j + 1]):
            omega[j] += multiplier[label_row[q]] * label_open[q]
            tau[j] += multiplier[label_row[q]] * label_token[q]


@njit(cache=True, nogil=True)
def overcharge(values, bound, price):
    """Σ_r ρ_r max(0, values_r - b_r); a hard row (ρ = inf) costs nothing if kept."""
    total = 0.0
    for r in range(len(bound)):
        if values[r] > bound[r]:
            total += price[r] * (values[r] - bound[r])
    return total


@njit(cache=True, nogil=True)
def charge_counts(indptr, path, counting, price, primal):
    """primal[k] -= what the counting rules charge for the labelling of sequence k.

    price : float64[N, R], or float64[1, R] if all sequences pay the same.
    """
    label_ptr, label_row, label_open, label_token, bound, _ = counting
    values = np.empty(len(bound))
    for k in range(len(indptr) - 1):
        count_labels(indptr[k], indptr[k + 1] - indptr[k], path, label_ptr, label_row, label_open, label_token, values)
        primal[k] -= overcharge(values, bound, price[min(k, len(price) - 1)])


@njit(cache=True, nogil=True)
def soft_dual(indptr, model, laid, counting, price, max_rounds, gap, multipliers, primal, dual, path, rounds):
    """Lower the duals of n sequences until they meet the primals, or for max_rounds.

    indptr : int64[n + 1], where the sequences stand in `laid` and in `path`. On entry path holds the labellings of
    plain Viterbi, dual their scores, primal their scores minus what they pay. price : float64[n, R], 0 where a row does
    not apply. multipliers : float64[n, R]; primal : float64[n]; path : the labelling of the primal; all three are
    updated. dual : float64[n], the best bound, -inf where nothing is to be done; rounds : int64[n], passes spent.
    """
    (start, end, moves, matrices), (rows, change, kind, _) = model, laid
    label_ptr, label_row, label_open, label_token, bound, _ = counting
    L, width, R, longest = len(start), rows.shape[1], len(bound), 1
    for k in range(len(dual)):
        longest = max(longest, indptr[k + 1] - indptr[k])
    buffer = np.empty((longest + 1) * width)
    delta = (buffer.ctypes.data + 63) // 64 * 64
    shift = (delta - buffer.ctypes.data) // 8
    fixed = np.zeros((3, width))
    fixed[0, :L] = start
    omega, tau, values = fixed[1], fixed[2], np.empty(R)
    met = np.empty(longest, np.int16)  # the labelling of the round, before it proves better than the one in path
    for k in range(len(dual)):
        if dual[k] == -np.inf:
            continue
        place, n, scale, last = indptr[k], indptr[k + 1] - indptr[k], 1.0, np.inf
        for t in range(n):
            met[t] = path[place + t]
        score = dual[k]
        for round_ in range(max_rounds + 1):  # the first step is from the labelling that is there already
            if round_:
                charge_labels(label_ptr, label_row, label_open, label_token, multipliers[k], omega, tau)
                forward_one(n, place, rows, change, kind, matrices, fixed, delta)
                score = _backward(n, buffer, shift, width, place, change, kind, end, moves, omega, met, 0)
                rounds[k] += 1
            count_labels(0, n, met, label_ptr, label_row, label_open, label_token, values)
            value, plain, square = _lagrangian(score, values, bound, price[k], multipliers[k])
            if value >= last:
                scale *= SHRINK
            last = value
            dual[k] = min(dual[k], value)
            here = plain - overcharge(values, bound, price[k])
            if here > primal[k]:
                primal[k] = here
                for t in range(n):
                    path[place + t] = met[t]
            if primal[k] > -np.inf and dual[k] - primal[k] <= gap * max(1.0, abs(primal[k])):
                break
            length = scale * min(value - primal[k], LARGEST_STEP) / max(square, 1e-300)
            for r in range(R):
                multipliers[k, r] = min(max(multipliers[k, r] + length * (values[r] - bound[r]), 0.0), price[k, r])


@njit(cache=True, nogil=True)
def _lagrangian(score, values, bound, price, multiplier):
    """Return D(λ), the labelling's score without multipliers, and |g|² over the multipliers that can move."""
    dual, model, square = score, score, 0.0
    for r in range(len(bound)):
        dual += multiplier[r] * bound[r]
        model += multiplier[r] * values[r]
        slope = values[r] - bound[r]
        if (slope > 0 and multiplier[r] < price[r]) or (slope < 0 and multiplier[r] > 0):
            square += slope * slope
    return dual, model, square

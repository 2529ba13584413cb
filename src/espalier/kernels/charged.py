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

The transition matrix may be another at every token (`kind`). The first pass, without multipliers, takes eight
sequences at a time, one a lane, if there is one matrix for all. With several, and in later passes for the few sequences
that break a rule, whose lengths and numbers of rounds differ, it is one sequence at a time, eight target labels in a
vector: no lane has to wait for the matrix of another. Cost of a pass: O(T L²) / 8 a sequence, either way.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import njit
from espalier.kernels.vector import LANES, VEC_BYTES, load, maximum, read, splat, store, transpose, write

__all__ = [
    "charge_counts",
    "charged_viterbi",
    "charged_viterbi_kinds",
    "count_labels",
    "lay_out",
    "overcharge",
    "soft_dual",
]

LARGEST_STEP = 6.0
SHRINK = 0.7


@njit(cache=True, nogil=True)
def lay_out(lo, hi, token_of_row, unary, pattern, charges, prices, rows, change):
    """Write the rows of token_of_row[lo:hi], charged: rows[r - lo] = scores minus charges, change[r - lo] = c.

    pattern : int64[M], which conditions hold at each token, as a number; charges : float64[P, padded(L)] and prices :
    float64[P] of each pattern. Labels beyond L are not defined.
    """
    M, L = unary.shape
    width = rows.shape[1] * 8
    read_ahead = (L + LANES - 1) // LANES * LANES
    source, target, charged = unary.ctypes.data, rows.ctypes.data, charges.ctypes.data
    for r in range(lo, hi):
        m = token_of_row[r]
        if m < 0 or m * L + read_ahead > M * L:  # nothing; or a last token, behind which there is nothing to read
            for j in range(L):
                rows[r - lo, j] = 0.0 if m < 0 else unary[m, j] - charges[pattern[m], j]
        else:
            row, score, charge = target + (r - lo) * width, source + m * L * 8, charged + pattern[m] * width
            for k in range(0, L * 8, VEC_BYTES):
                store(row + k, load(score + k) - load(charge + k))
        change[r - lo] = prices[pattern[m]] if m >= 0 else 0.0


@njit(cache=True, nogil=True)
def _forward_lanes(T, L, first, lengths, unary, pattern, charges, prices, start, moves, tile, delta):
    """Fill delta[t][j][lane], an address, for eight sequences; lane k's token t is row first[k] + t of unary.

    moves : float64[L + 1, L]; trans by target with -inf on the diagonal, then the diagonal itself. tile : the address
    of nine rows of working space.
    """
    M, row, step = len(unary), charges.shape[1] * 8, charges.shape[1] * VEC_BYTES
    read_ahead = (L + LANES - 1) // LANES * LANES
    source, charged = unary.ctypes.data, charges.ctypes.data
    into, stay, price = moves.ctypes.data, moves.ctypes.data + L * L * 8, tile + LANES * row
    for t in range(T):
        here, before = delta + t * step, delta + (t - 1) * step
        for lane in range(LANES):
            # Past its end a lane repeats its last row: nobody looks at the values, but they stay numbers.
            m = first[lane] + min(t, lengths[lane] - 1)
            write(price + lane * 8, prices[pattern[m]])
            to, score, charge = tile + lane * row, source + m * L * 8, charged + pattern[m] * row
            if m * L + read_ahead <= M * L:
                for k in range(0, L * 8, VEC_BYTES):
                    store(to + k, load(score + k) - load(charge + k))
            else:  # behind the last tokens there is nothing to read
                for j in range(0, L * 8, 8):
                    write(to + j, read(score + j) - read(charge + j))
        for j in range(0, L, LANES):
            transpose(tile + j * 8, row, here + j * VEC_BYTES, VEC_BYTES)
        if t == 0:
            for j in range(L):
                store(here + j * VEC_BYTES, load(here + j * VEC_BYTES) + splat(start[j]))
            continue
        c = load(price)
        for j in range(0, L - 3, 4):  # four targets at once, so that every source is loaded once for four
            b0 = b1 = b2 = b3 = splat(-np.inf)
            row_j = into + j * L * 8
            for i in range(0, L * 8, 8):
                d = load(before + i * LANES)
                b0 = maximum(d + splat(read(row_j + i)), b0)
                b1 = maximum(d + splat(read(row_j + i + L * 8)), b1)
                b2 = maximum(d + splat(read(row_j + i + L * 16)), b2)
                b3 = maximum(d + splat(read(row_j + i + L * 24)), b3)
            _settle(here, before, stay, c, j, b0)
            _settle(here, before, stay, c, j + 1, b1)
            _settle(here, before, stay, c, j + 2, b2)
            _settle(here, before, stay, c, j + 3, b3)
        for j in range(L - L % 4, L):
            best = splat(-np.inf)
            for i in range(0, L * 8, 8):
                best = maximum(load(before + i * LANES) + splat(read(into + j * L * 8 + i)), best)
            _settle(here, before, stay, c, j, best)


@njit(cache=True, nogil=True, inline="always")
def _settle(here, before, stay, c, j, best):
    """δ_t(j) from the best change into j."""
    at = j * VEC_BYTES
    store(here + at, maximum(load(before + at) + splat(read(stay + j * 8)), best - c) + load(here + at))


@njit(cache=True, nogil=True)
def _backward(T, buffer, delta, row, column, place, change, pattern, kind, end, moves, omega, path, first):
    """Follow the maxima of one sequence back into path[first + t]; return their score. Ties go to the lowest label.

    δ_t(i) is buffer[delta + t row + i column]; the array itself is passed, because an address does not keep it alive.
    change[pattern[place + t]] is c_t; moves[kind[place + t]] lead into token t; omega : float64[L].
    """
    L, score, y = len(end), -np.inf, 0
    for t in range(T - 1, -1, -1):
        at, j = delta + t * row, y
        matrix = moves[kind[place + min(t + 1, T - 1)]]
        into = end if t == T - 1 else matrix[j]  # matrix[j] is -inf at j itself
        best, y = -np.inf, 0
        for i in range(L):
            s = buffer[at + i * column] + into[i]
            if s > best:
                best, y = s, i
        if t == T - 1:
            score = best
        else:
            best = best - change[pattern[place + t + 1]] - omega[j]
            stay = buffer[at + j * column] + matrix[L, j]
            if stay > best or (stay == best and j < y):
                y = j
        path[first + t] = y
    return score


@njit(cache=True, nogil=True)
def charged_viterbi(lo, hi, order, indptr, unary, pattern, charges, prices, kind, start, end, moves, path, scores):
    """Best labels of the sequences order[8 lo : 8 hi], none of them empty, with c_t but no multipliers.

    unary : float64[M, L]; pattern, charges, prices : see `lay_out`. moves : float64[1, L + 1, L], and kind : int32[M],
    all 0. path : int16[M] and scores : float64[N] are filled where these sequences are.
    """
    L, width = len(start), charges.shape[1]
    longest = 0
    for k in range(LANES * lo, LANES * hi):
        longest = max(longest, indptr[order[k] + 1] - indptr[order[k]])
    buffer = np.empty((longest * LANES + LANES + 2) * width)
    tile = (buffer.ctypes.data + 63) // 64 * 64
    delta = tile + (LANES + 1) * width * 8
    shift = (delta - buffer.ctypes.data) // 8
    first, lengths, free = np.empty(LANES, np.int64), np.empty(LANES, np.int64), np.zeros(L)
    for g in range(lo, hi):
        T = 0
        for lane in range(LANES):
            k = order[LANES * g + lane]
            first[lane], lengths[lane] = indptr[k], indptr[k + 1] - indptr[k]
            T = max(T, lengths[lane])
        _forward_lanes(T, L, first, lengths, unary, pattern, charges, prices, start, moves[0], tile, delta)
        for lane in range(LANES):
            scores[order[LANES * g + lane]] = _backward(
                lengths[lane], buffer, shift + lane, width * LANES, LANES, first[lane], prices, pattern, kind, end,
                moves, free, path, first[lane],
            )  # fmt: skip


@njit(cache=True, nogil=True)
def charged_viterbi_kinds(lo, hi, itself, indptr, unary, pattern, charges, prices, kind, start, end, moves, matrices,
                          path, scores):  # fmt: skip
    """`charged_viterbi` of the sequences lo..hi with transitions of several kinds; empty ones are left alone.

    itself : int64[M], 0, 1, ...; kind : int32[M]; moves : float64[C, L + 1, L]; matrices : see `_forward_one`.
    """
    L, width = len(start), charges.shape[1]
    longest = 1
    for k in range(lo, hi):
        longest = max(longest, indptr[k + 1] - indptr[k])
    buffer = np.empty((2 * longest + 2) * width)
    shift = (-(buffer.ctypes.data // 8)) % 8
    rows = buffer[shift + longest * width : shift + 2 * longest * width].reshape((longest, width))
    change, free = np.empty(longest), np.zeros(L)
    fixed = np.zeros((3, width))
    for j in range(L):
        fixed[0, j] = start[j]
    for k in range(lo, hi):
        a, b = indptr[k], indptr[k + 1]
        if a < b:
            lay_out(a, b, itself, unary, pattern, charges, prices, rows, change)
            _forward_one(b - a, 0, rows, change, kind[a:b], matrices, fixed, buffer.ctypes.data + shift * 8)
            scores[k] = _backward(
                b - a, buffer, shift, width, 1, 0, change, itself, kind[a:b], end, moves, free, path, a
            )


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
def overcharge(values, bound, price):
    """Σ_r ρ_r max(0, values_r - b_r); a hard row (ρ = inf) costs nothing if kept."""
    total = 0.0
    for r in range(len(bound)):
        if values[r] > bound[r]:
            total += price[r] * (values[r] - bound[r])
    return total


@njit(cache=True, nogil=True)
def charge_counts(lo, hi, indptr, path, label_ptr, label_row, label_open, label_token, bound, price, primal):
    """primal[k] -= what the counting rules charge for the labelling of sequence k, lo <= k < hi.

    price : float64[N, R], or float64[1, R] if all sequences pay the same.
    """
    values = np.empty(len(bound))
    for k in range(lo, hi):
        count_labels(indptr[k], indptr[k + 1] - indptr[k], path, label_ptr, label_row, label_open, label_token, values)
        primal[k] -= overcharge(values, bound, price[min(k, len(price) - 1)])


@njit(cache=True, nogil=True)
def _forward_one(T, place, rows, change, kind, matrices, fixed, delta):
    """Fill delta[t][j], an address, for the sequence in rows place, place + 1, ...: eight targets in a vector.

    matrices : float64[C, L + 1, width]; trans by source with -inf on the diagonal, then the diagonal; matrices[kind[t]]
    leads into row t. fixed : float64[3, width]; start, ω and τ.
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
        for k in range(0, L * 8, VEC_BYTES):
            even = odd = splat(-np.inf)  # two chains, because one would wait for itself
            for i in range(0, L - 1, 2):
                even = maximum(splat(read(before + i * 8)) + load(from_ + i * row + k), even)
                odd = maximum(splat(read(before + i * 8 + 8)) + load(from_ + (i + 1) * row + k), odd)
            if L % 2:
                even = maximum(splat(read(before + (L - 1) * 8)) + load(from_ + (L - 1) * row + k), even)
            best = maximum(even, odd) - c - load(omega + k)
            best = maximum(load(before + k) + load(stay + k), best) + load(source + t * row + k) - load(tau + k)
            store(here + k, best)


@njit(cache=True, nogil=True)
def soft_dual(places, lengths, start, end, moves, matrices, rows, change, kind, label_ptr, label_row, label_open,
              label_token, bound, price, max_rounds, gap, multipliers, primal, dual, path, rounds):  # fmt: skip
    """Lower the duals of n sequences until they meet the primals, or for max_rounds.

    places, lengths : int64[n]; sequence k's token t is row places[k] + t (of `rows`, `change` and `kind`). On entry
    path holds the labellings of plain Viterbi, dual their scores, primal their scores minus what they pay. label_ptr,
    label_row, label_open, label_token : the rows that a segment and a token of each label count in, by label. bound :
    float64[R]; price : float64[n, R], 0 where a row does not apply.
    multipliers : float64[n, R]; primal : float64[n]; path : the labelling of the primal; all three are updated.
    dual : float64[n], the best bound, -inf where nothing is to be done; rounds : int64[n], Viterbi passes spent.
    """
    L, width, R = len(start), rows.shape[1], len(bound)
    longest = 1
    for n in lengths:
        longest = max(longest, n)
    buffer = np.empty((longest + 1) * width)
    delta = (buffer.ctypes.data + 63) // 64 * 64
    shift = (delta - buffer.ctypes.data) // 8
    fixed = np.zeros((3, width))
    for j in range(L):
        fixed[0, j] = start[j]
    omega, tau, values = fixed[1], fixed[2], np.empty(R)
    itself = np.arange(len(change))
    met = np.empty(longest, np.int16)  # the labelling of the round, before it proves better than the one in path
    for k in range(len(places)):
        if dual[k] == -np.inf:
            continue
        place, n, scale, last = places[k], lengths[k], 1.0, np.inf
        for t in range(n):
            met[t] = path[place + t]
        score = dual[k]
        for round_ in range(max_rounds + 1):  # the first step is from the labelling that is there already
            if round_:
                omega[:], tau[:] = 0.0, 0.0
                for j in range(L):
                    for q in range(label_ptr[j], label_ptr[j + 1]):
                        omega[j] += multipliers[k, label_row[q]] * label_open[q]
                        tau[j] += multipliers[k, label_row[q]] * label_token[q]
                _forward_one(n, place, rows, change, kind, matrices, fixed, delta)
                score = _backward(n, buffer, shift, width, 1, place, change, itself, kind, end, moves, omega, met, 0)
                rounds[k] += 1
            count_labels(0, n, met, label_ptr, label_row, label_open, label_token, values)
            value, model, square = _lagrangian(score, values, bound, price[k], multipliers[k])
            if value >= last:
                scale *= SHRINK
            last = value
            dual[k] = min(dual[k], value)
            here = model - overcharge(values, bound, price[k])
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

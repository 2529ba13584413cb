"""Viterbi with charges, eight sequences at a time, and the Soft-DD loop around it.

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

Lanes hold different sequences with multipliers of their own. Cost of a round: O(T L²) / 8 a sequence.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from espalier.kernels.vector import LANES, load, maximum, read, splat, store, transpose, write

__all__ = ["charge_counts", "charged_viterbi", "lay_out", "soft_dual"]

VEC_BYTES = 64
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
    source, target, charged = unary.ctypes.data, rows.ctypes.data, charges.ctypes.data
    for r in range(lo, hi):
        m = token_of_row[r]
        if m < 0 or m == M - 1:  # nothing; or the last token, behind which there is nothing to read
            for j in range(L):
                rows[r - lo, j] = 0.0 if m < 0 else unary[m, j] - charges[pattern[m], j]
        else:
            row, score, charge = target + (r - lo) * width, source + m * L * 8, charged + pattern[m] * width
            for k in range(0, L * 8, VEC_BYTES):
                store(row + k, load(score + k) - load(charge + k))
        change[r - lo] = prices[pattern[m]] if m >= 0 else 0.0


@njit(cache=True, nogil=True)
def _forward(T, L, width, free, places, lengths, rows, change, start, moves, omega, tau, tile, delta):
    """Fill delta[t][j][lane], an address, for eight sequences.

    moves : float64[L + 1, L]; trans by target with -inf on the diagonal, then the diagonal itself. omega, tau :
    addresses of [j][lane]. `free`: no multipliers, and lane k's token t is row places[0] + 8 t + k; otherwise it is row
    places[k] + t.
    """
    first, prices = rows.ctypes.data, change.ctypes.data
    step = width * VEC_BYTES
    into, stay = moves.ctypes.data, moves.ctypes.data + L * L * 8
    price = tile + LANES * width * 8
    for t in range(T):
        here, before = delta + t * step, delta + (t - 1) * step
        if free:
            source, c = first + (places[0] + LANES * t) * width * 8, load(prices + (places[0] + LANES * t) * 8)
        else:
            source = tile
            for lane in range(LANES):
                # Past its end a lane repeats its last row: nobody looks at the values, but they stay numbers.
                at = places[lane] + min(t, max(lengths[lane] - 1, 0))
                for k in range(0, width * 8, VEC_BYTES):
                    store(tile + lane * width * 8 + k, load(first + at * width * 8 + k))
                write(price + lane * 8, read(prices + at * 8))
            c = load(price)
        for j in range(0, L, LANES):
            transpose(source + j * 8, width * 8, here + j * VEC_BYTES, VEC_BYTES)
        if t == 0:
            for j in range(0, L * VEC_BYTES, VEC_BYTES):
                store(here + j, load(here + j) - load(tau + j) + (splat(start[j // VEC_BYTES]) - load(omega + j)))
            continue
        for j in range(0, L - 3, 4):  # four targets at once, so that every source is loaded once for four
            b0 = b1 = b2 = b3 = splat(-np.inf)
            row = into + j * L * 8
            for i in range(0, L * 8, 8):
                d = load(before + i * LANES)
                b0 = maximum(d + splat(read(row + i)), b0)
                b1 = maximum(d + splat(read(row + i + L * 8)), b1)
                b2 = maximum(d + splat(read(row + i + L * 16)), b2)
                b3 = maximum(d + splat(read(row + i + L * 24)), b3)
            _settle(free, here, before, stay, omega, tau, c, j, b0)
            _settle(free, here, before, stay, omega, tau, c, j + 1, b1)
            _settle(free, here, before, stay, omega, tau, c, j + 2, b2)
            _settle(free, here, before, stay, omega, tau, c, j + 3, b3)
        for j in range(L - L % 4, L):
            best = splat(-np.inf)
            for i in range(0, L * 8, 8):
                best = maximum(load(before + i * LANES) + splat(read(into + j * L * 8 + i)), best)
            _settle(free, here, before, stay, omega, tau, c, j, best)


@njit(cache=True, nogil=True, inline="always")
def _settle(free, here, before, stay, omega, tau, c, j, best):
    """δ_t(j) from the best change into j."""
    at = j * VEC_BYTES
    best = best - c
    if not free:
        best = best - load(omega + at)
    best = maximum(load(before + at) + splat(read(stay + j * 8)), best) + load(here + at)
    if not free:
        best = best - load(tau + at)
    store(here + at, best)


@njit(cache=True, nogil=True)
def _backward(T, L, width, stride, places, lengths, change, end, moves, buffer, omega_at, delta_at, label, path, first,
              scores):  # fmt: skip
    """Follow the maxima back: path[first + places[lane] + stride t] and scores[lane]. Ties go to the lowest label.

    omega_at, delta_at : where ω and δ begin in the buffer; label : int64[8] is working space.
    """
    for t in range(T - 1, -1, -1):
        for lane in range(LANES):
            last = lengths[lane] - 1
            if t > last:
                continue
            at = delta_at + t * width * LANES + lane
            j = label[lane]
            into = end if t == last else moves[j]  # moves[j] is -inf at j itself
            best, y = -np.inf, 0
            for i in range(L):
                s = buffer[at + i * LANES] + into[i]
                if s > best:
                    best, y = s, i
            if t == last:
                scores[lane] = best
            else:
                best = best - change[places[lane] + stride * (t + 1)] - buffer[omega_at + j * LANES + lane]
                stay = buffer[at + j * LANES] + moves[L, j]
                if stay > best or (stay == best and j < y):
                    y = j
            label[lane] = y
            path[first + places[lane] + stride * t] = y


@njit(cache=True, nogil=True)
def charged_viterbi(lo, hi, group_ptr, lengths, start, end, moves, rows, change, path, scores):
    """Best labels of groups lo..hi-1 with c_t but no multipliers.

    rows, change : those of these groups only; path : int16[n_rows] and scores : float64[8 n_groups] of all groups.
    """
    L, width = len(start), rows.shape[1]
    longest = 0
    for g in range(lo, hi):
        longest = max(longest, group_ptr[g + 1] - group_ptr[g])
    buffer = np.empty((longest + 4) * width * LANES + 2 * LANES)
    omega = (buffer.ctypes.data + 63) // 64 * 64
    shift = (omega - buffer.ctypes.data) // 8
    tau, tile, delta = omega + width * VEC_BYTES, omega + 2 * width * VEC_BYTES, omega + 4 * width * VEC_BYTES
    buffer[shift : shift + 2 * width * LANES] = 0.0  # no multipliers
    label, places = np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    first = LANES * group_ptr[lo]
    for g in range(lo, hi):
        T = group_ptr[g + 1] - group_ptr[g]
        for lane in range(LANES):
            places[lane] = LANES * (group_ptr[g] - group_ptr[lo]) + lane
        own, best = lengths[g * LANES : (g + 1) * LANES], scores[g * LANES : (g + 1) * LANES]
        _forward(T, L, width, True, places, own, rows, change, start, moves, omega, tau, tile, delta)
        _backward(
            T, L, width, LANES, places, own, change, end, moves, buffer, shift, shift + 4 * width * LANES, label, path,
            first, best,
        )  # fmt: skip


@njit(cache=True, nogil=True)
def _count(place, stride, n, path, label_ptr, label_row, label_open, label_token, values):
    """values[r] = a_r · n(y) of the labelling path[place], path[place + stride], ..."""
    values[:] = 0.0
    before, since = -1, 0
    for t in range(n + 1):  # one visit a run of equal labels
        j = path[place + stride * t] if t < n else -1
        if j == before:
            continue
        if before >= 0:
            for k in range(label_ptr[before], label_ptr[before + 1]):
                values[label_row[k]] += label_open[k] + label_token[k] * (t - since)
        before, since = j, t


@njit(cache=True, nogil=True)
def _overcharge(values, bound, price):
    """Σ_r ρ_r max(0, values_r - b_r); a hard row (ρ = inf) costs nothing if kept."""
    total = 0.0
    for r in range(len(bound)):
        if values[r] > bound[r]:
            total += price[r] * (values[r] - bound[r])
    return total


@njit(cache=True, nogil=True)
def charge_counts(lo, hi, places, lengths, path, label_ptr, label_row, label_open, label_token, bound, price, primal):
    """primal[k] -= what the counting rules charge for the labelling of sequence k, rows places[k] + 8 t.

    price : float64[N, R], or float64[1, R] if all sequences pay the same.
    """
    values = np.empty(len(bound))
    for k in range(lo, hi):
        _count(places[k], LANES, lengths[k], path, label_ptr, label_row, label_open, label_token, values)
        primal[k] -= _overcharge(values, bound, price[min(k, len(price) - 1)])


@njit(cache=True, nogil=True)
def soft_dual(places, lengths, start, end, moves, rows, change, label_ptr, label_row, label_open, label_token,
              bound, price, max_rounds, gap, multipliers, primal, dual, path, rounds):  # fmt: skip
    """Lower the duals of n sequences until they meet the primals, or for max_rounds.

    places, lengths : int64[n]; sequence k's token t is row places[k] + t. On entry path holds the labellings of plain
    Viterbi, dual their scores, primal their scores minus what they pay. label_ptr, label_row, label_open,
    label_token : the rows that a segment and a token of each label count in, by label. bound : float64[R]; price :
    float64[n, R], 0 where a row does not apply.
    multipliers : float64[n, R]; primal : float64[n]; path : the labelling of the primal; all three are updated.
    dual : float64[n], the best bound; rounds : int64[n], Viterbi passes spent.
    """
    n, L, width, R = len(places), len(start), rows.shape[1], len(bound)
    longest = 1
    for k in range(n):
        longest = max(longest, lengths[k])
    buffer = np.empty((longest + 4) * width * LANES + 2 * LANES)
    omega = (buffer.ctypes.data + 63) // 64 * 64
    shift = (omega - buffer.ctypes.data) // 8
    tau, tile, delta = omega + width * VEC_BYTES, omega + 2 * width * VEC_BYTES, omega + 4 * width * VEC_BYTES
    label, scores, values = np.empty(LANES, np.int64), np.empty(LANES), np.empty(R)
    met = np.empty(len(path), np.int16)  # the labellings of the round, before they prove better than those in path
    lane_place, lane_length = np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    active, step, last = np.arange(n), np.ones(n), np.full(n, np.inf)
    n_active = n
    for k in range(n):  # the first step is from the labellings that are there already
        for t in range(places[k], places[k] + lengths[k]):
            met[t] = path[t]
        _judge(
            k, lengths[k], places[k], met, dual[k], label_ptr, label_row, label_open, label_token,
            bound, price, gap, values, multipliers, primal, dual, path, step, last,
        )  # fmt: skip
    for _ in range(max_rounds):
        if n_active == 0:
            break
        kept = 0
        for group in range(0, n_active, LANES):
            filled = min(LANES, n_active - group)
            T = 0
            for lane in range(LANES):
                k = active[group + min(lane, filled - 1)]  # spare lanes repeat the last sequence
                lane_place[lane], lane_length[lane] = places[k], lengths[k]
                T = max(T, lengths[k])
                for j in range(L):
                    o = c = 0.0
                    for q in range(label_ptr[j], label_ptr[j + 1]):
                        o += multipliers[k, label_row[q]] * label_open[q]
                        c += multipliers[k, label_row[q]] * label_token[q]
                    buffer[shift + j * LANES + lane] = o
                    buffer[shift + (width + j) * LANES + lane] = c
            _forward(T, L, width, False, lane_place, lane_length, rows, change, start, moves, omega, tau, tile, delta)
            _backward(
                T, L, width, 1, lane_place, lane_length, change, end, moves, buffer, shift, shift + 4 * width * LANES,
                label, met, 0, scores,
            )  # fmt: skip
            for lane in range(filled):
                k = active[group + lane]
                rounds[k] += 1
                if not _judge(
                    k, lengths[k], places[k], met, scores[lane], label_ptr, label_row, label_open, label_token,
                    bound, price, gap, values, multipliers, primal, dual, path, step, last,
                ):  # fmt: skip
                    active[kept] = k
                    kept += 1
        n_active = kept


@njit(cache=True, nogil=True)
def _judge(k, n, place, met, score, label_ptr, label_row, label_open, label_token, bound, price, gap,
           values, multipliers, primal, dual, path, step, last):  # fmt: skip
    """Take in the labelling of one lane: better bounds, then a step of the multipliers. Return if it is settled."""
    _count(place, 1, n, met, label_ptr, label_row, label_open, label_token, values)
    bound_value, model = score, score
    square = 0.0
    for r in range(len(bound)):
        bound_value += multipliers[k, r] * bound[r]
        model += multipliers[k, r] * values[r]
        # Only multipliers that can move share the step.
        slope = values[r] - bound[r]
        if (slope > 0 and multipliers[k, r] < price[k, r]) or (slope < 0 and multipliers[k, r] > 0):
            square += slope * slope
    if bound_value >= last[k]:
        step[k] *= SHRINK
    last[k] = bound_value
    dual[k] = min(dual[k], bound_value)
    here = model - _overcharge(values, bound, price[k])
    if here > primal[k]:
        primal[k] = here
        for t in range(n):
            path[place + t] = met[place + t]
    if primal[k] > -np.inf and dual[k] - primal[k] <= gap * max(1.0, abs(primal[k])):
        return True
    length = step[k] * min(bound_value - primal[k], LARGEST_STEP) / max(square, 1e-300)
    for r in range(len(bound)):
        multipliers[k, r] = min(max(multipliers[k, r] + length * (values[r] - bound[r]), 0.0), price[k, r])
    return False

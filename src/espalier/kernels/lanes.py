"""Forward-backward on eight sequences at a time: lane k of every vector is sequence k.

The code is the textbook recurrence; each scalar of the textbook is a Vec. Sequences of one group have
similar lengths (the caller sorts them); rows past a sequence's end hold zeros.

Forward-backward works on probabilities, scaled at every step by the previous step's sum:

    x_t(j) = exp(s_t(j) - m_t),  m_t = max_j s_t(j)
    α_t(j) = c_t x_t(j) Σ_i α_{t-1}(i) E(i, j)         E = exp(trans),  c_t = 1 / Σ_i α_{t-1}(i)
    β_t(i) = Σ_j E(i, j) q_{t+1}(j),                   q_t(j) = c_t x_t(j) β_t(j)
    P(y_t = j) = α_t(j) β_t(j)                         with β_T(j) = exp(end(j)) / Z
    P(y_{t-1} = i, y_t = j) = α_{t-1}(i) E(i, j) q_t(j)

E is a constant a column plus exceptions: E(i, j) = base(j) + δ(i, j). A transition that was never seen in
training has weight 0, so E = 1 and δ = 0 under base 1; where most transitions are forbidden, base is 0 and
the exceptions are the allowed ones. A step costs L + (number of exceptions), not L². `Transitions` picks bases so that
no difference cancels.

The plain reference is `forward_backward` in `kernels/chain.py`. Where scaling cannot hold the numbers
(scores hundreds of units apart: an exponential, an α or a product of sums became too small to trust), log_z is returned
as nan, and the caller takes the plain kernel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from espalier.kernels import njit
from espalier.kernels.vector import (
    LANES,
    VEC_BYTES,
    below_exp,
    exp,
    fma,
    load,
    maximum,
    minimum,
    read,
    read_i32,
    splat,
    store,
    total,
    transpose,
    transpose_f32,
    vanished,
    where_positive,
    write,
)

__all__ = ["forward_backward_lanes"]

SMALLEST_SUM, SMALLEST_PRODUCT = 1e-100, 1e-280
"""Below these, what was lost to rounding might have mattered."""


class Space(NamedTuple):
    """Addresses of working space for one group; a step takes `step` bytes there, as [label][lane], one number a Vec.

    x, alpha : of each step; scale : a Vec of each step; product : the running product of sums, a Vec of each step;
    least : the least of those so far; beta, q, tile : of one step; counts : a Vec of each exception.
    """

    step: int
    x: int
    alpha: int
    scale: int
    product: int
    least: int
    beta: int
    q: int
    tile: int
    counts: int


@njit(cache=True, nogil=True)
def space_of(buffer, longest, width):
    """Lay out groups of at most so many steps in a buffer."""
    step = width * VEC_BYTES
    x = (buffer.ctypes.data + 63) // 64 * 64
    alpha = x + longest * step
    scale = alpha + longest * step
    product = scale + longest * VEC_BYTES
    least = product + longest * VEC_BYTES
    beta = least + longest * VEC_BYTES
    return Space(step, x, alpha, scale, product, least, beta, beta + step, beta + 2 * step, beta + 3 * step)


@njit(cache=True, nogil=True)
def forward_backward_lanes(lo, hi, group_ptr, lengths, weights, steps, rows, marginals, expected, log_z):
    """Turn score rows into marginal rows for groups lo..hi-1, and add up expected transitions.

    Parameters
    ----------
    group_ptr : int64[n_groups + 1]; group g has the rows 8 * group_ptr[g] .. 8 * group_ptr[g + 1] - 1, step by step,
        eight rows (one a lane) a step.
    lengths, weights : int64 and float64 [8 * n_groups]; tokens and sample weight of each lane.
    steps : see `Steps`.
    rows : float64[., padded(L)]; the score rows of these groups only.
    marginals : float32[n_rows of all groups, padded(L)]; weighted by `weights`; padding labels are not written.
    expected : float64[n_exceptions]; Σ α_{t-1}(i) q_t(j) is added (times E(i, j) it is the expected count).
    log_z : float64[8 * n_groups]; nan where scaling failed; its lane's marginals are then zero.
    """
    width = rows.shape[1]
    longest = 0
    for g in range(lo, hi):
        longest = max(longest, group_ptr[g + 1] - group_ptr[g])
    buffer = np.empty((2 * longest * width + 3 * longest + 3 * width + len(steps.target) + 1) * LANES + LANES)
    space = space_of(buffer, longest, width)
    z_scaled, log_sum = np.empty(LANES), np.empty(LANES)
    for k in range(len(steps.target)):
        store(space.counts + k * VEC_BYTES, splat(0.0))
    for g in range(lo, hi):
        T, own = group_ptr[g + 1] - group_ptr[g], slice(g * LANES, (g + 1) * LANES)
        first_row = rows.ctypes.data + LANES * (group_ptr[g] - group_ptr[lo]) * width * 8
        forward(T, first_row, lengths[own], steps, space, log_sum)
        finish(lengths[own], weights[own], steps, space, log_sum, z_scaled, log_z[own])
        first_out = marginals.ctypes.data + LANES * group_ptr[g] * width * 4
        backward(T, first_out, lengths[own], steps, space, z_scaled)
    for k in range(len(steps.target)):
        expected[steps.slot[k]] += total(load(space.counts + k * VEC_BYTES))
    buffer[0] = 0.0  # a use after the last address into it: otherwise it would be freed before that


@njit(cache=True, nogil=True)
def forward(T, first_row, lengths, steps, space, log_sum):
    """Fill x, α, scales and products of T steps; log_sum gets the logarithms of most of the sums divided out.

    The first Vec of the tile gets Σ m_t, the second says where something was lost to rounding.
    """
    L, step, width = len(steps.base), space.step, space.step // LANES
    base, in_ptr = steps.base, steps.in_ptr
    in_src, in_del = steps.source.ctypes.data, steps.in_delta.ctypes.data
    peak_sum, previous_sum, product = splat(0.0), splat(0.0), splat(1.0)
    least, lost = splat(1.0), splat(0.0)
    log_sum[:] = 0.0
    for t in range(T):
        x, alpha, before = space.x + t * step, space.alpha + t * step, space.alpha + (t - 1) * step
        block = first_row + t * LANES * width
        for j in range(0, L, LANES):
            transpose(block + j * 8, width, x + j * VEC_BYTES, VEC_BYTES)
        peak = load(x)
        for j in range(1, L):
            peak = maximum(load(x + j * VEC_BYTES), peak)
        peak = maximum(peak, splat(-1e300))  # a row of -inf stays a row of zeros
        peak_sum = peak_sum + peak
        for j in range(0, L * VEC_BYTES, 2 * VEC_BYTES):  # two at once share the constants; the last may be a pad
            d, e = load(x + j) - peak, load(x + j + VEC_BYTES) - peak
            lost = maximum(below_exp(d), lost)
            if j + VEC_BYTES < L * VEC_BYTES:
                lost = maximum(below_exp(e), lost)
            store(x + j, exp(d))
            store(x + j + VEC_BYTES, exp(e))
        here = splat(0.0)
        if t == 0:
            store(space.scale, splat(1.0))
            for j in range(L):
                e = load(x + j * VEC_BYTES) * splat(steps.start[j])
                store(alpha + j * VEC_BYTES, e)
                here = here + e
        else:
            scale = where_positive(previous_sum, splat(1.0) / previous_sum)
            store(space.scale + t * VEC_BYTES, scale)
            for j in range(L):
                reach = previous_sum * splat(base[j])
                for k in range(in_ptr[j], in_ptr[j + 1]):
                    a = load(before + read_i32(in_src + 4 * k) * VEC_BYTES)
                    reach = fma(a, splat(read(in_del + 8 * k)), reach)
                e = load(x + j * VEC_BYTES)
                reach = scale * maximum(reach, splat(0.0))
                alpha_j = e * reach
                lost = maximum(vanished(alpha_j, e, reach), lost)
                e = alpha_j
                store(alpha + j * VEC_BYTES, e)
                here = here + e
        previous_sum = here
        product = product * here
        least = minimum(product, least)
        store(space.product + t * VEC_BYTES, product)
        store(space.least + t * VEC_BYTES, least)
        if t % 8 == 7:  # long before a product of sums can leave the range of doubles, take its logarithm
            for lane in range(LANES):
                if t < lengths[lane] - 1:
                    log_sum[lane] += math.log(read(space.product + t * VEC_BYTES + lane * 8))
            product = splat(1.0)
    store(space.tile, peak_sum)
    store(space.tile + VEC_BYTES, lost)


@njit(cache=True, nogil=True)
def finish(lengths, weights, steps, space, log_sum, z_scaled, log_z):
    """Write each lane's log Z at its own end, and z_scaled, its weight over what is left of Z: 0 where scaling failed.

    log Z = Σ m_t + Σ log of the sums that were divided out + log of the last sum.
    """
    for lane in range(LANES):
        n = lengths[lane]
        z, last = 0.0, (n - 2) * VEC_BYTES + lane * 8
        for j in range(len(steps.end)):
            if n > 0:
                z += read(space.alpha + (n - 1) * space.step + j * VEC_BYTES + lane * 8) * steps.end[j]
        if n > 1 and n % 8 != 1:  # the sums since the last logarithm
            log_sum[lane] += math.log(read(space.product + last))
        lost = read(space.tile + VEC_BYTES + lane * 8)
        good = SMALLEST_SUM < z < 1e300 and abs(log_sum[lane]) < np.inf and lost == 0.0
        if n > 1:
            good &= read(space.least + last) > SMALLEST_PRODUCT
        if n > 0 and good:
            log_z[lane] = read(space.tile + lane * 8) + log_sum[lane] + math.log(z)
            z_scaled[lane] = weights[lane] / z
        else:
            log_z[lane] = 0.0 if n == 0 else np.nan
            z_scaled[lane] = 0.0


@njit(cache=True, nogil=True)
def backward(T, first_out, lengths, steps, space, z_scaled):
    """Write the marginals of T steps, and add to the counts. Lanes that have not begun have β = 0: they add nothing."""
    L, step, width = len(steps.base), space.step, space.step // LANES // 2
    base, out_ptr, beta, q, tile = steps.base, steps.out_ptr, space.beta, space.q, space.tile
    out_dst, out_del = steps.target.ctypes.data, steps.out_delta.ctypes.data
    for j in range(step // VEC_BYTES):
        store(beta + j * VEC_BYTES, splat(0.0))
        store(tile + j * VEC_BYTES, splat(0.0))
    for t in range(T - 1, -1, -1):
        x, alpha = space.x + t * step, space.alpha + t * step
        for lane in range(LANES):
            if lengths[lane] == t + 1:
                for j in range(L):
                    write(beta + j * VEC_BYTES + lane * 8, steps.end[j] * z_scaled[lane])
        scale = load(space.scale + t * VEC_BYTES)
        q_base = splat(0.0)
        for j in range(L):
            b = load(beta + j * VEC_BYTES)
            store(tile + j * VEC_BYTES, load(alpha + j * VEC_BYTES) * b)
            b = load(x + j * VEC_BYTES) * b * scale
            store(q + j * VEC_BYTES, b)
            q_base = fma(b, splat(base[j]), q_base)
        block = first_out + t * LANES * width
        for j in range(0, L, LANES):
            transpose_f32(tile + j * VEC_BYTES, VEC_BYTES, block + j * 4, width)
        if t == 0:
            break
        before = alpha - step
        for i in range(L):
            b = q_base
            a = load(before + i * VEC_BYTES)
            for k in range(out_ptr[i], out_ptr[i + 1]):
                qj = load(q + read_i32(out_dst + 4 * k) * VEC_BYTES)
                b = fma(qj, splat(read(out_del + 8 * k)), b)
                slot = space.counts + k * VEC_BYTES
                store(slot, fma(a, qj, load(slot)))
            store(beta + i * VEC_BYTES, maximum(b, splat(0.0)))

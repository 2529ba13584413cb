"""Tagging: the score rows of eight sequences and their best labels in one sweep, from references to labels.

    s_t(j) = Σ_{references r of token t} row_r(j)         δ_t(j) = s_t(j) + max_i δ_{t-1}(i) + trans(i, j)

Rows lie where `References` says, so they may be in several tables; *narrow* attributes have none (see `kernels/rows`).

Lane k of every vector is the k-th sequence of a group of similar lengths. The scores of a step never leave the cache:
they are summed into a tile of 8 x padded(L), turned, and become δ. δ and the maxima are kept, no pointers: the way back
looks for the predecessor along the path only. The plain reference is `chain.viterbi` on the same scores.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import BLOCK, njit
from espalier.kernels.vector import (
    LANES,
    VEC_BYTES,
    any_at_least,
    fma,
    load,
    maximum,
    read,
    read_i32,
    read_i64,
    splat,
    store,
    transpose,
    write,
)

__all__ = ["sum_rows", "tag_lanes"]


@njit(cache=True, nogil=True, inline="always")
def _sum_rows(item, references, row, width):
    """row[:] = Σ of the rows that an item refers to; `row` is an address, width in bytes."""
    first, last = references.ptr[item], references.ptr[item + 1]
    refs, address, w = references.refs.ctypes.data, references.address.ctypes.data, references.w.ctypes.data
    values, pair_ptr, pair_label = references.values, references.pair_ptr, references.pair_label
    weighted, narrow = len(values) > 0, False
    for block in range(0, width, BLOCK * 8):
        low, high = splat(0.0), splat(0.0)
        for k in range(first, last):
            p = read_i64(address + 8 * read_i32(refs + 4 * k))
            if p == 0:
                narrow = True
            elif weighted:
                v = splat(values[k])
                low, high = fma(load(p + block), v, low), fma(load(p + block + VEC_BYTES), v, high)
            else:
                low, high = low + load(p + block), high + load(p + block + VEC_BYTES)
        store(row + block, low)
        store(row + block + VEC_BYTES, high)
    if narrow:
        for k in range(first, last):
            a = read_i32(refs + 4 * k)
            if read_i64(address + 8 * a) == 0:
                v = values[k] if weighted else 1.0
                for p in range(pair_ptr[a], pair_ptr[a + 1]):
                    at = row + pair_label[p] * 8
                    write(at, read(at) + v * read(w + 8 * p))


@njit(cache=True, nogil=True)
def sum_rows(lo, hi, references, out):
    """out[r - lo] = Σ of the rows that item r (a token or a bundle) refers to, for r in lo..hi-1."""
    width, base = out.shape[1] * 8, out.ctypes.data
    for r in range(lo, hi):
        _sum_rows(r, references, base + (r - lo) * width, width)


@njit(cache=True, nogil=True, inline="always")
def _arrive(at, best, gap):
    """δ = s + best, and `best` by itself `gap` bytes further on."""
    store(at, load(at) + best)
    store(at + gap, best)


@njit(cache=True, nogil=True)
def _reach(weights):
    """Sort the targets: `free` ones may follow every label, the others only the sources that are listed for them.

    weights : float64[target, source]. Returns free : int64[F], the others : int64[L - F], source_ptr and sources (of
    the others), and the least and the most that each source adds to free targets, float64[2, L].
    """
    L = len(weights)
    free, bound = np.empty(L, np.int64), np.empty(L, np.int64)
    ptr, sources, extremes = np.zeros(L + 1, np.int64), np.empty(L * L, np.int64), np.empty((2, L))
    extremes[0], extremes[1] = np.inf, -np.inf
    n_free = n_bound = 0
    for j in range(L):
        infinite = False
        for i in range(L):
            infinite |= np.isinf(weights[j, i])
        if infinite:
            bound[n_bound], ptr[n_bound + 1] = j, ptr[n_bound]
            for i in range(L):
                if weights[j, i] > -np.inf:
                    sources[ptr[n_bound + 1]] = i
                    ptr[n_bound + 1] += 1
            n_bound += 1
            continue
        free[n_free] = j
        n_free += 1
        for i in range(L):
            extremes[0, i], extremes[1, i] = min(extremes[0, i], weights[j, i]), max(extremes[1, i], weights[j, i])
    return free[:n_free], bound[:n_bound], ptr[: n_bound + 1], sources[: ptr[n_bound]], extremes


@njit(cache=True, nogil=True, inline="always")
def _step(L, before, here, into, free, bound, source_ptr, sources, extremes, active, gap):
    """δ_t from δ_{t-1}; `here` holds s_t, `into` the transitions [target, source].

    A free target gets max_i δ(i) + least(i) at the least, so a source whose δ(i) + most(i) is below that in all lanes
    can be left out: usually most of them.
    """
    if len(free) > 0:
        threshold = splat(-np.inf)
        for i in range(L):
            threshold = maximum(load(before + i * VEC_BYTES) + splat(extremes[0, i]), threshold)
        n = 0
        for i in range(L):
            active[n] = i * 8
            # Also where the two are equal: rounding may hide most(i) - least(i), and this source set the threshold.
            if any_at_least(load(before + i * VEC_BYTES) + splat(extremes[1, i]), threshold):
                n += 1
    for f in range(0, len(free) - 3, 4):  # four targets at once, so that every source is loaded once for four
        j0, j1, j2, j3 = free[f], free[f + 1], free[f + 2], free[f + 3]
        w0, w1, w2, w3 = into + j0 * L * 8, into + j1 * L * 8, into + j2 * L * 8, into + j3 * L * 8
        b0 = b1 = b2 = b3 = splat(-np.inf)
        for k in range(n):
            i = active[k]
            d = load(before + i * LANES)
            b0 = maximum(d + splat(read(w0 + i)), b0)
            b1 = maximum(d + splat(read(w1 + i)), b1)
            b2 = maximum(d + splat(read(w2 + i)), b2)
            b3 = maximum(d + splat(read(w3 + i)), b3)
        _arrive(here + j0 * VEC_BYTES, b0, gap)
        _arrive(here + j1 * VEC_BYTES, b1, gap)
        _arrive(here + j2 * VEC_BYTES, b2, gap)
        _arrive(here + j3 * VEC_BYTES, b3, gap)
    for f in range(len(free) - len(free) % 4, len(free)):
        best, w = splat(-np.inf), into + free[f] * L * 8
        for k in range(n):
            best = maximum(load(before + active[k] * LANES) + splat(read(w + active[k])), best)
        _arrive(here + free[f] * VEC_BYTES, best, gap)
    for f in range(len(bound)):
        best, w = splat(-np.inf), into + bound[f] * L * 8
        for k in range(source_ptr[f], source_ptr[f + 1]):
            best = maximum(load(before + sources[k] * VEC_BYTES) + splat(read(w + sources[k] * 8)), best)
        _arrive(here + bound[f] * VEC_BYTES, best, gap)


@njit(cache=True, nogil=True)
def tag_lanes(lo, hi, order, indptr, references, start, end, weights, width, path, scores):
    """Best labels of groups lo..hi-1; sequences order[8 g .. 8 g + 7] are group g (-1: none), the longest one last.

    references : of each token. weights : float64[L, L], transitions by target and source; width : padded(L). Writes
    path : int16[M] and scores : float64[N] (-inf if no labelling is allowed). Ties go to the lowest label.
    """
    L = len(start)
    row_bytes, step = width * 8, width * VEC_BYTES
    longest = 0
    for k in range(LANES * lo, LANES * hi):
        if order[k] >= 0:
            longest = max(longest, indptr[order[k] + 1] - indptr[order[k]])
    gap = longest * step
    buffer = np.zeros((2 * longest + 1) * width * LANES + LANES)
    tile = (buffer.ctypes.data + 63) // 64 * 64
    d0 = tile + LANES * row_bytes
    shift = (d0 - buffer.ctypes.data) // 8
    into = weights.ctypes.data
    free, bound, source_ptr, sources, extremes = _reach(weights)
    active = np.zeros(L + 1, np.int64)
    first, length, label = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    for g in range(lo, hi):
        T = 0
        for lane in range(LANES):
            n = order[LANES * g + lane]
            first[lane] = indptr[n] if n >= 0 else 0
            length[lane] = indptr[n + 1] - indptr[n] if n >= 0 else 0
            T = max(T, length[lane])
        for t in range(T):
            for lane in range(LANES):
                if t < length[lane]:
                    _sum_rows(first[lane] + t, references, tile + lane * row_bytes, row_bytes)
            here = d0 + t * step
            for j in range(0, L, LANES):
                transpose(tile + j * 8, row_bytes, here + j * VEC_BYTES, VEC_BYTES)
            if t > 0:
                _step(L, here - step, here, into, free, bound, source_ptr, sources, extremes, active, gap)
                continue
            for j in range(L):
                store(here + j * VEC_BYTES, load(here + j * VEC_BYTES) + splat(start[j]))
        # The way back, all lanes in step: they are independent, so their loads overlap. The best predecessor is the
        # first whose sum is the maximum that was stored: the same operands, so the same bits.
        for t in range(T - 1, -1, -1):
            for lane in range(LANES):
                last = length[lane] - 1
                if t > last:
                    continue
                at = shift + t * width * LANES + lane
                y = 0
                if t < last:
                    after, best = weights[label[lane]], buffer[at + (width + label[lane]) * LANES + gap // 8]
                    while y < L - 1 and buffer[at + y * LANES] + after[y] != best:
                        y += 1
                else:
                    best = buffer[at] + end[0]
                    for i in range(1, L):
                        s = buffer[at + i * LANES] + end[i]
                        if s > best:
                            y, best = i, s
                    scores[order[LANES * g + lane]] = best
                label[lane] = y
                path[first[lane] + t] = y
    buffer[0] = 0.0  # a use after the last address into it: otherwise it would be freed before that

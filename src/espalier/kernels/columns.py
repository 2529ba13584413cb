"""Rows of numbers in CSR form: take rows, look numbers up, cross two rows, lay rows side by side, collect over tokens.

Row r holds ids[indptr[r]:indptr[r + 1]], all int64; `weights` lies beside ids, empty if every weight is one. What NumPy
does in ten passes over all entries is one here, or two where sizes have to be known first. `features.columns` has the
same operations in NumPy; the plain references of both are Python loops over lists, in
`tests/features/test_feature_columns.py`.
"""

from __future__ import annotations

from ctypes import addressof, c_char

import numpy as np

from espalier.kernels import njit
from espalier.kernels.vector import read, read_i64

__all__ = ["collect_beyond", "collect_within", "cross_rows", "lay", "locate", "map_numbers", "take_rows"]

BLOCK = 256
"""Rows that are laid at once."""

_AT = c_char * 0  # what lies at an address, of whatever size


@njit(cache=True, nogil=True)
def take_rows(indptr, ids, weights, index, outside):
    """Return the rows at `index`; a negative one has the number `outside`, or nothing if that is negative too."""
    lonely = 1 if outside >= 0 else 0
    borders = np.empty(len(index) + 1, np.int64)
    borders[0] = 0
    for r in range(len(index)):
        k = index[r]
        borders[r + 1] = borders[r] + (indptr[k + 1] - indptr[k] if k >= 0 else lonely)
    taken = np.empty(borders[-1], np.int64)
    values = np.empty(borders[-1] if len(weights) else 0)
    for r in range(len(index)):
        k, at = index[r], borders[r]
        if k < 0:
            if lonely:
                taken[at] = outside
                if len(weights):
                    values[at] = 1.0
            continue
        for e in range(indptr[k], indptr[k + 1]):
            taken[at] = ids[e]
            if len(weights):
                values[at] = weights[e]
            at += 1
    return borders, taken, values


@njit(cache=True, nogil=True)
def map_numbers(indptr, ids, weights, table):
    """Return the rows with table[number] for each number, without those that become negative."""
    borders, mapped, values = np.empty(len(indptr), np.int64), np.empty(len(ids), np.int64), np.empty(len(weights))
    borders[0], n = 0, 0
    for r in range(len(indptr) - 1):
        for e in range(indptr[r], indptr[r + 1]):
            number = table[ids[e]]
            mapped[n] = number  # written over unless it is kept
            if len(weights):
                values[n] = weights[e]
            n += number >= 0
        borders[r + 1] = n
    return borders, mapped[:n], values[:n]


@njit(cache=True, nogil=True)
def _place(number, keys, first, shift):
    """Return the place of a number in the sorted keys, -1 if it is not there; see `locate`."""
    bucket = number >> shift
    if bucket + 1 >= len(first):
        return -1
    low, high = first[bucket], first[bucket + 1]
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low if low < first[bucket + 1] and keys[low] == number else -1


@njit(cache=True, nogil=True)
def locate(indptr, ids, weights, keys, first, shift):
    """Return the rows with the place of each number in the sorted keys, without those that are not there.

    first : int64[B + 1]; the keys from first[b] to first[b + 1] - 1 are those with key >> shift == b.
    """
    borders, located, values = np.empty(len(indptr), np.int64), np.empty(len(ids), np.int64), np.empty(len(weights))
    borders[0], n = 0, 0
    for r in range(len(indptr) - 1):
        for e in range(indptr[r], indptr[r + 1]):
            place = _place(ids[e], keys, first, shift)
            if place >= 0:
                located[n] = place
                if len(weights):
                    values[n] = weights[e]
                n += 1
        borders[r + 1] = n
    return borders, located[:n], values[:n]


@njit(cache=True, nogil=True)
def cross_rows(indptr, ids, weights, other_indptr, other_ids, other_weights, index, outside, size, keys, first, shift):
    """Return every pair (i, j) of row r and the other's row index[r] as i * size + j; weights multiply.

    A negative index has the number `outside`, or nothing if that is negative too. keys, first, shift : as of `locate`,
    which then takes place at once; with a negative shift there is none.
    """
    lonely = 1 if outside >= 0 else 0
    size_of_all = 0
    for r in range(len(index)):
        k = index[r]
        size_of_all += (indptr[r + 1] - indptr[r]) * (other_indptr[k + 1] - other_indptr[k] if k >= 0 else lonely)
    weighted, other_weighted = len(weights) > 0, len(other_weights) > 0
    borders, crossed = np.empty(len(indptr), np.int64), np.empty(size_of_all, np.int64)
    values = np.empty(size_of_all if weighted or other_weighted else 0)
    borders[0], n = 0, 0
    for r in range(len(index)):
        k = index[r]
        begin, end = (other_indptr[k], other_indptr[k + 1]) if k >= 0 else (0, lonely)
        for e in range(indptr[r], indptr[r + 1]):
            for o in range(begin, end):
                number = ids[e] * size + (other_ids[o] if k >= 0 else outside)
                if shift >= 0:
                    number = _place(number, keys, first, shift)
                if number >= 0:
                    crossed[n] = number
                    if len(values):
                        own = weights[e] if weighted else 1.0
                        values[n] = own * (other_weights[o] if other_weighted and k >= 0 else 1.0)
                    n += 1
        borders[r + 1] = n
    return borders, crossed[:n], values[: n if len(values) else 0]


def lay(parts, n_rows, weighted):
    """Return rows that hold the numbers of all parts side by side: indptr, ids : int32, weights.

    parts : each indptr, ids, weights, index, shift, table; row r has table[number] of the numbers of row index[r],
    each plus the shift, without those that become negative; without a table the numbers themselves.
    """
    addresses = [
        [
            _data(indptr),
            _data(ids),
            _data(weights) if len(weights) else 0,
            _data(index),
            shift,
            0 if table is None else _data(table),
        ]
        for indptr, ids, weights, index, shift, table in parts
    ]
    given, indptr = np.array(addresses, np.int64).reshape(-1, 6), np.empty(n_rows + 1, np.int64)
    _count_rows(given, indptr)
    ids, weights = np.empty(indptr[-1], np.int32), np.empty(indptr[-1] if weighted else 0)
    _lay_rows(given, indptr, ids, weights)
    return indptr, ids, weights


def _data(array):
    """Return the address of an array that may be written to; `array.ctypes.data` takes three times as long."""
    return addressof(_AT.from_buffer(array))


@njit(cache=True, nogil=True)
def _count_rows(parts, borders):
    """borders[r + 1] = the numbers in rows 0..r of all parts, laid side by side; see `_lay_rows`."""
    borders[:] = 0
    for p in range(len(parts)):
        indptr, ids, index, table = parts[p, 0], parts[p, 1], parts[p, 3], parts[p, 5]
        for r in range(len(borders) - 1):
            k = read_i64(index + 8 * r)
            if k < 0:
                continue
            begin, end = read_i64(indptr + 8 * k), read_i64(indptr + 8 * k + 8)
            borders[r + 1] += end - begin
            if table:
                for e in range(begin, end):
                    borders[r + 1] -= read_i64(table + 8 * read_i64(ids + 8 * e)) < 0
    for r in range(len(borders) - 1):
        borders[r + 1] += borders[r]


@njit(cache=True, nogil=True)
def _lay_rows(parts, borders, laid, values):
    """Write the numbers of all parts: those of row index[r] of the first, each plus its shift, then of the second ...

    parts : int64[P, 6]; the addresses of indptr, ids, weights (0: all are one) and index, the shift, and the address of
    the table (0: none). A negative index has no numbers. laid : int32[borders[-1]]; values : float64 beside it, or
    empty. Some rows at a time, so that what is written for them stays near.
    """
    free = np.empty(BLOCK, np.int64)
    for first in range(0, len(borders) - 1, BLOCK):
        n = min(BLOCK, len(borders) - 1 - first)
        for r in range(n):
            free[r] = borders[first + r]
        for p in range(len(parts)):
            indptr, ids, weights = parts[p, 0], parts[p, 1], parts[p, 2]
            index, shift, table = parts[p, 3], parts[p, 4], parts[p, 5]
            for r in range(n):
                k = read_i64(index + 8 * (first + r))
                if k < 0:
                    continue
                at = free[r]
                for e in range(read_i64(indptr + 8 * k), read_i64(indptr + 8 * k + 8)):
                    number = read_i64(ids + 8 * e)
                    if table:
                        number = read_i64(table + 8 * number)
                        if number < 0:
                            continue
                    laid[at] = number + shift
                    if len(values):
                        values[at] = read(weights + 8 * e) if weights else 1.0
                    at += 1
                free[r] = at


@njit(cache=True, nogil=True)
def _add(met, n, number):
    """Put a number into met[:n], which rises, if it is not there; return how many there are now."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if met[middle] < number:
            low = middle + 1
        else:
            high = middle
    if low < n and met[low] == number:
        return n
    for k in range(n, low, -1):
        met[k] = met[k - 1]
    met[low] = number
    return n + 1


@njit(cache=True, nogil=True)
def collect_within(indptr, ids, rows, stretches):
    """Return, for each stretch, the numbers of row rows[t] for all its t, each once, in order; -1 has none.

    stretches : int64[U + 1], their borders.
    """
    borders, size = np.empty(len(stretches), np.int64), 0
    for t in range(len(rows)):
        size += indptr[rows[t] + 1] - indptr[rows[t]] if rows[t] >= 0 else 0
    collected = np.empty(size, np.int64)
    borders[0] = 0
    for u in range(len(stretches) - 1):
        own, n = collected[borders[u] :], 0
        for t in range(stretches[u], stretches[u + 1]):
            if rows[t] >= 0:
                for e in range(indptr[rows[t]], indptr[rows[t] + 1]):
                    n = _add(own, n, ids[e])
        borders[u + 1] = borders[u] + n
    return borders, collected[: borders[-1]]


@njit(cache=True, nogil=True)
def collect_beyond(indptr, ids, sequences, backwards):
    """Return, for each token, the numbers on any token before it in its sequence (or after it), each once, in order.

    indptr, ids : a row for each token; sequences : int64[N + 1], their borders.
    """
    borders = np.empty(len(indptr), np.int64)
    borders[0] = 0
    met = np.empty(len(ids), np.int64)
    collected = np.empty(0, np.int64)
    for fill in (False, True):
        if fill:
            for t in range(len(indptr) - 1):
                borders[t + 1] += borders[t]
            collected = np.empty(borders[-1], np.int64)
        for i in range(len(sequences) - 1):
            n = 0
            for step in range(sequences[i + 1] - sequences[i]):
                t = sequences[i + 1] - 1 - step if backwards else sequences[i] + step
                if fill:
                    for k in range(n):
                        collected[borders[t] + k] = met[k]
                else:
                    borders[t + 1] = n
                for e in range(indptr[t], indptr[t + 1]):
                    n = _add(met, n, ids[e])
    return borders, collected

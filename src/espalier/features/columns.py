"""The operations of `kernels.columns` in NumPy, for a process that has loaded no kernel.

One reference has a few dozen rows: passes over them take microseconds, and loading Numba takes longer than a hundred
references do. Arguments and answers are those of the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["collect_beyond", "collect_within", "cross_rows", "lay", "locate", "map_numbers", "take_rows"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Csr = tuple[Ints, Ints, Floats]


def take_rows(indptr: Ints, ids: Ints, weights: Floats, index: Ints, outside: int) -> Csr:
    """Return the rows at `index`; a negative one has the number `outside`, or nothing if that is negative too."""
    there = index >= 0
    starts = np.where(there, indptr[index], 0)
    lengths = np.where(there, indptr[index + 1] - starts, int(outside >= 0))
    entries, borders = _entries(starts, lengths)
    if outside < 0 or there.all():
        return borders, ids[entries], weights[entries] if len(weights) else weights
    lonely = np.repeat(~there, lengths)
    entries[lonely] = 0
    taken = np.where(lonely, outside, ids[entries] if len(ids) else 0)
    return borders, taken, np.where(lonely, 1.0, weights[entries]) if len(weights) else weights


def map_numbers(indptr: Ints, ids: Ints, weights: Floats, table: Ints) -> Csr:
    """Return the rows with table[number] for each number, without those that become negative."""
    return _kept(indptr, table[ids], weights)


def locate(indptr: Ints, ids: Ints, weights: Floats, keys: Ints, first: Ints, shift: int) -> Csr:
    """Return the rows with the place of each number in the sorted keys, without those that are not there."""
    if not len(keys):
        return _kept(indptr, np.full(len(ids), -1), weights)
    places = np.minimum(np.searchsorted(keys, ids), len(keys) - 1)
    return _kept(indptr, np.where(keys[places] == ids, places, -1), weights)


def cross_rows(
    indptr: Ints,
    ids: Ints,
    weights: Floats,
    other_indptr: Ints,
    other_ids: Ints,
    other_weights: Floats,
    index: Ints,
    outside: int,
    size: int,
    keys: Ints,
    first: Ints,
    shift: int,
) -> Csr:
    """Return every pair (i, j) of row r and the other's row index[r] as i * size + j, or its place in the keys."""
    other_indptr, other_ids, other_weights = take_rows(other_indptr, other_ids, other_weights, index, outside)
    several = np.repeat(np.diff(other_indptr), np.diff(indptr))
    own = np.repeat(np.arange(len(ids)), several)
    other, ends = _entries(np.repeat(other_indptr[:-1], np.diff(indptr)), several)
    values = np.zeros(0)
    if len(weights) or len(other_weights):
        left, right = (w[at] if len(w) else np.ones(len(at)) for w, at in ((weights, own), (other_weights, other)))
        values = left * right
    crossed = ends[indptr], ids[own] * size + other_ids[other], values
    return crossed if shift < 0 else locate(*crossed, keys, first, shift)


def lay(
    parts: Sequence[tuple[Ints, Ints, Floats, Ints, int, Ints | None]], n_rows: int, weighted: bool
) -> tuple[Ints, NDArray[np.int32], Floats]:
    """Return rows that hold the numbers of all parts side by side."""
    rows, laid, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for indptr, ids, weights, index, shift, table in parts:
        borders, taken, given = take_rows(indptr, ids, weights, index, -1)
        if table is not None:
            borders, taken, given = map_numbers(borders, taken, given, table)
        rows.append(np.repeat(np.arange(n_rows), np.diff(borders)))
        laid.append(taken + shift)
        if weighted:
            values.append(given if len(weights) else np.ones(len(taken)))
    row = np.concatenate(rows)
    order = np.argsort(row, kind="stable")
    together = np.concatenate(laid)[order].astype(np.int32)
    beside = np.concatenate(values)[order] if weighted else values[0]
    return _borders(np.bincount(row, minlength=n_rows)), together, beside


def collect_within(indptr: Ints, ids: Ints, rows: Ints, stretches: Ints) -> tuple[Ints, Ints]:
    """Return, for each stretch, the numbers of row rows[t] for all its t, each once, in order; -1 has none."""
    borders, taken, _ = take_rows(indptr, ids, np.zeros(0), rows, -1)
    ends, V = borders[stretches], int(taken.max(initial=0)) + 1
    keys = np.sort(np.repeat(np.arange(len(stretches) - 1), np.diff(ends)) * V + taken)
    found = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return _borders(np.bincount(found // V, minlength=len(stretches) - 1)), found % V


def collect_beyond(indptr: Ints, ids: Ints, sequences: Ints, backwards: bool) -> tuple[Ints, Ints]:
    """Return, for each token, the numbers on any token before it in its sequence (or after it), each once, in order."""
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    sequence = np.searchsorted(sequences, row, side="right") - 1
    order = np.lexsort((-row if backwards else row, ids, sequence))
    text, number, at = sequence[order], ids[order], row[order]
    begins = np.append(True, (text[1:] != text[:-1]) | (number[1:] != number[:-1]))[: len(order)]
    first, numbers, texts = at[begins], number[begins], text[begins]  # where each number is met first in each text
    starts, stops = (sequences[texts], first) if backwards else (first + 1, sequences[texts + 1])
    tokens, _ = _entries(starts, stops - starts)
    order = np.argsort(tokens, kind="stable")  # numbers of one token stay in order
    return _borders(np.bincount(tokens, minlength=len(indptr) - 1)), np.repeat(numbers, stops - starts)[order]


def _entries(starts: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Return start, start + 1 ... of each pair, laid end to end, and the borders of the pairs."""
    borders = _borders(lengths)
    return np.arange(borders[-1]) + np.repeat(starts - borders[:-1], lengths), borders


def _borders(lengths: NDArray[np.integer] | NDArray[np.bool_]) -> Ints:
    borders = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=borders[1:])
    return borders


def _kept(indptr: Ints, numbers: Ints, weights: Floats) -> Csr:
    """Return the rows without negative numbers."""
    keep = numbers >= 0
    return _borders(keep)[indptr], numbers[keep], weights[keep] if len(weights) else weights

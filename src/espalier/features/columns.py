"""`Column`: for every row (a word type or a token) the numbers that stand in it, in CSR form.

The whole of feature extraction is a few operations on columns: take rows, look numbers up in a locked list,
cross two columns, lay columns side by side. Each is a handful of NumPy calls over all rows at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Column", "cross", "frequent", "pile", "ranges", "stack"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """R rows of numbers.

    Attributes
    ----------
    indptr : int64[R + 1]; row r holds ids[indptr[r]:indptr[r + 1]].
    ids : int64[nnz], never negative; no number stands twice in a row.
    weights : float64[nnz] beside ids; None if every weight is one.
    """

    indptr: Ints
    ids: Ints
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of_one(cls, ids: NDArray[np.integer]) -> Column:
        """Make a column with one number a row, none where it is -1."""
        return cls(np.arange(len(ids) + 1), ids.astype(np.int64))._without_negatives()

    @property
    def n_rows(self) -> int:
        """R."""
        return len(self.indptr) - 1

    @property
    def lengths(self) -> Ints:
        """Numbers in each row, int64[R]."""
        return np.diff(self.indptr)

    def rows(self) -> Ints:
        """Return the row of each entry, int64[nnz]."""
        return np.repeat(np.arange(self.n_rows), self.lengths)

    def take(self, index: NDArray[np.integer], *, outside: int = -1) -> Column:
        """Return the rows at `index`; the row -1 holds the number `outside`, or nothing if that is negative."""
        lengths = np.append(self.lengths, int(outside >= 0))[index]
        ids = np.append(self.ids, outside) if outside >= 0 else self.ids  # the row -1 starts where the others end
        indptr = _indptr(lengths)
        entries = _entries(self.indptr[index], indptr, lengths)
        weights = None if self.weights is None else np.append(self.weights, 1.0)[entries]
        return Column(indptr, ids[entries], weights)

    def mapped(self, table: NDArray[np.integer]) -> Column:
        """Replace each number by table[number]; drop what becomes -1."""
        return Column(self.indptr, table[self.ids].astype(np.int64, copy=False), self.weights)._without_negatives()

    def located(self, keys: Ints) -> Column:
        """Replace each number by its place in the sorted `keys`; drop the numbers that are not there."""
        if len(keys) == 0 or len(self.ids) == 0:
            return Column(np.zeros(self.n_rows + 1, np.int64), np.zeros(0, np.int64))
        top = int(max(self.ids.max(), keys[-1]))
        if top == len(keys) - 1:  # every number up to the largest has its own place
            return self
        if _is_dense(top, len(self.ids) + len(keys)):
            table = np.full(top + 1, -1)
            table[keys] = np.arange(len(keys))
            return self.mapped(table)
        place = np.minimum(np.searchsorted(keys, self.ids), len(keys) - 1)
        found = np.where(keys[place] == self.ids, place, -1)
        return Column(self.indptr, found, self.weights)._without_negatives()

    def _without_negatives(self) -> Column:
        keep = self.ids >= 0
        if keep.all():
            return self
        weights = None if self.weights is None else self.weights[keep]
        return Column(np.append(0, np.cumsum(keep))[self.indptr], self.ids[keep], weights)


def frequent(column: Column, uses: Ints | None, min_count: int) -> Ints:
    """Return the numbers that occur at least `min_count` times, sorted; row r counts uses[r] times (None: once)."""
    if len(column.ids) == 0:
        return np.zeros(0, np.int64)
    weights = None if uses is None else uses[column.rows()]
    top = int(column.ids.max())
    if _is_dense(top, len(column.ids)):
        return np.flatnonzero(np.bincount(column.ids, weights) >= min_count)
    keys, inverse = np.unique(column.ids, return_inverse=True)
    kept: Ints = keys[np.bincount(inverse, weights) >= min_count]
    return kept


def cross(a: Column, b: Column, size: int) -> Column:
    """Return every pair (i of a, j of b) of a row as the number i * size + j; weights multiply. All j < size."""
    n_a, n_b = a.lengths, b.lengths
    lengths = n_a * n_b
    if a.weights is None and b.weights is None and n_a.max(initial=0) <= 1 and n_b.max(initial=0) <= 1:
        both = np.flatnonzero(lengths)
        return Column(_indptr(lengths), a.ids[a.indptr[both]] * size + b.ids[b.indptr[both]])
    row = np.repeat(np.arange(a.n_rows), lengths)
    nth = ranges(np.zeros(a.n_rows, np.int64), lengths)
    i = a.indptr[row] + nth // n_b[row]
    j = b.indptr[row] + nth % n_b[row]
    weights = None
    if a.weights is not None or b.weights is not None:
        weights = (1.0 if a.weights is None else a.weights[i]) * (1.0 if b.weights is None else b.weights[j])
    return Column(_indptr(lengths), a.ids[i] * size + b.ids[j], np.asarray(weights) if weights is not None else None)


def stack(columns: Sequence[Column], n_rows: int) -> Column:
    """Lay columns side by side: each row holds the numbers of all of them, in the order of the columns."""
    if len(columns) == 1:
        return columns[0]
    lengths = [column.lengths for column in columns]
    indptr = _indptr(sum(lengths, np.zeros(n_rows, np.int64)))
    ids = np.empty(indptr[-1], np.int64)
    weighted = any(c.weights is not None for c in columns)
    weights = np.ones(indptr[-1]) if weighted else None
    free = indptr[:-1].copy()
    for column, own in zip(columns, lengths, strict=True):
        entries = _entries(free, column.indptr, own)
        ids[entries] = column.ids
        if weights is not None and column.weights is not None:
            weights[entries] = column.weights
        free += own
    return Column(indptr, ids, weights)


def pile(columns: Sequence[Column]) -> Column:
    """Lay columns end to end: first all rows of the first, then all rows of the second ..."""
    lengths = np.concatenate([np.zeros(0, np.int64), *(c.lengths for c in columns)])
    ids = np.concatenate([np.zeros(0, np.int64), *(c.ids for c in columns)])
    if all(c.weights is None for c in columns):
        return Column(_indptr(lengths), ids)
    weights = np.concatenate([np.ones(len(c.ids)) if c.weights is None else c.weights for c in columns])
    return Column(_indptr(lengths), ids, weights)


def _indptr(lengths: Ints) -> Ints:
    """Return the borders of rows of these lengths."""
    indptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return indptr


def _entries(starts: Ints, indptr: Ints, lengths: Ints) -> Ints:
    """Return `ranges(starts, lengths)`, where the borders of rows of these lengths are known already."""
    entries = np.repeat(starts - indptr[:-1], lengths)
    entries += np.arange(len(entries))
    return entries


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return start, start + 1, ... start + length - 1 for each pair, laid end to end."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    if total == len(lengths) and (lengths == 1).all():
        return np.asarray(starts, np.int64)
    ranges: Ints = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return ranges


def _is_dense(top: int, n: int) -> bool:
    """Is a table of top + 1 places cheap beside n numbers?"""
    return top <= 8 * n + 1024

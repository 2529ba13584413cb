"""Score rows of a feature matrix: S = X W by the row kernels, bundles first, then tokens.

For training, where the matrix stays and the weights change: a `RowPlan` is made once for a matrix and a set of pairs;
scoring with new weights is then two sweeps of additions. For prediction, where the weights stay and matrices come and
go: `WeightRows` are laid out once for a model, and every matrix refers to them as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.features.matrix import FeatureMatrix
from espalier.kernels.plan import resolve_refs
from espalier.kernels.rows import fill_wide, padded, score_rows
from espalier.kernels.tagging import sum_rows
from espalier.kernels.vector import aligned
from espalier.models.pairs import Pairs
from espalier.parallel import balanced, independent_chunks, run_chunks

__all__ = ["MatrixRows", "RowPlan", "WeightRows", "rows_of_types"]

MOST_BYTES = 1 << 26
"""Of a table with a row for every attribute; a model with more keeps the weights of narrow ones as pairs."""

WORTH_A_BARRIER = 40_000
"""References added in less time than a second thread needs to wake up, and a good deal more."""

Refs = tuple[NDArray[Any], ...]
"""What `resolve_refs` returns."""


@dataclass(frozen=True, slots=True, eq=False)
class RowPlan:
    """How to add up the score rows of a matrix's bundles and tokens.

    row_of : int32[A + R], where each reference lies in the table; table : float64[n_wide + R, padded(L)], the wide
    attributes' weights, then the bundles' scores; bundles : what to add for each bundle.
    """

    matrix: FeatureMatrix
    pairs: Pairs
    row_of: NDArray[np.int32]
    table: NDArray[np.float64]
    bundles: Refs

    @classmethod
    def of(cls, matrix: FeatureMatrix, pairs: Pairs) -> RowPlan:
        """Lay out the table for a matrix."""
        if matrix.n_attributes != pairs.n_attributes and len(matrix.token_refs):  # nothing refers to nothing
            raise InputError(f"a matrix of {matrix.n_attributes} attributes, but weights for {pairs.n_attributes}")
        m, R, n_wide = matrix, matrix.n_bundles, pairs.n_wide
        row_of = np.concatenate([pairs.wide_row, np.arange(n_wide, n_wide + R, dtype=np.int32)])
        bundles = resolve_refs(np.arange(R), m.bundle_indptr, m.bundle_ids, m.bundle_values, row_of, pairs.ptr)
        return cls(matrix, pairs, row_of, aligned(n_wide + R, padded(pairs.n_labels)), bundles)

    def tokens(self, items: NDArray[np.int64]) -> Refs:
        """Resolve what to add for each of these tokens (-1: nothing)."""
        m = self.matrix
        refs: Refs = resolve_refs(items, m.token_indptr, m.token_refs, m.token_values, self.row_of, self.pairs.ptr)
        return refs

    def prepare(self, w: NDArray[np.float64], threads: int) -> None:
        """Bring the table up to date with the weights w: wide rows, then bundles."""
        pairs, table = self.pairs, self.table
        fill_wide(0, pairs.n_wide, pairs.wide_attribute, pairs.ptr, pairs.label, w, table)
        threads = threads if len(self.bundles[1]) > WORTH_A_BARRIER else 1
        chunks = balanced(self.bundles[0], independent_chunks(threads))

        def chunk(c: int) -> None:
            score_rows(*chunks[c], *self.bundles, pairs.ptr, pairs.label, w, table, table, pairs.n_wide)

        run_chunks(chunk, len(chunks), threads)

    def score(
        self, tokens: Refs, lo: int, hi: int, w: NDArray[np.float64], rows: NDArray[np.float64], first: int = 0
    ) -> None:
        """Write the score rows lo..hi-1 of resolved tokens (after `prepare`); rows[0] is that of token `first`."""
        score_rows(lo, hi, *tokens, self.pairs.ptr, self.pairs.label, w, self.table, rows, -first)


class MatrixRows(NamedTuple):
    """tokens : what the row kernels ask about the tokens of a matrix; tables : what the addresses in it point into."""

    tokens: tuple[NDArray[Any], ...]
    tables: tuple[NDArray[np.float64], ...]


def rows_of_types(scores: NDArray[np.float64], types: NDArray[np.integer[Any]]) -> MatrixRows:
    """Lay out one row for every word type, scores : float64[V, L]; token m has that of types[m]."""
    V, L = scores.shape
    table = aligned(V, padded(L))
    table[:, :L] = scores
    address = table.ctypes.data + 8 * table.shape[1] * np.arange(V)
    refs = (np.arange(len(types) + 1), types.astype(np.int32), np.zeros(0))
    no_weights = (np.zeros(1, np.int64), np.zeros(0, np.int16), np.zeros(0))
    return MatrixRows((*refs, address, *no_weights), (table,))


@dataclass(frozen=True, slots=True, eq=False)
class WeightRows:
    """The weights of a model as rows.

    table : float64[., padded(L)]; row_of : int64[A], the row of each attribute, -1 if it has none. Addresses are made
    when they are used: a copy of this, in another process say, has its table elsewhere.
    """

    pairs: Pairs
    w: NDArray[np.float64]
    table: NDArray[np.float64]
    row_of: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: Pairs, w: NDArray[np.float64]) -> WeightRows:
        """Give a row to every attribute with weights, or only to the wide ones if that is too much."""
        width = padded(pairs.n_labels)
        weighted = np.flatnonzero(np.diff(pairs.ptr)).astype(np.int32)
        chosen = weighted if len(weighted) * width * 8 <= MOST_BYTES else pairs.wide_attribute
        table = aligned(len(chosen) + 1, width)  # the last row, of zeros, is that of attributes without weights
        fill_wide(0, len(chosen), chosen, pairs.ptr, pairs.label, w, table)
        row_of = np.full(pairs.n_attributes, len(chosen))
        row_of[chosen] = np.arange(len(chosen))
        if len(chosen) < len(weighted):
            row_of[row_of == len(chosen)] = -1
        return cls(pairs, w, table, row_of)

    def of_matrix(self, matrix: FeatureMatrix, threads: int) -> MatrixRows:
        """Add up the rows of a matrix's bundles, and say where the rows of all its references lie."""
        if matrix.n_attributes != self.pairs.n_attributes and len(matrix.token_refs):  # nothing refers to nothing
            raise InputError(f"a matrix of {matrix.n_attributes} attributes, but weights for {self.pairs.n_attributes}")
        R, weights = matrix.n_bundles, (self.pairs.ptr, self.pairs.label, self.w)
        bundles, row_bytes = aligned(R, self.table.shape[1], empty=True), 8 * self.table.shape[1]
        address = np.where(self.row_of >= 0, self.table.ctypes.data + row_bytes * self.row_of, 0)
        chunks = balanced(matrix.bundle_indptr, independent_chunks(threads))

        def chunk(c: int) -> None:
            lo, hi = chunks[c]
            ids = (matrix.bundle_indptr, matrix.bundle_ids, matrix.bundle_values)
            sum_rows(lo, hi, *ids, address, *weights, bundles[lo:hi])

        run_chunks(chunk, len(chunks), threads if len(matrix.bundle_ids) > WORTH_A_BARRIER else 1)
        address = np.concatenate([address, bundles.ctypes.data + row_bytes * np.arange(R)])
        refs = (matrix.token_indptr, matrix.token_refs, matrix.token_values)
        return MatrixRows((*refs, address, *weights), (self.table, bundles))

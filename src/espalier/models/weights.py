"""Weights of (attribute, label) pairs: which there are, and the score rows of a feature matrix under them, S = X W.

`Pairs` is sparse, by attribute. Weights are one vector w; the pairs of attribute a are w[ptr[a]:ptr[a + 1]], their
labels label[ptr[a]:ptr[a + 1]]. Only pairs seen in training have a weight, as in CRFsuite: a table of all of them would
be ten times larger and no more accurate.

Rows are summed by the row kernels, bundles first, then tokens. For training, where the matrix stays and the weights
change: a `RowPlan` is made once for a matrix and a set of pairs; scoring with new weights is then two sweeps of
additions. For prediction, where the weights stay and matrices come and go: `WeightRows` are laid out once for a model,
and every matrix refers to them as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, ModelFileError
from espalier.features.matrix import FeatureMatrix
from espalier.kernels.layout import aligned, padded, worth_loading
from espalier.parallel import balanced, independent_chunks, run_chunks

__all__ = ["WORTH_A_BARRIER", "MatrixRows", "Pairs", "RowPlan", "WeightRows", "rows_of_types", "sum_of_few"]

MOST_BYTES = 1 << 26
"""Of a table with a row for every attribute; a model with more keeps the weights of narrow ones as pairs."""

WORTH_A_BARRIER = 40_000
"""References added in less time than a second thread needs to wake up, and a good deal more."""

Float = NDArray[np.float64]
Refs = tuple[NDArray[Any], ...]
"""What `resolve_refs` returns."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The weighted (attribute, label) pairs.

    n_labels : L; ptr : int64[A + 1]; label : int16[P].
    wide_row : int32[A], the row of a wide attribute in the dense table, -1 for narrow ones;
    wide_attribute : int32[n_wide], the attribute of each such row.
    """

    n_labels: int
    ptr: NDArray[np.int64]
    label: NDArray[np.int16]
    wide_row: NDArray[np.int32]
    wide_attribute: NDArray[np.int32]

    @classmethod
    def of(cls, n_labels: int, ptr: NDArray[np.int64], label: NDArray[np.int16]) -> Pairs:
        """Decide which attributes are wide: those whose weights cost more one by one than as a padded row."""
        vectors = padded(n_labels) // 8
        wide = 2 * np.diff(ptr) >= vectors + 3
        wide_row = np.where(wide, np.cumsum(wide) - 1, -1).astype(np.int32)
        return cls(n_labels, ptr, label, wide_row, np.flatnonzero(wide).astype(np.int32))

    @classmethod
    def checked(cls, n_labels: int, ptr: NDArray[Any], label: NDArray[Any]) -> Pairs:
        """Make pairs of arrays from a file: kernels follow them by address, so everything is looked at first."""
        good = ptr.ndim == 1 and label.ndim == 1 and ptr.dtype == np.int64 and label.dtype == np.int16 and len(ptr) > 0
        good = good and ptr[0] == 0 and ptr[-1] == len(label) and bool((np.diff(ptr) >= 0).all())
        if not good or (len(label) and not 0 <= label.min() <= label.max() < n_labels):
            raise ModelFileError("the (attribute, label) pairs do not fit together")
        return cls.of(n_labels, ptr, label)

    @classmethod
    def observed(cls, matrix: FeatureMatrix, y: NDArray[np.int16], n_labels: int) -> Pairs:
        """List the pairs that occur on labelled tokens."""
        from espalier.kernels.plan import count_pairs, expand_pairs, mark_pairs

        words = (n_labels + 63) // 64
        seen = np.zeros((matrix.n_attributes, words), np.uint64)
        bundle_seen = np.zeros((matrix.n_bundles, words), np.uint64)
        mark_pairs(
            matrix.token_indptr, matrix.token_refs, matrix.bundle_indptr, matrix.bundle_ids,
            matrix.n_attributes, y, seen, bundle_seen,
        )  # fmt: skip
        ptr = np.zeros(matrix.n_attributes + 1, np.int64)
        count_pairs(seen, ptr)
        label = np.empty(ptr[-1], np.int16)
        expand_pairs(seen, ptr, label)
        return cls.of(n_labels, ptr, label)

    def __len__(self) -> int:
        """Return P."""
        return len(self.label)

    @property
    def n_attributes(self) -> int:
        """A."""
        return len(self.ptr) - 1

    @property
    def n_wide(self) -> int:
        """Rows of the dense table."""
        return len(self.wide_attribute)

    def attributes(self) -> NDArray[np.int64]:
        """Return the attribute of every pair."""
        return np.repeat(np.arange(self.n_attributes), np.diff(self.ptr))

    def union(self, other: Pairs) -> Pairs:
        """Return the pairs of both, over the same attributes and labels."""
        L = self.n_labels
        keys = np.union1d(*(p.attributes() * L + p.label for p in (self, other)))
        ptr = np.searchsorted(keys, np.arange(self.n_attributes + 1) * L).astype(np.int64)
        return Pairs.of(L, ptr, (keys % L).astype(np.int16))

    def dense(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights as a table float64[A, L] (for people and tests; the kernels never need it)."""
        table = np.zeros((self.n_attributes, self.n_labels))
        table[self.attributes(), self.label] = w[: len(self)]
        return table


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
        from espalier.kernels.plan import resolve_refs

        _check_width(matrix, pairs)

        m, R, n_wide = matrix, matrix.n_bundles, pairs.n_wide
        row_of = np.concatenate([pairs.wide_row, np.arange(n_wide, n_wide + R, dtype=np.int32)])
        bundles = resolve_refs(np.arange(R), m.bundle_indptr, m.bundle_ids, m.bundle_values, row_of, pairs.ptr)
        return cls(matrix, pairs, row_of, aligned(n_wide + R, padded(pairs.n_labels)), bundles)

    def tokens(self, items: NDArray[np.int64]) -> Refs:
        """Resolve what to add for each of these tokens (-1: nothing)."""
        from espalier.kernels.plan import resolve_refs

        m = self.matrix
        refs: Refs = resolve_refs(items, m.token_indptr, m.token_refs, m.token_values, self.row_of, self.pairs.ptr)
        return refs

    def prepare(self, w: NDArray[np.float64], threads: int) -> None:
        """Bring the table up to date with the weights w: wide rows, then bundles."""
        from espalier.kernels.rows import fill_wide, score_rows

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
        from espalier.kernels.rows import score_rows

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


def sum_of_few(matrix: FeatureMatrix, pairs: Pairs, w: Float) -> Float:
    """Return the scores of a small matrix, float64[M, L]: weights added pair by pair, without any table."""
    _check_width(matrix, pairs)
    if not worth_loading(matrix.n_tokens):
        return _sum_without_kernels(matrix, pairs, w)
    from espalier.kernels.single import sum_pairs

    m, unary = matrix, np.zeros((matrix.n_tokens, pairs.n_labels))
    tokens, bundles = (m.token_indptr, m.token_refs, m.token_values), (m.bundle_indptr, m.bundle_ids, m.bundle_values)
    sum_pairs(*tokens, *bundles, m.n_attributes, pairs.ptr, pairs.label, w, unary)
    return unary


def _sum_without_kernels(matrix: FeatureMatrix, pairs: Pairs, w: Float) -> Float:
    A, L, R, M = matrix.n_attributes, pairs.n_labels, matrix.n_bundles, matrix.n_tokens
    refs = np.concatenate([matrix.bundle_ids, matrix.token_refs])
    sizes = np.concatenate([np.diff(matrix.bundle_indptr), np.diff(matrix.token_indptr)])
    row = np.repeat(np.arange(R + M), sizes)
    given = None
    if len(matrix.bundle_values) or len(matrix.token_values):
        levels = (matrix.bundle_values, len(matrix.bundle_ids)), (matrix.token_values, len(matrix.token_refs))
        given = np.concatenate([values if len(values) else np.ones(n) for values, n in levels])
    bundled = refs >= A
    own = np.flatnonzero(~bundled)
    first = pairs.ptr[refs[own]]
    several = pairs.ptr[refs[own] + 1] - first
    ends = np.cumsum(several)
    pair = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - (ends - several), several)
    weights = w[pair] if given is None else w[pair] * np.repeat(given[own], several)
    table = np.bincount(np.repeat(row[own] * L, several) + pairs.label[pair], weights, (R + M) * L).reshape(R + M, L)
    unary, to = table[R:], np.flatnonzero(bundled)
    if len(to):
        token = row[to] - R
        begins = np.flatnonzero(np.append(True, token[1:] != token[:-1]))
        added = table[refs[to] - A] if given is None else table[refs[to] - A] * given[to, None]
        unary[token[begins]] += np.add.reduceat(added, begins, axis=0)
    return np.ascontiguousarray(unary)


def _check_width(matrix: FeatureMatrix, pairs: Pairs) -> None:
    if matrix.n_attributes != pairs.n_attributes and len(matrix.token_refs):  # nothing refers to nothing
        raise InputError(f"a matrix of {matrix.n_attributes} attributes, but weights for {pairs.n_attributes}")


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
        from espalier.kernels.rows import fill_wide

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
        from espalier.kernels.tagging import sum_rows

        _check_width(matrix, self.pairs)

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

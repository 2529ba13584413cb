"""Linear models: sparse weights of (attribute, label) pairs, and the chain that they make with transitions.

`Pairs` is sparse, by attribute. Weights are one vector w; the pairs of attribute a are w[ptr[a]:ptr[a + 1]], their
labels label[ptr[a]:ptr[a + 1]]. Only pairs seen in training have a weight, as in CRFsuite: a table of all of them would
be ten times larger and no more accurate. Chains and segments share it.

The score rows of a feature matrix, S = X W, are summed by the row kernels, bundles first, then tokens. For training,
where the matrix stays and the weights change: a `RowPlan` is made once for a matrix and a set of pairs; scoring with
new weights is then two sweeps of additions. For prediction, where the weights stay and matrices come and go:
`WeightRows` are laid out once for a model, and every matrix refers to them as it is.

    unary[t, l] = Σ_{a of token t} value(t, a) w(a, l)        trans, start: weights, or -inf where forbidden

is a `ChainModel`. Perceptron and CRF share it; they differ in how the weights are found. `moved` and `carried` bring
weights from one set of attributes and labels to another, by their names: what a warm start or a prior begins from.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, ModelFileError
from espalier.features.matrix import FeatureMatrix
from espalier.kernels import References, SplitRefs, aligned, padded, worth_loading
from espalier.lanes import MatrixRows, tag_rows
from espalier.parallel import balanced, choose_threads, independent_chunks, run_chunks
from espalier.potentials import ChainBatch

__all__ = [
    "WORTH_A_BARRIER",
    "ChainModel",
    "Pairs",
    "RowPlan",
    "WeightRows",
    "carried",
    "moved",
]

MOST_BYTES = 1 << 26
"""Of a table with a row for every attribute; a model with more keeps the weights of narrow ones as pairs."""

WORTH_A_BARRIER = 40_000
"""References added in less time than a second thread needs to wake up, and a good deal more."""

TOKENS_A_CHUNK = 4096

Float = NDArray[np.float64]


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
        from espalier.kernels.rows import count_pairs, expand_pairs, mark_pairs

        words = (n_labels + 63) // 64
        seen = np.zeros((matrix.n_attributes, words), np.uint64)
        bundle_seen = np.zeros((matrix.n_bundles, words), np.uint64)
        mark_pairs(matrix.levels, y, seen, bundle_seen)
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
    bundles: SplitRefs

    @classmethod
    def of(cls, matrix: FeatureMatrix, pairs: Pairs) -> RowPlan:
        """Lay out the table for a matrix."""
        from espalier.kernels.rows import resolve_refs

        _check_width(matrix, pairs)

        m, R, n_wide = matrix, matrix.n_bundles, pairs.n_wide
        row_of = np.concatenate([pairs.wide_row, np.arange(n_wide, n_wide + R, dtype=np.int32)])
        bundles = resolve_refs(np.arange(R), m.bundle_indptr, m.bundle_ids, m.bundle_values, row_of, pairs.ptr)
        return cls(matrix, pairs, row_of, aligned(n_wide + R, padded(pairs.n_labels)), bundles)

    def tokens(self, items: NDArray[np.int64]) -> SplitRefs:
        """Resolve what to add for each of these tokens (-1: nothing)."""
        from espalier.kernels.rows import resolve_refs

        m = self.matrix
        refs: SplitRefs = resolve_refs(items, m.token_indptr, m.token_refs, m.token_values, self.row_of, self.pairs.ptr)
        return refs

    def prepare(self, w: NDArray[np.float64], threads: int) -> None:
        """Bring the table up to date with the weights w: wide rows, then bundles."""
        from espalier.kernels.rows import fill_wide, score_rows

        pairs, table = self.pairs, self.table
        fill_wide(0, pairs.n_wide, pairs.wide_attribute, pairs.ptr, pairs.label, w, table)
        threads = threads if len(self.bundles[1]) > WORTH_A_BARRIER else 1
        chunks = balanced(self.bundles[0], independent_chunks(threads))

        def chunk(c: int) -> None:
            score_rows(*chunks[c], self.bundles, pairs.ptr, pairs.label, w, table, table, pairs.n_wide)

        run_chunks(chunk, len(chunks), threads)

    def score(
        self, tokens: SplitRefs, lo: int, hi: int, w: NDArray[np.float64], rows: NDArray[np.float64], first: int = 0
    ) -> None:
        """Write the score rows lo..hi-1 of resolved tokens (after `prepare`); rows[0] is that of token `first`."""
        from espalier.kernels.rows import score_rows

        score_rows(lo, hi, tokens, self.pairs.ptr, self.pairs.label, w, self.table, rows, -first)


def _sum_without_kernels(matrix: FeatureMatrix, pairs: Pairs, w: Float) -> Float:
    """Return the scores of a matrix, float64[M, L]: weights added pair by pair, without any table."""
    _check_width(matrix, pairs)
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

    table : float64[., padded(L)]; row_of : int64[A], the row of each attribute, -1 if it has none.
    """

    pairs: Pairs
    w: NDArray[np.float64]
    table: NDArray[np.float64]
    row_of: NDArray[np.int64]
    _latest: list[tuple[int, NDArray[np.int64]]] = field(init=False, repr=False, default_factory=list)

    @property
    def address(self) -> NDArray[np.int64]:
        """Where the row of each attribute lies, int64[A], 0 if it has none.

        A copy of this, in another process say, has its table elsewhere.
        """
        table = self.table.ctypes.data
        if not self._latest or self._latest[0][0] != table:
            self._latest[:] = [(table, np.where(self.row_of >= 0, table + 8 * self.table.shape[1] * self.row_of, 0))]
        return self._latest[0][1]

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

        R, weights, address = matrix.n_bundles, (self.pairs.ptr, self.pairs.label, self.w), self.address
        refs = (matrix.token_indptr, matrix.token_refs, matrix.token_values)
        if not R:
            return MatrixRows(References(*refs, address, *weights), (self.table,))
        bundles = aligned(R, self.table.shape[1], empty=True)
        chunks = balanced(matrix.bundle_indptr, independent_chunks(threads))
        inner = References(matrix.bundle_indptr, matrix.bundle_ids, matrix.bundle_values, address, *weights)

        def chunk(c: int) -> None:
            lo, hi = chunks[c]
            sum_rows(lo, hi, inner, bundles[lo:hi])

        run_chunks(chunk, len(chunks), threads if len(matrix.bundle_ids) > WORTH_A_BARRIER else 1)
        address = np.concatenate([address, bundles.ctypes.data + 8 * bundles.shape[1] * np.arange(R)])
        return MatrixRows(References(*refs, address, *weights), (self.table, bundles))


@dataclass(frozen=True, slots=True, eq=False)
class ChainModel:
    """Weights of a chain.

    pairs, w : the weighted (attribute, label) pairs and float64[P]; trans : float64[L, L]; start, end : float64[L].
    """

    pairs: Pairs
    w: NDArray[np.float64]
    trans: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    _weight_rows: list[WeightRows] = field(init=False, repr=False, default_factory=list)

    @classmethod
    def checked(cls, pairs: Pairs, w: Any, trans: Any, start: Any, end: Any) -> ChainModel:
        """Make a model of arrays from a file, if they fit together."""
        L = pairs.n_labels
        shapes = {"w": (w, (len(pairs),)), "trans": (trans, (L, L)), "start": (start, (L,)), "end": (end, (L,))}
        for name, (array, shape) in shapes.items():
            if array.shape != shape or array.dtype != np.float64:
                raise ModelFileError(f"{name} is {array.dtype}{array.shape}, expected float64{shape}")
        return cls(pairs, w, trans, start, end)

    @property
    def n_labels(self) -> int:
        """L."""
        return len(self.start)

    def potentials(self, matrix: FeatureMatrix, indptr: NDArray[np.int64], threads: int | None = None) -> ChainBatch:
        """Return the potentials of a corpus."""
        M = matrix.n_tokens
        unary = self._scores(matrix, threads) if worth_loading(M) else _sum_without_kernels(matrix, self.pairs, self.w)
        return ChainBatch(indptr, unary, self.trans[None], np.zeros(M, np.int32), self.start, self.end)

    def _scores(self, matrix: FeatureMatrix, threads: int | None) -> Float:
        """Return the scores of every token, float64[M, L]."""
        from espalier.kernels.tagging import sum_rows

        M, L = matrix.n_tokens, self.n_labels
        threads = choose_threads(M, threads)
        rows = self._rows(matrix, threads)
        unary = np.empty((M, L))
        chunks = balanced(np.arange(M + 1), max(M // TOKENS_A_CHUNK, 1))

        def chunk(c: int) -> None:
            lo, hi = chunks[c]
            scores = aligned(hi - lo, padded(L), empty=True)
            sum_rows(lo, hi, rows.tokens, scores)
            unary[lo:hi] = scores[:, :L]

        run_chunks(chunk, len(chunks), threads)
        return unary

    def tag(
        self, matrix: FeatureMatrix, indptr: NDArray[np.int64], threads: int | None = None
    ) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
        """Return the best labels, int16[M], and each sequence's score, float64[N]: scoring and Viterbi in lanes."""
        threads = choose_threads(matrix.n_tokens, threads)
        rows = self._rows(matrix, threads)
        return tag_rows(indptr, rows, self.trans, self.start, self.end, threads)

    def _rows(self, matrix: FeatureMatrix, threads: int) -> MatrixRows:
        """Return where the rows of this matrix lie; those of the weights are laid out once."""
        if not self._weight_rows:
            self._weight_rows.append(WeightRows.of(self.pairs, self.w))
        return self._weight_rows[0].of_matrix(matrix, threads)


def moved(
    model: ChainModel,
    names: tuple[Sequence[Hashable], Sequence[str]],
    new_names: tuple[Sequence[Hashable], Sequence[str]],
) -> ChainModel:
    """Return the model over other attributes and labels; what has no counterpart is left out, what is new weighs 0.

    names, new_names : the attribute names and the label names, before and after.
    """
    attribute, label = (_places(*both) for both in zip(names, new_names, strict=True))
    A, L = map(len, new_names)
    a, y = attribute[model.pairs.attributes()], label[model.pairs.label]
    kept = np.flatnonzero((a >= 0) & (y >= 0))
    kept = kept[np.lexsort((y[kept], a[kept]))]
    ptr = np.append(0, np.cumsum(np.bincount(a[kept], minlength=A)))
    common = np.flatnonzero(label >= 0)
    trans, start, end = np.zeros((L, L)), np.zeros(L), np.zeros(L)
    trans[np.ix_(label[common], label[common])] = _finite(model.trans[np.ix_(common, common)])
    start[label[common]], end[label[common]] = _finite(model.start[common]), _finite(model.end[common])
    return ChainModel(Pairs.of(L, ptr, y[kept].astype(np.int16)), model.w[kept], trans, start, end)


def carried(model: ChainModel, group: NDArray[np.int64], pairs: Pairs) -> Float:
    """Return the weights of `pairs`, float64[P], whose attribute g stands for all a with group[a] = g: their sums."""
    L = pairs.n_labels
    keys = pairs.attributes() * L + pairs.label  # they rise: pairs are sorted by attribute and label
    asked = group[model.pairs.attributes()] * L + model.pairs.label
    place = np.minimum(np.searchsorted(keys, asked), max(len(keys) - 1, 0))
    found = np.flatnonzero(keys[place] == asked) if len(keys) else np.zeros(0, np.int64)
    return np.bincount(place[found], model.w[found], len(keys)).astype(np.float64)


def _places(names: Sequence[Hashable], new_names: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return where each name stands among the new ones, int64[n]; -1 for those that do not."""
    if names is new_names:
        return np.arange(len(names))
    place = {name: k for k, name in enumerate(new_names)}
    return np.fromiter((place.get(name, -1) for name in names), np.int64, len(names))


def _finite(scores: Float) -> Float:
    """Return zeros where a score forbids: what is allowed is decided anew."""
    return np.where(np.isfinite(scores), scores, 0.0)

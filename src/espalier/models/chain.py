"""A linear chain model: sparse weights and transitions make potentials, labels and feature counts.

    unary[t, l] = Σ_{a of token t} value(t, a) w(a, l)        trans, start: weights, or -inf where forbidden

Perceptron and CRF share it; they differ in how the weights are found. `moved` and `carried` bring weights from one set
of attributes and labels to another, by their names: what a warm start or a prior begins from.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InfeasibleError, ModelFileError, Place
from espalier.features.matrix import FeatureMatrix
from espalier.features.single import SingleIndex
from espalier.inference import viterbi
from espalier.kernels.layout import LANES, aligned, padded, worth_loading
from espalier.models.weights import MatrixRows, Pairs, WeightRows, sum_of_few
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.potentials import ChainBatch, Potentials

if TYPE_CHECKING:
    from espalier.models.single import SingleScores

__all__ = ["ChainModel", "carried", "moved", "tag_rows"]

Float = NDArray[np.float64]

FEW, FEW_REFS = 512, 16_384
"""Tokens and references of a matrix so small that loading kernels for it would take longer than scoring it."""

TOKENS_A_CHUNK = 4096
LONGEST_IN_LANES = 16_384
"""Tokens of a sequence: a longer one is tagged by itself, because lanes beside it would be as long, and empty."""


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
    _single: list[SingleScores] = field(init=False, repr=False, default_factory=list)

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
        M, L = matrix.n_tokens, self.n_labels
        if M <= FEW and len(matrix.bundle_ids) + len(matrix.token_refs) <= FEW_REFS:
            unary = sum_of_few(matrix, self.pairs, self.w)
            return ChainBatch(indptr, unary, self.trans[None], np.zeros(M, np.int32), self.start, self.end)
        from espalier.kernels.tagging import sum_rows

        threads = choose_threads(M, threads)
        rows = self._rows(matrix, threads)
        unary = np.empty((M, L))
        chunks = balanced(np.arange(M + 1), max(M // TOKENS_A_CHUNK, 1))

        def chunk(c: int) -> None:
            lo, hi = chunks[c]
            scores = aligned(hi - lo, padded(L), empty=True)
            sum_rows(lo, hi, *rows.tokens, scores)
            unary[lo:hi] = scores[:, :L]

        run_chunks(chunk, len(chunks), threads)
        return ChainBatch(indptr, unary, self.trans[None], np.zeros(M, np.int32), self.start, self.end)

    def potentials_of_text(self, index: SingleIndex, corpus: Corpus) -> ChainBatch:
        """Return the potentials of a corpus of one short sequence, whose attributes the index knows."""
        if not worth_loading(corpus.n_tokens) or index.program is None:
            return self.potentials(index.transform(corpus), corpus.indptr)
        from espalier.models.single import SingleScores

        if not self._single or self._single[0].index is not index:
            self._single[:] = [SingleScores(index, index.program, self.pairs, self.w)]
        unary = self._single[0](corpus)
        return ChainBatch(corpus.indptr, unary, self.trans[None], np.zeros(len(unary), np.int32), self.start, self.end)

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


def tag_rows(
    indptr: NDArray[np.int64], rows: MatrixRows, trans: Float, start: Float, end: Float, threads: int
) -> tuple[NDArray[np.int16], Float]:
    """Return the best labels, int16[M], and each sequence's score, float64[N], where scores are sums of rows."""
    from espalier.kernels.tagging import sum_rows, tag_lanes

    order, steps = _by_length(indptr)
    M = int(indptr[-1])
    path, scores = np.empty(M, np.int16), np.zeros(len(indptr) - 1)
    into, width = np.ascontiguousarray(trans.T), padded(len(start))
    chunks = balanced(steps, max(M // TOKENS_A_CHUNK, 1))

    def chunk(c: int) -> None:
        tag_lanes(*chunks[c], order, indptr, *rows.tokens, start, end, into, width, path, scores)

    run_chunks(chunk, len(chunks), threads)
    for i in np.flatnonzero(np.diff(indptr) > LONGEST_IN_LANES).tolist():
        lo, hi = int(indptr[i]), int(indptr[i + 1])
        unary = aligned(hi - lo, width, empty=True)
        sum_rows(lo, hi, *rows.tokens, unary)
        found = viterbi(Potentials(unary[:, : len(start)], trans, start, end), threads=1, allow_infeasible=True)
        path[lo:hi], scores[i] = found.labels, found.scores[0]
    if np.isneginf(scores).any():
        i = int(np.flatnonzero(np.isneginf(scores))[0])
        raise InfeasibleError(Place(i), " has no labelling with a finite score")
    return path, scores


def _by_length(indptr: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Put sequences of similar length together, eight to a group; empty and long ones are left out, -1 fills the last.

    Returns order : int64[8 G], and steps : int64[G + 1], the sums of the groups' lengths.
    """
    lengths = np.diff(indptr)
    order = np.argsort(lengths, kind="stable")
    order = order[slice(*np.searchsorted(lengths[order], (1, LONGEST_IN_LANES + 1)))]
    n_groups = -(-len(order) // LANES)
    longest = lengths[order[np.minimum(LANES * np.arange(1, n_groups + 1), len(order)) - 1]]
    order = np.concatenate([order, np.full(LANES * n_groups - len(order), -1)])
    return order, np.concatenate([[0], np.cumsum(longest)])


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

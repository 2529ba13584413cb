"""A linear chain model: sparse weights and transitions make potentials, labels and feature counts.

    unary[t, l] = Σ_{a of token t} value(t, a) w(a, l)        trans, start: weights, or -inf where forbidden

Perceptron and CRF share it; they differ in how the weights are found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InfeasibleError, ModelFileError, Place
from espalier.features.matrix import FeatureMatrix
from espalier.inference import viterbi
from espalier.kernels.layout import LANES, aligned, padded
from espalier.models.pairs import Pairs
from espalier.models.rows import MatrixRows, WeightRows, sum_of_few
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.potentials import ChainBatch, Potentials

__all__ = ["ChainModel", "tag_rows"]

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

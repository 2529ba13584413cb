"""A linear chain model: sparse weights and transitions make potentials, labels and feature counts.

    unary[t, l] = Σ_{a of token t} value(t, a) w(a, l)        trans, start: weights, or -inf where forbidden

Perceptron and CRF share it; they differ in how the weights are found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InfeasibleError, ModelFileError
from espalier.features.matrix import FeatureMatrix
from espalier.kernels.lanes import viterbi_lanes
from espalier.kernels.rows import padded
from espalier.kernels.vector import LANES, aligned
from espalier.lanes import Lanes
from espalier.models.pairs import Pairs
from espalier.models.rows import RowPlan
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.potentials import ChainBatch

__all__ = ["ChainModel", "decode_rows"]

TOKENS_A_CHUNK = 4096


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
        threads = choose_threads(M, threads)
        plan = RowPlan.of(matrix, self.pairs)
        plan.prepare(self.w, threads)
        unary = np.empty((M, L))
        chunks = balanced(np.arange(M + 1), max(M // TOKENS_A_CHUNK, 1))

        def chunk(c: int) -> None:
            lo, hi = chunks[c]
            rows = aligned(hi - lo, padded(L), empty=True)
            plan.score(plan.tokens(np.arange(lo, hi)), 0, hi - lo, self.w, rows)
            unary[lo:hi] = rows[:, :L]

        run_chunks(chunk, len(chunks), threads)
        return ChainBatch(indptr, unary, self.trans[None], np.zeros(M, np.int32), self.start, self.end)

    def tag(
        self, matrix: FeatureMatrix, indptr: NDArray[np.int64], threads: int | None = None
    ) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
        """Return the best labels, int16[M], and each sequence's score, float64[N]: scoring and Viterbi in lanes."""
        threads = choose_threads(matrix.n_tokens, threads)
        lanes = Lanes.of(indptr)
        plan = RowPlan.of(matrix, self.pairs)
        plan.prepare(self.w, threads)

        def score(lo: int, hi: int, rows: NDArray[np.float64]) -> None:
            plan.score(plan.tokens(lanes.token_of_row[lo:hi]), 0, hi - lo, self.w, rows)

        return decode_rows(indptr, lanes, score, self.trans, self.start, self.end, threads)


def decode_rows(
    indptr: NDArray[np.int64],
    lanes: Lanes,
    score: Callable[[int, int, NDArray[np.float64]], None],
    trans: NDArray[np.float64],
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    threads: int,
) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
    """Return the best labels, int16[M], and each sequence's score, float64[N], by Viterbi in lanes.

    `score(lo, hi, rows)` writes the score rows lo..hi-1 of `lanes` into rows : float64[hi - lo, padded(L)], chunk by
    chunk: they are still in the cache when they are decoded, and the next chunk uses their memory again.
    """
    path = np.empty(lanes.n_rows, np.int16)
    lane_scores = np.zeros(len(lanes.lengths))
    chunks = balanced(lanes.group_ptr, max(int(indptr[-1]) // TOKENS_A_CHUNK, 1))

    def chunk(c: int) -> None:
        lo, hi = chunks[c]
        first, last = LANES * int(lanes.group_ptr[lo]), LANES * int(lanes.group_ptr[hi])
        rows = aligned(last - first, padded(len(start)), empty=True)
        score(first, last, rows)
        viterbi_lanes(lo, hi, lanes.group_ptr, lanes.lengths, start, end, trans, rows, path, lane_scores)

    run_chunks(chunk, len(chunks), threads)
    scores = np.zeros(len(indptr) - 1)
    used = lanes.sequence >= 0
    scores[lanes.sequence[used]] = lane_scores[used]
    if np.isneginf(scores).any():
        i = int(np.flatnonzero(np.isneginf(scores))[0])
        raise InfeasibleError(f"sequence {i} has no labelling with a finite score")
    return path[lanes.row_of_token], scores

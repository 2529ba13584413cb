"""Score rows of a feature matrix: S = X W by the row kernels, bundles first, then tokens.

A plan is made once for a matrix and a set of pairs; scoring with new weights is then two sweeps of additions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.features.matrix import FeatureMatrix
from espalier.kernels.plan import split_refs
from espalier.kernels.rows import fill_wide, padded, score_rows
from espalier.kernels.vector import aligned
from espalier.models.pairs import Pairs
from espalier.parallel import balanced, run_chunks

__all__ = ["RowPlan"]

_CHUNKS = 8

Refs = tuple[NDArray[Any], ...]
"""dense_ptr, dense_refs, dense_values, narrow_ptr, narrow_refs, narrow_values."""


@dataclass(frozen=True, slots=True, eq=False)
class RowPlan:
    """How to add up the score rows of a matrix's bundles and tokens.

    table : float64[n_wide + R, padded(L)]; the wide attributes' weights, then the bundles' scores.
    """

    pairs: Pairs
    tokens: Refs
    bundles: Refs
    bundle_chunks: list[tuple[int, int]]
    table: NDArray[np.float64]

    @classmethod
    def of(cls, matrix: FeatureMatrix, pairs: Pairs, token_of_row: NDArray[np.int64] | None = None) -> RowPlan:
        """Plan the rows of a matrix, in token order or in the order of `token_of_row` (-1: an empty row)."""
        A, R = matrix.n_attributes, matrix.n_bundles
        common = (A, pairs.wide_row, pairs.n_wide, pairs.ptr)
        rows = np.arange(matrix.n_tokens) if token_of_row is None else token_of_row
        tokens = split_refs(rows, matrix.token_indptr, matrix.token_refs, matrix.token_values, *common)
        bundles = split_refs(np.arange(R), matrix.bundle_indptr, matrix.bundle_ids, matrix.bundle_values, *common)
        table = aligned(pairs.n_wide + R, padded(pairs.n_labels))
        return cls(pairs, tokens, bundles, balanced(matrix.bundle_indptr, _CHUNKS), table)

    def prepare(self, w: NDArray[np.float64], threads: int) -> None:
        """Bring the table up to date with the weights w: wide rows, then bundles."""
        pairs, table = self.pairs, self.table
        fill_wide(0, pairs.n_wide, pairs.wide_attribute, pairs.ptr, pairs.label, w, table)

        def chunk(c: int) -> None:
            lo, hi = self.bundle_chunks[c]
            score_rows(lo, hi, *self.bundles, pairs.ptr, pairs.label, w, table, table, pairs.n_wide)

        run_chunks(chunk, len(self.bundle_chunks), threads)

    def score(self, lo: int, hi: int, w: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
        """Write the score rows lo..hi-1 (after `prepare`)."""
        score_rows(lo, hi, *self.tokens, self.pairs.ptr, self.pairs.label, w, self.table, rows, 0)

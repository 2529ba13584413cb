"""Score rows of a feature matrix: S = X W by the row kernels, bundles first, then tokens.

A plan is made once for a matrix and a set of pairs; scoring with new weights is then two sweeps of additions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.features.matrix import FeatureMatrix
from espalier.kernels.rows import fill_wide, padded, score_rows
from espalier.kernels.vector import aligned
from espalier.models.pairs import Pairs
from espalier.parallel import balanced, run_chunks

__all__ = ["RowPlan"]

_CHUNKS = 8


@dataclass(frozen=True, slots=True, eq=False)
class RowPlan:
    """How to add up the score rows of a matrix's bundles and tokens.

    items : int64[n_rows], the token behind each row; row_of : int32[A + R], where each reference lies in the table;
    table : float64[n_wide + R, padded(L)]; the wide attributes' weights, then the bundles' scores.
    """

    matrix: FeatureMatrix
    pairs: Pairs
    items: NDArray[np.int64]
    row_of: NDArray[np.int32]
    bundle_chunks: list[tuple[int, int]]
    table: NDArray[np.float64]

    @classmethod
    def of(cls, matrix: FeatureMatrix, pairs: Pairs, items: NDArray[np.int64] | None = None) -> RowPlan:
        """Plan the rows of a matrix, in the order of its tokens or of `items` (-1: an empty row)."""
        R, n_wide = matrix.n_bundles, pairs.n_wide
        items = np.arange(matrix.n_tokens) if items is None else items
        row_of = np.concatenate([pairs.wide_row, np.arange(n_wide, n_wide + R, dtype=np.int32)])
        table = aligned(n_wide + R, padded(pairs.n_labels))
        return cls(matrix, pairs, items, row_of, balanced(matrix.bundle_indptr, _CHUNKS), table)

    def prepare(self, w: NDArray[np.float64], threads: int) -> None:
        """Bring the table up to date with the weights w: wide rows, then bundles."""
        m, pairs, table = self.matrix, self.pairs, self.table
        fill_wide(0, pairs.n_wide, pairs.wide_attribute, pairs.ptr, pairs.label, w, table)
        every = np.arange(m.n_bundles)

        def chunk(c: int) -> None:
            score_rows(
                *self.bundle_chunks[c], every, m.bundle_indptr, m.bundle_ids, m.bundle_values, self.row_of,
                pairs.ptr, pairs.label, w, table, table, pairs.n_wide,
            )  # fmt: skip

        run_chunks(chunk, len(self.bundle_chunks), threads)

    def score(self, lo: int, hi: int, w: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
        """Write the score rows lo..hi-1 (after `prepare`)."""
        m, pairs = self.matrix, self.pairs
        score_rows(
            lo, hi, self.items, m.token_indptr, m.token_refs, m.token_values, self.row_of,
            pairs.ptr, pairs.label, w, self.table, rows, 0,
        )  # fmt: skip

"""`LineScores`: what a fitted CRF says about lines, by one table of its weights, in NumPy.

A CRF scores any corpus with compiled loops; for the lines of a paper, loading those takes longer than all the rest. The
table has a row for each attribute, which is small here: six labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.potentials import ChainBatch

__all__ = ["LineScores"]


class LineScores:
    """The weights of a CRF over given attributes as one table; attributes that training did not see weigh nothing."""

    def __init__(self, model: Any) -> None:
        """Lay out the weights of a fitted `CRF`."""
        weights = model.weights_
        self.vocabulary: dict[str, int] = model.index_.vocabulary
        self.trans, self.start, self.end = weights.trans, weights.start, weights.end
        rows = np.repeat(np.arange(len(self.vocabulary)), np.diff(weights.pairs.ptr))
        # One row of zeros more, for attributes that are not known.
        self.table: NDArray[np.float64] = np.zeros((len(self.vocabulary) + 1, weights.n_labels))
        self.table[rows, weights.pairs.label] = weights.w

    def potentials(self, own: Sequence[Sequence[str]]) -> ChainBatch:
        """Return the potentials of one sequence of units, each its attributes."""
        n, unknown = len(own), len(self.vocabulary)
        if not n:
            raise ValueError("a sequence without units has no potentials")
        sizes = np.array([len(one) for one in own])
        ids = np.fromiter(
            map(self.vocabulary.get, chain.from_iterable(own), repeat(unknown)), np.int64, int(sizes.sum())
        )
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        unary = np.add.reduceat(self.table[ids], starts, axis=0)
        return ChainBatch(np.array([0, n]), unary, self.trans[None], np.zeros(n, np.int32), self.start, self.end)

"""Which labels may stand first, and which may follow which: valid tags, and whatever the training labels do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus

__all__ = ["Moves", "moves_of"]

Bool = NDArray[np.bool_]


class Moves(NamedTuple):
    """start_allowed : bool[L]; allowed, observed : bool[L, L], from each label to each."""

    start_allowed: Bool
    allowed: Bool
    observed: Bool


def moves_of(corpus: Corpus) -> Moves:
    """Return what the labels of a corpus do, and what they may do."""
    assert corpus.y is not None
    assert corpus.labels is not None
    L = len(corpus.labels)
    y, lengths = corpus.y.astype(np.int64), corpus.lengths
    first = corpus.indptr[:-1][lengths > 0]
    inside = np.ones(len(y), bool)
    inside[first] = False
    after = np.flatnonzero(inside)
    known = (y[after] >= 0) & (y[after - 1] >= 0)
    observed = np.zeros((L, L), bool)
    observed[y[after - 1][known], y[after][known]] = True
    starts = np.zeros(L, bool)
    starts[y[first][y[first] >= 0]] = True
    start_allowed, allowed = corpus.labels.allowed()
    return Moves(start_allowed | starts, allowed | observed, observed)

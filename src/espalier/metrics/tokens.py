"""Token accuracy, whole-sequence exactness, and the confusion table.

Only tokens with a known gold label are judged (see `espalier.metrics.pairs`). A sequence is exact if all
its judged tokens are right; a sequence without any judged token is neither right nor wrong and not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Labels
from espalier.errors import Place
from espalier.metrics.pairs import Labelling, Pairs, paired

__all__ = ["Confusion", "confusion", "exactness", "token_accuracy", "token_counts"]


def token_counts(pairs: Pairs) -> NDArray[np.int64]:
    """Return the right and the judged tokens of each sequence, int64[N, 2]."""
    right = [sum(a == b for a, b in zip(g, p, strict=True) if a is not None) for g, p in pairs]
    judged = [len(g) - g.count(None) for g, _ in pairs]
    return np.stack([np.array(right, np.int64), np.array(judged, np.int64)], axis=1)


def token_accuracy(gold: Labelling, predicted: Labelling) -> float:
    """Return the share of tokens with a known gold label that got it."""
    right, judged = token_counts(paired(gold, predicted)).sum(axis=0).tolist()
    return float(right / judged)


def exactness(gold: Labelling, predicted: Labelling) -> float:
    """Return the share of sequences with a known gold label in which every judged token is right."""
    counts = token_counts(paired(gold, predicted))
    judged = counts[:, 1] > 0
    return float((counts[judged, 0] == counts[judged, 1]).mean())


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """How often each gold label (row) was predicted as each label (column).

    labels : the L names of rows and columns; counts : int64[L, L], read-only.
    """

    labels: tuple[str, ...]
    counts: NDArray[np.int64]

    def to_dict(self) -> dict[str, Any]:
        """Return names and counts for JSON."""
        return {"labels": list(self.labels), "counts": self.counts.tolist()}

    def mistakes(self) -> list[tuple[str, str, int]]:
        """Return (gold, predicted, count) of every confusion that happened, the commonest first."""
        rows, columns = np.nonzero(self.counts)
        found = [
            (self.labels[g], self.labels[p], int(self.counts[g, p]))
            for g, p in zip(rows.tolist(), columns.tolist(), strict=True)
            if g != p
        ]
        return sorted(found, key=lambda mistake: (-mistake[2], mistake[0], mistake[1]))


def confusion(gold: Labelling, predicted: Labelling, *, labels: Labels | None = None) -> Confusion:
    """Count gold labels against predicted ones, over tokens with a known gold label.

    `labels` fixes the names and their order (a label outside it is a `LabelError`); without it the
    table has the labels that occur on either side, sorted.
    """
    pairs = paired(gold, predicted)
    names = labels if labels is not None else Labels.of(side for pair in pairs for side in pair)
    L = len(names)
    counts = np.zeros((L, L), np.int64)
    for i, (g, p) in enumerate(pairs):
        rows = np.array(names.encode(g, where=Place(i, noun="gold sequence")), np.int64)
        columns = np.array(names.encode(p, where=Place(i, noun="predicted sequence")), np.int64)
        known = rows >= 0
        np.add.at(counts, (rows[known], columns[known]), 1)
    counts.flags.writeable = False
    return Confusion(names.names, counts)

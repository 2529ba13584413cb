"""Which penalties to take, counted or trained, is asked of labels that neither has seen.

With few labels counted penalties are better: they believe in a rule that was seldom met. With many the trained ones
are: they know what the model gets right by itself. Where the change is differs from task to task, so folds decide:

    for each fold:   ρ counted on the others, ρ trained (SVM) on the others, ρ = 0, each labels the fold

Mistakes are wrong segments, missed ones and invented ones; the way with the fewest is taken, of equals the first. No
margin protects any of them: with 20 sequences it is never passed, and would keep rules that do harm (tweets).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.batch import decode_batch
from espalier.learning.penalty_training import HeldOut, train_svm_penalties
from espalier.rules.compile import Compiled
from espalier.tags import segments

__all__ = ["PenaltyChoice", "choose_penalties"]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PenaltyChoice:
    """What folds said. way : "count", "svm" or "off"; mistakes : wrong segments of each way, on what was held out."""

    way: str
    mistakes: dict[str, int]


def choose_penalties(
    parts: Sequence[HeldOut], counted: Sequence[Float], compiled: Compiled, *, C: float, threads: int | None
) -> PenaltyChoice:
    """Compare the ways on held-out parts; counted : float64[K] for each part, counted without it."""
    found = {"count": 0, "svm": 0, "off": 0}
    free = np.array([rule.penalty is None for rule in compiled.rules], bool)
    for k, part in enumerate(parts):
        others = [other for j, other in enumerate(parts) if j != k]
        trained = train_svm_penalties(others, compiled, C=C, threads=threads)
        offered = {"count": counted[k], "svm": trained, "off": np.where(free, 0.0, compiled.rules.penalties)}
        for way, rho in offered.items():
            found[way] += _mistakes(part, replace(compiled, rules=compiled.rules.with_penalties(rho)), threads)
    best = min(found, key=found.__getitem__)  # of equals the first
    return PenaltyChoice(best, found)


def _mistakes(part: HeldOut, compiled: Compiled, threads: int | None) -> int:
    """Return the number of wrong segments: those missed and those invented."""
    answers = decode_batch(part.batch, compiled, part.corpus, threads=threads).labels
    names = [*compiled.labels.names, None]
    total = 0
    for a, b in pairwise(part.corpus.indptr.tolist()):
        gold, said = ({*segments([names[j] for j in ids[a:b].tolist()])} for ids in (part.y, answers))
        total += len(gold ^ said)
    return total

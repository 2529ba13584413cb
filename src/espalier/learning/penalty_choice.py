"""Which penalties to take, counted or trained, is asked of labels that neither has seen.

With few labels counted penalties are better: they believe in a rule that was seldom met. With many the trained ones
are: they know what the model gets right by itself. Where the change is differs from task to task, so folds decide:

    for each fold:   ρ counted on the others, ρ trained (SVM) on the others, ρ = 0, each labels the fold

The mistakes of a sequence are its wrong segments, missed ones and invented ones. Counted penalties stay unless another
way makes fewer mistakes by more than its standard error: Σ d_n > √(Σ d_n²) for the differences d_n.
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
    ways: dict[str, list[Float]] = {"count": [], "svm": [], "off": []}
    free = np.array([rule.penalty is None for rule in compiled.rules], bool)
    for k, part in enumerate(parts):
        others = [other for j, other in enumerate(parts) if j != k]
        trained = train_svm_penalties(others, compiled, C=C, threads=threads)
        offered = {"count": counted[k], "svm": trained, "off": np.where(free, 0.0, compiled.rules.penalties)}
        for way, rho in offered.items():
            ways[way].append(_mistakes(part, replace(compiled, rules=compiled.rules.with_penalties(rho)), threads))
    found = {way: np.concatenate(each) if each else np.zeros(0) for way, each in ways.items()}
    best, saved = "count", 0.0
    for way in ("svm", "off"):
        d = found["count"] - found[way]
        if d.sum() > max(saved, float(np.sqrt((d * d).sum()))):
            best, saved = way, float(d.sum())
    return PenaltyChoice(best, {way: int(each.sum()) for way, each in found.items()})


def _mistakes(part: HeldOut, compiled: Compiled, threads: int | None) -> Float:
    """Return the wrong segments of each sequence, float64[N]: those missed and those invented."""
    answers = decode_batch(part.batch, compiled, part.corpus, threads=threads).labels
    names, ends = [*compiled.labels.names, None], part.corpus.indptr.tolist()
    found = []
    for a, b in pairwise(ends):
        gold, said = ({*segments([names[j] for j in ids[a:b].tolist()])} for ids in (part.y, answers))
        found.append(len(gold ^ said))
    return np.array(found, np.float64)

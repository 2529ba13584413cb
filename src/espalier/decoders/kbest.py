"""The k best labellings: list the best of the local rules, charge the global rules, stop when the list proves it.

Let F_1 >= F_2 >= ... be the folded scores (potentials minus local penalties) in falling order and S_m <= F_m what
the global rules leave of them. A labelling beyond the m-th has S <= F_m, so the k best of m listed labellings are
the k best of all as soon as the k-th of them has S >= F_m. The list is doubled until then, at most to `longest`.

Exact for any rule while the list lasts; without global rules m = k is enough. Cost O(T L² m log) a list of m;
the common order of ties.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier import inference
from espalier.decoders.base import Decoding, Problem, certify_all, checked_count, nothing_found
from espalier.decoders.certify import WorkDone
from espalier.decoders.joint import Joint

__all__ = ["decode", "listed"]


class _Item(NamedTuple):
    """A listed labelling: penalised score, folded score, labels."""

    score: float
    folded: float
    y: NDArray[np.int16]

    def order(self) -> tuple[float, tuple[int, ...]]:
        return -self.score, tuple(self.y[::-1].tolist())


def decode(problem: Problem, *, k: int = 1, longest: int = 1024) -> Decoding:
    """Return the k best labellings; BOUNDED where a list of `longest` labellings does not prove them."""
    return listed(problem, checked_count(k, "k"), checked_count(longest, "longest"), "kbest")


def listed(problem: Problem, k: int, longest: int, method: str) -> Decoding:
    """Return the k best of a list of at most `longest` (at least k) labellings, under a method's name."""
    joint = Joint.of(problem)
    m, passes = k, 0
    while True:
        found = inference.k_best(problem.folded, m, allow_infeasible=True)
        passes += 1
        folded = found.scores[0]
        n = int(np.isfinite(folded).sum())
        items = [
            _Item(float(f) - joint.cost(y.tolist()), float(f), y)
            for f, y in zip(folded[:n], found.labels, strict=False)
        ]
        # Beyond the list nothing scores more than its last; beyond a list of everything there is nothing.
        rest = float(folded[n - 1]) if n == m else -math.inf
        best = sorted((item for item in items if item.score > -math.inf), key=_Item.order)[:k]
        if _settled(best, k, rest) or m >= longest:
            break
        m = min(2 * m, longest)
    work = WorkDone(viterbi=passes, nodes=n)
    if not best and rest > -math.inf:
        return nothing_found(problem, rest, method, work)
    return certify_all(problem, [(item.y, max(item.score, rest)) for item in best], method, work)


def _settled(best: list[_Item], k: int, rest: float) -> bool:
    """Is nothing beyond the list better than the k best of it, nor equal and first in the order of ties?

    What is equal and beyond the list pays nothing, and comes after every listed labelling that pays nothing.
    """
    if rest == -math.inf:
        return True
    if len(best) < k or best[-1].score < rest:
        return False
    return all(item.score > rest or item.folded == rest for item in best)

"""The k best labellings of many sequences under rules: a compiled list for all, a climb for what it leaves open.

`kernels.readings` lists labellings in falling order of a bound until the k best of the list are the k best of all.
Where two of them score the same, or the list ends before that, the sequence is decoded by itself (`climb_for_several`),
which has its own order of ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Problem, Problems
from espalier.decoders.batch import MOST_NODES, folded_decoder
from espalier.decoders.certify import GAP, WorkDone, tolerance
from espalier.decoders.counts import Conditions

__all__ = ["Ranked", "k_best_batch"]

LONGEST_LIST = 1024
"""Labellings of a sequence among which its k best are looked for."""


class Ranked(NamedTuple):
    """One of the best labellings: labels : int16[T]; bound : on its score, given those before it; method and work.

    gap : what the bound is above the score.
    """

    labels: NDArray[np.int16]
    bound: float
    method: str
    work: WorkDone = WorkDone()
    gap: float = 0.0

    @property
    def score(self) -> float:
        """What it scores, penalties paid."""
        return self.bound - self.gap

    @property
    def proven(self) -> bool:
        """Is it proven to be the best after those before it?"""
        return self.gap <= tolerance(self.score)


def k_best_batch(
    problems: Problems,
    k: int,
    *,
    threads: int | None = None,
    max_nodes: int = MOST_NODES,
    seconds: float | None = None,
    longest: int = LONGEST_LIST,
) -> list[list[Ranked]]:
    """Return the k best labellings of every problem, best first.

    longest : labellings of a sequence among which they are looked for. max_nodes, seconds : of the climb; without nodes
    the best of the list stay, bounded by what is beyond it. A list is shorter where fewer labellings are possible, or
    none more was found.
    """
    batch, conditions = problems.batch, Conditions.of(problems.bits)
    folded, decoder = folded_decoder(batch, problems.compiled, problems.penalties, conditions)
    ends, chain = batch.indptr.tolist(), folded.batch
    listed = np.zeros(len(batch), bool)
    if not decoder.parts.rest:
        lists = decoder.rank(chain.indptr, chain.unary, conditions, chain.trans_class, k, longest, threads)
        labels, scores = np.append(folded.labels, -1)[lists.labels].astype(np.int16), lists.scores
        listed = (_clear(scores, lists.rest) | (max_nodes == 0)) & (np.diff(batch.indptr) > 0)
    found: list[list[Ranked]] = []
    for i, done in enumerate(listed.tolist()):
        if done:
            rest, several = float(lists.rest[i]), zip(labels[:, ends[i] : ends[i + 1]], scores[i].tolist(), strict=True)
            pairs = ((y, score, max(score, rest)) for y, score in several if score > -np.inf)
            found.append([Ranked(y, bound, "list", gap=bound - score) for y, score, bound in pairs])
        else:
            found.append(_one_by_one(problems.one(i), k, max_nodes, seconds))
    return found


def _clear(scores: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Is every listed score above the next one, and the last above the rest, by more than rounding?  bool[N]."""
    following = np.concatenate([scores[:, 1:], rest[:, None]], axis=1)
    finite = np.where(np.isfinite(scores), scores, 0.0)
    ahead = finite - following > GAP * np.maximum(1.0, np.abs(finite))
    # Fewer labellings than asked for are all there are only if nothing is left.
    return np.asarray(np.where(np.isfinite(scores), ahead, np.isneginf(rest)[:, None]).all(axis=1))


def _one_by_one(problem: Problem, k: int, max_nodes: int, seconds: float | None) -> list[Ranked]:
    from espalier.decoders.climb import climb_for_several

    several = [(one.labels, one.certificate) for one in climb_for_several(problem, k, max_nodes, seconds)]
    return [Ranked(y, of.bound, of.method, of.work, of.gap) for y, of in several if y is not None]

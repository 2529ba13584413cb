"""What constraint-driven learning asks of a pool in parts over processes, cycle by cycle: label it, learn from that.

HMM, update="interpolate"   workers count the labels that they guess
CRF, update="pool"          workers keep the labels that they guess, and return likelihoods and gradients
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.crf import CRF
from espalier.estimators.crf_parts import CRFInParts, check_copies
from espalier.estimators.hmm import HMM
from espalier.estimators.pool_updates import mixed
from espalier.learning.pool_counts import CountTables, wordless
from espalier.learning.sharded_chain import ChainPart, Sight
from espalier.learning.sharded_codl import (
    HMMPart,
    Record,
    Setting,
    count_guesses,
    see_guesses,
    shard_chains,
    shard_words,
)
from espalier.shards import Shards

__all__ = ["GuessedPool", "check_countable", "open_guesses"]

Float = NDArray[np.float64]


class GuessedPool(Protocol):
    """A pool that models label, each as it comes."""

    def label(self, model: Any, rho: Float | None) -> Record:
        """Label the pool with a fitted base and the penalties of its rules."""

    def learn(self) -> Any:
        """Return the base that follows from the last labels."""


def check_countable(base: Any, update: str, jobs: int | None) -> None:
    """Refuse to label over processes what cannot be learned from there."""
    how = "interpolate" if isinstance(base, HMM) else "pool" if isinstance(base, CRF) else None
    if jobs is not None and update != how:
        raise InputError(
            f"jobs={jobs} has workers label the pool, for an HMM with update='interpolate' or a CRF with "
            f"update='pool', not for a {type(base).__name__} with {update!r}; without jobs, threads do the work"
        )
    if jobs is not None and isinstance(base, CRF):
        check_copies(base)


@contextmanager
def open_guesses(
    base: Any, corpus: Corpus, weight: Float | None, pool: Corpus, setting: Setting, gamma: float, jobs: int
) -> Iterator[GuessedPool]:
    """Hand out the parts of a pool; base : fitted on the labels."""
    if isinstance(base, HMM):
        with shard_words(pool, base.vocabulary_, setting, jobs) as words:
            yield _CountedPool(base, words, gamma)
        return
    problem = CRFInParts(base, corpus, weight, pool)
    shards, attributes = shard_chains(pool, problem.matrix, setting, jobs)
    with shards:
        yield _SeenPool(base, problem, shards, attributes)


class _CountedPool:
    def __init__(self, base: HMM, shards: Shards[HMMPart], gamma: float) -> None:
        self.base, self.shards, self.gamma = base, shards, gamma
        self.counts: CountTables | None = None

    def label(self, model: HMM, rho: Float | None) -> Record:
        self.counts, record = self.shards.total(count_guesses, wordless(model.parameters_), rho)
        return record

    def learn(self) -> HMM:
        assert self.counts is not None
        counts = self.counts.over(self.base.vocabulary_, self.base.parameters_.transition_classes)
        return mixed(self.base, counts, self.gamma)


class _SeenPool:
    def __init__(
        self, base: CRF, problem: CRFInParts, shards: Shards[ChainPart], attributes: list[NDArray[np.int64]]
    ) -> None:
        self.problem, self.shards, self.attributes = problem, shards, attributes
        self.start = problem.start(base) if base.warm_start else None
        self.seen: Sight | None = None

    def label(self, model: CRF, rho: Float | None) -> Record:
        self.seen, record = self.shards.total(see_guesses, self.problem.travelling(model), rho)
        return record

    def learn(self) -> CRF:
        assert self.seen is not None
        return self.problem.fit(self.shards, self.attributes, self.seen, self.start)[0]

"""What posterior regularisation asks of a pool, cycle by cycle, wherever the pool is: project a model, learn from that.

`_Whole`     the pool in one piece, for any base model (`estimators.soft_fit`)
`_InParts`   its parts over processes, for an HMM (`learning.sharded_projection`)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.hmm import HMM
from espalier.estimators.rule_taught import chain_potentials
from espalier.estimators.soft_fit import SoftHMM, SoftLearner, soft_learner
from espalier.learning.expectations import ChainFeatures
from espalier.learning.pool_counts import wordless
from espalier.learning.projection import Projection, paid, project
from espalier.learning.sharded_projection import (
    Expected,
    PoolPart,
    Setting,
    project_corpus,
    project_sequences,
    shard_pool,
)
from espalier.shards import Shards

__all__ = ["Limits", "PoolProjection", "Projected", "open_pool"]

Float = NDArray[np.float64]


class Limits(NamedTuple):
    """What to project onto, and how: see `learning.projection.project`."""

    features: ChainFeatures
    rates: Float
    slack: Float
    scope: str
    tolerance: float
    threads: int | None


class Projected(NamedTuple):
    """A projection in figures. goodness : the model's own part of the objective; multipliers : of scope "corpus"."""

    goodness: float
    divergence: float
    excess: float
    paid: float
    multipliers: Float | None


class PoolProjection(Protocol):
    """A pool that models are projected on. supervised : the model of the labels alone."""

    supervised: Any

    def project(self, model: Any) -> Projected:
        """Find the distribution nearest to a model that keeps the limits."""

    def refit(self) -> Any:
        """Return the model fitted to the labels and to the last projection."""


@contextmanager
def open_pool(
    base: Any, corpus: Corpus, pool: Corpus, weight: Float | None, pool_weight: float, limits: Limits, jobs: int | None
) -> Iterator[PoolProjection]:
    """Fit the base to the labels and make the pool ready."""
    if jobs is None:
        yield _Whole(soft_learner(base, corpus, pool, weight, pool_weight), pool, limits)
        return
    if not isinstance(base, HMM):
        raise InputError(
            f"jobs={jobs} has workers count what they expect, for an HMM, not for a {type(base).__name__}; without "
            "jobs, threads do the work"
        )
    learner = SoftHMM(base, corpus, pool, weight, pool_weight)
    features, rates, slack, _, tolerance, threads = limits
    setting = Setting(learner.counts.vocabulary, features, rates, slack, tolerance, threads or 1)
    with shard_pool(pool, setting, jobs) as shards:
        yield _InParts(learner, shards, setting, limits.scope)


class _Whole:
    def __init__(self, learner: SoftLearner, pool: Corpus, limits: Limits) -> None:
        self.supervised, self.learner, self.pool, self.limits = learner.supervised, learner, pool, limits
        self.grounded = limits.features.ground(pool)
        self.q: Projection | None = None

    def project(self, model: Any) -> Projected:
        batch = chain_potentials(model, self.pool)
        _, rates, slack, scope, tolerance, threads = self.limits
        start = None if self.q is None else self.q.multipliers
        self.q = q = project(
            batch, self.grounded, rates, slack=slack, scope=scope, tolerance=tolerance, start=start, threads=threads
        )
        return Projected(
            self.learner.goodness(model, batch), float(q.divergence.sum()), float(q.excess.sum()),
            float(paid(q.excess, slack).sum()), q.multipliers[0] if scope == "corpus" and len(q.multipliers) else None,
        )  # fmt: skip

    def refit(self) -> Any:
        assert self.q is not None
        return self.learner.refit(self.q)


class _InParts:
    def __init__(self, learner: SoftHMM, shards: Shards[PoolPart], setting: Setting, scope: str) -> None:
        self.supervised, self.learner, self.shards, self.setting = learner.supervised, learner, shards, setting
        self.scope = scope
        self.q: Expected | None = None
        self.multipliers: Float | None = None

    def project(self, model: HMM) -> Projected:
        tables = wordless(model.parameters_)
        if self.scope == "sequence":
            self.q = project_sequences(self.shards, tables)
        else:
            self.q, self.multipliers = project_corpus(self.shards, self.setting, tables, self.multipliers)
        q = self.q
        own = self.learner.goodness_of(model, q.log_z)
        return Projected(own, q.divergence, q.excess, q.paid, None if self.multipliers is None else self.multipliers[0])

    def refit(self) -> HMM:
        assert self.q is not None
        known = self.learner.counts
        return self.learner.learned(self.q.counts(known.vocabulary, known.transition_classes))

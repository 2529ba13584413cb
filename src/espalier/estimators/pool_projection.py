"""What posterior regularisation asks of a pool, cycle by cycle, wherever the pool is: project a model, learn from that.

`_Whole`                       the pool in one piece, for any base model (`estimators.soft_fit`)
`_HMMInParts`, `_CRFInParts`   its parts over processes (`learning.sharded_projection`)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.base import fresh
from espalier.estimators.crf import CRF
from espalier.estimators.crf_parts import CRFInParts
from espalier.estimators.hmm import HMM
from espalier.estimators.rule_taught import chain_potentials
from espalier.estimators.soft_fit import SoftHMM, SoftLearner, soft_learner
from espalier.kernels.history import dot
from espalier.learning.expectations import ChainFeatures
from espalier.learning.pool_counts import wordless
from espalier.learning.projection import Projection, paid, project
from espalier.learning.sharded_projection import (
    Setting,
    Take,
    aimed,
    counted,
    project_corpus,
    project_sequences,
    shard_chains,
    shard_words,
)
from espalier.models.chain import ChainModel
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
    features, rates, slack, _, tolerance, threads = limits
    setting = Setting(features, rates, slack, tolerance, threads or 1, pool_weight)
    if isinstance(base, HMM):
        learner = SoftHMM(base, corpus, pool, weight, pool_weight)
        with shard_words(pool, learner.counts.vocabulary, setting, jobs) as words:
            yield _HMMInParts(learner, _Projector(words, setting, limits.scope, counted))
    elif isinstance(base, CRF):
        if base.prior is not None:
            raise InputError("a CRF with a prior learns from labels alone, or in CoDL; leave out prior")
        problem = CRFInParts(base, corpus, weight, pool)
        shards, attributes = shard_chains(pool, problem.matrix, setting, jobs)
        with shards:
            yield _CRFInParts(problem, _Projector(shards, setting, limits.scope, aimed), attributes)
    else:
        raise InputError(
            f"jobs={jobs} has workers keep what they expect, for an HMM or a CRF, not for a {type(base).__name__}; "
            "without jobs, threads do the work"
        )


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


class _Projector:
    """Projects models on parts; `learned` is what the last one showed."""

    def __init__(self, shards: Shards[Any], setting: Setting, scope: str, take: Take) -> None:
        self.shards, self.setting, self.scope, self.take = shards, setting, scope, take
        self.learned: Any = None
        self.multipliers: Float | None = None

    def __call__(self, tables: Any, goodness: Callable[[float], float]) -> Projected:
        """Project a model as it travels; goodness : its own part of the objective, by the log likelihood of text."""
        if self.scope == "sequence":
            self.learned, q = project_sequences(self.shards, tables, self.take)
        else:
            self.learned, q, self.multipliers = project_corpus(
                self.shards, self.setting, tables, self.multipliers, self.take
            )
        common = None if self.multipliers is None else self.multipliers[0]
        return Projected(goodness(q.log_z), q.divergence, q.excess, q.paid, common)


class _HMMInParts:
    def __init__(self, learner: SoftHMM, projector: _Projector) -> None:
        self.supervised, self.learner, self.projector = learner.supervised, learner, projector

    def project(self, model: HMM) -> Projected:
        return self.projector(wordless(model.parameters_), lambda text: self.learner.goodness_of(model, text))

    def refit(self) -> HMM:
        known, counts = self.learner.counts, self.projector.learned
        return self.learner.learned(counts.over(known.vocabulary, known.transition_classes))


class _CRFInParts:
    def __init__(self, problem: CRFInParts, projector: _Projector, attributes: list[NDArray[np.int64]]) -> None:
        self.problem, self.projector, self.attributes = problem, projector, attributes
        self.supervised: CRF = fresh(problem.base).fit(problem.labelled, sample_weight=problem.weight)
        self.goodness = -self.supervised.minimum_.value
        self.start: ChainModel | None = None

    def project(self, model: CRF) -> Projected:
        return self.projector(self.problem.travelling(model), lambda _: self.goodness)

    def refit(self) -> CRF:
        # The objective is convex: where the search begins decides how long it takes, not where it ends.
        model, loss = self.problem.fit(self.projector.shards, self.attributes, self.projector.learned, self.start)
        v = model.minimum_.x
        self.goodness = -loss - model.l1 * float(np.abs(v).sum()) - model.l2 * dot(v, v)
        self.start = model.model_
        return model

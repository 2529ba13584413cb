"""The projection of a pool in parts: posterior regularisation over processes.

With limits for every sequence the parts have nothing to do with each other: a worker projects its own, keeps the
multipliers for the next time, and returns sums. With limits on the whole corpus there is one dual, maximised here; a
pass of it sends the multipliers, float64[J], and adds up E[f] and log Z of the parts (`learning.projection` has the
problem and the search). What a model learns from the distribution q that was found:

    HMM    the expected counts under q
    CRF    what the best labels under q show; then value and gradient of the cross-entropy to q, pass by pass, while q
           stays with the worker (`distributed.chains`, `learning.likelihood`)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.distributed.chains import Block, ChainPart, Layout, PartState, PoolProblem, SeenPairs, Term, shard_blocks
from espalier.distributed.counts import CountTables, WordModel, WordsPart, shard_words
from espalier.distributed.shards import Shards
from espalier.errors import InputError
from espalier.estimators.abilities import Counts, FitsInParts
from espalier.estimators.base import fresh
from espalier.estimators.crf import CRF
from espalier.estimators.posterior_regularization import PoolProjection, Projected, SoftCounts
from espalier.inference import Posterior, log_partition, posterior, viterbi
from espalier.kernels.history import dot
from espalier.learning.expectations import GroundedFeatures
from espalier.learning.likelihood import SoftLikelihood
from espalier.learning.projection import (
    MOST_ITERATIONS,
    RuleLimits,
    Totals,
    multipliers_of,
    paid,
    projected,
    warn_unless_converged,
)
from espalier.models.linear import ChainModel
from espalier.potentials import ChainBatch

__all__ = ["Figures", "ProjectedLabels", "project_in_parts"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@contextmanager
def project_in_parts(
    base: Any, corpus: Corpus, pool: Corpus, weight: Float | None, pool_weight: float, limits: RuleLimits, jobs: int
) -> Iterator[PoolProjection]:
    """Fit the base to the labels and hand out the parts of the pool."""
    setting = Setting(limits._replace(threads=limits.threads or 1), pool_weight)
    if isinstance(base, Counts):
        learner = SoftCounts(base, corpus, pool, weight, pool_weight)
        with shard_words(learner.supervised, pool, setting, jobs) as words:
            yield _CountsInParts(learner, _Projector(words, setting, _counted))
    elif isinstance(base, FitsInParts):
        crf: Any = base
        if crf.prior is not None:
            raise InputError("a CRF with a prior learns from labels alone, or in CoDL", hint="leave out prior")
        problem = PoolProblem(crf, corpus, weight, pool)
        shards, attributes = shard_blocks(pool, problem.matrix, setting, jobs)
        with shards:
            yield _WeightsInParts(problem, _Projector(shards, setting, _kept), attributes)
    else:
        raise InputError(
            f"jobs={jobs} has workers keep what they expect, for an HMM or a CRF, not for a {type(base).__name__}",
            hint="without jobs, threads do the work",
        )


class Setting(NamedTuple):
    """What all parts share: the limits, and the weight of a sequence of the pool in the fit of a CRF."""

    limits: RuleLimits
    pool_weight: float

    @property
    def threads(self) -> int:
        """Of one worker."""
        return self.limits.threads or 1

    def ground(self, pool: Corpus) -> GroundedFeatures:
        """Return the features of the rules on some text."""
        return self.limits.features.ground(pool)


PoolPart: TypeAlias = WordsPart | ChainPart
"""A part of the pool as a worker holds it; `ground` are the features of the rules on its text."""

Take: TypeAlias = Callable[[Any, Any, ChainBatch, Posterior], tuple[Any, "ProjectedLabels"]]
"""From a part, a model, and q as potentials and as a posterior, to what is learned from it and what is kept."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A projection q in sums.

    log_z : of the model, the log likelihood of the text under an HMM; divergence, excess, paid : KL(q ‖ p), by how much
    q misses the limits, and what that costs; unfinished : how many searches, of so many, stopped early.
    """

    log_z: float
    divergence: float
    excess: float
    paid: float
    unfinished: int
    searches: int

    def __add__(self, other: Figures) -> Figures:
        """Add up."""
        return Figures(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


class ProjectedLabels(NamedTuple):
    """What a worker keeps of q. multipliers : float64[N, J], of limits for every sequence, to begin the next search at.

    For a CRF also q itself, float64[M, L] and float64[L, L]; once weights are laid out its feature counts are enough.
    """

    multipliers: Float | None = None
    marginals: Float | None = None
    transitions: Float | None = None
    counts: Float | None = None
    pool_weight: float = 1.0

    def laid_out(self, block: Block, layout: Layout, threads: int) -> tuple[ProjectedLabels, list[Term]]:
        """Count what q shows of each weight, and forget q."""
        assert self.marginals is not None
        assert self.transitions is not None
        soft = self._soft(block, layout, threads)
        soft.fit_to(self.marginals, self.transitions)
        return self._replace(marginals=None, transitions=None, counts=soft.observed), [soft]

    def terms(self, block: Block, layout: Layout, threads: int) -> list[Term]:
        """Return the cross-entropy to q."""
        soft = self._soft(block, layout, threads)
        soft.observed, soft.partial = self.counts, False
        return [soft]

    def _soft(self, block: Block, layout: Layout, threads: int) -> SoftLikelihood:
        return SoftLikelihood(block.matrix, block.pool.indptr, *layout[1:], self.pool_weight, threads)


def _counted(part: WordsPart, _: Any, batch: ChainBatch, q: Posterior) -> tuple[CountTables, ProjectedLabels]:
    """Return the expected counts under q."""
    return CountTables.of(part.model.counts_under(part.pool, q)), ProjectedLabels()


def _kept(part: ChainPart, _: Any, batch: ChainBatch, q: Posterior) -> tuple[SeenPairs, ProjectedLabels]:
    """Return what the best labels under q show, and keep q."""
    seen = part.seen(viterbi(batch).labels, batch.unary.shape[1])
    return seen, ProjectedLabels(None, q.marginals, q.transitions[0], None, part.setting.pool_weight)


class _Projector:
    """Projects models on parts; `learned` is what the last one showed."""

    def __init__(self, shards: Shards[Any], setting: Setting, take: Take) -> None:
        self.shards, self.setting, self.take = shards, setting, take
        self.learned: Any = None
        self.multipliers: Float | None = None

    def __call__(self, tables: Any, goodness: Callable[[float], float]) -> Projected:
        """Project a model as it travels; goodness : its own part of the objective, by the log likelihood of text."""
        if self.setting.limits.scope == "sequence":
            self.learned, q = project_sequences(self.shards, tables, self.take)
        else:
            self.learned, q, self.multipliers = project_corpus(
                self.shards, self.setting.limits, tables, self.multipliers, self.take
            )
        common = None if self.multipliers is None else self.multipliers[0]
        return Projected(goodness(q.log_z), q.divergence, q.excess, q.paid, common)


class _CountsInParts:
    def __init__(self, learner: SoftCounts, projector: _Projector) -> None:
        self.supervised, self.learner, self.projector = learner.supervised, learner, projector

    def project(self, model: WordModel) -> Projected:
        return self.projector(model.without_words(), lambda text: self.learner.goodness_of(model, text))

    def refit(self) -> WordModel:
        found: WordModel = self.learner.learned(self.projector.learned.over(self.supervised))
        return found


class _WeightsInParts:
    def __init__(self, problem: PoolProblem, projector: _Projector, attributes: list[NDArray[np.int64]]) -> None:
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
        self.start = model.weights_
        return model


def project_sequences(shards: Shards[Any], tables: Any, take: Take) -> tuple[Any, Figures]:
    """Project a model sequence by sequence; searches begin where the last ones ended."""
    learned, figures = shards.total(_sequences, tables, take)
    warn_unless_converged(figures.unfinished, figures.searches, MOST_ITERATIONS)
    return learned, figures


def _sequences(
    part: PoolPart, state: PartState | None, tables: Any, take: Take
) -> tuple[tuple[Any, Figures], PartState]:
    """Project one part; return what is learned and the sums, and keep the multipliers."""
    limits, batch = part.setting.limits, part.potentials(tables)
    q = projected(
        batch, part.ground, limits.rates, slack=limits.slack, scope="sequence", tolerance=limits.tolerance,
        start=None if state is None else state.labels.multipliers, threads=limits.threads,
    )  # fmt: skip
    learned, kept = take(part, tables, q.batch, q.posterior)
    figures = Figures(
        log_z=float(log_partition(batch, threads=limits.threads).sum()),
        divergence=float(q.divergence.sum()),
        excess=float(q.excess.sum()),
        paid=float(paid(q.excess, limits.slack).sum()),
        unfinished=int((~q.converged).sum()),
        searches=len(q.converged),
    )
    return (learned, figures), PartState(kept._replace(multipliers=q.multipliers))


def project_corpus(
    shards: Shards[Any], limits: RuleLimits, tables: Any, start: Float | None, take: Take
) -> tuple[Any, Figures, Float]:
    """Project a model onto limits on the whole pool; return what is learned, the sums, and λ, float64[1, J]."""
    totals = shards.total(_totals, tables)

    def evaluate(_: Int, multipliers: Float) -> tuple[Float, Float]:
        log_z, expected = shards.total(_moved, tables, multipliers)
        return -log_z - (multipliers * totals.bound).sum(axis=1), expected

    multipliers, converged, iterations = multipliers_of(
        evaluate, totals, limits.features, limits.slack, limits.tolerance, MOST_ITERATIONS, start
    )
    unfinished = int((~converged).sum())
    warn_unless_converged(unfinished, 1, iterations)
    learned, log_z, expected = shards.total(_taken, tables, multipliers, take)
    divergence = totals.at_zero - log_z - (multipliers * expected).sum(axis=1)
    excess = np.maximum(expected - totals.bound, 0.0)
    figures = Figures(
        float(totals.at_zero[0]), float(divergence[0]), float(excess.sum()), float(paid(excess, limits.slack).sum()),
        unfinished, 1,
    )  # fmt: skip
    return learned, figures, multipliers


def _totals(part: PoolPart, state: PartState | None, tables: Any) -> tuple[Totals, PartState | None]:
    """Return what the dual must know of one part."""
    limits, group = part.setting.limits, np.zeros(len(part.pool), np.int64)
    bounds = part.ground.limits(limits.rates)
    return Totals.of(part.potentials(tables), part.ground, bounds, group, 1, limits.threads), state


def _moved(
    part: PoolPart, state: PartState | None, tables: Any, multipliers: Float
) -> tuple[tuple[Float, Float], PartState | None]:
    """Return log Z(λ), float64[1], and E[f], float64[1, J], of one part."""
    return _expectations(part, tables, multipliers)[2:], state


def _taken(
    part: PoolPart, state: PartState | None, tables: Any, multipliers: Float, take: Take
) -> tuple[tuple[Any, Float, Float], PartState]:
    """Return what is learned from one part under q, and the same."""
    batch, q, log_z, expected = _expectations(part, tables, multipliers)
    learned, kept = take(part, tables, batch, q)
    return (learned, log_z, expected), PartState(kept)


def _expectations(part: PoolPart, tables: Any, multipliers: Float) -> tuple[ChainBatch, Posterior, Float, Float]:
    """Move the potentials of one part; return them, the posterior, log Z and E[f]."""
    batch = part.potentials(tables)
    moved = part.ground.move(batch, multipliers)
    found = posterior(moved.batch, threads=part.setting.threads)
    expected = part.ground.expected(found, moved, np.zeros(len(part.pool), np.int64), 1)
    return moved.batch, moved.unmoved(found, len(batch.trans)), found.log_z.sum(keepdims=True), expected

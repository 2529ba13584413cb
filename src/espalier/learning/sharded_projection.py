"""The projection of a pool in parts: posterior regularisation over processes.

With limits for every sequence the parts have nothing to do with each other: a worker projects its own, keeps the
multipliers for the next time, and returns sums. With limits on the whole corpus there is one dual, maximised here; a
pass of it sends the multipliers, float64[J], and adds up E[f] and log Z of the parts (`learning.projection` has the
problem and the search). What a model learns from the distribution q that was found:

    HMM    the expected counts under q
    CRF    what the best labels under q show; then value and gradient of the cross-entropy to q, pass by pass, while q
           stays with the worker (`sharded_chain`, `soft_likelihood`)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.features.matrix import FeatureMatrix
from espalier.inference import Posterior, log_partition, posterior, viterbi
from espalier.learning.expectations import ChainFeatures, GroundedFeatures
from espalier.learning.pool_counts import CountTables, spoken
from espalier.learning.projection import (
    MOST_ITERATIONS,
    Totals,
    multipliers_of,
    paid,
    projected,
    warn_unless_converged,
)
from espalier.learning.sharded_chain import Block, ChainPart, Held, Layout, Sight, Term, shard_blocks
from espalier.learning.soft_likelihood import SoftLikelihood
from espalier.models.hmm import HMMCounts, HMMParameters, Vocabulary
from espalier.potentials import ChainBatch
from espalier.shards import Shards, shard_corpus

__all__ = [
    "Aim",
    "Figures",
    "HMMPart",
    "Setting",
    "Take",
    "aimed",
    "counted",
    "project_corpus",
    "project_sequences",
    "shard_chains",
    "shard_words",
]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Setting(NamedTuple):
    """What all parts share: the features of the rules, and the limits on these.

    rates, slack : float64[J], see `learning.projection.project`. pool_weight : of a sequence, in the fit of a CRF.
    """

    features: ChainFeatures
    rates: Float
    slack: Float
    tolerance: float
    threads: int
    pool_weight: float


class PoolPart(Protocol):
    """A part of the pool as a worker holds it. ground : the features of the rules on this text."""

    @property
    def pool(self) -> Corpus:
        """The sequences."""

    @property
    def setting(self) -> Setting:
        """What all parts share."""

    @property
    def ground(self) -> GroundedFeatures:
        """The features of the rules on this text."""

    def potentials(self, tables: Any) -> ChainBatch:
        """Return the potentials under a model, as it travels."""


Part = TypeVar("Part", bound=PoolPart)
Take: TypeAlias = Callable[[Any, Any, ChainBatch, Posterior], tuple[Any, "Aim"]]
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


class Aim(NamedTuple):
    """What a worker keeps of q. multipliers : float64[N, J], of limits for every sequence, to begin the next search at.

    For a CRF also q itself, float64[M, L] and float64[L, L]; once weights are laid out its feature counts are enough.
    """

    multipliers: Float | None = None
    marginals: Float | None = None
    transitions: Float | None = None
    counts: Float | None = None
    pool_weight: float = 1.0

    def laid_out(self, block: Block, layout: Layout, threads: int) -> tuple[Aim, list[Term]]:
        """Count what q shows of each weight, and forget q."""
        assert self.marginals is not None
        assert self.transitions is not None
        soft = self._soft(block, layout, threads)
        soft.aim(self.marginals, self.transitions)
        return self._replace(marginals=None, transitions=None, counts=soft.observed), [soft]

    def terms(self, block: Block, layout: Layout, threads: int) -> list[Term]:
        """Return the cross-entropy to q."""
        soft = self._soft(block, layout, threads)
        soft.observed, soft.partial = self.counts, False
        return [soft]

    def _soft(self, block: Block, layout: Layout, threads: int) -> SoftLikelihood:
        return SoftLikelihood(block.matrix, block.pool.indptr, *layout[1:], self.pool_weight, threads)


class HMMPart(NamedTuple):
    """A part of the pool, for hidden Markov models over a vocabulary."""

    pool: Corpus
    vocabulary: Vocabulary
    setting: Setting
    ground: GroundedFeatures

    def potentials(self, tables: HMMParameters) -> ChainBatch:
        """Return the potentials under a model that is given without its words."""
        return spoken(tables, self.vocabulary).potentials(self.pool)


def shard_words(pool: Corpus, vocabulary: Vocabulary, setting: Setting, jobs: int) -> Shards[HMMPart]:
    """Hand out the parts of a pool for hidden Markov models."""
    return shard_corpus(pool, _hmm_part, common=(vocabulary, setting), jobs=jobs)


def _hmm_part(common: tuple[Vocabulary, Setting], pool: Corpus) -> HMMPart:
    vocabulary, setting = common
    return HMMPart(pool, vocabulary, setting, setting.features.ground(pool))


def counted(part: HMMPart, tables: HMMParameters, _: ChainBatch, q: Posterior) -> tuple[CountTables, Aim]:
    """Return the expected counts under q."""
    counts = HMMCounts.from_marginals(part.pool, part.vocabulary, q, tables.transition_classes)
    return CountTables.of(counts), Aim()


def shard_chains(
    pool: Corpus, matrix: FeatureMatrix, setting: Setting, jobs: int
) -> tuple[Shards[ChainPart], list[Int]]:
    """Hand out the parts of a pool, and of its features, for a CRF; return also the attributes of each."""
    return shard_blocks(pool, matrix, _chain_part, common=setting, jobs=jobs)


def _chain_part(setting: Setting, block: Block) -> ChainPart:
    return ChainPart(block, setting, setting.features.ground(block.pool), {})


def aimed(part: ChainPart, _: Any, batch: ChainBatch, q: Posterior) -> tuple[Sight, Aim]:
    """Return what the best labels under q show, and keep q."""
    sight = part.sight(viterbi(batch).labels, batch.unary.shape[1])
    return sight, Aim(None, q.marginals, q.transitions[0], None, part.setting.pool_weight)


def project_sequences(shards: Shards[Part], tables: Any, take: Take) -> tuple[Any, Figures]:
    """Project a model sequence by sequence; searches begin where the last ones ended."""
    learned, figures = shards.total(_sequences, tables, take)
    warn_unless_converged(figures.unfinished, figures.searches, MOST_ITERATIONS)
    return learned, figures


def _sequences(part: PoolPart, held: Held | None, tables: Any, take: Take) -> tuple[tuple[Any, Figures], Held]:
    """Project one part; return what is learned and the sums, and keep the multipliers."""
    setting, batch = part.setting, part.potentials(tables)
    q = projected(
        batch, part.ground, setting.rates, slack=setting.slack, scope="sequence", tolerance=setting.tolerance,
        start=None if held is None else held.belief.multipliers, threads=setting.threads,
    )  # fmt: skip
    learned, aim = take(part, tables, q.batch, q.posterior)
    figures = Figures(
        log_z=float(log_partition(batch, threads=setting.threads).sum()),
        divergence=float(q.divergence.sum()),
        excess=float(q.excess.sum()),
        paid=float(paid(q.excess, setting.slack).sum()),
        unfinished=int((~q.converged).sum()),
        searches=len(q.converged),
    )
    return (learned, figures), Held(aim._replace(multipliers=q.multipliers))


def project_corpus(
    shards: Shards[Part], setting: Setting, tables: Any, start: Float | None, take: Take
) -> tuple[Any, Figures, Float]:
    """Project a model onto limits on the whole pool; return what is learned, the sums, and λ, float64[1, J]."""
    totals = shards.total(_totals, tables)

    def evaluate(_: Int, multipliers: Float) -> tuple[Float, Float]:
        log_z, expected = shards.total(_moved, tables, multipliers)
        return -log_z - (multipliers * totals.bound).sum(axis=1), expected

    multipliers, converged, iterations = multipliers_of(
        evaluate, totals, setting.features, setting.slack, setting.tolerance, MOST_ITERATIONS, start
    )
    unfinished = int((~converged).sum())
    warn_unless_converged(unfinished, 1, iterations)
    learned, log_z, expected = shards.total(_taken, tables, multipliers, take)
    divergence = totals.at_zero - log_z - (multipliers * expected).sum(axis=1)
    excess = np.maximum(expected - totals.bound, 0.0)
    figures = Figures(
        float(totals.at_zero[0]), float(divergence[0]), float(excess.sum()), float(paid(excess, setting.slack).sum()),
        unfinished, 1,
    )  # fmt: skip
    return learned, figures, multipliers


def _totals(part: PoolPart, held: Held | None, tables: Any) -> tuple[Totals, Held | None]:
    """Return what the dual must know of one part."""
    setting, group = part.setting, np.zeros(len(part.pool), np.int64)
    limits = part.ground.limits(setting.rates)
    return Totals.of(part.potentials(tables), part.ground, limits, group, 1, setting.threads), held


def _moved(
    part: PoolPart, held: Held | None, tables: Any, multipliers: Float
) -> tuple[tuple[Float, Float], Held | None]:
    """Return log Z(λ), float64[1], and E[f], float64[1, J], of one part."""
    return _expectations(part, tables, multipliers)[2:], held


def _taken(
    part: PoolPart, held: Held | None, tables: Any, multipliers: Float, take: Take
) -> tuple[tuple[Any, Float, Float], Held]:
    """Return what is learned from one part under q, and the same."""
    batch, q, log_z, expected = _expectations(part, tables, multipliers)
    learned, aim = take(part, tables, batch, q)
    return (learned, log_z, expected), Held(aim)


def _expectations(part: PoolPart, tables: Any, multipliers: Float) -> tuple[ChainBatch, Posterior, Float, Float]:
    """Move the potentials of one part; return them, the posterior, log Z and E[f]."""
    batch = part.potentials(tables)
    moved = part.ground.move(batch, multipliers)
    found = posterior(moved.batch, threads=part.setting.threads)
    expected = part.ground.expected(found, moved, np.zeros(len(part.pool), np.int64), 1)
    return moved.batch, moved.unmoved(found, len(batch.trans)), found.log_z.sum(keepdims=True), expected

"""The projection of a pool in parts, for a hidden Markov model: posterior regularisation over processes.

With limits for every sequence the parts have nothing to do with each other: a worker projects its own, keeps the
multipliers for the next time, and returns expected counts and sums. With limits on the whole corpus there is one dual,
maximised here; a pass of it sends the multipliers, float64[J], and adds up E[f] and log Z of the parts
(`learning.projection` has the problem and the search).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.inference import Posterior, log_partition, posterior
from espalier.learning.expectations import ChainFeatures, GroundedFeatures
from espalier.learning.pool_counts import CountTables, Rows, spoken
from espalier.learning.projection import (
    MOST_ITERATIONS,
    Totals,
    multipliers_of,
    paid,
    projected,
    warn_unless_converged,
)
from espalier.models.hmm import HMMCounts, HMMParameters, Vocabulary
from espalier.shards import Shards, shard_corpus

__all__ = ["Expected", "PoolPart", "Setting", "project_corpus", "project_sequences", "shard_pool"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Setting(NamedTuple):
    """What all parts share: the words of the models, the features of the rules, and the limits on these.

    rates, slack : float64[J], see `learning.projection.project`.
    """

    vocabulary: Vocabulary
    features: ChainFeatures
    rates: Float
    slack: Float
    tolerance: float
    threads: int


class PoolPart(NamedTuple):
    """A part of the pool as a worker holds it."""

    pool: Corpus
    setting: Setting
    grounded: GroundedFeatures


class Expected(NamedTuple):
    """A projection q of the pool, in sums.

    start, trans, emission : expected counts under q; log_z : of the model, the log likelihood of the text; divergence,
    excess, paid : KL(q ‖ p), by how much q misses the limits, and what that costs; unfinished : how many searches, of
    so many, stopped early.
    """

    start: Float
    trans: Float
    emission: Rows
    log_z: float
    divergence: float
    excess: float
    paid: float
    unfinished: int
    searches: int

    def counts(self, vocabulary: Vocabulary, transition_classes: str | None) -> HMMCounts:
        """Return the counts over the words of a model."""
        return CountTables(self.start, self.trans, self.emission).over(vocabulary, transition_classes)


def shard_pool(pool: Corpus, setting: Setting, jobs: int) -> Shards[PoolPart]:
    """Hand out the parts of a pool."""
    return shard_corpus(pool, _prepared, common=setting, jobs=jobs)


def _prepared(setting: Setting, pool: Corpus) -> PoolPart:
    return PoolPart(pool, setting, setting.features.ground(pool))


def project_sequences(shards: Shards[PoolPart], tables: HMMParameters) -> Expected:
    """Project a model, given without its words, sequence by sequence; searches begin where the last ones ended."""
    q = shards.total(_sequences, tables)
    warn_unless_converged(q.unfinished, q.searches, MOST_ITERATIONS)
    return q


def _sequences(part: PoolPart, start: Float | None, tables: HMMParameters) -> tuple[Expected, Float]:
    """Project one part; return the sums, and the multipliers."""
    setting = part.setting
    batch = spoken(tables, setting.vocabulary).potentials(part.pool)
    q = projected(
        batch, part.grounded, setting.rates, slack=setting.slack, scope="sequence", tolerance=setting.tolerance,
        start=start, threads=setting.threads,
    )  # fmt: skip
    counts = HMMCounts.from_marginals(part.pool, setting.vocabulary, q.posterior, tables.transition_classes)
    sums = Expected(
        *CountTables.of(counts),
        log_z=float(log_partition(batch, threads=setting.threads).sum()),
        divergence=float(q.divergence.sum()),
        excess=float(q.excess.sum()),
        paid=float(paid(q.excess, setting.slack).sum()),
        unfinished=int((~q.converged).sum()),
        searches=len(q.converged),
    )
    return sums, q.multipliers


def project_corpus(
    shards: Shards[PoolPart], setting: Setting, tables: HMMParameters, start: Float | None
) -> tuple[Expected, Float]:
    """Project a model onto limits on the whole pool; return the sums, and the multipliers, float64[1, J]."""
    totals = shards.total(_totals, tables)

    def evaluate(_: Int, multipliers: Float) -> tuple[Float, Float]:
        log_z, expected = shards.total(_moved, tables, multipliers)
        return -log_z - (multipliers * totals.bound).sum(axis=1), expected

    multipliers, converged, iterations = multipliers_of(
        evaluate, totals, setting.features, setting.slack, setting.tolerance, MOST_ITERATIONS, start
    )
    unfinished = int((~converged).sum())
    warn_unless_converged(unfinished, 1, iterations)
    start_counts, trans, emission, log_z, expected = shards.total(_counted, tables, multipliers)
    divergence = totals.at_zero - log_z - (multipliers * expected).sum(axis=1)
    excess = np.maximum(expected - totals.bound, 0.0)
    q = Expected(
        start_counts, trans, emission, float(totals.at_zero[0]), float(divergence[0]), float(excess.sum()),
        float(paid(excess, setting.slack).sum()), unfinished, 1,
    )  # fmt: skip
    return q, multipliers


def _totals(part: PoolPart, _: None, tables: HMMParameters) -> tuple[Totals, None]:
    """Return what the dual must know of one part."""
    setting = part.setting
    batch = spoken(tables, setting.vocabulary).potentials(part.pool)
    limits, group = part.grounded.limits(setting.rates), np.zeros(len(part.pool), np.int64)
    return Totals.of(batch, part.grounded, limits, group, 1, setting.threads), None


def _moved(part: PoolPart, _: None, tables: HMMParameters, multipliers: Float) -> tuple[tuple[Float, Float], None]:
    """Return log Z(λ), float64[1], and E[f], float64[1, J], of one part."""
    return _expectations(part, tables, multipliers)[1:], None


def _counted(
    part: PoolPart, _: None, tables: HMMParameters, multipliers: Float
) -> tuple[tuple[Float, Float, Rows, Float, Float], None]:
    """Return the expected counts of one part under q, and the same."""
    q, log_z, expected = _expectations(part, tables, multipliers)
    counts = HMMCounts.from_marginals(part.pool, part.setting.vocabulary, q, tables.transition_classes)
    return (*CountTables.of(counts), log_z, expected), None


def _expectations(part: PoolPart, tables: HMMParameters, multipliers: Float) -> tuple[Posterior, Float, Float]:
    """Move the potentials of one part; return the posterior, log Z and E[f]."""
    batch = spoken(tables, part.setting.vocabulary).potentials(part.pool)
    moved = part.grounded.move(batch, multipliers)
    found = posterior(moved.batch, threads=part.setting.threads)
    expected = part.grounded.expected(found, moved, np.zeros(len(part.pool), np.int64), 1)
    return moved.unmoved(found, len(batch.trans)), found.log_z.sum(keepdims=True), expected

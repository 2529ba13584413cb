"""A cycle of constraint-driven learning over parts of the pool: workers label their text under the rules.

A worker keeps its guess, to be compared with the next. Back go the `CycleSums` of its part, and what the model learns
from:

    models estimated from counts (HMM), update="interpolate"   the counts of the guessed labels: at most V L + C L²
                                                               numbers however much text the part holds
    models with weights (CRF), update="pool"                   what the guess shows; then value and gradient of its
                                                               likelihood, pass by pass (`distributed.chains`)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.distributed.chains import (
    Block,
    ChainPart,
    Layout,
    PartState,
    PoolProblem,
    SeenPairs,
    Term,
    check_copies,
    shard_blocks,
)
from espalier.distributed.counts import CountTables, WordModel, WordsPart, WordTables, shard_words
from espalier.distributed.shards import Shards
from espalier.errors import InputError
from espalier.estimators.abilities import Counts, FitsInParts
from espalier.estimators.crf import CRF
from espalier.learning.codl import CycleSums, Guess, PoolLabelling, guess_labels
from espalier.models.linear import ChainModel

__all__ = ["GuessedLabels", "check_guesses", "guess_in_parts", "label_and_count", "label_and_see"]

Float = NDArray[np.float64]


class PoolInParts(Protocol):
    """A pool that models label, each as it comes."""

    def label(self, model: Any, penalties: Float | None) -> CycleSums:
        """Label the pool with a fitted base and the penalties of its rules."""

    def learn(self) -> Any:
        """Return the base that follows from the last labels."""


def check_guesses(base: Any, update: str, jobs: int) -> None:
    """Refuse to label over processes what cannot be learned from there."""
    fits: Any = Counts if update == "interpolate" else FitsInParts
    if not isinstance(base, fits):
        raise InputError(
            f"jobs={jobs} has workers label the pool, for an HMM with update='interpolate' or a CRF with "
            f"update='pool', not for a {type(base).__name__} with {update!r}",
            hint="without jobs, threads do the work",
        )
    if update == "pool":
        check_copies(base)


@contextmanager
def guess_in_parts(
    base: Any, update: str, corpus: Corpus, weight: Float | None, pool: Corpus, how: PoolLabelling,
    gamma: float, pool_weight: float, jobs: int,
) -> Iterator[PoolInParts]:  # fmt: skip
    """Hand out the parts of a pool; base : fitted on the labels. The other arguments are those of `CoDL`."""
    how = how._replace(threads=how.threads or 1)
    check_guesses(base, update, jobs)
    setting = _Setting(how, pool_weight)
    if update == "interpolate":
        with shard_words(base, pool, setting, jobs) as words:
            yield _CountedPool(base, words, gamma)
        return
    problem = PoolProblem(base, corpus, weight, pool)
    shards, attributes = shard_blocks(pool, problem.matrix, setting, jobs)
    with shards:
        yield _SeenPool(base, problem, shards, attributes)


class _Setting(NamedTuple):
    """How to label a part, and what a sequence of the pool weighs in the likelihood."""

    how: PoolLabelling
    pool_weight: float

    @property
    def threads(self) -> int:
        """Of one worker."""
        return self.how.threads or 1

    def ground(self, pool: Corpus) -> NDArray[np.bool_] | None:
        """Return where the conditions of the rules hold."""
        return self.how.ground(pool)


def label_and_count(
    part: WordsPart, before: Guess | None, tables: WordTables, penalties: Float | None
) -> tuple[tuple[CountTables, CycleSums], Guess]:
    """Label one part with a model, given without its words, and penalties; return what is counted, and the guess."""
    found = guess_labels(part.setting.how, part.pool, part.ground, part.potentials(tables), penalties, before)
    return (CountTables.of(part.model.count_labels(found.pseudo, found.weight)), found.record), found.guess


class _CountedPool:
    def __init__(self, base: WordModel, shards: Shards[WordsPart], gamma: float) -> None:
        self.base, self.shards, self.gamma = base, shards, gamma
        self.counts: CountTables | None = None

    def label(self, model: WordModel, penalties: Float | None) -> CycleSums:
        self.counts, record = self.shards.total(label_and_count, model.without_words(), penalties)
        return record

    def learn(self) -> WordModel:
        assert self.counts is not None
        return self.base.interpolated(self.base.with_counts(self.counts.over(self.base)), self.gamma)


class GuessedLabels(NamedTuple):
    """Guessed labels: each labelling of a sequence counts as one, with its share of the pool's weight."""

    guess: Guess
    pool_weight: float

    def laid_out(self, block: Block, layout: Layout, threads: int) -> tuple[GuessedLabels, list[Term]]:
        """Keep the guess, to be compared with the next."""
        return self, self.terms(block, layout, threads)

    def terms(self, block: Block, layout: Layout, threads: int) -> list[Term]:
        """Return the likelihood of the first labellings of all sequences, of the second, ..."""
        # A labelling that does not exist weighs nothing, whatever stands for its labels.
        labels, weight = np.maximum(self.guess.labels, 0), self.pool_weight * self.guess.weight
        return [block.likelihood(layout, y, own, threads) for y, own in zip(labels, weight, strict=True)]


def label_and_see(
    part: ChainPart, state: PartState | None, model: ChainModel, penalties: Float | None
) -> tuple[tuple[SeenPairs, CycleSums], PartState]:
    """Label one part with a model over the attributes of all parts; return what the labels show."""
    how, pool_weight = part.setting
    before = None if state is None else state.labels.guess
    found = guess_labels(how, part.pool, part.ground, part.potentials(model), penalties, before)
    there = np.repeat(found.guess.weight > 0, np.diff(part.pool.indptr), axis=1)
    shown = np.where(there, found.guess.labels, -1).astype(np.int16)
    seen = [part.seen(y, len(how.labels)) for y in shown]
    return (sum(seen[1:], seen[0]), found.record), PartState(GuessedLabels(found.guess, pool_weight))


class _SeenPool:
    def __init__(
        self, base: CRF, problem: PoolProblem, shards: Shards[ChainPart], attributes: list[NDArray[np.int64]]
    ) -> None:
        self.problem, self.shards, self.attributes = problem, shards, attributes
        self.start = problem.start(base) if base.warm_start else None
        self.seen: SeenPairs | None = None

    def label(self, model: CRF, penalties: Float | None) -> CycleSums:
        self.seen, record = self.shards.total(label_and_see, self.problem.travelling(model), penalties)
        return record

    def learn(self) -> CRF:
        assert self.seen is not None
        return self.problem.fit(self.shards, self.attributes, self.seen, self.start)[0]

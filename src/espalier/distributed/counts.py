"""The expectation step of EM over processes: what a hidden Markov model counts in unlabelled text.

Counts add up, so the text may be in parts: a worker gets the probabilities of a model and returns the counts of its
part, at most V L + C L² numbers however much text that is: a row for each word that it has. Words are known by number;
they travel once, with the model that the workers begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.distributed.shards import Shards, shard_corpus
from espalier.estimators.hmm import HMM
from espalier.models.hmm import HMMCounts, HMMParameters
from espalier.potentials import ChainBatch

__all__ = ["CountTables", "Rows", "WordModel", "WordTables", "WordsPart", "count_in_parts", "shard_words"]

Float = NDArray[np.float64]
WordModel: TypeAlias = HMM
"""A model that is estimated from counts of words, and can send its probabilities without those."""
WordTables: TypeAlias = HMMParameters
"""What it sends."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some rows of a table, by number: int64[n], rising, and float64[n, L]; all others are 0."""

    numbers: NDArray[np.int64]
    values: Float

    @classmethod
    def of(cls, table: Float) -> Rows:
        """Keep the rows that are not 0."""
        numbers = np.flatnonzero(table.any(axis=1))
        return cls(numbers, table[numbers])

    def __add__(self, other: Rows) -> Rows:
        """Add row by row."""
        numbers = np.union1d(self.numbers, other.numbers)
        values = np.zeros((len(numbers), self.values.shape[1]))
        for rows in (self, other):
            values[np.searchsorted(numbers, rows.numbers)] += rows.values
        return Rows(numbers, values)

    def table(self, n: int) -> Float:
        """Return the whole table, float64[n, L]."""
        table = np.zeros((n, self.values.shape[1]))
        table[self.numbers] = self.values
        return table


@dataclass(frozen=True, slots=True, eq=False)
class CountTables:
    """`HMMCounts` on their way: without the words, and of emissions only those of words that occur."""

    start: Float
    trans: Float
    emission: Rows

    @classmethod
    def of(cls, counts: HMMCounts) -> CountTables:
        """Leave out the words."""
        return cls(counts.start, counts.trans, Rows.of(counts.emission))

    def __add__(self, other: CountTables) -> CountTables:
        """Add up."""
        return CountTables(self.start + other.start, self.trans + other.trans, self.emission + other.emission)

    def over(self, model: WordModel) -> HMMCounts:
        """Put the words of a model to the numbers again."""
        words, classes = model.vocabulary_, model.parameters_.transition_classes
        return HMMCounts(words, self.start, self.trans, self.emission.table(len(words)), classes)


class WordsPart(NamedTuple):
    """A part of a pool as a worker holds it. model : has the words; setting, ground : what all share, and on this text.

    setting has `ground(pool)` and the `threads` of one worker.
    """

    pool: Corpus
    model: WordModel
    setting: Any
    ground: Any

    def potentials(self, tables: WordTables) -> ChainBatch:
        """Return the potentials under a model that is given without its words."""
        return self.model.with_probabilities(tables).potentials(self.pool)


def shard_words(model: WordModel, pool: Corpus, setting: Any, jobs: int) -> Shards[WordsPart]:
    """Hand out the parts of a pool; model : has the words of all models to come."""
    known = model.with_probabilities(model.without_words())  # without the counts of the labels
    return shard_corpus(pool, _words_part, common=(known, setting), jobs=jobs)


def _words_part(common: tuple[WordModel, Any], pool: Corpus) -> WordsPart:
    model, setting = common
    return WordsPart(pool, model, setting, setting.ground(pool))


class _Counting(NamedTuple):
    """How to count: see `HMM.count`."""

    hard: bool
    threads: int

    def ground(self, pool: Corpus) -> None:
        """Return nothing: there are no rules."""


@contextmanager
def count_in_parts(
    model: WordModel, pool: Corpus, *, hard: bool, threads: int | None, jobs: int
) -> Iterator[Callable[[WordModel], tuple[HMMCounts, float]]]:
    """Open a pool for counting: yield the function from a model to its counts of the pool and the log likelihood.

    model : has the words of all models to come.
    """
    with shard_words(model, pool, _Counting(hard, threads or 1), jobs) as shards:

        def count(model: WordModel) -> tuple[HMMCounts, float]:
            tables, fit = shards.total(_part_counts, model.without_words())
            return tables.over(model), fit

        yield count


def _part_counts(part: WordsPart, _: None, tables: WordTables) -> tuple[tuple[CountTables, float], None]:
    """Return the counts of one part, and its log likelihood."""
    hard, threads = part.setting
    counts, fit = part.model.with_probabilities(tables).count(part.pool, hard=hard, threads=threads)
    return (CountTables.of(counts), fit), None

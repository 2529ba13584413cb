"""The expectation step of EM: what a hidden Markov model counts in unlabelled text, here or over processes.

    soft   Σ_x E[counts | x]                 and  Σ_x log Σ_y P(x, y)
    hard   Σ_x counts of argmax_y P(x, y)    and  Σ_x log max_y P(x, y)

Counts add up, so the text may be in parts (`espalier.shards`): a worker gets the probabilities of a model and returns
the counts of its part, at most V L + C L² numbers however much text that is: a row for each word that it has. Words are
known by number; they travel once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.inference import posterior
from espalier.models.hmm import HMMCounts, HMMParameters, Vocabulary
from espalier.shards import shard_corpus

__all__ = ["Count", "CountTables", "Rows", "pool_counter", "spoken", "wordless"]

Float = NDArray[np.float64]
Count: TypeAlias = Callable[[HMMParameters], tuple[HMMCounts, float]]
"""From a model to its counts of the pool, and the log likelihood of the pool."""


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

    def over(self, vocabulary: Vocabulary, transition_classes: str | None) -> HMMCounts:
        """Put words to the numbers again."""
        return HMMCounts(vocabulary, self.start, self.trans, self.emission.table(len(vocabulary)), transition_classes)


def wordless(parameters: HMMParameters) -> HMMParameters:
    """Return the probabilities without the words: what travels, since workers know those."""
    return replace(parameters, vocabulary=Vocabulary())


def spoken(tables: HMMParameters, vocabulary: Vocabulary) -> HMMParameters:
    """Undo `wordless`."""
    return replace(tables, vocabulary=vocabulary)


@contextmanager
def pool_counter(
    pool: Corpus,
    vocabulary: Vocabulary,
    labels: Labels,
    *,
    hard: bool = False,
    threads: int | None = None,
    jobs: int | None = None,
) -> Iterator[Count]:
    """Open a pool for counting; vocabulary : that of all models to come. jobs : None counts it as a whole, here."""
    count = _best_counts if hard else _expected_counts
    if jobs is None:
        yield lambda parameters: count(parameters, pool, labels, threads)
        return
    common = (vocabulary, labels, hard, threads or 1)
    with shard_corpus(pool, _part, common=common, jobs=jobs) as shards:

        def over_shards(parameters: HMMParameters) -> tuple[HMMCounts, float]:
            tables, fit = shards.total(_part_counts, wordless(parameters))
            return tables.over(vocabulary, parameters.transition_classes), fit

        yield over_shards


class _Part(NamedTuple):
    pool: Corpus
    vocabulary: Vocabulary
    labels: Labels
    hard: bool
    threads: int


def _part(common: tuple[Vocabulary, Labels, bool, int], pool: Corpus) -> _Part:
    return _Part(pool, *common)


def _part_counts(part: _Part, _: None, tables: HMMParameters) -> tuple[tuple[CountTables, float], None]:
    """Return the counts of one part, and its log likelihood."""
    count = _best_counts if part.hard else _expected_counts
    counts, fit = count(spoken(tables, part.vocabulary), part.pool, part.labels, part.threads)
    return (CountTables.of(counts), fit), None


def _expected_counts(
    parameters: HMMParameters, pool: Corpus, _: Labels, threads: int | None
) -> tuple[HMMCounts, float]:
    """Return the expected counts of the pool, and Σ log P(x)."""
    found = posterior(parameters.potentials(pool), threads=threads)
    counts = HMMCounts.from_marginals(pool, parameters.vocabulary, found, parameters.transition_classes)
    return counts, float(found.log_z.sum())


def _best_counts(
    parameters: HMMParameters, pool: Corpus, labels: Labels, threads: int | None
) -> tuple[HMMCounts, float]:
    """Return the counts of the best labellings of the pool, and Σ log max P(x, y)."""
    y, scores = parameters.tag(pool, threads)
    guessed = replace(pool, y=y, labels=labels, documents=None)
    counts = HMMCounts.from_labels(guessed, parameters.vocabulary, None, parameters.transition_classes)
    return counts, float(scores.sum())

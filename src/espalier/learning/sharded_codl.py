"""A cycle of constraint-driven learning over parts of the pool, for a hidden Markov model.

A worker labels its part of the pool under the rules and counts its own guess. Back goes a `Lesson`: counts and sums,
at most V L + C L² + 2 K numbers however much text the part holds. The guess stays with the part, to be compared with
the next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.learning.codl import Cycle, Guess, broken, label_pool, pseudo_labelled
from espalier.learning.penalties import Tally, tally
from espalier.learning.pool_counts import CountTables, Rows, spoken
from espalier.models.hmm import HMMCounts, HMMParameters, Vocabulary
from espalier.rules.compile import Compiled
from espalier.shards import Shards, shard_corpus

__all__ = ["Lesson", "PoolPart", "Setting", "label_shards", "lesson_of", "shard_pool"]

Float = NDArray[np.float64]


class Setting(NamedTuple):
    """What all parts share: the words and labels of the models, the rules, and how to label under them.

    compiled : None without rules; constrained : whether they count while the pool is labelled. counted : the rules
    whose violations are to be counted anew, None for none, and over what. k, weighting : see `guess_of`.
    """

    vocabulary: Vocabulary
    labels: Labels
    compiled: Compiled | None
    constrained: bool
    counted: Compiled | None
    over: str
    k: int
    weighting: str
    threads: int


class PoolPart(NamedTuple):
    """A part of the pool as a worker holds it; bits : where the conditions of the rules hold."""

    pool: Corpus
    setting: Setting
    bits: NDArray[np.bool_] | None


class Lesson(NamedTuple):
    """What a cycle learns from, and what its record says: sums over sequences.

    start, trans, emission : counts of the guessed labels; violated, kept : of the rules to be counted. objective,
    violations, left_out : as in `Cycle`; changed : tokens; proven : sequences; taught : labellings that were counted;
    differs : parts whose guess is not the one before.
    """

    start: Float
    trans: Float
    emission: Rows
    violated: Float
    kept: Float
    objective: float
    changed: int
    violations: int
    proven: int
    left_out: int
    taught: int
    differs: int

    def counts(self, vocabulary: Vocabulary, transition_classes: str | None) -> HMMCounts:
        """Return the counts over the words of a model."""
        return CountTables(self.start, self.trans, self.emission).over(vocabulary, transition_classes)

    def cycle(self, number: int, pool: Corpus) -> Cycle:
        """Return the record of a cycle."""
        changed, proven = self.changed / max(pool.n_tokens, 1), self.proven / max(len(pool), 1)
        return Cycle(number, self.objective, changed, self.violations, proven, self.left_out)


def shard_pool(pool: Corpus, setting: Setting, jobs: int) -> Shards[PoolPart]:
    """Hand out the parts of a pool."""
    return shard_corpus(pool, _prepared, common=setting, jobs=jobs)


def label_shards(shards: Shards[PoolPart], tables: HMMParameters, rho: Float | None) -> Lesson:
    """Label the pool with a model, given without its words, and the penalties of its rules."""
    return shards.total(lesson_of, tables, rho)


def _prepared(setting: Setting, pool: Corpus) -> PoolPart:
    return PoolPart(pool, setting, None if setting.compiled is None else setting.compiled.ground_bits(pool))


def lesson_of(part: PoolPart, before: Guess | None, tables: HMMParameters, rho: Float | None) -> tuple[Lesson, Guess]:
    """Label one part; return what is learned from it, and the guess."""
    pool, setting, _ = part
    compiled = setting.compiled
    if compiled is not None and rho is not None:
        compiled = replace(compiled, rules=compiled.rules.with_penalties(rho))
    model = spoken(tables, setting.vocabulary)
    guess = label_pool(
        model.potentials(pool), compiled if setting.constrained else None, pool,
        k=setting.k, weighting=setting.weighting, threads=setting.threads,
    )  # fmt: skip
    pseudo, belief = pseudo_labelled(pool, guess, setting.labels)
    counts = HMMCounts.from_labels(pseudo, model.vocabulary, belief, model.transition_classes)
    anew = Tally(np.zeros(0), np.zeros(0))
    if setting.counted is not None:
        anew = tally(setting.counted, pseudo, over=setting.over, sample_weight=belief)
    there = np.isfinite(guess.scores)
    lesson = Lesson(
        *CountTables.of(counts),
        *anew,
        objective=float(guess.scores[there].sum()),
        changed=pool.n_tokens if before is None else int((guess.labels[0] != before.labels[0]).sum()),
        violations=0 if compiled is None else broken(compiled, pool, guess, part.bits),
        proven=int(guess.proven.sum()),
        left_out=int((~there).sum()),
        taught=len(pseudo),
        differs=int(before is None or not guess.teaches(before)),
    )
    return lesson, guess

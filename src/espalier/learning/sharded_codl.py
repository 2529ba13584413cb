"""A cycle of constraint-driven learning over parts of the pool: workers label their text under the rules.

A worker keeps its guess, to be compared with the next. Back go a `Record`, sums for the account of the cycle, and what
the model learns from:

    HMM    the counts of the guessed labels: at most V L + C L² numbers however much text the part holds
    CRF    what the guess shows; then value and gradient of its likelihood, pass by pass (`sharded_chain`)
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.features.matrix import FeatureMatrix
from espalier.learning.codl import Cycle, Guess, broken, label_pool, pseudo_labelled
from espalier.learning.penalties import Tally, tally
from espalier.learning.pool_counts import CountTables, spoken
from espalier.learning.sharded_chain import Block, ChainPart, Held, Layout, Sight, Term, shard_blocks
from espalier.models.chain import ChainModel
from espalier.models.hmm import HMMCounts, HMMParameters, Vocabulary
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled
from espalier.shards import Shards, shard_corpus

__all__ = ["Guessing", "HMMPart", "Record", "Setting", "count_guesses", "see_guesses", "shard_chains", "shard_words"]

Float = NDArray[np.float64]


class Setting(NamedTuple):
    """What all parts share: the labels, the rules, and how to label under them.

    compiled : None without rules; constrained : whether they count while the pool is labelled. counted : the rules
    whose violations are to be counted anew, None for none, and over what. k, weighting : see `guess_of`. pool_weight :
    of a sequence of the pool in the likelihood of a CRF.
    """

    labels: Labels
    compiled: Compiled | None
    constrained: bool
    counted: Compiled | None
    over: str
    k: int
    weighting: str
    threads: int
    pool_weight: float


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """What the record of a cycle says, and what its penalties are counted from: sums over sequences.

    violated, kept : of the rules to be counted. objective, violations, left_out : as in `Cycle`; changed : tokens;
    proven : sequences; taught : labellings that there are; differs : parts whose guess is not the one before.
    """

    violated: Float
    kept: Float
    objective: float
    changed: int
    violations: int
    proven: int
    left_out: int
    taught: int
    differs: int

    def __add__(self, other: Record) -> Record:
        """Add up."""
        return Record(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    def cycle(self, number: int, pool: Corpus) -> Cycle:
        """Return the record of a cycle."""
        changed, proven = self.changed / max(pool.n_tokens, 1), self.proven / max(len(pool), 1)
        return Cycle(number, self.objective, changed, self.violations, proven, self.left_out)


class _Guessed(NamedTuple):
    """A guess, the labellings that it is made of as sequences with weights, and the record."""

    guess: Guess
    pseudo: Corpus
    belief: Float
    record: Record


def _guessed(
    setting: Setting,
    pool: Corpus,
    bits: NDArray[np.bool_] | None,
    batch: ChainBatch,
    rho: Float | None,
    before: Guess | None,
) -> _Guessed:
    """Label one part by its potentials and the penalties of the rules."""
    compiled = setting.compiled
    if compiled is not None and rho is not None:
        compiled = replace(compiled, rules=compiled.rules.with_penalties(rho))
    guess = label_pool(
        batch, compiled if setting.constrained else None, pool,
        k=setting.k, weighting=setting.weighting, threads=setting.threads,
    )  # fmt: skip
    pseudo, belief = pseudo_labelled(pool, guess, setting.labels)
    anew = Tally(np.zeros(0), np.zeros(0))
    if setting.counted is not None:
        anew = tally(setting.counted, pseudo, over=setting.over, sample_weight=belief)
    there = np.isfinite(guess.scores)
    record = Record(
        *anew,
        objective=float(guess.scores[there].sum()),
        changed=pool.n_tokens if before is None else int((guess.labels[0] != before.labels[0]).sum()),
        violations=0 if compiled is None else broken(compiled, pool, guess, bits),
        proven=int(guess.proven.sum()),
        left_out=int((~there).sum()),
        taught=len(pseudo),
        differs=int(before is None or not guess.teaches(before)),
    )
    return _Guessed(guess, pseudo, belief, record)


def _bits(setting: Setting, pool: Corpus) -> NDArray[np.bool_] | None:
    """Return where the conditions of the rules hold."""
    return None if setting.compiled is None else setting.compiled.ground_bits(pool)


class HMMPart(NamedTuple):
    """A part of the pool as a worker holds it, for hidden Markov models over a vocabulary."""

    pool: Corpus
    vocabulary: Vocabulary
    setting: Setting
    bits: NDArray[np.bool_] | None


def shard_words(pool: Corpus, vocabulary: Vocabulary, setting: Setting, jobs: int) -> Shards[HMMPart]:
    """Hand out the parts of a pool for hidden Markov models."""
    return shard_corpus(pool, _hmm_part, common=(vocabulary, setting), jobs=jobs)


def _hmm_part(common: tuple[Vocabulary, Setting], pool: Corpus) -> HMMPart:
    vocabulary, setting = common
    return HMMPart(pool, vocabulary, setting, _bits(setting, pool))


def count_guesses(
    part: HMMPart, before: Guess | None, tables: HMMParameters, rho: Float | None
) -> tuple[tuple[CountTables, Record], Guess]:
    """Label one part with a model, given without its words, and penalties; return what is counted, and the guess."""
    model = spoken(tables, part.vocabulary)
    found = _guessed(part.setting, part.pool, part.bits, model.potentials(part.pool), rho, before)
    counts = HMMCounts.from_labels(found.pseudo, model.vocabulary, found.belief, model.transition_classes)
    return (CountTables.of(counts), found.record), found.guess


class Guessing(NamedTuple):
    """The belief in a guess: each labelling of a sequence is one with its share of the pool's weight."""

    guess: Guess
    pool_weight: float

    def laid_out(self, block: Block, layout: Layout, threads: int) -> tuple[Guessing, list[Term]]:
        """Keep the guess, to be compared with the next."""
        return self, self.terms(block, layout, threads)

    def terms(self, block: Block, layout: Layout, threads: int) -> list[Term]:
        """Return the likelihood of the first labellings of all sequences, of the second, ..."""
        # A labelling that does not exist weighs nothing, whatever stands for its labels.
        labels, weight = np.maximum(self.guess.labels, 0), self.pool_weight * self.guess.weight
        return [block.likelihood(layout, y, own, threads) for y, own in zip(labels, weight, strict=True)]


def shard_chains(
    pool: Corpus, matrix: FeatureMatrix, setting: Setting, jobs: int
) -> tuple[Shards[ChainPart], list[NDArray[np.int64]]]:
    """Hand out the parts of a pool, and of its features, for a CRF; return also the attributes of each."""
    return shard_blocks(pool, matrix, _chain_part, common=setting, jobs=jobs)


def _chain_part(setting: Setting, block: Block) -> ChainPart:
    return ChainPart(block, setting, _bits(setting, block.pool), {})


def see_guesses(
    part: ChainPart, held: Held | None, model: ChainModel, rho: Float | None
) -> tuple[tuple[Sight, Record], Held]:
    """Label one part with a model over the attributes of all parts; return what the labels show."""
    setting: Setting = part.setting
    before = None if held is None else held.belief.guess
    found = _guessed(setting, part.pool, part.ground, part.potentials(model), rho, before)
    there = np.repeat(found.guess.weight > 0, np.diff(part.pool.indptr), axis=1)
    shown = np.where(there, found.guess.labels, -1).astype(np.int16)
    sights = [part.sight(y, len(setting.labels)) for y in shown]
    return (sum(sights[1:], sights[0]), found.record), Held(Guessing(found.guess, setting.pool_weight))

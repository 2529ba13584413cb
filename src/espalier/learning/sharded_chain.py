"""A CRF and a pool in parts over processes: workers decide what the labels of their text are, and keep them.

    f(w) = (likelihood of the labels)(w) + Σ_parts f_part(w)

A worker holds the feature matrix of its part, over the attributes that occur there. A turn of learning has three steps,
and in none of them do words, labels or marginals travel:

    1. every worker gets the weights of a model, finds out what to believe of its part, and keeps that; back goes a
       `Sight`: which attributes were seen with which labels, and which labels next to each other;
    2. these make the `Layout`, the list of weights to learn, which goes to all workers;
    3. a pass over f sends the P weights; each part returns a value and at most P numbers, added in the order of parts.

What to believe, and the f_part that follows, is the affair of a `Belief`: guessed labels (`sharded_codl`) or a
projected distribution (`sharded_projection`). What was built for a layout stays in the memory of a process; another one
that gets the part builds it again from the part's state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.features.matrix import FeatureMatrix
from espalier.learning.likelihood import ChainLikelihood
from espalier.learning.sharded_likelihood import Likelihood, own_pairs, own_rows
from espalier.models.chain import ChainModel
from espalier.models.pairs import Pairs
from espalier.potentials import ChainBatch
from espalier.shards import Shards, corpus_parts, fixed_parts, shards_of

__all__ = ["Belief", "Block", "ChainPart", "Held", "Layout", "PartedLikelihood", "Sight", "Term", "shard_blocks"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]
Term: TypeAlias = Callable[[Float], tuple[float, Float]]
"""A function of a part's own weights: its value and its gradient."""


class Layout(NamedTuple):
    """Which weights there are. number : of the turn; pairs : over the attributes of all parts, or of one.

    learned, allowed : bool[L, L]; start_allowed : bool[L].
    """

    number: int
    pairs: Pairs
    learned: Bool
    start_allowed: Bool
    allowed: Bool

    def own(self, attributes: Int) -> tuple[Layout, Int]:
        """Return the layout of a part that has these attributes, and the numbers of its weights among all."""
        pairs, numbers = own_pairs(self.pairs, attributes)
        transitions = len(self.pairs) + np.arange(int((self.learned & self.allowed).sum()))
        return self._replace(pairs=pairs), np.append(numbers, transitions)


class Block(NamedTuple):
    """Some sequences of the pool. matrix, attributes : features over their attributes, and the numbers of these."""

    pool: Corpus
    matrix: FeatureMatrix
    attributes: Int

    def likelihood(self, layout: Layout, y: NDArray[np.int16], weight: Float, threads: int) -> ChainLikelihood:
        """Return the likelihood of some labels; layout : of this part, weight : float64[N]."""
        return ChainLikelihood(self.matrix, self.pool.indptr, y, *layout[1:], weight, threads)


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What labels show. pairs : int64[n], rising, attribute · L + label; transitions : bool[L, L]; starts : bool[L]."""

    pairs: Int
    transitions: Bool
    starts: Bool

    @classmethod
    def of(cls, matrix: FeatureMatrix, attributes: Int, indptr: Int, y: NDArray[np.int16], L: int) -> Sight:
        """Look at labels, int16[M], -1 where there is none; attributes : rising, the numbers of the matrix's own."""
        seen = Pairs.observed(matrix, y, L)
        transitions, starts = np.zeros((L, L), bool), np.zeros(L, bool)
        first = indptr[:-1][np.diff(indptr) > 0]
        inside = np.ones(len(y), bool)
        inside[first] = False
        after = np.flatnonzero(inside & (y >= 0))
        after = after[y[after - 1] >= 0]
        transitions[y[after - 1], y[after]] = True
        starts[y[first][y[first] >= 0]] = True
        return cls(attributes[seen.attributes()] * L + seen.label, transitions, starts)

    def __add__(self, other: Sight) -> Sight:
        """Return what either shows."""
        pairs = np.union1d(self.pairs, other.pairs)
        return Sight(pairs, self.transitions | other.transitions, self.starts | other.starts)

    def as_pairs(self, n_attributes: int) -> Pairs:
        """Return the pairs over so many attributes."""
        L = len(self.starts)
        ptr = np.searchsorted(self.pairs, np.arange(n_attributes + 1) * L).astype(np.int64)
        return Pairs.of(L, ptr, (self.pairs % L).astype(np.int16))


class Belief(Protocol):
    """What a worker believes of the labels of its part."""

    def laid_out(self, block: Block, layout: Layout, threads: int) -> tuple[Belief, list[Term]]:
        """Return what of it is needed from now on, where weights are laid out so, and the terms of f_part."""

    def terms(self, block: Block, layout: Layout, threads: int) -> list[Term]:
        """Return the terms of f_part of a belief that was laid out."""


class Held(NamedTuple):
    """The state of a part: what is believed of it; then also the layout of its weights, and their numbers."""

    belief: Any
    layout: Layout | None = None
    parameters: Int | None = None


class ChainPart(NamedTuple):
    """A part as a worker holds it. setting, ground : what to believe by, and its rules on this text.

    built : the terms of the layout in use, by its number: a memory, and the only thing here that changes.
    """

    block: Block
    setting: Any
    ground: Any
    built: dict[int, list[Term]]

    @property
    def pool(self) -> Corpus:
        """The sequences."""
        return self.block.pool

    def potentials(self, model: ChainModel) -> ChainBatch:
        """Return the potentials under a model over the attributes of all parts."""
        pairs, numbers = own_pairs(model.pairs, self.block.attributes)
        own = ChainModel(pairs, model.w[numbers], model.trans, model.start, model.end)
        return own.potentials(self.block.matrix, self.pool.indptr, self.setting.threads)

    def sight(self, y: NDArray[np.int16], L: int) -> Sight:
        """Return what labels of this part show."""
        return Sight.of(self.block.matrix, self.block.attributes, self.pool.indptr, y, L)

    def lay_out(self, belief: Belief, layout: Layout) -> Held:
        """Keep the layout of the part's own weights, and what is built for it."""
        own, parameters = layout.own(self.block.attributes)
        self.built.clear()
        belief, self.built[layout.number] = belief.laid_out(self.block, own, self.setting.threads)
        return Held(belief, own, parameters)

    def terms(self, held: Held) -> list[Term]:
        """Return the terms of f_part, built again where another process has done it."""
        assert held.layout is not None
        number = held.layout.number
        if number not in self.built:
            self.built.clear()
            self.built[number] = held.belief.terms(self.block, held.layout, self.setting.threads)
        return self.built[number]


def shard_blocks(
    pool: Corpus, matrix: FeatureMatrix, prepare: Callable[[Any, Block], ChainPart], *, common: Any, jobs: int
) -> tuple[Shards[ChainPart], list[Int]]:
    """Hand out the fixed parts of a pool and its matrix; return them, and the attributes of each."""
    cuts = fixed_parts(pool.indptr)
    blocks = [
        Block(part, *own_rows(matrix, int(pool.indptr[lo]), int(pool.indptr[hi])))
        for (lo, hi), part in zip(cuts, corpus_parts(pool, cuts), strict=True)
    ]
    shards = shards_of(blocks, prepare, common=common, jobs=jobs, first=[lo for lo, _ in cuts])
    return shards, [block.attributes for block in blocks]


class PartedLikelihood:
    """f and its gradient, called with a weight vector, float64[P]: that of the labels, and the terms of all parts."""

    def __init__(
        self, labelled: Likelihood, shards: Shards[ChainPart], attributes: Sequence[Int], layout: Layout
    ) -> None:
        """Send the layout."""
        self._labelled, self._shards = labelled, shards
        self.threads, self.n_parameters = labelled.threads, labelled.n_parameters
        self.from_label, self.to_label = labelled.from_label, labelled.to_label
        self._parameters = [layout.own(own)[1] for own in attributes]
        shards.replies(_lay_out, layout)

    def __call__(self, w: Float) -> tuple[float, Float]:
        """Return f(w) and its gradient."""
        value, gradient = self._labelled(w)
        for numbers, (part, slope) in zip(self._parameters, self._shards.replies(_value, w), strict=True):
            value += part
            gradient[numbers] += slope
        return value, gradient


def _lay_out(part: ChainPart, held: Held | None, layout: Layout) -> tuple[tuple[()], Held]:
    """Lay out a part."""
    assert held is not None
    return (), part.lay_out(held.belief, layout)


def _value(part: ChainPart, held: Held | None, w: Float) -> tuple[tuple[float, Float], Held]:
    """Return f_part and its gradient, over the part's own weights."""
    assert held is not None
    assert held.parameters is not None
    own = w[held.parameters]
    value, gradient = 0.0, np.zeros(len(own))
    for term in part.terms(held):
        more, slope = term(own)
        value, gradient = value + more, gradient + slope
    return (value, gradient), held

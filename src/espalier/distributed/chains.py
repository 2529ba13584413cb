"""A CRF and sequences in parts over processes: each part adds its value and its gradient.

    f(w) = Σ_parts f_part(w),    ∂f/∂w = Σ_parts ∂f_part/∂w

**Labels in parts** (`likelihood_in_parts`): each part is a `ChainLikelihood` of its own, over the attributes that occur
in it. A worker gets the weights and returns the value and the gradient of its part, added here in the order of the
parts. On one machine threads are nearly always faster: they share one table of weights, and nothing travels. This is
for corpora whose working memory does not fit one machine. A pass sends the P weights to every worker, and each part
returns at most P numbers, however long it is.

**A pool in parts** (`PoolProblem`): workers find the labels of their text, and keep them. All text passes through this
process once, because the attributes, and the twins among them, are those of labels and pool together. A turn of
learning has three steps, and in none of them do words, labels or marginals travel:

    1. every worker gets the weights of a model, finds the labels of its part (`PoolLabels`: guesses, or a projected
       distribution), and keeps them; back goes a `SeenPairs`: which attributes were seen with which labels, and which
       labels next to each other;
    2. these make the `Layout`, the list of weights to learn, which goes to all workers;
    3. a pass over f sends the P weights; each part returns a value and at most P numbers.

What was built for a layout stays in the memory of a process; another one that gets the part builds it again from the
part's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.distributed.shards import Shards, corpus_parts, fixed_parts, shards_of
from espalier.errors import InputError
from espalier.estimators.base import fresh
from espalier.estimators.crf import CRF, TrainingSet
from espalier.estimators.joined import token_rows
from espalier.features.matrix import FeatureMatrix
from espalier.learning.codl import join
from espalier.learning.likelihood import ChainLikelihood, Likelihood, Twins
from espalier.models.linear import ChainModel, Pairs, carried
from espalier.parallel import choose_threads
from espalier.potentials import ChainBatch

__all__ = [
    "Block", "ChainPart", "Layout", "PartState", "PoolLabels", "PoolProblem", "SeenPairs", "SumOfParts", "Term",
    "check_copies", "likelihood_in_parts", "own_rows", "shard_blocks",
]  # fmt: skip

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
class SeenPairs:
    """What labels show. pairs : int64[n], rising, attribute · L + label; transitions : bool[L, L]; starts : bool[L]."""

    pairs: Int
    transitions: Bool
    starts: Bool

    @classmethod
    def of(cls, matrix: FeatureMatrix, attributes: Int, indptr: Int, y: NDArray[np.int16], L: int) -> SeenPairs:
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

    def __add__(self, other: SeenPairs) -> SeenPairs:
        """Return what either shows."""
        pairs = np.union1d(self.pairs, other.pairs)
        return SeenPairs(pairs, self.transitions | other.transitions, self.starts | other.starts)

    def as_pairs(self, n_attributes: int) -> Pairs:
        """Return the pairs over so many attributes."""
        L = len(self.starts)
        ptr = np.searchsorted(self.pairs, np.arange(n_attributes + 1) * L).astype(np.int64)
        return Pairs.of(L, ptr, (self.pairs % L).astype(np.int16))


class PoolLabels(Protocol):
    """What a worker takes for the labels of its part: guesses, or a distribution over them."""

    def laid_out(self, block: Block, layout: Layout, threads: int) -> tuple[PoolLabels, list[Term]]:
        """Return what of it is needed from now on, where weights are laid out so, and the terms of f_part."""

    def terms(self, block: Block, layout: Layout, threads: int) -> list[Term]:
        """Return the terms of f_part, of labels that were laid out."""


class PartState(NamedTuple):
    """The state of a part: its labels; then also the layout of its weights, and their numbers."""

    labels: Any
    layout: Layout | None = None
    parameters: Int | None = None


class ChainPart(NamedTuple):
    """A part as a worker holds it. setting, ground : how to find labels, and the rules on this text.

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

    def seen(self, y: NDArray[np.int16], L: int) -> SeenPairs:
        """Return what labels of this part show."""
        return SeenPairs.of(self.block.matrix, self.block.attributes, self.pool.indptr, y, L)

    def lay_out(self, labels: PoolLabels, layout: Layout) -> PartState:
        """Keep the layout of the part's own weights, and what is built for it."""
        own, parameters = layout.own(self.block.attributes)
        self.built.clear()
        labels, self.built[layout.number] = labels.laid_out(self.block, own, self.setting.threads)
        return PartState(labels, own, parameters)

    def terms(self, state: PartState) -> list[Term]:
        """Return the terms of f_part, built again where another process has done it."""
        assert state.layout is not None
        number = state.layout.number
        if number not in self.built:
            self.built.clear()
            self.built[number] = state.labels.terms(self.block, state.layout, self.setting.threads)
        return self.built[number]


def shard_blocks(pool: Corpus, matrix: FeatureMatrix, setting: Any, jobs: int) -> tuple[Shards[ChainPart], list[Int]]:
    """Hand out the fixed parts of a pool and its matrix; return them, and the attributes of each.

    setting : what all parts share; it has `ground(pool)`, and the `threads` of one worker.
    """
    cuts = fixed_parts(pool.indptr)
    blocks = [
        Block(part, *own_rows(matrix, int(pool.indptr[lo]), int(pool.indptr[hi])))
        for (lo, hi), part in zip(cuts, corpus_parts(pool, cuts), strict=True)
    ]
    shards = shards_of(blocks, _chain_part, common=setting, jobs=jobs, first=[lo for lo, _ in cuts])
    return shards, [block.attributes for block in blocks]


def _chain_part(setting: Any, block: Block) -> ChainPart:
    return ChainPart(block, setting, setting.ground(block.pool), {})


class SumOfParts:
    """f and its gradient, called with a weight vector, float64[P]: the sum of those of all parts.

    function : what each part is asked, with the weights; parameters : the numbers of each part's weights. here : a
    likelihood to which the parts are added, or None. The others are those of `Likelihood`.
    """

    def __init__(
        self, shards: Shards[Any], function: Any, parameters: Sequence[Int], learned: Bool, n_parameters: int,
        threads: int, here: Likelihood | None = None,
    ) -> None:  # fmt: skip
        """Keep them."""
        self._shards, self._function, self._parameters, self._here = shards, function, parameters, here
        self.from_label, self.to_label = np.nonzero(learned)
        self.n_parameters, self.threads = n_parameters, threads

    def __call__(self, w: Float) -> tuple[float, Float]:
        """Return f(w) and its gradient."""
        value, gradient = (0.0, np.zeros(self.n_parameters)) if self._here is None else self._here(w)
        for numbers, (part, slope) in zip(self._parameters, self._shards.replies(self._function, w), strict=True):
            value += part
            gradient[numbers] += slope
        return value, gradient


class _Labelled(NamedTuple):
    """A part of a labelled corpus. parameters : int64, the numbers of its weights among all."""

    matrix: FeatureMatrix
    indptr: Int
    y: NDArray[np.int16]
    layout: Layout
    sample_weight: Float | None
    parameters: Int


@contextmanager
def likelihood_in_parts(
    matrix: FeatureMatrix, indptr: Int, y: NDArray[np.int16], pairs: Pairs, learned: Bool, start_allowed: Bool,
    allowed: Bool, sample_weight: Float | None = None, threads: int | None = None, *, jobs: int,
) -> Iterator[SumOfParts]:  # fmt: skip
    """Cut a labelled corpus and hand out the parts; yield the likelihood. The arguments are `ChainLikelihood`'s."""
    cuts, layout = fixed_parts(indptr), Layout(0, pairs, learned, start_allowed, allowed)
    parts = []
    for lo, hi in cuts:
        rows, attributes = own_rows(matrix, int(indptr[lo]), int(indptr[hi]))
        weight = None if sample_weight is None else sample_weight[lo:hi]
        own, parameters = layout.own(attributes)
        labels = y[indptr[lo] : indptr[hi]]
        parts.append(_Labelled(rows, indptr[lo : hi + 1] - indptr[lo], labels, own, weight, parameters))
    known = learned & allowed
    size, here = len(pairs) + int(known.sum()), choose_threads(len(y), threads)
    with shards_of(parts, _labelled_part, common=threads or 1, jobs=jobs, first=[lo for lo, _ in cuts]) as shards:
        yield SumOfParts(shards, _labelled_value, [part.parameters for part in parts], known, size, here)


def _labelled_part(threads: int, data: _Labelled) -> tuple[ChainLikelihood, Int]:
    matrix, indptr, y, layout, sample_weight, parameters = data
    return ChainLikelihood(matrix, indptr, y, *layout[1:], sample_weight, threads), parameters


def _labelled_value(part: tuple[ChainLikelihood, Int], _: None, w: Float) -> tuple[tuple[float, Float], None]:
    """Return f and its gradient of one part, over its own weights."""
    likelihood, parameters = part
    return likelihood(w[parameters]), None


def _lay_out(part: ChainPart, state: PartState | None, layout: Layout) -> tuple[tuple[()], PartState]:
    """Lay out a part."""
    assert state is not None
    return (), part.lay_out(state.labels, layout)


def _value(part: ChainPart, state: PartState | None, w: Float) -> tuple[tuple[float, Float], PartState]:
    """Return f_part and its gradient, over the part's own weights."""
    assert state is not None
    assert state.parameters is not None
    own = w[state.parameters]
    value, gradient = 0.0, np.zeros(len(own))
    for term in part.terms(state):
        more, slope = term(own)
        value, gradient = value + more, gradient + slope
    return (value, gradient), state


def check_copies(base: CRF) -> None:
    """Refuse a CRF whose training data no part has by itself."""
    if base.copies:
        raise InputError(
            f"copies={base.copies} exchanges words between all sequences, and workers see their own alone",
            hint="set copies=0, or leave out jobs",
        )
    if base.replay is not None:
        raise InputError("replayed sequences are in no part of the data", hint="set replay=null, or leave out jobs")


class PoolProblem:
    """The training problem of one CRF on a labelled corpus and a pool; `matrix` holds the features of the pool."""

    def __init__(self, base: CRF, labelled: Corpus, weight: Float | None, pool: Corpus) -> None:
        """Extract the attributes of all the text."""
        base.check_parameters()
        check_copies(base)
        assert labelled.labels is not None
        self.base, self.labelled, self.labels, self.weight = base, labelled, labelled.labels, weight
        everything = join(labelled, pool)
        self.index, matrix = base.indexed(everything, everything)
        self.prior = None if base.prior is None else base.prior.over(self.index, self.labels)
        self.twins = Twins.apart(matrix) if base.l1 or self.prior else Twins.merge(matrix)
        M = labelled.n_tokens
        self.own = token_rows(self.twins.matrix, 0, M)
        self.matrix = token_rows(self.twins.matrix, M, M + pool.n_tokens)
        self._turns = 0

    def travelling(self, crf: CRF) -> ChainModel:
        """Return a fitted CRF over the attributes that workers know: one for all twins, with the sum of their weights.

        Attributes that it does not know weigh nothing.
        """
        if crf.labels_ != self.labels:
            raise InputError(
                "the model and the labelled data have other labels, or in another order", hint="fit with labels="
            )
        model = crf.weights_
        placed = model if crf.index_ is self.index else self.start(crf)  # which forgets what is forbidden
        L, pairs = len(self.labels), placed.pairs
        keys, which = np.unique(self.twins.group[pairs.attributes()] * L + pairs.label, return_inverse=True)
        merged = SeenPairs(keys, np.zeros((L, L), bool), np.zeros(L, bool)).as_pairs(self.own.n_attributes)
        w = np.bincount(which, placed.w, len(keys)).astype(np.float64)
        return ChainModel(merged, w, model.trans, model.start, model.end)

    def start(self, crf: CRF) -> ChainModel:
        """Return the weights of a fitted CRF to begin from."""
        return crf.learned_.over(self.index, self.labels)

    def fit(
        self,
        shards: Shards[ChainPart],
        attributes: Sequence[NDArray[np.int64]],
        seen: SeenPairs,
        start: ChainModel | None,
    ) -> tuple[CRF, float]:
        """Return the CRF of given labels and of those that workers keep, and the loss of the given ones under it.

        seen : what the pool's labels show; start : weights to begin the search from.
        """
        labelled, crf = self.labelled, fresh(self.base)
        assert labelled.y is not None
        layout, observed = self._layout(seen)
        data = TrainingSet(
            self.own, labelled.indptr, labelled.y, self.labels, layout.start_allowed, layout.allowed, observed,
            self.weight, start, self.prior,
        )  # fmt: skip
        with crf.likelihood(self.own, labelled.indptr, labelled.y, *layout[1:], self.weight) as here:
            shards.replies(_lay_out, layout)
            likelihood = SumOfParts(
                shards, _value, [layout.own(own)[1] for own in attributes], layout.learned & layout.allowed,
                here.n_parameters, here.threads, here,
            )  # fmt: skip
            crf.weights_ = crf.minimised(data, self.twins, layout.pairs, likelihood)
            steps = crf.weights_.trans[here.from_label, here.to_label]
            loss, _ = here(np.append(carried(crf.weights_, self.twins.group, layout.pairs), steps))
        crf.index_, crf.labels_, crf.training_digest_ = self.index, self.labels, labelled.digest()
        return crf, loss

    def _layout(self, seen: SeenPairs) -> tuple[Layout, NDArray[np.bool_]]:
        """Return the weights to learn, those that a CRF of all these labels has, and the transitions observed."""
        labelled = self.labelled
        assert labelled.y is not None
        A = self.own.n_attributes
        seen = SeenPairs.of(self.own, np.arange(A), labelled.indptr, labelled.y, len(self.labels)) + seen
        start_allowed, allowed = self.labels.allowed()
        start_allowed, allowed = start_allowed | seen.starts, allowed | seen.transitions
        pairs: Pairs = seen.as_pairs(A)
        learned = seen.transitions if self.base.transitions == "observed" else allowed
        if self.prior is not None:
            pairs, learned = pairs.union(self.prior.pairs), learned | (self.prior.trans != 0)
        self._turns += 1
        return Layout(self._turns, pairs, learned, start_allowed, allowed), seen.transitions


def own_rows(matrix: FeatureMatrix, first: int, last: int) -> tuple[FeatureMatrix, Int]:
    """Return the tokens first..last-1 with the bundles and attributes that they have, and the numbers of the latter."""
    A = matrix.n_attributes
    a, b = matrix.token_indptr[first], matrix.token_indptr[last]
    refs = matrix.token_refs[a:b].astype(np.int64)
    bundles = np.unique(refs[refs >= A]) - A
    lengths = np.diff(matrix.bundle_indptr)[bundles]
    bundle_indptr = np.append(0, np.cumsum(lengths))
    source = np.arange(bundle_indptr[-1]) + np.repeat(matrix.bundle_indptr[:-1][bundles] - bundle_indptr[:-1], lengths)
    ids = matrix.bundle_ids[source].astype(np.int64)
    attributes = np.union1d(refs[refs < A], ids)
    places = np.where(refs < A, np.searchsorted(attributes, refs), len(attributes) + np.searchsorted(bundles, refs - A))
    part = replace(
        matrix,
        n_attributes=len(attributes),
        token_indptr=matrix.token_indptr[first : last + 1] - a,
        token_refs=places,
        bundle_indptr=bundle_indptr,
        bundle_ids=np.searchsorted(attributes, ids),
        token_values=matrix.token_values[a:b],  # none at all where every value is one
        bundle_values=matrix.bundle_values[source] if len(matrix.bundle_values) else matrix.bundle_values,
    )
    return part, attributes


def own_pairs(pairs: Pairs, attributes: Int) -> tuple[Pairs, Int]:
    """Return the pairs of some attributes, and their numbers among all."""
    lengths = np.diff(pairs.ptr)[attributes]
    ptr = np.append(0, np.cumsum(lengths)).astype(np.int64)
    numbers = np.arange(ptr[-1]) + np.repeat(pairs.ptr[:-1][attributes] - ptr[:-1], lengths)
    return Pairs.of(pairs.n_labels, ptr, pairs.label[numbers]), numbers

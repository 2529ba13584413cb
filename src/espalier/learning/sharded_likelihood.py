"""The likelihood of a CRF whose corpus is in parts over processes or machines.

    f(w) = Σ_parts f_part(w),    ∂f/∂w = Σ_parts ∂f_part/∂w

Each part is a `ChainLikelihood` of its own, over the attributes that occur in it; a worker gets the weights and returns
the value and the gradient of its part, added here in the order of the parts. On one machine threads are nearly always
faster: they share one table of weights, and nothing travels. This is for corpora whose working memory (a row of scores
a token, the feature matrix by token and by attribute) does not fit one machine. A pass sends the P weights to every
worker, and each part returns at most P numbers, however long it is.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from espalier.features.matrix import FeatureMatrix
from espalier.learning.likelihood import ChainLikelihood
from espalier.models.pairs import Pairs
from espalier.parallel import choose_threads
from espalier.shards import fixed_parts, shards_of

__all__ = ["Likelihood", "ShardedLikelihood", "likelihood_of", "own_pairs", "own_rows"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]


class Allowed(NamedTuple):
    """What all parts share. learned, allowed : bool[L, L]; start_allowed : bool[L]; threads : of one worker."""

    learned: Bool
    start_allowed: Bool
    allowed: Bool
    threads: int


class _Data(NamedTuple):
    """A part of a corpus. parameters : int64, the numbers of its weights among all."""

    matrix: FeatureMatrix
    indptr: Int
    y: NDArray[np.int16]
    pairs: Pairs
    sample_weight: Float | None
    parameters: Int


class _Part(NamedTuple):
    likelihood: ChainLikelihood
    parameters: Int


class ShardedLikelihood:
    """f and its gradient for one corpus in parts; a context manager, to be called with a weight vector.

    The parameters are those of `ChainLikelihood`. jobs : the number of processes, which does not change the result.
    """

    def __init__(
        self,
        matrix: FeatureMatrix,
        indptr: Int,
        y: NDArray[np.int16],
        pairs: Pairs,
        learned: Bool,
        start_allowed: Bool,
        allowed: Bool,
        sample_weight: Float | None = None,
        threads: int | None = None,
        *,
        jobs: int,
    ) -> None:
        """Cut the corpus and hand out the parts."""
        self.threads = choose_threads(len(y), threads)
        self.from_label, self.to_label = np.nonzero(learned & allowed)
        self.n_parameters = len(pairs) + len(self.from_label)
        transitions = np.arange(len(pairs), self.n_parameters)
        cuts = fixed_parts(indptr)
        parts = []
        for lo, hi in cuts:
            own, attributes = own_rows(matrix, int(indptr[lo]), int(indptr[hi]))
            kept, numbers = own_pairs(pairs, attributes)
            weight = None if sample_weight is None else sample_weight[lo:hi]
            borders = indptr[lo : hi + 1] - indptr[lo]
            labels = y[indptr[lo] : indptr[hi]]
            parts.append(_Data(own, borders, labels, kept, weight, np.append(numbers, transitions)))
        self._parameters = [part.parameters for part in parts]
        common = Allowed(learned, start_allowed, allowed, threads or 1)
        self._shards = shards_of(parts, _prepared, common=common, jobs=jobs, first=[lo for lo, _ in cuts])

    def __call__(self, w: Float) -> tuple[float, Float]:
        """Return f(w) and its gradient."""
        value, gradient = 0.0, np.zeros(self.n_parameters)
        for numbers, (part, slope) in zip(self._parameters, self._shards.replies(_value, w), strict=True):
            value += part
            gradient[numbers] += slope
        return value, gradient

    def __enter__(self) -> ShardedLikelihood:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give back what the parts hold."""
        self._shards.close()


class Likelihood(Protocol):
    """A negative log-likelihood over weights of pairs, then of transitions, wherever its sequences are."""

    @property
    def threads(self) -> int:
        """For what is done with the vectors here."""

    @property
    def n_parameters(self) -> int:
        """Weights in all: pairs, then transitions."""

    @property
    def from_label(self) -> Int:
        """The label before each learned transition."""

    @property
    def to_label(self) -> Int:
        """The label after each."""

    def __call__(self, w: Float) -> tuple[float, Float]:
        """Return the value and its gradient."""


def likelihood_of(
    matrix: FeatureMatrix, indptr: Int, y: NDArray[np.int16], pairs: Pairs, learned: Bool, start_allowed: Bool,
    allowed: Bool, sample_weight: Float | None, threads: int | None, jobs: int | None,
) -> AbstractContextManager[Likelihood]:  # fmt: skip
    """Return the likelihood of a corpus as a whole (jobs is None) or in parts."""
    arguments = (matrix, indptr, y, pairs, learned, start_allowed, allowed, sample_weight, threads)
    return nullcontext(ChainLikelihood(*arguments)) if jobs is None else ShardedLikelihood(*arguments, jobs=jobs)


def _prepared(common: Allowed, data: _Data) -> _Part:
    matrix, indptr, y, pairs, sample_weight, parameters = data
    learned, start_allowed, allowed, threads = common
    likelihood = ChainLikelihood(matrix, indptr, y, pairs, learned, start_allowed, allowed, sample_weight, threads)
    return _Part(likelihood, parameters)


def _value(part: _Part, _: None, w: Float) -> tuple[tuple[float, Float], None]:
    """Return f and its gradient of one part, over its own weights."""
    return part.likelihood(w[part.parameters]), None


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

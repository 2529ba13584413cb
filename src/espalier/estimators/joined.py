"""A CRF over labelled and unlabelled sequences together: what both learners from expectations train.

    minimise  -Σ_labelled ω_n log p(y_n | x_n) + l1 ‖w‖₁ + l2 ‖w‖² + (a term of the unlabelled sequences)

Attributes are those of all the text; an attribute has a weight for every label it was seen with, in the labels given or
in the *guessed* ones of the pool. A guess only opens the way for a weight: what it becomes is the objective's affair.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.abilities import Expecting
from espalier.estimators.base import fresh
from espalier.features.matrix import FeatureMatrix
from espalier.inference import Posterior, viterbi
from espalier.learning.generalised_expectation import ExpectationCriterion, ScoreCriterion
from espalier.learning.likelihood import ChainLikelihood, SoftLikelihood, Twins
from espalier.models.linear import Pairs
from espalier.potentials import ChainBatch

if TYPE_CHECKING:
    from espalier.estimators.crf import CRF, Term

__all__ = ["JoinedCRF", "token_rows"]

Float = NDArray[np.float64]


class JoinedCRF:
    """The training problem of one CRF, a labelled corpus and a pool.

    `guess` lays it out for guessed labels of the pool; then `likelihood` is the loss of the labels, `pool` the model on
    the pool (a SoftLikelihood), and `fit` minimises.
    """

    likelihood: ChainLikelihood
    pool: SoftLikelihood

    def __init__(
        self, crf: CRF, labelled: Corpus, pool: Corpus, sample_weight: Float | None, pool_weight: float
    ) -> None:
        """Extract the attributes of all the text."""
        crf.check_parameters()
        if crf.prior is not None:
            raise InputError("a CRF with a prior learns from labels alone, or in CoDL", hint="leave out prior")
        for name in ("copies", "replay"):
            if getattr(crf, name):
                raise InputError(f"a CRF with {name} learns from labels alone, or in CoDL", hint=f"leave out {name}")
        self.crf, self.labelled, self.joined = crf, labelled, labelled + pool
        self.index, matrix = crf.indexed(self.joined)
        self.twins = Twins.apart(matrix) if crf.l1 else Twins.merge(matrix)
        self.sample_weight, self.pool_weight = sample_weight, pool_weight
        self.found: tuple[NDArray[np.int64], Float] | None = None

    def guess(self, guessed: NDArray[np.int16]) -> None:
        """Choose the weights for guessed labels of the pool, int16[M]."""
        crf, labelled, matrix = self.crf, self.labelled, self.twins.matrix
        assert labelled.y is not None
        everything = replace(self.joined, y=np.append(labelled.y, guessed).astype(np.int16), labels=labelled.labels)
        data = crf.training_set(everything, matrix, None)
        self.pairs = Pairs.observed(matrix, data.y, data.n_labels)
        self.data = data
        learned = data.observed_transitions if crf.transitions == "observed" else data.allowed
        shape = (self.pairs, learned, data.start_allowed, data.allowed)
        M, N = labelled.n_tokens, len(labelled)
        self.likelihood = ChainLikelihood(
            token_rows(matrix, 0, M), labelled.indptr, labelled.y, *shape, self.sample_weight, crf.threads
        )
        borders = self.joined.indptr[N:] - self.joined.indptr[N]
        self.pool = SoftLikelihood(token_rows(matrix, M, len(data.y)), borders, *shape, self.pool_weight, crf.threads)
        self.scale = np.ones(self.likelihood.n_parameters)
        self.scale[: len(self.pairs)] = self.twins.scale(self.pairs)
        L, steps = self.pairs.n_labels, self.likelihood
        attribute = np.append(self.pairs.attributes(), self.pairs.n_attributes + steps.from_label)
        self.names = attribute * L + np.append(self.pairs.label, steps.to_label)

    def supervised(self) -> tuple[CRF, float]:
        """Return the CRF of the labels alone, and its goodness: their log likelihood minus the penalties."""
        fitted = fresh(self.crf).fit(self.labelled, sample_weight=self.sample_weight)
        return fitted, -fitted.minimum_.value

    def refit(self, batch: ChainBatch, posterior: Posterior) -> tuple[CRF, float]:
        """Return the CRF fitted to the labels and to a distribution over the pool's labellings, and its goodness."""
        from espalier.kernels.history import dot

        self.guess(viterbi(batch).labels)
        self.pool.fit_to(posterior.marginals, posterior.transitions[0])
        # The objective is convex: where the search begins decides how long it takes, not where it ends.
        model, v = self.fit(self.pool, None if self.found is None else self.carried(*self.found))
        self.found = (self.names, v)
        penalty = self.crf.l1 * float(np.abs(v).sum()) + self.crf.l2 * dot(v, v)
        return model, -self.likelihood(self.scale * v)[0] - penalty

    def fit_expecting(self, criterion: ScoreCriterion, guessed: NDArray[np.int16], max_iterations: int) -> Expecting:
        """Return the CRF fitted to the labels and to what is expected of the pool; guessed : labels of the pool."""
        self.guess(guessed)
        expected = ExpectationCriterion.over(self.pool, criterion)
        start = self.fit(None)[1]
        before = expected.means(self.scale * start)
        if not len(guessed):
            return Expecting(None, before, before, [])
        model, found = self.fit(expected, start, max_iterations)
        return Expecting(model, before, expected.means(self.scale * found), model.minimum_.values)

    def carried(self, names: NDArray[np.int64], v: Float) -> Float:
        """Return the point v of another guess, whose weights had these names, over the weights of this one.

        names : int64[n], attribute and label of each weight as one number; a weight that is new begins at 0.
        """
        order = np.argsort(names)
        at = order[np.minimum(np.searchsorted(names, self.names, sorter=order), len(names) - 1)]
        return np.where(names[at] == self.names, v[at], 0.0)

    def fit(
        self, term: Term | None, start: Float | None = None, max_iterations: int | None = None
    ) -> tuple[CRF, Float]:
        """Return the CRF that minimises the objective with a term of the pool, and the point found, for `start`."""
        fitted = copy.copy(self.crf)
        fitted.weights_ = fitted.minimised(
            self.data, self.twins, self.pairs, self.likelihood, start, max_iterations, term
        )
        fitted.index_, fitted.labels_ = self.index, self.data.labels
        fitted.training_digest_ = self.labelled.digest()
        return fitted, fitted.minimum_.x


def token_rows(matrix: FeatureMatrix, first: int, last: int) -> FeatureMatrix:
    """Return the tokens first..last-1 of a matrix; bundles are shared."""
    a, b = matrix.token_indptr[first], matrix.token_indptr[last]
    values = matrix.token_values[a:b] if len(matrix.token_values) else matrix.token_values
    return replace(
        matrix, token_indptr=matrix.token_indptr[first : last + 1] - a, token_refs=matrix.token_refs[a:b],
        token_values=values,
    )  # fmt: skip

"""Models fitted to labels and to a distribution over the labellings of a pool: what follows each projection.

    HMM      expected counts of the pool, times its weight, beside those of the labels
    CRF      likelihood of the labels, plus the cross-entropy to the pool's distribution (`learning.soft_likelihood`)
    others   the best labellings of the distribution, as if they were labels, with the pool's weight on each sequence

`goodness` is the part of the objective that the model alone decides, for comparing cycles of one run: log likelihood
of the labels (of an HMM also of the pool's text, times its weight) minus the penalties on weights; of other models 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.estimators.base import SequenceLabeller, fresh
from espalier.estimators.crf import CRF
from espalier.estimators.em import knowing_words, with_parameters
from espalier.estimators.hmm import HMM
from espalier.estimators.joined import JoinedCRF
from espalier.inference import log_partition, viterbi
from espalier.kernels.history import dot
from espalier.learning.codl import join
from espalier.learning.em import log_joint, log_prior
from espalier.learning.projection import Projection
from espalier.models.hmm import HMMCounts, estimate
from espalier.potentials import ChainBatch

__all__ = ["SoftHMM", "SoftLearner", "soft_learner"]

Float = NDArray[np.float64]


class SoftLearner(Protocol):
    """A base model on a labelled corpus and a pool. supervised : fitted to the labels alone."""

    supervised: Any

    def refit(self, target: Projection) -> Any:
        """Return the model fitted to the labels and to the target distribution of the pool."""

    def goodness(self, model: Any, batch: ChainBatch) -> float:
        """Return the model's own part of the objective; batch : its potentials of the pool."""


def soft_learner(
    base: SequenceLabeller, labelled: Corpus, pool: Corpus, sample_weight: Float | None, pool_weight: float
) -> SoftLearner:
    """Return the learner for a base model."""
    kinds: dict[type[Any], Any] = {HMM: SoftHMM, CRF: _SoftCRF}
    kind = next((learner for model, learner in kinds.items() if isinstance(base, model)), _BestLabels)
    learner: SoftLearner = kind(base, labelled, pool, sample_weight, pool_weight)
    return learner


class SoftHMM:
    """An HMM; whoever has counted the pool may ask for the model with `learned` and `goodness_of`."""

    def __init__(self, base: HMM, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float) -> None:
        """Fit to the labels; the words of the pool are known words."""
        self.supervised = knowing_words(base, labelled, weight, pool)
        self.pool, self.pool_weight = pool, pool_weight
        self.counts, self.smoothing = self.supervised.counts_, self.supervised._smoothing()

    def refit(self, target: Projection) -> HMM:
        """Return the model fitted to the labels and to the expected counts of the pool."""
        known = self.counts
        return self.learned(
            HMMCounts.from_marginals(self.pool, known.vocabulary, target.posterior, known.transition_classes)
        )

    def learned(self, counts: HMMCounts) -> HMM:
        """Return the model of the labels and of counts of the pool."""
        together = self.counts + self.pool_weight * counts
        return with_parameters(self.supervised, estimate(together, self.smoothing, self.supervised.labels_))

    def goodness(self, model: HMM, batch: ChainBatch) -> float:
        """Return the log likelihood of labels and text, with the prior."""
        return self.goodness_of(model, float(log_partition(batch, threads=model.threads).sum()))

    def goodness_of(self, model: HMM, text: float) -> float:
        """Return the same where the log likelihood of the text is known."""
        prior = log_prior(model.parameters_, self.smoothing)
        return log_joint(model.parameters_, self.counts) + self.pool_weight * text + prior


class _SoftCRF:
    def __init__(self, base: CRF, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float) -> None:
        self.supervised = fresh(base).fit(labelled, sample_weight=weight)
        self.problem = JoinedCRF(fresh(base), labelled, pool, weight, pool_weight)
        self.last: tuple[CRF, float] = (self.supervised, -self.supervised.minimum_.value)
        self.found: tuple[NDArray[np.int64], Float] | None = None

    def refit(self, target: Projection) -> CRF:
        problem = self.problem
        problem.guess(viterbi(target.batch).labels)
        problem.pool.aim(target.posterior.marginals, target.posterior.transitions[0])
        # The objective is convex: where the search begins decides how long it takes, not where it ends.
        model, v = problem.fit(problem.pool, None if self.found is None else problem.carried(*self.found))
        self.found = (problem.names, v)
        penalty = problem.crf.l1 * float(np.abs(v).sum()) + problem.crf.l2 * dot(v, v)
        self.last = (model, -problem.likelihood(problem.scale * v)[0] - penalty)
        return model

    def goodness(self, model: CRF, batch: ChainBatch) -> float:
        assert model is self.last[0]
        return self.last[1]


class _BestLabels:
    def __init__(self, base: Any, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float) -> None:
        assert labelled.labels is not None
        self.base, self.labels, self.joined = base, labelled.labels, join(labelled, pool)
        self.y = labelled.y
        own = np.ones(len(labelled)) if weight is None else weight
        self.weight = np.append(own, np.full(len(pool), pool_weight))
        self.supervised = fresh(base).fit(labelled, sample_weight=weight)

    def refit(self, target: Projection) -> Any:
        assert self.y is not None
        guessed = viterbi(target.batch).labels
        corpus = replace(self.joined, y=np.append(self.y, guessed).astype(np.int16), labels=self.labels, documents=None)
        return fresh(self.base).fit(corpus, sample_weight=self.weight)

    def goodness(self, model: Any, batch: ChainBatch) -> float:
        return 0.0

"""What a model can do besides scoring sequences: methods that a learner asks for by name.

A model has an ability if it has the method; no base class is needed for that. A learner calls `require`, which says
what is missing. Where two models have an ability there is a protocol for it here.

    method              who has it                who asks for it
    `mixed`             HMM, Perceptron, ConvCRF  CoDL, for update="interpolate" (`Mixes`)
    `fit_soft`          CRF, ConvCRF              GeneralizedExpectation; PosteriorRegularization (`FitsSoft`)
    `count`, and more   HMM                       EM; PosteriorRegularization
    `fit_under_rules`   Perceptron                CCM, for training="IBT" and "JIBT"
    `answers`, and more nobody in the core        CCM and Extractor: its scores are no chain's (`AnswersItself`)
    `expert_shares`     Experts                   explanations, to say what each model adds to a score

Every model has `potentials`, `fit`, `fit_with_pool` and `fit_guessed` from `SequenceLabeller`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.potentials import ChainBatch

if TYPE_CHECKING:  # needed by nobody who only labels
    from espalier.decoders.certify import BatchDecoding
    from espalier.decoders.explanation import Explanation
    from espalier.inference import Posterior
    from espalier.learning.generalised_expectation import ScoreCriterion
    from espalier.rules.compile import Compiled

__all__ = [
    "AnswersItself",
    "Expecting",
    "FitsSoft",
    "Mixes",
    "RuledTexts",
    "SoftProblem",
    "answering",
    "require",
    "scores_chains",
    "with_experts",
]

Float = NDArray[np.float64]
Self = TypeVar("Self")


@runtime_checkable
class Mixes(Protocol):
    """Mixes what it has learned from labels with what guessed labels teach."""

    def mixed(
        self: Self, labelled: Corpus, weight: Float | None, guessed: Corpus, guessed_weight: Float, gamma: float
    ) -> Self:
        """Return a fitted copy: gamma times this model plus (1 - gamma) times one of the guessed sequences.

        This model was fitted to `labelled`; weight, guessed_weight : float64[N], of the sequences of each corpus.
        """


@runtime_checkable
class FitsSoft(Protocol):
    """Can be fitted to labels and to a distribution over the labellings of a pool: to soft labels."""

    def fit_soft(self, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float) -> SoftProblem:
        """Return the training problem over both; pool_weight : of a sequence of the pool beside a labelled one."""


class Expecting(NamedTuple):
    """A model fitted to labels and to expectations on a pool.

    model : None where the pool is empty; before, after : float64[J], the means of the features; values : of the
    objective, step after step.
    """

    model: Any
    before: Float
    after: Float
    values: list[float]


class SoftProblem(Protocol):
    """The training problem of a model on labels and a pool."""

    def supervised(self) -> tuple[Any, float]:
        """Return the model fitted to the labels alone, and its goodness: their log likelihood minus penalties."""

    def refit(self, batch: ChainBatch, posterior: Posterior) -> tuple[Any, float]:
        """Return the model fitted to the labels and to a distribution over the pool's labellings, and its goodness.

        batch : that distribution as potentials; posterior : its marginals and expected transitions.
        """

    def fit_expecting(self, criterion: ScoreCriterion, guessed: NDArray[np.int16], max_iterations: int) -> Expecting:
        """Return the model fitted to the labels and to what is expected of the pool; guessed : labels of the pool."""


class AnswersItself(Protocol):
    """A model whose scores are no chain's: it says itself what its labellings are under rules."""

    def rule_labels(self, names: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the labels of tokens that rules see; names : the labels of a training set, before `fit`."""

    def answers(self, corpus: Corpus, compiled: Compiled) -> RuledTexts:
        """Return what the model says of texts under rules; compiled : for labels, `rule_labels` among them."""


class RuledTexts(Protocol):
    """Texts with the scores of a model that is no chain, and the rules that its answers keep."""

    documents: Any

    def decoded(self) -> BatchDecoding:
        """Return the best labels by the numbers of the rules' labels, -1 where none is possible (for `CCM`)."""

    def extractions(self, names: Any, calibration: Any, made: Any, k: int = 1) -> list[Any]:
        """Return what was found in each document, with its k - 1 next best readings (for `Extractor`).

        names : what fields are called there; calibration : what confidences are worth; made : the class of results.
        """


def answering(model: Any) -> AnswersItself | None:
    """Return the model behind an estimator whose scores are no chain's: taught by a learner, or under rules."""
    while hasattr(inner := getattr(model, "model_", None), "potentials"):
        model = inner
    base = getattr(model, "base_", model)
    return None if scores_chains(base) else base


def scores_chains(model: Any) -> bool:
    """Are the scores of a model, or of a class of models, those of chains?"""
    return not hasattr(model, "answers")


WHAT = {
    "mixed": "can mix",
    "fit_soft": "can be fitted to soft labels",
    "count": "is estimated from counts",
    "fit_under_rules": "can learn under rules",
}


def require(model: Any, method: str, who: str, instead: str) -> None:
    """Raise InputError unless a model has a method; who : the learner, for the message; instead : what to do."""
    if not callable(getattr(model, method, None)):
        what = f"{who} needs a model that {WHAT[method]}, and a {type(model).__name__} has no `{method}`"
        raise InputError(what, hint=instead)


def with_experts(explanation: Explanation, model: Any, corpus: Corpus) -> Explanation:
    """Return an explanation that also says what each expert adds, if the model, or what is inside it, has several.

    corpus : the one sequence that is explained.
    """
    while not hasattr(model, "expert_shares"):
        model = getattr(model, "base_", None) or getattr(model, "model_", None)
        if not hasattr(model, "potentials"):
            return explanation
    before, after = explanation.before.labels, explanation.after.labels
    assert before is not None
    assert after is not None
    return replace(explanation, experts=model.expert_shares(corpus, before, after))

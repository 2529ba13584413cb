"""What a model can do besides scoring sequences: one protocol for each ability that a learner may ask for.

A model has an ability if it has the methods; no base class is needed for that. A learner calls `require`, which names
the method that is missing.

    ability          who has it                who asks for it
    ScoresSegments   SemiCRF                   CCM, to read segments as labels
    HasRules         CCM                       CoDL, to label the pool under rules
    LearnsRules      Perceptron                CCM, for training="IBT" and "JIBT"
    Mixes            HMM, Perceptron, ConvCRF  CoDL, for update="interpolate"
    Counts           HMM                       EM; PosteriorRegularization
    FitsSoft         CRF, ConvCRF              GeneralizedExpectation; PosteriorRegularization
    FitsInParts      CRF                       CoDL and PosteriorRegularization, for jobs
    HasExperts       Experts                   explanations, to say what each model adds to a score

Every model has `potentials`, `fit`, `fit_with_pool` and `fit_guessed` from `SequenceLabeller`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.base import SequenceLabeller
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled
from espalier.rules.ruleset import RuleSet

if TYPE_CHECKING:  # needed by nobody who only labels
    from espalier.decoders.explanation import ExpertShare, Explanation
    from espalier.inference import Posterior
    from espalier.learning.generalised_expectation import ScoreCriterion
    from espalier.learning.penalties import Tally

__all__ = [
    "Counts",
    "Expecting",
    "FitsInParts",
    "FitsSoft",
    "HasExperts",
    "HasRules",
    "LearnsRules",
    "Mixes",
    "ScoresSegments",
    "SoftProblem",
    "require",
    "with_experts",
]

Float = NDArray[np.float64]
Self = TypeVar("Self")


@runtime_checkable
class ScoresSegments(Protocol):
    """Scores segments rather than tokens: `potentials` returns a SegmentBatch."""

    def segment_labels(self) -> tuple[list[str], list[str]]:
        """Return the label of the first token of a segment of each field, and the label of its other tokens."""

    def segment_vocabulary(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Return these labels of a training set, with the others that segments of their fields may need."""


@runtime_checkable
class HasRules(Protocol):
    """Has a base model and rules with penalties."""

    base: Any
    penalties: Any
    over: str

    def rule_set(self) -> RuleSet:
        """Return the rules as they were given; a rule without a penalty has None."""

    def with_base(self: Self, base: SequenceLabeller, penalties: Float | None = None) -> Self:
        """Return a fitted copy with another fitted base, and other penalties if given."""

    def free_rules(self) -> Compiled:
        """Return the rules whose penalties were not set by the user."""

    def mixed_penalties(self, counted: Tally, gamma: float) -> Float:
        """Return gamma times the penalties plus (1 - gamma) times those of new counts, for the free rules."""


@runtime_checkable
class LearnsRules(Protocol):
    """Learns weights while it decodes under rules."""

    def fit_under_rules(
        self, corpus: Corpus, weight: Float | None, compiled: Compiled, penalties: Float, learned: NDArray[np.bool_]
    ) -> Float:
        """Learn from a labelled corpus; return the penalties, of which the `learned` ones change with the weights."""


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
class Counts(Protocol):
    """Is estimated from counts, `counts_` after `fit`, which can be added and multiplied by a number."""

    def count(self, pool: Corpus, *, hard: bool, threads: int | None) -> tuple[Any, float]:
        """Return the counts expected in unlabelled text, and its log likelihood.

        hard : count the best labelling of each sequence, and return the log probability of these.
        """

    def counts_under(self, pool: Corpus, posterior: Posterior) -> Any:
        """Return the counts expected under a distribution over the labellings of a pool."""

    def with_counts(self: Self, counts: Any) -> Self:
        """Return the model estimated from counts, with the same parameters, labels and words."""

    def interpolated(self: Self, other: Self, gamma: float) -> Self:
        """Return gamma times the probabilities of this model plus (1 - gamma) times those of another."""

    def log_joint(self, counts: Any) -> float:
        """Return the log probability of the sequences and labels that were counted."""

    def log_prior(self) -> float:
        """Return the log of the prior that the smoothing stands for; 0 where there is none."""


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


@runtime_checkable
class FitsInParts(Protocol):
    """Has a likelihood that is a sum over parts of the data, which other processes may hold."""

    def likelihood(self, *arguments: Any) -> Any:
        """Return the likelihood of labels; see `CRF.likelihood`."""


@runtime_checkable
class HasExperts(Protocol):
    """Adds the scores of several models."""

    def expert_shares(self, corpus: Corpus, before: NDArray[Any], after: NDArray[Any]) -> tuple[ExpertShare, ...]:
        """Return what each model that was asked adds to the scores of two labellings of one sequence, label ids."""


WHAT: dict[type[Any], str] = {
    ScoresSegments: "scores segments",
    HasRules: "has rules",
    LearnsRules: "can learn under rules",
    Mixes: "can mix",
    Counts: "is estimated from counts",
    FitsSoft: "can be fitted to soft labels",
    FitsInParts: "has a likelihood in parts",
    HasExperts: "adds the scores of several models",
}


def require(model: Any, ability: Any, who: str, instead: str = "") -> Any:
    """Return the model, if it has an ability; else raise InputError, which names the method that is missing.

    ability : one of the protocols; who : the learner, for the message; instead : what to do.
    """
    if isinstance(model, ability):
        return model
    missing = [name for name in vars(ability) if not name.startswith("_") and not callable(getattr(model, name, None))]
    what = f"{who} needs a model that {WHAT[ability]}, and a {type(model).__name__} has no `{missing[0]}`"
    raise InputError(what, hint=instead)


def with_experts(explanation: Explanation, model: Any, corpus: Corpus) -> Explanation:
    """Return an explanation that also says what each expert adds, if the model, or what is inside it, has several.

    corpus : the one sequence that is explained.
    """
    while not isinstance(model, HasExperts):
        model = getattr(model, "base_", None) or getattr(model, "model_", None)
        if not hasattr(model, "potentials"):
            return explanation
    before, after = explanation.before.labels, explanation.after.labels
    assert before is not None
    assert after is not None
    return replace(explanation, experts=model.expert_shares(corpus, before, after))

"""`GeneralizedExpectation`: a CRF whose own expectations on unlabelled text are part of its objective.

Mann and McCallum (2010). Rules are taken as expectations (`learning.expectations` says which rules, and what is
relaxed); `learning.generalised_expectation` has the criterion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.estimators.abilities import SoftProblem, require
from espalier.estimators.base import check_number
from espalier.estimators.crf import CRF
from espalier.estimators.rule_taught import Chosen, RuleTaught, by_rule
from espalier.estimators.unlabelled import Guard
from espalier.inference import viterbi
from espalier.learning.expectations import ChainFeatures
from espalier.learning.generalised_expectation import ScoreCriterion
from espalier.learning.penalties import count_penalties
from espalier.rules.ruleset import RuleSet

__all__ = ["GeneralizedExpectation"]

Float = NDArray[np.float64]

SURE = 20.0
"""The price of a hard rule where a finite one is needed."""


@dataclass(eq=False, repr=False)
class GeneralizedExpectation(RuleTaught):
    """A CRF whose expectations on unlabelled text agree with rules.

    Parameters
    ----------
    base : an unfitted CRF; None is CRF().
    rules : a RuleSet, or its text; rules that are no expectations are named in a warning, penalty 0 switches one off.
    bounds : the target of each rule, violations for each opportunity: "zero", "labelled" (as often as in the labels), a
        number, or a mapping from names to numbers (0 for the others).
    weight : of the criterion beside the likelihood of the labels: one number, or a mapping (others: 0, which is off).
    distance : "squared" or "kl", from the target to the model's rate (`learning.generalised_expectation`).
    exact : rates below the target count as well: for targets that are known rather than bounds.
    max_iterations : of the search that starts from the supervised weights, which is not convex.
    keep : with `dev`, the "best" of this and the supervised model, or the "last".
    threads : None chooses by size.

    Notes
    -----
    After `fit`: `model_` (a CRF), `rules_`, `features_`, `rates_` (float64[J], the targets by feature),
    `expectations_` (by rule: the mean rates of its features before and after), `cycle_` (1, or 0 if the supervised
    model was kept), `score_`, `supervised_score_`, and `history_`, the values of the objective.

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> model = es.GeneralizedExpectation(es.CRF(["lower"]), 'In: token in "in", "of" -> O', max_iterations=5)
    >>> model.fit(X, y, unlabelled=[["Eve", "in", "Pau"]]).predict([["Ann", "in", "Rome"]])
    [['who', 'O', 'where']]
    """

    kind = "ge"
    chosen = ("bounds", "weight")

    base: Any = None
    rules: RuleSet | str = ""
    _: KW_ONLY
    bounds: Chosen = "zero"
    weight: float | Mapping[str, float] = 100.0
    distance: str = "squared"
    exact: bool = False
    max_iterations: int = 100
    keep: str = "best"
    threads: int | None = None

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        require(self._base, "fit_soft", "GeneralizedExpectation", "choose a CRF")
        check_number("max_iterations", self.max_iterations, whole=True)

    @property
    def _base(self) -> Any:
        return CRF() if self.base is None else self.base

    def _models(
        self, corpus: Corpus, weight: Float | None, pool: Corpus, held: Corpus | None
    ) -> Iterator[tuple[Any, None]]:
        """Yield the supervised model, and the one that was taught."""
        self._learn_rules(corpus)
        features = self.features_
        weights = by_rule(self.weight, "weight", self.rules_)[features.rule]
        problem: SoftProblem = self._base.fit_soft(corpus, pool, weight, 1.0)
        supervised = problem.supervised()[0]
        yield supervised, None
        grounded = features.ground(pool)
        prices = np.minimum(count_penalties(features.compiled, corpus), SURE)[features.rule]
        guessed = viterbi(grounded.move(supervised.potentials(pool), prices[None]).batch).labels
        criterion = ScoreCriterion(
            grounded, self.rates_ + features.bound, weights,
            distance=self.distance, exact=self.exact, threads=self.threads,
        )  # fmt: skip
        taught = problem.fit_expecting(criterion, guessed, self.max_iterations)
        self.expectations_, self._values = _means(features, taught.before, taught.after), taught.values
        if taught.model is not None:
            yield taught.model, None

    def _keep(self, guard: Guard[Any], history: Sequence[Any]) -> None:
        """Take the model that the guard has kept; its history is that of the objective."""
        super()._keep(guard, self._values)


def _means(features: ChainFeatures, before: Float, after: Float) -> dict[str, tuple[float, float]]:
    """Return the mean of each rule's features, before and after."""
    return {
        features.compiled.rules[k].name: (
            float(before[features.rule == k].mean()),
            float(after[features.rule == k].mean()),
        )
        for k in np.unique(features.rule).tolist()
    }

"""`PosteriorRegularization` and `GeneralizedExpectation`: rules teach a model what to expect of unlabelled text.

Both take rules as expectations (`learning.expectations` says which rules, and what is relaxed).

    PosteriorRegularization   q = the distribution nearest to the model that keeps the rules on the pool; the model is
                              fitted to the labels and to q; again. (Ganchev et al. 2010; with a CRF and constraints in
                              sum over the corpus, the alternating projections of Bellare et al. 2009.)
    GeneralizedExpectation    the CRF's own expectations on the pool are part of its objective (Mann and McCallum 2010).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.batch import decode_batch
from espalier.errors import InputError, ResultWarning
from espalier.estimators.base import (
    SequenceLabeller,
    as_corpus,
    check_number,
    check_sample_weight,
    fresh,
    labelled_corpus,
)
from espalier.estimators.crf import CRF
from espalier.estimators.hmm import HMM
from espalier.estimators.joined import JoinedCRF
from espalier.estimators.pool_projection import Limits, open_pool
from espalier.estimators.rule_taught import Chosen, RuleTaught, by_rule, chain_potentials
from espalier.estimators.unlabelled import checked_pool, held_out, scorer
from espalier.inference import viterbi
from espalier.learning.expectations import ChainFeatures
from espalier.learning.generalised_expectation import ExpectationCriterion
from espalier.learning.guard import Guard
from espalier.learning.penalties import count_penalties
from espalier.learning.projection import project
from espalier.potentials import ChainBatch
from espalier.rules.ruleset import RuleSet
from espalier.shards import check_jobs

__all__ = ["Cycle", "GeneralizedExpectation", "PosteriorRegularization"]

Float = NDArray[np.float64]

SURE = 20.0
"""The price of a hard rule where a finite one is needed."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """The record of one cycle: the model that was made, and q, its projection.

    cycle : its number, 0 for the supervised model; objective : what learning climbs; divergence : KL(q ‖ model) on the
    pool; excess : by how much q misses the limits, in sum; score : on held-out data, None without.
    """

    cycle: int
    objective: float
    divergence: float
    excess: float
    score: float | None = None


class PosteriorRegularization(RuleTaught):
    """A model taught by its own posterior on unlabelled text, regularised by rules.

    Parameters
    ----------
    base : an unfitted HMM or CRF; other models of chains learn from the best labellings of q. None is HMM().
    rules : a RuleSet, or its text; rules that are no expectations are named in a warning, penalty 0 switches one off.
    bounds : how often a rule may be violated, for each opportunity: "zero", "labelled" (as often as in the labels), a
        number, or a mapping from names to numbers (0 for the others).
    slack : what a violation beyond that costs, for rules without a penalty of their own: "count" (log odds in the
        labels, `learning.penalties`), "none" (it is not allowed), a number, or a mapping (others: 0, which is off).
    scope : the limits hold for each "sequence", or in sum over the "corpus".
    iterations : projections and fits. pool_weight : of a sequence of the pool beside a labelled one.
    decode : how to label: by the "model" alone, by its "projection" (for scope "corpus" with the multipliers of the
        pool: sequences do not depend on each other), or under the "rules" at the price of their slack (marginals
        and k best are still those of the model).
    tolerance : of the projections, in violations for each opportunity.
    keep, patience : with `dev`, which model to keep ("best" or "last"), and how many cycles to wait for a better.
    threads : None chooses by size. progress : called with every `Cycle`.
    jobs : None projects the pool here; a number projects its parts in so many processes, with one thread each if
        `threads` does not say more (`espalier.shards`); for an HMM or a CRF. Results do not depend on the number.

    After `fit`: `model_`, `rules_`, `features_`; `rates_` and, for scope "corpus", `multipliers_` (float64[J], by
    feature); `penalties_` (float64[K], the slack of each rule); `history_`, `cycle_`, `score_`, `supervised_score_`.
    """

    kind = "pr"
    penalties_: Float
    multipliers_: Float | None

    def __init__(
        self,
        base: Any = None,
        rules: RuleSet | str = "",
        *,
        bounds: Chosen = "zero",
        slack: Chosen = "count",
        scope: str = "sequence",
        iterations: int = 5,
        pool_weight: float = 0.1,
        decode: str = "model",
        tolerance: float = 1e-2,
        keep: str = "best",
        patience: int | None = None,
        threads: int | None = None,
        progress: Callable[[Cycle], None] | None = None,
        jobs: int | None = None,
    ) -> None:
        """Store the parameters."""
        self.base = base
        self.rules = rules
        self.bounds = bounds
        self.slack = slack
        self.scope = scope
        self.iterations = iterations
        self.pool_weight = pool_weight
        self.decode = decode
        self.tolerance = tolerance
        self.keep = keep
        self.patience = patience
        self.threads = threads
        self.progress = progress
        self.jobs = jobs

    def fit(
        self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
        *,
        unlabelled: Any = None,
        dev: Any = None,
    ) -> PosteriorRegularization:
        """Learn from labelled sequences X, y and from `unlabelled` ones; dev : a labelled Corpus or a pair (X, y)."""
        self._check_parameters()
        corpus, pool = labelled_corpus(X, y, labels), checked_pool(unlabelled, "PosteriorRegularization")
        self._learn_rules(corpus)
        self.penalties_ = self._prices(corpus)
        weight = check_sample_weight(sample_weight, len(corpus))
        limits = Limits(self.features_, self.rates_, self._slack, self.scope, self.tolerance, self.threads)
        base, history = HMM() if self.base is None else self.base, list[Cycle]()
        guard: Guard[PosteriorRegularization] | None = None
        with open_pool(base, corpus, pool, weight, self.pool_weight, limits, self.jobs) as opened:
            for cycle in range(self.iterations + 1 if pool.n_tokens else 1):
                model = opened.refit() if cycle else opened.supervised
                q = opened.project(model)
                answer = self._with(model, q.multipliers)
                if guard is None:
                    guard = Guard(answer, scorer(held_out(dev)), keep=self.keep, patience=self.patience)
                score = guard.see(answer) if cycle else guard.supervised_score
                objective = q.goodness - self.pool_weight * (q.divergence + q.paid)
                history.append(Cycle(cycle, objective, q.divergence, q.excess, score))
                if self.progress is not None:
                    self.progress(history[-1])
                if guard.stop:
                    break
        assert guard is not None
        self._keep(guard, history)
        self.model_, self.multipliers_ = guard.model.model_, guard.model.multipliers_
        return self

    def _check_parameters(self) -> None:
        check_number("iterations", self.iterations, whole=True)
        check_number("pool_weight", self.pool_weight)
        check_number("tolerance", self.tolerance)
        check_jobs(self.jobs)
        for name, known in (("scope", ("sequence", "corpus")), ("decode", ("model", "projection", "rules"))):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}; expected {' or '.join(map(repr, known))}")

    def _prices(self, corpus: Corpus) -> Float:
        """Return what each rule costs, float64[K]; a rule with a penalty of its own keeps it."""
        if self.slack == "count":
            return count_penalties(self.features_.compiled, corpus)
        if isinstance(self.slack, str) and self.slack != "none":
            raise InputError(f"slack is {self.slack!r}; expected 'count', 'none', a number or a mapping")
        rules = self.rules_
        chosen = np.full(rules.K, np.inf) if self.slack == "none" else by_rule(self.slack, "slack", rules)
        return np.where([rule.penalty is None for rule in rules], chosen, rules.penalties)

    def _with(self, model: Any, multipliers: Float | None) -> PosteriorRegularization:
        """Return this estimator with a model to answer with."""
        other = copy.copy(self)
        other.model_, other.labels_, other.training_digest_ = model, model.labels_, model.training_digest_
        other.multipliers_ = multipliers
        return other

    def potentials(self, X: Any) -> ChainBatch:
        """Return the potentials of every sequence: the model's, or those of its projection if that is how to decode."""
        corpus = as_corpus(X)
        batch = chain_potentials(self.labeller_, corpus)
        if self.decode != "projection":
            return batch
        grounded = self.features_.ground(corpus)
        if self.multipliers_ is not None:
            return grounded.move(batch, self.multipliers_[None]).batch
        return project(
            batch, grounded, self.rates_, slack=self._slack, scope="sequence", tolerance=self.tolerance,
            threads=self.threads,
        ).batch  # fmt: skip

    @property
    def _slack(self) -> Float:
        """The price of every feature, float64[J]."""
        return np.asarray(self.penalties_[self.features_.rule])

    def predict_marginals(self, X: Any) -> list[Float]:
        """Return P(label | sequence) of each token, float64[T, L] a sequence, by `potentials`."""
        return SequenceLabeller.predict_marginals(self, X)

    def predict_k(self, X: Any, k: int) -> list[list[tuple[list[str], float]]]:
        """Return the k best labellings of each sequence with their scores, by `potentials`."""
        return SequenceLabeller.predict_k(self, X, k)

    def _tag(self, X: Any) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        if self.decode == "model":
            return super()._tag(X)
        corpus = as_corpus(X)
        batch = self.potentials(corpus)
        best = viterbi(batch, threads=self.threads).labels
        if self.decode == "rules":
            found = decode_batch(batch, self.features_.compiled, corpus, self.penalties_, threads=self.threads).labels
            missing = int((found < 0).sum())
            if missing:
                warnings.warn(
                    f"the hard rules leave some sequences no labelling; {missing} tokens got the model's own labels",
                    ResultWarning,
                    stacklevel=3,
                )
            best = np.where(found < 0, best, found)
        return best, corpus.indptr

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header, arrays = super()._state()
        header["slack"] = dict(self.slack) if isinstance(self.slack, Mapping) else self.slack
        arrays["penalties"] = self.penalties_
        if self.multipliers_ is not None:
            arrays["multipliers"] = self.multipliers_
        return header, arrays

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._restore(header, arrays)
        self.slack, self.penalties_ = header["slack"], np.array(arrays["penalties"])
        self.multipliers_ = np.array(arrays["multipliers"]) if "multipliers" in arrays else None


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

    After `fit`: `model_` (a CRF), `rules_`, `features_`, `rates_` (float64[J], the targets by feature),
    `expectations_` (by rule: the mean rates of its features before and after), `cycle_` (1, or 0 if the supervised
    model was kept), `score_`, `supervised_score_`, and `history_`, the values of the objective.
    """

    kind = "ge"

    def __init__(
        self,
        base: Any = None,
        rules: RuleSet | str = "",
        *,
        bounds: Chosen = "zero",
        weight: float | Mapping[str, float] = 100.0,
        distance: str = "squared",
        exact: bool = False,
        max_iterations: int = 100,
        keep: str = "best",
        threads: int | None = None,
    ) -> None:
        """Store the parameters."""
        self.base = base
        self.rules = rules
        self.bounds = bounds
        self.weight = weight
        self.distance = distance
        self.exact = exact
        self.max_iterations = max_iterations
        self.keep = keep
        self.threads = threads

    def fit(
        self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
        *,
        unlabelled: Any = None,
        dev: Any = None,
    ) -> GeneralizedExpectation:
        """Learn from labelled sequences X, y and from `unlabelled` ones; dev : a labelled Corpus or a pair (X, y)."""
        base = CRF() if self.base is None else self.base
        if not isinstance(base, CRF):
            raise InputError(f"GeneralizedExpectation trains a CRF, not a {type(base).__name__}")
        check_number("max_iterations", self.max_iterations, whole=True)
        corpus, pool = labelled_corpus(X, y, labels), checked_pool(unlabelled, "GeneralizedExpectation")
        self._learn_rules(corpus)
        features, weight = self.features_, check_sample_weight(sample_weight, len(corpus))
        weights = by_rule(self.weight, "weight", self.rules_)[features.rule]
        supervised = fresh(base).fit(corpus, sample_weight=weight)
        guard = Guard(supervised, scorer(held_out(dev)), keep=self.keep)
        grounded = features.ground(pool)
        problem = JoinedCRF(fresh(base), corpus, pool, weight, 1.0)
        prices = np.minimum(count_penalties(features.compiled, corpus), SURE)[features.rule]
        problem.guess(viterbi(grounded.move(supervised.potentials(pool), prices[None]).batch).labels)
        targets = self.rates_ + features.bound
        criterion = ExpectationCriterion(
            problem.pool, grounded, targets, weights, distance=self.distance, exact=self.exact
        )
        start = problem.fit(None)[1]
        before = criterion.means(problem.scale * start)
        found = start
        history: list[float] = []
        if pool.n_tokens:
            model, found = problem.fit(criterion, start, self.max_iterations)
            history = model.minimum_.values
            guard.see(model)
        self.expectations_ = _means(features, before, criterion.means(problem.scale * found))
        self._keep(guard, history)
        return self

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header, arrays = super()._state()
        header["weight"] = dict(self.weight) if isinstance(self.weight, Mapping) else self.weight
        return header, arrays

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._restore(header, arrays)
        self.weight = header["weight"]


def _means(features: ChainFeatures, before: Float, after: Float) -> dict[str, tuple[float, float]]:
    """Return the mean of each rule's features, before and after."""
    return {
        features.compiled.rules[k].name: (
            float(before[features.rule == k].mean()),
            float(after[features.rule == k].mean()),
        )
        for k in np.unique(features.rule).tolist()
    }

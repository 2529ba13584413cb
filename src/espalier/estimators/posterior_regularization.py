"""`PosteriorRegularization`: a model taught by its own posterior on unlabelled text, regularised by rules.

q is the distribution nearest to the model that keeps the rules on the pool; the model is fitted to the labels and to q;
again. Ganchev et al. (2010); with a CRF and constraints in sum over the corpus, the alternating projections of Bellare
et al. (2009). Rules are taken as expectations (`learning.expectations` says which rules, and what is relaxed).

How a model is fitted to labels and to q depends on what it can do:

    estimated from counts (HMM)       expected counts of the pool, times its weight, beside those of the labels
    fitted to soft labels (CRF, net)  likelihood of the labels, plus the cross-entropy to q (`learning.likelihood`)
    any other                         the best labellings under q, as if they were labels, with the pool's weight
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.base import Problem
from espalier.decoders.batch import decode_batch
from espalier.decoders.explanation import NO_RULES, Explanation, explain
from espalier.errors import InputError, ResultWarning
from espalier.estimators.abilities import FitsSoft, SoftProblem
from espalier.estimators.base import (
    SequenceLabeller,
    as_corpus,
    check_number,
    fresh,
    one_sequence,
    say_jobs_are_gone,
)
from espalier.estimators.hmm import HMM
from espalier.estimators.rule_taught import Chosen, RuleTaught, by_rule
from espalier.estimators.unlabelled import Guard
from espalier.inference import log_partition, viterbi
from espalier.learning.penalties import count_penalties
from espalier.learning.projection import Projection, paid, project
from espalier.potentials import ChainBatch
from espalier.rules.ruleset import RuleSet

__all__ = ["PosteriorRegularization", "ProjectionCycle"]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ProjectionCycle:
    """The record of one cycle: the model that was made, and q, its projection.

    cycle : its number, 0 for the supervised model; objective : what learning climbs; divergence : KL(q ‖ model) on the
    pool; excess : by how much q misses the limits, in sum; score : on held-out data, None without.
    """

    cycle: int
    objective: float
    divergence: float
    excess: float
    score: float | None = None


@dataclass(eq=False, repr=False)
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
    threads : None chooses by size. progress : called with every `ProjectionCycle`.
    jobs : has no effect any more, and goes with the next release.

    Notes
    -----
    After `fit`: `model_`, `rules_`, `features_`; `rates_` and, for scope "corpus", `multipliers_` (float64[J], by
    feature); `penalties_` (float64[K], the slack of each rule); `history_`, `cycle_`, `score_`, `supervised_score_`.

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> model = es.PosteriorRegularization(es.HMM(), 'In: token in "in", "of" -> O', iterations=2)
    >>> model.fit(X, y, unlabelled=[["Eve", "in", "Pau"]]).predict([["Ann", "in", "Rome"]])
    [['who', 'O', 'where']]
    """

    kind = "pr"
    chosen = ("bounds", "slack")
    penalties_: Float = field(init=False)
    multipliers_: Float | None = field(init=False)

    base: Any = None
    rules: RuleSet | str = ""
    _: KW_ONLY
    bounds: Chosen = "zero"
    slack: Chosen = "count"
    scope: str = "sequence"
    iterations: int = 5
    pool_weight: float = 0.1
    decode: str = "model"
    tolerance: float = 1e-2
    keep: str = "best"
    patience: int | None = None
    threads: int | None = None
    progress: Callable[[ProjectionCycle], None] | None = None
    jobs: int | None = None

    def _models(
        self, corpus: Corpus, weight: Float | None, pool: Corpus, held: Corpus | None
    ) -> Iterator[tuple[PosteriorRegularization, ProjectionCycle]]:
        """Yield this estimator with the supervised model, then with the model of each cycle."""
        self._learn_rules(corpus)
        self.penalties_ = self._prices(corpus)
        learner = _learner(HMM() if self.base is None else self.base, corpus, pool, weight, self.pool_weight)
        grounded, model = self.features_.ground(pool), learner.supervised
        q: Projection | None = None
        for cycle in range(self.iterations + 1 if pool.n_tokens else 1):
            if q is not None:
                model = learner.refit(q)
            batch = model.chain_potentials(pool, "rules need").tempered()
            q = project(
                batch, grounded, self.rates_, slack=self._slack, scope=self.scope, tolerance=self.tolerance,
                start=None if q is None else q.multipliers, threads=self.threads,
            )  # fmt: skip
            divergence, dues = float(q.divergence.sum()), float(paid(q.excess, self._slack).sum())
            objective = learner.goodness(model, batch) - self.pool_weight * (divergence + dues)
            multipliers = q.multipliers[0] if self.scope == "corpus" and len(q.multipliers) else None
            yield (
                self._with(model, multipliers),
                ProjectionCycle(cycle, objective, divergence, float(q.excess.sum())),
            )

    def _keep(self, guard: Guard[Any], history: Sequence[Any]) -> None:
        """Take the model that the guard has kept, its multipliers, and what led to it."""
        super()._keep(guard, history)
        self.model_, self.multipliers_ = guard.model.model_, guard.model.multipliers_

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        check_number("iterations", self.iterations, whole=True)
        check_number("pool_weight", self.pool_weight)
        check_number("tolerance", self.tolerance)
        say_jobs_are_gone(self.jobs, "threads project the pool")
        for name, known in (("scope", ("sequence", "corpus")), ("decode", ("model", "projection", "rules"))):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}", hint=f"expected {' or '.join(map(repr, known))}")

    def _prices(self, corpus: Corpus) -> Float:
        """Return what each rule costs, float64[K]; a rule with a penalty of its own keeps it."""
        if self.slack == "count":
            return count_penalties(self.features_.compiled, corpus)
        if isinstance(self.slack, str) and self.slack != "none":
            raise InputError(f"slack is {self.slack!r}", hint="expected 'count', 'none', a number or a mapping")
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
        batch = self.labeller_.chain_potentials(corpus, "rules need")
        if self.decode != "projection":
            return batch
        grounded, batch = self.features_.ground(corpus), batch.tempered()  # a projection is of probabilities
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

    def tag(self, X: Any) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Return the best label ids, int16[M], and the sequence borders, int64[N + 1]."""
        if self.decode == "model":
            return super().tag(X)
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

    def explain(self, tokens: Sequence[str]) -> Explanation:
        """Return the answer for one sequence; with decode="rules", what the rules change, too."""
        if self.decode != "rules":
            found: Explanation = SequenceLabeller.explain(self, tokens)
            used = "decode='rules' would use them" if self.decode == "model" else "they are in the projected scores"
            return replace(found, unruled=f"{NO_RULES}; {used}")
        with one_sequence(tokens, "explain"):
            corpus = as_corpus([tokens])
        [grounded] = self.features_.compiled.ground_corpus(corpus)
        return explain(Problem(self.potentials(corpus)[0], grounded, self.penalties_))

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        header, arrays = super().state()
        arrays["penalties"] = self.penalties_
        if self.multipliers_ is not None:
            arrays["multipliers"] = self.multipliers_
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        super().restore(header, arrays)
        self.penalties_ = np.array(arrays["penalties"])
        self.multipliers_ = np.array(arrays["multipliers"]) if "multipliers" in arrays else None


class _SoftLearner(Protocol):
    """A base model on a labelled corpus and a pool. supervised : fitted to the labels alone."""

    supervised: Any

    def refit(self, target: Projection) -> Any:
        """Return the model fitted to the labels and to the target distribution of the pool."""

    def goodness(self, model: Any, batch: ChainBatch) -> float:
        """Return the model's own part of the objective; batch : its potentials of the pool.

        That is the log likelihood of the labels (of a model estimated from counts also of the pool's text, times its
        weight) minus the penalties on weights; of other models 0. It serves to compare the cycles of one run.
        """


def _learner(
    base: SequenceLabeller, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float
) -> _SoftLearner:
    """Return the learner for what a base model can do."""
    if hasattr(base, "counts_under"):
        return _SoftCounts(base, labelled, pool, weight, pool_weight)
    kind = _SoftWeights if isinstance(base, FitsSoft) else _BestLabels
    return kind(base, labelled, pool, weight, pool_weight)


class _SoftCounts:
    def __init__(self, base: Any, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float) -> None:
        self.supervised = base.fit_with_pool(labelled, weight, pool)  # the words of the pool are known words
        self.pool, self.pool_weight, self.counts = pool, pool_weight, self.supervised.counts_

    def refit(self, target: Projection) -> Any:
        counts = self.supervised.counts_under(self.pool, target.posterior)
        return self.supervised.with_counts(self.counts + self.pool_weight * counts)

    def goodness(self, model: Any, batch: ChainBatch) -> float:
        text = float(log_partition(batch, threads=model.threads).sum())
        found: float = model.log_joint(self.counts) + self.pool_weight * text + model.log_prior()
        return found


class _SoftWeights:
    def __init__(self, base: Any, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float) -> None:
        self.problem: SoftProblem = base.fit_soft(labelled, pool, weight, pool_weight)
        self.last: tuple[Any, float] = self.problem.supervised()
        self.supervised = self.last[0]

    def refit(self, target: Projection) -> Any:
        self.last = self.problem.refit(target.batch, target.posterior)
        return self.last[0]

    def goodness(self, model: Any, batch: ChainBatch) -> float:
        assert model is self.last[0]
        return self.last[1]


class _BestLabels:
    def __init__(self, base: Any, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float) -> None:
        assert labelled.labels is not None
        self.base, self.labels, self.joined = base, labelled.labels, labelled + pool
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

"""`CCM`: a constrained conditional model, a base model whose answers pay for the rules they break.

    ŷ = argmax_y  s(x, y) - Σ_k ρ_k d_k(x, y)              (eq. 3-4 of Chang, Ratinov & Roth, 2012)

The base gives s, the rules d; this estimator finds ρ and decodes, exactly wherever the decoders prove it. Learning and
its costs are described where they happen: `learning.penalties`, `learning.penalty_training` and
`learning.constrained_perceptron`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.base import Problem, Problems
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import BatchDecoding
from espalier.errors import InfeasibleError, InputError, ModelFileError, ResultWarning
from espalier.estimators.abilities import require, scores_chains, with_experts
from espalier.estimators.base import (
    SequenceLabeller,
    as_corpus,
    check_number,
    check_sample_weight,
    compiled_rules,
    fresh,
    labelled_corpus,
    one_sequence,
    rule_set,
)
from espalier.estimators.persist import nested, unnested
from espalier.inference import marginals
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.ruleset import KEPT_PRIOR, VIOLATED_PRIOR, RuleSet

if TYPE_CHECKING:  # what only training needs is imported where it trains: whoever labels never waits for it
    from espalier.decoders.explanation import Explanation
    from espalier.learning.penalty_choice import PenaltyChoice

__all__ = ["CCM"]

TRAINED = ("perceptron", "svm")
"""The penalties that are trained on held-out sequences."""

APPLICABLE_PRIOR = 150.0
"""How often each rule was kept before anything was seen, counted over its occasions, for models that tell labels apart.

Over tokens, as the papers count for an HMM, penalties grow with the length of the texts: of a rule that is broken each
tenth time that it applies, once in a thousand tokens, the price is 7, more than such a model is ever sure by. The prior
was chosen on records of `bench/raw_text.py --part dev`.
"""

LEAST_CHOSEN = 10
"""With fewer sequences folds say nothing, and penalties are counted."""

MARGINAL_EDGES = 200_000
"""The largest product automaton that marginals are computed over, in edges a sequence: about a second."""

Self = TypeVar("Self", bound="CCM")
Float = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class CCM(SequenceLabeller):
    """A base model under rules.

    Parameters
    ----------
    base : an unfitted estimator, such as HMM(); it is copied, never fitted itself. With one whose
        scores are no chain's marginals, k best, explanations and trained penalties are refused.
    rules : a RuleSet, or its text. A rule with a penalty of its own keeps it; the others get one:
    penalties : "count" (log odds of keeping a rule in the training labels), "perceptron" or "svm" (trained on `dev`,
        or cross-fitted), "chosen" ("count", "svm" or none at all, as folds of the labels say, see
        `learning.penalty_choice`; "count" for an HMM, a perceptron, and fewer than 10 sequences), "hard" (no answer may
        break a rule), a number (the same for all), a mapping from names to numbers (the others cost 1), or "fixed" (the
        rules' own; 1 where there is none).
    training : "L+I" learns the base without rules and decodes with them. For a Perceptron base also "IBT", which
        decodes under the rules while training, and "JIBT", which learns the penalties with the weights: `penalties`
        is then "count", which is not used, or a mapping of those that stay as they are.
    over, kept_prior, violated_prior : for "count", what is counted, and pseudo-counts (`learning.penalties`). None for
        the first two: "tokens" and 15 as in the papers for an HMM or a perceptron, "applicable" and 150 for others.
    epochs, rate : passes and step size of "perceptron" penalties. C : of "svm", the price of a mistake.
    folds : for trained penalties without `dev`: so many bases, each fitted on the rest, predict what is new to them.
    threads : None chooses by size; results do not depend on it.

    Notes
    -----
    After `fit`: `base_` (the fitted copy), `rules_` (with penalties), `penalties_` (by name), `compiled_`, `choice_`
    (what folds said of penalties; None where nothing was to choose).

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> model = es.CCM(es.HMM(), "Once: each field once").fit(X, y)
    >>> model.predict([["Eve", "in", "Ulm"]])
    [['who', 'O', 'where']]
    >>> sorted(model.penalties_)
    ['Once']
    """

    kind = "ccm"
    base_: SequenceLabeller = field(init=False)
    rules_: RuleSet = field(init=False)
    choice_: PenaltyChoice | None = field(init=False, default=None)
    compiled_: Compiled = field(init=False)

    base: SequenceLabeller
    rules: RuleSet | str
    penalties: str | float | Mapping[str, float] = "chosen"
    _: KW_ONLY
    training: str = "L+I"
    over: str | None = None
    kept_prior: float | None = None
    violated_prior: float = VIOLATED_PRIOR
    epochs: int = 5
    rate: float = 0.2
    C: float = 1.0
    folds: int = 5
    threads: int | None = None

    def fit(
        self: Self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
        dev: Any = None,
    ) -> Self:
        """Learn from labelled sequences: the base first, then penalties that the rules do not bring.

        Parameters
        ----------
        X : token lists, documents, or a Corpus that has labels.
        y : label lists, None for an unknown label; None where X has labels.
        sample_weight : of each sequence.
        labels : fixes the label names and their order; needed where rules name a label that this training set lacks.
        dev : a labelled corpus that the base has not seen, for penalties that are trained.

        Returns
        -------
        the estimator itself, fitted.
        """
        self.check_parameters()
        corpus = labelled_corpus(X, y, labels)
        if not scores_chains(self.base) and labels is None and corpus.labels is not None:
            base: Any = self.base  # which may give other labels of tokens than there are in the data
            corpus = as_corpus(corpus, vocabulary=Labels(base.rule_labels(corpus.labels.names)))
        assert corpus.labels is not None
        weight = check_sample_weight(sample_weight, len(corpus))
        compiled = compiled_rules(self.rules, corpus.labels)
        if self.training == "L+I":
            base = fresh(self.base).fit(corpus, sample_weight=weight, labels=corpus.labels.names)
            way = self._way(compiled, corpus, dev)
            if way in TRAINED or way == "chosen":
                rho = self._trained_penalties(base, compiled, corpus, weight, dev)
            else:
                rho = self._penalties(compiled, corpus, weight)
        else:
            base, rho = self._trained_together(compiled, corpus, weight)
        self._learned(base, compiled, rho)
        self.labels_ = corpus.labels
        self.training_digest_ = corpus.digest()
        return self

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        for name, least in (("kept_prior", 0), ("violated_prior", 0), ("rate", 0), ("C", 0)):
            if getattr(self, name) is not None or name != "kept_prior":
                check_number(name, getattr(self, name), least)
        for name, least in (("epochs", 1), ("folds", 2)):
            check_number(name, getattr(self, name), least, whole=True)
        if self.training not in ("L+I", "IBT", "JIBT"):
            raise InputError(f"training is {self.training!r}", hint="expected 'L+I', 'IBT' or 'JIBT'")
        if self.training != "L+I":
            require(
                self.base, "fit_under_rules", f"training={self.training!r}", "choose a Perceptron, or training='L+I'"
            )
        if self.training == "IBT" and self.penalties in TRAINED:
            raise InputError(f"training='IBT' needs penalties beforehand, and {self.penalties!r} needs a trained base")
        if self.training == "JIBT" and not (
            self.penalties in ("count", "chosen") or isinstance(self.penalties, Mapping)
        ):
            raise InputError(
                "training='JIBT' learns the penalties itself", hint=f"leave out penalties={self.penalties!r}"
            )

    def rule_set(self) -> RuleSet:
        """Return the rules as they were given; a rule whose penalty is to be found has None."""
        return rule_set(self.rules)

    def _penalties(self, compiled: Compiled, corpus: Corpus, weight: Float | None) -> Float:
        """Return ρ, float64[K], of ways that need no trained base."""
        rules, chosen = compiled.rules, self.penalties
        if isinstance(chosen, Mapping):
            return rules.with_penalties(chosen).penalties
        if chosen == "fixed":
            return rules.penalties
        if chosen in ("count", "chosen"):
            return self._counted(compiled, corpus, weight)
        price = math.inf if chosen == "hard" else chosen
        if isinstance(price, bool) or not isinstance(price, int | float | np.number) or not price >= 0:
            names = "'count', 'chosen', 'perceptron', 'svm', 'hard', 'fixed', a mapping or a number of at least 0"
            raise InputError(f"penalties is {chosen!r}", hint=f"expected {names}")
        return rules.with_penalties(dict.fromkeys(rules.unset, float(price))).penalties

    def _way(self, compiled: Compiled, corpus: Corpus, dev: Any) -> Any:
        """Return how penalties are found: folds choose only where there is something to choose, and a chain."""
        few = dev is None and len(corpus) < LEAST_CHOSEN
        free = any(rule.penalty is None for rule in compiled.rules)
        settled = few or not free or self._of_papers() or hasattr(self.base, "segment_labels")
        return "count" if self.penalties == "chosen" and settled else self.penalties

    def _of_papers(self) -> bool:
        """Is the base an HMM or a perceptron, an average of what it counted?"""
        return hasattr(self.base, "mixed") and not hasattr(self.base, "fit_soft")

    def counting(self) -> dict[str, Any]:
        """Return how penalties are counted: as in the papers for models that are averages of counts, else otherwise."""
        over, prior = ("tokens", KEPT_PRIOR) if self._of_papers() else ("applicable", APPLICABLE_PRIOR)
        kept_prior = prior if self.kept_prior is None else self.kept_prior
        return {"over": self.over or over, "kept_prior": kept_prior, "violated_prior": self.violated_prior}

    def _counted(self, compiled: Compiled, corpus: Corpus, weight: Float | None) -> Float:
        from espalier.learning.penalties import count_penalties

        return count_penalties(compiled, corpus, sample_weight=weight, **self.counting())

    def _trained_penalties(
        self, base: SequenceLabeller, compiled: Compiled, corpus: Corpus, weight: Float | None, dev: Any
    ) -> Float:
        """Return ρ, float64[K], trained on sequences that the base has not seen: dev, or fold by fold."""
        from espalier.estimators.held_out import fitted, folds_of, labelled_dev
        from espalier.learning.penalty_training import HeldOut, train_perceptron_penalties, train_svm_penalties

        if dev is not None:
            held = [labelled_dev(dev, compiled.labels)]
            if self.penalties == "chosen" and len(held[0]) > 1:
                held = [part for _, _, part in folds_of(held[0], None, 2)]
            seen = [(base, corpus, weight, part) for part in held]
        elif len(corpus) < 2:
            raise InputError(f"penalties={self.penalties!r} with one training sequence needs dev, a labelled corpus")
        else:
            folds = folds_of(corpus, weight, min(self.folds, len(corpus)))
            seen = [(fitted(self.base, rest, own), rest, own, part) for rest, own, part in folds]
        need = "trained penalties need"
        parts = [HeldOut.of(model.chain_potentials(part, need), part, compiled) for model, _, _, part in seen]
        way = self.penalties
        if way == "chosen":
            from espalier.learning.penalty_choice import choose_penalties

            counted = [self._counted(compiled, rest, own) for _, rest, own, _ in seen]
            self.choice_ = choose_penalties(parts, counted, compiled, C=self.C, threads=self.threads)
            way = self.choice_.way
        if way == "count":
            return self._counted(compiled, corpus, weight)
        if way == "off":
            return np.array([rule.penalty or 0.0 for rule in compiled.rules])
        if way == "svm":
            return train_svm_penalties(parts, compiled, C=self.C, threads=self.threads)
        return train_perceptron_penalties(parts, compiled, epochs=self.epochs, rate=self.rate, threads=self.threads)

    def _trained_together(
        self, compiled: Compiled, corpus: Corpus, weight: Float | None
    ) -> tuple[SequenceLabeller, Float]:
        """Return a base that was trained under the rules, and the penalties: given ones, or learned with it."""
        if self.training == "IBT":
            rho, learned = self._penalties(compiled, corpus, weight), np.zeros(compiled.K, bool)
        else:
            rules = compiled.rules.with_penalties(self.penalties if isinstance(self.penalties, Mapping) else {})
            learned = np.array([rule.penalty is None for rule in rules], bool)
            rho = np.where(learned, 0.0, rules.penalties)
        base: Any = fresh(self.base)
        return base, base.fit_under_rules(corpus, weight, compiled, rho, learned)

    def _learned(self, base: SequenceLabeller, compiled: Compiled, rho: Float) -> None:
        """Keep a fitted base and its penalties; compiled forms do not depend on those."""
        own: Any = base
        missing = () if scores_chains(base) else sorted({*own.rule_labels()} - {*compiled.labels.names})
        if missing:
            what = f"{type(base).__name__} may give the labels {', '.join(missing)}, which the rules do not know"
            raise InputError(what, hint="pass labels= to fit, with these among them")
        self.base_ = base
        self.rules_ = compiled.rules.with_penalties(rho)
        self.compiled_ = replace(compiled, rules=self.rules_)

    def with_rules(self, rules: RuleSet | str) -> CCM:
        """Return a fitted copy under other rules; the base stays.

        Parameters
        ----------
        rules : a RuleSet or its text, with penalties (1 where they have none).

        Returns
        -------
        CCM
        """
        self.check_fitted()
        compiled = compiled_rules(rules, self.labels_)
        other = copy(self)
        other.rules = compiled.rules
        other._learned(self.base_, compiled, compiled.rules.penalties)
        return other

    def with_base(self, base: SequenceLabeller, penalties: Float | None = None) -> CCM:
        """Return a fitted copy with another fitted base, and other penalties, float64[K], if given."""
        self.check_fitted()
        other = copy(self)
        other._learned(base, self.compiled_, self.rules_.penalties if penalties is None else penalties)
        return other

    def mixed_penalties(self, guessed: Corpus, weight: Float, gamma: float) -> Float:
        """Return gamma times the penalties plus (1 - gamma) times those counted in guessed sequences, float64[K].

        The penalties that the user has set stay.
        """
        from espalier.learning.penalties import log_odds, tally

        asked, rho = self.rule_set(), self.rules_.penalties
        how = self.counting()
        counted = tally(
            compile_rules(asked.only(asked.unset), self.labels_), guessed, over=how["over"], sample_weight=weight
        )
        free = np.array([rule.penalty is None for rule in asked], bool)
        rho[free] = gamma * rho[free] + (1 - gamma) * log_odds(counted, how["kept_prior"], how["violated_prior"])
        return rho

    @property
    def penalties_(self) -> dict[str, float]:
        """The penalty of every rule by name; 0 is a rule that is off, inf a hard one."""
        self.check_fitted()
        return dict(zip(self.rules_.names, self.rules_.penalties.tolist(), strict=True))

    def potentials(self, X: Any) -> ChainBatch:
        """Return the potentials of the base, without rules."""
        self.check_fitted()
        return self.base_.chain_potentials(X, "rules need")

    def decode(self, X: Any) -> BatchDecoding:
        """Return the best labellings under the rules with what is proven about them; -1 where none is possible."""
        self.check_fitted()
        corpus = as_corpus(X)
        return self._decoded(self._scores(corpus), corpus)

    def _scores(self, corpus: Corpus) -> ChainBatch | None:
        """Return the potentials of the base; None if its scores are no chain's, and it decodes by itself."""
        return self.base_.chain_potentials(corpus, "rules need") if scores_chains(self.base_) else None

    def _decoded(self, batch: ChainBatch | None, corpus: Corpus) -> BatchDecoding:
        if batch is None:
            own: Any = self.base_
            found: BatchDecoding = own.answers(corpus, self.compiled_).decoded()
            return found
        return decode_batch(batch, self.compiled_, corpus, threads=self.threads)

    def _problems(self, corpus: Corpus, batch: ChainBatch) -> list[Problem]:
        """Return the decoding problems of all sequences."""
        rho, grounded = self.rules_.penalties, self.compiled_.ground_corpus(corpus)
        return [Problem(batch[i], g, rho) for i, g in enumerate(grounded)]

    def tag(self, X: Any) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Return the best labels; where no labelling keeps the hard rules, the labels that break them least."""
        corpus = as_corpus(X)
        batch = self._scores(corpus)
        ids = self._decoded(batch, corpus).labels
        present = np.flatnonzero(corpus.lengths > 0)
        open_ = present[ids[corpus.indptr[present]] < 0].tolist()
        if not open_:
            return ids, corpus.indptr
        if batch is not None:
            from espalier.decoders.conflict import write_relaxed

            problems = Problems.of(batch, self.compiled_, corpus, self.rules_.penalties)
            write_relaxed(ids, problems, open_, threads=self.threads)
        else:  # nobody knows what breaks least there: the base's own answer
            for i, y in zip(open_, self.base_.predict(corpus[open_]), strict=True):
                ids[corpus.indptr[i] : corpus.indptr[i + 1]] = self.labels_.encode(y)
        warnings.warn(
            f"the hard rules leave no labelling for {len(open_)} of {len(corpus)} sequences (the first is number "
            f"{open_[0]}); these got labels that break few of them",
            ResultWarning,
            stacklevel=3,
        )
        return ids, corpus.indptr

    def predict_marginals(self, X: Any) -> list[Float]:
        """Return P(label | sequence) of each token under the rules, float64[T, L] a sequence.

        Exact where the product automaton of the rules is small; other sequences get the base's marginals, without
        rules, and a warning says how many.
        """
        from espalier.decoders.lattice import LatticeTooLarge
        from espalier.decoders.product import posterior

        corpus = as_corpus(X)
        batch = self.potentials(corpus)
        found: list[Float] = []
        plain = 0
        for i, problem in enumerate(self._problems(corpus, batch)):
            try:
                found.append(posterior(problem.tempered(), max_edges=MARGINAL_EDGES).marginals)
            except (LatticeTooLarge, InfeasibleError):
                found.append(marginals(batch[i].tempered()))
                plain += 1
        if plain:
            warnings.warn(
                f"{plain} of {len(corpus)} sequences have the base's marginals, without rules: under them exact ones "
                "are out of reach, or no labelling is possible",
                ResultWarning,
                stacklevel=2,
            )
        return found

    def predict_k(self, X: Any, k: int) -> list[list[tuple[list[str], float]]]:
        """Return the k best labellings under the rules with their scores, best first (fewer if fewer exist)."""
        from espalier.decoders.table import run

        corpus = as_corpus(X)
        batch = self.potentials(corpus)
        answers = [run(problem, k=k) for problem in self._problems(corpus, batch)]
        return [[(one.names(), one.score) for one in answer if one.labels is not None] for answer in answers]

    def explain(self, tokens: Sequence[str]) -> Explanation:
        """Return the answers for one sequence without and with the rules, and the rules that make the difference."""
        with one_sequence(tokens, "explain"):
            corpus = as_corpus([tokens])
            problem = self._problems(corpus, self.potentials(corpus))[0]
        from espalier.decoders.explanation import explain

        return with_experts(explain(problem), self.base_, corpus)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        header, arrays = nested("base", self.base_)
        header["rules"] = self.rules_.to_dict()
        header["unset"] = list(self.rule_set().unset)
        header["penalties"] = _to_json(self.penalties)
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        base, rules = unnested("base", header, arrays), RuleSet.from_dict(header["rules"])
        labels = Labels(header["labels"])
        if scores_chains(base) and base.labels_ != labels:
            raise ModelFileError("the labels of the model and of its base differ")
        self._learned(base, compile_rules(rules, labels), rules.penalties)
        self.base = fresh(base)
        self.rules = rules.with_penalties(dict.fromkeys(header["unset"]))
        self.penalties = _from_json(header["penalties"])


def under_rules(model: Any, compiled: Compiled) -> CCM:
    """Return a fitted model under compiled rules, which bring their penalties; rules of its own are left behind."""
    while isinstance(getattr(model, "model_", None), SequenceLabeller):
        model = model.model_
    base = getattr(model, "base_", model)
    ruled = CCM(fresh(base), compiled.rules, "fixed")
    ruled._learned(base, compiled, compiled.rules.penalties)
    ruled.labels_, ruled.training_digest_ = compiled.labels, base.training_digest_
    return ruled


def _to_json(penalties: Any) -> Any:
    """Write infinite penalties as "hard": JSON has finite numbers only."""
    if isinstance(penalties, Mapping):
        return {name: _to_json(value) for name, value in penalties.items()}
    if isinstance(penalties, str):
        return penalties
    return "hard" if math.isinf(penalties) else float(penalties)


def _from_json(penalties: Any) -> Any:
    if isinstance(penalties, Mapping):
        return {name: math.inf if value == "hard" else float(value) for name, value in penalties.items()}
    return penalties

"""`TwoStage`: a base model whose answer may give up a little score to break fewer relations.

    stage one    Z* = max_y s(x, y)                                              Viterbi
    stage two    min_y Σ_h c_h σ_h(x, y)    s.t.    Z* - s(x, y) <= (1 - τ) |Z*|

Fersini, Messina, Felici & Roth (2014) from end to end: relations between labels are learned from the training data
(`mining`, eq. 17-21; with conditions: `clause_rules`), the cost of one grows with the share of
clauses for which it holds (eq. 30), and stage two (eq. 22-29, `inference`) looks for the labelling that breaks
the cheapest of them. σ_h stands for one clause, so a relation that is broken twice costs twice.

τ is chosen from a grid by development data, or by cross-fitted scores of the training data where there is none: each
fold is labelled by a base that was fitted to the others. `cover` leaves out relations that no answer there needs.
Relations that are broken wherever they apply (a field is followed by itself: not at its end) say nothing and are left
out.

Cost: Viterbi for all sequences; stage two only for those whose answer breaks a relation, about 10 ms each. For a grid,
one search serves every τ that its answer satisfies, from the loosest on. A search that takes too long is repeated with
half the loss allowed, so every answer keeps to τ; a ResultWarning says how many are not proven to be cheapest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.base import Problem, evaluate
from espalier.errors import InputError, ResultWarning
from espalier.estimators.base import (
    SequenceLabeller,
    as_corpus,
    check_sample_weight,
    fresh,
    labelled_corpus,
    one_sequence,
)
from espalier.estimators.held_out import fitted, folds_of, labelled_dev
from espalier.estimators.persist import nested, unnested
from espalier.inference import viterbi
from espalier.learning.discovery import Candidate, prune
from espalier.learning.discovery_clauses import ClauseCounter
from espalier.learning.relations import Relation, counted
from espalier.metrics import segment_scores, token_accuracy
from espalier.papers.two_stage.clause_rules import learn_clauses
from espalier.papers.two_stage.inference import COUNTS, solve
from espalier.papers.two_stage.mining import mine
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.generators import RELATION_KINDS
from espalier.rules.ruleset import RuleSet
from espalier.tags import is_tag

__all__ = ["Repair", "TwoStage"]

Self = TypeVar("Self", bound="TwoStage")
Float = NDArray[np.float64]
Ids = NDArray[np.int16]

TAUS = (1.0, 0.998, 0.995, 0.99, 0.98, 0.96, 0.93, 0.9)
HALVINGS = 4
LEARNERS: Mapping[str, Callable[..., list[Relation]]] = {"mine": mine, "clauses": learn_clauses}


class _Part(NamedTuple):
    """Labelled sequences and their scores by a base that was not fitted to them."""

    corpus: Corpus
    batch: ChainBatch

    def answered(self) -> Corpus:
        """Return the corpus with the best labels by these scores; what was unknown stays so."""
        assert self.corpus.y is not None
        return replace(self.corpus, y=np.where(self.corpus.y < 0, self.corpus.y, viterbi(self.batch).labels))


@dataclass(frozen=True, slots=True)
class Repair:
    """What stage two did to one sequence.

    before, after : the labels of stage one and of stage two; loss : what that costs in score, allowed : what it may;
    rules : (name, cost, clauses broken before, and after) of each rule that either breaks.
    """

    tokens: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    loss: float
    allowed: float
    rules: tuple[tuple[str, float, int, int], ...]

    @property
    def changed(self) -> tuple[int, ...]:
        """The tokens whose labels differ."""
        return tuple(t for t, (a, b) in enumerate(zip(self.before, self.after, strict=True)) if a != b)

    def __str__(self) -> str:
        """List the changes, the rules, and what they cost."""
        lines = [f"{t}  {self.tokens[t]}: {self.before[t]} -> {self.after[t]}" for t in self.changed]
        lines += [f"{name} (cost {cost:.3g}): broken {a}, then {b}" for name, cost, a, b in self.rules]
        lines.append(f"score lost {self.loss:.4g} of {self.allowed:.4g} allowed")
        return "\n".join(lines)


@dataclass(eq=False, repr=False)
class TwoStage(SequenceLabeller):
    """Soft-constrained inference in two stages, with relations and threshold from data.

    Parameters
    ----------
    base : an unfitted estimator of chains, such as CRF(); it is copied, never fitted itself.
    relations : "mine" (relations between pairs of labels), "clauses" (relations with conditions, learned as formulas in
        disjunctive normal form: `clause_rules`), or a RuleSet or its text, where rules without a penalty get
        their cost from the training labels.
    tau : the share of the best score that an answer keeps, 0 to 1, or "auto": chosen from `taus`.
    kinds, min_support, min_confidence : of the relations to learn (`mining.mine`).
    cover : keep mined relations that object to wrong answers only, so many to each (`learning.relations.cover`); None
        keeps all.
    count : "violations" (every broken clause costs) or "rules" (each rule costs once).
    criterion : what `tau` is chosen by: "tokens" (accuracy), "segments" (F1), or "auto": segments if labels are tags.
    folds : how many, where tau or a covering is asked for and there are no development data.
    max_nodes : of each search.

    Notes
    -----
    After `fit`: `base_`, `rules_` (with costs), `compiled_`, `tau_`, `tau_scores_` (the criterion for each of `taus`;
    empty if none was chosen).

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> model = es.TwoStage(es.CRF(["lower"]), "Order: who before where", tau=0.9).fit(X, y)
    >>> model.predict([["Ann", "in", "Ulm"]])
    [['who', 'O', 'where']]
    """

    kind = "two_stage"
    base_: SequenceLabeller = field(init=False)
    rules_: RuleSet = field(init=False)
    compiled_: Compiled = field(init=False)
    tau_: float = field(init=False)

    base: SequenceLabeller
    relations: str | RuleSet = "mine"
    tau: str | float = "auto"
    _: KW_ONLY
    kinds: Collection[str] = RELATION_KINDS
    min_support: int = 5
    min_confidence: float = 0.9
    cover: int | None = 1
    taus: Sequence[float] = TAUS
    count: str = "violations"
    criterion: str = "auto"
    folds: int = 5
    max_nodes: int = 3000
    threads: int | None = None

    def fit(
        self: Self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
        dev: Any = None,
    ) -> Self:
        """Learn from sequences X and label lists y (None: unknown label); X may be a Corpus that has labels.

        labels : fixes the label names and their order. dev : a labelled corpus, or a pair (X, y), that the base does
        not learn from, to choose tau and relations by.
        """
        self.check_parameters()
        corpus = labelled_corpus(X, y, labels)
        assert corpus.labels is not None
        weight = check_sample_weight(sample_weight, len(corpus))
        base = fresh(self.base).fit(corpus, sample_weight=weight, labels=corpus.labels.names)
        mined = isinstance(self.relations, str) and self.relations in LEARNERS
        parts: list[_Part] = []
        if self.tau == "auto" or (mined and self.cover is not None):
            parts = (
                self._cross_fitted(corpus, weight) if dev is None else [_part(base, labelled_dev(dev, corpus.labels))]
            )
        rules = self._mined(corpus, parts) if mined else self._priced(corpus)
        self.base_, self.rules_, self.compiled_ = base, rules, compile_rules(rules, corpus.labels)
        self.tau_scores_ = self._judged(parts) if self.tau == "auto" else {}
        # Of equal scores the largest tau: nothing is changed without a gain.
        best = max(self.tau_scores_.items(), key=lambda item: (item[1], item[0]), default=(self.tau, 0.0))
        self.tau_ = float(best[0])
        self.labels_ = corpus.labels
        self.training_digest_ = corpus.digest()
        return self

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        taus: list[Any] = [*self.taus] if self.tau == "auto" else [self.tau]
        for tau in taus:
            if isinstance(tau, bool | str) or not 0 <= tau <= 1:
                raise InputError(f"tau is {tau!r}", hint="expected 'auto' or a number from 0 to 1")
        if not taus:
            raise InputError("taus is empty", hint="give at least one number from 0 to 1")
        if self.count not in COUNTS:
            raise InputError(f"count is {self.count!r}", hint=f"expected one of {', '.join(map(repr, COUNTS))}")
        if self.criterion not in ("auto", "tokens", "segments"):
            raise InputError(f"criterion is {self.criterion!r}", hint="expected 'auto', 'tokens' or 'segments'")
        if not isinstance(self.relations, str | RuleSet):
            raise InputError(
                f"relations is {type(self.relations).__name__}", hint="give 'mine', 'clauses', a RuleSet or its text"
            )

    def _cross_fitted(self, corpus: Corpus, weight: Float | None) -> list[_Part]:
        """Score every sequence by a base fitted to the other folds."""
        folds = min(self.folds, len(corpus))
        if folds < 2:
            raise InputError(
                "tau='auto' needs at least two training sequences and folds, or dev", hint="or give tau a number"
            )
        return [_part(fitted(self.base, rest, own), held) for rest, own, held in folds_of(corpus, weight, folds)]

    def _mined(self, corpus: Corpus, parts: Sequence[_Part]) -> RuleSet:
        """Return the relations of the training labels, with their costs."""
        assert isinstance(self.relations, str)
        learn = LEARNERS[self.relations]
        found = learn(corpus, self.kinds, min_support=self.min_support, min_confidence=self.min_confidence)
        if self.cover is not None:
            counters = [(ClauseCounter(part.corpus), ClauseCounter(part.answered())) for part in parts]
            found = [c.relation for c in prune([_candidate(r, counters) for r in found], self.cover)]
        return RuleSet(replace(r.rule, penalty=r.cost) for r in found)

    def _priced(self, corpus: Corpus) -> RuleSet:
        """Return the given rules; those without a penalty cost what the training labels say (eq. 30)."""
        rules = self.relations if isinstance(self.relations, RuleSet) else RuleSet.from_text(self.relations)
        assert corpus.labels is not None
        rules.check(corpus.labels)
        counter = ClauseCounter(corpus)
        costs = {name: counted(rules[name], "", counter.count(rules[name].node)).cost for name in rules.unset}
        return rules.with_penalties(costs)

    def _judged(self, parts: Sequence[_Part]) -> dict[float, float]:
        """Return the criterion for every tau of the grid."""
        taus = sorted({float(tau) for tau in self.taus})
        answers = [self._stage_two(part.corpus, part.batch, taus) for part in parts]
        gold = [y for part in parts for y in part.corpus.all_labels()]
        scores = {}
        for k, tau in enumerate(taus):
            labelled = [replace(p.corpus, y=a[k]) for p, a in zip(parts, answers, strict=True)]
            scores[tau] = self._score(gold, [y for corpus in labelled for y in corpus.all_labels()])
        return scores

    def _score(self, gold: list[list[str | None]], found: list[list[str | None]]) -> float:
        tags = all(name is None or is_tag(name) for y in gold for name in y)
        if self.criterion == "segments" or (self.criterion == "auto" and tags):
            return segment_scores(gold, found).micro.f1
        return token_accuracy(gold, found)

    def _stage_two(self, corpus: Corpus, batch: ChainBatch, taus: Sequence[float]) -> list[Ids]:
        """Return the labels for every tau, int16[M] each; taus rise."""
        best = viterbi(batch)
        answers = [best.labels.copy() for _ in taus]
        counter = ClauseCounter(replace(corpus, y=best.labels, labels=self.compiled_.labels))
        open_ = np.flatnonzero(sum((counter.count(rule.node).broken for rule in self.rules_), np.zeros(len(corpus))))
        unproven = 0
        for i, grounded in zip(open_.tolist(), self.compiled_.ground_corpus(corpus[open_]), strict=True):
            tokens = slice(int(corpus.indptr[i]), int(corpus.indptr[i + 1]))
            problem, found, proven = Problem(batch[i], grounded), None, True
            for answer, tau in zip(answers, taus, strict=True):
                allowed = (1.0 - tau) * abs(float(best.scores[i]))
                if found is None or found.loss > allowed:
                    found, fine = self._search(problem, best.labels[tokens], allowed)
                    proven &= fine
                answer[tokens] = found.labels
            unproven += not proven
        if unproven:
            warnings.warn(
                f"the second stage ended early for {unproven} of {len(corpus)} sequences, or found no labelling that "
                "keeps the hard rules; their labels may break more than they must: raise max_nodes, or change tau",
                ResultWarning,
                stacklevel=4,
            )
        return answers

    def _search(self, problem: Problem, first: Ids, allowed: float) -> tuple[_Answer, bool]:
        """Return the cheapest labelling within the allowed loss, and whether it is proven to be that."""
        for halving in range(HALVINGS if allowed > 0 else 0):
            slack = allowed / 2**halving
            found = solve(problem, slack=slack, count=self.count, solver="search", max_nodes=self.max_nodes)
            if found.labels is not None:
                return _Answer(found.labels, found.top - found.score), halving == 0
            if found.proven:  # hard rules that nothing within the loss satisfies
                break
        return _Answer(first, 0.0), allowed == 0

    def potentials(self, X: Any) -> ChainBatch:
        """Return the potentials of the base, without rules."""
        self.check_fitted()
        return self.base_.chain_potentials(X, "two stages need")

    def choose(self, corpus: Corpus, batch: ChainBatch) -> Ids:
        """Return the labels of stage two, int16[M], for texts and their potentials."""
        return viterbi(batch).labels if self.tau_ == 1 else self._stage_two(corpus, batch, [self.tau_])[0]

    def tag(self, X: Any) -> tuple[Ids, NDArray[np.int64]]:
        """Return the best label ids, int16[M], and the sequence borders, int64[N + 1]."""
        corpus = as_corpus(X)
        return self.choose(corpus, self.potentials(corpus)), corpus.indptr

    def explain(self, tokens: Sequence[str]) -> Repair:
        """Say what stage two does to one sequence, and which rules that mends."""
        with one_sequence(tokens, "explain"):
            corpus = as_corpus([tokens])
        batch = self.potentials(corpus)
        best = viterbi(batch)
        [after] = self._stage_two(corpus, batch, [self.tau_])
        problem = Problem(batch[0], self.compiled_.ground(tokens))
        one, two = evaluate(problem, best.labels), evaluate(problem, after)
        rules = tuple(
            (name, float(cost), int(a), int(b))
            for name, cost, a, b in zip(self.rules_.names, problem.penalties, one.degrees, two.degrees, strict=True)
            if a or b
        )
        before, mended = (tuple(self.labels_.names[i] for i in y) for y in (best.labels, after))
        loss = max(0.0, one.model_score - two.model_score)
        allowed = (1 - self.tau_) * abs(float(best.scores[0]))
        return Repair(tuple(tokens), before, mended, loss, allowed, rules)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        header, arrays = nested("base", self.base_)
        lists = {"kinds": list(self.kinds), "taus": [float(tau) for tau in self.taus]}
        return {**header, "rules": self.rules_.to_dict(), "tau_": self.tau_, "lists": lists}, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        self.base_ = unnested("base", header, arrays)
        self.base = fresh(self.base_)
        self.rules_ = RuleSet.from_dict(header["rules"])
        self.compiled_ = compile_rules(self.rules_, Labels(header["labels"]))
        self.tau_, self.tau_scores_ = float(header["tau_"]), {}
        lists = header.get("lists", {})  # older files have none
        self.kinds, self.taus = tuple(lists.get("kinds", self.kinds)), tuple(lists.get("taus", self.taus))


class _Answer(NamedTuple):
    """Labels, int16[T], and the score they lose."""

    labels: Ids
    loss: float


def _part(base: SequenceLabeller, corpus: Corpus) -> _Part:
    """Score labelled sequences that the base has not seen."""
    return _Part(corpus, base.chain_potentials(corpus, "two stages need"))


def _candidate(relation: Relation, counters: Sequence[tuple[ClauseCounter, ClauseCounter]]) -> Candidate:
    """Return a relation with the sequences whose gold labels, and whose answers, break it."""
    node = relation.rule.node
    gold, answers = ([pair[side].count(node).broken > 0 for pair in counters] for side in (0, 1))
    return Candidate(relation, np.concatenate(gold), np.concatenate(answers))

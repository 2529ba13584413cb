"""`SampleRank`: a linear chain that learns while it samples, from labels, unlabelled text and rules.

See `papers.samplerank.training` for the algorithm. Every pair of neighbouring labellings of a random walk is ranked
by the model and by a truth function, and the weights move where the two disagree; no inference over whole sequences is
needed while learning. New text is labelled by Viterbi, without the rules; to have them there too, make it the base of a
`CCM`. The rules are not part of a model file: they have done their work.

    SampleRank().fit(X, y)                                                                  supervised
    SampleRank(rules=rules, unlabelled_truth="self+cons").fit(X, y, unlabelled=pool)        and taught by rules
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import UNKNOWN, Corpus, Labels
from espalier.errors import Argument, InputError, ResultWarning
from espalier.estimators.base import check_number, check_sample_weight, compiled_rules, labelled_corpus
from espalier.estimators.crf import LinearChainLabeller, TrainingSet
from espalier.estimators.held_out import gold_ids, held_out
from espalier.estimators.unlabelled import Guard, checked_pool
from espalier.features.extract import FeatureExtractor
from espalier.features.index import FeatureIndex
from espalier.models.linear import ChainModel
from espalier.papers.samplerank.training import (
    TRUTHS,
    Pass,
    Proposals,
    RuleTables,
    SegmentTables,
    Truth,
    Walk,
    mean_size,
    truth_weights,
)
from espalier.rules.ruleset import RuleSet

__all__ = ["SampleRank"]

TINY = 1e-12
"""The least step and temperature: both must be above zero."""


@dataclass(eq=False, repr=False)
class SampleRank(LinearChainLabeller):
    """A linear chain trained by SampleRank.

    Parameters
    ----------
    features, min_count, boundaries, threads : as for `Perceptron`; with a pool, attributes are those of all the text.
    rules : a RuleSet or its text, for unlabelled sequences; p_k is a rule's penalty, 1 unless set, and hard rules count
        a million. Rules that are neither local nor counts are refused by name.
    truth : what ranks labellings of labelled sequences: "accuracy" (right tokens) or "f1" (of segments, at leaf level;
        right tokens break ties). A single label seldom completes a segment: give "f1" a `block` of some tokens.
    unlabelled_truth : "self", "cons", "self+cons" or "model+cons", see `espalier.papers.samplerank.training`.
    lambda_s, lambda_m : the weight of the rules in "self+cons" and "model+cons". The latter is in units of the model's
        score, whose size depends on the features: the paper's 0.0001 moves nothing where tokens have dozens of them.
    epochs, sweeps : visits to the labelled sequences, and proposals a token in each visit.
    pool_epochs, pool_sweeps : then, the same for unlabelled sequences, with the labelled ones among them.
    alpha : the step. margin : how far the model must rank the truer labelling of a labelled sequence above the other;
        1 is what one update changes at a token, α times its number of attributes. pool_margin : the same for unlabelled
        sequences, where a margin makes the model surer of what it believes, right or wrong.
    block : the longest stretch of tokens that a proposal relabels. temperature : of accepting labellings that the model
        likes less; it matters little.
    averaged : use the mean of the weights after every proposal (of the pool's phase, if there is one).
    keep, patience : with `dev`, which model to keep ("best", the supervised one included, or "last"), and how many
        epochs of the pool to wait for a better one.
    seed : of proposals and visits; the same seed gives the same model.

    Notes
    -----
    After `fit`: `weights_` (weights), `index_` (attributes), `history_` (a `Pass` for every epoch: proposals, updates,
    moves), `cycle_` (the epoch of the pool whose model was kept, 0 for the supervised one), `score_` and
    `supervised_score_` (token accuracy on `dev`, None without).

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> es.SampleRank(["lower", "shape"], epochs=3).fit(X, y).predict([["Bob", "in", "Ulm"]])
    [['who', 'O', 'where']]
    """

    kind = "samplerank"
    history_: list[Pass] = field(init=False)
    cycle_: int = field(init=False)
    score_: float | None = field(init=False)
    supervised_score_: float | None = field(init=False)

    features: Sequence[Any] | FeatureExtractor | None = None
    rules: RuleSet | str | None = None
    _: KW_ONLY
    truth: str = "accuracy"
    unlabelled_truth: str = "self+cons"
    lambda_s: float = 10.0
    lambda_m: float = 10.0
    epochs: int = 10
    sweeps: int = 12
    pool_epochs: int = 5
    pool_sweeps: int = 2
    alpha: float = 1.0
    margin: float = 2.0
    pool_margin: float = 0.0
    block: int = 1
    temperature: float = 1.0
    averaged: bool = True
    boundaries: bool = False
    keep: str = "best"
    patience: int | None = None
    seed: int = 0
    min_count: int = 1
    threads: int | None = None

    def fit(
        self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
        *,
        unlabelled: Any = None,
        dev: Any = None,
    ) -> SampleRank:
        """Learn from labelled sequences X, y and, if given, from `unlabelled` ones, whose labels are never looked at.

        sample_weight : of the labelled sequences. labels : fixes the label names; needed where rules name a label that
        X lacks. dev : held-out data, a labelled Corpus or (X, y), to choose between the supervised model and the later
        ones; without it the last is kept, and nothing says whether the pool has helped.
        """
        self.check_parameters()
        held = None if dev is None else held_out(dev, None)
        if unlabelled is None:
            return self._fit_supervised(X, y, sample_weight, labels, held)
        corpus, pool = labelled_corpus(X, y, labels), checked_pool(unlabelled, "SampleRank")
        assert corpus.labels is not None
        assert corpus.y is not None
        rules = self._rule_tables(corpus.labels, pool).after(len(corpus), corpus.n_tokens)
        unknown = np.full(pool.n_tokens, UNKNOWN, np.int16)
        joint = replace(corpus + pool, y=np.concatenate([corpus.y, unknown]), labels=corpus.labels)
        index, matrix = self.extractor().fit_transform(joint)
        omega = np.ones(len(joint))
        weight = check_sample_weight(sample_weight, len(corpus))
        omega[: len(corpus)] = 1.0 if weight is None else weight
        score = None if held is None else _accuracy(index, corpus.labels, held)
        self.weights_ = self._learn(self.training_set(joint, matrix, omega), len(corpus), rules, score)
        self.index_, self.labels_, self.training_digest_ = index, corpus.labels, corpus.digest()
        return self

    def _fit_supervised(self, X: Any, y: Any, sample_weight: Any, labels: Any, held: Corpus | None) -> SampleRank:
        """Learn from labels alone; X may hold ready attributes."""
        if self.rules is not None:
            warnings.warn(
                "rules teach SampleRank on unlabelled sequences only, and there are none: pass unlabelled=",
                ResultWarning,
                stacklevel=3,
            )
        super().fit(X, y, sample_weight, labels)
        self.score_ = self.supervised_score_ = None if held is None else self.score(held)
        return self

    def train(self, data: TrainingSet) -> ChainModel:
        """Find the weights."""
        rules = RuleTables.none(data.matrix.n_tokens, data.n_labels)
        return self._learn(data, len(data.indptr) - 1, rules, None)

    def _learn(
        self,
        data: TrainingSet,
        n_labelled: int,
        rules: RuleTables,
        score: Callable[[ChainModel], float] | None,
    ) -> ChainModel:
        """Walk over the labelled sequences, the first ones, and then over all; return the model that the guard kept."""
        walk = Walk(
            data.matrix, data.indptr, (data.start_allowed, data.allowed), SegmentTables.of(data.labels),
            Proposals(self.block, self.temperature, self.alpha, self.truth == "f1", self.boundaries),
            np.random.default_rng(self.seed),
        )  # fmt: skip
        truth = self._truth(data, n_labelled, rules)
        N, first = len(data.indptr) - 1, int(data.indptr[n_labelled])
        self.history_ = [walk.run(truth, np.arange(n_labelled)) for _ in range(self.epochs)]
        supervised = self._weights(walk)
        guard = Guard[ChainModel](score, keep=self.keep, patience=self.patience)
        guard.see(walk.model(supervised))
        if first < data.indptr[-1]:
            walk.restart(supervised)
            truth.gold[first:] = walk.y[first:]  # what "self" compares with
            for _ in range(self.pool_epochs):
                self.history_.append(walk.run(truth, np.arange(N)))
                guard.see(walk.model(self._weights(walk)))
                if guard.stop:
                    break
        self.cycle_, self.score_, self.supervised_score_ = guard.cycle, guard.score, guard.supervised_score
        return guard.model

    def _weights(self, walk: Walk) -> list[NDArray[np.float64]]:
        return walk.averaged() if self.averaged else walk.weights

    def _truth(self, data: TrainingSet, n_labelled: int, rules: RuleTables) -> Truth:
        """Say what ranks the labellings of each sequence: the loss for the labelled ones, F_U for the others."""
        N = len(data.indptr) - 1
        pool = np.arange(N) >= n_labelled
        unit = self.alpha * mean_size(data.matrix)
        of_pool = truth_weights(self.unlabelled_truth, self.lambda_s, self.lambda_m)
        return Truth(
            data.y.copy(),
            np.where(pool[:, None], of_pool, (1.0, 0.0, 0.0)),
            np.where(pool, self.pool_sweeps, self.sweeps),
            unit * np.where(pool, self.pool_margin, self.margin),
            np.ones(N) if data.sample_weight is None else data.sample_weight,
            rules,
        )

    def _rule_tables(self, labels: Labels, pool: Corpus) -> RuleTables:
        """Compile the rules and let them meet the pool."""
        if self.unlabelled_truth == "self":
            return RuleTables.none(pool.n_tokens, len(labels))
        if self.rules is None:
            rules = Argument("fit", "rules", said="pass some")
            alone = Argument("method", "unlabelled_truth", "self")
            what = f"unlabelled_truth is {self.unlabelled_truth!r}, which asks rules"
            raise InputError(what, hint=[rules, ("use ", alone)])
        return RuleTables.of(compiled_rules(self.rules, labels), pool)

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        for name, known in (("truth", ("accuracy", "f1")), ("unlabelled_truth", TRUTHS)):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}", hint=f"expected {' or '.join(map(repr, known))}")
        for name in ("epochs", "sweeps", "pool_epochs", "pool_sweeps", "block"):
            check_number(name, getattr(self, name), 1, whole=True)
        check_number("seed", self.seed, whole=True)
        for name in ("lambda_s", "lambda_m", "margin", "pool_margin"):
            check_number(name, getattr(self, name))
        for name in ("alpha", "temperature"):
            check_number(name, getattr(self, name), TINY)


def _accuracy(index: FeatureIndex, labels: Labels, held: Corpus) -> Callable[[ChainModel], float]:
    """Return token accuracy on held-out data as a function of a model."""
    matrix, gold = index.transform(held), gold_ids(held, labels)
    return lambda model: float((model.tag(matrix, held.indptr)[0] == gold)[gold != -1].mean())

"""`CoDL`: constraint-driven learning, a model taught by the labels that it gives to unlabelled text under rules.

See `espalier.learning.codl` for the algorithm. The variants that Chang, Ratinov and Roth report are parameters:

    H          CoDL(model, gamma=0, constrained=False, infer=False)           hard EM
    H&W        CoDL(model, constrained=False, infer=False)                    the weight gamma on the supervised model
    H&W&C      CoDL(model, infer=False)                                       rules while learning
    H&W&C+I    CoDL(model)                                                    and when labelling new text
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.explain import Explanation
from espalier.errors import InputError, ResultWarning
from espalier.estimators.base import SequenceLabeller, check_number, check_sample_weight, fresh, labelled_corpus
from espalier.estimators.ccm import CCM
from espalier.estimators.em import knowing_words
from espalier.estimators.hmm import HMM
from espalier.estimators.pool_shards import check_countable, open_guesses
from espalier.estimators.pool_updates import Update, base_update
from espalier.estimators.unlabelled import TaughtLabeller, checked_pool, held_out, scorer
from espalier.learning.codl import Cycle, Guess, broken, codl, label_pool, pseudo_labelled
from espalier.learning.guard import Guard
from espalier.learning.penalties import Tally, log_odds, tally
from espalier.learning.sharded_codl import Record, Setting
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.shards import check_jobs

__all__ = ["CoDL"]

Float = NDArray[np.float64]


class CoDL(TaughtLabeller):
    """Constraint-driven learning.

    Parameters
    ----------
    model : an unfitted CCM, or a base model without rules; it is copied, never fitted itself.
    update : what a cycle learns. "interpolate" (algorithm 2): gamma times the supervised model plus (1 - gamma) times
        one of the pool; of an HMM probabilities are mixed, a Perceptron is trained on the labels from (1 - gamma) times
        the weights it learned from the pool (section 6 of the same paper). "pool", for any base with sample weights:
        trained anew on the labels and, each sequence with weight pool_weight, the pool.
    gamma, pool_weight : see there. cycles : at most; fewer where the labels of the pool stop changing.
    k, weighting : learn from the k best labellings, of equal weight ("uniform") or by exp(score) ("score").
    constrained, infer : do the rules count while the pool is labelled, and when new text is?
    relearn_penalties : count penalties on the pool too and combine them as the model's; needs penalties="count".
    keep, patience : with `dev`, which model to keep ("best", the supervised one included, or "last"), and how many
        cycles to wait for a better one.
    threads : None chooses by size. progress : called with every `Cycle`.
    jobs : None labels the pool here; a number labels its parts in so many processes, with one thread each if `threads`
        does not say more, which keep the labels and return counts or gradients (`espalier.shards`); for an HMM with
        update="interpolate" and a CRF with update="pool". Results do not depend on the number.

    After `fit`: `model_` (a fitted copy of `model`), `history_` (`Cycle`s), `cycle_` (the one whose model was kept),
    `score_` and `supervised_score_` (token accuracy on `dev`, None without).
    """

    kind = "codl"

    def __init__(
        self,
        model: Any,
        *,
        gamma: float = 0.9,
        cycles: int = 5,
        k: int = 1,
        weighting: str = "uniform",
        update: str = "interpolate",
        pool_weight: float = 0.1,
        constrained: bool = True,
        infer: bool = True,
        relearn_penalties: bool = False,
        keep: str = "best",
        patience: int | None = None,
        threads: int | None = None,
        progress: Callable[[Cycle], None] | None = None,
        jobs: int | None = None,
    ) -> None:
        """Store the parameters."""
        self.model = model
        self.gamma = gamma
        self.cycles = cycles
        self.k = k
        self.weighting = weighting
        self.update = update
        self.pool_weight = pool_weight
        self.constrained = constrained
        self.infer = infer
        self.relearn_penalties = relearn_penalties
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
    ) -> CoDL:
        """Learn from labelled sequences X, y and from `unlabelled` ones.

        labels : fixes the label names; needed where rules name a label that X lacks. dev : held-out data, a labelled
        Corpus or (X, y); without it the last model is kept, and nothing says whether the pool has helped.
        """
        self._check_parameters()
        corpus, pool, held = labelled_corpus(X, y, labels), checked_pool(unlabelled, "CoDL"), held_out(dev)
        weight = check_sample_weight(sample_weight, len(corpus))
        supervised = self._supervised(corpus, weight, pool, held)
        score = scorer(held)
        guard = Guard(
            supervised,
            None if score is None else lambda model: score(self._answering(model)),
            keep=self.keep,
            patience=self.patience,
        )
        history: list[Cycle] = []
        with closing(self._turns(supervised, corpus, weight, pool)) as turns:
            for model, cycle in islice(turns, self.cycles if pool.n_tokens else 0):
                history.append(replace(cycle, score=guard.see(model)))
                if self.progress is not None:
                    self.progress(history[-1])
                if guard.stop:
                    break
        if history and history[-1].left_out:
            warnings.warn(
                f"the hard rules leave no labelling for {history[-1].left_out} of {len(pool)} unlabelled sequences; "
                "they taught nothing",
                ResultWarning,
                stacklevel=2,
            )
        self._keep(guard, history)
        return self

    def _turns(
        self, supervised: SequenceLabeller, corpus: Corpus, weight: Float | None, pool: Corpus
    ) -> Generator[tuple[SequenceLabeller, Cycle]]:
        """Yield the model of every cycle and its record, which has no score yet."""
        if self.jobs is not None:
            yield from self._turns_over_shards(supervised, corpus, weight, pool, self.jobs)
            return
        violations = _violations(supervised, pool)
        turns = codl(supervised, partial(self._guess, pool=pool), self._learner(supervised, corpus, weight, pool))
        for number, (model, guess, changed) in enumerate(turns, 1):
            yield model, _record(number, guess, changed, violations(guess))

    def _turns_over_shards(
        self, supervised: SequenceLabeller, corpus: Corpus, weight: Float | None, pool: Corpus, jobs: int
    ) -> Generator[tuple[SequenceLabeller, Cycle]]:
        """Do the same with the pool in parts: workers label, and what their labels say is learned here."""
        ruled = supervised if isinstance(supervised, CCM) else None
        base: Any = supervised.base_ if isinstance(supervised, CCM) else supervised
        setting = Setting(
            base.labels_, None if ruled is None else ruled.compiled_, self.constrained,
            _free_rules(ruled) if ruled is not None and self.relearn_penalties else None,
            "tokens" if ruled is None else ruled.over, self.k, self.weighting, self.threads or 1, self.pool_weight,
        )  # fmt: skip
        with open_guesses(base, corpus, weight, pool, setting, self.gamma, jobs) as guessed:
            model: Any = supervised
            for number in count(1):
                record = guessed.label(*((model, None) if ruled is None else (model.base_, model.rules_.penalties)))
                if not record.differs:
                    return
                # Without any labelling there is nothing to learn from.
                model = self._taught(supervised, guessed.learn(), record) if record.taught else supervised
                yield model, record.cycle(number, pool)

    def _taught(self, supervised: SequenceLabeller, learned: Any, record: Record) -> SequenceLabeller:
        """Return the model with a base that was learned from the labels of a cycle."""
        if not isinstance(supervised, CCM):
            bare: SequenceLabeller = learned
            return bare
        counted = Tally(record.violated, record.kept)
        return _with_base(supervised, learned, self._penalties(supervised, counted) if self.relearn_penalties else None)

    def _check_parameters(self) -> None:
        check_jobs(self.jobs)
        check_countable(self.model.base if isinstance(self.model, CCM) else self.model, self.update, self.jobs)
        check_number("gamma", self.gamma)
        check_number("pool_weight", self.pool_weight)
        check_number("cycles", self.cycles, whole=True)
        check_number("k", self.k, 1, whole=True)
        if self.gamma > 1:
            raise InputError(f"gamma is {self.gamma!r}; expected a number from 0 to 1")
        if self.relearn_penalties and not (isinstance(self.model, CCM) and self.model.penalties == "count"):
            raise InputError("relearn_penalties counts violations: it needs a CCM with penalties='count'")

    def _supervised(self, corpus: Corpus, weight: Float | None, pool: Corpus, dev: Corpus | None) -> SequenceLabeller:
        """Fit the model on the labels; the words of the pool are known words."""
        model: Any = fresh(self.model)
        if isinstance(model, CCM):
            model.fit(corpus, sample_weight=weight, dev=dev)
            return _with_base(model, _known_words(model.base, model.base_, corpus, weight, pool))
        bare: SequenceLabeller = _known_words(model, None, corpus, weight, pool)
        return bare

    def _learner(
        self, supervised: SequenceLabeller, corpus: Corpus, weight: Float | None, pool: Corpus
    ) -> Callable[[Guess], SequenceLabeller]:
        """Return the step from a guess to the next model."""
        base = supervised.base_ if isinstance(supervised, CCM) else supervised
        update: Update = base_update(self.update, base, corpus, weight, gamma=self.gamma, pool_weight=self.pool_weight)

        def learn(guess: Guess) -> SequenceLabeller:
            pseudo, belief = pseudo_labelled(pool, guess, supervised.labels_)
            if not len(pseudo):
                return supervised
            learned: SequenceLabeller = update(pseudo, belief)
            if not isinstance(supervised, CCM):
                return learned
            if not self.relearn_penalties:
                return _with_base(supervised, learned)
            counted = tally(_free_rules(supervised), pseudo, over=supervised.over, sample_weight=belief)
            return _with_base(supervised, learned, self._penalties(supervised, counted))

        return learn

    def _penalties(self, supervised: CCM, counted: Tally) -> Float:
        """Mix the penalties of the labels with those counted on the pool, by gamma; what the user has set stays."""
        rho = supervised.rules_.penalties
        free = np.array([rule.penalty is None for rule in supervised._rule_set()], bool)
        learned = log_odds(counted, supervised.kept_prior, supervised.violated_prior)
        rho[free] = self.gamma * rho[free] + (1 - self.gamma) * learned
        return rho

    def _guess(self, model: SequenceLabeller, pool: Corpus) -> Guess:
        """Label the pool, under the rules if there are any and they are wanted."""
        batch = model.potentials(pool)
        if not isinstance(batch, ChainBatch):
            raise InputError(f"{type(model).__name__} scores segments; CoDL needs a model of chains")
        compiled = model.compiled_ if isinstance(model, CCM) and self.constrained else None
        return label_pool(batch, compiled, pool, k=self.k, weighting=self.weighting, threads=self.threads)

    def _answering(self, model: SequenceLabeller) -> SequenceLabeller:
        """Return the part of a model that labels new text: all of it, or its base without rules."""
        return model.base_ if isinstance(model, CCM) and not self.infer else model

    @property
    def labeller_(self) -> SequenceLabeller:
        """The fitted model that answers: `model_`, or its base with infer=False."""
        self._check_fitted()
        return self._answering(self.model_)

    def explain(self, tokens: Sequence[str]) -> Explanation:
        """Return the answers for one sequence without and with the rules, and the rules that make the difference."""
        self._check_fitted()
        if not isinstance(self.model_, CCM):
            raise InputError("there are no rules to explain; give CoDL a CCM")
        return self.model_.explain(tokens)

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._restore(header, arrays)
        self.model = fresh(self.model_)


def _with_base(model: CCM, base: Any, rho: Float | None = None) -> CCM:
    """Return a fitted CCM with another fitted base, and other penalties if given."""
    other = copy.copy(model)
    other._learned(base, model.compiled_, model.rules_.penalties if rho is None else rho)
    return other


def _violations(model: SequenceLabeller, pool: Corpus) -> Callable[[Guess], int]:
    """Return the function that sums the degrees of all rules over the best labellings of the pool."""
    if not isinstance(model, CCM) or not model.compiled_.K:
        return lambda _: 0
    compiled, bits = model.compiled_, model.compiled_.ground_bits(pool)
    return lambda guess: broken(compiled, pool, guess, bits)


def _record(number: int, guess: Guess, changed: float, violations: int) -> Cycle:
    """Write down a cycle."""
    there = np.isfinite(guess.scores)
    objective, certified = float(guess.scores[there].sum()), float(guess.proven.mean())
    return Cycle(number, objective, changed, violations, certified, int((~there).sum()))


def _free_rules(model: CCM) -> Compiled:
    """Return the rules whose penalties the user has not set."""
    asked = model._rule_set()
    return compile_rules(asked.only(asked.unset), model.labels_)


def _known_words(base: Any, fitted: Any, corpus: Corpus, weight: Float | None, pool: Corpus) -> Any:
    """Fit a base; an HMM also knows the words of the pool. fitted : the same without the pool, if there is one."""
    if isinstance(base, HMM):
        return knowing_words(base, corpus, weight, pool)
    return base.fit(corpus, sample_weight=weight) if fitted is None else fitted

"""`CoDL`: constraint-driven learning, a model taught by the labels that it gives to unlabelled text under rules.

See `espalier.learning.codl` for the algorithm. The variants that Chang, Ratinov and Roth report are parameters:

    H          CoDL(model, gamma=0, constrained=False, infer=False)           hard EM
    H&W        CoDL(model, constrained=False, infer=False)                    the weight gamma on the supervised model
    H&W&C      CoDL(model, infer=False)                                       rules while learning
    H&W&C+I    CoDL(model)                                                    and when labelling new text
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from itertools import islice
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError, ResultWarning
from espalier.estimators.abilities import HasRules, Mixes, require
from espalier.estimators.base import SequenceLabeller, check_number, fresh
from espalier.estimators.unlabelled import Guard, TaughtLabeller, scorer
from espalier.learning.codl import Cycle, CycleSums, Guessed, PoolLabelling, codl, guess_labels
from espalier.learning.jobs import check_jobs, over_processes
from espalier.learning.penalties import Tally

__all__ = ["CoDL"]

Float = NDArray[np.float64]
Update: TypeAlias = Callable[[Corpus, Float], SequenceLabeller]
"""From guessed sequences and their weights, float64[N], to a fitted base."""


@dataclass(eq=False, repr=False)
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
        does not say more, which keep the labels and return counts or gradients (`espalier.distributed`); for an HMM
        with update="interpolate" and a CRF with update="pool". Results do not depend on the number.

    Notes
    -----
    After `fit`: `model_` (a fitted copy of `model`), `history_` (`Cycle`s), `cycle_` (the one whose model was kept),
    `score_` and `supervised_score_` (token accuracy on `dev`, None without).

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> model = es.CoDL(es.CCM(es.HMM(), "Once: each field once"), cycles=2)
    >>> model.fit(X, y, unlabelled=[["Eve", "in", "Pau"], ["Cy", "of", "Rome"]]).predict([["Cy", "in", "Pau"]])
    [['who', 'O', 'where']]
    """

    kind = "codl"

    model: Any
    _: KW_ONLY
    gamma: float = 0.9
    cycles: int = 5
    k: int = 1
    weighting: str = "uniform"
    update: str = "interpolate"
    pool_weight: float = 0.1
    constrained: bool = True
    infer: bool = True
    relearn_penalties: bool = False
    keep: str = "best"
    patience: int | None = None
    threads: int | None = None
    progress: Callable[[Cycle], None] | None = None
    jobs: int | None = None

    def _teach(
        self, corpus: Corpus, weight: Float | None, pool: Corpus, held: Corpus | None
    ) -> tuple[Guard[Any], Sequence[Any]]:
        """Return the model that was kept, and a record of each cycle."""
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
                stacklevel=3,
            )
        return guard, history

    def _turns(
        self, supervised: SequenceLabeller, corpus: Corpus, weight: Float | None, pool: Corpus
    ) -> Generator[tuple[SequenceLabeller, Cycle]]:
        """Yield the model of every cycle and its record, which has no score yet."""
        ruled: Any = supervised if _has_rules(supervised) else None
        base = supervised if ruled is None else ruled.base_
        how = PoolLabelling(
            base.labels_, None if ruled is None else ruled.compiled_, self.constrained,
            ruled.free_rules() if ruled is not None and self.relearn_penalties else None,
            "tokens" if ruled is None else ruled.over, self.k, self.weighting, self.threads,
        )  # fmt: skip

        def label(model: Any) -> CycleSums:
            return opened.label(*((model, None) if ruled is None else (model.base_, model.rules_.penalties)))

        def learn(record: CycleSums) -> SequenceLabeller:
            if not record.taught:  # without any labelling there is nothing to learn from
                return supervised
            learned = opened.learn()
            if ruled is None:
                return learned
            rho = None
            if how.counted is not None:
                rho = ruled.mixed_penalties(Tally(record.violated, record.kept), self.gamma)
            found: SequenceLabeller = ruled.with_base(learned, rho)
            return found

        with self._opened(base, corpus, weight, pool, how) as opened:
            for number, (model, record) in enumerate(codl(supervised, label, learn), 1):
                yield model, record.cycle(number, pool)

    def _opened(
        self, base: SequenceLabeller, corpus: Corpus, weight: Float | None, pool: Corpus, how: PoolLabelling
    ) -> AbstractContextManager[GuessedPool]:
        """Make the pool ready for labelling: here, or in parts over processes."""
        if self.jobs is None:
            return nullcontext(_PoolHere(self._update(base, corpus, weight), pool, how))
        parts: AbstractContextManager[GuessedPool] = over_processes().guess_in_parts(
            base, self.update, corpus, weight, pool, how, self.gamma, self.pool_weight, self.jobs
        )
        return parts

    def _update(self, base: SequenceLabeller, corpus: Corpus, weight: Float | None) -> Update:
        """Return how a base that was fitted on the labels learns from guessed ones."""
        if self.update == "pool":
            return lambda guessed, own: base.fit_guessed(corpus, weight, guessed, self.pool_weight * own)
        mixer: Any = require(base, Mixes, "update='interpolate'", "choose update='pool'")
        return lambda guessed, own: mixer.mixed(corpus, weight, guessed, own, self.gamma)

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        check_jobs(self.jobs)
        if self.update not in ("interpolate", "pool"):
            raise InputError(f"update is {self.update!r}", hint="expected 'interpolate' or 'pool'")
        if self.jobs is not None:
            base = self.model.base if _has_rules(self.model) else self.model
            over_processes().check_guesses(base, self.update, self.jobs)
        check_number("gamma", self.gamma)
        check_number("pool_weight", self.pool_weight)
        check_number("cycles", self.cycles, whole=True)
        check_number("k", self.k, 1, whole=True)
        if self.gamma > 1:
            raise InputError(f"gamma is {self.gamma!r}", hint="expected a number from 0 to 1")
        if self.relearn_penalties and not (_has_rules(self.model) and self.model.penalties == "count"):
            raise InputError("relearn_penalties counts violations: it needs a CCM with penalties='count'")

    def _supervised(self, corpus: Corpus, weight: Float | None, pool: Corpus, dev: Corpus | None) -> SequenceLabeller:
        """Fit the model on the labels; the words of the pool are known words."""
        model: Any = fresh(self.model)
        if not _has_rules(model):
            bare: SequenceLabeller = model.fit_with_pool(corpus, weight, pool)
            return bare
        model.fit(corpus, sample_weight=weight, dev=dev)
        ruled: SequenceLabeller = model.with_base(model.base_.fit_with_pool(corpus, weight, pool))
        return ruled

    def _answering(self, model: Any) -> SequenceLabeller:
        """Return the part of a model that labels new text: all of it, or its base without rules."""
        found: SequenceLabeller = model.base_ if _has_rules(model) and not self.infer else model
        return found

    @property
    def labeller_(self) -> SequenceLabeller:
        """The fitted model that answers: `model_`, or its base with infer=False."""
        self.check_fitted()
        return self._answering(self.model_)

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        super().restore(header, arrays)
        self.model = fresh(self.model_)


def _has_rules(model: Any) -> bool:
    return isinstance(model, HasRules)


class GuessedPool(Protocol):
    """A pool that models label, each as it comes."""

    def label(self, model: SequenceLabeller, penalties: Float | None) -> CycleSums:
        """Label the pool with a fitted base and the penalties of its rules."""

    def learn(self) -> SequenceLabeller:
        """Return the base that follows from the last labels."""


class _PoolHere:
    """A pool in one piece, in this process."""

    def __init__(self, update: Update, pool: Corpus, how: PoolLabelling) -> None:
        self.update, self.pool, self.how, self.bits = update, pool, how, how.ground(pool)
        self.found: Guessed | None = None

    def label(self, model: SequenceLabeller, penalties: Float | None) -> CycleSums:
        batch = model.chain_potentials(self.pool, "CoDL needs")
        before = None if self.found is None else self.found.guess
        self.found = guess_labels(self.how, self.pool, self.bits, batch, penalties, before)
        return self.found.record

    def learn(self) -> SequenceLabeller:
        assert self.found is not None
        return self.update(self.found.pseudo, self.found.weight)

"""`EM`: a hidden Markov model learned from labels and unlabelled text by expectation maximisation.

The baseline that constraint-driven learning is measured against; see `espalier.learning.em` for the objective and for
what is monotone. More text may hurt: with `dev` the supervised model stays in the race (`unlabelled.Guard`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.estimators.abilities import Counts, require
from espalier.estimators.base import check_number, fresh
from espalier.estimators.hmm import HMM
from espalier.estimators.unlabelled import Guard, TaughtLabeller, scorer
from espalier.learning.em import EMIteration, em
from espalier.learning.jobs import check_jobs, over_processes

__all__ = ["EM"]


@dataclass(eq=False, repr=False)
class EM(TaughtLabeller):
    """EM, or hard EM, on a hidden Markov model.

    Parameters
    ----------
    base : an HMM; additive smoothing makes the objective monotone. None is HMM().
    hard : count the best labelling of each sequence instead of all of them.
    iterations : at most; stops earlier when the objective moves by no more than `tolerance` of itself.
    gamma : None maximises the objective; a number from 0 to 1 mixes the supervised model's probabilities, weight
        gamma, with those of the pool.
    pool_weight : how much a sequence of the pool counts beside a labelled one, without gamma.
    keep, patience : with `dev`, which model to keep ("best" or "last"), and how many iterations to wait for a better.
    threads : None chooses by size. progress : called with every `EMIteration`.
    jobs : None counts the pool here; a number counts its parts in so many processes, with one thread each if `threads`
        does not say more (`espalier.distributed`). Results do not depend on the number.

    Notes
    -----
    After `fit`: `model_` (the HMM), `history_` (`EMIteration`s), `cycle_`, `score_` and `supervised_score_`.

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> model = es.EM(es.HMM(), iterations=3).fit(X, y, unlabelled=[["Eve", "in", "Pau"]])
    >>> model.predict([["Eve", "of", "Ulm"]])
    [['who', 'O', 'where']]
    """

    kind = "em"
    model_: HMM = field(init=False)

    base: HMM | None = None
    _: KW_ONLY
    hard: bool = False
    iterations: int = 10
    gamma: float | None = None
    pool_weight: float = 1.0
    tolerance: float = 1e-6
    keep: str = "best"
    patience: int | None = None
    threads: int | None = None
    progress: Callable[[EMIteration], None] | None = None
    jobs: int | None = None

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        require(self._base, Counts, "EM", "choose an HMM, or CoDL for other models")
        check_number("iterations", self.iterations, whole=True)
        check_number("pool_weight", self.pool_weight)
        check_number("tolerance", self.tolerance)
        check_jobs(self.jobs)
        if self.gamma is not None:
            check_number("gamma", self.gamma)

    @property
    def _base(self) -> Any:
        return HMM() if self.base is None else self.base

    def _teach(
        self, corpus: Corpus, weight: NDArray[np.float64] | None, pool: Corpus, held: Corpus | None
    ) -> tuple[Guard[Any], Sequence[Any]]:
        """Return the model that was kept, and a record of each cycle."""
        supervised = self._base.fit_with_pool(corpus, weight, pool)
        guard = Guard(supervised, scorer(held), keep=self.keep, patience=self.patience)
        history: list[EMIteration] = []
        with self._counter(supervised, pool) as count:
            steps = em(supervised, count, gamma=self.gamma, pool_weight=self.pool_weight)
            _, before = next(steps)
            for model, objective in islice(steps, self.iterations if pool.n_tokens else 0):
                score = guard.see(model)
                history.append(EMIteration(len(history) + 1, objective, score))
                if self.progress is not None:
                    self.progress(history[-1])
                if guard.stop or abs(objective - before) <= self.tolerance * abs(before):
                    break
                before = objective
        return guard, history

    def _counter(self, supervised: HMM, pool: Corpus) -> AbstractContextManager[Callable[[HMM], tuple[Any, float]]]:
        """Return what counts the pool under a model: here, or in parts over processes."""
        if self.jobs is None:
            return nullcontext(lambda model: model.count(pool, hard=self.hard, threads=self.threads))
        parts: AbstractContextManager[Callable[[HMM], tuple[Any, float]]] = over_processes().count_in_parts(
            supervised, pool, hard=self.hard, threads=self.threads, jobs=self.jobs
        )
        return parts

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        super().restore(header, arrays)
        self.base = fresh(self.model_)

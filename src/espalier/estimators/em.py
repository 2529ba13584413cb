"""`EM`: a hidden Markov model learned from labels and unlabelled text by expectation maximisation.

The baseline that constraint-driven learning is measured against; see `espalier.learning.em` for the objective and for
what is monotone. More text may hurt: with `dev` the supervised model stays in the race (`unlabelled.Guard`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.estimators.abilities import require
from espalier.estimators.base import check_number, fresh, say_jobs_are_gone
from espalier.estimators.hmm import HMM
from espalier.estimators.unlabelled import Map, TaughtLabeller, in_parts
from espalier.learning.em import EMIteration, em

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
    map : gives the parts of the pool to the function that counts one, in order: the built-in `map`, or for processes
        and machines `functools.partial(espalier.cluster.ordered_map, jobs=4)`. Results do not depend on it.
    jobs : has no effect any more, and goes with the next release: see `map`.

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
    map: Map = map
    jobs: int | None = None

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        require(self._base, "count", "EM", "choose an HMM, or CoDL for other models")
        check_number("iterations", self.iterations, whole=True)
        check_number("pool_weight", self.pool_weight)
        check_number("tolerance", self.tolerance)
        say_jobs_are_gone(self.jobs, "threads count the pool, or processes with map=")
        if self.gamma is not None:
            check_number("gamma", self.gamma)

    @property
    def _base(self) -> Any:
        return HMM() if self.base is None else self.base

    def _models(
        self, corpus: Corpus, weight: NDArray[np.float64] | None, pool: Corpus, held: Corpus | None
    ) -> Iterator[tuple[HMM, EMIteration | None]]:
        """Yield the supervised model, then one an iteration."""
        supervised = self._base.fit_with_pool(corpus, weight, pool)
        yield supervised, None

        def count(model: HMM) -> tuple[Any, float]:
            counted = partial(_counted, model, self.hard, self.threads)
            return reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]), in_parts(counted, pool, self.map))

        steps = em(supervised, count, gamma=self.gamma, pool_weight=self.pool_weight)
        _, before = next(steps)
        for number in range(1, self.iterations + 1 if pool.n_tokens else 1):
            model, objective = next(steps)
            yield model, EMIteration(number, objective)
            if abs(objective - before) <= self.tolerance * abs(before):
                return
            before = objective

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        super().restore(header, arrays)
        self.base = fresh(self.model_)


def _counted(model: HMM, hard: bool, threads: int | None, part: Corpus) -> tuple[Any, float]:
    return model.count(part, hard=hard, threads=threads)

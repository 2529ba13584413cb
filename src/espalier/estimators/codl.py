"""`CoDL`: constraint-driven learning, a model taught by the labels that it gives to unlabelled text under rules.

    (w, ρ) = (w₀, ρ₀) = learn(L)                                            algorithm 2 of Chang, Ratinov & Roth (2012)
    repeat:   ŷ = argmax_y s(x, y; w) - Σ_k ρ_k d_k(x, y)   for every x of the pool U
              (w, ρ) = γ (w₀, ρ₀) + (1 - γ) learn({(x, ŷ)})

The loop is `CoDL._models`; `espalier.learning.codl` has the k best labellings under rules and what becomes of them. The
variants that Chang, Ratinov and Roth report are parameters:

    H          CoDL(model, gamma=0, constrained=False, infer=False)           hard EM
    H&W        CoDL(model, constrained=False, infer=False)                    the weight gamma on the supervised model
    H&W&C      CoDL(model, infer=False)                                       rules while learning
    H&W&C+I    CoDL(model)                                                    and when labelling new text

A cycle costs one decoding of the pool and one training. The pool is labelled part by part, by `map`: only one part's
scores need be in memory, or as many as there are processes, and labels do not depend on it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError, ResultWarning
from espalier.estimators.abilities import require
from espalier.estimators.base import SequenceLabeller, check_number, fresh, say_jobs_are_gone
from espalier.estimators.ccm import CCM
from espalier.estimators.unlabelled import Map, TaughtLabeller, in_parts
from espalier.learning.codl import Cycle, Guess, guess_labels, pseudo_labelled
from espalier.rules.compile import Compiled

__all__ = ["CoDL", "label_pool"]

Float = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class CoDL(TaughtLabeller):
    """Constraint-driven learning.

    Parameters
    ----------
    model : an unfitted CCM, or a base model without rules; it is copied, never fitted itself.
    update : what a cycle learns; None: "interpolate" where the base can be averaged, as in the papers, else "pool".
        "interpolate" (algorithm 2): gamma times the supervised model plus (1 - gamma) times
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
    map : gives the parts of the pool to the function that labels one, in order: the built-in `map`, or for processes
        and machines `functools.partial(espalier.cluster.ordered_map, jobs=4)`. Results do not depend on it.
    jobs : has no effect any more, and goes with the next release: see `map`.

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
    update: str | None = None
    pool_weight: float = 0.1
    constrained: bool = True
    infer: bool = True
    relearn_penalties: bool = False
    keep: str = "best"
    patience: int | None = None
    threads: int | None = None
    progress: Callable[[Cycle], None] | None = None
    map: Map = map
    jobs: int | None = None

    def _models(
        self, corpus: Corpus, weight: Float | None, pool: Corpus, held: Corpus | None
    ) -> Iterator[tuple[SequenceLabeller, Cycle | None]]:
        """Yield the supervised model, then one a cycle: algorithm 2."""
        supervised = model = self._supervised(corpus, weight, pool, held)
        yield supervised, None
        options = {"k": self.k, "weighting": self.weighting, "constrained": self.constrained, "threads": self.threads}
        before: Guess | None = None
        for cycle in range(1, self.cycles + 1 if pool.n_tokens else 1):
            guess = label_pool(model, pool, self.map, **options)
            if before is not None and guess.teaches(before):
                return  # what is learned depends on the guess alone: a fixed point
            model = self._learned(supervised, corpus, weight, *pseudo_labelled(pool, guess, supervised.labels_))
            record, before = guess.cycle(cycle, before), guess
            if record.left_out and cycle == 1:
                what = f"the hard rules leave no labelling for {record.left_out} of {len(pool)} unlabelled sequences"
                warnings.warn(f"{what}; they teach nothing", ResultWarning, stacklevel=3)
            yield model, record

    def _learned(
        self, supervised: Any, corpus: Corpus, weight: Float | None, guessed: Corpus, guessed_weight: Float
    ) -> SequenceLabeller:
        """Return what a supervised model becomes by guessed sequences: (w, ρ)."""
        ruled = isinstance(supervised, CCM)
        base: Any = supervised.base_ if ruled else supervised
        if not len(guessed):  # without any labelling there is nothing to learn from
            learned = base
        elif self._update() == "pool":
            learned = base.fit_guessed(corpus, weight, guessed, self.pool_weight * guessed_weight)
        else:
            learned = base.mixed(corpus, weight, guessed, guessed_weight, self.gamma)
        if not ruled:
            return learned  # type: ignore[no-any-return]
        anew = self.relearn_penalties and len(guessed)
        rho = supervised.mixed_penalties(guessed, guessed_weight, self.gamma) if anew else None
        return supervised.with_base(learned, rho)  # type: ignore[no-any-return]

    def _update(self) -> str:
        """Return what a cycle learns."""
        base = self.model.base if isinstance(self.model, CCM) else self.model
        return self.update or ("interpolate" if hasattr(base, "mixed") else "pool")

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        say_jobs_are_gone(self.jobs, "threads label the pool, or processes with map=")
        if self.update not in (None, "interpolate", "pool"):
            raise InputError(f"update is {self.update!r}", hint="expected 'interpolate' or 'pool'")
        check_number("gamma", self.gamma)
        check_number("pool_weight", self.pool_weight)
        check_number("cycles", self.cycles, whole=True)
        check_number("k", self.k, 1, whole=True)
        if self.gamma > 1:
            raise InputError(f"gamma is {self.gamma!r}", hint="expected a number from 0 to 1")
        if self.relearn_penalties and not (isinstance(self.model, CCM) and self.model.penalties in ("count", "chosen")):
            raise InputError("relearn_penalties counts violations: it needs a CCM with penalties='count'")

    def _supervised(self, corpus: Corpus, weight: Float | None, pool: Corpus, dev: Corpus | None) -> SequenceLabeller:
        """Fit the model on the labels; the words of the pool are known words."""
        model: SequenceLabeller = fresh(self.model)
        if self._update() == "interpolate":
            base = model.base if isinstance(model, CCM) else model
            require(base, "mixed", "update='interpolate'", "choose update='pool'")
        if not isinstance(model, CCM):
            return model.fit_with_pool(corpus, weight, pool)
        model.fit(corpus, sample_weight=weight, dev=dev)
        return model.with_base(model.base_.fit_with_pool(corpus, weight, pool))

    def _answering(self, model: Any) -> SequenceLabeller:
        """Return the part of a model that labels new text: all of it, or its base without rules."""
        found: SequenceLabeller = model.base_ if isinstance(model, CCM) and not self.infer else model
        return found

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        super().restore(header, arrays)
        self.model = fresh(self.model_)


def label_pool(model: SequenceLabeller, pool: Corpus, map: Map, **options: Any) -> Guess:
    """Return what a fitted model believes about a pool, under its rules if it has any; options : of `guess_labels`."""
    base, compiled = (model.base_, model.compiled_) if isinstance(model, CCM) else (model, None)
    return Guess.joined([*in_parts(partial(_guessed, base, compiled, options), pool, map)])


def _guessed(base: SequenceLabeller, compiled: Compiled | None, options: Mapping[str, Any], part: Corpus) -> Guess:
    return guess_labels(base.chain_potentials(part, "CoDL needs"), compiled, part, **options)

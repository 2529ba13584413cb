"""`Experts`: any number of models that vote with their scores.

    s(y) = Σ_k w_k s_k(y)            P(y | x) ∝ exp( s(y) / T )              a product of experts

What one of them forbids stays forbidden. Models of different kinds make different mistakes, so the product tends to be
better than each of them. How much each one's word counts is learned on sequences that they have not seen
(`learning.expert_weights`).

The weight of the first expert is 1: what breaking a rule costs is compared with s, so penalties that suit the first
expert alone suit the product. T turns scores into probabilities, for marginals and confidences, and is no part of s.
With rules the penalties are divided by T too, so that the most probable answer is the one that decoders find.

The sum costs O(M L) for each expert on top of its own potentials.

A *cascade* (`ask_below`) asks the other experts only where the first is not sure (`sureness`). A sequence of
which it is sure keeps its scores: the answer is the first expert's, and so is the proof; certificates say whose scores
they are about. Both kinds of sequences have temperatures of their own, since the first is right more often where it is
sure. Whether it is sure is asked before rules, so that the answer of a sequence depends on the model alone.
`estimators.cascade` says what a threshold costs and brings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.probabilities import sureness
from espalier.errors import InputError, LabelError, ModelFileError, NotFittedError
from espalier.estimators.abilities import scores_chains, with_experts
from espalier.estimators.base import (
    SequenceLabeller,
    again,
    as_corpus,
    check_number,
    check_sample_weight,
    fresh,
    labelled_corpus,
)
from espalier.estimators.persist import nested, unnested
from espalier.potentials import ChainBatch, exchanged, sum_of_potentials

if TYPE_CHECKING:  # needed by nobody who only labels
    from espalier.decoders.explanation import ExpertShare, Explanation
    from espalier.learning.expert_weights import ExpertScores

__all__ = ["Experts"]

ALONE = "first expert alone"
"""Whose scores a sequence has that the first expert decides."""

Self = TypeVar("Self", bound="Experts")
Float = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class Experts(SequenceLabeller):
    """The weighted sum of several chain models' potentials.

    Parameters
    ----------
    experts : a list of estimators of chains, such as [CRF(), HMM()]; they are fitted as copies and stay as they are.
    weights : one number for each expert, the first usually 1; None learns them on held-out data.
    temperature : T above 0, by which scores are divided to become probabilities; None learns it with the weights. Where
        weights are given and `fit` has no `held_out` it is 1.
    ask_below : from 0 to 1; the other experts are asked about sequences of which the first is less sure. None: always.
    folds : where weights are learned without `held_out`: each of so many parts of the training set is scored by copies
        that were fitted to the others. Afterwards the experts are fitted to everything.
    threads : None chooses by size; results do not depend on it.

    Notes
    -----
    After `fit`: `experts_` (the fitted copies), `weights_` (float64, the first is 1 where they are learned; 0: the
    expert was not worth asking, and is not asked), `temperature_` and, with `ask_below`, `alone_temperature_`, of
    sequences that the first expert decides. A second `fit` goes on with an expert that has
    `warm_start`, and makes the others anew. Parameters of an expert are named by its number: `experts__0__l2`.

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> both = es.Experts([es.CRF(["lower"]), es.HMM()], weights=[1, 0.5]).fit(X, y)
    >>> both.predict([["Ann", "of", "Ulm"]])
    [['who', 'O', 'where']]

    Models that were fitted elsewhere are joined as they are:

    >>> crf, hmm = es.CRF(["lower"]).fit(X, y), es.HMM().fit(X, y)
    >>> float(es.Experts.of([crf, hmm], held_out=(X, y)).weights_[0])
    1.0
    """

    kind = "experts"
    experts_: list[SequenceLabeller] = field(init=False)
    weights_: Float = field(init=False)
    temperature_: float = field(init=False)
    alone_temperature_: float = field(init=False)

    experts: Sequence[SequenceLabeller]
    weights: Sequence[float] | None = None
    _: KW_ONLY
    temperature: float | None = None
    ask_below: float | None = None
    folds: int = 5
    threads: int | None = None

    @classmethod
    def of(
        cls: type[Self],
        fitted: Iterable[SequenceLabeller],
        weights: Sequence[float] | None = None,
        *,
        held_out: Any = None,
        temperature: float | None = None,
        ask_below: float | None = None,
        threads: int | None = None,
    ) -> Self:
        """Join models that are fitted already, without fitting them again.

        Parameters
        ----------
        fitted : models of chains with the same labels; where the order of the labels differs, that of the first counts.
        weights : one number for each model; None learns them on `held_out`.
        held_out : labelled sequences that the models have not seen: a Corpus, or a pair (X, y).
        temperature, ask_below : as of the class.

        Returns
        -------
        Experts

        Raises
        ------
        LabelError : the models have different labels.
        InputError : neither weights nor held-out data are given.
        """
        models = list(fitted)
        for model in models:
            if not hasattr(model, "labels_"):
                raise NotFittedError(f"this {type(model).__name__} is not fitted yet", hint="call fit first")
        found = cls(
            [fresh(model) for model in models], weights, temperature=temperature, ask_below=ask_below, threads=threads
        )
        found._check_parameters()
        first = models[0]
        for i, model in enumerate(models):
            _check_same_labels(first.labels_, model.labels_, i)
        found.experts_, found.labels_, found.training_digest_ = models, first.labels_, first.training_digest_
        if held_out is None and weights is None:
            raise InputError("nothing says how much each expert counts", hint="give weights, or held_out=(X, y)")
        return found._weighed(held_out)

    def fit(
        self: Self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
        held_out: Any = None,
    ) -> Self:
        """Fit all experts on sequences X and label lists y (None: unknown label), and learn weights if none are given.

        X may be a Corpus that has labels. `labels` fixes the label names and their order, so that labels absent from
        this training set exist too. held_out : labelled sequences for the weights and the temperature, a Corpus or a
        pair (X, y); the experts are then fitted once, and never see them.
        """
        self._check_parameters()
        corpus = labelled_corpus(X, y, labels)
        assert corpus.labels is not None
        weight = check_sample_weight(sample_weight, len(corpus))
        parts = [] if held_out is not None or self.weights is not None else self._cross_fitted(corpus, weight)
        names = corpus.labels.names
        fitted = [
            self._unfitted(i).fit(corpus, sample_weight=sample_weight, labels=names) for i in range(len(self.experts))
        ]
        self.experts_, self.labels_, self.training_digest_ = fitted, corpus.labels, corpus.digest()
        return self._learned(parts) if parts else self._weighed(held_out)

    def fit_weights(self: Self, X: Any, y: Sequence[Sequence[str | None]] | None = None) -> Self:
        """Learn weights and temperature anew on labelled sequences that the experts have not seen; they stay the same.

        Parameters
        ----------
        X : sequences, or a Corpus that has labels.
        y : label lists; a sequence with an unknown label (None) is left out.

        Returns
        -------
        Experts : this one.
        """
        self.check_fitted()
        return self._learned([self._scored(X, y)])

    def fit_guessed(self: Self, labelled: Corpus, weight: Float | None, guessed: Corpus, guessed_weight: Float) -> Self:
        """Return a copy whose experts are fitted to guessed labels too; guesses do not change the weights."""
        other = copy(self)
        other.experts_ = [one.fit_guessed(labelled, weight, guessed, guessed_weight) for one in self.experts_]
        other.training_digest_ = (labelled + guessed).digest()
        return other

    def always_asked(self: Self) -> Self:
        """Return a copy that asks all experts about every sequence."""
        other = copy(self)
        other.ask_below = None
        return other

    def _weighed(self: Self, held_out: Any) -> Self:
        """Keep the weights that are given, or learn them; temperatures alone are learned for the weighted sum."""
        self.temperature_ = self.alone_temperature_ = 1.0 if self.temperature is None else float(self.temperature)
        if held_out is None:
            self.weights_ = np.array(self.weights, np.float64)
            return self
        from espalier.estimators.held_out import data_pair

        return self._learned([self._scored(*data_pair(held_out, "held_out"))])

    def _learned(self: Self, parts: Sequence[ExpertScores]) -> Self:
        """Learn what is not given from held-out scores: weights, temperatures of the sum and of the first alone."""
        from espalier.learning.expert_weights import learn_weights, learned_temperature

        options: dict[str, Any] = {"temperature": self.temperature, "threads": self.threads}
        if self.weights is None:
            self.weights_, self.temperature_ = learn_weights(parts, **options)
        else:
            self.weights_ = np.array(self.weights, np.float64)
            self.temperature_ = learn_weights([self._product(part) for part in parts], **options)[1]
        self.alone_temperature_ = self.temperature_
        if self.ask_below is not None and self.temperature is None:
            sure = [sureness(part.batches[0]) >= self.ask_below for part in parts]
            asked = [self._product(part.chosen(~own)) for part, own in zip(parts, sure, strict=True)]
            alone = [part.chosen(own).only(0) for part, own in zip(parts, sure, strict=True)]
            self.temperature_ = learned_temperature(asked, self.temperature_, threads=self.threads)
            self.alone_temperature_ = learned_temperature(alone, 1.0, threads=self.threads)
        return self

    def _product(self, part: ExpertScores) -> ExpertScores:
        """Return held-out sequences with the scores of all experts in one."""
        return replace(part, batches=(self._sum(part.batches),))

    def _check_parameters(self) -> None:
        if not isinstance(self.experts, list | tuple):
            hint = "give a list of estimators: Experts([CRF(), HMM()], weights=[1, 0.5])"
            raise InputError(f"experts is {self.experts!r}", hint=hint)
        if not len(self.experts):
            raise InputError("there are no experts", hint="give at least one estimator, such as CRF()")
        other = next((one for one in self.experts if not scores_chains(one)), None)
        if other is not None:
            what = f"{type(other).__name__} is no model of chains"
            raise InputError(what, hint="Experts add scores of tokens: give models of chains, such as CRF()")
        check_number("folds", self.folds, 2, whole=True)
        if self.temperature is not None:
            check_number("temperature", self.temperature)
            if self.temperature == 0:
                raise InputError("temperature is 0", hint="expected a number above 0")
        if self.ask_below is not None:
            check_number("ask_below", self.ask_below)
        if self.weights is not None:
            if not hasattr(self.weights, "__len__") or len(self.weights) != len(self.experts):
                what = f"weights is {self.weights!r}, but there are {len(self.experts)} experts"
                raise InputError(what, hint="give one weight for each")
            for i, weight in enumerate(self.weights):
                check_number(f"weight {i}", weight)
            if not any(weight > 0 for weight in self.weights):
                raise InputError("every weight is 0", hint="at least one expert must count")

    def _unfitted(self, i: int) -> Any:
        """Return the estimator to fit: a fresh copy, or one of the fitted expert if that goes on from where it was."""
        expert: Any = self.experts[i]
        known: Sequence[Any] = getattr(self, "experts_", ())
        if i >= len(known) or type(known[i]) is not type(expert):
            return fresh(expert)
        return again(known[i]).set_params(**expert.get_params(deep=False))

    def _cross_fitted(self, corpus: Corpus, weight: NDArray[Any] | None) -> list[ExpertScores]:
        """Return every sequence beside the scores of experts fitted on the other folds."""
        from espalier.estimators.held_out import fitted, folds_of
        from espalier.learning.expert_weights import ExpertScores

        folds = min(self.folds, len(corpus))
        if folds < 2:
            raise InputError("weights cannot be learned from one sequence", hint="give weights, or `held_out` to fit")
        parts = []
        for rest, some, own in folds_of(corpus, weight, folds):
            fit = [fitted(expert, rest, some) for expert in self.experts]
            parts.append(ExpertScores.of([one.chain_potentials(own, "experts are") for one in fit], own))
        return parts

    def _scored(self, X: Any, y: Sequence[Sequence[str | None]] | None = None) -> ExpertScores:
        """Return labelled sequences beside the scores of every expert."""
        from espalier.learning.expert_weights import ExpertScores

        corpus = as_corpus(X, y, vocabulary=self.labels_)
        if corpus.y is None:
            raise InputError("held-out sequences need labels", hint="give a labelled Corpus or a pair (X, y)")
        return ExpertScores.of([self._potentials(i, corpus) for i in range(len(self.experts_))], corpus)

    def _potentials(self, i: int, corpus: Corpus) -> ChainBatch:
        """Return the potentials of one expert, its labels in the order of the first's."""
        expert = self.experts_[i]
        batch = expert.chain_potentials(corpus, "experts are")
        if expert.labels_.names == self.labels_.names:
            return batch
        order = np.array(expert.labels_.encode(list(self.labels_.names)), np.int64)
        return replace(
            batch, unary=batch.unary[:, order], trans=batch.trans[:, order[:, None], order], start=batch.start[order],
            end=batch.end[order],
        )  # fmt: skip

    def _sum(self, batches: Sequence[ChainBatch | None]) -> ChainBatch:
        """Return the sum over the experts that count."""
        heard = [(batch, w) for batch, w in zip(batches, self.weights_.tolist(), strict=True) if w > 0]
        return sum_of_potentials([batch for batch, _ in heard], [w for _, w in heard])  # type: ignore[misc]

    def potentials(self, X: Any) -> ChainBatch:
        """Return the weighted sum of the experts' potentials, with its temperature.

        With `ask_below`, sequences of which the first expert is sure have its scores alone; the batch says whose.
        """
        self.check_fitted()
        corpus = as_corpus(X)
        first = self._potentials(0, corpus)
        if self.ask_below is None:
            total = self._with_others(first, corpus)
            heat = self.temperature_
            return total if heat == 1.0 else replace(total, temperature=np.full(len(total), heat))
        asked = np.flatnonzero(sureness(first) < self.ask_below)
        if not len(asked):
            return _named(first, self.alone_temperature_, ALONE)
        product = f"product of {np.count_nonzero(self.weights_)} experts"
        if len(asked) == len(first):
            return _named(self._with_others(first, corpus), self.temperature_, product)
        total = _named(self._with_others(first.chosen(asked), corpus[asked]), self.temperature_, product)
        return exchanged(_named(first, self.alone_temperature_, ALONE), asked, total)

    def explain(self, tokens: Sequence[str]) -> Explanation:
        """Return the answer for one sequence, and what each expert adds to its score."""
        return with_experts(super().explain(tokens), self, as_corpus([tokens]))

    def expert_shares(self, corpus: Corpus, before: NDArray[Any], after: NDArray[Any]) -> tuple[ExpertShare, ...]:
        """Return what each expert that was asked adds to the scores of two labellings of one sequence, label ids.

        corpus : the sequence; before, after : int[T].
        """
        from espalier.decoders.explanation import ExpertShare

        alone = self.ask_below is not None and self.potentials(corpus).sources[0] == ALONE
        found = []
        for i, weight in enumerate([1.0] if alone else self.weights_.tolist()):
            if weight > 0:
                batch = self._potentials(i, corpus)
                scores = (weight * batch.score(np.asarray(y)) for y in (before, after))
                found.append(ExpertShare(f"{i} {type(self.experts_[i]).__name__}", weight, *scores))
        return tuple(found)

    def _with_others(self, first: ChainBatch, corpus: Corpus) -> ChainBatch:
        """Return the sum over all experts; first : the potentials of the first."""
        others = (self._potentials(i, corpus) if w > 0 else None for i, w in enumerate(self.weights_.tolist()) if i)
        return self._sum([first, *others])

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        header: dict[str, Any] = {
            "size": len(self.experts_),
            "voices": {
                "given": None if self.weights is None else [float(weight) for weight in self.weights],
                "weights": self.weights_.tolist(),
                "temperature": self.temperature_,
                "alone_temperature": self.alone_temperature_,
            },
        }
        arrays: dict[str, NDArray[Any]] = {}
        for i, expert in enumerate(self.experts_):
            more, others = nested(f"expert {i}", expert)
            header, arrays = header | more, arrays | others
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave; a file of 0.1.0 has two experts, and a weight of the second."""
        if "first" in header:
            names = ["first", "second"]
            self.weights = [1.0, float(header["parameters"]["weight"])]
            voices: Mapping[str, Any] = {"weights": self.weights, "temperature": 1.0}
        else:
            names, voices = [f"expert {i}" for i in range(header["size"])], header["voices"]
            self.weights = voices["given"]
        self.experts_ = [unnested(name, header, arrays) for name in names]
        for expert in self.experts_:
            if sorted(expert.labels_.names) != sorted(header["labels"]):
                raise ModelFileError("the labels of the model and of its experts differ")
        self.weights_, self.temperature_ = np.array(voices["weights"], np.float64), float(voices["temperature"])
        self.alone_temperature_ = float(voices.get("alone_temperature", self.temperature_))
        heats = self.temperature_, self.alone_temperature_
        if self.weights_.shape != (len(names),) or not (self.weights_ >= 0).all() or not min(heats) > 0:
            raise ModelFileError("the weights or the temperature of the experts are misshaped")
        self.experts = [fresh(expert) for expert in self.experts_]


def _named(batch: ChainBatch, temperature: float, source: str) -> ChainBatch:
    """Return potentials that say whose they are."""
    return replace(batch, temperature=np.full(len(batch), temperature), sources=(source,) * len(batch))


def _check_same_labels(first: Labels, other: Labels, i: int) -> None:
    """Refuse an expert whose labels are not those of the first, whatever their order."""
    missing, more = ({*a.names} - {*b.names} for a, b in ((first, other), (other, first)))
    if missing or more:
        has = [f"lacks {', '.join(map(repr, sorted(missing)))}"] if missing else []
        has += [f"has {', '.join(map(repr, sorted(more)))} too"] if more else []
        hint = "fit all of them with the same `labels`"
        raise LabelError(f"expert {i} has other labels than the first: it {' and '.join(has)}", hint=hint)

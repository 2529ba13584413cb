"""What the perceptron and the CRF share: features, the training set as arrays, prediction, saving."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, LabelError, ModelFileError, ResultWarning, nearest
from espalier.estimators.base import (
    SequenceLabeller,
    as_corpus,
    check_labelled,
    check_number,
    check_progress,
    check_sample_weight,
)
from espalier.estimators.tag_order import allowed_moves, say_if_broken
from espalier.features.fields import default_templates
from espalier.features.index import FeatureIndex
from espalier.features.matrix import FeatureMatrix, GivenIndex
from espalier.models.chain import ChainModel, moved
from espalier.models.weights import Pairs
from espalier.potentials import ChainBatch
from espalier.store import narrow

if TYPE_CHECKING:  # needed by nobody who only labels
    from espalier.features.extract import FeatureExtractor

__all__ = ["Learned", "LinearChainLabeller", "TrainingSet", "holds_attributes", "training_set"]

Self = TypeVar("Self", bound="LinearChainLabeller")


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """A labelled corpus as arrays.

    matrix, indptr, y, labels : features, borders, label ids and names; start_allowed : bool[L], allowed : bool[L, L]
    (valid tags, and whatever the training labels do); observed_transitions : bool[L, L]; sample_weight : float64[N] or
    None; start, prior : weights over these attributes and labels to begin from, and to stay close to, or None.
    """

    matrix: FeatureMatrix
    indptr: NDArray[np.int64]
    y: NDArray[np.int16]
    labels: Labels
    start_allowed: NDArray[np.bool_]
    allowed: NDArray[np.bool_]
    observed_transitions: NDArray[np.bool_]
    sample_weight: NDArray[np.float64] | None
    start: ChainModel | None = None
    prior: ChainModel | None = None

    @property
    def n_labels(self) -> int:
        """L."""
        return len(self.labels)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Learned:
    """What a fitted model has learned, as a value: its attributes, its labels, and its weights over both."""

    index: FeatureIndex | GivenIndex
    labels: Labels
    model: ChainModel

    def over(self, index: FeatureIndex | GivenIndex, labels: Labels) -> ChainModel:
        """Return the weights over other attributes and labels, by their names."""
        before: Sequence[Hashable] = range(index.n_attributes)
        after = before
        if index is not self.index:  # else nobody has to write down a hundred thousand names
            before, after = self.index.names(), index.names()
        return moved(self.model, (before, self.labels.names), (after, labels.names))

    def __repr__(self) -> str:
        """Show the size."""
        return f"Learned({self.index.n_attributes} attributes, {len(self.labels)} labels)"


class LinearChainLabeller(SequenceLabeller):
    """A chain of weighted attributes; subclasses find the weights."""

    features: Sequence[Any] | FeatureExtractor | None
    min_count: int
    weights_: ChainModel
    index_: FeatureIndex | GivenIndex

    def __post_init__(self) -> None:
        """Keep what a fitted prior has learned: as an estimator, copies of this one would hold it unfitted."""
        given: Any = getattr(self, "prior", None)
        if isinstance(given, LinearChainLabeller):
            self.prior: Learned | None = given.learned_

    @abstractmethod
    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""

    @abstractmethod
    def train(self, data: TrainingSet) -> ChainModel:
        """Find the weights."""

    def fit(
        self: Self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
    ) -> Self:
        """Learn from labelled sequences.

        Parameters
        ----------
        X : token lists, documents, ready attributes of each token, or a Corpus that has labels.
        y : label lists, None for an unknown label; None where X has labels.
        sample_weight : of each sequence.
        labels : fixes the label names and their order, so that labels absent from this training set exist too.

        Returns
        -------
        the estimator itself, fitted.
        """
        self.check_parameters()
        check_progress(getattr(self, "progress", None))
        prior: Learned | None = getattr(self, "prior", None)
        vocabulary = Labels(labels) if labels is not None else None if prior is None else prior.labels
        if holds_attributes(X):
            if y is None:
                raise InputError("fit needs y, the label lists")
            if self.features is not None:
                what = "the tokens of X are ready attributes, so the features of this model have no effect"
                warnings.warn(f"{what}; pass words, or leave out features", ResultWarning, stacklevel=2)
            corpus = Corpus.from_tokens([[""] * len(sequence) for sequence in X], y, vocabulary=vocabulary)
        else:
            corpus = as_corpus(X, y, vocabulary=vocabulary)
        check_labelled(corpus)
        say_if_broken(corpus)
        assert corpus.labels is not None
        examples, weight = self._examples(X, corpus, check_sample_weight(sample_weight, len(corpus)))
        index, matrix = self.indexed(X, examples)
        data = training_set(examples, matrix, weight)
        if prior is not None:
            _check_kept(prior.labels, corpus.labels)
            data = replace(data, prior=prior.over(index, corpus.labels))
        if getattr(self, "warm_start", False) and hasattr(self, "weights_"):
            data = replace(data, start=self.learned_.over(index, corpus.labels))
        self.weights_ = self.train(data)
        self.index_ = index
        self.labels_ = corpus.labels
        self.training_digest_ = corpus.digest()
        return self

    def _examples(
        self, X: Any, corpus: Corpus, weight: NDArray[np.float64] | None
    ) -> tuple[Corpus, NDArray[np.float64] | None]:
        """Return what to learn from and its weights: the labelled sequences, to which a subclass may add."""
        return corpus, weight

    @property
    def learned_(self) -> Learned:
        """Attributes, labels and weights, for the `prior` of another CRF."""
        self.check_fitted()
        return Learned(self.index_, self.labels_, self.weights_)

    def indexed(self, X: Any, corpus: Corpus) -> tuple[FeatureIndex | GivenIndex, FeatureMatrix]:
        """Return the attributes to learn weights for, those of the prior if there is one, and the matrix of X."""
        prior: Learned | None = getattr(self, "prior", None)
        given = holds_attributes(X)
        if prior is None:
            return GivenIndex.fit_transform(X, self.min_count) if given else self.extractor().fit_transform(corpus)
        if isinstance(prior.index, FeatureIndex) == given:
            raise InputError(
                "the prior and X differ: one has ready attributes, the other tokens", hint="both need the same"
            )
        return prior.index, prior.index.transform(corpus if isinstance(prior.index, FeatureIndex) else X)

    def extractor(self) -> FeatureExtractor:
        """Return what turns sequences into features."""
        from espalier.features.extract import FeatureExtractor

        if isinstance(self.features, FeatureExtractor):
            return self.features
        return FeatureExtractor(default_templates() if self.features is None else self.features, self.min_count)

    def transform(self, X: Any) -> tuple[FeatureMatrix, NDArray[np.int64]]:
        """Return the feature matrix of X under the locked vocabulary, and the sequence borders."""
        self.check_fitted()
        if not isinstance(self.index_, FeatureIndex):
            if isinstance(X, Corpus) or (any(len(sequence) for sequence in X) and not holds_attributes(X)):
                raise InputError("this model was trained on ready attributes", hint="X must hold them too, not tokens")
            indptr = np.concatenate([[0], np.cumsum([len(sequence) for sequence in X])]).astype(np.int64)
            return self.index_.transform(X), indptr
        corpus = as_corpus(X)
        return self.index_.transform(corpus), corpus.indptr

    def potentials(self, X: Any) -> ChainBatch:
        """Return the potentials of every sequence."""
        index = getattr(self, "index_", None)
        single = index.single(X) if isinstance(index, FeatureIndex) and isinstance(X, Corpus) else None
        if single is not None:
            return self.weights_.potentials_of_text(single, X)
        matrix, indptr = self.transform(X)
        return self.weights_.potentials(matrix, indptr, self.threads)

    def tag(self, X: Any) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Return the best label ids, int16[M], and the sequence borders, int64[N + 1]."""
        matrix, indptr = self.transform(X)
        return self.weights_.tag(matrix, indptr, self.threads)[0], indptr

    def weights(self) -> dict[tuple[str, str], float]:
        """Return the weight of every (attribute name, label) pair that is not zero."""
        self.check_fitted()
        pairs, w, names = self.weights_.pairs, self.weights_.w, self.index_.names()
        attributes = pairs.attributes()
        return {
            (names[attributes[p]], self.labels_[int(pairs.label[p])]): float(w[p]) for p in np.flatnonzero(w).tolist()
        }

    def transition_weights(self) -> dict[tuple[str, str], float]:
        """Return the weight of every (label, next label) pair that is not zero; -inf where it is forbidden.

        Returns
        -------
        dict : by (label, next label).

        Examples
        --------
        >>> import espalier as es
        >>> model = es.CRF(l2=0.1).fit([["Plum", "35"], ["Pear", "40"]], [["fruit", "price"]] * 2)
        >>> transitions = model.transition_weights()
        >>> max(transitions, key=transitions.get)
        ('fruit', 'price')
        """
        self.check_fitted()
        trans, names = self.weights_.trans, self.labels_.names
        return {(names[i], names[j]): float(trans[i, j]) for i, j in zip(*np.nonzero(trans), strict=True)}

    def top_weights(self, label: str, n: int = 10) -> list[tuple[str, float]]:
        """Return the attributes that speak most for a label, and those that speak most against it.

        Parameters
        ----------
        label : one of `classes_`.
        n : how many of each.

        Returns
        -------
        list of (attribute, weight), from the largest weight to the smallest.
        """
        self.check_fitted()
        check_number("n", n, whole=True)
        if label not in self.labels_.names:
            known = ", ".join(self.labels_.names)
            raise LabelError(
                f"the model has no label {label!r}", hint=nearest(label, self.labels_.names, f"it has {known}")
            )
        own = [(name, weight) for (name, other), weight in self.weights().items() if other == label]
        ordered = sorted(own, key=lambda pair: (-pair[1], pair[0]))
        return ordered if len(ordered) <= 2 * n else ordered[:n] + ordered[-n:]

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        features = self.index_.to_state()
        model = self.weights_
        arrays = {f"features/{name}": value for name, value in features.items() if name != "features"}
        arrays |= {
            "pairs/ptr": narrow(model.pairs.ptr), "pairs/label": model.pairs.label, "weights": narrow(model.w),
            "trans": model.trans, "start": model.start, "end": model.end,
        }  # fmt: skip
        return {"features": features["features"]}, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        state: dict[str, Any] = {"features": header["features"]}
        state |= {name.removeprefix("features/"): a for name, a in arrays.items() if name.startswith("features/")}
        given = bool(header["features"].get("given"))
        self.index_ = GivenIndex.from_state(state) if given else FeatureIndex.from_state(state)
        if isinstance(self.index_, FeatureIndex) and "features" not in header["parameters"]:
            self.features, self.min_count = self.index_.templates, self.index_.min_count  # to be fitted anew with
        # Copies, because kernels are compiled for writable arrays, and those of a file are not.
        names = ("pairs/ptr", "pairs/label", "weights", "trans", "start", "end")
        ptr, label, *weights = (_widened(arrays[name]) for name in names)
        model = ChainModel.checked(Pairs.checked(len(header["labels"]), ptr, label), *weights)
        if model.pairs.n_attributes != self.index_.n_attributes:
            raise ModelFileError("the model has weights for other attributes than it describes")
        self.weights_ = model


def _check_kept(before: Labels, now: Labels) -> None:
    """Refuse to forget labels."""
    lost = [name for name in before if name not in set(now)]
    if lost:
        raise InputError(
            f"the prior knows the label {lost[0]!r}, which this training set would forget",
            hint="fit with labels= all labels",
        )


def holds_attributes(X: Any) -> bool:
    """Is X a list of sequences whose tokens are attribute collections rather than strings?"""
    if isinstance(X, Corpus) or not hasattr(X, "__len__"):
        return False
    for sequence in X:
        if hasattr(sequence, "__len__") and not isinstance(sequence, str) and len(sequence):
            return isinstance(sequence[0], (list, tuple, set, frozenset, dict))
    return False


def training_set(corpus: Corpus, matrix: FeatureMatrix, sample_weight: NDArray[np.float64] | None) -> TrainingSet:
    """Bring the corpus into arrays and find what is allowed: valid tags, and whatever the labels themselves do."""
    assert corpus.y is not None
    assert corpus.labels is not None
    return TrainingSet(matrix, corpus.indptr, corpus.y, corpus.labels, *allowed_moves(corpus), sample_weight)


def _widened(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array of a file in the type that kernels take; a file may hold it in half the bytes."""
    wide = {np.dtype(np.int32): np.int64, np.dtype(np.float32): np.float64}.get(array.dtype, array.dtype)
    return np.array(array, wide)

"""`CRF`: the linear-chain conditional random field, trained by L-BFGS (OWL-QN with an L1 term).

    minimise  -Σ_n ω_n log p(y_n | x_n) + l1 ‖w - w₀‖₁ + l2 ‖w - w₀‖²

Without a prior w₀ = 0: the same objective as CRFsuite's (its c1 and c2), checked against it in the tests. With one, w₀
are the weights of another model, so that few labels move them only where they must: a Gaussian prior whose mean is
what was learned before (Chelba & Acero, 2006).

What does not depend on how weights are found is in `LinearChainLabeller`, from which the perceptron is derived, too:
features, the training set as arrays, prediction, saving.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, LabelError, ModelFileError, ResultWarning, nearest
from espalier.estimators.base import (
    SequenceLabeller,
    again,
    allowed_moves,
    as_corpus,
    check_kept,
    check_labelled,
    check_number,
    check_progress,
    check_sample_weight,
    fresh,
    listener,
    say_if_broken,
    say_jobs_are_gone,
)
from espalier.features.fields import default_templates
from espalier.features.index import AnyIndex, BothIndex, FeatureIndex, index_from_state, matrix_of
from espalier.features.matrix import FeatureMatrix, GivenIndex, side_by_side
from espalier.models.linear import ChainModel, Pairs, carried, moved
from espalier.potentials import ChainBatch
from espalier.store import below, narrow

if TYPE_CHECKING:  # needed by nobody who only labels
    from espalier.estimators.joined import JoinedCRF
    from espalier.features.extract import FeatureExtractor
    from espalier.features.matrix import FeatureMatrix
    from espalier.learning.lbfgs import Minimum
    from espalier.learning.likelihood import ChainLikelihood, Twins

__all__ = [
    "CRF",
    "Learned",
    "LinearChainLabeller",
    "Term",
    "TrainingSet",
]

Self = TypeVar("Self", bound="LinearChainLabeller")
Float = NDArray[np.float64]
Term = Callable[[Float], tuple[float, Float]]
"""A function of the weights: its value and its gradient."""


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

    index: AnyIndex
    labels: Labels
    model: ChainModel

    def over(self, index: AnyIndex, labels: Labels) -> ChainModel:
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
    index_: AnyIndex

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
        corpus = as_corpus(X, y, vocabulary=vocabulary)
        if corpus.given is not None and self.features is not None and not any(corpus.types):
            what = "the tokens of X are ready attributes, so the features of this model have no effect"
            hint = 'pass words, or mappings with an entry "token", or leave out features'
            warnings.warn(f"{what}; {hint}", ResultWarning, stacklevel=2)
        check_labelled(corpus)
        say_if_broken(corpus)
        assert corpus.labels is not None
        examples, weight = self._examples(corpus, check_sample_weight(sample_weight, len(corpus)))
        index, matrix = self.indexed(examples)
        data = self.training_set(examples, matrix, weight)
        if prior is not None:
            check_kept(prior.labels, corpus.labels)
            data = replace(data, prior=prior.over(index, corpus.labels))
        if getattr(self, "warm_start", False) and hasattr(self, "weights_"):
            data = replace(data, start=self.learned_.over(index, corpus.labels))
        self.weights_ = self.train(data)
        self.index_ = index
        self.labels_ = corpus.labels
        self.training_digest_ = corpus.digest()
        return self

    @staticmethod
    def training_set(corpus: Corpus, matrix: FeatureMatrix, weight: Float | None) -> TrainingSet:
        """Bring a corpus into arrays, with what is allowed: valid tags, and whatever the labels themselves do."""
        assert corpus.y is not None
        assert corpus.labels is not None
        return TrainingSet(matrix, corpus.indptr, corpus.y, corpus.labels, *allowed_moves(corpus), weight)

    def _examples(self, corpus: Corpus, weight: Float | None) -> tuple[Corpus, Float | None]:
        """Return what to learn from and its weights: the labelled sequences, to which a subclass may add."""
        return corpus, weight

    @property
    def learned_(self) -> Learned:
        """Attributes, labels and weights, for the `prior` of another CRF."""
        self.check_fitted()
        return Learned(self.index_, self.labels_, self.weights_)

    def indexed(self, corpus: Corpus) -> tuple[AnyIndex, FeatureMatrix]:
        """Return the attributes to learn weights for, those of the prior if there is one, and the matrix of a corpus.

        What was given of tokens stands beside what templates say of their words, if they have any.
        """
        prior: Learned | None = getattr(self, "prior", None)
        if prior is not None:
            return prior.index, matrix_of(prior.index, corpus)
        if corpus.given is None:
            return self.extractor().fit_transform(corpus)
        given, matrix = GivenIndex.fit_transform(corpus.given_lists(), self.min_count)
        if not any(corpus.types):
            return given, matrix
        words, of_words = self.extractor().fit_transform(corpus)
        return BothIndex(words, given), side_by_side(of_words, matrix)

    def extractor(self) -> FeatureExtractor:
        """Return what turns sequences into features."""
        from espalier.features.extract import FeatureExtractor

        if isinstance(self.features, FeatureExtractor):
            return self.features
        return FeatureExtractor(default_templates() if self.features is None else self.features, self.min_count)

    def transform(self, X: Any) -> tuple[FeatureMatrix, NDArray[np.int64]]:
        """Return the feature matrix of X under the locked vocabulary, and the sequence borders."""
        self.check_fitted()
        corpus = as_corpus(X)
        return matrix_of(self.index_, corpus), corpus.indptr

    def potentials(self, X: Any) -> ChainBatch:
        """Return the potentials of every sequence."""
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
        state = {"features": header["features"], **below("features/", arrays)}
        self.index_ = index_from_state(state)
        if isinstance(self.index_, FeatureIndex) and "features" not in header["parameters"]:
            self.features, self.min_count = self.index_.templates, self.index_.min_count  # to be fitted anew with
        # Copies, because kernels are compiled for writable arrays, and those of a file are not.
        names = ("pairs/ptr", "pairs/label", "weights", "trans", "start", "end")
        ptr, label, *weights = (_widened(arrays[name]) for name in names)
        model = ChainModel.checked(Pairs.checked(len(header["labels"]), ptr, label), *weights)
        if model.pairs.n_attributes != self.index_.n_attributes:
            raise ModelFileError("the model has weights for other attributes than it describes")
        self.weights_ = model


def _widened(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array of a file in the type that kernels take; a file may hold it in half the bytes."""
    wide = {np.dtype(np.int32): np.int64, np.dtype(np.float32): np.float64}.get(array.dtype, array.dtype)
    return np.array(array, wide)


# The CRF itself.


@dataclass(eq=False, repr=False)
class CRF(LinearChainLabeller):
    """A linear-chain CRF.

    Parameters
    ----------
    features : templates (texts or objects), a FeatureExtractor, or None for the default set. Not used, with a warning,
        if the tokens of X are features of your own without words; of `{"token": "Ann", "pos": "NNP"}` both are learned.
    l1, l2 : weights of the two penalties; more features and less data ask for a larger l2.
    max_iterations, epsilon, delta, period : when to stop (see `espalier.learning.lbfgs`).
    min_count : attributes on fewer training tokens are dropped.
    shared : how alike weights are for the tags of one field, B- and I-: what begins a field says something of its
        inside. It is their correlation under the penalty, from 0 to less than 1 (`learning.sharing`).
    transitions : "observed" gives weights to transitions seen in training, "all" to every allowed one.
    warm_start : begin a second `fit` at the weights of the first, attribute by attribute and label by label; the
        optimum is the same, and near it far fewer iterations are needed.
    prior : another fitted CRF, or what it has learned (`other.learned_`), or None. Its attributes are kept as they are,
        `features` and `min_count` are not used, and both penalties draw the weights towards its own. Labels may be
        added.
    copies : learn from so many copies of each sequence, too, whose fields have the words of other sequences; together
        they count as much as the sequence (`learning.recombination`). For a handful of sequences in one style.
    replay : a labelled Corpus of sequences that the prior knows, or None: they are learned again beside the others,
        without copies, so that less is forgotten (`learning.recombination`).
    threads : None chooses by size; results do not depend on it.
    progress : called with the state of the search after every iteration.
    jobs : has no effect any more, and goes with the next release.

    Notes
    -----
    After `fit`: `weights_` (weights), `index_` (attributes), `minimum_` (value, iterations, reason for stopping).

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> model = es.CRF(["lower", "shape"], l2=0.1).fit(X, y)
    >>> model.predict([["Eve", "in", "Ulm"]])
    [['who', 'O', 'where']]
    >>> model.labels_.names
    ('O', 'where', 'who')
    """

    kind = "crf"

    features: Sequence[Any] | FeatureExtractor | None = None
    _: KW_ONLY
    l1: float = 0.0
    l2: float = 0.1
    max_iterations: int = 1000
    epsilon: float = 1e-5
    delta: float = 1e-5
    period: int = 10
    min_count: int = 1
    shared: float = 0.0
    transitions: str = "observed"
    warm_start: bool = False
    prior: Learned | None = None
    copies: int = 0
    replay: Corpus | None = None
    threads: int | None = None
    progress: Callable[[Minimum], None] | None = None
    jobs: int | None = None

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        for name in ("l1", "l2", "epsilon", "delta", "shared"):
            check_number(name, getattr(self, name))
        for name, least in (("max_iterations", 0), ("period", 1), ("copies", 0)):
            check_number(name, getattr(self, name), least, whole=True)
        if self.shared >= 1:
            raise InputError(
                f"shared is {self.shared!r}", hint="expected a correlation: a number from 0 to less than 1"
            )
        say_jobs_are_gone(self.jobs, "a CRF trains in threads (threads=)")
        if self.transitions not in ("observed", "all"):
            raise InputError(f"transitions is {self.transitions!r}", hint="expected 'observed' or 'all'")
        if self.prior is not None and not isinstance(self.prior, Learned):
            raise InputError(f"prior is a {type(self.prior).__name__}", hint="expected a fitted CRF, or its learned_")

    def _examples(self, corpus: Corpus, weight: Float | None) -> tuple[Corpus, Float | None]:
        if not self.copies and not self.replay:
            return corpus, weight
        from espalier.learning.recombination import more_examples

        if corpus.given is not None:
            name = "copies" if self.copies else "replay"
            raise InputError(f"{name} needs words, and X has ready attributes", hint=f"leave out {name}")
        return more_examples(corpus, weight, self.copies, 0, self.replay)

    def train(self, data: TrainingSet) -> ChainModel:
        """Find the weights."""
        from espalier.learning.likelihood import ChainLikelihood, Twins
        from espalier.learning.sharing import fields_of_labels, with_partners

        # Twins have the same data, but not the same prior.
        twins = Twins.apart(data.matrix) if self.l1 or data.prior else Twins.merge(data.matrix)
        pairs = Pairs.observed(twins.matrix, data.y, data.n_labels)
        learned = data.observed_transitions if self.transitions == "observed" else data.allowed
        if data.prior is not None:
            pairs, learned = pairs.union(data.prior.pairs), learned | (data.prior.trans != 0)
        if self.shared:
            pairs, learned = with_partners(pairs, learned, data.allowed, fields_of_labels(data.labels.names))
        likelihood = ChainLikelihood(
            twins.matrix, data.indptr, data.y, pairs, learned, data.start_allowed, data.allowed, data.sample_weight,
            self.threads,
        )  # fmt: skip
        return self.minimised(data, twins, pairs, likelihood)

    def fit_soft(self, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float) -> JoinedCRF:
        """Return the training problem of labels and of expectations on unlabelled text; there nothing is `shared`."""
        from espalier.estimators.joined import JoinedCRF

        return JoinedCRF(fresh(self).set_params(shared=0.0), labelled, pool, weight, pool_weight)

    def fit_guessed(self, labelled: Corpus, weight: Float | None, guessed: Corpus, guessed_weight: Float) -> CRF:
        """Return a copy fitted to labelled sequences and to others with guessed labels, each with its weight.

        With `copies`, those of the guessed sequences alone: guesses that it learns as they are it would only repeat.
        """
        from espalier.learning.recombination import recombined

        if not self.copies:
            return super().fit_guessed(labelled, weight, guessed, guessed_weight)
        assert labelled.labels is not None
        everything = np.concatenate([np.ones(len(labelled)) if weight is None else weight, guessed_weight])
        guesses = slice(len(labelled), len(labelled) + len(guessed))
        examples, weights = recombined(labelled + guessed, self.copies, everything, np.random.default_rng(0))
        kept, names = np.delete(np.arange(len(examples)), guesses), labelled.labels.names
        model = again(self).set_params(copies=0).fit(examples[kept], sample_weight=weights[kept], labels=names)
        return model.set_params(copies=self.copies)

    def minimised(
        self, data: TrainingSet, twins: Twins, pairs: Pairs, likelihood: ChainLikelihood,
        begin: Float | None = None, max_iterations: int | None = None, term: Term | None = None,
    ) -> ChainModel:  # fmt: skip
        """Return the weights that minimise the objective with a likelihood; `minimum_.x` is the point found.

        begin : such a point, to begin the search at; else the weights of `data.start` or of the prior. max_iterations :
        if given, instead of the parameter; term : added to the likelihood.
        """
        from espalier.kernels.history import dot
        from espalier.learning.lbfgs import Options, minimise
        from espalier.learning.sharing import Sharing, fields_of_labels

        fields, trans_from, trans_to = fields_of_labels(data.labels.names), likelihood.from_label, likelihood.to_label
        sharing = Sharing.of(pairs, trans_from, trans_to, fields, self.shared) if self.shared else None
        scale = np.ones(likelihood.n_parameters)
        scale[: len(pairs)] = twins.scale(pairs)

        def weights_of(model: ChainModel | None) -> Float:
            if model is None:
                return np.zeros(likelihood.n_parameters)
            trans = model.trans[likelihood.from_label, likelihood.to_label]
            return np.concatenate([carried(model, twins.group, pairs), trans])

        centre = weights_of(data.prior)

        def weights_at(v: Float) -> Float:
            own = scale * v
            return centre + (own if sharing is None else sharing.spread(own))

        def objective(v: Float) -> tuple[float, Float]:
            u = weights_at(v)
            value, gradient = likelihood(u)
            if term is not None:
                more, slope = term(u)
                value, gradient = value + more, gradient + slope
            gradient = scale * (gradient if sharing is None else sharing.spread(gradient))
            gradient += (2.0 * self.l2) * v
            return value + self.l2 * dot(v, v), gradient

        options = Options(
            max_iterations=self.max_iterations if max_iterations is None else max_iterations,
            epsilon=self.epsilon, delta=self.delta, period=self.period, threads=likelihood.threads,
        )  # fmt: skip
        near = weights_of(data.start or data.prior) - centre
        start = (near if sharing is None else sharing.gathered(near)) / scale if begin is None else begin
        self.minimum_ = minimise(
            objective, start, l1=self.l1, options=options, progress=listener(self.progress, type(self).__name__)
        )
        u = weights_at(self.minimum_.x)
        trans = np.where(data.allowed, 0.0, -np.inf)
        trans[likelihood.from_label, likelihood.to_label] = u[len(pairs) :]
        first = np.where(data.start_allowed, 0.0, -np.inf)
        return ChainModel(*twins.expand(pairs, u[: len(pairs)]), trans, first, np.zeros(data.n_labels))

"""`Perceptron`: the averaged structured perceptron on the features of the CRF (see `espalier.learning.perceptron`).

A few passes and no objective to minimise: much quicker to train than the CRF, and usually a little less accurate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.base import check_number, fresh
from espalier.estimators.crf import LinearChainLabeller, TrainingSet
from espalier.features.extract import FeatureExtractor
from espalier.features.index import matrix_of
from espalier.learning.perceptron import all_pairs, train_perceptron
from espalier.models.linear import ChainModel, Pairs
from espalier.rules.compile import Compiled

__all__ = ["Perceptron"]

Float = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class Perceptron(LinearChainLabeller):
    """The averaged structured perceptron.

    Parameters
    ----------
    features : templates (texts or objects), a FeatureExtractor, or None for the default set. Not used, with a warning,
        if X holds ready attributes (a list of names or a mapping a token).
    epochs : passes over the training set.
    averaged : use the mean of the weights after every sequence, rather than the last ones.
    seed : of the order in which sequences are visited, a whole number; the same seed gives the same model.
    shuffle : visit the sequences in a new order in every epoch; without it, as they come.
    pairs : "all" gives weights to every attribute with every label, "observed" to those seen together in training.
    boundaries : learn scores of first and last labels too (the default features have an `edge` for that).
    min_count : attributes on fewer training tokens are dropped.
    threads : for prediction; None chooses by size; results do not depend on it.

    Notes
    -----
    After `fit`: `weights_` (weights), `index_` (attributes), `mistakes_` (sequences wrong in each epoch; training stops
    after an epoch without mistakes, when later ones could change nothing).

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> es.Perceptron(["lower", "shape"]).fit(X, y).predict([["Bob", "in", "Ulm"]])
    [['who', 'O', 'where']]
    """

    kind = "perceptron"

    features: Sequence[Any] | FeatureExtractor | None = None
    _: KW_ONLY
    epochs: int = 10
    averaged: bool = True
    seed: int = 0
    shuffle: bool = True
    pairs: str = "all"
    boundaries: bool = False
    min_count: int = 1
    threads: int | None = None

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        for name, least in (("epochs", 1), ("seed", 0)):
            check_number(name, getattr(self, name), least, whole=True)
        if self.pairs not in ("all", "observed"):
            raise InputError(f"pairs is {self.pairs!r}", hint="expected 'all' or 'observed'")

    def train(self, data: TrainingSet, initial: ChainModel | None = None) -> ChainModel:
        """Find the weights."""
        pairs = self._pairs(data)
        if self.pairs == "observed" and initial is not None:
            pairs = pairs.union(initial.pairs)
        training = train_perceptron(
            data.matrix, data.indptr, data.y, pairs, data.start_allowed, data.allowed, np.random.default_rng(self.seed),
            epochs=self.epochs, averaged=self.averaged, shuffle=self.shuffle, boundaries=self.boundaries,
            sample_weight=data.sample_weight, initial=initial,
        )  # fmt: skip
        self.mistakes_ = training.mistakes
        return training.model

    def _pairs(self, data: TrainingSet) -> Pairs:
        """Return the pairs of attribute and label that get a weight."""
        if self.pairs == "all":
            return all_pairs(data.matrix.n_attributes, data.n_labels)
        return Pairs.observed(data.matrix, data.y, data.n_labels)

    def fit_under_rules(
        self, corpus: Corpus, weight: Float | None, compiled: Compiled, penalties: Float, learned: NDArray[np.bool_]
    ) -> Float:
        """Learn from a labelled corpus, decoding under rules; return the penalties, the `learned` ones changed.

        See `learning.constrained_perceptron` for the algorithm.
        """
        from espalier.learning.constrained_perceptron import train_constrained

        self.check_parameters()
        index, matrix = self.indexed(corpus)
        data = self.training_set(corpus, matrix, weight)
        training = train_constrained(
            matrix, corpus, self._pairs(data), data.start_allowed, data.allowed, compiled, penalties, learned,
            np.random.default_rng(self.seed), epochs=self.epochs, averaged=self.averaged, shuffle=self.shuffle,
            boundaries=self.boundaries, sample_weight=weight,
        )  # fmt: skip
        self.weights_, self.index_, self.mistakes_ = training.model, index, training.mistakes
        self.labels_, self.training_digest_ = data.labels, corpus.digest()
        return training.penalties

    def mixed(
        self, labelled: Corpus, weight: Float | None, guessed: Corpus, guessed_weight: Float, gamma: float
    ) -> Perceptron:
        """Train on guessed labels, and from (1 - gamma) times those weights on the real ones.

        Section 6 of Chang, Ratinov and Roth (2012). The attributes are those of both corpora.
        """
        index, _ = self.indexed(labelled + guessed)
        pool = fresh(self).train(self.training_set(guessed, matrix_of(index, guessed), guessed_weight))
        share = 1 - gamma
        # -inf (forbidden) times 0 would be nan; the trainer forbids anew by itself.
        trans, start = (np.where(np.isfinite(part), part, 0.0) for part in (pool.trans, pool.start))
        begin = replace(pool, w=share * pool.w, trans=share * trans, start=share * start, end=share * pool.end)
        model = fresh(self)
        model.weights_ = model.train(self.training_set(labelled, matrix_of(index, labelled), weight), begin)
        model.index_, model.labels_, model.training_digest_ = index, self.labels_, self.training_digest_
        return model

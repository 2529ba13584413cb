"""`Perceptron`: the averaged structured perceptron on the features of the CRF (see `espalier.learning.perceptron`).

A few passes and no objective to minimise: much quicker to train than the CRF, and usually a little less accurate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from espalier.errors import InputError
from espalier.estimators.linear import LinearChainLabeller, TrainingSet
from espalier.features.extract import FeatureExtractor
from espalier.learning.perceptron import all_pairs, train_perceptron
from espalier.models.chain import ChainModel
from espalier.models.pairs import Pairs

__all__ = ["Perceptron"]


class Perceptron(LinearChainLabeller):
    """The averaged structured perceptron.

    Parameters
    ----------
    features : templates (texts or objects), a FeatureExtractor, or None for the default set. Ignored if X holds
        ready attributes (a list of names or a mapping a token).
    epochs : passes over the training set.
    averaged : use the mean of the weights after every sequence, rather than the last ones.
    seed : of the order in which sequences are visited, a whole number; the same seed gives the same model.
    shuffle : visit the sequences in a new order in every epoch; without it, as they come.
    pairs : "all" gives weights to every attribute with every label, "observed" to those seen together in training.
    boundaries : learn scores of first and last labels too (the default features have an `edge` for that).
    min_count : attributes on fewer training tokens are dropped.
    threads : for prediction; None chooses by size; results do not depend on it.

    After `fit`: `model_` (weights), `index_` (attributes), `mistakes_` (sequences wrong in each epoch; training stops
    after an epoch without mistakes, when later ones could change nothing).
    """

    kind = "perceptron"

    def __init__(
        self,
        features: Sequence[Any] | FeatureExtractor | None = None,
        *,
        epochs: int = 10,
        averaged: bool = True,
        seed: int = 0,
        shuffle: bool = True,
        pairs: str = "all",
        boundaries: bool = False,
        min_count: int = 1,
        threads: int | None = None,
    ) -> None:
        """Store the parameters."""
        self.features = features
        self.epochs = epochs
        self.averaged = averaged
        self.seed = seed
        self.shuffle = shuffle
        self.pairs = pairs
        self.boundaries = boundaries
        self.min_count = min_count
        self.threads = threads

    def _check_parameters(self) -> None:
        for name, least in (("epochs", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise InputError(f"{name} is {value!r}; expected a whole number of at least {least}")
        if self.pairs not in ("all", "observed"):
            raise InputError(f"pairs is {self.pairs!r}; expected 'all' or 'observed'")

    def _train(self, data: TrainingSet, initial: ChainModel | None = None) -> ChainModel:
        if self.pairs == "all":
            pairs = all_pairs(data.matrix.n_attributes, data.n_labels)
        else:
            pairs = Pairs.observed(data.matrix, data.y, data.n_labels)
            pairs = pairs if initial is None else pairs.union(initial.pairs)
        training = train_perceptron(
            data.matrix, data.indptr, data.y, pairs, data.start_allowed, data.allowed, np.random.default_rng(self.seed),
            epochs=self.epochs, averaged=self.averaged, shuffle=self.shuffle, boundaries=self.boundaries,
            sample_weight=data.sample_weight, initial=initial,
        )  # fmt: skip
        self.mistakes_ = training.mistakes
        return training.model

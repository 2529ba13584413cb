"""Sequences that a model has not seen: a fold, where it learned from the others, or data that were held out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError
from espalier.estimators.base import SequenceLabeller, as_corpus, fresh

__all__ = ["Folds", "fitted", "folds_of", "labelled_dev"]

Float = NDArray[np.float64]
Folds = Iterator[tuple[Corpus, Float | None, Corpus]]


def folds_of(corpus: Corpus, weight: Float | None, folds: int) -> Folds:
    """Yield each fold behind all others and their weights; sequence i is in fold i % folds."""
    fold = np.arange(len(corpus)) % folds
    for k in range(folds):
        rest = fold != k
        yield corpus[rest], None if weight is None else weight[rest], corpus[~rest]


def fitted(base: SequenceLabeller, corpus: Corpus, weight: Float | None) -> SequenceLabeller:
    """Return a copy of a model, fitted to a labelled corpus."""
    assert corpus.labels is not None
    return fresh(base).fit(corpus, sample_weight=weight, labels=corpus.labels.names)


def labelled_dev(dev: Any, labels: Labels) -> Corpus:
    """Return held-out data as a corpus with the labels of the model; dev : a labelled Corpus, or a pair (X, y)."""
    X, y = dev if isinstance(dev, tuple) else (dev, None)
    corpus = as_corpus(X, y, vocabulary=None if y is None else labels)
    if not len(corpus) or corpus.y is None or (corpus.y < 0).all():
        raise InputError(
            "dev has no labelled sequences", hint="give a labelled Corpus or a pair (X, y), or leave it out"
        )
    return corpus if corpus.labels == labels else corpus.with_labels(corpus.all_labels(), labels)

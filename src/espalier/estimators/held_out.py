"""Sequences that a model has not seen: a fold, where it learned from the others, or data that were held out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.document import Document
from espalier.errors import InputError, ResultWarning, listed
from espalier.estimators.base import SequenceLabeller, as_corpus, fresh

__all__ = ["Folds", "data_pair", "fitted", "folds_of", "labelled_dev", "say_if_unknown"]

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


def data_pair(given: Any, name: str) -> tuple[Any, Any]:
    """Return X and y of data that came as a pair (X, y), or as one thing that has labels; name : of the argument."""
    if isinstance(given, tuple) and len(given) == 2 and not isinstance(given[0], Document):
        return given
    if isinstance(given, list) and len(given) == 2 and all(map(_is_nested, given)):
        raise InputError(f"{name} is a list of two lists", hint=f"pass a pair in round brackets: {name}=(X, y)")
    return given, None


def _is_nested(several: Any) -> bool:
    """Is this a list of lists?"""
    return isinstance(several, list | tuple) and any(isinstance(one, list | tuple) for one in several)


def say_if_unknown(dev: Corpus | None, labels: Labels, stacklevel: int = 3) -> None:
    """Warn where held-out data have labels that a model does not have: it can never be right there."""
    if dev is None or dev.y is None or dev.labels is None:
        return
    lost = [dev.labels.names[i] for i in np.unique(dev.y[dev.y >= 0]).tolist() if dev.labels.names[i] not in labels]
    if lost:
        what = f"dev has labels that the training set lacks, and they count as wrong: {listed(lost)}"
        warnings.warn(f"{what}; pass labels= to fit, or look for a slip", ResultWarning, stacklevel)


def labelled_dev(dev: Any, labels: Labels) -> Corpus:
    """Return held-out data as a corpus with the labels of the model; dev : a labelled Corpus, or a pair (X, y)."""
    X, y = data_pair(dev, "dev")
    corpus = as_corpus(X, y, vocabulary=None if y is None else labels)
    if not len(corpus) or corpus.y is None or (corpus.y < 0).all():
        raise InputError(
            "dev has no labelled sequences", hint="give a labelled Corpus or a pair (X, y), or leave it out"
        )
    return corpus if corpus.labels == labels else corpus.with_labels(corpus.all_labels(), labels)

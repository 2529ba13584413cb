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

__all__ = ["Folds", "data_pair", "fitted", "folds_of", "gold_ids", "held_out", "labelled_dev"]

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


def held_out(dev: Any, labels: Labels | None) -> Corpus:
    """Return held-out data as a corpus; dev : a labelled Corpus, or a pair (X, y).

    labels : of the model, None where nobody knows them yet; it can never be right where the data have others, which is
    a warning.
    """
    corpus = as_corpus(*data_pair(dev, "dev"))
    if corpus.y is None or corpus.labels is None or not (corpus.y >= 0).any():
        raise InputError("dev has no labels to score against", hint="pass a labelled Corpus or a pair (X, y)")
    used = [corpus.labels.names[i] for i in np.unique(corpus.y[corpus.y >= 0]).tolist()]
    lost = [name for name in used if labels is not None and name not in labels]
    if lost:
        what = f"dev has labels that the training set lacks, and they count as wrong: {listed(lost)}"
        warnings.warn(f"{what}; pass labels= to fit, or look for a slip", ResultWarning, stacklevel=3)
    return corpus


def gold_ids(held: Corpus, labels: Labels) -> NDArray[np.int64]:
    """Return the labels of held-out data as ids among others, int64[M]: -1 unknown, -2 a label that is not there."""
    assert held.y is not None
    assert held.labels is not None
    ids = {name: k for k, name in enumerate(labels.names)}
    return np.array([*(ids.get(name, -2) for name in held.labels.names), -1], np.int64)[held.y]


def labelled_dev(dev: Any, labels: Labels) -> Corpus:
    """Return held-out data with the labels of the model, which must have them all."""
    held = held_out(dev, None)
    return held if held.labels == labels else held.with_labels(held.all_labels(), labels)

"""The layers of a joint problem: labels for the tokens of texts, and labels for pairs of places in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from espalier.corpus import Labels
from espalier.decoders.base import Problem
from espalier.decoders.questions import Rules, Scores, problem_of
from espalier.decoders.score_forms import as_floats
from espalier.errors import InputError

__all__ = ["PairLayer", "TextLayer"]


@dataclass(frozen=True, eq=False)
class TextLayer:
    """Labels for the tokens of one text, or of several: scores, and rules of its own.

    Parameters
    ----------
    scores
        As for `espalier.decode`, of one text; a list of such scores if `tokens` is a list of texts.
    labels
        One name for each column of the scores.
    tokens
        The tokens of the text, or a list of texts.
    rules
        Rules within each text, as for `espalier.decode`.
    valid_tags
        As for `espalier.decode`.

    Examples
    --------
    >>> from espalier.joint import TextLayer
    >>> TextLayer([[1.0, 0.0], [0.0, 2.0]], labels=["O", "name"], tokens=["by", "Ann"]).several
    False
    """

    scores: Any
    labels: Labels | Sequence[str]
    tokens: Sequence[Any]
    rules: Rules = None
    valid_tags: bool | None = None

    @property
    def several(self) -> bool:
        """Are there several texts?"""
        return len(self.tokens) > 0 and not isinstance(self.tokens[0], str)

    def problems(self) -> list[Problem]:
        """Return one decoding problem for each text."""
        texts = list(self.tokens) if self.several else [self.tokens]
        scores: list[Scores] = list(self.scores) if self.several else [self.scores]
        if len(texts) != len(scores):
            raise InputError(f"{len(texts)} texts, but scores of {len(scores)}")
        return [
            problem_of(s, self.rules, tokens=list(words), labels=self.labels, valid_tags=self.valid_tags)
            for s, words in zip(scores, texts, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class PairLayer:
    """Labels for pairs of places of a text layer.

    Parameters
    ----------
    layer
        The name of the text layer in which the places are.
    places
        One (head, tail) for each pair. A place is (start, end) in tokens, or (text, start, end) where there are
        several texts.
    scores
        The log score of each label for each pair, of shape (pairs, labels).
    labels
        One name for each column of the scores. One of them should say that there is nothing, such as "none".

    Examples
    --------
    >>> from espalier.joint import PairLayer
    >>> len(PairLayer("entities", [((0, 1), (2, 3))], [[0.0, 1.0]], labels=["none", "lives-in"]).places)
    1
    """

    layer: str
    places: Sequence[tuple[Sequence[int], Sequence[int]]]
    scores: ArrayLike
    labels: Labels | Sequence[str]

    def problem(self) -> Problem:
        """Return the pairs as a sequence without transitions."""
        labels = self.labels if isinstance(self.labels, Labels) else Labels(self.labels)
        scores = as_floats(self.scores, "scores of pairs") if len(self.places) else np.zeros((0, len(labels)))
        if scores.shape != (len(self.places), len(labels)):
            shape = (len(self.places), len(labels))
            raise InputError(f"scores of pairs have shape {scores.shape}", hint=f"expected {shape}: pairs, labels")
        return problem_of(scores, tokens=[""] * len(self.places), labels=labels, valid_tags=False)

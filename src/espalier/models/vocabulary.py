"""`Vocabulary`: the words that a generative model knows, and the classes they fall into.

| grouping | words of one class share |
|---|---|
| `any` | nothing: all are in one class |
| `shape` | the shape of the normalised word, runs collapsed |
| `suffix` | the shape and the last three letters |
| `cluster64`, ... | the cluster of that size in the `WordClasses`; the shape where a word has none |

The groupings by cluster exist where the vocabulary has word classes, one for each of their sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.fields import check_normalisation, full_shapes, normalised
from espalier.features.word_classes import WordClasses

__all__ = ["Grouping", "Vocabulary"]

_REPEATED = re.compile(r"(.)\1+", re.DOTALL)


class Grouping(NamedTuple):
    """V words in G classes. names : class -> number; members : int64[V]; sizes : int64[G + 1], the last 0."""

    names: Mapping[str, int]
    members: NDArray[np.int64]
    sizes: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """V normalised words, and the classes they fall into.

    words : distinct, already normalised; normalise : "none", "lower" (case), or "classes" (case and numbers);
    word_classes : from unlabelled text, with the same normalisation; groupings : by name, see the module's table.
    Begin with `Vocabulary().extended(corpus)`.
    """

    words: tuple[str, ...] = ()
    normalise: str = "classes"
    word_classes: WordClasses | None = None
    groupings: Mapping[str, Grouping] = field(init=False, repr=False, compare=False)
    _index: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the words and put them into classes."""
        check_normalisation(self.normalise)
        if self.word_classes is not None and self.word_classes.normalise != self.normalise:
            raise InputError(
                f"normalise is {self.normalise!r}", hint=f"the word classes have {self.word_classes.normalise!r}"
            )
        index = {word: v for v, word in enumerate(self.words)}
        if len(index) != len(self.words):
            raise InputError("a word is in the vocabulary twice")
        groupings = {}
        for name, classes in self._classes(self.words).items():
            names: dict[str, int] = {}
            members = np.array([names.setdefault(g, len(names)) for g in classes], np.int64)
            groupings[name] = Grouping(names, members, np.bincount(members, minlength=len(names) + 1))
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "groupings", groupings)

    def extended(self, *corpora: Corpus) -> Vocabulary:
        """Return this vocabulary with the words of more text at its end; the numbers of its own words stay."""
        words = (self._normal(corpus.types[k] for k in np.unique(corpus.token_ids)) for corpus in corpora)
        return replace(self, words=tuple(dict.fromkeys(chain(self.words, *words))))

    def classified(self, word_classes: WordClasses | None) -> Vocabulary:
        """Return this vocabulary with (other) word classes, and their words at its end."""
        words = () if word_classes is None else word_classes.words
        return replace(self, words=tuple(dict.fromkeys((*self.words, *words))), word_classes=word_classes)

    def ids(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Return the numbers of words as they stand in text; V for those outside."""
        return np.array([self._index.get(word, len(self.words)) for word in self._normal(words)], np.int64)

    def groups(self, words: Iterable[str]) -> dict[str, NDArray[np.int64]]:
        """Return the class of each word in every grouping; G, the number of classes, for classes never met."""
        found = {}
        for name, classes in self._classes(self._normal(words)).items():
            names = self.groupings[name].names
            found[name] = np.array([names.get(g, len(names)) for g in classes], np.int64)
        return found

    def __len__(self) -> int:
        """Return V."""
        return len(self.words)

    def _normal(self, words: Iterable[str]) -> list[str]:
        return normalised(words, self.normalise)

    def _classes(self, words: Sequence[str]) -> dict[str, list[str]]:
        """Return the class of each normalised word in every grouping."""
        shapes = [_REPEATED.sub(r"\1", shape) for shape in full_shapes(words)]
        classes = {
            "any": [""] * len(words),
            "shape": shapes,
            "suffix": [f"{shape} {word[-3:]}" for shape, word in zip(shapes, words, strict=True)],
        }
        if self.word_classes is not None:
            rows = self.word_classes.rows(words, normal=True)
            for size, members in zip(self.word_classes.sizes, self.word_classes.members.T, strict=True):
                cluster = np.where(rows >= 0, members[rows], -1).tolist()
                classes[f"cluster{size}"] = [
                    f"shape {shape}" if k < 0 else f"cluster {k}" for k, shape in zip(cluster, shapes, strict=True)
                ]
        return classes

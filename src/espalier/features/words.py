"""What word types say by themselves, whoever reads the text that they stand in: values, numbers, attributes.

Fields of the word type are asked once about each word, those of its shape once about each shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.features.fields import full_shapes
from espalier.features.stretches import signs_of_word
from espalier.features.templates import FeatureField, Template

__all__ = ["Several", "WordFacts", "WordReader"]

MOST = 20_000
"""Shapes that are kept."""

Ints = NDArray[np.int64]


class Several:
    """A template of several parts: numbers of their values become attributes (see `features.extract`)."""

    def __init__(self, template: Template, values: Mapping[str, Sequence[str]], joins: Sequence[Ints], start: int):
        """Take the numbers that are kept of each part; start : the first attribute."""
        self.fields = [part.field for part in template.parts]
        self.texts = [field.text for field in self.fields]
        self.offsets = [part.offset for part in template.parts]
        self.marked = template.offset is None
        self.sizes = [len(values[text]) + 1 for text in self.texts]
        first = np.full(self.sizes[0], -1)
        first[joins[0]] = np.arange(len(joins[0])) + (start if len(joins) == 1 else 0)
        self.first: list[int] = first.tolist()
        self.later = [dict(zip(keys.tolist(), range(len(keys)), strict=True)) for keys in joins[1:]]
        if self.later:
            self.later[-1] = dict(zip(self.later[-1], range(start, start + len(joins[-1])), strict=True))

    def attributes(self, numbers: Sequence[Sequence[int]]) -> list[int]:
        """Return the attributes that one number of each part makes together."""
        first = self.first
        found = [place for number in numbers[0] if (place := first[number]) >= 0]
        for later, size, several in zip(self.later, self.sizes[1:], numbers[1:], strict=True):
            get = later.get
            found = [at for i in found for j in several if (at := get(i * size + j)) is not None]
        return found

    def entering(self, numbers: Iterable[int]) -> list[int]:
        """Return what numbers of the first part give, ready for a number of the second to be added."""
        first, size = self.first, self.sizes[1]
        return [place * size for number in numbers if (place := first[number]) >= 0]

    def add(self, columns: Sequence[Sequence[Sequence[int]]], refs: list[list[int]]) -> None:
        """Add the attributes of every token; columns : of each token, first what `entering` gives, then numbers."""
        rows, *others = (self._shifted(column, k) for k, column in enumerate(columns))
        for later, size, column in zip(self.later[:-1], self.sizes[2:], others[:-1], strict=True):
            get = later.get
            rows = [
                [at * size for i in row for j in several if (at := get(i + j)) is not None] if row and several else ()
                for row, several in zip(rows, column, strict=True)
            ]
        get = self.later[-1].get
        for row, several, ref in zip(rows, others[-1], refs, strict=True):
            if row and several:
                for i in row:
                    for j in several:
                        at = get(i + j)
                        if at is not None:
                            ref.append(at)

    def _shifted(self, column: Sequence[Sequence[int]], k: int) -> Sequence[Sequence[int]]:
        """Return the column of part k at its offset; outside the text that is nothing, or the marker."""
        offset, T = self.offsets[k], len(column)
        if not offset:
            return column
        marker: Sequence[int] = (self.sizes[k] - 1,) if self.marked else ()
        outside = [self.entering(marker) if k == 0 else marker] * min(abs(offset), T)
        return [*outside, *column[: max(T + offset, 0)]] if offset < 0 else [*column[offset:], *outside]


class WordFacts(NamedTuple):
    """What fields say of a word: by their text their values, and the numbers of those that an index knows, if any.

    rows : the attributes at each offset; signs : see `stretches.WordSign`.
    """

    values: dict[str, tuple[str, ...]]
    numbers: dict[str, list[int]]
    rows: list[list[int]]
    signs: int


class WordReader:
    """The fields and templates of an index that look at word types.

    offsets : where they look; known : of each field that templates number, the number of each value.
    """

    def __init__(
        self,
        fields: Iterable[FeatureField],
        known: Mapping[str, Mapping[str, int]],
        templates: Mapping[int, Sequence[Several]],
    ) -> None:
        """Take fields of the word type, and the templates at each offset."""
        self.offsets = tuple(templates)
        self._fields = {field.text: (field, known.get(field.text, {})) for field in fields}
        self._alone: dict[str, list[tuple[int, list[int]]]] = {text: [] for text in self._fields}
        self._joined: list[tuple[int, Several]] = []
        for k, family in enumerate(templates.values()):
            for join in family:
                if join.later:
                    self._joined.append((k, join))
                else:
                    self._alone[join.texts[0]].append((k, join.first))
        self._shapes: dict[str, WordFacts] = {}

    def read(self, words: Sequence[str]) -> list[WordFacts]:
        """Ask every field about words."""
        shapes, met = full_shapes(words), self._shapes
        unknown = [shape for shape in dict.fromkeys(shapes) if shape not in met]
        if unknown:
            if len(met) + len(unknown) > MOST:
                met, unknown = {}, [*dict.fromkeys(shapes)]
            met.update(zip(unknown, self._ask(unknown, via_shape=True), strict=True))
            self._shapes = met
        own = self._ask(words, via_shape=False)
        return [self._together(word, met[shape], facts) for word, shape, facts in zip(words, shapes, own, strict=True)]

    def _ask(self, strings: Sequence[str], *, via_shape: bool) -> list[WordFacts]:
        """Ask the fields of shapes about shapes, or all others about words."""
        found = [WordFacts({}, {}, [[] for _ in self.offsets], 0) for _ in strings]
        for text, (field, known) in self._fields.items():
            if field.via_shape is not via_shape:
                continue
            get, alone = known.get, self._alone[text]
            for row, facts in zip(field.of_words(strings), found, strict=True):
                if row:
                    facts.values[text] = tuple(row)
                    facts.numbers[text] = numbers = [number for value in row if (number := get(value)) is not None]
                    for number in numbers:
                        for k, first in alone:
                            if first[number] >= 0:
                                facts.rows[k].append(first[number])
        return found

    def _together(self, word: str, shape: WordFacts, own: WordFacts) -> WordFacts:
        """Return what a word says through its shape and by itself."""
        numbers = {**shape.numbers, **own.numbers}
        rows = [a + b for a, b in zip(shape.rows, own.rows, strict=True)]
        for k, join in self._joined:
            rows[k] += join.attributes([numbers.get(text, ()) for text in join.texts])
        return WordFacts({**shape.values, **own.values}, numbers, rows, signs_of_word(word))

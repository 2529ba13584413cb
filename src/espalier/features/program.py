"""Templates as arrays of integers, for the kernel that reads one short text (`kernels.reading`).

    markers        attribute, offset
    places         what, parameter, offset, table       quoted, bracketed, edge, position, before(F), after(F)
    stretches      unit, what, shift, column, table     chunk(F), sentencefirst-1(F), chunkindex, chunklength
    conjunctions   first part, stop part, attribute     of fields of the word type; each part:
                   column, offset, size, first key, stop key

A column is a field of the word type with its values numbered. A table lists the attribute of each number of a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from espalier.features.fields import LENGTH_BINS, Edge, FeatureField, Part, Position, Template, length_names
from espalier.features.single import WordFacts
from espalier.features.spans import MOST, Beyond, Bracketed, Measure, Quoted, Within, WordSign

__all__ = ["TextProgram"]

Ints = NDArray[np.int64]
Values = Mapping[str, Sequence[str]]
Row = tuple[int, ...]

_PLACES = {Quoted: 0, Bracketed: 1, Edge: 2, Position: 3}  # numbers: see `kernels.reading`
_SIDES = {"before": 4, "after": 5}
_WHICH = {"all": 0, "first": 1, "last": 2, "index": 3, "length": 4}
_UNITS = ("chunk", "sentence")
_MARKS = ("CHUNK", "SENTENCE", "BARE", "STOP", "ABBREVIATED", "QUOTE", "OPENING", "CLOSING")


class TextProgram:
    """The templates of an index that do not look at one word alone; arrays : what the kernel reads."""

    def __init__(
        self, templates: Sequence[Template], values: Values, joins: Sequence[Sequence[Ints]], markers: Sequence[int]
    ) -> None:
        """Write down templates that `reads` takes."""
        self._columns: dict[tuple[str, bool], dict[str, int]] = {}
        self._tables: list[int] = []
        self._places: list[Row] = []
        self._stretches: list[Row] = []
        self._conjunctions: list[Row] = []
        self._parts: list[Row] = []
        self._keys: list[Ints] = [np.zeros(0, np.int64)]
        self._number_inner(templates, values)
        starts = list(accumulate((len(keys[-1]) for keys in joins), initial=0))
        for template, keys, start in zip(templates, joins, starts[:-1], strict=True):
            if len(template.parts) > 1 and not template.of_type:
                self._add_conjunction(template, values, keys, start)
            elif not template.of_type:
                kept = values[template.parts[0].field.text]
                attribute = {kept[key]: start + place for place, key in enumerate(keys[0].tolist())}
                self._add_alone(template.parts[0], attribute)
        marks = [int(WordSign[name]) for name in _MARKS]
        self.arrays = (
            _rows([*enumerate(markers, start=starts[-1])], 2), _rows(self._places, 4), _rows(self._stretches, 5),
            _rows(self._conjunctions, 3), np.array(marks, np.int64), np.array(self._tables, np.int64),
            _rows(self._parts, 5), np.concatenate(self._keys), np.array(LENGTH_BINS, np.int64),
        )  # fmt: skip

    def _add_conjunction(self, template: Template, values: Values, joins: Sequence[Ints], start: int) -> None:
        """Write down a template of several parts."""
        first = len(self._parts)
        for part, keys in zip(template.parts, joins, strict=True):
            at, text = sum(map(len, self._keys)), part.field.text
            self._columns.setdefault((text, False), {})  # the index has numbered its values
            column = [*self._columns].index((text, False))
            self._parts.append((column, part.offset, len(values[text]) + 1, at, at + len(keys)))
            self._keys.append(keys)
        self._conjunctions.append((first, len(self._parts), start))

    def _add_alone(self, part: Part, attribute: Mapping[str, int]) -> None:
        """Write down a template of one part; attribute : that of each value."""
        field, table = part.field, len(self._tables)
        self._tables += (attribute.get(value, -1) for value in self._domain(field))
        if isinstance(field, Within):
            which = _WHICH[field.which]
            self._stretches.append((_UNITS.index(field.unit), which, field.shift, self._inner(field.field), table))
        elif isinstance(field, Measure):
            self._stretches.append((_UNITS.index(field.unit), _WHICH[field.what], 0, MOST, table))
        elif isinstance(field, Beyond):
            self._places.append((_SIDES[field.side], self._inner(field.field), part.offset, table))
        else:
            bins = field.bins if isinstance(field, Position) else 0
            self._places.append((_PLACES[type(field)], bins, part.offset, table))

    @staticmethod
    def reads(templates: Iterable[Template]) -> bool:
        """Are they all of a kind that has rows here?"""
        return all(template.of_type or _has_row(template) for template in templates)

    @property
    def n_columns(self) -> int:
        """C."""
        return len(self._columns)

    def code(self, word: WordFacts) -> NDArray[np.int32]:
        """Return the codes of a word (see `kernels.reading`)."""
        numbers: list[int] = []
        ends = []
        for (text, inner), known in self._columns.items():
            if inner:
                numbers += [number for value in word.values.get(text, ()) if (number := known.get(value)) is not None]
            else:
                numbers += word.numbers.get(text, ())
            ends.append(len(numbers))
        return np.array([word.signs, *ends, *numbers], np.int32)

    def _number_inner(self, templates: Iterable[Template], values: Values) -> None:
        """Number the values of fields that others look at: what any of these has kept."""
        for template in templates:
            for part in template.parts:
                for inner in part.field.within():
                    known = self._columns.setdefault((inner.text, True), {})
                    for value in values[part.field.text]:
                        known.setdefault(value, len(known))

    def _inner(self, field: FeatureField) -> int:
        return [*self._columns].index((field.text, True))

    def _domain(self, field: FeatureField) -> Iterable[str]:
        """Return all values that a field may have, by their numbers."""
        if isinstance(field, Within | Beyond):
            return self._columns[field.field.text, True]
        if isinstance(field, Measure):
            return [*map(str, range(MOST)), f"{MOST}+"] if field.what == "index" else length_names()
        if isinstance(field, Position):
            return map(str, range(field.bins))
        return ("first", "last") if isinstance(field, Edge) else ("",)


def _has_row(template: Template) -> bool:
    """Is it of a kind that has rows?"""
    if len(template.parts) > 1:
        return template.offset is None and all(part.field.of_type for part in template.parts)
    field = template.parts[0].field
    if isinstance(field, Within | Measure):
        return template.offset == 0
    return type(field) in _PLACES or isinstance(field, Beyond)


def _rows(rows: Sequence[Row], width: int) -> Ints:
    return np.array(rows, np.int64).reshape(-1, width)

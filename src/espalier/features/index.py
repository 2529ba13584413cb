"""`FeatureIndex`: the attributes that training kept, locked, and the matrix that they make of any corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.features.assemble import assemble
from espalier.features.columns import Column, Places
from espalier.features.joins import fields_of, join, locked, names_of
from espalier.features.matrix import FeatureMatrix
from espalier.features.memory import TypeMemory
from espalier.features.named import NamedField
from espalier.features.single import LONGEST, SingleIndex
from espalier.features.state import pack, unpack
from espalier.features.templates import Field, Template, marker
from espalier.features.view import View
from espalier.lazy import cached_property

__all__ = ["FeatureIndex"]

Ints = NDArray[np.int64]


class _Plan(NamedTuple):
    """What is the same for every corpus: the fields that no memory knows; and of each template, where its numbers are
    (None: the memory knows), its family, and how many attributes it has."""

    fields: tuple[Field, ...]
    places: tuple[Callable[[int, Column], Places] | None, ...]
    kinds: tuple[tuple[str, int] | None, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class FeatureIndex:
    """The attributes of a set of templates, locked: values that training did not keep are ignored.

    Attributes
    ----------
    templates, min_count : of the extractor.
    values : for each field (by its text) the values kept; a value's number is its place.
    joins : for each template, int64 arrays, one a part (see `espalier.features.joins`).
    markers : the offsets whose marker is an attribute; their attributes come after those of all templates.
    """

    templates: tuple[Template, ...]
    min_count: int
    values: Mapping[str, tuple[str, ...]]
    joins: tuple[tuple[Ints, ...], ...]
    markers: tuple[int, ...]

    @property
    def n_attributes(self) -> int:
        """A."""
        return sum(len(joins[-1]) for joins in self.joins) + len(self.markers)

    def transform(self, corpus: Corpus) -> FeatureMatrix:
        """Return the matrix of a corpus, int32 references to A attributes."""
        if len(corpus) == 1 and 0 < corpus.n_tokens <= LONGEST and self._single is not None:
            return self._single.transform(corpus)
        view = View(corpus, self._memory.recall)
        columns = {}
        for field in self._plan.fields:
            raw = view.raw(field)
            columns[field.text] = raw.column.mapped(self._numbers_of(field, raw.values))
        attributes = [
            None if places is None else join(template, view, columns, self.values, places)
            for template, places in zip(self.templates, self._plan.places, strict=True)
        ]
        return assemble(view, self._plan.kinds, attributes, self._plan.sizes, self.markers)

    def _numbers_of(self, field: Field, values: Sequence[str]) -> Ints:
        """Return the number of each value of a field, -1 where training did not keep it."""
        kept, place = self.values[field.text], self._memory.place_of(values)
        if place is None:
            known = {value: k for k, value in enumerate(kept)}
            return np.fromiter((known.get(value, -1) for value in values), np.int64, len(values))
        if field.text not in self._tables:  # the memory's values stay as they are
            numbers = np.full(len(values), -1)
            numbers[[place[value] for value in kept]] = np.arange(len(kept))
            self._tables[field.text] = numbers
        return self._tables[field.text]

    def names(self) -> tuple[str, ...]:
        """Return the name of each attribute, such as `lower@-1=the`; made on first use."""
        return self._names

    def to_state(self) -> dict[str, Any]:
        """Return everything as arrays and one JSON-able value (see `espalier.features.state`)."""
        return pack(self.templates, self.min_count, self.values, self.joins, self.markers)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *, functions: Iterable[NamedField] = ()) -> FeatureIndex:
        """Return the index that `to_state` described; `functions` brings back the `Call`s, which no file holds."""
        return cls(*unpack(state, functions))

    @cached_property
    def _plan(self) -> _Plan:
        both = list(zip(self.templates, self.joins, strict=True))
        return _Plan(
            tuple(fields_of(template for template in self.templates if not template.of_type)),
            tuple(None if template.of_type else locked(joins) for template, joins in both),
            tuple(template.family for template in self.templates),
            tuple(len(joins[-1]) for joins in self.joins),
        )

    @cached_property
    def _memory(self) -> TypeMemory:
        return TypeMemory(self.templates, self.values, self.joins)

    @cached_property
    def _single(self) -> SingleIndex | None:
        if not SingleIndex.reads(self.templates):
            return None
        return SingleIndex(self.templates, self.values, self.joins, self.markers)

    @cached_property
    def _tables(self) -> dict[str, Ints]:
        return {}

    @cached_property
    def _names(self) -> tuple[str, ...]:
        names: list[str] = []
        for template, joins in zip(self.templates, self.joins, strict=True):
            names += names_of(template, joins, self.values)
        return tuple(names + [marker(offset) for offset in self.markers])

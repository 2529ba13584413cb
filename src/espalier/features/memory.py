"""`TypeMemory`: what a locked set of templates says of a word type, worked out once in the life of the index.

A word costs string operations and look-ups, dozens of them, and the commonest words come again in every corpus. So the
memory keeps, for every type that it was asked about, the attributes that it brings to each *family* of templates: to
those that look at the word at one offset, and to those that gather what words say from one place (`chunk-1`,
`before`). It keeps the values of the fields that other templates look up type by type, too. Of these it numbers only
values that some template knows; the others would be dropped in the end. Cost: Python a new type and field, one look-up
a known type; about 500 bytes a type, and after `MOST` types it starts again with nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import accumulate
from threading import Lock
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from espalier.features.fields import FeatureField, Template, all_fields, fields_of
from espalier.features.matrix import Column, Laid, Places, Raw, stack
from espalier.features.view import Family, TypeValues, join

__all__ = ["Recalled", "TypeMemory"]

Ints = NDArray[np.int64]

MOST = 50_000
"""Types that are kept."""

# Module state, on purpose: a forked child has to find the memories whose lock a thread of its parent may have held.
_memories: WeakSet[TypeMemory] = WeakSet()


class Recalled(TypeValues):
    """U word types as a memory knows them."""

    def __init__(
        self, types: tuple[str, ...], rows: Ints, raws: Mapping[str, Raw], families: Mapping[Family, Column]
    ) -> None:
        """Take what the memory holds of these types."""
        super().__init__(types)
        self.rows, self._raws, self.families = rows, raws, families

    def raw(self, field: FeatureField) -> Raw:
        """Return the values of a field, a row for each type: those that some template knows."""
        values, column = self._raws[field.text]
        return Raw(values, column.take(self.rows))


class TypeMemory:
    """Rows for word types, by templates, values and joins of a `FeatureIndex`; several threads may share one."""

    def __init__(
        self,
        templates: Sequence[Template],
        values: Mapping[str, Sequence[str]],
        joins: Sequence[Sequence[Ints]],
    ) -> None:
        """Find out which fields have to be kept, and which of their values."""
        self._parts = (templates, values, joins)
        self._lock = Lock()
        self._start = [0, *accumulate(len(keys[-1]) for keys in joins)]
        others = all_fields(template for template in templates if not template.of_type)
        looked_up = all_fields(t for t in templates if not t.of_type and t.gathers is None)
        self._kept = [field for field in looked_up if field.of_type]
        own = [t.parts[0].field.within()[0] if t.gathers else None for t in templates]
        inner = [field for field in own if field is not None]
        of_type = fields_of(template for template in templates if template.of_type)
        self._fields = list({field.text: field for field in [*self._kept, *of_type, *inner]}.values())
        self._values = {field.text: tuple(_known(field, others, values)) for field in self._fields}
        self._numbers = {text: {v: k for k, v in enumerate(known)} for text, known in self._values.items()}
        self._families: dict[Family, list[int]] = {}
        self._places: dict[int, Sequence[Places]] = {}
        self._tables: dict[int, tuple[str, Ints]] = {}
        for k, (template, keys, field) in enumerate(zip(templates, joins, own, strict=True)):
            family: Family | None = (template.offset or 0) if template.of_type else template.gathers
            if family is None:
                continue
            self._families.setdefault(family, []).append(k)
            if len(template.parts) > 1:
                self._places[k] = tuple(map(Places, keys))
                continue
            outer = template.parts[0].field
            text = outer.text if field is None else field.text
            kept, numbers = values[outer.text], self._numbers[text]
            table = np.full(len(numbers), -1)
            table[[numbers[kept[key]] for key in keys[0].tolist()]] = self._start[k] + np.arange(len(keys[0]))
            self._tables[k] = text, table
        self._forget()
        _memories.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy what it is made of, not what it remembers."""
        return TypeMemory, self._parts

    def start_afresh(self) -> None:
        """Take a new lock and forget: a forked child may inherit a lock that nobody will release, and half a row."""
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self._number: dict[str, int] = {}
        self._rows: dict[Family, _Rows] = {family: _Rows() for family in self._families}
        self._raws = {field.text: _Rows() for field in self._kept}
        self._note_columns()

    def _note_columns(self) -> None:
        """Make columns of all rows so far."""
        self._columns = {family: kept.column() for family, kept in self._rows.items()}
        self._values_of = {text: Raw(self._values[text], kept.column()) for text, kept in self._raws.items()}

    def recall(self, types: tuple[str, ...]) -> Recalled:
        """Return what the templates say of these types, which are all different."""
        with self._lock:
            new = tuple(word for word in types if word not in self._number)
            if len(self._number) + len(new) > MOST:
                self._forget()
                new = types
            if new:
                self._learn(new)
            rows = np.fromiter(map(self._number.__getitem__, types), np.int64, len(types))
            return Recalled(types, rows, self._values_of, self._columns)

    def _learn(self, words: tuple[str, ...]) -> None:
        """Append the rows of new words; all are computed before any is kept."""
        given = TypeValues(words)
        columns = {field.text: given.numbered(field, self._numbers[field.text]) for field in self._fields}
        new = {}
        for family, several in self._families.items():
            new[family] = stack([self._brought(k, columns) for k in several], len(words))
        for family, column in new.items():
            self._rows[family].append(column)
        for text, kept in self._raws.items():
            kept.append(columns[text])
        self._note_columns()
        self._number.update(zip(words, range(len(self._number), len(self._number) + len(words)), strict=True))

    def _brought(self, k: int, columns: Mapping[str, Column]) -> Laid:
        """Return the attributes of template k that words bring; columns : the numbers of the values of each field."""
        if k in self._tables:
            text, table = self._tables[k]
            return Laid(columns[text], None, 0, table)
        templates, values, _ = self._parts
        own = {field.text: self._own(field.text, columns[field.text]) for field in fields_of(templates[k : k + 1])}
        n_words = next(iter(own.values())).n_rows
        return Laid(join(templates[k], None, own, values, self._places[k], n_words), None, self._start[k])

    def _own(self, text: str, column: Column) -> Column:
        """Return the column without the values that only other fields know."""
        n, own = len(self._values[text]), len(self._parts[1].get(text, ()))
        return column if n == own else column.mapped(np.where(np.arange(n) < own, np.arange(n), -1))


class _Rows:
    """A column that grows at the end: its arrays have room to spare, and double when that is used up."""

    def __init__(self) -> None:
        self._indptr, self._n_rows = np.zeros(1, np.int64), 0
        self._ids, self._weights = np.zeros(0, np.int64), np.zeros(0)
        self._weighted = False

    def append(self, column: Column) -> None:
        """Add the rows of a column at the end."""
        a, n = int(self._indptr[self._n_rows]), self._n_rows
        b, stop = a + len(column.ids), n + column.n_rows
        self._indptr = _with_room(self._indptr, stop + 1)
        self._indptr[n + 1 : stop + 1] = a + column.indptr[1:]
        self._ids = _with_room(self._ids, b)
        self._ids[a:b] = column.ids
        if column.weights is not None and not self._weighted:
            self._weights, self._weighted = np.ones(len(self._ids)), True
        if self._weighted:
            self._weights = _with_room(self._weights, b)
            self._weights[a:b] = 1.0 if column.weights is None else column.weights
        self._n_rows = stop

    def column(self) -> Column:
        """Return all rows so far; what is appended later is not in it."""
        n = int(self._indptr[self._n_rows])
        return Column(self._indptr[: self._n_rows + 1], self._ids[:n], self._weights[:n] if self._weighted else None)


def _with_room(array: NDArray[Any], n: int) -> NDArray[Any]:
    """Return the array, or a longer copy if it has less than n places."""
    if len(array) >= n:
        return array
    longer = np.empty(max(n, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


def _known(field: FeatureField, others: Sequence[FeatureField], values: Mapping[str, Sequence[str]]) -> dict[str, None]:
    """Return the values of a field that a template knows: first its own, then those of the fields it stands in."""
    known = dict.fromkeys(values.get(field.text, ()))
    for outer in others:
        if any(inner.text == field.text for inner in outer.within()):
            known |= _known(outer, others, values)
    return known


def _start_afresh() -> None:
    for memory in _memories:
        memory.start_afresh()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)

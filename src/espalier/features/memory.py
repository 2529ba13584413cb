"""`TypeMemory`: what a locked set of templates says of a word type, worked out once in the life of the index.

A word costs string operations and look-ups, dozens of them, and the commonest words come again in every corpus. So the
memory keeps, for every type that it was asked about, the attributes that the templates of each offset give to it, and
the values of the fields that other templates look up type by type. Of these it numbers only values that some template
knows; the others would be dropped in the end. Cost: Python a new type and field, one look-up a known type; about 300
bytes a type, and after `MOST` types it starts again with nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from espalier.features.extract import TypeValues, join, locked
from espalier.features.fields import FeatureField, Template, all_fields, fields_of
from espalier.features.matrix import Column, Raw, ranges, stack

__all__ = ["Recalled", "TypeMemory"]

Ints = NDArray[np.int64]

MOST = 50_000
"""Types that are kept."""

# Module state, on purpose: a forked child has to find the memories whose lock a thread of its parent may have held.
_memories: WeakSet[TypeMemory] = WeakSet()


class Recalled(TypeValues):
    """U word types as a memory knows them."""

    def __init__(self, types: tuple[str, ...], raws: Mapping[str, Raw], families: Mapping[int, Column]) -> None:
        """Take what the memory holds of these types."""
        super().__init__(types)
        self._raws = raws
        self.families = families

    def raw(self, field: FeatureField) -> Raw:
        """Return the values of a field, a row for each type: those that some template knows."""
        return self._raws[field.text]


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
        self._of_type = [template for template in templates if template.of_type]
        self._places = {k: locked(joins[k]) for k, template in enumerate(templates) if template.of_type}
        others = all_fields(template for template in templates if not template.of_type)
        self._kept = [field for field in others if field.of_type]
        fields = {field.text: field for field in [*self._kept, *fields_of(self._of_type)]}
        self._fields = list(fields.values())
        self._values = {text: tuple(_known(field, others, values)) for text, field in fields.items()}
        self._numbers = {text: {v: k for k, v in enumerate(known)} for text, known in self._values.items()}
        self._start = np.append(0, np.cumsum([len(keys[-1]) for keys in joins])).tolist()
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
        self._rows: dict[str | int, _Rows] = {field.text: _Rows() for field in self._kept}
        self._rows |= {template.offset or 0: _Rows() for template in self._of_type}

    def place_of(self, values: Sequence[str]) -> Mapping[str, int] | None:
        """Return the places of values that this memory gave out; None if they are somebody else's."""
        return next((self._numbers[text] for text, own in self._values.items() if own is values), None)

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
            found = {key: kept.take(rows) for key, kept in self._rows.items()}
        raws = {field.text: Raw(self._values[field.text], found[field.text]) for field in self._kept}
        return Recalled(types, raws, {offset: found[offset] for offset in found if isinstance(offset, int)})

    def _learn(self, words: tuple[str, ...]) -> None:
        """Append the rows of new words; all are computed before any is kept."""
        given = TypeValues(words)
        columns = {field.text: given.numbered(field, self._numbers[field.text]) for field in self._fields}
        new: dict[str | int, Column] = {field.text: columns[field.text] for field in self._kept}
        new |= self._families({text: self._own(text, column) for text, column in columns.items()}, len(words))
        for key, column in new.items():
            self._rows[key].append(column)
        self._number.update(zip(words, range(len(self._number), len(self._number) + len(words)), strict=True))

    def _own(self, text: str, column: Column) -> Column:
        """Return the column without the values that only other fields know."""
        n, own = len(self._values[text]), len(self._parts[1].get(text, ()))
        return column if n == own else column.mapped(np.where(np.arange(n) < own, np.arange(n), -1))

    def _families(self, columns: Mapping[str, Column], n_rows: int) -> dict[str | int, Column]:
        """Return the attributes of new words at each offset."""
        templates, values, _ = self._parts
        families: dict[int, list[Column]] = {}
        for k, template in enumerate(templates):
            if template.of_type:
                found = join(template, None, columns, values, self._places[k])
                numbered = Column(found.indptr, found.ids + self._start[k], found.weights)
                families.setdefault(template.offset or 0, []).append(numbered)
        return {offset: stack(family, n_rows) for offset, family in families.items()}


class _Rows:
    """A column that grows at the end: its arrays have room to spare, and double when that is used up."""

    def __init__(self) -> None:
        self._indptr, self._n_rows = np.zeros(1, np.int64), 0
        self._ids, self._weights = np.zeros(0, np.int32), np.zeros(0)
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

    def take(self, rows: Ints) -> Column:
        """Return these rows."""
        starts = self._indptr[rows]
        lengths = self._indptr[rows + 1] - starts
        entries = ranges(starts, lengths)
        weights = self._weights[entries] if self._weighted else None
        return Column(np.append(0, np.cumsum(lengths)), self._ids[entries].astype(np.int64), weights)


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

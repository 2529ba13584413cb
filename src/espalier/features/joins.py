"""Joins: how the values of a template's parts become attributes.

Number the values of a field 0..V-1, and V for the marker beyond the sequence. The first join of a template lists the
kept values of its first part; the place of a value there is its number i. The next join lists the kept
i * (V + 1) + j, for the values j of the second part, and so on; places in the last join are the attributes. Two
numbers at a time, so that a conjunction of many parts cannot overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from espalier.features.columns import Column, Places, cross
from espalier.features.templates import Field, Part, Template
from espalier.features.view import View

__all__ = ["all_fields", "fields_of", "join", "locked", "names_of"]

Ints = NDArray[np.int64]


def fields_of(templates: Iterable[Template]) -> list[Field]:
    """Return the fields of the templates, each once, in order of appearance."""
    return list({part.field.text: part.field for template in templates for part in template.parts}.values())


def all_fields(templates: Iterable[Template]) -> list[Field]:
    """Return the fields of the templates and those within them, each once, outer ones first."""
    found: dict[int, Field] = {}
    waiting: list[Field] = fields_of(templates)
    while waiting:
        field = waiting.pop(0)
        found.setdefault(id(field), field)
        waiting += field.within()
    return list(found.values())


def join(
    template: Template,
    view: View | None,
    columns: Mapping[str, Column],
    values: Mapping[str, Sequence[str]],
    places: Callable[[int, Column], Places],
) -> Column:
    """Return the attributes of a template, numbered from 0: a row for each type or stretch (`family`), or each token.

    `places(k, column)` is the join of part k, given the numbers that would be looked up in it. A template of a family
    asks for no view.
    """
    joined: Column | None = None
    own = template.family is not None
    marked = template.offset is None
    for k, part in enumerate(template.parts):
        column = columns[part.field.text]
        if not own:
            assert view is not None
            outside = len(values[part.field.text]) if marked else -1
            column = column.take(view.rows_at(part.field, part.offset), outside=outside)
        joined = column if joined is None else cross(joined, column, len(values[part.field.text]) + 1)
        joined = joined.located(places(k, joined))
    assert joined is not None  # a template has at least one part
    return joined


def locked(joins: Sequence[Ints]) -> Callable[[int, Column], Places]:
    """Return the places of joins that are known, for `join`."""
    return partial(_place, tuple(map(Places, joins)))


def _place(places: Sequence[Places], k: int, _: Column) -> Places:
    return places[k]


def names_of(template: Template, joins: Sequence[Ints], values: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of the attributes of a template, undoing its joins from the last to the first."""
    parts: list[list[str]] = []
    place = np.arange(len(joins[-1]))
    for k in range(len(joins) - 1, -1, -1):
        known = values[template.parts[k].field.text]
        place, value = np.divmod(joins[k][place], len(known) + 1) if k else (place, joins[0][place])
        parts.append(_part_names(template.parts[k], known, value))
    return [" & ".join(reversed(several)) for several in zip(*parts, strict=True)]


def _part_names(part: Part, values: Sequence[str], numbers: Ints) -> list[str]:
    """Return the names of values of a part; the number behind the last is the marker."""
    return [part.name(values[v] if v < len(values) else None) for v in numbers.tolist()]

"""A corpus as the templates see it (`View`), and how the values of a template's parts become attributes (joins).

Number the values of a field 0..V-1, and V for the marker beyond the sequence. The first join of a template lists the
kept values of its first part; the place of a value there is its number i. The next join lists the kept
i * (V + 1) + j, for the values j of the second part, and so on; places in the last join are the attributes. Two
numbers at a time, so that a conjunction of many parts cannot overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.features.columns import Column, Places, Raw, cross, intern
from espalier.features.fields import full_shapes
from espalier.features.stretches import Stretches, signs_of
from espalier.features.templates import FeatureField, Part, Template
from espalier.lazy import cached_property

__all__ = ["TypeValues", "View", "join", "locked", "names_of"]

Ints = NDArray[np.int64]


class TypeValues:
    """U word types, and the values that fields of the type give to them.

    families : for each offset the attributes of all templates of the type there, laid side by side and numbered to the
    end, a row for each type; empty if nobody knows them yet.
    """

    def __init__(self, types: tuple[str, ...]) -> None:
        """Take distinct words."""
        self.types = types
        self.families: Mapping[int, Column] = {}

    def raw(self, field: FeatureField) -> Raw:
        """Return the values of a field, a row for each type."""
        if not field.via_shape:
            return field.by_type(self.types)
        values, column = field.by_type(self._shapes.values)
        return Raw(values, column.take(self._shapes.column.ids))

    def numbered(self, field: FeatureField, known: Mapping[str, int]) -> Column:
        """Return the numbers of the known values of a field, a row for each type."""
        if not field.via_shape:
            return field.numbered(self.types, known)
        return field.numbered(self._shapes.values, known).take(self._shapes.column.ids)

    @cached_property
    def _shapes(self) -> Raw:
        """The distinct full shapes, and the shape of each type."""
        return intern(full_shapes(self.types))


class View:
    """M tokens of U word types, all of which occur.

    Attributes
    ----------
    corpus : the corpus without the types that do not occur in it (a slice of a corpus keeps them), labels, documents.
    """

    def __init__(self, corpus: Corpus, of_types: Callable[[tuple[str, ...]], TypeValues] = TypeValues) -> None:
        """Renumber the types that occur; `of_types` says what gives them their values."""
        used = np.flatnonzero(np.bincount(corpus.token_ids, minlength=len(corpus.types)))
        types, ids = corpus.types, corpus.token_ids
        if len(used) < len(types):
            number = np.empty(len(types), np.int32)
            number[used] = np.arange(len(used))
            types, ids = tuple(types[k] for k in used.tolist()), number[ids]
        self.corpus = replace(corpus, token_ids=ids, types=types, y=None, labels=None, documents=None)
        self.of_types = of_types(types)
        lengths = self.corpus.lengths
        self._left = np.arange(corpus.n_tokens) - np.repeat(corpus.indptr[:-1], lengths)  # tokens before, int64[M]
        self._right = np.repeat(lengths, lengths) - 1 - self._left  # tokens after, int64[M]
        self._tokens_at: dict[int, Ints] = {}
        self._types_at: dict[int, Ints] = {}
        self._raw: dict[str, Raw] = {}
        self._stretches: dict[str, Stretches] = {}
        self._united: dict[tuple[str, str], Column] = {}

    @property
    def n_types(self) -> int:
        """U."""
        return len(self.corpus.types)

    def tokens_at(self, offset: int) -> Ints:
        """Return which token stands at the offset from each token, -1 outside the sequence, int64[M]."""
        if offset not in self._tokens_at:
            inside = self._left >= -offset if offset < 0 else self._right >= offset
            self._tokens_at[offset] = np.where(inside, np.arange(self.corpus.n_tokens) + offset, -1)
        return self._tokens_at[offset]

    def types_at(self, offset: int) -> Ints:
        """Return the type of the token at the offset from each token, -1 outside the sequence, int64[M]."""
        if offset not in self._types_at:
            self._types_at[offset] = np.append(self.corpus.token_ids, -1)[self.tokens_at(offset)]
        return self._types_at[offset]

    def rows_at(self, field: FeatureField, offset: int) -> Ints:
        """Return which row of a field's values the token at the offset has, -1 outside the sequence, int64[M]."""
        return self.members("type" if field.of_type else field.stretch or "token", offset)

    def members(self, kind: str, offset: int = 0) -> Ints:
        """Return the "type", the stretch of a kind or the "token" at the offset, -1 outside the sequence, int64[M]."""
        if kind == "type":
            return self.types_at(offset)
        tokens = self.tokens_at(offset)
        if kind == "token":
            return tokens
        of_token = self.stretches(kind).of_token
        return of_token if offset == 0 else np.append(of_token, -1)[tokens]

    def uses(self, family: tuple[str, int] | None) -> Ints | None:
        """Return how many tokens have each type at an offset, or are in each stretch; None is one for each token."""
        if family is None:
            return None
        kind, offset = family
        n_rows = self.n_types if kind == "type" else len(self.stretches(kind).first)
        return np.bincount(self.members(kind, offset) + 1, minlength=n_rows + 1)[1:]

    def raw(self, field: FeatureField) -> Raw:
        """Return the values of a field: a row for each type, stretch or token, whichever it is a field of.

        They are computed once: a field may stand in others, too. One text is one field (the extractor checks that).
        """
        if field.text not in self._raw:
            self._raw[field.text] = self.of_types.raw(field) if field.of_type else field.by_view(self)
        return self._raw[field.text]

    def of_tokens(self, field: FeatureField) -> Column:
        """Return the values of a field, numbered as in `raw`, with a row for each token."""
        column = self.raw(field).column
        return column if not field.of_type and field.stretch is None else column.take(self.rows_at(field, 0))

    @cached_property
    def signs(self) -> NDArray[np.uint8]:
        """What each token is to the text around it (`stretches.Sign`), uint8[M]."""
        return signs_of(self.corpus.types)[self.corpus.token_ids]

    def stretches(self, kind: str) -> Stretches:
        """Return the stretches of a kind, "chunk" or "sentence", computed once."""
        if kind not in self._stretches:
            self._stretches[kind] = Stretches.of(self.corpus, kind, self.signs)
        return self._stretches[kind]

    def united(self, kind: str, field: FeatureField, unite: Callable[[Column, Stretches, int], Column]) -> Column:
        """Return what `unite` makes of a field's values on tokens: a row for each stretch of a kind, computed once."""
        if (kind, field.text) not in self._united:
            raw = self.raw(field)
            self._united[kind, field.text] = unite(self.of_tokens(field), self.stretches(kind), max(len(raw.values), 1))
        return self._united[kind, field.text]


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

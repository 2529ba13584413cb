"""`View`: a corpus as the templates see it: distinct words, neighbours at an offset, raw values of each field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.features.columns import Column
from espalier.features.fields import full_shapes
from espalier.features.stretches import Stretches, signs_of
from espalier.features.templates import Field
from espalier.features.values import Raw, intern
from espalier.lazy import cached_property

__all__ = ["TypeValues", "View"]

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

    def raw(self, field: Field) -> Raw:
        """Return the values of a field, a row for each type."""
        if not field.via_shape:
            return field.by_type(self.types)
        values, column = field.by_type(self._shapes.values)
        return Raw(values, column.take(self._shapes.column.ids))

    def numbered(self, field: Field, known: Mapping[str, int]) -> Column:
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

    def rows_at(self, field: Field, offset: int) -> Ints:
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

    def raw(self, field: Field) -> Raw:
        """Return the values of a field: a row for each type, stretch or token, whichever it is a field of.

        They are computed once: a field may stand in others, too. One text is one field (the extractor checks that).
        """
        if field.text not in self._raw:
            self._raw[field.text] = self.of_types.raw(field) if field.of_type else field.by_view(self)
        return self._raw[field.text]

    def of_tokens(self, field: Field) -> Column:
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

    def united(self, kind: str, field: Field, unite: Callable[[Column, Stretches, int], Column]) -> Column:
        """Return what `unite` makes of a field's values on tokens: a row for each stretch of a kind, computed once."""
        if (kind, field.text) not in self._united:
            raw = self.raw(field)
            self._united[kind, field.text] = unite(self.of_tokens(field), self.stretches(kind), max(len(raw.values), 1))
        return self._united[kind, field.text]

"""`View`: a corpus as the templates see it: distinct words, neighbours at an offset, raw values of each field."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.features.fields import full_shapes
from espalier.features.stretches import Stretches
from espalier.features.templates import Field
from espalier.features.values import Raw, intern

__all__ = ["View"]

Ints = NDArray[np.int64]


class View:
    """M tokens of U word types, all of which occur.

    Attributes
    ----------
    corpus : the corpus without the types that do not occur in it (a slice of a corpus keeps them), labels, documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Renumber the types that occur."""
        used = np.flatnonzero(np.bincount(corpus.token_ids, minlength=len(corpus.types)))
        number = np.empty(len(corpus.types), np.int32)
        number[used] = np.arange(len(used))
        types = tuple(corpus.types[k] for k in used.tolist())
        self.corpus = replace(
            corpus, token_ids=number[corpus.token_ids], types=types, y=None, labels=None, documents=None
        )
        lengths = self.corpus.lengths
        self._left = np.arange(corpus.n_tokens) - np.repeat(corpus.indptr[:-1], lengths)  # tokens before, int64[M]
        self._right = np.repeat(lengths, lengths) - 1 - self._left  # tokens after, int64[M]
        self._types_at: dict[int, Ints] = {}
        self._raw: dict[str, Raw] = {}
        self._stretches: dict[str, Stretches] = {}

    @property
    def n_types(self) -> int:
        """U."""
        return len(self.corpus.types)

    def tokens_at(self, offset: int) -> Ints:
        """Return which token stands at the offset from each token, -1 outside the sequence, int64[M]."""
        inside = self._left >= -offset if offset < 0 else self._right >= offset
        return np.where(inside, np.arange(self.corpus.n_tokens) + offset, -1)

    def types_at(self, offset: int) -> Ints:
        """Return the type of the token at the offset from each token, -1 outside the sequence, int64[M]."""
        if offset not in self._types_at:
            self._types_at[offset] = np.append(self.corpus.token_ids, -1)[self.tokens_at(offset)]
        return self._types_at[offset]

    def uses(self, offset: int) -> Ints:
        """Return how many tokens have each type at the offset, int64[U]."""
        return np.bincount(self.types_at(offset) + 1, minlength=self.n_types + 1)[1:]

    def raw(self, field: Field) -> Raw:
        """Return the values of a field: a row for each type, or for each token if it is not a field of the type.

        They are computed once: a field may stand in others, too. One text is one field (the extractor checks that).
        """
        if field.text not in self._raw:
            self._raw[field.text] = self._computed(field)
        return self._raw[field.text]

    def stretches(self, kind: str) -> Stretches:
        """Return the stretches of a kind, "chunk" or "sentence", computed once."""
        if kind not in self._stretches:
            self._stretches[kind] = Stretches.of(self.corpus, kind)
        return self._stretches[kind]

    def _computed(self, field: Field) -> Raw:
        if not field.of_type:
            return field.by_view(self)
        if not field.via_shape:
            return field.by_type(self.corpus.types)
        values, column = field.by_type(self._shapes.values)
        return Raw(values, column.take(self._shapes.column.ids))

    @cached_property
    def _shapes(self) -> Raw:
        """The distinct full shapes, and the shape of each type."""
        return intern(full_shapes(self.corpus.types))

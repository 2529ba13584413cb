"""A corpus as templates see it (`View`), and how their attributes become its matrix (`join`, `assemble`).

What depends on a word type alone is computed once a type, what depends on a stretch of text once a stretch. All such
templates of one offset or kind form a family; the attributes that a family gives to one type or stretch are one bundle
of the matrix, and a token refers to the bundles of the types at those offsets and of its stretches. Everything else is
an operation over all tokens at once. Cost: Python per type and field, array operations per token and template.

How the values of a template's parts become attributes (joins): number the values of a field 0..V-1, and V for the
marker beyond the sequence. The first join of a template lists the kept values of its first part; the place of a value
there is its number i. The next join lists the kept i * (V + 1) + j, for the values j of the second part, and so on;
places in the last join are the attributes. Two numbers at a time, so that a conjunction of many parts cannot overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.features.fields import FeatureField, Part, Template, full_shapes
from espalier.features.matrix import Column, FeatureMatrix, Laid, Places, Raw, cross, intern, lay, pile, stack
from espalier.features.spans import Stretches, signs_of

__all__ = ["Family", "Given", "TypeValues", "View", "assemble", "join"]

Ints = NDArray[np.int64]

Family = int | str
"""Templates for which words bring attributes: all that look at the word at an offset, or that gather from a place."""


class TypeValues:
    """U word types, and the values that fields of the type give to them.

    families : for each family the attributes that words bring to it, numbered to the end; those of type u are row
    rows[u]. Empty if nobody knows them yet.
    """

    def __init__(self, types: tuple[str, ...]) -> None:
        """Take distinct words."""
        self.types = types
        self.rows: Ints = np.arange(len(types))
        self.families: Mapping[Family, Column] = {}
        self._shapes: Raw | None = None

    def raw(self, field: FeatureField) -> Raw:
        """Return the values of a field, a row for each type."""
        if not field.via_shape:
            return field.by_type(self.types)
        shapes = self._distinct_shapes()
        values, column = field.by_type(shapes.values)
        return Raw(values, column.take(shapes.column.ids))

    def numbered(self, field: FeatureField, known: Mapping[str, int]) -> Column:
        """Return the numbers of the known values of a field, a row for each type."""
        if not field.via_shape:
            return field.numbered(self.types, known)
        shapes = self._distinct_shapes()
        return field.numbered(shapes.values, known).take(shapes.column.ids)

    def _distinct_shapes(self) -> Raw:
        """Return the distinct full shapes, and the shape of each type, computed once."""
        if self._shapes is None:
            self._shapes = intern(full_shapes(self.types))
        return self._shapes


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
        self._every = np.arange(corpus.n_tokens)
        self._ids = np.append(ids, -1).astype(np.int64)  # and what stands outside all sequences, int64[M + 1]
        self._left = self._every - np.repeat(corpus.indptr[:-1], lengths)  # tokens before, int64[M]
        self._right = np.repeat(lengths, lengths) - 1 - self._left  # tokens after, int64[M]
        self._tokens_at: dict[int, Ints] = {}
        self._types_at: dict[int, Ints] = {}
        self._raw: dict[str, Raw] = {}
        self._stretches: dict[str, Stretches] = {}
        self._united: dict[tuple[str, str], Column] = {}
        self._signs: NDArray[np.uint8] | None = None

    def tokens_at(self, offset: int) -> Ints:
        """Return which token stands at the offset from each token, -1 outside the sequence, int64[M]."""
        if offset not in self._tokens_at:
            inside = self._left >= -offset if offset < 0 else self._right >= offset
            self._tokens_at[offset] = np.where(inside, self._every + offset, -1)
        return self._tokens_at[offset]

    def types_at(self, offset: int) -> Ints:
        """Return the type of the token at the offset from each token, -1 outside the sequence, int64[M]."""
        if offset not in self._types_at:
            self._types_at[offset] = self._ids[self.tokens_at(offset)]
        return self._types_at[offset]

    def family_rows(self, offset: int) -> Ints:
        """Return which row of a family the token at the offset from each token has, -1 outside, int64[M]."""
        types = self.types_at(offset)
        return np.where(types < 0, -1, self.of_types.rows[types])

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
        return np.bincount(self.members(*family) + 1, minlength=self.n_rows(family) + 1)[1:]

    def n_rows(self, family: tuple[str, int] | None) -> int:
        """Return how many types or stretches there are; None counts the tokens."""
        if family is None:
            return self.corpus.n_tokens
        return len(self.corpus.types) if family[0] == "type" else len(self.stretches(family[0]).sequence)

    def raw(self, field: FeatureField) -> Raw:
        """Return the values of a field: a row for each type, stretch or token, whichever it is a field of.

        They are computed once: a field may stand in others, too. One text is one field (the extractor checks that).
        """
        if field.text not in self._raw:
            self._raw[field.text] = self.of_types.raw(field) if field.of_type else field.by_view(self)
        return self._raw[field.text]

    @property
    def signs(self) -> NDArray[np.uint8]:
        """What each token is to the text around it (`stretches.WordSign`), uint8[M], computed once."""
        if self._signs is None:
            self._signs = signs_of(self.corpus.types)[self.corpus.token_ids]
        return self._signs

    def stretches(self, kind: str) -> Stretches:
        """Return the stretches of a kind, "chunk" or "sentence", computed once."""
        if kind not in self._stretches:
            self._stretches[kind] = Stretches.of(self.corpus, kind, self.signs)
        return self._stretches[kind]

    def united(self, kind: str, name: str, unite: Callable[[], Column]) -> Column:
        """Return what `unite` makes of numbers of this name: a row for each stretch of a kind, computed once."""
        if (kind, name) not in self._united:
            self._united[kind, name] = unite()
        return self._united[kind, name]


def join(
    template: Template,
    view: View | None,
    columns: Mapping[str, Column],
    values: Mapping[str, Sequence[str]],
    places: Sequence[Places] | Callable[[Column], Places],
    n_rows: int,
) -> Column:
    """Return the attributes of a template, numbered from 0: a row for each type or stretch (`family`), or each token.

    places : the joins, if they are known; else what learns the next one from the numbers that are looked up in it.
    A template of a family asks for no view.
    """
    known = None if callable(places) else places
    joined = Column(np.arange(n_rows + 1), np.zeros(n_rows, np.int64))
    own = template.family is not None
    marked = template.offset is None
    for k, part in enumerate(template.parts):
        V = len(values[part.field.text])
        rows = None
        if not own:
            assert view is not None
            rows = view.rows_at(part.field, part.offset)
        place = None if known is None else known[k]
        outside = V if marked else -1
        joined = cross(joined, columns[part.field.text], V + 1, rows, outside=outside, places=place)
        if callable(places):
            joined = joined.located(places(joined))
    return joined


class Given(NamedTuple):
    """Attributes of one template or several: a row for each type or stretch of a family, or for each token (None).

    laid : the rows, and how far the numbers are shifted.
    """

    family: tuple[str, int] | None
    laid: Laid

    @classmethod
    def of_part(cls, view: View, part: Part, laid: Laid) -> Given:
        """Take the attributes of a part alone, a row for each stretch or token that its field has rows for."""
        field, offset = part.field, part.offset
        if field.stretch is not None and offset == 0:
            return cls((field.stretch, 0), laid)
        return cls(None, laid.at(view.rows_at(field, offset)) if offset else laid)


def assemble(
    view: View, given: Sequence[Given], n_attributes: int, markers: Sequence[int], *, bundled: bool = True
) -> FeatureMatrix:
    """Return the matrix of a corpus.

    Parameters
    ----------
    given : the attributes of all templates.
    markers : the offsets beyond the sequence that are attributes of the token, the last ones.
    bundled : store once what several tokens share; in few tokens that costs more than it saves.
    """
    A, M = n_attributes, view.corpus.n_tokens
    families: dict[tuple[str, int], list[Laid]] = {}
    refs: list[Laid] = []
    bundles: list[Column] = []
    for family, laid in given:
        if family is None:
            refs.append(laid)
        elif bundled:
            families.setdefault(family, []).append(laid)
        else:
            refs.append(laid.at(view.members(*family)))
    n_bundles = 0
    for (kind, offset), several in families.items():
        one, uses = stack(several, several[0].n_rows), view.uses((kind, offset))
        assert uses is not None
        # A bundle of one attribute, or one that a single token uses, costs more than it saves: it is not made.
        chosen, every = (one.lengths >= 2) & (uses >= 2), np.arange(one.n_rows)
        number = Laid(Column.of_one(np.where(chosen, np.cumsum(chosen) - 1, -1)), None, A + n_bundles)
        either = stack([Laid(one, np.where(chosen, -1, every)), number], one.n_rows)
        refs.append(Laid(either, view.members(kind, offset)))
        bundles.append(one.take(every[chosen]))
        n_bundles += bundles[-1].n_rows
    beyond = np.zeros((M, len(markers)), bool)
    for k, offset in enumerate(markers):
        beyond[:, k] = view.tokens_at(offset) < 0
    refs.append(Laid(Column.where(beyond), None, A - len(markers)))
    indptr, ids, weights = lay(refs, M)
    contents = pile(bundles)
    given_weights = np.zeros(0) if contents.weights is None else contents.weights
    return FeatureMatrix(A, indptr, ids, contents.indptr, contents.ids.astype(np.int32), weights, given_weights)

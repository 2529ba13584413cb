"""One short text: its attributes word by word, in plain Python.

The arrays of `View`, `join` and `assemble` serve thousands of texts at a time, and take as long for one as for fifty;
their kernels have to be loaded first. A single text of a few dozen tokens is read here instead, with dictionaries for
values and lists for tokens. The attributes are the same, which random tests show. What a word type says by itself is
kept for the next text. Cost: a few Python steps for each token and template; no compiled code.

Fields of the word type are asked once about each word, those of its shape once about each shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.features.fields import FeatureField, Template, full_shapes
from espalier.features.matrix import FeatureMatrix
from espalier.features.spans import borders, signs_of_word
from espalier.lazy import cached_property

if TYPE_CHECKING:
    from espalier.features.program import TextProgram

__all__ = ["LONGEST", "Several", "SingleIndex", "SingleText", "WordFacts", "WordReader", "borders_of", "own_types"]

MOST = 20_000
"""Word types, and shapes, that are kept."""

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


# The text.


LONGEST = 512
"""Tokens of a text that is read here; kernels read a longer one faster."""

Values = Sequence[Sequence[str]]


class _Word(NamedTuple):
    """What is kept of a word type.

    values : of each field, by its text; columns : what it brings to each conjunction (`SingleIndex._columns`);
    attributes : those at all offsets, with how many at each; signs : see `stretches.WordSign`.
    """

    values: Mapping[str, Sequence[str]]
    columns: Sequence[Sequence[int]]
    attributes: NDArray[np.int32]
    sizes: tuple[int, ...]
    signs: int


class SingleText:
    """The tokens of one text, as fields see them; signs : of each token (`stretches.WordSign`)."""

    def __init__(self, corpus: Corpus, words: Sequence[_Word]) -> None:
        """Take a corpus of one sequence, and what is known of each of its tokens."""
        self.corpus, self.words = corpus, words
        self.signs = [word.signs for word in words]
        self._values: dict[str, Values] = {}
        self._of_tokens: dict[str, list[Sequence[str]]] = {}
        self._stretches: dict[str, list[tuple[int, int]]] = {}
        self._united: dict[tuple[str, str], list[list[str]]] = {}

    def values(self, field: FeatureField) -> list[Sequence[str]]:
        """Return the values of a field of the word type, for each token."""
        text = field.text
        found = self._of_tokens.get(text)
        if found is None:
            found = self._of_tokens[text] = [word.values[text] for word in self.words]
        return found

    def of(self, field: FeatureField, text: str) -> Values:
        """Return the values of a field of places, for each token, or each stretch if it is one of stretches.

        text : of the field, which it would have to put together.
        """
        found = self._values.get(text)
        if found is None:
            found = self._values[text] = field.of_text(self)
        return found

    def on_tokens(self, field: FeatureField, text: str) -> Values:
        """Return the values of a field of places for each token."""
        if field.stretch is None:
            return self.of(field, text)
        both = zip(self.of(field, text), self.stretches(field.stretch), strict=True)
        return [row for row, (a, b) in both for _ in range(a, b)]

    def stretches(self, kind: str) -> list[tuple[int, int]]:
        """Return the first token of each stretch of a kind, and the one behind its last."""
        if kind not in self._stretches:
            self._stretches[kind] = borders(self.signs, kind)
        return self._stretches[kind]

    def united(self, kind: str, field: FeatureField) -> list[list[str]]:
        """Return the values of a field of the word type on any token of each stretch, each once."""
        key = kind, field.text
        found = self._united.get(key)
        if found is None:
            values = self.values(field)
            found = [list(dict.fromkeys(chain.from_iterable(values[a:b]))) for a, b in self.stretches(kind)]
            self._united[key] = found
        return found


class _One:
    """A template of one part: each value is an attribute or nothing."""

    def __init__(self, template: Template, values: Sequence[str], keys: Ints, start: int) -> None:
        (part,) = template.parts
        self.field, self.offset = part.field, part.offset
        self.text = part.field.text
        self.attribute = {values[key]: start + place for place, key in enumerate(keys.tolist())}

    def add(self, rows: Values, refs: list[list[int]]) -> None:
        """Add the attributes of every token; rows : the values of each."""
        if not any(rows):
            return
        get, offset, last = self.attribute.get, self.offset, None
        own: Sequence[int] = ()
        tokens = refs[-offset:] if offset < 0 else refs
        for row, ref in zip(rows[offset:] if offset > 0 else rows, tokens, strict=False):
            if row:
                if row is not last:  # neighbours often share one list
                    last = row
                    if len(row) == 1:
                        only = get(row[0])
                        own = () if only is None else (only,)
                    else:
                        own = [attribute for value in row if (attribute := get(value)) is not None]
                ref += own


class SingleIndex:
    """The attributes of a `FeatureIndex`, for one text at a time; words : what reads word types."""

    def __init__(
        self,
        templates: Sequence[Template],
        values: Mapping[str, Sequence[str]],
        joins: Sequence[Sequence[Ints]],
        markers: Sequence[int],
    ) -> None:
        """Sort the templates by what they depend on."""
        starts = list(accumulate((len(keys[-1]) for keys in joins), initial=0))
        self.n_attributes = starts[-1] + len(markers)
        self._markers = list(enumerate(markers, start=starts[-1]))
        self._types: dict[int, list[Several]] = {}
        self._stretches: dict[str, list[_One | Several]] = {}
        self._placed: list[_One | Several] = []
        for template, keys, start in zip(templates, joins, starts[:-1], strict=True):
            if template.of_type:
                self._types.setdefault(template.offset or 0, []).append(Several(template, values, keys, start))
                continue
            alone = len(template.parts) == 1
            home = self._placed if template.stretch is None else self._stretches.setdefault(template.stretch, [])
            text = template.parts[0].field.text
            home.append(
                _One(template, values[text], keys[0], start) if alone else Several(template, values, keys, start)
            )
        every = chain(*self._types.values(), *self._stretches.values(), self._placed)
        numbered = {text for join in every if isinstance(join, Several) for text in join.texts}
        self._known = {text: dict(zip(values[text], range(len(values[text])), strict=True)) for text in numbered}
        fields = {part.field.text: part.field for template in templates for part in template.parts}
        inner = [each for field in fields.values() for each in field.within()]
        of_words = {field.text: field for field in [*fields.values(), *inner] if field.of_type}
        self.words = WordReader(of_words.values(), self._known, self._types)
        self._inside = list({field.text: None for field in inner if field.of_type})
        several = [join for join in self._placed if isinstance(join, Several)]
        entered = [join for join in several if join.fields[0].of_type]
        numbers = list({text for join in several for text in join.texts[1:] if text in of_words})
        # What a word brings to conjunctions: of those that begin with it the numbers to add to, then its own numbers.
        self._columns: list[tuple[Several | None, str]] = [
            *((join, join.texts[0]) for join in entered),
            *((None, text) for text in numbers),
        ]
        self._column_of = {(id(join), text): at for at, (join, text) in enumerate(self._columns)}
        self._kept: dict[str, _Word] = {}
        self._given = (templates, values, joins, markers)

    @cached_property
    def program(self) -> TextProgram | None:
        """The templates that do not look at one word alone, for a kernel; None if one of them is not of its kind."""
        from espalier.features.program import TextProgram

        return TextProgram(*self._given) if TextProgram.reads(self._given[0]) else None

    @staticmethod
    def reads(templates: Iterable[Template]) -> bool:
        """Can such templates be read text by text?  Not where values have weights."""
        return all(part.field.plain for template in templates for part in template.parts)

    def transform(self, corpus: Corpus) -> FeatureMatrix:
        """Return the matrix of a corpus of one sequence."""
        names, ids = own_types(corpus)
        types = self._recall(names)
        text = SingleText(corpus, [types[u] for u in ids])
        refs = self._of_places(text)
        A, T, n_offsets = self.n_attributes, len(ids), len(self._types)
        for at, offset in enumerate(self._types, start=A):
            for ref, u in zip(
                refs[-offset:] if offset < 0 else refs, ids[offset:] if offset > 0 else ids, strict=False
            ):
                ref.append(at + n_offsets * u)
        sizes = [size for word in types for size in word.sizes]
        pieces = [word.attributes for word in types]
        for kind in self._stretches:
            rows = self._of_stretches(text, kind)
            for at, (a, b) in enumerate(text.stretches(kind), start=A + len(sizes)):
                for ref in refs[a:b]:
                    ref.append(at)
            sizes += map(len, rows)
            pieces.append(np.fromiter(chain.from_iterable(rows), np.int32))
        return FeatureMatrix.trusted(
            A,
            borders_of(map(len, refs), T),
            np.fromiter(chain.from_iterable(refs), np.int32),
            borders_of(sizes, len(sizes)),
            np.concatenate(pieces),
        )

    def _recall(self, types: Sequence[str]) -> list[_Word]:
        """Return what is known of word types; new ones are read first."""
        words = self._kept
        new: Sequence[str] = [word for word in types if word not in words]
        if new:
            if len(words) + len(new) > MOST:
                words, new = {}, types
            words.update(zip(new, map(self._made, self.words.read(new)), strict=True))
            self._kept = words
        return [words[word] for word in types]

    def _made(self, facts: WordFacts) -> _Word:
        """Return what is kept of a word."""
        both = [(join, facts.numbers.get(text, ())) for join, text in self._columns]
        columns = [numbers if join is None else join.entering(numbers) for join, numbers in both]
        attributes = np.array([*chain.from_iterable(facts.rows)], np.int32)
        values = {text: facts.values.get(text, ()) for text in self._inside}
        return _Word(values, columns, attributes, tuple(map(len, facts.rows)), facts.signs)

    def _numbered(self, text: str, rows: Values) -> list[list[int]]:
        """Return the numbers of the values that the index knows."""
        get = self._known[text].get
        return [[number for value in row if (number := get(value)) is not None] for row in rows]

    def _of_places(self, text: SingleText) -> list[list[int]]:
        """Return the attributes of each token that depend on its place, markers included."""
        T = len(text.words)
        refs: list[list[int]] = [[] for _ in range(T)]
        columns = list(zip(*(word.columns for word in text.words), strict=True))
        for join in self._placed:
            if isinstance(join, _One):
                join.add(text.on_tokens(join.field, join.text), refs)
            else:
                join.add([self._column(text, columns, join, k) for k in range(len(join.fields))], refs)
        for attribute, offset in self._markers:
            for ref in refs[:-offset] if offset < 0 else refs[max(T - offset, 0) :]:
                ref.append(attribute)
        return refs

    def _column(
        self, text: SingleText, columns: Sequence[Sequence[Sequence[int]]], join: Several, k: int
    ) -> Sequence[Sequence[int]]:
        """Return what each token brings to part k of a conjunction; columns : of the words."""
        field, name = join.fields[k], join.texts[k]
        if field.of_type:
            return columns[self._column_of[id(join if k == 0 else None), name]]
        numbers = self._numbered(name, text.on_tokens(field, name))
        return numbers if k else [join.entering(row) for row in numbers]

    def _of_stretches(self, text: SingleText, kind: str) -> list[list[int]]:
        """Return the attributes of each stretch of a kind."""
        rows: list[list[int]] = [[] for _ in text.stretches(kind)]
        for join in self._stretches[kind]:
            if isinstance(join, _One):
                join.add(text.of(join.field, join.text), rows)
            else:
                both = zip(join.fields, join.texts, strict=True)
                first, *others = (self._numbered(name, text.of(field, name)) for field, name in both)
                join.add([[join.entering(row) for row in first], *others], rows)
        return rows


def own_types(corpus: Corpus) -> tuple[Sequence[str], list[int]]:
    """Return the word types of one sequence, and the number of each token's."""
    names: Sequence[str] = corpus.types
    ids: list[int] = corpus.token_ids.tolist()
    if len(names) > len(ids):  # a part of a corpus shares the types of the whole
        number = {k: u for u, k in enumerate(dict.fromkeys(ids))}
        names, ids = [names[k] for k in number], [number[k] for k in ids]
    return names, ids


def borders_of(sizes: Iterable[int], n: int) -> Ints:
    """Return the borders of rows of these sizes, int64[n + 1]."""
    return np.fromiter(accumulate(sizes, initial=0), np.int64, n + 1)

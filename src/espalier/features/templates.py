"""`FeatureField`, `Part`, `Template`: what to look at, where, and in which combination.

A field gives values to a word type or to a token (`lower`: "the"). A template is one or more fields, each at
an offset from the token: `lower@-1` is the lower-case form of the token before, `lower@-1 & lower` a pair.
Each value (combination) is one attribute, named for people: `lower@-1=the`, `lower@-1=the & lower=cat`.

Outside the sequence, a template whose parts all stand at one offset o has no values; the token has the
marker attribute `begin@o` (o < 0) or `end@o` (o > 0) instead, once for all templates of that offset. In a
conjunction over several offsets the marker takes the place of the value of the part that falls outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.columns import Column, Raw

if TYPE_CHECKING:
    from espalier.features.extract import View
    from espalier.features.single import SingleText

__all__ = ["MAX_OFFSET", "FeatureField", "Part", "Template", "all_fields", "fields_of", "marker", "no_function"]

MAX_OFFSET = 1000
"""How far from its token a template may look."""


def no_function(given: Any) -> InputError:
    """Return what to say of a function, where templates are expected."""
    name = getattr(given, "__name__", "function")
    what = f"features are templates, and {name} is a function"
    return InputError(
        what, hint="call it yourself: a token of X may be a mapping, [[{'lower': 'plum', ...}, ...], ...]"
    )


class FeatureField:
    """What is looked at; subclasses are frozen dataclasses.

    A field is a function of the word type alone (`of_type`; then `by_type` is called, with distinct words), of the
    stretch of text that the token is in (`stretch` names its kind; then `by_view` has a row for each stretch), or
    of the token's place (then `by_view` asks `by_token`, with a corpus, unless the field looks at others).
    A `via_shape` field depends on the word through its full shape alone, and `by_type` is called with distinct shapes
    instead.
    """

    __slots__ = ()

    via_shape = False

    @property
    def dense(self) -> bool:
        """Are the values the dimensions of a vector, and what counts their weights?"""
        return False

    @property
    def plain(self) -> bool:
        """Is every value worth one?  Only such fields can be read one text at a time (`features.single`)."""
        return not self.dense

    @property
    def of_type(self) -> bool:
        """Do the values depend on the word type alone?"""
        return True

    @property
    def stretch(self) -> str | None:
        """The kind of stretch, "chunk" or "sentence", that the values depend on alone, if they do."""
        return None

    @property
    def text(self) -> str:
        """The text form, such as `prefix3`."""
        raise NotImplementedError

    def within(self) -> tuple[FeatureField, ...]:
        """Return the fields that this one is made of."""
        return ()

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return the values of each word type."""
        raise NotImplementedError

    def numbered(self, words: Sequence[str], known: Mapping[str, int]) -> Column:
        """Return the numbers of the values of each word type that are known, a row for each."""
        values, column = self.by_type(words)
        return column.mapped(np.fromiter(map(known.get, values, repeat(-1)), np.int64, len(values)))

    def by_token(self, corpus: Corpus) -> Raw:
        """Return the values of each token of a corpus."""
        raise NotImplementedError

    def by_view(self, view: View) -> Raw:
        """Return the values of each token (or stretch) of a view's corpus; the view keeps what several fields share."""
        return self.by_token(view.corpus)

    def of_words(self, words: Sequence[str]) -> Sequence[Sequence[str]]:
        """Return the values of each word type, as strings."""
        return self.by_type(words).rows()

    def of_text(self, text: SingleText) -> Sequence[Sequence[str]]:
        """Return the values of each token (or stretch) of one text, as strings."""
        return self.by_token(text.corpus).rows()

    def name(self, value: str, at: str) -> str:
        """Return the attribute's name for a value at `at` ("" or "@-1")."""
        return f"{self.text}{at}={value}"

    def __matmul__(self, offset: int) -> Template:
        """Return this field at an offset: `Lower() @ -1`."""
        return Template((Part(self, offset),))

    def __and__(self, other: FeatureField | Template) -> Template:
        """Return a conjunction: `Lower() & Shape()`."""
        return (self @ 0) & other


@dataclass(frozen=True, slots=True)
class Part:
    """One field at one offset."""

    field: FeatureField
    offset: int = 0

    def __post_init__(self) -> None:
        """Check the offset."""
        if type(self.offset) is not int or abs(self.offset) > MAX_OFFSET:
            raise InputError(
                f"field {self.field.text!r}: the offset {self.offset!r} is not a whole number "
                f"from -{MAX_OFFSET} to {MAX_OFFSET}"
            )

    @property
    def text(self) -> str:
        """The text form, such as `lower@-1`."""
        return self.field.text + self._at

    @property
    def _at(self) -> str:
        return f"@{self.offset}" if self.offset else ""

    def name(self, value: str | None) -> str:
        """Return the name of a value here; None is the marker beyond the sequence."""
        return marker(self.offset) if value is None else self.field.name(value, self._at)


@dataclass(frozen=True, slots=True)
class Template:
    """One part, or several that must hold together; a value of each makes one attribute."""

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        """Check that the parts are there and differ."""
        if not self.parts:
            raise InputError("a template needs at least one part")
        if len(set(self.parts)) != len(self.parts):
            raise InputError(f"template {self.text!r} names the same part twice")

    @property
    def text(self) -> str:
        """The text form, which parses back to this template."""
        return " & ".join(part.text for part in self.parts)

    @property
    def offset(self) -> int | None:
        """The offset at which all parts stand; None if they stand at several."""
        offsets = {part.offset for part in self.parts}
        return offsets.pop() if len(offsets) == 1 else None

    @property
    def of_type(self) -> bool:
        """Does the attribute depend on one word type alone (of the token at `offset`)?"""
        return self.offset is not None and all(part.field.of_type for part in self.parts)

    @property
    def stretch(self) -> str | None:
        """The kind of stretch that the attribute depends on alone (the token's own), if it does."""
        kinds = {part.field.stretch for part in self.parts}
        return kinds.pop() if self.offset == 0 and len(kinds) == 1 else None

    @property
    def family(self) -> tuple[str, int] | None:
        """What the attributes depend on, the "type" at an offset or a kind of stretch; None if on the token's place."""
        if self.of_type:
            return "type", self.offset or 0
        return None if self.stretch is None else (self.stretch, 0)

    def __and__(self, other: FeatureField | Template) -> Template:
        """Return the conjunction of the parts of both."""
        return Template(self.parts + (other.parts if isinstance(other, Template) else (Part(other),)))

    def __str__(self) -> str:
        """Return the text form."""
        return self.text


def marker(offset: int) -> str:
    """Return the name of the attribute of a token whose neighbour at `offset` is outside the sequence."""
    return f"begin@{offset}" if offset < 0 else f"end@{offset}"


def fields_of(templates: Iterable[Template]) -> list[FeatureField]:
    """Return the fields of the templates, each once, in order of appearance."""
    return list({part.field.text: part.field for template in templates for part in template.parts}.values())


def all_fields(templates: Iterable[Template]) -> list[FeatureField]:
    """Return the fields of the templates and those within them, each once, outer ones first."""
    found: dict[int, FeatureField] = {}
    waiting: list[FeatureField] = fields_of(templates)
    while waiting:
        field = waiting.pop(0)
        found.setdefault(id(field), field)
        waiting += field.within()
    return list(found.values())

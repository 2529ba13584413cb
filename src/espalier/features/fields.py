"""What to look at, where, and in which combination: `FeatureField`, `Part`, `Template`, and the built-in fields.

A field gives values to a word type or to a token (`lower`: "the"). A template is one or more fields, each at
an offset from the token: `lower@-1` is the lower-case form of the token before, `lower@-1 & lower` a pair.
Each value (combination) is one attribute, named for people: `lower@-1=the`, `lower@-1=the & lower=cat`.

Outside the sequence, a template whose parts all stand at one offset o has no values; the token has the
marker attribute `begin@o` (o < 0) or `end@o` (o > 0) instead, once for all templates of that offset. In a
conjunction over several offsets the marker takes the place of the value of the part that falls outside.

The built-in fields are functions of the word, of its shape, and of the token's place in the sequence.

| text | values of "McNally-2" at token 0 of 3 |
|---|---|
| `bias` | the attribute `bias`, always |
| `word`, `lower` | McNally-2, mcnally-2 |
| `prefix3`, `suffix3` | McN, y-2; nothing for a word shorter than 3 |
| `fullshape`, `shape` | XxXxxxx-0, and with runs collapsed: XxXx-0 |
| `length` | the number of characters, binned: 8-10 |
| `flags` | capitalised, hasdigit, hyphen (see `Flags`) |
| `position5` | the relative place in the sequence, floor(5 t / T): 0; `position` is `position5` |
| `edge` | first for token 0, last for token T - 1 |

And what counts as one word: how tokens are normalised before they are counted.

| name | "Smith" | "1998" | "314" | "12-17" | "*PHONE*3" |
|---|---|---|---|---|---|
| `none` | Smith | 1998 | 314 | 12-17 | *PHONE*3 |
| `lower` | smith | 1998 | 314 | 12-17 | *phone*3 |
| `classes` | smith | YYYY | 000 | 0-0 | *phone* |
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.matrix import Column, Laid, Raw, intern

if TYPE_CHECKING:
    from espalier.features.view import View

__all__ = [
    "MAX_OFFSET",
    "NORMALISATIONS",
    "Bias",
    "Edge",
    "FeatureField",
    "Flags",
    "FullShape",
    "LengthField",
    "Lower",
    "NamedField",
    "Part",
    "Position",
    "Prefix",
    "ShapeField",
    "Suffix",
    "Template",
    "Word",
    "all_fields",
    "check_normalisation",
    "default_templates",
    "fields_of",
    "full_shapes",
    "length_names",
    "marker",
    "no_function",
    "normalised",
]

Ints = NDArray[np.int64]

_NAME = re.compile(r"[^\W\d][\w.-]*")

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
    instead. A `bare` field has one value, which its attribute's name leaves out.
    """

    __slots__ = ()

    via_shape = False
    bare = False

    @property
    def dense(self) -> bool:
        """Are the values the dimensions of a vector, and what counts their weights?"""
        return False

    @property
    def plain(self) -> bool:
        """Is every value worth one?"""
        return not self.dense

    @property
    def gathers(self) -> str | None:
        """From where the field gathers what words say, as "chunk-1" or "before"; None if it does something else.

        The attributes of such a field can be gathered instead of its values: a memory keeps them for each word.
        """
        return None

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

    def gathered(self, view: View, name: str, column: Column, rows: Ints) -> Laid:
        """Return what each stretch or token gathers of the numbers of words: token t has those of row rows[t].

        name : of the numbers, for the view, which keeps what several fields share.
        """
        raise NotImplementedError

    def name(self, value: str, at: str) -> str:
        """Return the attribute's name for a value at `at` ("" or "@-1"): `lower@-1=the`, `edge`, `vectors:name[d]`."""
        if self.bare:
            return self.text + at
        return f"{self.text}{at}[{value}]" if self.dense else f"{self.text}{at}={value}"

    def __matmul__(self, offset: int) -> Template:
        """Return this field at an offset: `Lower() @ -1`."""
        return Template((Part(self, offset),))

    def __and__(self, other: FeatureField | Template) -> Template:
        """Return a conjunction: `Lower() & Shape()`."""
        return (self @ 0) & other


@dataclass(frozen=True, slots=True)
class NamedField(FeatureField):
    """A field known by a name: its text form is `kind:name`."""

    label: str

    kind = ""

    def __post_init__(self) -> None:
        """Check the name."""
        if not isinstance(self.label, str) or not _NAME.fullmatch(self.label):
            raise InputError(f"{self.kind} name {self.label!r}: write a letter, then letters, digits, '_', '.' or '-'")

    @property
    def text(self) -> str:
        """The text form, such as `regex:year`."""
        return f"{self.kind}:{self.label}"


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
    def gathers(self) -> str | None:
        """From where attributes of words are gathered (`FeatureField.gathers`), if they are."""
        place = self.parts[0].field.gathers if len(self.parts) == 1 else None
        return None if place is None else f"{place}@{self.parts[0].offset}"

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


# The built-in fields: functions of the word, of its shape, and of the token's place in the sequence.


LENGTH_BINS = (0, 1, 2, 3, 4, 5, 6, 8, 11, 16)
"""First length of each bin of `length`."""

MAX_AFFIX = 100
MAX_BINS = 1000

_RUN = re.compile(r"(.)\1+", re.DOTALL)
_YEAR = re.compile(r"(?:1[89]|20)[0-9]{2}[a-z]?")
_RANGE = re.compile(r"[0-9]+\W+[0-9]+")
_MASK = re.compile(r"(\*[^\W\d_]+\*).*", re.DOTALL)


class _ShapeTable(dict[int, str]):
    """A translation table, filled as characters are met: X upper case, x other letters, 0 digits, the rest itself."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isupper() or character.istitle():
            shape = "X"
        elif character.isalpha():
            shape = "x"
        else:
            shape = "0" if character.isdigit() else character
        self[code] = shape
        return shape


_SHAPES = _ShapeTable()  # module state, on purpose: characters do not change


def length_names() -> list[str]:
    """Return the names of the bins of `length`: 0, 1, ... 6-7, ... 16+."""
    return [*(str(a) if b == a + 1 else f"{a}-{b - 1}" for a, b in pairwise(LENGTH_BINS)), f"{LENGTH_BINS[-1]}+"]


def full_shapes(words: Sequence[str]) -> list[str]:
    """Return the full shape of each word, character for character: `Xx0` and every other sign as it is."""
    return [word.translate(_SHAPES) for word in words]


class _TypeField(FeatureField):
    """A field of the word type with at most one value."""

    __slots__ = ()

    def results(self, words: Sequence[str]) -> Sequence[str | None]:
        """Return the value of each word (or shape)."""
        raise NotImplementedError

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return the values of each word type."""
        return intern(self.results(words))

    def numbered(self, words: Sequence[str], known: Mapping[str, int]) -> Column:
        """Return the number of the value of each word type, if it is known."""
        number: Callable[[str | None, int], int] = known.get  # type: ignore[assignment]  # None is never known
        return Column.of_one(np.fromiter(map(number, self.results(words), repeat(-1)), np.int64, len(words)))


@dataclass(frozen=True, slots=True)
class Bias(_TypeField):
    """The same attribute on every token."""

    text = "bias"
    bare = True

    def results(self, words: Sequence[str]) -> Sequence[str | None]:
        """Return one value for all."""
        return [""] * len(words)


@dataclass(frozen=True, slots=True)
class Word(_TypeField):
    """The word as it stands."""

    text = "word"

    def results(self, words: Sequence[str]) -> Sequence[str | None]:
        """Return the words."""
        return words


@dataclass(frozen=True, slots=True)
class Lower(_TypeField):
    """The word in lower case."""

    text = "lower"

    def results(self, words: Sequence[str]) -> Sequence[str | None]:
        """Return the lower-case forms."""
        return [word.lower() for word in words]


@dataclass(frozen=True, slots=True)
class _Affix(_TypeField):
    """The first or last n characters; nothing for shorter words."""

    n: int

    def __post_init__(self) -> None:
        """Check the length."""
        if type(self.n) is not int or not 1 <= self.n <= MAX_AFFIX:
            kind = type(self).__name__.lower()
            raise InputError(f"{kind}{self.n}: the length must be a whole number from 1 to {MAX_AFFIX}")

    @property
    def text(self) -> str:
        """The text form, such as `prefix3`."""
        return f"{type(self).__name__.lower()}{self.n}"


@dataclass(frozen=True, slots=True)
class Prefix(_Affix):
    """The first n characters; nothing for shorter words."""

    def results(self, words: Sequence[str]) -> Sequence[str | None]:
        """Return the prefixes."""
        n = self.n
        return [word[:n] if len(word) >= n else None for word in words]


@dataclass(frozen=True, slots=True)
class Suffix(_Affix):
    """The last n characters; nothing for shorter words."""

    def results(self, words: Sequence[str]) -> Sequence[str | None]:
        """Return the suffixes."""
        n = self.n
        return [word[-n:] if len(word) >= n else None for word in words]


@dataclass(frozen=True, slots=True)
class FullShape(_TypeField):
    """The shape, character for character."""

    text = "fullshape"
    via_shape = True

    def results(self, words: Sequence[str]) -> Sequence[str | None]:
        """Return the shapes."""
        return words


@dataclass(frozen=True, slots=True)
class ShapeField(_TypeField):
    """The shape with every run of one sign collapsed to one."""

    text = "shape"
    via_shape = True

    def results(self, words: Sequence[str]) -> Sequence[str | None]:
        """Return the collapsed shapes."""
        return [_RUN.sub(r"\1", shape) for shape in words]


@dataclass(frozen=True, slots=True)
class LengthField(_TypeField):
    """The number of characters in bins 0, 1, 2, 3, 4, 5, 6-7, 8-10, 11-15, 16+."""

    text = "length"
    via_shape = True

    def results(self, words: Sequence[str]) -> Sequence[str | None]:
        """Return the bins."""
        bins = length_names()
        return [bins[bisect_right(LENGTH_BINS, len(shape)) - 1] for shape in words]


@dataclass(frozen=True, slots=True)
class Flags(FeatureField):
    """Character classes, any number of them, read off the shape (X upper case, x other letter, 0 digit).

    digits: nothing but digits. hasdigit: some digit, but not only. capitalised: starts with X and has an x.
    allcaps: letters, and all of them X. lowercase: letters, and none of them X. mixed: an x, and an X that is not the
    first character. punctuation: no letter and no digit. hyphen: a - inside. dot: ends in a full stop and has more.
    """

    text = "flags"
    via_shape = True

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return the names of the flags of each shape."""
        return intern([_flags(shape) for shape in words])


def _flags(shape: str) -> list[str]:
    upper, lower, digit = "X" in shape, "x" in shape, "0" in shape
    only_digits = digit and not shape.strip("0")
    tests = {
        "digits": only_digits,
        "hasdigit": digit and not only_digits,
        "capitalised": lower and shape[0] == "X",
        "allcaps": upper and not lower,
        "lowercase": lower and not upper,
        "mixed": lower and "X" in shape[1:],
        "punctuation": bool(shape) and not (upper or lower or digit),
        "hyphen": "-" in shape[1:-1],
        "dot": len(shape) > 1 and shape[-1] == ".",
    }
    return [flag for flag, holds in tests.items() if holds]


@dataclass(frozen=True, slots=True)
class Position(FeatureField):
    """The relative place of token t in its sequence of T tokens: floor(bins * t / T)."""

    bins: int = 5

    of_type = False

    def __post_init__(self) -> None:
        """Check the number of bins."""
        if type(self.bins) is not int or not 1 <= self.bins <= MAX_BINS:
            raise InputError(f"position{self.bins}: the number of bins must be a whole number from 1 to {MAX_BINS}")

    @property
    def text(self) -> str:
        """The text form, such as `position5`."""
        return f"position{self.bins}"

    def by_token(self, corpus: Corpus) -> Raw:
        """Return the bin of each token."""
        lengths = np.repeat(corpus.lengths, corpus.lengths)
        t = np.arange(corpus.n_tokens) - np.repeat(corpus.indptr[:-1], corpus.lengths)
        return Raw([str(b) for b in range(self.bins)], Column.of_one(self.bins * t // lengths))


@dataclass(frozen=True, slots=True)
class Edge(FeatureField):
    """`first` for the first token of a sequence, `last` for the last; a lonely token is both."""

    text = "edge"
    of_type = False

    def by_token(self, corpus: Corpus) -> Raw:
        """Return the edges of each token."""
        filled = corpus.lengths > 0
        marks = np.zeros((corpus.n_tokens, 2), bool)
        marks[corpus.indptr[:-1][filled], 0] = True
        marks[corpus.indptr[1:][filled] - 1, 1] = True
        return Raw(["first", "last"], Column.where(marks))


def default_templates() -> tuple[Template, ...]:
    """Return templates for general text: the word and its parts, its neighbours to two tokens, and its place.

    Lower-case words rather than words as they stand, because the shape says the rest and few labels go further; no
    conjunctions, which cost more than they gave on held-out references.
    """
    around, affixes = (-1, 0, 1), range(1, 5)
    return (
        Bias() @ 0,
        *(Lower() @ offset for offset in (-2, *around, 2)),
        *(ShapeField() @ offset for offset in around),
        FullShape() @ 0,
        *(Prefix(n) @ 0 for n in affixes),
        *(Suffix(n) @ 0 for n in affixes),
        LengthField() @ 0,
        *(Flags() @ offset for offset in around),
        Suffix(2) @ -1,
        Suffix(2) @ 1,
        Position() @ 0,
        Edge() @ 0,
    )


def _number_class(word: str) -> str:
    """Lower the case; years become YYYY (a form no other word has), numbers zeros, at most five, and ranges 0-0.

    A mask, such as anonymised text has them, keeps only its name.
    """
    word = word.lower()
    if word.isalpha():
        return word
    if _YEAR.fullmatch(word):
        return "YYYY"
    if word.isdecimal():
        return "0" * min(len(word), 5)
    if _RANGE.fullmatch(word):
        return "0-0"
    mask = _MASK.fullmatch(word)
    return mask[1] if mask else word


NORMALISATIONS: Mapping[str, Callable[[str], str]] = {"none": str, "lower": str.lower, "classes": _number_class}
"""The normalisations by name."""


def check_normalisation(name: str) -> None:
    """Raise if there is no normalisation of this name."""
    if name not in NORMALISATIONS:
        raise InputError(f"normalise is {name!r}", hint="expected 'none', 'lower' or 'classes'")


def normalised(words: Iterable[str], name: str) -> list[str]:
    """Return the normalised form of each word."""
    return list(map(NORMALISATIONS[name], words))

"""Features as they are written down: the text of templates, the `[features]` table of a task file, fields with names.

    template := part {"&" part}
    part     := field ["@" offset | "[" offset {"," offset} "]"]
    field    := word | lower | shape | fullshape | length | flags | bias | edge | quoted | bracketed
              | chunkindex | chunklength | sentenceindex | sentencelength
              | prefixN | suffixN | positionN | prefixN-M | suffixN-M | position
              | scope "(" field ")" ["*" value]                  a value of one is not written
              | kind ":" name                                  regex, condition, lexicon, table, vectors, classes,
                                                                 vector, call, sequence
    scope    := unit ["first" | "last"] [("+" | "-") number] | before | after        unit: chunk, sentence

A list of offsets and a range of lengths are short for several templates: `shape[-1,0,1]` is three, `prefix1-4` four,
in a conjunction every combination. What scopes mean: `espalier.features.spans`. The text of a template
(`Template.text`) parses to that template alone.

The table of a task file:

    [features]
    templates = ["word", "lower@-1", "shape[-1,0,1]", "prefix1-4", "lower@-1 & lower", "regex:year", "lexicon:places"]
    min_count = 2

    [features.regexes]                          # the whole token must match, as in rules
    year = "(19|20)[0-9]{2}[a-z]?"

    [features.conditions]                       # token conditions, as in rules: several tokens, windows, phrases
    time = '/[0-9]{1,2}/ and next ":" or begins phrase (/[0-9]+/ "am", "pm")'

    [features.lexicons]                         # a list, a file with one entry a line, or either with an option
    months = ["January", "February", "March"]
    places = "places.txt"
    codes = { entries = ["DE", "FR"], fold = false }

    [features.tables]                           # entries, or a file: word, tab, values separated by tabs
    brown = { file = "paths.tsv", fold = true }
    kinds = { entries = { Inc = ["company"], Ltd = ["company", "british"] } }

    [features.vectors]                          # a file: word and numbers, separated by single spaces
    glove = "glove.50d.txt"

Files are UTF-8 and relative to the task file; blank lines do not count, nor does a first line of two whole numbers in
a file of vectors (word2vec writes its size there). Functions (`call:`, `sequence:`) and word
classes (`classes:`, `vector:`) are given from Python.

Fields that carry something of their own are referred to by name (`regex:year`, `table:brown`, `call:stem`).
`regex:` a pattern that the whole token must match. `table:` word -> strings (clusters, tags). `vectors:` word ->
numbers. `call:` your function of a word. `sequence:` your function of a token list, the only Python that runs for
every token. `lexicon:` a list of words and phrases. Conditions are in `espalier.features.conditions`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import FormatError, InputError, nearest
from espalier.features.fields import (
    Bias,
    Edge,
    FeatureField,
    Flags,
    FullShape,
    LengthField,
    Lower,
    NamedField,
    Part,
    Position,
    Prefix,
    ShapeField,
    Suffix,
    Template,
    Word,
    no_function,
)
from espalier.features.matrix import Column, Raw, Result, intern
from espalier.features.spans import Beyond, Bracketed, Measure, Quoted, Within
from espalier.regex import LONGEST_TOKEN, compile_regex

if TYPE_CHECKING:
    from espalier.phrases import PhraseTrie

__all__ = [
    "Call",
    "Lexicon",
    "RegexField",
    "SequenceCall",
    "TableField",
    "Vectors",
    "parse_template",
    "parse_templates",
    "read_table",
]


@dataclass(frozen=True, slots=True)
class RegexField(NamedField):
    """Does the whole token match the pattern?  The attribute is the bare `regex:year`.

    Patterns are those of rules (`espalier.regex.SYNTAX`), whose time is bounded: a task file or a model file may
    come from anybody, and Python's own engine can take ages on thirty letters.
    """

    pattern: str

    kind = "regex"
    bare = True

    def __post_init__(self) -> None:
        """Check the name and compile the pattern."""
        NamedField.__post_init__(self)
        given: object = self.pattern
        if not isinstance(given, str):
            raise InputError(f"regex {self.label!r}: a pattern is a string, not {given!r}")
        try:
            compile_regex(self.pattern)
        except InputError as error:
            raise InputError(f"regex {self.label!r}: {error}") from None

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return one value for the words that match."""
        regex = compile_regex(self.pattern)
        # Most words fail at their first character; an empty one has none.
        begins = {c for c in {word[:1] for word in words} if not c or regex.begins(c)}
        tried = [word[:1] in begins and len(word) <= LONGEST_TOKEN and regex.fullmatch(word) for word in words]
        return Raw([""], Column.of_one(np.where(tried, 0, -1)))


@dataclass(frozen=True, slots=True)
class TableField(NamedField):
    """Strings of a word: clusters, parts of speech, anything looked up. Words that are not there have none.

    With `fold` case is ignored, in the table and in the text.
    """

    entries: Mapping[str, Sequence[str]] = field(hash=False)
    fold: bool = False

    kind = "table"

    def __post_init__(self) -> None:
        """Check the entries and keep a copy of them."""
        NamedField.__post_init__(self)
        copy: dict[str, tuple[str, ...]] = {}
        for word, values in self.entries.items():
            values = (values,) if isinstance(values, str) else tuple(values)
            if not isinstance(word, str) or not all(isinstance(value, str) for value in values):
                raise InputError(
                    f"table {self.label!r}: {word!r}: expected a list of strings, found {values!r}",
                    hint="numbers go into `Vectors`",
                )
            word, values = word.casefold() if self.fold else word, tuple(dict.fromkeys(values))
            if copy.setdefault(word, values) != values:
                raise InputError(f"table {self.label!r}: {word!r} has two entries that differ (ignoring case)")
        if not copy:
            raise InputError(f"table {self.label!r} is empty")
        object.__setattr__(self, "entries", copy)

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return the strings of each word."""
        get = self.entries.get
        rows = [get(word.casefold() if self.fold else word, ()) for word in words]  # looked through before
        values, column = intern(list(chain.from_iterable(rows)))
        return Raw(values, Column(np.cumsum([0, *map(len, rows)]), column.ids))


@dataclass(frozen=True, slots=True, eq=False)
class Vectors(NamedField):
    """Numbers of a word: dimension d gives the real-valued attribute `vectors:name[d]`.

    Attributes
    ----------
    words : W words.
    matrix : float64[W, D].
    fold : ignore case, in the list and in the text.
    """

    words: tuple[str, ...]
    matrix: NDArray[np.float64]
    fold: bool = False

    kind = "vectors"
    dense = True

    def __post_init__(self) -> None:
        """Check the shapes and keep a read-only copy."""
        NamedField.__post_init__(self)
        words = tuple(word.casefold() for word in self.words) if self.fold else tuple(self.words)
        try:
            matrix = np.array(self.matrix, np.float64)
        except (ValueError, TypeError) as error:
            raise InputError(f"vectors {self.label!r}: not a matrix of numbers: {error}") from None
        if matrix.ndim != 2 or len(matrix) != len(words) or matrix.size == 0:
            raise InputError(
                f"vectors {self.label!r}: {len(words)} words need a matrix of as many rows and at least one column",
                hint=f"its shape is {matrix.shape}",
            )
        if not np.isfinite(matrix).all():
            bad = int(np.nonzero(~np.isfinite(matrix).all(axis=1))[0][0])
            raise InputError(f"vectors {self.label!r}: the vector of {words[bad]!r} is not finite")
        if len(set(words)) != len(words):
            twice = Counter(words).most_common(1)[0][0]
            raise InputError(f"vectors {self.label!r}: {twice!r} is listed twice{' (ignoring case)' * self.fold}")
        matrix.setflags(write=False)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "matrix", matrix)

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return the numbers of each word, weights of the values 0..D-1."""
        place = {word: i for i, word in enumerate(self.words)}
        rows = np.fromiter(
            (place.get(word.casefold() if self.fold else word, -1) for word in words), np.int64, len(words)
        )
        dense = np.where((rows >= 0)[:, None], self.matrix[rows], 0.0)
        row, dimension = np.nonzero(dense)
        indptr = np.append(0, np.cumsum(np.bincount(row, minlength=len(words))))
        values = [str(d) for d in range(self.matrix.shape[1])]
        return Raw(values, Column(indptr.astype(np.int64), dimension, dense[row, dimension]))

    def __eq__(self, other: object) -> bool:
        """Same name, words and numbers."""
        return (
            isinstance(other, Vectors)
            and (self.label, self.words, self.fold) == (other.label, other.words, other.fold)
            and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        """Hash by name and size."""
        return hash((self.label, self.matrix.shape, self.fold))


@dataclass(frozen=True, slots=True)
class Call(NamedField):
    """Your function of a word, called once a word type.

    It returns a string, a list of strings, a mapping from names to numbers, or None.
    """

    function: Callable[[str], Result]

    kind = "call"
    plain = False  # it may give weights

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return what the function says of each word."""
        return intern([self.function(word) for word in words], lambda r: f"{self.text}: word {words[r]!r}")


@dataclass(frozen=True, slots=True)
class SequenceCall(NamedField):
    """Your function of a token list, called once a sequence.

    It returns one item a token: a string, a list of strings, a mapping from names to numbers, or None.
    """

    function: Callable[[list[str]], Iterable[Any]]

    kind = "sequence"
    of_type = False

    def by_token(self, corpus: Corpus) -> Raw:
        """Return what the function says of each token."""
        results: list[Result] = []
        for i, tokens in enumerate(corpus):
            said = self.function(tokens)
            items = list(said) if isinstance(said, Iterable) and not isinstance(said, (str, Mapping)) else None
            if items is None or len(items) != len(tokens):
                raise InputError(
                    f"{self.text}: sequence {i} has {len(tokens)} tokens",
                    hint=(f"the function must return a list of as many items, and returned {said!r:.80}"),
                )
            results.extend(items)

        def where(m: int) -> str:
            i = int(np.searchsorted(corpus.indptr, m, side="right")) - 1
            return f"{self.text}: sequence {i}, token {m - corpus.indptr[i]}"

        return intern(results, where)


@dataclass(frozen=True, slots=True)
class Lexicon(NamedField):
    """A word list, whose entries may run over several tokens.

    Entries are matched from left to right, the longest at each place, without overlap; the first token of a match has
    the value B, the others I. Matching does not depend on how the text was cut: see `espalier.phrases`.

    Parameters
    ----------
    label : its name.
    entries : words or phrases; white space is collapsed, repetitions do not matter; kept sorted.
    fold : ignore case, in the list and in the text.
    """

    entries: Sequence[str]
    fold: bool = True
    _made: list[PhraseTrie] = field(init=False, repr=False, compare=False, default_factory=list)

    kind = "lexicon"

    def __post_init__(self) -> None:
        """Check the entries and bring them into their canonical form."""
        from espalier.phrases import collapsed

        NamedField.__post_init__(self)
        if isinstance(self.entries, str):
            raise InputError(f"lexicon {self.label!r}: expected a list of entries, found the string {self.entries!r}")
        odd = [entry for entry in self.entries if not isinstance(entry, str)]
        if odd:
            raise InputError(f"lexicon {self.label!r}: entries must be strings", hint=f"found {odd[0]!r}")
        entries = {collapsed(self._folded(entry)) for entry in self.entries}
        if not entries:
            raise InputError(f"lexicon {self.label!r} has no entries")
        if "" in entries:
            raise InputError(f"lexicon {self.label!r} has an empty entry")
        object.__setattr__(self, "entries", tuple(sorted(entries)))

    @property
    def of_type(self) -> bool:
        """Can every entry only ever match a single token?"""
        return all(entry.isalnum() for entry in self.entries)

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return B for the words that are entries."""
        known = frozenset(self.entries)
        return intern(["B" if self._folded(word) in known else None for word in words])

    def by_token(self, corpus: Corpus) -> Raw:
        """Return B or I for each token inside a match."""
        if not self._made:  # when first asked for: a model file may be loaded to look at it
            from espalier.phrases import PhraseTrie

            self._made.append(PhraseTrie(self.entries, fold=self.fold))
        start, stop = self._made[0].find(corpus.indptr, corpus.token_ids, corpus.types)
        tags, done = np.full(corpus.n_tokens, -1), 0
        order = np.lexsort((-stop, start))  # at one place the longest comes first
        for a, b in zip(start[order].tolist(), stop[order].tolist(), strict=True):
            if a >= done:
                done = b
                tags[a], tags[a + 1 : b] = 0, 1
        return Raw(["B", "I"], Column.of_one(tags))

    def _folded(self, word: str) -> str:
        return word.casefold() if self.fold else word


# The text of templates, and the table.


_KEYS = ("templates", "min_count", "regexes", "conditions", "lexicons", "tables", "vectors")


def read_table(
    table: Mapping[str, Any], base: Path | None, functions: Iterable[NamedField] = ()
) -> tuple[tuple[Template, ...], int]:
    """Return the templates and the min_count of a `[features]` table; without a base, files are refused."""
    for key in table:
        if key not in _KEYS:
            raise InputError(f"[features]: unknown key {key!r}", hint=nearest(key, _KEYS, f"known: {', '.join(_KEYS)}"))
    texts = table.get("templates")
    if not isinstance(texts, list):
        raise InputError("[features]: 'templates' must be a list of strings")
    readers: dict[str, Callable[[str, Any, Path | None], NamedField]] = {
        "regexes": lambda name, pattern, _: RegexField(name, pattern),
        "conditions": _condition,
        "lexicons": _lexicon,
        "tables": _table,
        "vectors": _vectors,
    }
    definitions = list(functions)
    for key, read in readers.items():
        section = table.get(key, {})
        if not isinstance(section, Mapping):
            raise InputError(f"[features.{key}] must be a table of names")
        definitions += [read(name, value, base) for name, value in section.items()]
    return parse_templates(texts, definitions), table.get("min_count", 1)


def _condition(name: str, value: Any, base: Path | None) -> NamedField:
    from espalier.features.conditions import ConditionField

    return ConditionField.declared(name, value, base)


def _lexicon(name: str, value: Any, base: Path | None) -> Lexicon:
    content, options = _options(f"lexicon {name!r}", value, list, base, fold=True)
    if isinstance(content, Path):
        entries = [line for _, line in _lines(content)]
        return Lexicon(name, entries, **options)
    return Lexicon(name, content, **options)


def _table(name: str, value: Any, base: Path | None) -> TableField:
    content, options = _options(f"table {name!r}", value, dict, base, fold=False)
    if not isinstance(content, Path):
        return TableField(name, content, **options)
    entries: dict[str, list[str]] = {}
    for number, line in _lines(content):
        word, *values = line.split("\t")
        if not values or not all(values):
            raise FormatError("expected a word, a tab and values separated by tabs", path=str(content), line=number)
        if entries.setdefault(word, values) != values:
            raise FormatError(f"{word!r} has two entries that differ", path=str(content), line=number)
    return TableField(name, entries, **options)


def _vectors(name: str, value: Any, base: Path | None) -> Vectors:
    content, options = _options(f"vectors {name!r}", value, Path, base, fold=False)
    words: list[str] = []
    rows: list[list[float]] = []
    for number, line in _lines(content):
        word, *numbers = line.rstrip().split(" ")
        if number == 1 and [word.isdecimal(), *map(str.isdecimal, numbers)] == [True, True]:
            continue
        try:
            row = [float(x) for x in numbers]
        except ValueError as error:
            raise FormatError(str(error), path=str(content), line=number) from None
        if not row or (rows and len(row) != len(rows[0])):
            expected = len(rows[0]) if rows else "at least one"
            raise FormatError(f"{len(row)} numbers", path=str(content), line=number, hint=f"expected {expected}")
        words.append(word)
        rows.append(row)
    return Vectors(name, tuple(words), rows, **options)  # type: ignore[arg-type]  # it makes the array


def _options(who: str, value: Any, inline: type, base: Path | None, *, fold: bool) -> tuple[Any, dict[str, bool]]:
    """Return the inline content or the path of the file, and the options."""
    if isinstance(value, Mapping):
        unknown = set(value) - {"entries", "file", "fold"}
        if unknown:
            raise InputError(f"{who}: unknown key {sorted(unknown)[0]!r}", hint="known: entries, file, fold")
        if ("entries" in value) == ("file" in value):
            raise InputError(f"{who}: give either 'entries' or 'file'")
        fold = value.get("fold", fold)
        if not isinstance(fold, bool):
            raise InputError(f"{who}: 'fold' must be true or false, not {fold!r}")
        value = value.get("entries", value.get("file"))
    if isinstance(value, str):
        if base is None:
            raise InputError(f"{who}: a file ({value!r}) is not accepted here", hint="give the entries")
        value = base / value
        if value.is_dir() or not value.exists():
            raise InputError(f"{who}: there is no file {str(value)!r}", hint="paths are relative to the task file")
        if not value.read_bytes().strip():
            raise FormatError(f"{who}: the file is empty", path=str(value))
        return value, {"fold": fold}
    if not isinstance(value, inline):
        raise InputError(f"{who}: expected {'a file' if inline is Path else 'entries or a file'}, found {value!r:.80}")
    return value, {"fold": fold}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 text: {error}", path=str(path)) from None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Return the numbered lines of a file that are not blank."""
    for number, line in enumerate(_read(path).split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


_PLAIN: Mapping[str, FeatureField] = {
    field.text: field
    for field in (
        *(Word(), Lower(), ShapeField(), FullShape(), LengthField(), Flags(), Bias(), Edge(), Quoted(), Bracketed()),
        *(Measure(unit, what) for unit in ("chunk", "sentence") for what in ("index", "length")),
    )
} | {"position": Position()}
_NUMBERED = {"prefix": Prefix, "suffix": Suffix, "position": Position}
_KINDS = ("call", "classes", "condition", "lexicon", "regex", "sequence", "table", "vector", "vectors")
_PART = re.compile(r"(?P<field>[^@\[\]]+)(?:@(?P<offset>[^@\[\]]*)|\[(?P<offsets>[^\[\]@]*)\])?")
_NUMBERED_FIELD = re.compile(r"(?P<kind>prefix|suffix|position)(?P<low>[0-9]+)(?:-(?P<high>[0-9]+))?")
_SCOPED = re.compile(
    r"(?:(?P<unit>chunk|sentence)(?P<which>first|last)?(?P<shift>[+-][0-9]{1,9})?|(?P<side>before|after))"
    r"\((?P<inner>.*)\)(?:\*(?P<value>[^()*]*))?"
)
_OFFSET = re.compile(r"[+-]?[0-9]{1,9}")


def parse_templates(texts: Iterable[str], definitions: Iterable[NamedField] = ()) -> tuple[Template, ...]:
    """Return the templates that the texts stand for, in order; named fields must be among the definitions."""
    known = list(definitions)
    return tuple(template for text in texts for template in parse_template(text, known))


def parse_template(text: str, definitions: Iterable[NamedField] = ()) -> tuple[Template, ...]:
    """Return the templates that one text stands for: one, or several where it lists offsets or lengths."""
    if not isinstance(text, str):
        raise no_function(text) if callable(text) else InputError(f"template {text!r} is not a string")
    known = {field.text: field for field in definitions}
    choices = []
    for written in text.split("&"):
        match = _PART.fullmatch(written.strip())
        if match is None:
            raise InputError(
                f"template {text!r}: cannot read {written.strip()!r}", hint="write a field such as 'lower@-1'"
            )
        fields = _fields(match["field"].strip(), known, text)
        offsets = _offsets(match["offset"], match["offsets"], text)
        choices.append([Part(field, offset) for offset in offsets for field in fields])
    return tuple(Template(parts) for parts in product(*choices))


def _fields(written: str, known: Mapping[str, NamedField], text: str) -> list[FeatureField]:
    if written in _PLAIN:
        return [_PLAIN[written]]
    if written in known:
        return [known[written]]
    kind, colon, name = written.partition(":")
    if colon and kind in _KINDS:
        names = [field.label for field in known.values() if field.kind == kind]
        listed = f"defined: {', '.join(names)}" if names else f"no {kind} is defined"
        raise InputError(f"template {text!r}: {kind} {name!r} is not defined", hint=nearest(name, names, listed))
    scoped = _SCOPED.fullmatch(written)
    if scoped is not None:
        return _scoped(scoped, known, text)
    match = _NUMBERED_FIELD.fullmatch(written)
    if match is None:
        everything = [*_PLAIN, *_NUMBERED, *known, *(f"{kind}:{name}" for kind in _KINDS if colon)]
        known_words = nearest(written, everything, f"known: {', '.join(everything)}")
        hint = nearest(written.rstrip("0123456789-"), everything, known_words)
        if written in _NUMBERED:
            hint = f"it needs a length: '{written}3' or '{written}1-4'"
        raise InputError(f"template {text!r}: unknown field {written!r}", hint=hint)
    make, low, high = _NUMBERED[match["kind"]], int(match["low"]), int(match["high"] or match["low"])
    if match["high"] and (make is Position or not low < high):
        raise InputError(f"template {text!r}: {written!r} is not a range of lengths such as 'prefix1-4'")
    make(high)  # a wild upper end fails here rather than after a long list
    return [make(n) for n in range(low, high + 1)]


def _scoped(match: re.Match[str], known: Mapping[str, NamedField], text: str) -> list[FeatureField]:
    """Return the fields that a text such as `chunk-1(lower)*0.3` stands for."""
    try:
        value = float(match["value"] or ("nan" if match["value"] is not None else 1))
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"template {text!r}: the value {match['value']!r} is not a number above 0")
    fields = _fields(match["inner"].strip(), known, text)
    if match["side"]:
        return [Beyond(match["side"], field, value) for field in fields]
    which, shift = match["which"] or "all", int(match["shift"] or 0)
    return [Within(match["unit"], field, which, shift, value) for field in fields]


def _offsets(single: str | None, several: str | None, text: str) -> list[int]:
    written = [single] if single is not None else several.split(",") if several is not None else ["0"]
    offsets = []
    for offset in written:
        if not _OFFSET.fullmatch(offset.strip()):
            raise InputError(f"template {text!r}: the offset {offset.strip()!r} is not a whole number")
        offsets.append(int(offset))
    return offsets

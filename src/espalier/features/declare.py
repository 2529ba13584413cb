"""Features as they are written down: the text of templates, the `[features]` table of a task file.

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
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from espalier.errors import FormatError, InputError, nearest
from espalier.features.fields import (
    Bias,
    Edge,
    Flags,
    FullShape,
    LengthField,
    Lower,
    Position,
    Prefix,
    ShapeField,
    Suffix,
    Word,
)
from espalier.features.named import Lexicon, NamedField, RegexField, TableField, Vectors
from espalier.features.spans import Beyond, Bracketed, Measure, Quoted, Within
from espalier.features.templates import FeatureField, Part, Template, no_function

__all__ = ["parse_template", "parse_templates", "read_table"]

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

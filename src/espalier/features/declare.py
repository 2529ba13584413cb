"""The `[features]` table of a task file.

    [features]
    templates = ["word", "lower@-1", "shape[-1,0,1]", "prefix1-4", "lower@-1 & lower", "regex:year", "lexicon:places"]
    min_count = 2

    [features.regexes]                          # the whole token must match, as in rules
    year = "(19|20)[0-9]{2}[a-z]?"

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

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from espalier.errors import FormatError, InputError, did_you_mean
from espalier.features.lexicon import Lexicon
from espalier.features.named import NamedField, Regex, Table, Vectors
from espalier.features.templates import Template
from espalier.features.text import parse_templates

__all__ = ["read_table"]

_KEYS = ("templates", "min_count", "regexes", "lexicons", "tables", "vectors")


def read_table(
    table: Mapping[str, Any], base: Path | None, functions: Iterable[NamedField] = ()
) -> tuple[tuple[Template, ...], int]:
    """Return the templates and the min_count of a `[features]` table; without a base, files are refused."""
    for key in table:
        if key not in _KEYS:
            raise InputError(
                f"[features]: unknown key {key!r}{did_you_mean(key, _KEYS) or '; known: ' + ', '.join(_KEYS)}"
            )
    texts = table.get("templates")
    if not isinstance(texts, list):
        raise InputError("[features]: 'templates' must be a list of strings")
    readers: dict[str, Callable[[str, Any, Path | None], NamedField]] = {
        "regexes": lambda name, pattern, _: Regex(name, pattern),
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


def _lexicon(name: str, value: Any, base: Path | None) -> Lexicon:
    content, options = _options(f"lexicon {name!r}", value, list, base, fold=True)
    if isinstance(content, Path):
        entries = [line for _, line in _lines(content)]
        return Lexicon(name, entries, **options)
    return Lexicon(name, content, **options)


def _table(name: str, value: Any, base: Path | None) -> Table:
    content, options = _options(f"table {name!r}", value, dict, base, fold=False)
    if not isinstance(content, Path):
        return Table(name, content, **options)
    entries: dict[str, list[str]] = {}
    for number, line in _lines(content):
        word, *values = line.split("\t")
        if not values or not all(values):
            raise FormatError("expected a word, a tab and values separated by tabs", path=str(content), line=number)
        if entries.setdefault(word, values) != values:
            raise FormatError(f"{word!r} has two entries that differ", path=str(content), line=number)
    return Table(name, entries, **options)


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
            raise FormatError(f"{len(row)} numbers; expected {expected}", path=str(content), line=number)
        words.append(word)
        rows.append(row)
    return Vectors(name, tuple(words), rows, **options)  # type: ignore[arg-type]  # it makes the array


def _options(who: str, value: Any, inline: type, base: Path | None, *, fold: bool) -> tuple[Any, dict[str, bool]]:
    """Return the inline content or the path of the file, and the options."""
    if isinstance(value, Mapping):
        unknown = set(value) - {"entries", "file", "fold"}
        if unknown:
            raise InputError(f"{who}: unknown key {sorted(unknown)[0]!r}; known: entries, file, fold")
        if ("entries" in value) == ("file" in value):
            raise InputError(f"{who}: give either 'entries' or 'file'")
        fold = value.get("fold", fold)
        if not isinstance(fold, bool):
            raise InputError(f"{who}: 'fold' must be true or false, not {fold!r}")
        value = value.get("entries", value.get("file"))
    if isinstance(value, str):
        if base is None:
            raise InputError(f"{who}: a file ({value!r}) is not accepted here; give the entries")
        value = base / value
        if value.is_dir() or not value.exists():
            raise InputError(f"{who}: there is no file {str(value)!r}; paths are relative to the task file")
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

"""Formats that other tools read: one module for each, with a row that says all there is to know about it.

    from espalier.citations.formats import write

    with open("refs.bib", "w", encoding="utf-8") as file:
        file.writelines(write(parser.parse_many(lines), "bibtex"))

Every module of this package is a format of the same name. It declares its row as `FORMAT`, an `OutputFormat`. Python,
the command line, the workbench and `espalier run` read the rows from `FORMATS` and know nothing else of any format: a
new format is a new module here. Memory does not grow with the file, but for the keys given so far (`Keys`). Text is to
be written as UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from espalier.errors import InputError, nearest

if TYPE_CHECKING:
    from espalier.citations.bibliographies import Entry
    from espalier.citations.output_text import Keys
    from espalier.citations.record import Record

__all__ = ["FORMATS", "KEEPS", "OutputFormat", "format_of_file", "get_format", "with_short_names", "write"]

KEEPS = ("text", "places", "confidences", "alternatives", "source")
"""What a format may keep besides the normal form: the reference itself, where each field stands in it, how sure each
is, the other readings, and the place in the file that the reference was read from (an option `source` of `entry`)."""


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A row of the table of formats.

    Parameters
    ----------
    name : that of its module.
    summary : what it is, in a few words.
    extensions : names of files that are written in this format if nobody says otherwise; the first is that of a
        download. No two formats have the same one; a format without is chosen by name.
    media_type : what a server calls it.
    accepted : the media types that a client may ask for it by; None is `media_type` alone. No two formats have the
        same one; a format without is asked for by name. If `media_type` is not among them, the first is the answer's.
    entry : a function (record, key, **options) that returns the text of one record.
    head, between, tail : the text before the first entry, between two of them, and after the last.
    empty : the text of a file without entries; by default head and tail.
    keyed : does an entry hold a key? Otherwise `entry` is given "".
    keeps : which of `KEEPS`.
    options : names of the format's own options.
    fit_key : turns a key that an entry of a bibliography brought along into one that the format can hold.
    """

    name: str
    summary: str
    extensions: tuple[str, ...]
    media_type: str
    entry: Callable[..., str]
    head: str = ""
    between: str = ""
    tail: str = ""
    empty: str | None = None
    keyed: bool = True
    keeps: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    fit_key: Callable[[str], str] = str
    accepted: tuple[str, ...] | None = None

    def asked_as(self) -> tuple[str, ...]:
        """Return the media types that a client may ask for this format by."""
        return (self.media_type,) if self.accepted is None else self.accepted

    def join(self, entries: Iterable[str]) -> Iterator[str]:
        """Yield the text of a file with these entries, piece by piece."""
        before, end = self.head, self.head + self.tail if self.empty is None else self.empty
        for text in entries:
            yield before + text
            before, end = self.between, self.tail
        yield from [end] if end else []


class _Formats(Mapping[str, OutputFormat]):
    """The formats by name; a module is imported when its row is first asked for."""

    def __getitem__(self, name: str) -> OutputFormat:
        if name not in _names():
            raise KeyError(name)
        return _row(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_names())

    def __len__(self) -> int:
        return len(_names())


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in iter_modules(__path__)))


@cache
def _row(name: str) -> OutputFormat:
    found: OutputFormat = import_module(f"espalier.citations.formats.{name}").FORMAT
    return found


FORMATS: Mapping[str, OutputFormat] = _Formats()


def get_format(name: str) -> OutputFormat:
    """Return the row of a format; a name that is none is an `InputError`."""
    try:
        return FORMATS[name]
    except KeyError:
        known = ", ".join(FORMATS)
        hint = f"{nearest(name, FORMATS)} (there are: {known})".strip()
        raise InputError(f"{name!r} is no format of references", hint=hint) from None


def format_of_file(name: str) -> OutputFormat | None:
    """Return the format whose extension a file's name has, the longest if there are several; None without one."""
    fits = [(len(end), row.name) for row in FORMATS.values() for end in row.extensions if name.lower().endswith(end)]
    return FORMATS[max(fits)[1]] if fits else None


def with_short_names() -> list[str]:
    """Return the names of all formats, and beside each, where it is another, the shortest end of its files' names."""
    short = {row.name: min(row.extensions, key=len).removeprefix(".") for row in FORMATS.values()}
    return [name if end in (name, f"{name}.xml") else f"{name} ({end})" for name, end in short.items()]


def write(
    records: Iterable[Record | Entry],
    format: str | OutputFormat,
    *,
    keys: Keys | None = None,
    newline: str = "\n",
    **options: Any,
) -> Iterator[str]:
    r"""Return the records as the text of a file, piece by piece.

    Parameters
    ----------
    records : of a parser, or entries of a bibliography; taken one at a time, as pieces are asked for.
    format : a name of `FORMATS`, or a row of your own.
    keys : goes on from an earlier run, so that keys of two files differ.
    newline : what ends a line.
    options : the format's own, for example `safe` of csv.

    Returns
    -------
    Pieces of text; together they are the file.

    Raises
    ------
    InputError
        For a name that is no format and an option that the format does not have, at once.

    Examples
    --------
    >>> from espalier.citations.record import Field, Record
    >>> record = Record("Wires", (Field("title", "Wires", 0, 5, 1.0),), 1.0)
    >>> "".join(write([record], "csl"))
    '[\n{"id": "wires", "type": "document", "title": "Wires"}\n]\n'
    """
    from espalier.citations.output_text import Keys, stem_of
    from espalier.citations.record import Record

    if isinstance(records, Record):
        raise InputError("write takes an iterable of records", hint="wrap a single one in [ ]")
    row = get_format(format) if isinstance(format, str) else format
    for name in options:
        if name not in row.options:
            has = nearest(name, row.options, f"it has {', '.join(sorted(row.options)) or 'none'}")
            raise InputError(f"the format {row.name!r} has no option {name!r}", hint=has)
    given = keys or Keys()
    pieces = row.join(
        row.entry(record, given.unique(row.fit_key(stem_of(record))) if row.keyed else "", **options)
        for record in records
    )
    return pieces if newline == "\n" else (piece.replace("\n", newline) for piece in pieces)

"""References out of texts and documents: the one place that says how they are cut, whoever asks.

    text whose layout says all     cut there by `citations.splitting`, line by line, at any length: numbers, indents,
                                   blank lines, one reference a line; so is what is too short to have a layout
    any other text                 the model of lines reads it, unless it is too long, or it finds no list
    document                       the model of lines finds its list

Where the layout says all, nothing is taken away from a reference: its number (`[3]`) stays, and a parser reads it as a
field. Still headings of lists are no references, a dash is filled in with the authors of the reference before, words of
a note before its work are left out, and several works in one note are several references. Who names a layout has all
lines as they are.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from espalier.citations.bibliographies import recognise
from espalier.citations.splitting import Reference, read_references, split_references
from espalier.documents.pace import look
from espalier.errors import FormatError, InputError

if TYPE_CHECKING:
    from espalier.documents.cutting.finding import Dropped, Findings
    from espalier.documents.lines import PrintedText

__all__ = [
    "LONGEST_GUESSED",
    "CutReferences",
    "cut",
    "cut_document",
    "cut_text",
    "find_in",
    "refuse_bibliography",
    "unpacked",
]

LONGEST_GUESSED = 1 << 22
"""Characters of a text whose layout is guessed from all of it; of a longer one, from its first lines."""

FEW, SHORT = 4, 500
"""Lines and characters of a text that is too short to have a layout, if it has fewer of both."""

_WITHOUT_PAGES = ("HTML", "LaTeX")  # and their lines are not those that an editor counts
_SEVERAL = 0.9  # the confidence in works of one reference that were read in it
_LONGEST_HEADING = 90  # characters
_GZIP = b"\x1f\x8b"
_MAY_BE_NOTE = re.compile(r"[\[(]?\d{1,4}[\]).\s]|\[\w|[—–―−_-]")


class CutReferences(NamedTuple):
    """What was cut: references, to be gone through once, and the parts of their list that are in none of them."""

    references: Iterable[Reference]
    left_out: Sequence[Dropped] = ()


def find_in(printed: PrintedText) -> Findings:
    """Return the references of a document, each with its place; a plain text may be the list alone, in any layout."""
    look()
    if printed.kind != "text":
        from espalier.documents.cutting.finding import find_references

        return find_references(printed)
    refuse_bibliography(printed.text)
    return _unclear(printed.text, printed) or _as_laid_out(printed)


def cut(text: str) -> Findings:
    """Return the references of a text, each with its place, and what is in none of them."""
    from espalier.documents.reading.plain import printed_lines

    return find_in(printed_lines(text))


def cut_document(printed: PrintedText) -> CutReferences:
    """Return the references of a document, and where people find them in its file."""
    found = find_in(printed)
    counted = "" if printed.kind in _WITHOUT_PAGES else "page"
    return CutReferences([replace(one, file=printed.name, counted=counted) for one in found.references], found.left_out)


def cut_text(
    source: str | IO[bytes],
    layout: str = "auto",
    *,
    name: str = "",
    encoding: str = "utf-8",
    refused: list[FormatError] | None = None,
) -> CutReferences:
    """Return the references of a text; of an open file those of any number of lines, one after the other.

    source : a file gives its first bytes with `peek`, as many as `LONGEST_GUESSED` if it has them. name : of the file;
    refused : gets what is too long to be a reference, which is an error otherwise.
    """
    if layout == "auto" and (head := _whole(source, encoding)) is not None and (found := _unclear(head)):
        counted = "page" if "\f" in head else "line"
        return CutReferences([replace(one, file=name, counted=counted) for one in found.references], found.left_out)
    lines = io.StringIO(source, newline="\n") if isinstance(source, str) else source
    references = read_references(lines, layout, encoding=encoding, refused=refused)
    if isinstance(source, str):
        references = (replace(one, file=name) for one in references)
    return CutReferences(_tidied(references) if layout == "auto" else references)


def refuse_bibliography(text: str) -> None:
    """Refuse what is no text to be parsed, and say what to do with it."""
    found = recognise(text)
    if found is not None:
        hint = found.refused or "nothing in it has to be parsed; 'espalier convert' writes it in other formats"
        raise InputError(f"this is {found.called}", hint=str(hint))


def unpacked(head: bytes, most: int) -> bytes | None:
    """Return what a file begins with, at most so much; of a gzip file, what it holds. None if that is damaged."""
    if head[:2] != _GZIP:
        return head[:most]
    try:
        return zlib.decompressobj(31).decompress(head, most)
    except zlib.error:
        return None


def _whole(source: str | IO[bytes], encoding: str) -> str | None:
    """Return a text of which all can be looked at; None of one that is longer, or that is in another encoding."""
    if isinstance(source, str):
        return source if len(source) <= LONGEST_GUESSED else None
    head = cast(io.BufferedReader, source).peek(LONGEST_GUESSED)
    data = unpacked(head, LONGEST_GUESSED) if len(head) < LONGEST_GUESSED else None
    if data is None or len(data) == LONGEST_GUESSED:
        return None
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):  # who reads it line by line says where
        return None


def _unclear(text: str, printed: PrintedText | None = None) -> Findings | None:
    """Return the references of a text whose layout does not say where they begin; None for any other text."""
    present = [line for line in text.splitlines() if line.strip()] if len(text) <= LONGEST_GUESSED else []
    if len(present) < FEW and sum(map(len, present)) < SHORT:  # what is too long has none that is looked at
        return None
    from espalier.documents.cutting.pasted import read_unclear

    return read_unclear(text, printed)


def _tidied(references: Iterable[Reference]) -> Iterator[Reference]:
    """Yield references without headings, each work of a note by itself, and with the authors that a dash stands for."""
    named: Reference | None = None
    for whole in references:
        if _is_heading(whole.text):
            continue
        for item in _works(whole):
            if _MAY_BE_NOTE.match(item.text):  # the others need nothing that knows of notes
                from espalier.documents.cutting.lined_works import tidied

                item = tidied(item, named)
            named = named if item.filled else item
            yield item


def _works(whole: Reference) -> list[Reference]:
    """Return the works of a reference, each with its place."""
    if "; " not in whole.text:
        return [whole]
    from espalier.documents.cutting.lined_works import works_in

    return [whole.part(begin, end, _SEVERAL) for begin, end in works_in(whole.text)] or [whole]


def _is_heading(text: str) -> bool:
    """Is a line the heading of a list, such as `References`?"""
    if len(text) > _LONGEST_HEADING or sum(map(str.isdigit, text)) > 3:
        return False
    from espalier.documents.line_words import heading_kind

    return heading_kind(text) == "references"


def _as_laid_out(printed: PrintedText) -> Findings:
    """Return the references of a text whose layout says where they begin, with their places in it."""
    from espalier.documents.cutting.finding import Dropped, Findings, FoundReference

    def start_of(one: Reference) -> int:
        return printed.lines[one.line - 1].start + one.offset

    split = split_references("\n".join(line.text for line in printed.lines), refused=[])
    headings = [one for one in split if _is_heading(one.text)]
    tidied = list(_tidied(split))
    starts = sorted({len(printed.text), *map(start_of, headings), *map(start_of, tidied)})
    behind = dict(pairwise(starts))
    found: list[FoundReference] = []
    dropped: list[Dropped] = []
    for heading, one in (*((True, one) for one in headings), *((False, one) for one in tidied)):
        start = start_of(one)
        end = start + len(printed.text[start : behind.get(start, start)].rstrip())
        page = printed.lines[one.line - 1].page
        if heading:
            dropped.append(Dropped("heading", one.text, one.line, start, end, page))
            continue
        lines = tuple(range(one.line, printed.line_at(max(end - 1, start)) + 2))
        own = {name: getattr(one, name) for name in Reference.__dataclass_fields__}
        found.append(FoundReference(**own, page=page, start=start, end=end, lines=lines))
    return Findings(tuple(found), tuple(dropped))

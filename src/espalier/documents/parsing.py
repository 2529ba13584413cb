"""`parse_document`: a file to the records of its references, each with its page and its place.

read (`reading`) -> find and cut (`cutting.finding`, for plain text `cutting.pasted`) -> parse (a `Parser`)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from espalier.documents.cutting.finding import Findings, FoundReference, find_references
from espalier.documents.cutting.pasted import FEW, SHORT, by_lines, cut, plain_layout, too_long
from espalier.documents.lines import MOST_LINES, PrintedText
from espalier.documents.pace import look
from espalier.documents.reading import read_document
from espalier.documents.reading.plain import printed_lines

if TYPE_CHECKING:
    from espalier.citations.parser import Parser
    from espalier.citations.record import Record

__all__ = ["ParsedDocument", "find_in", "parse_document", "place_in_document", "read_unclear"]


LONGEST_GUESSED = 1 << 22
"""Characters of a text whose layout is guessed from all of it; of a longer one, from its first lines."""


@dataclass(frozen=True)
class ParsedDocument:
    """The records of a document, and where each stands; iterate over it for the records.

    Parameters
    ----------
    records : one for each reference, in the order of the list.
    references : where each was found: page, line, place on the page, and how sure the cut is.
    printed : the lines of the document.
    """

    records: tuple[Record, ...]
    references: tuple[FoundReference, ...]
    printed: PrintedText

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read as it should be, in words."""
        return self.printed.warnings

    def __iter__(self) -> Iterator[Record]:
        """Yield the records."""
        return iter(self.records)

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self.records)


def find_in(printed: PrintedText) -> Findings:
    """Return the references of a document; a plain text may be the list alone, in any layout."""
    look()
    return cut(printed.text) if printed.kind == "text" else find_references(printed)


def read_unclear(text: str) -> Findings:
    """Return the references of a text whose layout does not say where they begin, and what was left out.

    None for any other text: what the layout says (numbers, indents, blank lines, a reference a line) is for
    `citations.splitting`, which cuts texts of any length.
    """
    lines = text.splitlines() if len(text) <= LONGEST_GUESSED else []
    if not 0 < len(lines) < MOST_LINES:
        return Findings()
    present = [line for line in lines if line.strip()]
    if len(present) < FEW and sum(map(len, present)) < SHORT:
        return Findings()
    printed = printed_lines(text)
    if plain_layout([line.text for line in printed.lines]):
        return Findings()
    found = by_lines(printed)
    return Findings() if too_long(found) else found


def place_in_document(found: FoundReference) -> dict[str, Any]:
    """Return where a reference was found, as JSON values.

    page, line : from 1; start, end : in the text of the document; box : left, top, right and bottom edge in points, of
    files that have places; confidence : that it is one whole reference; mark : what stood before it, such as `[3]`;
    filled : the names that a dash at its beginning stands for. What there is not is left out.
    """
    place: dict[str, Any] = {"page": found.page, "line": found.line, "start": found.start, "end": found.end}
    if found.box is not None:
        place["box"] = [round(edge, 1) for edge in found.box]
    place["confidence"] = round(found.confidence, 4)
    return place | {name: value for name in ("mark", "filled") if (value := getattr(found, name))}


def parse_document(
    source: str | os.PathLike[str] | bytes | IO[bytes],
    parser: Parser | None = None,
    *,
    name: str | None = None,
    k: int = 1,
    trusted: bool = False,
) -> ParsedDocument:
    """Read a document, find its references, and parse them.

    Parameters
    ----------
    source : a path, the bytes of a file, or an open one: PDF, DOCX, HTML, LaTeX or text.
    parser : of the references; None takes the bundled one.
    name : what messages call the file; None takes its path.
    k : how many readings of each reference.
    trusted : read the file in this process, with no limit of time and memory, as `read_document` does.

    Returns
    -------
    ParsedDocument : its records, and where each stands. It is empty if no list of references was found.

    Raises
    ------
    InputError
        For a file that is of no known kind, damaged, encrypted, too large, has no text, or takes more time or memory
        than a file of its size may take.
    MissingExtraError
        For a PDF file, if pypdfium2 is not installed.

    Examples
    --------
    >>> import espalier as es
    >>> page = b"<html><h2>References</h2><ol><li>Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9.</ol>"
    >>> found = es.parse_document(page)
    >>> [record.work.title for record in found]
    ['Soil salts']
    """
    from espalier.citations.parser import bundled_parser

    data = source if isinstance(source, bytes | str | os.PathLike) else source.read()
    printed = read_document(data, name, trusted=trusted)
    found = find_in(printed).references
    parser = bundled_parser() if parser is None else parser
    records = tuple(parser.parse_many([reference.text for reference in found], k=k))
    return ParsedDocument(records, found, printed)

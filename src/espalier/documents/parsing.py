"""`parse_document`: a file to the records of its references, each with its page and its place.

read (`reading`) -> cut (`references`) -> parse (a `Parser`)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from espalier.documents.reading import read_document
from espalier.documents.references import find_in

if TYPE_CHECKING:
    from espalier.citations.parser import Parser
    from espalier.citations.record import Record
    from espalier.documents.cutting.finding import FoundReference
    from espalier.documents.lines import PrintedText

__all__ = ["ParsedDocument", "parse_document"]


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

"""XML without DTDs and entities of its own, read in pieces: a bomb is refused, and a fault has its line.

The text was decoded before, so what its XML declaration says about its encoding is passed over. Elements nest `DEEPEST`
deep. A token that is longer than a piece is looked at again with every piece that follows, by many an expat: pieces
double while nothing comes out of them, and time stays linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from xml.parsers import expat

from espalier.errors import FormatError

__all__ = ["DEEPEST", "fed", "strict_parser"]

DEEPEST = 100
"""Elements in elements: no bibliography has ten."""

_PIECE = 1 << 16

Row = TypeVar("Row")


def strict_parser(file: str, begin: Callable[[str, dict[str, str]], None], end: Callable[[str], None]) -> Any:
    """Return a parser of the standard library that refuses DTDs, entities other than the five of XML, and deep nests.

    begin, end : what is told of the tags.
    """
    parser = expat.ParserCreate("utf-8")
    depth = 0

    def refuse(*_: Any) -> None:
        raise FormatError("a DTD or an entity of its own has no place in a bibliography", path=file)

    def opened(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            what = f"<{name[:100]}> is nested more than {DEEPEST} deep"
            raise FormatError(what, path=file, line=parser.CurrentLineNumber, hint="is this a bibliography?")
        begin(name, attributes)

    def closed(name: str) -> None:
        nonlocal depth
        depth -= 1
        end(name)

    parser.EntityDeclHandler = parser.SkippedEntityHandler = refuse
    parser.StartDoctypeDeclHandler = lambda *declared: refuse() if declared[-1] else None
    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    return parser


def fed(parser: Any, data: bytes, found: list[Row], file: str) -> Iterator[Row]:
    """Feed a parser piece by piece, and yield what its handlers put into `found`; what is not XML is an error."""
    start, size = 0, _PIECE
    try:
        while start <= len(data):
            before = parser.CurrentByteIndex
            parser.Parse(data[start : start + size], start + size > len(data))
            start, size = start + size, 2 * size if parser.CurrentByteIndex == before else _PIECE
            yield from found
            found.clear()
    except expat.ExpatError as error:
        yield from found
        what = f"this is not XML: {expat.ErrorString(error.code)}"
        raise FormatError(what, path=file, line=error.lineno, hint="is the file cut off?") from None

"""XML without DTDs and entities of its own, read in pieces: a bomb is refused, and a fault has its line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar
from xml.parsers import expat

from espalier.errors import FormatError

__all__ = ["fed", "strict_parser"]

_PIECE = 1 << 16

Row = TypeVar("Row")


def strict_parser(file: str) -> Any:
    """Return a parser of the standard library that refuses DTDs, and entities other than the five of XML."""
    parser = expat.ParserCreate()

    def refuse(*_: Any) -> None:
        raise FormatError("a DTD or an entity of its own has no place in a bibliography", path=file)

    parser.EntityDeclHandler = parser.SkippedEntityHandler = refuse
    parser.StartDoctypeDeclHandler = lambda *declared: refuse() if declared[-1] else None
    return parser


def fed(parser: Any, data: bytes, found: list[Row], file: str) -> Iterator[Row]:
    """Feed a parser piece by piece, and yield what its handlers put into `found`; what is not XML is an error."""
    try:
        for start in range(0, len(data) + 1, _PIECE):
            parser.Parse(data[start : start + _PIECE], start + _PIECE > len(data))
            yield from found
            found.clear()
    except expat.ExpatError as error:
        yield from found
        what = f"this is not XML: {expat.ErrorString(error.code)}"
        raise FormatError(what, path=file, line=error.lineno, hint="is the file cut off?") from None

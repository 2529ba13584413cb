"""`PrintedText`: the lines of a file, each with its page, its place on the page and its type, in reading order.

The text of all lines is one string, `PrintedText.text`: a line feed stands between two lines of a page, a form feed
between two pages. `TextLine.start` says where a line begins in it: what is found in the text has a page and a place.

Places are in points (1/72 inch) from the upper left corner of the page: `y` grows downwards. A reader that knows no
places (plain text, HTML) leaves `box`, `size` and `column` out; plain text then keeps the spaces that a line begins
with, and its empty lines, because they are all the layout there is. Lines with places have no spaces at their ends,
and none of them is empty.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from espalier.errors import InputError

__all__ = ["HINTS", "MOST_LINES", "Box", "PageSize", "PrintedText", "TextLine", "check_lines"]

HINTS = ("", "page", "heading", "item", "note")
"""What a file itself may say about a line: nothing, running head or page number, heading, first line of an item of a
list, footnote."""


MOST_LINES = 200_000
"""Lines of a document: each is an object, and much is asked about it. A book of a thousand pages has 50,000."""


def check_lines(count: int, name: str = "") -> None:
    """Raise InputError if a document has so many lines that nobody could wait for an answer."""
    if count > MOST_LINES:
        what = f"{name or 'the document'} has more than {MOST_LINES:,} lines"
        raise InputError(what, hint="cut it into several files")


class Box(NamedTuple):
    """Where something stands on a page: left, top, right and bottom edge, in points from the upper left corner."""

    x0: float
    y0: float
    x1: float
    y1: float


class PageSize(NamedTuple):
    """Width and height of a page in points."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of a file.

    text : without its end; page : from 1; box : where it stands; size : of most of its type, in points; bold, italic :
    whether most of it is; column : from 0, left to right, None if it is unknown or the line spans columns; start : of
    its first character in the text of the whole file; hint : what the file says that it is, one of `HINTS`; paragraph :
    the file says that a paragraph begins here, as those do that know paragraphs.
    """

    text: str
    page: int = 1
    box: Box | None = None
    size: float | None = None
    bold: bool | None = None
    italic: bool | None = None
    column: int | None = None
    start: int = 0
    hint: str = ""
    paragraph: bool = False

    @property
    def end(self) -> int:
        """Where the line ends in the text of the whole file."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class PrintedText:
    """A printed text: the lines of a file in reading order.

    lines : make them with `of`, which says where each begins; pages : the size of each page, empty if there are none;
    name : of the file; kind : "PDF", "HTML" ...; warnings : what a reader could not do, for people.
    """

    lines: tuple[TextLine, ...]
    pages: tuple[PageSize, ...] = ()
    name: str = ""
    kind: str = ""
    warnings: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls,
        lines: Iterable[TextLine],
        *,
        pages: Iterable[PageSize] = (),
        name: str = "",
        kind: str = "",
        warnings: Iterable[str] = (),
    ) -> PrintedText:
        """Return the lines with their starts, in the order in which they come; pages must not go backwards.

        Raises InputError if there are more than `MOST_LINES`.
        """
        placed: list[TextLine] = []
        position, page = 0, 1
        for line in lines:
            check_lines(len(placed) + 1, name)
            position += _between(page, line.page, first=not placed)
            placed.append(line if line.start == position else replace(line, start=position))
            position, page = position + len(line.text), line.page
        return cls(tuple(placed), tuple(pages), name, kind, tuple(warnings))

    @cached_property
    def text(self) -> str:
        """All lines: a line feed between two of a page, a form feed for each new page."""
        parts: list[str] = []
        page = 1
        for line in self.lines:
            parts.append("\f" * (line.page - page) or ("\n" if parts else ""))
            parts.append(line.text)
            page = line.page
        return "".join(parts)

    def line_at(self, offset: int) -> int:
        """Return the number of the line that a character of `text` is in; what stands between lines ends a line."""
        return max(bisect_right(self._starts, offset) - 1, 0)

    @cached_property
    def right_edges(self) -> dict[tuple[int, int | None], float]:
        """How far lines reach to the right, by page and column, of those that have places."""
        found: dict[tuple[int, int | None], float] = {}
        for line in self.lines:
            if line.box is not None and line.hint != "page":
                key = (line.page, line.column)
                found[key] = max(found.get(key, 0.0), line.box.x1)
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return [line.start for line in self.lines]


def _between(page: int, following: int, *, first: bool) -> int:
    """Return how many characters stand between a line and the next one: one, or one for each new page."""
    if following < page:
        raise ValueError(f"a line of page {following} comes after one of page {page}")
    return following - page if first or following > page else 1

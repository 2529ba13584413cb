"""What stands amid a list or right behind it: captions with their figures, rows of tables, addresses of authors.

A figure at the head of a page may stand amid a reference that goes on below it. Its caption, and what belongs to it, is
told by its first words and by the white space around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from espalier.documents.deciding.features import Seen
from espalier.documents.line_words import pattern

__all__ = ["addresses", "captions", "tables"]

LONGEST_CAPTION = 12
"""Lines of a caption, and of what stands above it in its column, at most."""
LONGEST_LABEL = 6
"""Words of a line in a figure, at most."""
LONGEST_ADDRESS = 6
"""Lines above the words for an electronic address, at most."""

_CAPTION = pattern(
    r"(?:Fig(?:ure|\.)?|FIG(?:URE|\.)|Tab(?:le|elle|\.)|TABLE|Abb(?:ildung|\.)|Figura|Tableau|Tabla|Tabela|Box|Scheme)"
    r" ?(?:\d{1,3}|[IVX]{1,5}|[A-Z]\.?\d{1,2})(?:[.:]| ?[-–—|] |\Z| <C>)"
)
_MAIL = re.compile(r"\W?(?:E-?mail(?: address(?:es)?)?|Electronic address|E-Mail-Adresse)s? ?:", re.IGNORECASE)
_FIGURES = re.compile(r"[\d.,%()\s/*+−–±-]*\Z")
_FIGURE = re.compile(r"\d[.,/]\d|\d ?%")
_SOURCE = re.compile(r"(?:Quellen?|Sources?|Datenquelle|Data)\s?: ")
_APART = ("1+", "2", "3")


def tables(page: Seen) -> list[int]:
    """Return the units that are rows of figures, the row above them that names them, and where they are from."""
    rows = {i for i, unit in enumerate(page.units) if _is_row(unit.text)}
    names = {i - 1 for i in rows if i - 1 not in rows and i and _names_columns(page, i - 1)}
    return sorted(rows | names)


def _is_row(text: str) -> bool:
    """Is a line a row of figures, or does it say where those are from?"""
    if _SOURCE.match(text):
        return True
    return len(text.split()) > 2 and len(_FIGURE.findall(text)) > 2 and _FIGURES.match(text) is not None


def _names_columns(page: Seen, i: int) -> bool:
    """May a line above a row of figures name its columns? It begins a page, or stands apart from what is above it."""
    one, place = page.looks[i], page.layouts[i]
    begins = place.turn != "" or place.gap in ("2", "3")
    return begins and one.years == 0 and one.mark is None and one.end not in ("stop", "range-stop", "digit-stop")


def captions(page: Seen) -> list[list[int]]:
    """Return the units of each caption that stands apart, of the figure above it in its column, of a table below."""
    found = []
    rows = frozenset(tables(page))
    for i, unit in enumerate(page.units):
        if not unit.placed or unit.inner or unit.hint == "page" or _CAPTION.match(unit.text) is None:
            continue
        first = _top(page, i)
        if page.layouts[first].turn == "" and page.layouts[i].gap not in _APART:
            continue
        behind = i + 1
        while behind < len(page.units) and (
            behind in rows or (behind - i < LONGEST_CAPTION and behind - 1 not in rows and _goes_on(page, behind))
        ):
            behind += 1
        found.append(list(range(first, behind)))
    return found


def _goes_on(page: Seen, i: int) -> bool:
    """Does a line belong to the block of the line above it: no white space between, in one type?"""
    above, unit = page.units[i - 1], page.units[i]
    same = (unit.page, unit.column) == (above.page, above.column) and abs(unit.size - above.size) < 0.3
    return same and unit.hint != "page" and (unit.inner or page.layouts[i].gap not in _APART)


def _top(page: Seen, i: int) -> int:
    """Return where the column of a caption begins if nothing but a figure is above it there, else its own place."""
    first, unit = i, page.units[i]
    while first and page.layouts[first].turn == "" and i - first < LONGEST_CAPTION:
        above = page.units[first - 1]
        if above.hint == "page" or (above.page, above.column) != (unit.page, unit.column):
            return first
        if page.looks[first - 1].words > LONGEST_LABEL or page.looks[first - 1].years or page.looks[first - 1].flags:
            return i
        first -= 1
    return first if page.layouts[first].turn != "" else i


def addresses(page: Seen, likely: Sequence[float]) -> list[int]:
    """Return the units of addresses of authors, which end with an electronic one, if no list goes on below them.

    likely : that a unit begins a reference.
    """
    found: list[int] = []
    for i, unit in enumerate(page.units):
        if _MAIL.match(unit.text) is None or sum(likely[i + 1 : i + 15]) > 1.0:
            continue
        first = i
        while first and i - first < LONGEST_ADDRESS and _is_address_line(page, first - 1):
            first -= 1
            if page.layouts[first].gap in _APART:
                break
        else:
            first = i
        found += range(first, i + 1)
    return found


def _is_address_line(page: Seen, i: int) -> bool:
    one = page.looks[i]
    return one.years == 0 and one.mark is None and page.units[i].hint != "page"

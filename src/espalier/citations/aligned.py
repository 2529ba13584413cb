"""A printed reference and the values that its publisher gave: which words are which value.

Every value stands in the text, and nobody says where. Long ones are found first, and what they cover is theirs: title,
journal, addresses. Names are found in a row. Volume, issue and pages stand close together in this order, so of several
places that each may have, the closest are taken; a year stands alone. What still has two places has none: a field that
is missing is left open in training, a wrong one would teach.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

from espalier.document import Span

__all__ = ["aligned"]

_BETWEEN = 60
"""Characters from one name of a list to the next, at most."""
_REACH = 40
"""Characters from a volume to its issue, from there to the pages, at most."""
_MANY = 200
"""Ways to place numbers that are tried; with more, none is sure."""

_OTHERS = re.compile(
    r"(?:[\s,;:…]|\band\b|\be\b|&)*\b(?:et\s+al|et\s+col(?:s|aboradores)?|and\s+others)\b\.?", re.IGNORECASE
)
_RESOLVER = re.compile(r"(?:https?://)?(?:dx\.)?doi\.org/\s?$", re.IGNORECASE)
_LAST_PAGE = re.compile(r"\s?[-–—‐‑]+\s?([A-Za-z]{0,2}\d+)")


class _Text:
    """A text, and which of its characters have a field already."""

    def __init__(self, text: str) -> None:
        self.text, self.spans = text, list[Span]()

    def free(self, a: int, b: int) -> bool:
        return all(b <= span.start or span.end <= a for span in self.spans)

    def places(self, value: str) -> list[tuple[int, int]]:
        """Return where a value stands, whole, and nothing else does yet."""
        words = value.split()
        if not words:
            return []
        whole = r"\s+".join(map(re.escape, words))
        found = re.finditer(rf"(?<![^\W_]){whole}(?![^\W_])", self.text, re.IGNORECASE)
        return [match.span() for match in found if self.free(*match.span())]

    def take(self, label: str, place: tuple[int, int] | None) -> None:
        if place is not None and place[0] < place[1] and self.free(*place):
            self.spans.append(Span(*place, label))


def aligned(text: str, values: Mapping[str, Any], kind: str = "") -> list[Span]:
    """Return the places of values in the text of a reference, in order; labels are those of the scheme `publishers`.

    values : authors, editors and translators as lists of names (`family` and `given`, or `literal`), the others texts;
    kind : of the work, as the publisher calls it.
    """
    held = _Text(text)
    for label, value in _long(values):
        places = held.places(value)
        if label in ("doi", "url"):
            held.take(label, _address(text, places))
        elif label == "title" and len(places) > 1 and not values.get("container"):
            held.take(label, places[0])  # the second time it is a remark
        else:
            held.take(label, _only(places))
    for role, label in (("authors", "author"), ("editors", "editor"), ("translators", "translator")):
        held.take(label, _names(held, values.get(role) or ()))
    printer = "institution" if kind == "thesis" else "publisher"
    for key, label in (("publisher", printer), ("place", "location"), ("edition", "edition")):
        held.take(label, _only(held.places(str(values.get(key) or ""))))
    for span in _numbers(held, values):
        held.spans.append(span)
    year = str(values.get("year") or "")
    held.take("date", _only(_years(held, year)) if year else None)
    return sorted(held.spans)


def _long(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is too long to stand anywhere by chance, the longest first."""
    found = [(label, str(values.get(label) or "")) for label in ("title", "container", "doi", "url")]
    found += [("url", str(url)) for url in values.get("urls") or () if url != values.get("url")]
    yield from sorted(found, key=lambda pair: -len(pair[1]))


def _only(places: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the one place, if there is one."""
    return places[0] if len(places) == 1 else None


def _address(text: str, places: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the first place of an address, with what resolves it before."""
    if not places:
        return None
    a, b = places[0]
    before = _RESOLVER.search(text[:a])
    return (before.start() if before else a), b


class _Name(NamedTuple):
    """What a name of a list may look like in the text."""

    family: str
    given: str
    more: str


def _names(held: _Text, people: Iterable[Mapping[str, str]]) -> tuple[int, int] | None:
    """Return where a list of names stands: each behind the one before, all of them."""
    names = [
        _Name(one.get("family") or one.get("literal") or "", one.get("given") or "", one.get("suffix") or "")
        for one in people
    ]
    if not names or not all(name.family for name in names):
        return None
    starts = [place[0] for place in held.places(names[0].family)]
    lists = [found for start in starts if (found := _row(held, names, start)) is not None]
    if not lists:
        return None
    a, b = lists[0]
    others = _OTHERS.match(held.text, b)
    return a, others.end() if others else b


def _row(held: _Text, names: Sequence[_Name], start: int) -> tuple[int, int] | None:
    """Return where names stand one behind the other, the family name of the first one at `start`."""
    begin, end = start, start
    for k, name in enumerate(names):
        behind = [place for place in held.places(name.family) if end <= place[0] <= end + (_BETWEEN if k else 0)]
        if not behind:
            return None
        a, b = behind[0]
        before, after = _given(held, name.given, a, _suffix(held, name.more, b), end)
        if not k:
            begin = before
        end = max(after, _suffix(held, name.more, after))
    return begin, end


def _given(held: _Text, given: str, a: int, b: int, least: int) -> tuple[int, int]:
    """Return where a name begins and ends whose family name stands from a to b: its given name is before or behind."""
    letters = re.findall(r"[^\W_]", given)
    if not letters:
        return a, b
    loose = r"[\W_]{0,3}".join(map(re.escape, letters))
    behind = re.compile(rf"[\s,(]{{0,3}}{loose}(?![^\W_])[.)]?", re.IGNORECASE).match(held.text, b)
    if behind is not None and held.free(b, behind.end()):
        return a, behind.end()
    head = held.text[max(0, a - len(given) - 3 * len(letters) - 3) : a]
    before = re.search(rf"(?<![^\W_]){loose}[\W_]{{0,3}}$", head, re.IGNORECASE)
    if before is not None:
        place = a - len(head) + before.start()
        if (place >= least or not least) and held.free(place, a):
            return place, b
    return a, b


def _suffix(held: _Text, suffix: str, end: int) -> int:
    """Return where a name ends with its suffix, if that stands close behind."""
    if not suffix:
        return end
    found = [place[1] for place in held.places(suffix) if 0 <= place[0] - end <= 4]
    return found[0] if found else end


def _numbers(held: _Text, values: Mapping[str, Any]) -> Iterator[Span]:
    """Yield volume, issue and pages: those of all their places that stand closest together, in this order."""
    wanted = [
        (label, str(values.get(key) or ""))
        for label, key in (("volume", "volume"), ("issue", "issue"), ("pages", "first"))
    ]
    places = [(label, held.places(value)) for label, value in wanted if value]
    places = [(label, some) for label, some in places if some]
    ways = 1
    for _, some in places:
        ways *= len(some)
    if not places or ways > _MANY:
        return
    fits = [
        way
        for way in product(*(some for _, some in places))
        if all(0 <= after[0] - before[1] <= _REACH for before, after in pairwise(way))
    ]
    if not fits:
        return
    spread = [way[-1][0] - way[0][0] for way in fits]
    best = [way for way, wide in zip(fits, spread, strict=True) if wide == min(spread)]
    if len(best) != 1:
        return
    for (label, _), (a, b) in zip(places, best[0], strict=True):
        if label == "pages":
            b = _end_of_pages(held.text, b)
        yield Span(a, b, label)


def _end_of_pages(text: str, b: int) -> int:
    """Return where a range ends whose first page ends at b."""
    last = _LAST_PAGE.match(text, b)
    return last.end() if last else b


def _years(held: _Text, year: str) -> list[tuple[int, int]]:
    """Return where a year stands, with the letter that tells works of one year apart."""
    found = re.finditer(rf"(?<![^\W_]){re.escape(year)}[a-z]?(?![^\W_])", held.text)
    return [match.span() for match in found if held.free(*match.span())]

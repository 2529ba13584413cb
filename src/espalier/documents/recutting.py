"""References that are still two: a second look at what the model of lines left together, by what is read in it.

The model of lines sees how lines begin and end. Whether `... 12 (1999); Smith, J.` goes on with another work, the model
of references knows better: it reads names there, after a work that has all it needs. So a text that may hold two works
is read by it, without its rules (which say that one reference has one title), and is cut where names follow

    a date, pages or an address, and a title, a journal or a publisher      since the last cut
    the end of a sentence, of a bracket or a number, with a year on both sides; or a semicolon

and where full names and a year begin a sentence, if the text begins with them, too, or has two such places. What is cut
off too early (names alone; a publisher without a work) is put back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from espalier.citations.normalise.kinds import standard_number
from espalier.documents.line_words import pattern
from espalier.documents.pace import look

if TYPE_CHECKING:
    from espalier.citations.parser import Parser

__all__ = [
    "ends_of_rests",
    "is_address",
    "is_rest",
    "is_work_of",
    "may_be_names",
    "may_be_rest",
    "may_be_two",
    "read_fields",
    "second_works",
    "semicolon_pieces",
    "works_behind_semicolons",
]

SHORTEST_WORK = 20
"""Characters before a cut, and behind it."""

AROUND = 120
"""Characters that are read around a cut."""
LONGEST_NAMES = 400
"""Characters of names that may stand before a cut."""
LONGEST_REST = 60
"""Characters of the end of a reference that may stand behind a cut."""

TOGETHER = 100
"""Texts that are read between two looks at the clock."""

_ENOUGH = frozenset(("date", "url", "doi", "pages", "volume", "accessed"))
_WORK = frozenset(
    ("title", "container-title", "publisher", "note", "institution", "collection-title", "genre", "location")
)
_NAMES = frozenset(("author", "editor", "translator"))
_YEAR = re.compile(
    r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)|[Ff]orthcoming|[Ii]n press|[Ii]m Erscheinen|[Ii]m Druck|\bn\. ?d\.|\bo\. ?J\."
    r"|arXiv: ?\S{0,12}\d{4}|arxiv\.org/abs/\S{0,8}\d{4}|\b[a-z]{2,6}(?:-[a-z]{2,4})?/\d{7}"  # numbers of preprints
)
_BORDER = pattern(r"(?<=[.)\]\d/”\"»;])\s+(?=(?:<LEAD>){0,2}(?:<C>|(?:<particles>) <C>))")
_SHAPE = pattern(r"<C>\.|,| and | und | & |et al|u\. ?a\.|<U>{1,3}\b|<C>\w+ <C>\w")
_ADDRESS = re.compile(r"(?:\S{1,6}\s+)?https?://\S+[./]\Z")  # nothing else behind a mark
_ADDRESSES = re.compile(r"(?:\S{1,6}\s+)?https?://\S+[./](?:\s+https?://\S+)+\Z")
_STOPS = '.)]/”"»'
_NAMED = pattern(r"<P><W>(?:[ -]<W>)?, ?<C>|<P><U>{3,},? |(?:<C>\.[ -]?){1,3}<P><W>[,:]|<P><W> <U>{1,3}[,. ]")
_BARE = pattern(
    r"<P><W>(?: <U>(?:-?<U>)?){1,3}(?:(?:,| and) <P><W>(?: <U>(?:-?<U>)?){1,3})* <YEAR>[a-z]? <C>"
)  # Smith J K 1994
_EDITED = re.compile(r"\b[Ee]d(?:s|ited|itors?)?\b|[Hh]rsg|[Hh]gg?\.|[Hh]erausg")
_NAMES_ALONE = pattern(r"\D{8,}(?:<YEAR>[a-z]?[)\]]?)?[.:,]?")
_INSIDE = re.compile(r"(?:\b[Ii]n:?|\bby|\bvon|,)\Z")
_SAME = r"(?:ders|dies|id|ead)\.|idem|eadem"  # the author of the work before
_SAME_AUTHOR = pattern(rf"(?:<LEAD>){{0,2}}(?:{_SAME})", re.IGNORECASE)
_SEMICOLON = pattern(
    rf";\s+(?:(?:and|und)\s+)?(?=(?:<LEAD>){{0,2}}(?:<C>|(?:<particles>) <C>|[\"“„«‘]|(?:{_SAME})[,:]? ))"
)
_UNBROKEN = frozenset(("author", "editor", "translator", "title", "container-title"))
_LEAD_BEFORE = pattern(r"(?<=[;.)])\s+(?:<LEAD>){1,2}\Z")
_INITIALS = pattern(r"(?:<C>\.[ -]?){1,3}")
_LEAD = pattern(r"(?:<LEAD>){1,2}")
_FULL = r"<C>[\w'’.-]*(?: (?:<C>[\w'’.-]*|(?:<particles>))){1,3}"
_LINKS = re.compile(r"(?:CrossRef|Medline|PubMed|Scholar|MathSciNet|Article|PMC|PDF)\Z")
_DATED = tuple(
    pattern(rf"{_FULL}(?:, {_FULL}){{0,12}}(?:,? (?:and|und) {_FULL})?\.? {year}[.:,]? ")
    for year in (r"\(<YEAR>[a-z]?\)", "<YEAR>[a-z]?")
)  # a list has one of them


def may_be_two(text: str, starts: Iterable[int] = ()) -> bool:
    """May a text hold two works? It has a place where one may begin, and a year before it and after it.

    starts : where its lines begin; there, a name behind the end of a sentence is enough.
    """
    if len(text) < 2 * SHORTEST_WORK:
        return False
    years = [found.start() for found in _YEAR.finditer(text)]
    if any(c.isdigit() for c in text.partition("; ")[0]) and any(c.isdigit() for c in text.partition("; ")[2]):
        return True
    if any(text[start - 2 : start - 1] in _STOPS and _NAMED.match(text, start) for start in starts if start > 40):
        return True
    if any(text[start - 2 : start - 1].isdigit() and _BARE.match(text, start) for start in starts):
        return True
    if _ADDRESSES.match(text):
        return True
    if len(years) < 2:
        return False
    return any(years[0] < found.start() and found.end() <= years[-1] for found in _BORDER.finditer(text))


def is_address(text: str) -> bool:
    """Is a reference nothing but an address?"""
    return _ADDRESS.match(text) is not None


def may_be_rest(text: str) -> bool:
    """May a text be only the end of a reference? It is short and has no year, or begins with an address."""
    return len(text) < 120 and (_YEAR.search(text) is None or text.startswith(("(http", "http", "<http", "URL")))


def may_be_names(text: str) -> bool:
    """May a text be names alone, or names and a year, whose work stands in the next one?"""
    return len(text) < LONGEST_NAMES and _NAMES_ALONE.fullmatch(text) is not None


def is_work_of(names: Sequence[Any], fields: Sequence[Any]) -> bool:
    """Are these names, and perhaps a year, and those a work that has none of its own at its beginning?"""
    labels = {one.label for one in names}
    named = bool(labels & _NAMES) and labels <= _NAMES | {"date", "citation-number"}
    return named and len(fields) > 0 and fields[0].label == "title"


def second_works(text: str, fields: Iterable[Any], starts: frozenset[int] = frozenset()) -> list[int]:
    """Return where further works begin in a text.

    fields : what was read in it: label, text, start, in order; starts : where its lines begin.
    """
    found, seen, last, begin = [], set[str](), "", 0
    fields = list(fields)
    for k, one in enumerate(fields):
        place = _before_lead(text, one.start)
        whole = bool(_ENOUGH & seen) and _begins(text, begin, place, one, last, seen)
        if k + 1 < len(fields) and (whole or (place in starts and _begins_line(text, begin, place, one, last, seen))):
            found.append(place)
            seen, begin = set(), place
        seen.add(one.label)
        last = one.label
    if _ADDRESSES.match(text):
        return _apart(start for start in starts if text.startswith("http", start))
    places = {0, *found, *_behind_semicolons(text, fields)}
    more = {place + k for place in places for k in _dated_names(text[place:])}
    return _apart((places | more) - {0})


def _apart(places: Iterable[int]) -> list[int]:
    """Return places in order, without those that are next to the one before."""
    found: list[int] = []
    for place in sorted(places):
        if not found or place - found[-1] >= SHORTEST_WORK:
            found.append(place)
    return found


def semicolon_pieces(text: str) -> list[tuple[int, int]]:
    """Return the pieces of a text between semicolons that a work may follow; none unless two of them have a year."""
    borders = list(_SEMICOLON.finditer(text))
    found = list(pairwise([0, *(border.end() for border in borders), len(text)]))
    return found if borders and sum(_has_year(text[a:b]) for a, b in found) > 1 else []


def works_behind_semicolons(text: str, spans: Sequence[tuple[int, int]], fields: Sequence[Sequence[Any]]) -> list[int]:
    """Return where further works begin, by what is read in each piece alone: whole works stand on both sides.

    Names have semicolons between them, too: those of one work (names alone, before a piece that is whole) belong to it,
    and where names end a piece, the next one goes on with them.
    """
    found: list[int] = []
    begin, waiting, closed = 0, -1, False  # waiting : where names begin that the next work may belong to
    for (a, b), read in zip(spans, fields, strict=True):
        labels = [one.label for one in read]
        if closed and labels and set(labels) <= _NAMES:
            waiting = a if waiting < 0 else waiting
            continue
        first = read[0].start if read else len(text)
        named = bool(labels) and labels[0] in ("author", "editor", "title") and first < 30
        named = named or _SAME_AUTHOR.match(text, a) is not None
        if closed and named and _is_whole(read, text[a:b]):
            begin = a if waiting < 0 else waiting
            found.append(begin)
        waiting = -1
        closed = bool(labels) and labels[-1] not in _NAMES and _is_whole(read, text[begin:b])
    return found


def _behind_semicolons(text: str, fields: Sequence[Any]) -> list[int]:
    """Return where a whole work stands behind a semicolon, and one before it, whatever its first words were read as."""
    found, begin = [], 0
    for border in _SEMICOLON.finditer(text):
        if border.start() < begin + SHORTEST_WORK:
            continue
        stop = next((one.start() for one in _SEMICOLON.finditer(text, border.end() + SHORTEST_WORK)), len(text))
        inside = next((one for one in fields if one.start <= border.start() < one.start + len(one.text)), None)
        before = [one for one in fields if begin <= one.start < border.start()]
        behind = [one for one in fields if border.start() <= one.start < stop]
        spanning = inside is not None and inside.start + len(inside.text) > border.end()
        named = _NAMED.match(text, border.end()) is not None
        if spanning and inside is not None and inside.label in _UNBROKEN and not _is_misread(before, behind, named):
            continue
        if not spanning and behind and behind[0].label == "container-title":  # the same work in another journal
            continue
        if _is_whole(before, text[begin : border.start()]) and _is_whole(behind, text[border.end() : stop]):
            found.append(border.end())
            begin = border.end()
    return found


def _is_misread(before: Sequence[Any], behind: Sequence[Any], named: bool) -> bool:
    """Were authors behind a semicolon read as more of a title, or of other authors? named : names stand there."""
    if before[-1:] and before[-1].label == "title":
        dated = any(one.label == "date" for one in before)
        return named and dated and bool(behind) and behind[0].label == "date"
    return len(before) > 2 and before[-1].label == "author"


def _is_whole(fields: Sequence[Any], text: str) -> bool:
    """Is there a year, and a title or a journal?"""
    labels = {one.label for one in fields}
    return bool(labels & {"title", "container-title"}) and _has_year(text)


def _has_year(text: str) -> bool:
    """Is there a year? The number of a standard at the beginning, such as DIN 1505-2, is none."""
    return _YEAR.search(text, text.find(number) + len(number) if (number := standard_number(text)) else 0) is not None


def _before_lead(text: str, place: int) -> int:
    """Return where words begin that lead to a work (`; vgl. auch`), if they stand before a place; else the place."""
    lead = _LEAD_BEFORE.search(text[max(0, place - 40) : place])
    return place - len(lead[0].lstrip()) if lead else place


def _begins(text: str, begin: int, place: int, one: Any, last: str, seen: set[str]) -> bool:
    """Do these names begin a work, behind one that is whole?"""
    if last in _NAMES or not (seen & _WORK or {"pages", "volume"} <= seen):
        return False
    head = text[begin:place].rstrip()
    lead = _LEAD.match(text, place)
    named = text[lead.end() if lead else place :]
    if len(head) < SHORTEST_WORK or not (named[:1].isupper() or named[:1] in '"“„«‘'):
        return False
    if head[-1] == ";":
        behind = one.label in ("author", "editor") or (one.label == "title" and "title" in seen)
        return behind and not _EDITED.search(one.text[-12:]) and any(c.isdigit() for c in named)
    if not (head[-1] in '.)]/"”»' or head[-1].isdigit()) or one.label not in ("author", "editor"):
        return False
    if one.label == "editor" and (
        last not in ("date", "pages", "url", "doi") or _EDITED.search(one.text) or _INSIDE.search(head)
    ):
        return False
    if not named[:1].isupper() or len(one.text) < 4 or not _SHAPE.search(one.text):
        return False
    return _YEAR.search(head) is not None and _YEAR.search(named) is not None


def _begins_line(text: str, begin: int, place: int, one: Any, last: str, seen: set[str]) -> bool:
    """Do names begin a line, behind a sentence and a work that may have no year?"""
    head = text[begin:place].rstrip()
    if _BARE.match(text, place) and len(head) >= SHORTEST_WORK and head[-1].isdigit():
        return _BARE.match(text, begin) is not None
    if one.label != "author" or last in _NAMES or len(head) < 2 * SHORTEST_WORK or head[-1] not in _STOPS:
        return False
    return bool(seen & _NAMES) and bool(seen & {"title", "container-title"}) and _NAMED.match(text, place) is not None


def _dated_names(text: str) -> list[int]:
    """Return where full names and a year begin a sentence, in a text that begins with them or has two such places."""
    borders = [border.end() for border in _BORDER.finditer(text) if border.end() >= SHORTEST_WORK]
    for dated in _DATED:
        found = [place for place in borders if dated.match(text, place)]
        if dated.match(text) or (len(found) > 1 and _YEAR.search(text, 0, found[0])):
            return found
    return []


def ends_of_rests(texts: Sequence[str]) -> list[int]:
    """Return for each text where the end of the one before it ends, if it begins with that, else 0.

    Each is read together with what stands before it: there, `Toulouse, France.` is a place, and no name.
    """
    before = ["", *(text[-AROUND:] + " " for text in texts[:-1])]
    read = read_fields([a + b[: 2 * AROUND] for a, b in zip(before, texts, strict=True)])
    return [_end_of_rest(b, len(a), fields) if a else 0 for a, b, fields in zip(before, texts, read, strict=True)]


def _end_of_rest(text: str, begin: int, fields: Sequence[Any]) -> int:
    for one in fields:
        place = one.start - begin
        if place + len(one.text) <= 1:
            continue
        if one.label in ("title", "container-title", "date", "editor") or place > LONGEST_REST:
            return 0
        if one.label == "author":
            head = text[: max(place, 0)].rstrip()
            ended = head and _INITIALS.fullmatch(head) is None and (head[-1] in _STOPS or _LINKS.search(head))
            return place if ended else 0
    return 0


def is_rest(fields: Iterable[Any], *, of_next: bool) -> bool:
    """Is this no reference but the beginning of the next one (names and a year), or the end of the one before?"""
    labels = {one.label for one in fields}
    return labels <= _NAMES | {"date"} if of_next else not labels & {"author", "title", "citation-number"}


@lru_cache(maxsize=1)
def reader() -> Parser:
    """Return the bundled model of references without its rules: it reads any stretch of a list."""
    from espalier.citations.parser import bundled_parser

    return bundled_parser().with_rules("")


def read_fields(texts: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return what is read in each text."""
    found: list[tuple[Any, ...]] = []
    for start in range(0, len(texts), TOGETHER):
        look()
        found += [tuple(one.fields) for one in reader().extract_many(texts[start : start + TOGETHER])]
    return found

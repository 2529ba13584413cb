"""Mistakes of labels that the labels beside them give away, mended before fields are read.

A record shows what the model said, its work what the reference means. Here a field goes to another label, or is cut in
two, where no other reading is left: a second number of pages before the date is the issue, a key before the names is no
name. Nothing is lost or invented: the texts, put together, are those of the fields. Most references have nothing to
mend, and pay for a look at their labels only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from espalier.citations.normalise.dates import is_month, parse_date
from espalier.citations.normalise.lexicon import MEETINGS
from espalier.citations.normalise.numbers import count_pages, count_volumes, parse_version

__all__ = ["mended"]

Pairs = list[tuple[str, str]]
"""Labels and texts of fields, in order."""

_YEAR = r"(?:1[5-9]|20)[0-9]{2}[a-z]?"
_KEY = re.compile(
    r"[^\W\d_][\w'’-]*(?:(?:,| and| &| und| et)? [^\W\d_][\w'’-]*)? ?(?:et al\.?)?,? ?"
    rf"[(\[]?{_YEAR}[)\]]?\s*[:—–=-]+\s*(?=\w)"
)
_NUMBER = re.compile(r"[\[(]?[0-9]{1,4}[\])]?[.:)]?\s+(?=[^\W\d_])")
_ALONE = re.compile(r"\W*[0-9]{1,4}\W*")
_ROMAN = re.compile(r"[ivxlc]+\s*[,+]?\s*")
_ZIP = re.compile(r"[0-9]{5}(?:-[0-9]{4})?\W*")
_DAY = re.compile(r"([0-9]{1,2}\s*;)\s*(?=[0-9])")
_DATE_AND_PAGE = re.compile(rf"(.*\b{_YEAR}[.,:;])\s*([0-9]{{1,5}}(?:\s?[-–]\s?[0-9]{{1,5}})?\W*)")
_HOUSE = re.compile(r"([^:]{2,40}:)\s+([^:]{2,}\W*)")
_BRACKETED = re.compile(r"(.*\S)\s*([(\[][^()\[\]]{2,40}[)\]]\W*)")
_VOLUMES = re.compile(r"(.*\S[.,;:])\s*(\(?(?:in )?\w{1,6}\s(?:vols?|volumes|Bde|Bänden?|tom[eio]s?|voll|delen)\b\W*)")
_ENDS_IN_VOLUMES = ("vol", "vols", "volumes", "Bde", "Bände", "Bänden", "tomes", "tomos", "tomi", "voll", "delen")
_EDITED = (
    r"(?:edited by|eds?\. by|hrsg\. v(?:on|\.)|hg\. v(?:on|\.)|herausgegeben von|a c(?:ura|\.) ?di"
    r"|sous la dir(?:ection|\.) de|org\. por|organizado por|editado por|coord\. por|pod red\.|под ред\.)"
)
_MIDDLE = re.compile(rf"(.{{4,}}?[,.;(])\s*({_EDITED}\s.*)", re.IGNORECASE | re.DOTALL)
_BEHIND = re.compile(
    rf"(.{{4,}}?[,.;(])\s*((?:{_EDITED}|eds?\.|dir\.|hrsg\.|hg\.)\s+[^\W\d_].*)", re.IGNORECASE | re.DOTALL
)
_PLACE_LAST = re.compile(
    r"(.*\w\.?,)\s*([A-ZÀ-Þ][\w.'’-]+(?: (?:(?:de|do|da|dos|das|del|la) )?[A-ZÀ-Þ][\w.'’-]+){0,2},?\s*)"
)
_CAPITALS = re.compile(r"\W*[A-ZÀ-Þ][A-ZÀ-Þ'’-]{2,}")
_WORD = re.compile(r"\w+")


def mended(fields: Iterable[tuple[str, str]]) -> Pairs:
    """Return labels and texts, of which those that can only be a mistake are mended."""
    pairs = list(fields)
    labels = [label for label, _ in pairs]
    has = frozenset(labels)
    for needed, mend in _EACH if len(has) == len(labels) else _ALL:
        if needed <= has and (better := mend(pairs, labels)) is not None:
            pairs = better
            labels = [label for label, _ in pairs]
            has = frozenset(labels)
    return pairs


def _key(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Take a key or number off the front: "Heath 1978 : J. Heath", "23 Giorgi A."."""
    if labels[0] != "author" or "citation-number" in labels:
        return None
    text = pairs[0][1]
    if (
        labels[:3] == ["author", "date", "author"]
        and labels.count("date") > 1
        and _KEY.match(f"{text} {pairs[1][1]} x")
    ):
        return [("citation-number", f"{text} {pairs[1][1]}"), *pairs[2:]]
    found = _KEY.match(text) if text[:60].count(" ") > 1 and any(map(str.isdigit, text[:60])) else None
    found = found or (_NUMBER.match(text) if text[:1].isdigit() or text[:1] in "[(" else None)
    return [("citation-number", found[0]), ("author", text[found.end() :]), *pairs[1:]] if found else None


def _issue_before_date(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Read 23, 107 (Jul. 1969), 683 as volume, issue, date, page."""
    first = labels.index("pages")
    around = labels[first - 1 : first + 3] if first else []
    if around != ["volume", "pages", "date", "pages"] or "issue" in labels or not _ALONE.fullmatch(pairs[first][1]):
        return None
    return _changed(pairs, first, ("issue", pairs[first][1]))


def _page_after_volume(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Read 410 U.S. 113 as volume, container, page."""
    first = labels.index("volume")
    if labels[first : first + 3] != ["volume", "container-title", "volume"] or "pages" in labels:
        return None
    return _changed(pairs, first + 2, ("pages", pairs[first + 2][1]))


def _zip_code(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Put the 02139 of "Cambridge, MA 02139" back to the place, if there is another date."""
    for k, (label, text) in enumerate(pairs[1:], start=1):
        if label == "date" and labels[k - 1] == "location" and _ZIP.fullmatch(text) and labels.count("date") > 1:
            return [*pairs[: k - 1], ("location", f"{pairs[k - 1][1]} {text}"), *pairs[k + 1 :]]
    return None


def _roman_pages(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Read xii, 432 pp. as one number of pages."""
    k = labels.index("pages")
    if k == 0 or labels[k - 1] != "volume" or not _ROMAN.fullmatch(pairs[k - 1][1]) or not count_pages(pairs[k][1]):
        return None
    return [*pairs[: k - 1], ("pages", f"{pairs[k - 1][1]} {pairs[k][1]}"), *pairs[k + 1 :]]


def _day_in_volume(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Read 2003 nov. | 12;52(4) as a day and a volume."""
    k = labels.index("volume")
    found = _DAY.match(pairs[k][1]) if k and labels[k - 1] == "date" else None
    if not found or not is_month(pairs[k - 1][1].strip(" .,;")[4:]):
        return None
    date, volume = f"{pairs[k - 1][1]} {found[1]}", pairs[k][1][found.end() :]
    return [*pairs[: k - 1], ("date", date), ("volume", volume), *pairs[k + 1 :]]


def _meeting_and_year(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Leave the year of "ECAI 94" with the meeting."""
    k = labels.index("volume")
    year = pairs[k][1].strip(" .,;:'’")
    if k == 0 or labels[k - 1] != "container-title" or len(year) != 2 or not year.isdigit() or "issue" in labels:
        return None
    container, date = pairs[k - 1][1], parse_date(pairs[labels.index("date")][1])
    same = date is not None and bool(date.parts) and date.parts[0][0] % 100 == int(year)
    words = container.split()
    acronym = same and words[0].lower().startswith("in") and words[-1].isupper() and words[-1].isalpha()
    return [*pairs[: k - 1], ("container-title", f"{container} {pairs[k][1]}"), *pairs[k + 1 :]] if acronym else None


def _place_in_name(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Leave the USA of "Proc Natl Acad Sci USA" with the journal: no mark stands between them."""
    k = labels.index("container-title")
    if labels[k + 1 : k + 2] != ["location"] or "publisher" in labels:
        return None
    name, place = pairs[k][1], pairs[k + 1][1]
    bare = name[-1:].isalnum() and place[:1].isalnum() and place.rstrip()[-1:] != ":"
    meeting = "volume" not in labels and not MEETINGS.isdisjoint(_WORD.findall(name.lower()))
    if not bare or meeting or name[:3].lower() == "in ":
        return None
    return [*pairs[:k], ("container-title", f"{name} {place}"), *pairs[k + 2 :]]


def _place_behind(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Take the place off a journal's name where names in capitals and "v. 28" show the style of ABNT."""
    k = labels.index("container-title")
    after = pairs[k + 1][1] if k + 1 < len(pairs) and labels[k + 1] in ("volume", "issue") else ""
    if not after.lower().startswith(("v. ", "n. ", "ano ", "v.", "n.")) or "location" in labels:
        return None
    found = _PLACE_LAST.fullmatch(pairs[k][1]) if _CAPITALS.match(pairs[labels.index("author")][1]) else None
    return _cut(pairs, k, found, "container-title", "location") if found else None


def _editors_in_container(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Cut "Landscapes, ed. R. A. Shaw" into container and editors."""
    if "editor" in labels:
        return None
    k = labels.index("container-title")
    found = _BEHIND.fullmatch(pairs[k][1])
    return _cut(pairs, k, found, "container-title", "editor") if found else None


def _container_in_editors(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Cut "in Storia di Prato, a cura di G. Cherubini" into container and editors."""
    if "container-title" in labels:
        return None
    k = labels.index("editor")
    found = _MIDDLE.fullmatch(pairs[k][1])
    return _cut(pairs, k, found, "container-title" if "title" in labels else "title", "editor") if found else None


def _page_in_date(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Cut "September 1994. 9" into date and page."""
    if "pages" in labels:
        return None
    k = labels.index("date")
    found = _DATE_AND_PAGE.fullmatch(pairs[k][1]) if len(pairs[k][1]) > 6 else None
    date = parse_date(found[1]) if found else None
    told = date is not None and date.parts and not date.literal
    return _cut(pairs, k, found, "date", "pages") if told and found else None


def _tail_of_title(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Take (Version 2) and "4 Bde." off the end of a title."""
    k = labels.index("title")
    text = pairs[k][1]
    end = text.rstrip(" .,;:)]")
    if text.rstrip(" .,;:")[-1:] in (")", "]") and (found := _BRACKETED.fullmatch(text)) and parse_version(found[2]):
        return _cut(pairs, k, found, "title", "edition")
    if end.endswith(_ENDS_IN_VOLUMES) and "volume" not in labels and (found := _VOLUMES.fullmatch(text)):
        return _cut(pairs, k, found, "title", "volume") if count_volumes(found[2]) else None
    return None


def _house_first(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Read an institution that stands first, where nobody else is named, as the author."""
    if labels[0] not in ("publisher", "institution") or "author" in labels or "editor" in labels:
        return None
    return [("author", pairs[0][1]), *pairs[1:]]


def _house_in_place(pairs: Pairs, labels: list[str]) -> Pairs | None:
    """Cut "Leeds: Arbor;" into place and publisher."""
    if "publisher" in labels:
        return None
    k = labels.index("location")
    found = _HOUSE.fullmatch(pairs[k][1]) if ": " in pairs[k][1] else None
    return _cut(pairs, k, found, "location", "publisher") if found else None


def _changed(pairs: Pairs, k: int, pair: tuple[str, str]) -> Pairs:
    return [*pairs[:k], pair, *pairs[k + 1 :]]


def _cut(pairs: Pairs, k: int, found: re.Match[str], first: str, second: str) -> Pairs:
    return [*pairs[:k], (first, found[1]), (second, found[2]), *pairs[k + 1 :]]


_Mend = Callable[[Pairs, list[str]], "Pairs | None"]

# The labels that a reference must have for each.
_EACH: tuple[tuple[frozenset[str], _Mend], ...] = (
    (frozenset({"author"}), _key),
    (frozenset({"title"}), _tail_of_title),
    (frozenset({"volume", "pages"}), _roman_pages),
    (frozenset({"volume", "date"}), _day_in_volume),
    (frozenset({"volume", "date", "container-title"}), _meeting_and_year),
    (frozenset({"container-title", "location"}), _place_in_name),
    (frozenset({"container-title", "author"}), _place_behind),
    (frozenset({"container-title"}), _editors_in_container),
    (frozenset({"editor"}), _container_in_editors),
    (frozenset({"date"}), _page_in_date),
    (frozenset({"location"}), _house_in_place),
    (frozenset({"title"}), _house_first),
)
# Those that only a label met twice can ask for come first.
_ALL: tuple[tuple[frozenset[str], _Mend], ...] = (
    (frozenset({"volume", "pages", "date"}), _issue_before_date),
    (frozenset({"volume", "container-title"}), _page_after_volume),
    (frozenset({"date", "location"}), _zip_code),
    *_EACH,
)

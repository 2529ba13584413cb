"""RIS: tagged lines from TY to ER, as every reference manager writes them.

    TY  - JOUR
    AU  - Knuth, Donald E.
    ER  -

Managers differ in what they put where: JO, JF, JA and T2 are the container, Y1 and PY the year, A1 and AU the authors,
ED and A2 the editors. A line without a tag goes on with the line before. A tag that a `Work` has no place for is in its
`unread`. Numbers of pages that do not fit (`SP 101`, `EP 8`) are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from espalier.citations.bibliographies.entry import Entry
from espalier.citations.bibliographies.values import LABEL, as_kind, counted, date_of, edtf_date, make_work, name_of
from espalier.citations.normalise import find_isbn, parse_pages
from espalier.citations.work import Date, Pages, Work
from espalier.errors import FormatError

__all__ = ["read"]

_KINDS = {
    **dict.fromkeys(("JOUR", "JFULL", "EJOUR", "INPR", "ABST"), "article-journal"),
    **dict.fromkeys(("CONF", "CPAPER"), "paper-conference"),
    **dict.fromkeys(("CHAP", "ECHAP", "ENCYC", "DICT"), "chapter"),
    **dict.fromkeys(("BOOK", "EBOOK", "EDBOOK", "SER", "CLSWK"), "book"),
    **{
        "THES": "thesis",
        "RPRT": "report",
        "GOVDOC": "report",
        "ELEC": "webpage",
        "WEB": "webpage",
        "BLOG": "post-weblog",
    },
    **{"UNPB": "article", "PAT": "patent", "STAND": "standard", "DATA": "dataset", "COMP": "software"},
    **{"NEWS": "article-newspaper", "MGZN": "article-magazine", "CASE": "legal_case", "STAT": "legislation"},
    **{"MANSCPT": "manuscript", "MPCT": "motion_picture", "VIDEO": "broadcast", "MAP": "map"},
    **{"PCOMM": "personal_communication"},
}
_SAME = {
    **{"TI": "title", "T1": "title", "CT": "title", "T2": "container_title", "JO": "container_title"},
    **{"JF": "container_title", "BT": "container_title", "JA": "container_title", "J2": "container_title"},
    **{"T3": "collection_title", "VL": "volume", "IS": "issue", "CP": "issue", "M1": "number", "ET": "edition"},
    **{"PB": "publisher", "AD": "institution", "CY": "location", "PP": "location", "M3": "genre", "DO": "doi"},
    **{"UR": "url", "L2": "url", "NV": "number_of_volumes", "C2": "pmcid"},
}
_ARCHIVES = {"arxiv": "arxiv", "pmid": "pmid", "jstor": "jstor", "hdl": "handle"}
_ROLES = {
    **dict.fromkeys(("AU", "A1"), "authors"),
    **dict.fromkeys(("A2", "ED"), "editors"),
    **dict.fromkeys(("A4", "TA"), "translators"),
}
_LINE = re.compile(r"([A-Z][A-Z0-9])  -(?: (.*))?")
_NOTE = re.compile(rf"({LABEL}): (.+)", re.DOTALL)
_AND_OTHERS = re.compile(r"(?:and )?(?:et al\.?|others),?")
_ET_AL = re.compile(r"(author|editor|translator): et al\.")
_SEASONS = ("Spring", "Summer", "Autumn", "Winter")
_MOST_LINES = 5_000  # of an entry


def read(text: str, file: str = "", refused: list[FormatError] | None = None) -> Iterator[Entry]:
    """Yield the entries of a file; one without an end is an error, or goes to `refused`."""
    tags: list[tuple[str, list[str]]] = []
    raw: list[str] = []
    begun = 0
    for number, line in enumerate(text.split("\n"), 1):
        found = _LINE.fullmatch(line.rstrip())
        tag, value = (found[1], found[2] or "") if found else ("", line.strip())
        if tag == "TY":
            if begun:
                _refuse("this entry has no end: there is no line 'ER  -'", file, begun, refused)
            tags, raw, begun = [], [], number
        if not begun or len(raw) > _MOST_LINES:
            continue
        raw.append(line.rstrip())
        if tag == "ER":
            said = [(tag, " ".join(filter(None, lines))) for tag, lines in tags]
            yield Entry("\n".join(raw), _work(said), _first(said, "ID"), "ris", file, begun)
            begun = 0
        elif tag:
            tags.append((tag, [value.strip()]))
        elif tags:
            tags[-1][1].append(value)
    if begun:
        _refuse("this entry has no end: there is no line 'ER  -'", file, begun, refused)


def _refuse(what: str, file: str, line: int, refused: list[FormatError] | None) -> None:
    error = FormatError(what, path=file, line=line, hint="is the file cut off?")
    if refused is None:
        raise error
    refused.append(error)


def _first(tags: list[tuple[str, str]], *wanted: str) -> str:
    return next((value for name in wanted for tag, value in tags if tag == name and value), "")


def _work(tags: list[tuple[str, str]]) -> Work:
    """Return what the tags of an entry say."""
    kind = as_kind(_KINDS.get(_first(tags, "TY"), ""))
    found: dict[str, Any] = {"type": kind, "authors": (), "editors": (), "translators": ()}
    others, notes = set(), []
    unread: list[tuple[str, str]] = []
    for tag, value in tags:
        part = _SAME.get(tag, "")
        if not value or tag in ("TY", "ID", "PY", "Y1", "DA", "Y2", "SP", "EP"):
            continue
        if tag in _ROLES and _AND_OTHERS.fullmatch(value):
            others.add(_ROLES[tag].removesuffix("s"))
        elif tag in _ROLES:
            found[_ROLES[tag]] += (name_of(value),)
        elif tag == "SN":
            part = "isbn" if find_isbn(value) else "issn"
            _keep(found, part, value, unread, tag)
        elif tag in ("AN", "N1") and (archive := _ARCHIVES.get(value.partition(":")[0].lower())):
            found[archive] = value.partition(":")[2]
        elif tag == "OP":
            found["original_date"] = date_of(value)
        elif tag == "N1" and (role := _ET_AL.fullmatch(value)):
            others.add(role[1])
        elif tag == "N1" and (note := _NOTE.fullmatch(value)):
            unread.append((note[1], note[2]))
        elif tag == "N1":
            notes.append(value)
        elif part:
            _keep(found, part, value, unread, tag)
        else:
            unread.append((tag, value))
    found |= {"others": frozenset(others), "note": "; ".join(notes), "pages": _pages(tags)}
    found |= {"issued": _issued(tags), "accessed": _date(_first(tags, "Y2"))}
    return make_work(_housed(counted(found)), unread)


def _housed(found: dict[str, Any]) -> dict[str, Any]:
    """Call the publisher of a thesis or a report its institution, as RIS has no tag for it."""
    if found["type"] in ("thesis", "report") and "institution" not in found and "publisher" in found:
        found["institution"] = found.pop("publisher")
    return found


def _keep(found: dict[str, Any], part: str, value: str, unread: list[tuple[str, str]], tag: str) -> None:
    """Keep the first value of a part; another one that says the same is passed over, and the rest is unread."""
    if not found.get(part):
        found[part] = value
    elif found[part] != value:
        unread.append((tag, value))


def _pages(tags: list[tuple[str, str]]) -> Pages | None:
    first, last = _first(tags, "SP"), _first(tags, "EP")
    if first and last and first != last:
        return Pages(first, last, f"{first}–{last}")
    return parse_pages(first or last) if first or last else None


def _issued(tags: list[tuple[str, str]]) -> Date | None:
    """Return the date of DA, else of PY or Y1, whichever says more."""
    dates = [date for tag in ("DA", "PY", "Y1") if (date := _date(_first(tags, tag)))]
    return max(dates, key=lambda date: (bool(date.parts), len(date.parts[0]) if date.parts else 0), default=None)


def _date(value: str) -> Date | None:
    """Return the date of 'year/month/day/other', or of any other text."""
    if not value:
        return None
    if "/" not in value:
        return date_of(value)
    year, month, day, other = [*value.split("/", 3), "", "", ""][:4]
    if not year:
        return Date(literal=other)
    start = edtf_date("-".join(part for part in (year, month, day) if part.isdigit()))
    if start is None:
        return date_of(value)
    return _with_more(start, [part.strip() for part in other.split(";") if part.strip()])


def _with_more(date: Date, others: list[str]) -> Date:
    """Add a season, the end of a range, 'circa' and what could not be read."""
    rest = []
    for other in others:
        end = edtf_date(other[3:]) if other.startswith("to ") else None
        if other in _SEASONS and not date.season:
            date = replace(date, season=_SEASONS.index(other) + 1)
        elif end is not None and len(date.parts) == 1:
            date = replace(date, parts=(*date.parts, *end.parts[:1]))
        elif other == "circa":
            date = replace(date, circa=True)
        else:
            rest.append(other)
    return replace(date, literal="; ".join(rest))

"""When two values of a record are the same: names, titles, numbers, pages, years and addresses, whoever wrote them.

A value is compared by a key: what stays the same whether a publisher, a style or a parser wrote it. Case, accents,
spaces and punctuation never count. Families count without particles and suffixes, given names by their initials; a
title without what kind of file it is ("[Internet]"); a number without its name ("no."); a last page as a whole ("41-57"
is "41-7").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAIN = ("authors", "title", "container", "year", "volume", "issue", "first")
"""The seven values by which a record is exact."""

BESIDE = (
    "editors",
    "translators",
    "directors",
    "last",
    "publisher",
    "place",
    "number",
    "edition",
    "doi",
    "url",
    "isbn",
)
PERSONS = ("authors", "editors", "translators", "directors")

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "ß": "ss"})
_PARTICLES = frozenset(
    [
        "af",
        "al",
        "av",
        "bin",
        "d",
        "da",
        "das",
        "de",
        "del",
        "della",
        "den",
        "der",
        "di",
        "do",
        "dos",
        "du",
        "e",
        "el",
        "ibn",
        "la",
        "las",
        "le",
        "los",
        "ten",
        "ter",
        "van",
        "von",
        "y",
        "zu",
        "zur",
    ]
)
_SUFFIXES = frozenset(["2nd", "3rd", "filho", "ii", "iii", "iv", "jr", "junior", "neto", "segundo", "sobrinho", "sr"])
_MEDIUM = re.compile(
    r"\[[^\]]*\b(?:audio|blog|disserta\w+|e-?book|electronic|film|image|internet|letter|livro|map|monograph\w*|on-?line"
    r"|online|preprint|review|site|software|status update|tes[ei]s?|thesis|tweet|tv|video|web ?site|электронный|текст)"
    r"\b[^\]]*\]",
    re.IGNORECASE,
)
_NAME_OF_NUMBER = re.compile(
    r"^\s*(?:band|bd|heft|issue|n|nos?|nr|num|number|numero|número|nº|n°|t|tomo|v|vols?|volumes?|вып|т|№)\b[\s.:]*(?=\S)",
    re.IGNORECASE,
)
_SUPPLEMENT = re.compile(r"suppl?(?:ement)?")
_DOI = re.compile(r"10\.\d{4,9}/\S+")


def letters(text: str | None) -> str:
    """Return the letters and digits of a text without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text or "").casefold().translate(_LETTERS)
    return "".join(c for c in decomposed if c.isalnum())


def title(text: str | None) -> str:
    """Return the key of a title, or of what holds it."""
    return letters(_MEDIUM.sub(" ", text or ""))


def number(text: str | None) -> str:
    """Return the key of a volume or issue; "Suppl" is "Supplement"."""
    return _SUPPLEMENT.sub("suppl", letters(_NAME_OF_NUMBER.sub("", str(text or ""))))


def year(text: object) -> str:
    """Return the first year in a text."""
    found = re.search(r"(?<!\d)(1[4-9]\d\d|20\d\d)(?!\d)", str(text))
    return found[1] if found else ""


def doi(text: str | None) -> str:
    """Return the key of a DOI, wherever it stands in an address."""
    found = _DOI.search((text or "").replace("%2F", "/").replace("%28", "(").replace("%29", ")"))
    return letters(found[0]) if found else ""


def address(text: str | None) -> str:
    """Return the key of an address; that of a DOI is none."""
    return "" if doi(text) else re.sub(r"^(?:https?|ftp)?(?:www)?", "", letters(text))


def pages(text: str | None) -> tuple[str, str]:
    """Return the keys of the first and the last page; a last page is written in full."""
    bare = re.sub(r"^\s*(?:pp?|págs?|pages?|s|с|c)\b\.?\s*", "", str(text or ""), flags=re.IGNORECASE)
    ends = re.split(r"\s*[-–—‐−]+\s*", re.split(r"[,;]", bare)[0])
    first = letters(ends[0])
    return first, in_full(first, letters(ends[1])) if len(ends) > 1 else ""


def in_full(first: str, last: str) -> str:
    """Return a last page with the digits that it shares with the first."""
    from_, to = re.fullmatch(r"[a-z]*(\d+)", first), re.fullmatch(r"[a-z]*(\d+)", last)
    if from_ is None or to is None:
        return last
    return from_[1][: max(len(from_[1]) - len(to[1]), 0)] + to[1]


def family(text: str) -> str:
    """Return the key of a family name, without particles around it and suffixes behind it."""
    words = [letters(word) for word in re.split(r"\s+|(?<=\bd)['’]", text.casefold())]
    words = [word for word in words if word]
    while len(words) > 1 and words[-1] in _SUFFIXES | _PARTICLES:
        words.pop()
    while len(words) > 1 and words[0] in _PARTICLES:
        words.pop(0)
    return "".join(words)


@dataclass(frozen=True)
class Name:
    """A name: the keys by which its family, or the body, may be known."""

    keys: frozenset[str]

    @classmethod
    def of(cls, given: Mapping[str, str], *, found: bool = False) -> Name:
        """Return a name of CSL-JSON; one that was found may have its parts in either order, or as one word."""
        if "literal" in given:
            return cls(frozenset({letters(given["literal"])}))
        particles = [given.get(part, "") for part in ("dropping-particle", "non-dropping-particle", "particle")]
        whole = " ".join(part for part in (*particles, given.get("family", "")) if part)
        first = given.get("given", "")
        joined = {letters(whole + first), letters(first + whole)} if found else set()
        return cls(frozenset({family(whole), letters(whole), *joined} - {""}))

    def is_same(self, other: Name) -> bool:
        """Could both be the same person or body?"""
        return bool(self.keys & other.keys)


def names(given: Sequence[Mapping[str, str]] | None, *, found: bool = False) -> tuple[Name, ...]:
    """Return the names of a list of CSL-JSON."""
    return tuple(Name.of(one, found=found) for one in given or () if one.get("literal") != "others")


def said(csl: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of what a record in CSL-JSON says, by the names of `MAIN` and `BESIDE`."""
    text = {name: value for name, value in csl.items() if isinstance(value, (str, int))}
    first, last = pages(text.get("page"))
    issued = csl.get("issued") or {}
    dated = issued.get("date-parts") or [[issued.get("literal", "")]]
    found: dict[str, Any] = {
        "authors": names(csl.get("author"), found=True),
        "editors": names(csl.get("editor"), found=True),
        "translators": names(csl.get("translator"), found=True),
        "directors": names(csl.get("director")) or names(csl.get("author"), found=True),
        "title": title(text.get("title")),
        "container": title(text.get("container-title")),
        "year": year(dated[0][0]),
        "volume": number(text.get("volume")),
        "issue": number(text.get("issue")),
        "first": first,
        "last": last,
        "doi": doi(text.get("DOI")) or doi(text.get("URL")),
        "url": address(text.get("URL")),
        "number": letters(text.get("number")),
        "isbn": letters(text.get("ISBN")),
        "place": letters(text.get("publisher-place")),
    }
    return found | {name: letters(text.get(name)) for name in ("publisher", "edition", "type")}


def is_right(name: str, expected: Any, found: Mapping[str, Any]) -> bool:
    """Is a value of a record (see `said`) as expected: a set of keys, empty for none, or a tuple of names?"""
    value = found[name]
    if name in PERSONS:
        same = len(value) == len(expected) and all(map(Name.is_same, expected, value))
        return same or (name == "authors" and not value and _are_editors(expected, found))
    if name == "issue" and expected:
        bare = {_SUPPLEMENT.sub("", key) for key in expected}
        return value in expected or (bool(value) and _SUPPLEMENT.sub("", value) in bare)
    return value in expected if expected else not value


def _are_editors(expected: Sequence[Name], found: Mapping[str, Any]) -> bool:
    """Where there are no authors, editors count as authors, and the other way round."""
    value = found["editors"]
    return bool(value) and len(value) == len(expected) and all(map(Name.is_same, expected, value))

"""Other tagged lines: EndNote's refer (`%A Knuth, D. E.`) and PubMed's NBIB (`FAU - Knuth, Donald E`).

Entries are apart by a blank line. A tag that a `Work` has no place for is in its `unread`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from espalier.citations.bibliographies.entry import Entry
from espalier.citations.bibliographies.values import as_kind, date_of, make_work, name_of
from espalier.citations.normalise import find_isbn, parse_pages
from espalier.citations.work import Name, Work
from espalier.errors import FormatError

__all__ = ["read_nbib", "read_refer"]

_REFER = re.compile(r"%([A-Z0-9@?+!#$<>()*^&=~])\s+(.*)")
_NBIB = re.compile(r"([A-Z]{2,4}) {0,2}- (.*)")
_DOI = re.compile(r"(10\.\d{4,9}/\S+)(?: \[doi\])?")

_REFER_TAGS = {
    **{"T": "title", "J": "container_title", "B": "container_title", "S": "collection_title", "V": "volume"},
    **{"N": "issue", "7": "edition", "I": "publisher", "C": "location", "9": "genre", "R": "doi", "U": "url"},
    "O": "note",
}
_REFER_ROLES = {"A": "authors", "E": "editors", "Y": "editors", "?": "translators"}
_REFER_KINDS = {
    **{"Journal Article": "article-journal", "Book": "book", "Edited Book": "book", "Book Section": "chapter"},
    **{"Conference Proceedings": "paper-conference", "Conference Paper": "paper-conference", "Thesis": "thesis"},
    **{"Report": "report", "Web Page": "webpage", "Unpublished Work": "article", "Patent": "patent"},
    **{"Newspaper Article": "article-newspaper", "Magazine Article": "article-magazine", "Standard": "standard"},
}
_NBIB_TAGS = {"TI": "title", "JT": "container_title", "VI": "volume", "IP": "issue", "PL": "location", "BTI": "title"}
_PASSED = ("0", "F", "A", "P", "D", "8", "@")
_BEFORE_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi: ?)", re.IGNORECASE)


def _entries(text: str, tag_line: re.Pattern[str]) -> Iterator[tuple[int, str, list[tuple[str, str]]]]:
    """Yield the line, the text and the tags of each entry; a line without a tag goes on with the one before."""
    tags: list[tuple[str, list[str]]] = []
    raw: list[str] = []
    begun = 1
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if not line.strip():
            if tags:
                yield begun, "\n".join(raw), [(tag, " ".join(said)) for tag, said in tags]
            tags, raw = [], []
            continue
        begun = begun if raw else number
        raw.append(line.rstrip())
        found = tag_line.fullmatch(line.rstrip())
        if found:
            tags.append((found[1], [found[2].strip()]))
        elif tags:
            tags[-1][1].append(line.strip())


def read_refer(text: str, file: str = "", refused: list[FormatError] | None = None) -> Iterator[Entry]:
    """Yield the entries of a file of refer."""
    del refused  # any tagged lines are an entry
    for line, raw, tags in _entries(text, _REFER):
        values = _gathered(tags)
        found = _people(tags, _REFER_ROLES)
        found["type"] = as_kind(_REFER_KINDS.get(values.get("0", [""])[0], ""))
        unread = _kept(found, tags, _REFER_TAGS, {*_REFER_ROLES, *_PASSED})
        found["doi"] = _BEFORE_DOI.sub("", found.get("doi", ""))
        found["issued"] = date_of(" ".join(values.get("8", []) or values.get("D", []))) or date_of(
            values.get("D", [""])[0]
        )
        found["pages"] = parse_pages(values["P"][0]) if "P" in values else None
        for number in values.get("@", []):
            found["isbn" if find_isbn(number) else "issn"] = number
        if found["type"] in ("thesis", "report") and "publisher" in found:
            found["institution"] = found.pop("publisher")
        yield Entry(raw, make_work(found, unread), values.get("F", [""])[0], "refer", file, line)


def read_nbib(text: str, file: str = "", refused: list[FormatError] | None = None) -> Iterator[Entry]:
    """Yield the entries of a file of PubMed."""
    del refused  # any tagged lines are an entry
    for line, raw, tags in _entries(text, _NBIB):
        yield Entry(raw, _nbib_work(tags), _gathered(tags).get("PMID", [""])[0], "nbib", file, line)


def _nbib_work(tags: list[tuple[str, str]]) -> Work:
    values = _gathered(tags)
    role = "FAU" if "FAU" in values else "AU"
    found = _people(tags, {role: "authors", "FED": "editors"})
    found["authors"] = (*found.get("authors", ()), *(Name(literal=name) for name in values.get("CN", [])))
    found["type"] = "chapter" if "BTI" in values and "TI" in values else "article-journal" if "JT" in values else "book"
    unread = _kept(found, tags, _NBIB_TAGS, {"FAU", "AU", "FED", "ED", "CN", "DP", "PG", "LID", "AID", "IS", "PMID"})
    found["title"] = found.get("title", "").removesuffix(".")
    if "container_title" not in found and "TA" in values:
        found["container_title"] = values["TA"][0]
    found["issued"] = date_of(values.get("DP", [""])[0])
    found["pages"] = parse_pages(values["PG"][0]) if "PG" in values else None
    found["issn"] = values.get("IS", [""])[0].split(" ")[0]
    dois = (_DOI.search(value) for tag in ("LID", "AID") for value in values.get(tag, []))
    found["doi"] = next((doi[1] for doi in dois if doi), "")
    return make_work(found, [*unread, *(("PMID", value) for value in values.get("PMID", []))])


def _gathered(tags: list[tuple[str, str]]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for tag, value in tags:
        values.setdefault(tag, []).append(value)
    return values


def _people(tags: list[tuple[str, str]], roles: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, list[Name]] = {}
    for tag, value in tags:
        if tag in roles and value:
            found.setdefault(roles[tag], []).append(name_of(value.rstrip(",")))
    return {role: tuple(names) for role, names in found.items()}


def _kept(
    found: dict[str, Any], tags: list[tuple[str, str]], parts: Mapping[str, str], read: set[str]
) -> list[tuple[str, str]]:
    """Put the first value of every part into `found`, and return what has no place."""
    unread = []
    for tag, value in tags:
        part = parts.get(tag)
        if part and not found.get(part):
            found[part] = value
        elif tag not in read:
            unread.append((tag, value))
    return unread

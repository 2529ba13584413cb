"""Fields in normal form: names, dates, pages, numbers, identifiers, titles, and the type of the work.

Every function takes any text, never fails on one, takes linear time, and says what it could not read: a name or a
date keeps a `literal`, pages their `text`, and what has no place at all is in `Work.unread`. Each module states its
normal forms, which are the only changes ever made to a stretch of the input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from espalier.citations.normalise.dates import parse_date
from espalier.citations.normalise.identifiers import find_arxiv, find_doi, find_isbn, find_issn, find_url
from espalier.citations.normalise.kinds import kind_of
from espalier.citations.normalise.names import Names, split_names
from espalier.citations.normalise.numbers import parse_edition, parse_issue, parse_volume, report_number
from espalier.citations.normalise.pages import parse_pages
from espalier.citations.normalise.reading import Reading
from espalier.citations.normalise.titles import clean_container, clean_title
from espalier.citations.work import Work

if TYPE_CHECKING:
    from espalier.citations.record import Record

__all__ = [
    "Names",
    "clean_container",
    "clean_title",
    "find_arxiv",
    "find_doi",
    "find_isbn",
    "find_issn",
    "find_url",
    "kind_of",
    "parse_date",
    "parse_edition",
    "parse_issue",
    "parse_pages",
    "parse_volume",
    "report_number",
    "split_names",
    "work_of",
]


_Reader = Callable[[Reading, str], Any]


def _value(read: Callable[[str], Any]) -> _Reader:
    return lambda reading, label: reading.value(label, read)


# Label, attribute of a work, and what reads the one as the other; in the order in which `unread` tells of them.
_READERS: tuple[tuple[str, str, _Reader], ...] = (
    ("doi", "doi", _value(find_doi)),
    ("title", "title", _value(clean_title)),
    ("container-title", "container_title", _value(clean_container)),
    ("pages", "pages", _value(parse_pages)),
    ("date", "issued", Reading.date),
    ("accessed", "accessed", Reading.date),
    ("edition", "edition", _value(parse_edition)),
    ("url", "url", _value(find_url)),
    ("isbn", "isbn", _value(find_isbn)),
    ("issn", "issn", _value(find_issn)),
    ("collection-title", "collection_title", Reading.joined),
    ("publisher", "publisher", Reading.joined),
    ("location", "location", Reading.joined),
    ("genre", "genre", Reading.joined),
    ("institution", "institution", Reading.joined),
    ("note", "note", Reading.joined),
)
_ROLES = {"author": "authors", "editor": "editors", "translator": "translators"}


def work_of(record: Record) -> Work:
    """Return what a reference says, in normal form.

    Of several fields with one label the first that can be read counts, and the others are `unread`; but names are
    put one after the other, and free text (publisher, location, genre, institution, note, series) is joined by "; ".
    A DOI is also looked for in the URL, an arXiv number in the whole text, the issue in the volume: "12(3)", the month
    beside the issue: "no. 3 (March)". Without a date, a note that says only "in press" or "n.d." is its literal.
    """
    reading = Reading(record)
    present = reading.texts
    found: dict[str, Any] = {}
    others: list[str] = []
    for role, name in _ROLES.items():
        if role in present:
            found[name], unfinished = reading.names(role)
            others += [role] if unfinished else []
    volume, issue = reading.volume() if "volume" in present or "issue" in present else ("", "")
    arxiv = find_arxiv(record.text) if "arxiv" in record.text.lower() else ""
    for label, name, read in _READERS:
        if label in present and (value := read(reading, label)):
            found[name] = value
    if "issued" not in found and (pending := reading.pending()):
        found["issued"], found["note"] = pending, reading.joined("note")
    if "url" in present and "doi" not in found:
        found["doi"] = find_doi(present["url"])
    kind = kind_of(present | {"issue": issue} if issue else present, bool(arxiv))
    return Work(
        type=kind,
        others=frozenset(others),
        volume=volume,
        issue=issue,
        number=report_number(found.get("genre", "")) if kind == "report" else "",
        arxiv=arxiv,
        unread=reading.unread(),
        **found,
    )

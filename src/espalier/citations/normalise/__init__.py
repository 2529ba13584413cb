"""Fields in normal form: names, dates, pages, numbers, identifiers, titles, and the type of the work.

Every function takes any text, never fails on one, takes linear time, and says what it could not read: a name or a
date keeps a `literal`, pages their `text`, and what has no place at all is in `Work.unread`. Each module states its
normal forms, which are the only changes ever made to a stretch of the input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def work_of(record: Record) -> Work:
    """Return what a reference says, in normal form.

    Of several fields with one label the first that can be read counts, and the others are `unread`; but names are
    put one after the other, and free text (publisher, location, genre, institution, note, series) is joined by "; ".
    A DOI is also looked for in the URL, an arXiv number in the whole text, the issue in the volume: "12(3)".
    """
    reading = Reading(record)
    names = {role: reading.names(role) for role in ("author", "editor", "translator")}
    volume, issue = reading.volume()
    arxiv = find_arxiv(record.text) if "arxiv" in record.text.lower() else ""
    doi = reading.first("doi", find_doi)
    kind = kind_of(reading.texts | ({"issue": issue} if issue else {}), bool(arxiv))
    genre = reading.joined("genre")
    return Work(
        type=kind,
        authors=names["author"].names,
        editors=names["editor"].names,
        translators=names["translator"].names,
        others=frozenset(role for role, found in names.items() if found.others),
        title=reading.first("title", clean_title),
        container_title=reading.first("container-title", clean_container),
        collection_title=reading.joined("collection-title"),
        volume=volume,
        issue=issue,
        pages=reading.value("pages", parse_pages),
        issued=reading.date("date"),
        accessed=reading.date("accessed"),
        edition=reading.first("edition", parse_edition),
        publisher=reading.joined("publisher"),
        location=reading.joined("location"),
        genre=genre,
        institution=reading.joined("institution"),
        note=reading.joined("note"),
        doi=doi or find_doi(reading.texts.get("url", "")),
        url=reading.first("url", find_url),
        isbn=reading.first("isbn", find_isbn),
        issn=reading.first("issn", find_issn),
        number=report_number(genre) if kind == "report" else "",
        arxiv=arxiv,
        unread=reading.unread(),
    )

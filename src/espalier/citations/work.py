"""What a reference says, in normal form: names, dates, pages and identifiers as values, "" where absent.

Every string is a stretch of the reference or a normal form of one that `espalier.citations.normalise` documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["KINDS", "Date", "Name", "Pages", "Work"]

KINDS = (
    *("article-journal", "paper-conference", "chapter", "book", "thesis", "report"),
    *("webpage", "article", "document"),
    *("article-newspaper", "article-magazine", "dataset", "software", "patent", "standard", "legal_case", "manuscript"),
    *("legislation", "motion_picture", "broadcast", "map", "post-weblog", "personal_communication"),
)
"""The types of work, as CSL 1.0.2 names them; `article` is a preprint, `document` anything that shows no other type."""


class Name(NamedTuple):
    """One person in parts, or a `literal`: an institution, or what could not be split (then the parts are "").

    particle : "van der", "de la": stands before the family name; suffix : "Jr.", "III".
    """

    family: str = ""
    given: str = ""
    particle: str = ""
    suffix: str = ""
    literal: str = ""


@dataclass(frozen=True, slots=True)
class Date:
    """A date or a range of dates.

    parts : none (not understood), one or two (a range) of (year,), (year, month) or (year, month, day).
    season : 1 spring, 2 summer, 3 autumn, 4 winter; None where none is named.
    literal : the text, if the other parts do not say all of it ("in press", "1994a", "03/12/2003"); else "".
    """

    parts: tuple[tuple[int, ...], ...] = ()
    season: int | None = None
    literal: str = ""
    circa: bool = False


class Pages(NamedTuple):
    """Pages from `first` to `last` ("" where there is no such page), and all of it as `text`: "12-15, 20".

    A single page or an article number has no `last`; what cannot be read has neither, only the `text`.
    """

    first: str
    last: str
    text: str


@dataclass(frozen=True, slots=True)
class Work:
    """What a reference describes, field by field; "" or () or None where it does not say.

    type : one of `KINDS`; others : the roles ("author", ...) whose list of names ends in "et al.".
    number : of a report, patent or standard; version : of a program or data set.
    number_of_pages, number_of_volumes : how many there are ("432 p.", "2 vols").
    event : the meeting that a paper was given at; original_date : of the first edition, where this is a later one.
    arxiv, pmid, pmcid, jstor, handle : what archives call it.
    unread : (label, text) of what could not be understood, or had no room beside a field of the same label, so that
    nothing is lost.
    """

    type: str = "document"
    authors: tuple[Name, ...] = ()
    editors: tuple[Name, ...] = ()
    translators: tuple[Name, ...] = ()
    others: frozenset[str] = frozenset()
    title: str = ""
    container_title: str = ""
    collection_title: str = ""
    volume: str = ""
    issue: str = ""
    pages: Pages | None = None
    issued: Date | None = None
    accessed: Date | None = None
    edition: str = ""
    publisher: str = ""
    location: str = ""
    genre: str = ""
    institution: str = ""
    note: str = ""
    doi: str = ""
    url: str = ""
    isbn: str = ""
    issn: str = ""
    number: str = ""
    number_of_pages: str = ""
    number_of_volumes: str = ""
    event: str = ""
    original_date: Date | None = None
    version: str = ""
    arxiv: str = ""
    pmid: str = ""
    pmcid: str = ""
    jstor: str = ""
    handle: str = ""
    unread: tuple[tuple[str, str], ...] = ()

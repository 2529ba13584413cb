"""RIS: tagged lines that every reference manager imports; one record from TY to ER.

    TY  - THES
    ID  - andersen1994program
    AU  - Andersen, L. O.
    TI  - Program Analysis and Specialization for the C Programming Language
    PY  - 1994
    ER  -

Values are cleaned (`formats.clean`), one line each. Lines end in LF, which every importer takes and text mode turns
into CRLF on Windows; `newline="\\r\\n"` of `write` gives the CRLF of the original specification. Tags: A2 editors, A4
translators, T2 the container (journal, book) or else the event, T3 the series, M1 the number of a report, patent or
standard, M3 the genre, NV how many volumes, OP the first edition, PB the publisher or else the institution (AD where a
work has both), SN ISSN and ISBN, AN an arXiv number or else a PMID, C2 a PMCID, Y2 the day of access. A version is the
edition where there is none, how many pages are SP where there are none. What finds its tag taken is a note. A date
is 'year/month/day/other', where other holds a season, the end of a range, 'circa' or what could not be read. Pages that
are no plain range stand in SP. 'et al.' is the last name, behind others. What could not be read are notes. RIS cannot
mark a name as unsplit: a reader takes what stands before a comma in the name of an institution for a family name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from espalier.citations.formats import SEASONS, Keys, OutputFormat, clean, edtf, inverted, is_range, iso, page_range

if TYPE_CHECKING:
    from espalier.citations.work import Date, Pages, Work

__all__ = ["FORMAT", "entry"]

# CSL type: RIS type. Every other type is GEN.
_TYPES = {
    "article-journal": "JOUR",
    "paper-conference": "CONF",
    "chapter": "CHAP",
    "book": "BOOK",
    "thesis": "THES",
    "report": "RPRT",
    "webpage": "ELEC",
    "article": "UNPB",
    "article-newspaper": "NEWS",
    "article-magazine": "MGZN",
    "dataset": "DATA",
    "software": "COMP",
    "patent": "PAT",
    "standard": "STAND",
    "legal_case": "CASE",
    "manuscript": "MANSCPT",
    "legislation": "STAT",
    "motion_picture": "MPCT",
    "broadcast": "VIDEO",
    "map": "MAP",
    "post-weblog": "BLOG",
    "personal_communication": "PCOMM",
}


def entry(work: Work, key: str = "") -> str:
    """Return the lines of a work, the last one ER; without `key` its ID is the one it would have alone in a run."""
    lines = [f"TY  - {_TYPES.get(work.type, 'GEN')}", f"ID  - {key or Keys()(work)}"]
    lines += (f"{tag}  - {value}" for tag, text in _tags(work) if (value := clean(text)))
    return "\n".join([*lines, "ER  - ", ""])


def _tags(work: Work) -> Iterator[tuple[str, str]]:
    """Yield (tag, value), empty values among them, in the order of the lines."""
    people = (("author", "AU", work.authors), ("editor", "A2", work.editors), ("translator", "A4", work.translators))
    for role, tag, names in people:
        written = [name for name in map(inverted, names) if clean(name)]
        yield from ((tag, name) for name in [*written, *(["et al."] if written and role in work.others else [])])
    yield from (("TI", work.title), ("T2", work.container_title or work.event), ("T3", work.collection_title))
    yield from _dates(work.issued)
    yield "OP", edtf(work.original_date)
    yield from (("VL", work.volume), ("NV", work.number_of_volumes), ("IS", work.issue), ("M1", work.number))
    yield from _pages(work.pages)
    yield "SP", work.number_of_pages if work.pages is None else ""
    yield from (("ET", work.edition or work.version), ("PB", work.publisher or work.institution))
    yield "AD", work.institution if work.publisher else ""
    yield from (("CY", work.location), ("M3", work.genre), ("DO", work.doi), ("UR", work.url))
    archives = [f"arXiv:{work.arxiv}" if work.arxiv else "", f"PMID:{work.pmid}" if work.pmid else ""]
    archives += [f"JSTOR:{work.jstor}" if work.jstor else "", f"hdl:{work.handle}" if work.handle else ""]
    first, *others = [*filter(None, archives), ""]
    yield from (("SN", work.issn), ("SN", work.isbn), ("AN", first), ("C2", work.pmcid))
    yield "Y2", _date(work.accessed) if work.accessed else ""
    yield "N1", work.note
    yield from (("N1", number) for number in others)
    yield from (("N1", f"{what}: {text}") for what, text in _without_room(work) if text)
    yield from (("N1", f"{label}: {text}") for label, text in work.unread)


def _without_room(work: Work) -> Iterator[tuple[str, str]]:
    """Yield what has no tag of its own, and finds that of another value taken."""
    yield "event", work.event if work.container_title else ""
    yield "version", work.version if work.edition else ""
    yield "number of pages", work.number_of_pages if work.pages is not None else ""


def _pages(pages: Pages | None) -> Iterator[tuple[str, str]]:
    if pages and is_range(pages):
        yield from (("SP", pages.first), ("EP", pages.last))
    elif pages:
        yield "SP", page_range(pages, "-")


def _dates(date: Date | None) -> Iterator[tuple[str, str]]:
    """Yield the year, and the date where it says more than a year."""
    if date is None:
        return
    if date.parts:
        yield "PY", iso(date.parts[0][:1])
    if not date.parts or date.parts != (date.parts[0][:1],) or date.season or date.circa or date.literal:
        yield "DA", _date(date)


def _date(date: Date) -> str:
    """Return 'year/month/day/other'."""
    season = SEASONS[(date.season - 1) % 4] if date.season else ""
    to = f"to {iso(date.parts[1])}" if len(date.parts) > 1 else ""
    other = "; ".join(filter(None, (season, to, "circa" if date.circa else "", clean(date.literal))))
    year, month, day = [*iso(date.parts[0] if date.parts else ()).split("-"), "", ""][:3]
    return f"{year}/{month}/{day}/{other}"


FORMAT = OutputFormat(
    name="ris",
    summary="tagged lines for reference managers",
    extensions=(".ris",),
    media_type="application/x-research-info-systems",
    entry=lambda record, key: entry(record.work, key),
    between="\n",
)

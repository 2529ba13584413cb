"""EndNote XML: the file that EndNote imports with 'EndNote generated XML', and writes itself; it has no keys.

    <record><ref-type name="Thesis">32</ref-type>
    <contributors><authors><author>Andersen, L. O.</author></authors></contributors>
    <titles><title>Program Analysis and Specialization for the C Programming Language</title></titles>
    <dates><year>1994</year></dates><publisher>DIKU</publisher>
    </record>

Text is cleaned (`formats.clean`: XML has no control characters) and escaped. Names are 'van der Berg, Jan, Jr'. A
name that was not split ends in a comma, or two commas stand for the first one in it: so EndNote keeps it whole. The
journal of an article stands twice, as the secondary title and as the periodical. An institution is the publisher when
there is none, the event the secondary title, a version the edition, how many pages the pages; the number of a report,
patent or standard is the number when there is no issue; an arXiv number or else a PMID is the accession number, a PMCID
`custom2`, as EndNote has it. A date that says more than a year is written out as EDTF ('1994-05-02') beside the year.
`notes` holds the notes of the reference; `research-notes` what EndNote has no element for, each after its name:
'et al.', the institution beside a publisher, the number beside an issue, numbers of JSTOR and Handle, whatever else
finds its element taken, the text of a date read in part, and what could not be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from espalier.citations.formats import OutputFormat, clean, edtf, inverted, left_over, page_range, uri, xml_text

if TYPE_CHECKING:
    from espalier.citations.work import Date, Name, Work

__all__ = ["FORMAT", "entry"]

# CSL type: name and number of EndNote's type. Every other type is Generic.
_TYPES = {
    "article-journal": ("Journal Article", 17),
    "paper-conference": ("Conference Paper", 47),
    "chapter": ("Book Section", 5),
    "book": ("Book", 6),
    "thesis": ("Thesis", 32),
    "report": ("Report", 27),
    "webpage": ("Web Page", 12),
    "article": ("Unpublished Work", 34),
    "article-newspaper": ("Newspaper Article", 23),
    "article-magazine": ("Magazine Article", 19),
    "dataset": ("Dataset", 59),
    "software": ("Computer Program", 9),
    "patent": ("Patent", 25),
    "standard": ("Standard", 58),
    "legal_case": ("Case", 7),
    "manuscript": ("Manuscript", 36),
    "legislation": ("Statute", 31),
    "motion_picture": ("Film or Broadcast", 21),
    "broadcast": ("Film or Broadcast", 21),
    "map": ("Map", 20),
    "post-weblog": ("Blog", 56),
    "personal_communication": ("Personal Communication", 26),
}
_GENERIC = ("Generic", 13)


def entry(work: Work) -> str:
    """Return the `record` element of a work, ended by a newline."""
    name, number = _TYPES.get(work.type, _GENERIC)
    lines = "".join(f"{element}\n" for element in _elements(work) if element)
    return f'<record><ref-type name="{name}">{number}</ref-type>\n{lines}</record>\n'


def _elements(work: Work) -> Iterator[str]:
    """Yield the elements of a record, empty ones among them, in the order of EndNote's own files."""
    people = (("authors", work.authors), ("secondary-authors", work.editors), ("subsidiary-authors", work.translators))
    yield _element("contributors", "".join(_element(role, _names(names)) for role, names in people))
    titles = (
        ("title", work.title),
        ("secondary-title", work.container_title or work.event),
        ("tertiary-title", work.collection_title),
    )
    yield _element("titles", "".join(_leaf(tag, text) for tag, text in titles))
    journal = work.container_title if work.type.startswith("article-") else ""
    yield _element("periodical", _leaf("full-title", journal))
    yield _leaf("pages", page_range(work.pages, "-") if work.pages else work.number_of_pages)
    yield _leaf("volume", work.volume)
    yield _leaf("number", work.issue or work.number)
    yield _leaf("num-vols", work.number_of_volumes)
    yield _leaf("edition", work.edition or work.version)
    yield _dates(work.issued)
    yield _leaf("pub-location", work.location)
    yield _leaf("publisher", work.publisher or work.institution)
    yield _leaf("isbn", "; ".join(filter(None, (work.issn, work.isbn))))
    yield _leaf("orig-pub", edtf(work.original_date))
    yield _leaf("accession-num", f"arXiv:{work.arxiv}" if work.arxiv else work.pmid)
    yield _leaf("custom2", work.pmcid)
    yield _leaf("electronic-resource-num", work.doi)
    yield _leaf("notes", work.note)
    yield _leaf("research-notes", "; ".join(_homeless(work)))
    yield _leaf("work-type", work.genre)
    yield _element("urls", _element("related-urls", _leaf("url", uri(work.url))))
    yield _leaf("access-date", edtf(work.accessed))


def _homeless(work: Work) -> Iterator[str]:
    """Yield what EndNote has no element for."""
    yield from (f"{role}: et al." for role in sorted(work.others))
    if work.institution and work.publisher:
        yield f"institution: {work.institution}"
    if work.number and work.issue:
        yield f"number: {work.number}"
    taken = (
        ("event", work.event if work.container_title else ""),
        ("version", work.version if work.edition else ""),
        ("number of pages", work.number_of_pages if work.pages else ""),
        ("PMID", work.pmid if work.arxiv else ""),
        ("JSTOR", work.jstor),
        ("hdl", work.handle),
    )
    yield from (f"{what}: {text}" for what, text in taken if text)
    if rest := left_over(work):
        yield rest


def _names(names: Iterable[Name]) -> str:
    return "".join(_leaf("author", _whole(name.literal) if name.literal else inverted(name)) for name in names)


def _whole(name: str) -> str:
    """Return a name that EndNote must not take apart."""
    return name.replace(",", ",,", 1) if "," in name else f"{clean(name)},"


def _dates(date: Date | None) -> str:
    if date is None:
        return ""
    if not date.parts:
        return _element("dates", _leaf("year", date.literal))
    years = "-".join(dict.fromkeys(str(end[0]) for end in date.parts))
    plain = all(len(end) == 1 for end in date.parts) and not date.season and not date.circa
    more = "" if plain else _element("pub-dates", _leaf("date", edtf(date)))
    return _element("dates", _leaf("year", years) + more)


def _leaf(tag: str, text: str) -> str:
    return _element(tag, xml_text(text))


def _element(tag: str, content: str) -> str:
    """Return an element around markup, or nothing without content."""
    return f"<{tag}>{content}</{tag}>" if content else ""


FORMAT = OutputFormat(
    name="endnote",
    summary="EndNote XML, the file that EndNote imports",
    extensions=(".endnote.xml",),  # .xml alone is TEI
    media_type="application/xml",
    accepted=(),  # application/xml is TEI
    entry=lambda record, key: entry(record.work),
    head='<?xml version="1.0" encoding="UTF-8"?>\n<xml><records>\n',
    tail="</records></xml>\n",
    keyed=False,
)

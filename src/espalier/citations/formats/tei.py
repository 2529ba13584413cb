"""TEI: one `biblStruct` a work, in the namespace of TEI P5; a file is a whole document with a `listBibl`.

    <biblStruct xmlns="http://www.tei-c.org/ns/1.0" type="article-journal" xml:id="knuth1974computer">
      <analytic> title level="a", author </analytic>
      <monogr> title level="j", editor, meeting, idno, edition, imprint (publisher, pubPlace, date, biblScope), extent
      </monogr>
      <series> title level="s" </series>
      <idno/> <ptr/> <note/>
    </biblStruct>

A work inside another (an article, chapter or paper, and whatever names a container) has an `analytic`; the container is
then the `monogr`, which else is the work itself. Text is cleaned (`formats.clean`: XML has no control characters)
and escaped. Names are `persName` (forename of type first and middle, nameLink, surname, genName) or, unsplit, `name`;
initials have full stops where the reference has them. There is one date of publication, `published`; others are
`accessed` and `original`. A date has `when`, or `from` and `to`; `cert="low"` is circa. `note` holds what TEI has no
element for, by `type`: genre, institution (beside a publisher), version, others ('et al.', by role), unread (with the
label in `n`), and the reference itself, raw_reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from espalier.citations.formats import (
    SEASONS,
    Keys,
    OutputFormat,
    clean,
    is_range,
    iso,
    page_range,
    uri,
    xml_attribute,
    xml_text,
)
from espalier.citations.normalise.name_words import is_initial

if TYPE_CHECKING:
    from espalier.citations.work import Date, Name, Pages, Work

__all__ = ["FORMAT", "NAMESPACE", "entry"]

NAMESPACE = "http://www.tei-c.org/ns/1.0"
_PARTS = frozenset({"article-journal", "article-newspaper", "article-magazine", "paper-conference", "chapter"})
_OPENING = f"""<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="{NAMESPACE}">
<teiHeader><fileDesc>
<titleStmt><title>References</title></titleStmt>
<publicationStmt><p>Unpublished.</p></publicationStmt>
<sourceDesc><p>Parsed from running text.</p></sourceDesc>
</fileDesc></teiHeader>
<text><body><listBibl>
"""
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9_.-]")
_CLOSING = "</listBibl></body></text>\n</TEI>\n"


def entry(work: Work, key: str = "", text: str = "", xmlns: str = "") -> str:
    """Return the `biblStruct` of a work read from `text`; without `xmlns` it is for a document that has declared it."""
    analytic = work.type in _PARTS or bool(work.container_title)
    parts = [
        _analytic(work, text) if analytic else "",
        _monogr(work, analytic, text),
        _element("series", _leaf("title", work.collection_title, level="s")),
        *(_leaf("idno", value, type=kind) for kind, value in _identifiers(work)),
        f"<ptr target={xml_attribute(uri(work.url))}/>" if work.url else "",
        *(_leaf("note", value, type=kind, n=label) for kind, label, value in _notes(work, text)),
    ]
    lines = "".join(f"{part}\n" for part in parts if part)
    attributes = {"xmlns": xmlns, "type": work.type, "xml:id": key or Keys()(work)}
    return f"<biblStruct{_attributes(attributes)}>\n{lines}</biblStruct>\n"


def _id(key: str) -> str:
    """Return a key as an XML id: a key of somebody else's may hold signs that an id may not, such as a colon."""
    told = _NOT_IN_ID.sub(lambda sign: f"_{ord(sign[0]):X}", key)
    return told if told[:1].isalpha() or told[:1] == "_" else f"ref{told}"


def _analytic(work: Work, text: str) -> str:
    return f"<analytic>{_people('author', work.authors, text=text)}{_leaf('title', work.title, level='a')}</analytic>"


def _monogr(work: Work, analytic: bool, text: str) -> str:
    """Return what was published on its own: the container of an `analytic`, or the work itself."""
    level = "j" if work.type.startswith("article-") else "m"
    authors = "" if analytic else _people("author", work.authors, text=text)
    title = _leaf("title", work.container_title if analytic else work.title, level=level)
    editors = _people("editor", work.editors, text=text) + _people(
        "editor", work.translators, role="translator", text=text
    )
    if not title and authors + editors:
        title = f'<title level="{level}"/>'  # TEI wants one beside people
    # People come before the title or after it; of authors TEI wants the former.
    head = authors + editors + title if authors else title + editors
    head += _leaf("meeting", work.event)
    head += _leaf("idno", work.issn, type="ISSN") + _leaf("idno", work.isbn, type="ISBN")
    imprint = "".join(
        (
            _leaf("publisher", work.publisher or work.institution),
            _leaf("pubPlace", work.location),
            _date(work.issued, "published"),
            _date(work.accessed, "accessed"),
            _date(work.original_date, "original"),
            _leaf("biblScope", work.volume, unit="volume"),
            _leaf("biblScope", work.issue, unit="issue"),
            _pages(work.pages),
        )
    )
    extent = _element("extent", _leaf("measure", work.number_of_pages, unit="pages"))
    extent += _element("extent", _leaf("measure", work.number_of_volumes, unit="volumes"))
    return f"<monogr>{head}{_leaf('edition', work.edition)}<imprint>{imprint or '<date/>'}</imprint>{extent}</monogr>"


def _identifiers(work: Work) -> tuple[tuple[str, str], ...]:
    archives = (("PMID", work.pmid), ("PMCID", work.pmcid), ("JSTOR", work.jstor), ("Handle", work.handle))
    return (("DOI", work.doi), ("arXiv", work.arxiv), *archives, ("number", work.number))


def _notes(work: Work, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (type, n, text) of the notes."""
    yield "", "", work.note
    yield "genre", "", work.genre
    yield "version", "", work.version
    yield "institution", "", work.institution if work.publisher else ""
    yield from (("others", "", role) for role in sorted(work.others))
    yield from (("unread", label, value) for label, value in work.unread)
    yield "raw_reference", "", text


def _people(tag: str, names: Iterable[Name], role: str = "", text: str = "") -> str:
    names = tuple(names)
    bare = any(_is_bare(name, text) for name in names)
    return "".join(_element(tag, _name(name, bare), role=role) for name in names)


def _is_bare(name: Name, text: str) -> bool:
    """Tell whether initials stand beside the family name without full stops: "Smith AB"."""
    initials = name.given.replace(". ", "").removesuffix(".")
    if not name.family or not initials.isalpha() or not initials.isupper():
        return False
    family, end = re.escape(name.family), r"(?!\w)" if len(initials) > 1 else r"(?![\w.])"  # a stop ends the list
    return re.search(rf"{family},? {initials}{end}|(?<!\w){initials} {family}", text) is not None


def _name(name: Name, bare: bool) -> str:
    """Return a name in parts; `bare` initials have no full stops."""
    if name.literal:
        return _leaf("name", name.literal)
    given = [word.removesuffix(".") if bare and is_initial(word) else word for word in name.given.split()]
    forenames = "".join(_leaf("forename", word, type="middle" if k else "first") for k, word in enumerate(given))
    parts = (("nameLink", name.particle), ("surname", name.family), ("genName", name.suffix))
    return _element("persName", forenames + "".join(_leaf(tag, value) for tag, value in parts))


def _date(date: Date | None, kind: str) -> str:
    if date is None:
        return ""
    ends = [iso(parts) for parts in date.parts]
    season = f"{SEASONS[(date.season - 1) % 4]} " if date.season else ""
    attributes = dict(zip(("from", "to") if len(ends) > 1 else ("when",), ends, strict=False))
    text = date.literal or season + "/".join(ends)
    return _leaf("date", text, type=kind, **attributes, cert="low" if date.circa else "")


def _pages(pages: Pages | None) -> str:
    if pages is None:
        return ""
    # The attributes hold single words.
    single = is_range(pages) and not any(c.isspace() for c in pages.first + pages.last)
    ends = {"from": clean(pages.first), "to": clean(pages.last)} if single else {}
    return _leaf("biblScope", page_range(pages, "-"), unit="page", **ends)


def _leaf(tag: str, text: str, **attributes: str) -> str:
    """Return an element that holds the text, or nothing without text."""
    return _element(tag, xml_text(text), **attributes) if text else ""


def _element(tag: str, content: str, **attributes: str) -> str:
    """Return an element around markup, or nothing without content; attributes that are empty are left out."""
    return f"<{tag}{_attributes(attributes)}>{content}</{tag}>" if content else ""


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(f" {name}={xml_attribute(value)}" for name, value in attributes.items() if value)


FORMAT = OutputFormat(
    name="tei",
    summary="a TEI document, with a biblStruct for each record",
    extensions=(".tei.xml", ".xml"),
    media_type="application/xml",
    accepted=("application/tei+xml", "application/xml", "text/xml"),
    entry=lambda record, key: entry(record.work, key, record.text),
    head=_OPENING,
    tail=_CLOSING,
    keeps=frozenset({"text"}),
    fit_key=_id,
)

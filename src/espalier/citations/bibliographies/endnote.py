"""EndNote XML: the file that EndNote writes, with or without `style` elements around every text.

Names are 'Last, First, Jr'. A name that ends in a comma, or has two in a row, is not split. DTDs and entities other
than the five of XML are refused. An element that a `Work` has no place for is in its `unread`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from espalier.citations.bibliographies.entry import Entry
from espalier.citations.bibliographies.strict_xml import fed, strict_parser
from espalier.citations.bibliographies.values import (
    as_kind,
    counted,
    date_of,
    edtf_date,
    left_over_pieces,
    make_work,
    name_of,
)
from espalier.citations.normalise import find_isbn, find_issn, parse_pages
from espalier.citations.work import Date, Name, Work
from espalier.errors import FormatError

__all__ = ["read"]

_KINDS = {
    **{
        "Journal Article": "article-journal",
        "Electronic Article": "article-journal",
        "Conference Paper": "paper-conference",
    },
    **{"Conference Proceedings": "paper-conference", "Book Section": "chapter", "Book": "book", "Edited Book": "book"},
    **{"Electronic Book": "book", "Thesis": "thesis", "Report": "report", "Government Document": "report"},
    **{"Web Page": "webpage", "Blog": "post-weblog", "Unpublished Work": "article", "Patent": "patent"},
    **{"Standard": "standard", "Dataset": "dataset", "Computer Program": "software", "Case": "legal_case"},
    **{"Newspaper Article": "article-newspaper", "Magazine Article": "article-magazine", "Manuscript": "manuscript"},
    **{"Statute": "legislation", "Map": "map", "Film or Broadcast": "motion_picture"},
    **{"Personal Communication": "personal_communication"},
}
_SAME = {
    **{
        "titles/title": "title",
        "titles/secondary-title": "container_title",
        "periodical/full-title": "container_title",
    },
    **{"titles/tertiary-title": "collection_title", "volume": "volume", "edition": "edition", "publisher": "publisher"},
    **{"pub-location": "location", "electronic-resource-num": "doi", "notes": "note", "work-type": "genre"},
    **{"urls/related-urls/url": "url", "alt-periodical/full-title": "container_title", "custom2": "pmcid"},
    **{"num-vols": "number_of_volumes"},
}
_ROLES = {
    "contributors/authors/author": "authors",
    "contributors/secondary-authors/author": "editors",
    "contributors/subsidiary-authors/author": "translators",
}
_OWN = (
    "pages",
    "number",
    "isbn",
    "dates/year",
    "dates/pub-dates/date",
    "access-date",
    "accession-num",
    "orig-pub",
    "research-notes",
)
_NO_TEXT = ("ref-type", "rec-number", "foreign-keys/key", "database", "source-app")
_HOMELESS = re.compile(r"(?:\A|; )(author|editor|translator): et al\.(?=; |\Z)")
_EXTRA = re.compile(r"(?:\A|; )(institution|number): ((?:(?!; [a-z-]+: ).)*)", re.DOTALL)


def read(text: str, file: str = "", refused: list[FormatError] | None = None) -> Iterator[Entry]:
    """Yield the records of a file; what is not XML is an error at its line."""
    del refused  # a document that is not well formed has no next record
    for line, raw, kind, values in _records(text, file):
        yield Entry(raw, _work(kind, values), "", "endnote", file, line)


Values = dict[str, list[str]]


def _records(text: str, file: str) -> Iterator[tuple[int, str, str, Values]]:
    """Yield the line, the markup, the type and the texts by path of each record."""
    data = text.encode("utf-8", "replace")
    found: list[tuple[int, str, str, Values]] = []
    path: list[str] = []
    state: dict[str, Any] = {"values": None, "kind": "", "text": [], "start": 0, "line": 1}

    def begin(name: str, attributes: dict[str, str]) -> None:
        if name == "record":
            path.clear()
            state.update(values={}, kind="", start=parser.CurrentByteIndex, line=parser.CurrentLineNumber)
        elif state["values"] is not None and name != "style":
            path.append(name)
            state["text"] = []
            if name == "ref-type":
                state["kind"] = attributes.get("name", "")

    def end(name: str) -> None:
        if name == "record" and state["values"] is not None:
            raw = data[state["start"] : parser.CurrentByteIndex] + b"</record>"
            found.append((state["line"], raw.decode("utf-8", "replace"), state["kind"], state["values"]))
            state["values"] = None
        elif state["values"] is not None and name != "style" and path:
            said = " ".join("".join(state["text"]).split())
            if said:
                state["values"].setdefault("/".join(path), []).append(said)
            state["text"] = []
            path.pop()

    parser = strict_parser(file, begin, end)
    parser.CharacterDataHandler = lambda said: state["text"].append(said)
    yield from fed(parser, data, found, file)


def _work(kind: str, values: Values) -> Work:
    """Return what the elements of a record say."""
    found: dict[str, Any] = {"type": as_kind(_KINDS.get(kind, ""))}
    unread: list[tuple[str, str]] = []
    for path, texts in values.items():
        if path in _ROLES:
            found[_ROLES[path]] = tuple(map(_name, texts))
        elif path in _SAME:
            part = _SAME[path]
            rest = texts if not found.get(part) else [text for text in texts if text != found[part]]
            if not found.get(part):
                found[part], rest = rest[0], rest[1:]
            unread += [(path.rpartition("/")[2], text) for text in rest]
        elif path not in _OWN and path not in _NO_TEXT:
            unread += [(path.rpartition("/")[2], text) for text in texts]
    _own(found, {path: "; ".join(values.get(path, ())) for path in _OWN}, unread)
    return make_work(counted(found), unread)


def _own(found: dict[str, Any], values: dict[str, str], unread: list[tuple[str, str]]) -> None:
    """Read the elements whose text has a form of its own."""
    homeless = values["research-notes"]
    found["others"] = frozenset(_HOMELESS.findall(homeless))
    extra = dict(_EXTRA.findall(homeless))
    found["pages"] = parse_pages(values["pages"]) if values["pages"] else None
    found["issued"] = _issued(values["dates/year"], values["dates/pub-dates/date"])
    found["accessed"] = date_of(values["access-date"])
    found["original_date"] = date_of(values["orig-pub"])
    found["isbn"], found["issn"] = _standard_numbers(values["isbn"], unread)
    report = found["type"] == "report" and "number" not in extra
    found["number"], found["issue"] = (values["number"], "") if report else (extra.get("number", ""), values["number"])
    if values["accession-num"].lower().startswith("arxiv:"):
        found["arxiv"] = values["accession-num"][6:]
    elif values["accession-num"].isdigit():
        found["pmid"] = values["accession-num"]
    elif values["accession-num"]:
        unread.append(("accession-num", values["accession-num"]))
    if extra.get("institution"):
        found["institution"] = extra["institution"]
    elif found["type"] in ("thesis", "report") and found.get("publisher"):
        found["institution"] = found.pop("publisher")
    rest = _EXTRA.sub("", _HOMELESS.sub("", homeless)).removeprefix("; ")
    unread += left_over_pieces(rest, found)


def _standard_numbers(value: str, unread: list[tuple[str, str]]) -> tuple[str, str]:
    """Return ISBN and ISSN, which share an element."""
    isbn = issn = ""
    for piece in filter(None, (part.strip() for part in re.split(r"[;\r\n]", value))):
        if not isbn and find_isbn(piece):
            isbn = piece
        elif not issn and (find_issn(piece) or not unread):
            issn = piece
        else:
            unread.append(("isbn", piece))
    return isbn, issn


def _issued(year: str, date: str) -> Date | None:
    """Return the date beside the year if it says all of it, else both read together."""
    exact = edtf_date(date) if date else None
    if exact is not None:
        return exact
    years = edtf_date(year.replace("-", "/")) if re.fullmatch(r"\d{4}-\d{4}", year) else None
    return years or date_of(f"{date} {year}" if date and year not in date else date or year)


def _name(text: str) -> Name:
    if text.endswith(",") and text.count(",") == 1:
        return Name(literal=text[:-1].strip())
    return Name(literal=text.replace(",,", ",", 1)) if ",," in text else name_of(text)

"""MODS: the XML of libraries, of repositories and of bibutils.

A record is a small tree. What contains the work is a `relatedItem` of type "host", a series one of type "series";
volume, issue and pages stand in a `part` of either. Names are in parts, or whole: 'Last, First'. The prefix of
elements (`mods:title`) does not matter. What a `Work` has no place for is in its `unread`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from espalier.citations.bibliographies.entry import Entry
from espalier.citations.bibliographies.strict_xml import fed, strict_parser
from espalier.citations.bibliographies.values import as_kind, date_of, make_work, name_of, particle_of
from espalier.citations.normalise import parse_pages
from espalier.citations.work import Name, Work
from espalier.errors import FormatError

__all__ = ["read"]

_KINDS = {
    **{"journal article": "article-journal", "academic journal": "article-journal", "periodical": "article-journal"},
    **{"newspaper": "article-newspaper", "newspaper article": "article-newspaper", "magazine": "article-magazine"},
    **{"conference publication": "paper-conference", "conference paper": "paper-conference", "book": "book"},
    **{"book chapter": "chapter", "thesis": "thesis", "ph.d. thesis": "thesis", "masters thesis": "thesis"},
    **{"technical report": "report", "report": "report", "web page": "webpage", "web site": "webpage"},
    **{"patent": "patent", "dataset": "dataset", "software": "software", "manuscript": "manuscript"},
    **{"article": "article-journal", "chapter": "chapter", "preprint": "article", "unpublished": "article"},
}
_ROLES = {
    **{"author": "authors", "aut": "authors", "creator": "authors", "cre": "authors", "": "authors"},
    **{"editor": "editors", "edt": "editors", "translator": "translators", "trl": "translators"},
}
_NUMBERS = {
    **{"doi": "doi", "isbn": "isbn", "issn": "issn", "uri": "url", "hdl": "handle", "pubmed": "pmid", "pmid": "pmid"},
    **{"pmc": "pmcid", "arxiv": "arxiv", "jstor": "jstor", "report number": "number"},
}
_DETAILS = {
    **{"volume": "volume", "issue": "issue", "number": "issue", "page": "pages", "article": "pages"},
    **{"report number": "number"},
}
_NO_TEXT = frozenset(("recordInfo", "typeOfResource", "extension", "physicalDescription", "accessCondition"))


@dataclass
class _Element:
    """An element: its name without a prefix, its attributes, its text, and what is inside."""

    name: str
    attributes: dict[str, str]
    pieces: list[str] = field(default_factory=list)
    inside: list[_Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What stands in the element itself."""
        return "".join(self.pieces)

    def all(self, name: str) -> list[_Element]:
        return [one for one in self.inside if one.name == name]

    def said(self, path: str) -> str:
        """Return the text of the first element on a path, "" without one."""
        name, _, rest = path.partition("/")
        for one in self.all(name):
            found = one.said(rest) if rest else " ".join(one.text.split())
            if found:
                return found
        return ""

    def words(self) -> str:
        """Return all text of the element."""
        return " ".join(" ".join([self.text, *(one.words() for one in self.inside)]).split())


def read(text: str, file: str = "", refused: list[FormatError] | None = None) -> Iterator[Entry]:
    """Yield the records of a file; what is not XML is an error at its line."""
    del refused  # a document that is not well formed has no next record
    for line, raw, record in _records(text, file):
        yield Entry(raw, _work(record), _key(record), "mods", file, line)


def _records(text: str, file: str) -> Iterator[tuple[int, str, _Element]]:
    """Yield the line, the markup and the tree of each record."""
    data = text.encode("utf-8", "replace")
    found: list[tuple[int, str, _Element]] = []
    path: list[_Element] = []
    began: list[tuple[int, int]] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        element = _Element(name.rpartition(":")[2], attributes)
        if path:
            path[-1].inside.append(element)
        elif element.name != "mods":
            return
        else:
            began.append((parser.CurrentLineNumber, parser.CurrentByteIndex))
        path.append(element)

    def end(name: str) -> None:
        if path:
            element = path.pop()
            if not path:
                line, start = began.pop()
                raw = data[start : parser.CurrentByteIndex].decode("utf-8", "replace")
                found.append((line, f"{raw}</{name}>", element))

    def more(said: str) -> None:
        if path:
            path[-1].pieces.append(said)

    parser = strict_parser(file, begin, end)
    parser.CharacterDataHandler = more
    yield from fed(parser, data, found, file)


def _key(record: _Element) -> str:
    keys = (one.words() for one in record.all("identifier") if one.attributes.get("type") == "citekey")
    return record.attributes.get("ID") or next(keys, "")


def _work(record: _Element) -> Work:
    """Return what the elements of a record say."""
    found: dict[str, Any] = {}
    unread: list[tuple[str, str]] = []
    genres = [one.words() for one in record.all("genre")]
    hosts = [one for one in record.all("relatedItem") if one.attributes.get("type") == "host"]
    kinds = [kind for genre in genres if (kind := _KINDS.get(genre.lower()))]
    nested = [_KINDS.get(one.words().lower(), "") for host in hosts for one in host.all("genre")]
    found["type"] = _type(kinds, nested, bool(hosts))
    _put(found, "genre", next((genre for genre in genres if genre.lower() not in _KINDS), ""), "genre", unread)
    _level(record, found, unread, title="title")
    for host in hosts:
        _level(host, found, unread, title="container_title")
    for one in record.all("relatedItem"):
        kind = one.attributes.get("type", "")
        if kind == "series":
            _level(one, found, unread, title="collection_title")
        elif kind != "host" and one.words():
            unread.append((kind or "relatedItem", one.words()))
    return make_work(found | {role: tuple(found[role]) for role in _ROLES.values() if role in found}, unread)


def _type(kinds: list[str], nested: list[str], hosted: bool) -> str:
    """Return the type of a work by its own genre and by that of what contains it."""
    if hosted and not [kind for kind in kinds if kind != "book"]:
        inner = next((kind for kind in nested if kind), "")
        return "chapter" if inner in ("book", "") else inner
    return as_kind(kinds[0] if kinds else "")


def _level(level: _Element, found: dict[str, Any], unread: list[tuple[str, str]], *, title: str) -> None:
    """Read a record, or what contains it: its title, names, dates, numbers and parts."""
    for one in level.inside:
        if one.name == "titleInfo":
            kind = one.attributes.get("type", "")
            _put(found, "" if kind else title, _title(one), kind or "title", unread)
        elif one.name == "name":
            _name(one, found, unread, hosted=title != "title")
        elif one.name == "originInfo":
            _origin(one, found, unread)
        elif one.name == "part":
            _part(one, found, unread)
        elif one.name == "identifier":
            kind = one.attributes.get("type", "").lower()
            if kind != "citekey":
                _put(found, _NUMBERS.get(kind, ""), one.words(), kind or "identifier", unread)
        elif one.name == "location":
            for url in one.all("url"):
                _put(found, "url", url.words(), "url", unread)
                found["accessed"] = found.get("accessed") or date_of(url.attributes.get("dateLastAccessed", ""))
            for place in one.all("physicalLocation"):
                unread.append(("physicalLocation", place.words()))
        elif one.name == "note":
            _put(found, "note", one.words(), "note", unread)
        elif one.name not in _NO_TEXT and one.name not in ("relatedItem", "genre"):
            unread.append((one.name, one.words()))


def _put(found: dict[str, Any], part: str, text: str, label: str, unread: list[tuple[str, str]]) -> None:
    """Put a text where it belongs; what is there already, or has no place, is kept as unread."""
    if part and text and not found.get(part):
        found[part] = text
    elif text and found.get(part) != text:
        unread.append((label, text))


def _title(info: _Element) -> str:
    """Return a title: the article before it, and the subtitle behind a colon."""
    head = " ".join(filter(None, (info.said("nonSort"), info.said("title"))))
    parts = [head, info.said("subTitle")]
    return ": ".join(filter(None, parts)) + "".join(
        f". {text}" for text in (info.said("partNumber"), info.said("partName")) if text
    )


def _name(element: _Element, found: dict[str, Any], unread: list[tuple[str, str]], *, hosted: bool) -> None:
    """Put a name into its role; without one, those of a work are authors, and of what contains it, editors."""
    terms = [one.words().lower().rstrip(".") for role in element.all("role") for one in role.all("roleTerm")]
    role = next((_ROLES[term] for term in terms if term in _ROLES), "" if terms else "editors" if hosted else "authors")
    parts: dict[str, list[str]] = {}
    for one in element.all("namePart"):
        parts.setdefault(one.attributes.get("type", ""), []).append(one.words())
    whole = " ".join(parts.get("", ()))
    if parts.get("family"):
        particle, family = particle_of(" ".join(parts["family"]))
        name = Name(family, " ".join(parts.get("given", ())), particle, " ".join(parts.get("termsOfAddress", ())))
    elif not whole:
        return
    elif element.attributes.get("type") in ("corporate", "conference"):
        name = Name(literal=whole)
    else:
        name = name_of(whole)
    if element.attributes.get("type") == "conference":
        _put(found, "event", whole, "event", unread)
    elif "degree grantor" in terms:
        _put(found, "institution", whole, "institution", unread)
    elif not role or (hosted and role == "authors"):
        unread.append((terms[0] if terms else "author", whole or f"{name.given} {name.family}".strip()))
    else:
        found.setdefault(role, []).append(name)


def _origin(origin: _Element, found: dict[str, Any], unread: list[tuple[str, str]]) -> None:
    for place in origin.all("place"):
        texts = [one.words() for one in place.all("placeTerm") if one.attributes.get("type", "text") == "text"]
        for text in texts:
            _put(found, "location", text, "location", unread)
    for name, part in (("publisher", "publisher"), ("edition", "edition")):
        for one in origin.all(name):
            _put(found, part, one.words(), name, unread)
    for name in ("dateIssued", "copyrightDate", "dateCreated", "dateOther"):
        for one in origin.all(name):
            date = date_of(one.words())
            if date is not None and not found.get("issued"):
                found["issued"] = date
            elif date != found.get("issued"):
                unread.append((name, one.words()))


def _part(part: _Element, found: dict[str, Any], unread: list[tuple[str, str]]) -> None:
    for one in part.inside:
        said = one.said("number") or one.words()
        if one.name == "detail":
            where = _DETAILS.get(one.attributes.get("type", "").lower(), "")
            if where == "pages":
                found["pages"] = found.get("pages") or parse_pages(said)
            else:
                _put(found, where, said, one.attributes.get("type", "") or "detail", unread)
        elif one.name == "extent":
            first, last = one.said("start"), one.said("end")
            pages = parse_pages(f"{first}–{last}" if first and last else first or one.said("list"))
            if one.said("total") and pages is None:
                _put(found, "number_of_pages", one.said("total"), "extent", unread)
            found["pages"] = found.get("pages") or pages
        elif one.name == "date":
            found["issued"] = found.get("issued") or date_of(one.words())
        else:
            unread.append((one.name, said))

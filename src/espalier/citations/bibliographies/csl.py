"""CSL-JSON: an array of items, one item, `{"items": [...]}`, or the records that `espalier parse` writes as JSON Lines.

A variable that a `Work` has no place for is in its `unread`, under its own name; so is a type that is not one of ours.
What our own writer puts into `custom` comes back to where it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from espalier.citations.bibliographies.entry import Entry
from espalier.citations.bibliographies.values import date_of, make_work
from espalier.citations.normalise import parse_pages
from espalier.citations.work import KINDS, Date, Name, Work
from espalier.errors import FormatError

__all__ = ["read", "work_of_item"]

_SAME = {
    **{"title": "title", "container-title": "container_title", "collection-title": "collection_title"},
    **{"volume": "volume", "issue": "issue", "edition": "edition", "publisher": "publisher"},
    **{"publisher-place": "location", "genre": "genre", "number": "number", "note": "note", "DOI": "doi", "URL": "url"},
    **{"ISBN": "isbn", "ISSN": "issn", "PMID": "pmid", "PMCID": "pmcid", "version": "version"},
    **{"number-of-pages": "number_of_pages", "number-of-volumes": "number_of_volumes", "event-title": "event"},
}
_ARCHIVES = {"arxiv": "arxiv", "jstor": "jstor", "handle": "handle"}
_ROLES = {"author": "authors", "editor": "editors", "translator": "translators"}
_NAME = {"family": "family", "given": "given", "suffix": "suffix", "literal": "literal"}
_PARTICLES = ("dropping-particle", "non-dropping-particle")
_PASSED = (
    "id",
    "type",
    "custom",
    "page",
    "issued",
    "accessed",
    "original-date",
    "year-suffix",
    "archive",
    "archive_location",
)


def read(text: str, file: str = "", refused: list[FormatError] | None = None) -> Iterator[Entry]:
    """Yield the entries of a file; an item that is none is an error, or goes to `refused`."""
    for line, item in _items(text, file):
        record = item.get("csl") if isinstance(item, Mapping) else None
        found = record if isinstance(record, Mapping) else item
        if not isinstance(found, Mapping):
            error = FormatError(f"an item must be an object, not {item!r:.40}", path=file, line=line)
            if refused is None:
                raise error
            refused.append(error)
            continue
        try:
            whole = str(item["text"]) if record is found and "text" in item else _json(found)
            work = work_of_item(found)
        except RecursionError:  # as deep as the values that JSON itself takes, each level calls several functions here
            raise FormatError("this JSON is nested too deeply for a bibliography", path=file, line=line) from None
        yield Entry(whole, work, str(found.get("id", "")), "csl", file, line)


def _json(item: Mapping[str, Any]) -> str:
    return json.dumps(item, ensure_ascii=False)


def _items(text: str, file: str) -> Iterator[tuple[int, Any]]:
    """Yield the line, where it is known, and the value of each item."""
    try:
        whole = json.loads(text)
    except RecursionError:
        raise FormatError("this JSON is nested too deeply for a bibliography", path=file) from None
    except ValueError as error:
        if not getattr(error, "msg", "").startswith("Extra data"):
            _fail(error, file)
        yield from _lines(text, file)
        return
    if isinstance(whole, Mapping):
        whole = whole["items"] if isinstance(whole.get("items"), list) else [whole]
    yield from ((1, item) for item in whole)


def _lines(text: str, file: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                _fail(error, file, number)


def _fail(error: Exception, file: str, line: int = 0) -> None:
    what = f"this is not JSON: {getattr(error, 'msg', 'nested too deeply')}"
    raise FormatError(what, path=file, line=line or getattr(error, "lineno", 1), hint="is the file cut off?") from None


def work_of_item(item: Mapping[str, Any]) -> Work:
    """Return what a CSL item says; a value of the wrong type is taken as text."""
    given = item.get("custom")
    custom: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    found: dict[str, Any] = {part: _text(item.get(variable)) for variable, part in _SAME.items()}
    for role, part in _ROLES.items():
        names = item.get(role)
        found[part] = tuple(filter(None, map(_name, names))) if isinstance(names, list) else ()
    others = {role for role in _listed(custom, "others") if role in _ROLES}  # as files of earlier releases have it
    for role, part in _ROLES.items():
        if found[part] and found[part][-1].literal == "others":
            found[part] = found[part][:-1]
            others.add(role)
    found["others"] = frozenset(others)
    found["pages"] = parse_pages(_text(item.get("page"))) if item.get("page") else None
    found["issued"] = _date(item.get("issued"), custom.get("issued"))
    found["accessed"] = _date(item.get("accessed"), custom.get("accessed"))
    found["original_date"] = _date(item.get("original-date"), custom.get("original_date"))
    kind = _text(item.get("type"))
    found["type"] = kind if kind in KINDS else "document"
    unread = [
        (str(pair[0]), _text(pair[1]))
        for pair in _listed(custom, "unread")
        if isinstance(pair, list) and len(pair) == 2
    ]
    unread += [] if kind in KINDS or not kind else [("type", kind)]
    _institution(item, found)
    archive = _ARCHIVES.get(_text(item.get("archive")).lower(), "")
    found |= {_ARCHIVES[name.lower()]: _text(custom.get(name)) for name in ("JSTOR", "Handle")}
    if archive and item.get("archive_location"):
        found[archive] = _text(item["archive_location"])
    else:
        unread += [(name, _text(item.get(name))) for name in ("archive", "archive_location")]
    known = {*_SAME, *_ROLES, *_PASSED, "authority"}
    unread += [(name, _text(value)) for name, value in item.items() if name not in known]
    return make_work(found, unread)


def _institution(item: Mapping[str, Any], found: dict[str, Any]) -> None:
    """Tell the institution from the publisher: beside one it is the authority, of a thesis it is the house."""
    found["institution"] = _text(item.get("authority"))
    if found["type"] in ("thesis", "report") and not found["institution"]:
        found["institution"], found["publisher"] = found["publisher"], ""


def _listed(custom: Any, name: str) -> list[Any]:
    value = custom.get(name)
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    """Return a value as text: lists are joined, objects are JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list):
        return "; ".join(map(_text, value))
    return _json(value) if isinstance(value, Mapping) else str(value)


def _name(name: Any) -> Name | None:
    if not isinstance(name, Mapping):
        return Name(literal=_text(name)) if name else None
    parts = {attribute: _text(name.get(part)) for part, attribute in _NAME.items()}
    particle = " ".join(filter(None, (_text(name.get(part)) for part in _PARTICLES)))
    if parts["literal"]:
        return Name(literal=parts["literal"])
    return Name(**parts | {"particle": particle}) if any(parts.values()) or particle else None


def _date(value: Any, literal: Any = None) -> Date | None:
    """Return a date of CSL: parts, a literal, or a text to be read."""
    if isinstance(value, str):
        return date_of(value)
    if not isinstance(value, Mapping):
        return None
    try:
        ends = tuple(tuple(int(part) for part in end) for end in value.get("date-parts") or ())
    except (TypeError, ValueError, OverflowError):
        ends = ()
    ends = tuple(end for end in ends[:2] if 1 <= len(end) <= 3)
    if not ends:
        said = _text(value.get("literal"))
        found = Date(literal=said) if said else date_of(_text(value.get("raw")))
        return (
            found if not value.get("circa") or found is None else Date(found.parts, found.season, found.literal, True)
        )
    season = _text(value.get("season"))
    number = (int(season) - 1) % 4 + 1 if season.isdecimal() and len(season) < 3 and int(season) else None
    return Date(ends, number, _text(literal), bool(value.get("circa")))

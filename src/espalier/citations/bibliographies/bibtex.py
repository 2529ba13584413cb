r"""BibTeX and BibLaTeX: entries, macros of `@string`, values joined by `#`, fields inherited by `crossref`.

    @article{knuth1984, author = "Donald E. Knuth", title = {Literate Programming}, journal = cj, year = 1984}

Values are decoded (`espalier.io.tex`): accents are letters, and braces go away. Names are read by BibTeX's own rules:
'von Last, Jr, First', 'von Last, First' or 'First von Last', joined by 'and', and a name all in braces is not split. A
field that a `Work` has no place for is in its `unread`, under its own name. An entry that cannot be read is refused by
its line, and reading goes on at the next `@`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from espalier.citations.bibliographies.bibtex_names import names_of
from espalier.citations.bibliographies.entry import Entry
from espalier.citations.bibliographies.values import as_kind, date_of, left_over_pieces, make_work
from espalier.citations.normalise import find_arxiv, parse_pages
from espalier.citations.normalise.dates import parse_date
from espalier.citations.work import Date, Work
from espalier.errors import FormatError
from espalier.io.tex import plain_text

__all__ = ["read"]

_KINDS = {
    **dict.fromkeys(("article", "periodical", "suppperiodical"), "article-journal"),
    **dict.fromkeys(("inproceedings", "conference"), "paper-conference"),
    **dict.fromkeys(("incollection", "inbook", "suppbook", "suppcollection", "inreference"), "chapter"),
    **dict.fromkeys(
        ("book", "booklet", "mvbook", "collection", "mvcollection", "proceedings", "mvproceedings"), "book"
    ),
    **dict.fromkeys(("reference", "mvreference", "bookinbook"), "book"),
    **dict.fromkeys(("phdthesis", "mastersthesis", "thesis"), "thesis"),
    **dict.fromkeys(("techreport", "report", "manual"), "report"),
    **dict.fromkeys(("online", "electronic", "www", "webpage"), "webpage"),
    **{
        "unpublished": "manuscript",
        "jurisdiction": "legal_case",
        "patent": "patent",
        "dataset": "dataset",
        "software": "software",
    },
    **{"standard": "standard", "misc": "document"},
}
_SAME = {
    **{"title": "title", "series": "collection_title", "volume": "volume", "edition": "edition", "type": "genre"},
    **{"publisher": "publisher", "address": "location", "location": "location", "note": "note", "doi": "doi"},
    **{"isbn": "isbn", "issn": "issn", "school": "institution", "institution": "institution"},
    **{"organization": "institution", "url": "url", "journal": "container_title", "journaltitle": "container_title"},
    **{"booktitle": "container_title", "howpublished": "container_title", "eventtitle": "event", "version": "version"},
    **{"pagetotal": "number_of_pages", "volumes": "number_of_volumes", "pmid": "pmid", "pmcid": "pmcid"},
    **{"jstor": "jstor", "handle": "handle"},
}
_SUBTYPES = {"newspaper": "article-newspaper", "magazine": "article-magazine"}
_ROLES = {"author": "authors", "editor": "editors", "translator": "translators"}
_VERBATIM = ("doi", "url", "eprint", "file", "pmid", "pmcid", "jstor", "handle")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SEASONS = ("spring", "summer", "autumn", "winter")
_START = re.compile(r"(?:^|(?<=[\s})]))@[ \t]*([A-Za-z]+)\s*([{(])", re.MULTILINE)
_SPACE = re.compile(r"\s*")
_KEY = re.compile(r"[^\s,{}()]*(?:\([^\s,{}()]*\)[^\s,{}()]*)*")
_NAME = re.compile(r"\s*([^\s=,{}\"#()]+)\s*=\s*")
_BARE = re.compile(r"[^\s,{}\"#()=]+")
_SIGNS = re.compile(r'\\.|[{}"]', re.DOTALL)
_YEARS = re.compile(r"(c\. ?|ca\. ?|circa )?(\d{1,4})(?:\s*(?:-{1,3}|[–—/])\s*(\d{4}))?")
_LONGEST = 200_000  # characters of a value
_FREE, _EXPANSION = 1_000_000, 10  # what macros and cross-references may add: so much, and so many times the file
_MOST_FAULTS = 100  # entries that cannot be read before the rest of the file is given up
_IN_URL = re.compile(r"\\url\s*\{([^{}]*)\}|(https?://[^\s{}]+)")


class _Raw(NamedTuple):
    """An entry before its values are read: its type, its key and its fields, and where it stands."""

    kind: str
    key: str
    fields: dict[str, str]
    start: int
    end: int


def read(text: str, file: str = "", refused: list[FormatError] | None = None) -> Iterator[Entry]:
    """Yield the entries of a file; one that is malformed is an error, or goes to `refused`."""
    lines, macros = _Lines(text), _Macros(text)
    found: list[_Raw] = []
    try:
        _collect(text, file, refused, macros, lines, found)
        parents = {raw.key.lower(): raw for raw in found}
        for raw in found:
            work, said = _work(raw.kind, _inherited(raw, parents, macros)), text[raw.start : raw.end].strip()
            yield Entry(said, work, raw.key, "bibtex", file, lines.number(raw.start))
    except _Expanded as fault:
        hint = "write out what they stand for, or cut the file into several"
        error = FormatError(fault.what, path=file, line=lines.number(fault.where), hint=hint)
        if refused is None:
            raise error from None
        refused.append(error)


def _collect(
    text: str, file: str, refused: list[FormatError] | None, macros: _Macros, lines: _Lines, found: list[_Raw]
) -> None:
    """Find the entries of a file, as they stand in it but for their macros."""
    at, faults = 0, 0
    while begun := _START.search(text, at):
        kind, closing = begun[1].lower(), "}" if begun[2] == "{" else ")"
        at = begun.end()
        try:
            if kind == "comment":
                continue
            if kind == "preamble":
                _, at = _value(text, at, macros)
            elif kind == "string":
                fields, at = _fields(text, at, closing, macros)
                macros.known.update(fields)
            else:
                key = _KEY.match(text, _space(text, at))
                start = key.end() if key else at
                fields, at = _fields(text, _comma(text, start, closing), closing, macros)
                found.append(_Raw(kind, key[0] if key else "", fields, begun.start(), at))
        except _Fault as fault:
            error = FormatError(
                f"this entry cannot be read: {fault.what}", path=file, line=lines.number(begun.start()),
                hint="mend it, or take it out of the file",
            )  # fmt: skip
            if refused is None:
                raise error from None
            refused.append(error)
            at, faults = begun.end(), faults + 1
            if faults == _MOST_FAULTS:
                break


class _Macros:
    """What macros stand for, and how much they and cross-references add: few lines may mean more than memory holds."""

    def __init__(self, text: str) -> None:
        self.known = {month: month for month in _MONTHS}
        self._most = max(_FREE, _EXPANSION * len(text))
        self._count = 0

    def meaning(self, word: str, where: int) -> str:
        """Return what a bare word stands for: itself, if it is no macro."""
        said = self.known.get(word.lower())
        if said is None:
            return word
        self.add(len(said), where)
        return said

    def add(self, characters: int, where: int) -> None:
        """Count characters that are added at a place."""
        self._count += characters
        if self._count > self._most:
            raise _Expanded(where, f"macros and cross-references make more than {self._most:,} characters of this file")


class _Expanded(Exception):
    """The file stands for more than is read, from a place on."""

    def __init__(self, where: int, what: str) -> None:
        self.where, self.what = where, what


class _Fault(Exception):
    """What is wrong with an entry."""

    def __init__(self, what: str) -> None:
        self.what = what


class _Lines:
    """Line numbers of places that are asked for in order."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def number(self, at: int) -> int:
        if at < self._at:
            self._at, self._line = 0, 1
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        return self._line


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _comma(text: str, at: int, closing: str) -> int:
    """Return the place after the comma behind a key; an entry may end without one."""
    at = _space(text, at)
    if text[at : at + 1] == ",":
        return at + 1
    if text[at : at + 1] == closing:
        return at
    raise _Fault("there is no comma after its key")


def _fields(text: str, at: int, closing: str, macros: _Macros) -> tuple[dict[str, str], int]:
    """Return the fields up to the closing brace, and the place behind it; of a field given twice the first counts."""
    found: dict[str, str] = {}
    while True:
        at = _space(text, at)
        if text[at : at + 1] == closing:
            return found, at + 1
        if text[at : at + 1] == ",":
            at += 1
            continue
        name = _NAME.match(text, at)
        if not name:
            raise _Fault("it is never closed" if at >= len(text) else f"no field begins at {text[at : at + 20]!r}")
        value, at = _value(text, name.end(), macros)
        found.setdefault(name[1].lower(), value)
        at = _space(text, at)
        if text[at : at + 1] not in (",", closing):
            raise _Fault(f"after the field {name[1]!r} there is neither a comma nor the end")


def _value(text: str, at: int, macros: _Macros) -> tuple[str, int]:
    """Return a value as it stands in the file, parts joined by `#` put together, and the place behind it."""
    parts = []
    while True:
        at = _space(text, at)
        sign = text[at : at + 1]
        if sign in ("{", '"'):
            end = _closed(text, at)
            parts.append(text[at + 1 : end])
            at = end + 1
        else:
            bare = _BARE.match(text, at)
            if not bare:
                raise _Fault(f"no value begins at {text[at : at + 20]!r}")
            parts.append(macros.meaning(bare[0], at))
            at = bare.end()
        at = _space(text, at)
        if text[at : at + 1] != "#":
            return "".join(parts), at
        at += 1


def _closed(text: str, at: int) -> int:
    """Return where the value that opens here is closed."""
    depth, quoted = 0, text[at] == '"'
    for found in _SIGNS.finditer(text, at + quoted, at + _LONGEST):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if found[0] == '"' and quoted and depth == 0:
            return found.start()
        if depth == 0 and found[0] == "}" and not quoted:
            return found.start()
        if depth < 0:
            break
    raise _Fault("a value is never closed")


def _inherited(raw: _Raw, parents: Mapping[str, _Raw], macros: _Macros) -> dict[str, str]:
    """Return the fields of an entry and those of the one that it refers to, whose title is the container's."""
    parent = parents.get(raw.fields.get("crossref", "").lower())
    if parent is None or parent is raw:
        return raw.fields
    given = {name: value for name, value in parent.fields.items() if name not in ("title", "crossref", "pages")}
    if "title" in parent.fields:
        given.setdefault("booktitle", parent.fields["title"])
    own = {name: value for name, value in raw.fields.items() if name != "crossref"}
    macros.add(sum(len(name) + len(value) for name, value in given.items() if name not in own), raw.start)
    return given | own


def _work(kind: str, fields: Mapping[str, str]) -> Work:
    """Return what the fields of an entry say."""
    rest = dict(fields)
    found: dict[str, Any] = {}
    others = []
    for role, part in _ROLES.items():
        if role in rest:
            found[part], more = names_of(rest.pop(role))
            others += [role] if more else []
    found["others"] = frozenset(others)
    found["pages"] = parse_pages(plain_text(rest.pop("pages", ""))) if rest.get("pages") else None
    found["issued"] = _issued(rest)
    found["accessed"] = date_of(plain_text(rest.pop("urldate", "")))
    found["original_date"] = date_of(plain_text(rest.pop("origdate", "")))
    _numbers(kind, rest, found)
    _addresses(rest, found)
    for name, part in _SAME.items():
        if name in rest and not found.get(part):
            found[part] = _said(name, rest.pop(name))
    if subtitle := plain_text(rest.pop("subtitle", "")):
        found["title"] = f"{found['title']}: {subtitle}" if found.get("title") else subtitle
    found["type"] = _SUBTYPES.get(rest.pop("entrysubtype", ""), "") or _kind(kind, found)
    left = plain_text(rest.pop("annote", rest.pop("annotation", "")))
    unread = left_over_pieces(left, found)
    return make_work(found, [*unread, *((name, _said(name, value)) for name, value in rest.items())])


def _said(name: str, value: str) -> str:
    return " ".join(value.split()).strip("{}") if name in _VERBATIM else plain_text(value)


def _kind(kind: str, found: Mapping[str, Any]) -> str:
    """Return the type of a work; a @misc shows it by what it has."""
    if found.get("arxiv") and kind in ("misc", "unpublished"):
        return "article"
    if kind != "misc" and kind in _KINDS:
        return as_kind(_KINDS[kind])
    alone = not any(found.get(part) for part in ("publisher", "container_title", "institution"))
    return "webpage" if found.get("url") and alone else "document"


def _numbers(kind: str, rest: dict[str, str], found: dict[str, Any]) -> None:
    """Tell the number of a report from the number of an issue: `number` is the issue unless there is another."""
    number, issue = plain_text(rest.pop("number", "")), plain_text(rest.pop("issue", ""))
    report = as_kind(_KINDS.get(kind, "")) in ("report", "patent", "standard")
    found["number"], found["issue"] = (number, issue) if issue or report else ("", number)


def _addresses(rest: dict[str, str], found: dict[str, Any]) -> None:
    """Read the number of a preprint, and the address in `howpublished`."""
    prefix = f"{rest.get('archiveprefix', '')}{rest.get('eprinttype', '')}".lower()
    eprint = rest.get("eprint", "")
    if "arxiv" in prefix or (eprint and not prefix and find_arxiv(f"arXiv:{eprint}")):
        found["arxiv"] = eprint.strip()
        for name in ("eprint", "archiveprefix", "eprinttype"):
            rest.pop(name, None)
    if "howpublished" in rest and (address := _IN_URL.search(rest["howpublished"])) and "url" not in rest:
        rest["url"] = address[1] or address[2]
        around = rest["howpublished"].replace(address[0], "").strip()
        rest["howpublished"] = around if any(map(str.isalnum, around)) else ""


def _issued(rest: dict[str, str]) -> Date | None:
    """Return the date of `date`, or of `year`, `month` and `day`."""
    whole = plain_text(rest.pop("date", ""))
    if whole:
        for name in ("year", "month", "day"):
            rest.pop(name, None)
        return date_of(whole)
    year = plain_text(rest.pop("year", ""))
    months, days = rest.pop("month", "").strip(), plain_text(rest.pop("day", ""))
    found = _YEARS.fullmatch(year)
    if not found:
        return parse_date(" ".join(filter(None, (year, plain_text(months)))))
    ends = [(int(value),) for value in found.groups()[1:] if value]
    words = [word for word in re.split(r"[-–—/]+", plain_text(months).lower()) if word]
    season = _SEASONS.index(words[0]) + 1 if len(words) == 1 and words[0] in _SEASONS else None
    numbers = [_month(word) for word in words] if not season else []
    if months and not season and None in numbers:
        return parse_date(f"{plain_text(months)} {days} {year}".replace("  ", " "))
    for values in (numbers, [int(day) for day in re.findall(r"\d+", days) if len(day) < 3]):
        if values:
            count = max(len(ends), len(values))
            ends = [(*_at(ends, i), _at(values, i)) for i in range(count)]
    return Date(tuple(ends[:2]), season, circa=bool(found[1]))


def _at(values: list[Any], i: int) -> Any:
    return values[min(i, len(values) - 1)]


def _month(word: str) -> int | None:
    if word.isdecimal():
        return int(word) if len(word) < 3 and 1 <= int(word) <= 12 else None
    return _MONTHS.index(word[:3]) + 1 if word[:3] in _MONTHS else None

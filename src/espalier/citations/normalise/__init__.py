"""Fields in normal form: names, dates, pages, numbers, identifiers, titles, and the type of the work.

Every function takes any text, never fails on one, takes linear time, and says what it could not read: a name or a
date keeps a `literal`, pages their `text`, and what has no place at all is in `Work.unread`. Each module states its
normal forms, which are the only changes ever made to a stretch of the input. The type of a work is told by the fields
it has and by cue words in them (`kind_of`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from espalier.citations.normalise.dates import is_pending, parse_date
from espalier.citations.normalise.lexicon import vocabulary
from espalier.citations.normalise.names import Names, split_names
from espalier.citations.normalise.numbers import (
    find_arxiv,
    find_doi,
    find_isbn,
    find_issn,
    find_url,
    month_beside,
    parse_edition,
    parse_issue,
    parse_pages,
    parse_volume,
    report_number,
)
from espalier.citations.normalise.text import clean_container, clean_title, remembered, trim
from espalier.citations.work import Date, Name, Work

if TYPE_CHECKING:
    from espalier.citations.record import Record

__all__ = [
    "FieldReader",
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

_THESIS = re.compile(
    r"\b(?:ph\.? ?d\.?|doctoral|master'?s?|m\.?sc\.?|bachelor'?s?|diploma|licentiate)[\s.]*(?:thesis|dissertation)"
    r"|\b(?:thesis|dissertation|diss\b|habilitation|thèse|tesis|tese\b|tesi\b|mémoire|proefschrift"
    r"|(?:diplom|doktor|master|bachelor)arbeit)",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"\b(?:tech(?:nical|n)?\b\.? (?:report|rep\b|memo\w*|note)|research (?:report|memorandum)|working paper|white paper"
    r"|discussion paper|bericht\b|rapport\b|rfc ?[0-9]|tr[ -]?[0-9]|report)",
    re.IGNORECASE,
)
_PREPRINT = re.compile(r"\b(?:arxiv|biorxiv|medrxiv|chemrxiv|psyarxiv|ssrn|preprint|e-?print)\b", re.IGNORECASE)
_MEETINGS = vocabulary(
    "proceedings proc conference conf symposium symp workshop congress meeting colloquium kongress tagung actes atti "
    "actas anais icml nips neurips sigmod vldb kdd aaai ijcai acl cvpr iccv focs stoc soda popl pldi"
)
_WORD = re.compile(r"\w+")
_JOURNAL_OF_PROCEEDINGS = re.compile(
    r"\bproc(?:eedings|\.)? (?:of )?(?:the )?(?:national academy|natl?\.? acad|royal|roy\.? soc|r\.? soc|ieee$"
    r"|ieee[,.]|american|amer\.? |am\.? |london|lond\.? |edinburgh|cambridge|camb\.? |aristotelian|biological|"
    r"institution|inst\.|nutrition|japan|vldb endowment)",
    re.IGNORECASE,
)
_JOURNAL = re.compile(
    r"\b(?:journal|transactions|letters|annals|quarterly|bulletin|magazine|zeitschrift|revue|revista|rivista)\b"
    r"|\b(?:j|trans|lett|ann|bull|rev|z)\.",
    re.IGNORECASE,
)
_BEFORE_BOOK = re.compile(r"\s*(?:in|en|em|dans)\s*:|\s*in\s+(?!(?:vitro|vivo|silico|situ|utero)\b)", re.IGNORECASE)
_TELLING = ("genre", "note", "publisher", "institution", "collection-title")  # labels whose words show a type


def kind_of(texts: Mapping[str, str], arxiv: bool = False) -> str:
    """Return the type of a work (`KINDS`) from the text of each label that it has; `arxiv`: it has such a number.

    The first that fits: a thesis or a report says so; a preprint has an arXiv number or says so, and has no other
    container; a container with the words of a meeting is a paper, unless it is one of the journals that are called
    proceedings; a container with an editor, after an "In", or with a publisher and neither an issue nor the words of a
    journal is a book with chapters; any other container is a journal. Without a container: what has a publisher, an
    edition or an ISBN is a book, what has an institution is a report, what has only an address on the web is a web
    page. All else is a document.
    """
    if container := texts.get("container-title", ""):
        return "report" if _REPORT.search(texts.get("genre", "")) else _kind_in(container, texts)
    said = " ".join([texts.get(label, "") for label in _TELLING])
    if _THESIS.search(said):
        return "thesis"
    if _REPORT.search(said):
        return "report"
    return "article" if arxiv or _is_preprint(said) else _kind_alone(texts)


def _is_preprint(text: str) -> bool:
    folded = text.casefold()
    return ("rxiv" in folded or "print" in folded or "ssrn" in folded) and _PREPRINT.search(text) is not None


def _kind_in(container: str, texts: Mapping[str, str]) -> str:
    kind = _shown_by(container)
    if kind and kind != "article-journal":
        return kind
    published = not kind and "publisher" in texts and "issue" not in texts
    return "chapter" if published or "editor" in texts else "article-journal"


@remembered(longest=100)
def _shown_by(container: str) -> str:
    """Return the type that a container shows by its own words, "" if it shows none."""
    if _is_preprint(container):
        return "article"
    if not _MEETINGS.isdisjoint(_WORD.findall(container.lower())) and not _JOURNAL_OF_PROCEEDINGS.search(container):
        return "paper-conference"
    if _BEFORE_BOOK.match(container):
        return "chapter"
    return "article-journal" if _JOURNAL.search(container) else ""


def _kind_alone(texts: Mapping[str, str]) -> str:
    if texts.keys() & {"publisher", "edition", "isbn"}:
        return "book"
    if "institution" in texts:
        return "report"
    if "volume" in texts and "pages" in texts:
        return "article-journal"
    if "location" in texts:
        return "book"
    return "webpage" if "url" in texts else "document"


T = TypeVar("T")


class FieldReader:
    """Takes values out of the fields of a record, and keeps count of the fields that gave none."""

    _months: tuple[tuple[str, str], ...] = ()  # (label, text) of those in brackets after the volume or issue

    def __init__(self, record: Record) -> None:
        """Sort the fields by label; `texts` has the text of each label, several fields joined by a space."""
        self._fields: dict[str, list[str]] = {}
        for field in record.fields:
            self._fields.setdefault(field.label, []).append(field.text)
        self.texts = {label: " ".join(texts) for label, texts in self._fields.items()}
        self._unread = [("other", text) for text in self._fields.get("other", [])]

    def value(self, label: str, read: Callable[[str], T | None]) -> T | None:
        """Return the first value that one of the label's fields gives; the other fields are unread."""
        found = None
        for text in self._fields.get(label, ()):
            value = None if found else read(text)
            if value:
                found = value
            else:
                self._unread.append((label, text))
        return found

    def first(self, label: str, read: Callable[[str], str]) -> str:
        """Return the first text that is not empty, as `value` does; "" if there is none."""
        return self.value(label, read) or ""

    def date(self, label: str) -> Date | None:
        """Return the date that all fields of a label make ("2003" and "4 January"), else the first with a year.

        A date of publication without a month has the one that stands beside the volume or issue.
        """
        texts = self._fields.get(label)
        if texts is None:
            return None
        if self._months and label == "date":
            texts = self._with_month(texts)
        together = parse_date(" ".join(texts))
        if len(texts) == 1 or together is None or (together.parts and not together.literal):
            return together
        dates = [parse_date(text) or Date() for text in texts]
        best = min(range(len(texts)), key=lambda i: (not dates[i].parts, not dates[i].literal))
        self._unread += [(label, text) for i, text in enumerate(texts) if i != best]
        return dates[best]

    def _with_month(self, texts: list[str]) -> list[str]:
        """Return the texts of a date with the month beside the issue, if that makes a date that can be read in full."""
        together = " ".join([*texts, self._months[0][1]])
        date = parse_date(together)
        if not date or not date.parts or date.literal:
            return texts
        self._months = self._months[1:]
        return [together]

    def pending(self) -> Date | None:
        """Take out the first note (or what has no home) that only stands for a date: "in press"; None without one."""
        for label in ("note", "other"):
            for text in self._fields.get(label, ()):
                if is_pending(text):
                    self._fields[label] = [kept for kept in self._fields[label] if kept is not text]
                    self._unread = [pair for pair in self._unread if pair[1] is not text]
                    return parse_date(text)
        return None

    def joined(self, label: str) -> str:
        """Return the texts of all fields of a label, without punctuation around them, joined by "; "."""
        return "; ".join(filter(None, map(trim, self._fields.get(label, ()))))

    def names(self, label: str) -> tuple[tuple[Name, ...], bool]:
        """Return the names of all fields of a label, and if there are others; what stands in brackets is unread."""
        names: tuple[Name, ...] = ()
        others = False
        for text in self._fields.get(label, ()):
            found = split_names(text)
            names, others = names + found.names, others or found.others
            self._unread += [(label, aside) for aside in found.asides]
        return names, others

    def volume(self) -> tuple[str, str]:
        """Return volume and issue; an issue inside the volume counts where no field is an issue."""
        volume, issue = self.value("volume", _volume) or ("", "")
        own = self.first("issue", parse_issue)
        for label in ("volume", "issue"):
            for text in self._fields.get(label, ()):
                if len(text) > 5 and (month := month_beside(text)):  # 3(May), but not 12(3)
                    self._months += ((label, month),)
        if own and issue:
            self._unread.append(("volume", issue))
        return volume, own or issue

    def unread(self) -> tuple[tuple[str, str], ...]:
        """Return (label, text) of the fields that gave no value, but for those of punctuation only."""
        unread = (*self._unread, *self._months)
        return tuple([(label, trim(text)) for label, text in unread if any(map(str.isalnum, text))])


def _volume(text: str) -> tuple[str, str] | None:
    found = parse_volume(text)
    return found if any(found) else None


_ReadField = Callable[[FieldReader, str], Any]


def _value(read: Callable[[str], Any]) -> _ReadField:
    return lambda reading, label: reading.value(label, read)


# Label, attribute of a work, and what reads the one as the other; in the order in which `unread` tells of them.
_READERS: tuple[tuple[str, str, _ReadField], ...] = (
    ("doi", "doi", _value(find_doi)),
    ("title", "title", _value(clean_title)),
    ("container-title", "container_title", _value(clean_container)),
    ("pages", "pages", _value(parse_pages)),
    ("date", "issued", FieldReader.date),
    ("accessed", "accessed", FieldReader.date),
    ("edition", "edition", _value(parse_edition)),
    ("url", "url", _value(find_url)),
    ("isbn", "isbn", _value(find_isbn)),
    ("issn", "issn", _value(find_issn)),
    ("collection-title", "collection_title", FieldReader.joined),
    ("publisher", "publisher", FieldReader.joined),
    ("location", "location", FieldReader.joined),
    ("genre", "genre", FieldReader.joined),
    ("institution", "institution", FieldReader.joined),
    ("note", "note", FieldReader.joined),
)
_ROLES = {"author": "authors", "editor": "editors", "translator": "translators"}


def work_of(record: Record) -> Work:
    """Return what a reference says, in normal form.

    Of several fields with one label the first that can be read counts, and the others are `unread`; but names are
    put one after the other, and free text (publisher, location, genre, institution, note, series) is joined by "; ".
    A DOI is also looked for in the URL, an arXiv number in the whole text, the issue in the volume: "12(3)", the month
    beside the issue: "no. 3 (March)". Without a date, a note that says only "in press" or "n.d." is its literal.
    """
    reading = FieldReader(record)
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

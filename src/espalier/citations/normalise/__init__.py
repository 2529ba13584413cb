"""Fields in normal form: names, dates, pages, numbers, identifiers, titles, and the type of the work.

Every function takes any text, never fails on one, takes linear time, and says what it could not read: a name or a
date keeps a `literal`, pages their `text`, and what has no place at all is in `Work.unread`. Each module states its
normal forms, which are the only changes ever made to a stretch of the input. The type of a work is told by the fields
it has and by cue words in them (`kind_of`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from espalier.citations.languages import before, folded, kinds_in
from espalier.citations.normalise.dates import (
    edition_beside,
    first_published,
    is_pending,
    is_undated,
    is_visit,
    parse_date,
    split_original,
    year_of_thai,
)
from espalier.citations.normalise.fields import fields_of
from espalier.citations.normalise.identifiers import (
    find_archives,
    find_arxiv,
    find_doi,
    find_isbn,
    find_isbns,
    find_issn,
    find_old_arxiv,
    find_url,
)
from espalier.citations.normalise.names import Names, split_names
from espalier.citations.normalise.numbers import (
    count_leaves,
    count_pages,
    count_volumes,
    month_beside,
    parse_edition,
    parse_issue,
    parse_pages,
    parse_version,
    parse_volume,
    patent_number,
    report_number,
)
from espalier.citations.normalise.text import clean_container, clean_title, trim, with_stop
from espalier.citations.normalise.types import (
    form_behind,
    is_mark,
    is_thesis,
    kind_of,
    number_of_standard,
    words_of_report,
)
from espalier.citations.work import Date, Name, Pages, Work

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

T = TypeVar("T")

_CUE_OF_SERIES = r"(?:(?:[Ss]er|[Cc]oll)\.,?|of)\s+"
_SERIES = re.compile(rf"[\W_]*(?:[Ii]n:?\s+(?:{_CUE_OF_SERIES})?|{_CUE_OF_SERIES})(\S.*)", re.DOTALL)
_THAI = re.compile("[\u0e01-\u0e4e]")
_EDITION_APART = re.compile(r"\W*[2-9] ([12][0-9]{3})\W*")  # of a book: Köln ²2006, where it was small
_EDITIONS_APART = 3
"""Years between the first edition of a book and one that is another, at least."""
_BOOK_AFTER = 3
"""Years between a meeting and its proceedings, at most."""
_STOPPED = re.compile(r"\b[^\W\d_]\.(?=.)")  # an initial with its full stop, which does not end the list


class FieldReader:
    """Takes values out of the fields of a record, and keeps count of the fields that gave none."""

    _months: tuple[tuple[str, str], ...] = ()  # (label, text) of those in brackets after the volume or issue

    def __init__(self, record: Record) -> None:
        """Sort the fields by label; `texts` has the text of each label, several fields joined by a space."""
        self._fields: dict[str, list[str]] = {}
        for label, text in fields_of(record):
            self._fields.setdefault(label, []).append(text)
        if "title" in self._fields:
            self._take_form()
        self.texts = {label: " ".join(texts) for label, texts in self._fields.items()}
        self._text = record.text
        self._unread = [("other", text) for text in self._fields.get("other", [])]
        for key in self._fields.get("citation-number", ()):  # one that was taken off the names
            if sum(map(str.isalpha, key)) > 1 and not any(field.label == "citation-number" for field in record.fields):
                self._unread.append(("citation-number", key))

    def _take_form(self) -> None:
        """Take what kind of work it is off the end of a title: "Lakes [Film]"."""
        titles = self._fields["title"]
        if found := form_behind(titles[0]):
            label = "edition" if "ersion" in found[1] else "genre"
            if label not in self._fields:
                titles[0], self._fields[label] = found[0], [found[1]]
            elif label == "edition":
                titles[0], self._fields[label][0] = found[0], f"{found[1]} {self._fields[label][0]}"

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

    def taken(self, label: str, read: Callable[[str], T | None]) -> T | None:
        """Return the first value that one of the label's fields gives, and leave the others to be read as usual."""
        for text in self._fields.get(label, ()):
            if value := read(text):
                self._fields[label] = [other for other in self._fields[label] if other is not text]
                return value
        return None

    def pages(self) -> tuple[Pages | None, str]:
        """Return the pages, and how many there are."""
        count = self.taken("pages", count_pages) or ""
        if not count and is_thesis(self.texts.get("genre", "")):
            count = self.taken("pages", count_leaves) or ""
        return self.value("pages", parse_pages), count

    def container(self, label: str) -> str:
        """Return the title of what the work is in; it keeps a full stop where names show that abbreviations do."""
        found, text = self.first(label, clean_container), self.texts[label]
        if found and text[-1:] in ".," and _STOPPED.search(self.texts.get("author", "")):
            return with_stop(found, text)
        return found

    def isbn(self, label: str) -> str:
        """Return the first ISBN; any other one in the same field is unread, as one in a field of its own is."""
        found = self.first(label, find_isbn)
        numbers = dict.fromkeys(number for text in self._fields[label] for number in find_isbns(text))
        told = " ".join(text for other, text in self._unread if other == label)
        self._unread += [(label, number) for number in numbers if number != found and number not in told]
        return found

    def original(self) -> tuple[Date, Date] | None:
        """Take out a date that also names the first edition: that of this one, and that.

        A book that has two years, "1929. New York: Harcourt, 2005", is a later edition, too.
        """
        texts = self._fields.get("date", ())
        if len(texts) == 1 and len(texts[0]) > 8:
            return self.taken("date", split_original)
        if len(texts) != 2 or "container-title" in self.texts or not {"publisher", "location"} & self.texts.keys():
            return None
        first, second = years = [parse_date(text) or Date() for text in texts]
        bare = all(date.parts and not date.literal and len(date.parts) == len(date.parts[0]) == 1 for date in years)
        if not bare or second.parts[0][0] - first.parts[0][0] < _EDITIONS_APART:
            return None
        del self._fields["date"]
        return second, first

    def visit(self) -> Date | None:
        """Take out the last of several dates that has words of a visit: "2015" and "accesat la 10.02.2017"."""
        texts = self._fields.get("date", ())
        if len(texts) < 2 or not is_visit(texts[-1]):
            return None
        self._fields["date"] = list(texts[:-1])
        return parse_date(texts[-1])

    def date(self, label: str) -> Date | None:
        """Return the date that all fields of a label make ("2003" and "4 January"), else the first with a year.

        A date of publication without a month has the one that stands beside the volume or issue.
        """
        texts = self._fields.get(label)
        if texts is None:
            return None
        if self._months and label == "date":
            texts = self._with_month(texts)
        if len(texts) > 1 or label == "accessed":
            texts = self._dates_that_count(label, texts)
        if len(texts) == 1:
            if "location" in self.texts and (beside := _EDITION_APART.fullmatch(texts[0])):
                return Date(((int(beside[1]),),), literal=trim(texts[0]))
            date = parse_date(texts[0])
            thai = date and not date.parts and _THAI.search(self._text)
            return (year_of_thai(date.literal) if date and thai else None) or date
        dates = [parse_date(text) or Date() for text in texts]
        if sum(bool(date.parts) for date in dates) < 2 or texts[0].rstrip()[-1:] in "-–—/":
            together = parse_date(" ".join(texts))
            if together is None or (together.parts and not together.literal):
                return together
        best = _best(dates)
        self._unread += [(label, text) for i, text in enumerate(texts) if i != best]
        return dates[best]

    def _dates_that_count(self, label: str, texts: list[str]) -> list[str]:
        """Set aside when an article was online before its issue, and when a page was changed before the visit."""
        parts = texts[0].split(";") if label == "accessed" and len(texts) == 1 else texts
        if len(parts) == 1:
            return texts
        if label == "accessed":  # updated 2002 May 16; cited 2002 Jul 9
            kept = [part for part in parts if is_visit(part)]
        else:
            kept = [part for part in parts if "ahead" not in kinds_in(part)]
        if len(kept) == len(parts) or not any((parse_date(text) or Date()).parts for text in kept):
            return texts
        self._unread += [(label, text) for text in parts if text not in kept]
        return kept

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

    def series(self, label: str) -> str:
        """Return the titles of series without "in", "ser." and "coll." before them, or the "of" behind a volume."""
        texts = [found[1] if (found := _SERIES.fullmatch(text)) else text for text in self._fields.get(label, ())]
        return "; ".join(filter(None, map(trim, texts)))

    def genre(self, label: str) -> str:
        """Return the genre without a mark such as [J], which has told the type."""
        texts = self._fields[label]
        self._fields[label] = [text for text in texts if not is_mark(text)]
        return self.joined(label)

    def names(self, label: str) -> tuple[tuple[Name, ...], bool]:
        """Return the names of all fields of a label, and if there are others; what stands in brackets is unread."""
        names: tuple[Name, ...] = ()
        others = False
        for text in self._fields.get(label, ()):
            found = split_names(text)
            names, others = names + found.names, others or found.others
            self._unread += [(label, aside) for aside in found.asides]
        return names, others

    def volumes(self) -> str:
        """Take out how many volumes there are."""
        return self.taken("volume", count_volumes) or ""

    def event(self) -> tuple[str, str]:
        """Take out the meeting that a paper was presented at, and what it was: a paper, a poster."""
        for label in ("container-title", "genre", "note"):
            if label in self._fields and (found := self.taken(label, _presented)):
                return found
        return "", ""

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


def _best(dates: list[Date]) -> int:
    """Return which date of a work counts: the first with a year, but one of the same year that says more before it.

    A day and a bare year behind it, "2011 Sep 13-15; Leeds. New York: Springer; 2012", are a meeting and its book.
    """
    best = min(range(len(dates)), key=lambda i: (not dates[i].parts, not dates[i].literal))
    if not dates[best].parts:
        return best
    first = dates[best].parts[0]
    for k in range(best + 1, len(dates)):
        other = dates[k].parts[0] if dates[k].parts and not dates[k].literal else ()
        finer = other[:1] == first[:1] and len(other) > len(first)
        book = len(first) == 3 and len(other) == 1 and 0 < other[0] - first[0] <= _BOOK_AFTER
        if finer or book:
            return k
    return best


def _volume(text: str) -> tuple[str, str] | None:
    found = parse_volume(text)
    return found if any(found) else None


_PRESENTED = re.compile(
    r"\W*((?:(?:invited |contributed )?(?:papers?|posters?|talks?|presentation|lecture|abstracts?) )?"
    r"(?:(?:was )?(?:presented|given|delivered|read) )(?:at|to))\b(?: the\b)?",
    re.IGNORECASE,
)


def _presented(text: str) -> tuple[str, str] | None:
    """Return the meeting behind "Paper presented at the", and these words but for the article; else None."""
    found = _PRESENTED.match(text)
    meeting = clean_container(text[found.end() :]) if found else ""
    return (meeting, found[1]) if found and meeting else None


_ReadField = Callable[[FieldReader, str], Any]


def _value(read: Callable[[str], Any]) -> _ReadField:
    return lambda reading, label: reading.value(label, read)


# Label, attribute of a work, and what reads the one as the other; in the order in which `unread` tells of them.
_READERS: tuple[tuple[str, str, _ReadField], ...] = (
    ("doi", "doi", _value(find_doi)),
    ("title", "title", _value(clean_title)),
    ("container-title", "container_title", FieldReader.container),
    ("date", "issued", FieldReader.date),
    ("accessed", "accessed", FieldReader.date),
    ("edition", "edition", _value(parse_edition)),
    ("url", "url", _value(find_url)),
    ("isbn", "isbn", FieldReader.isbn),
    ("issn", "issn", _value(find_issn)),
    ("collection-title", "collection_title", FieldReader.series),
    ("publisher", "publisher", FieldReader.joined),
    ("location", "location", FieldReader.joined),
    ("genre", "genre", FieldReader.genre),
    ("institution", "institution", FieldReader.joined),
    ("note", "note", FieldReader.joined),
)
_ROLES = {"author": "authors", "editor": "editors", "translator": "translators"}


def work_of(record: Record) -> Work:
    """Return what a reference says, in normal form.

    Of several fields with one label the first that can be read counts, and the others are `unread`; but names are
    put one after the other, and free text (publisher, location, genre, institution, note, series) is joined by "; ".
    A DOI is also looked for in the URL, an arXiv number in the whole text, the issue in the volume: "12(3)", the month
    beside the issue: "no. 3 (March)". Without a date, a note that says only "in press" is its literal; one that says
    "n.d." goes. Labels that can only be a mistake are mended first (`fields_of`).
    """
    reading = FieldReader(record)
    present = reading.texts
    found: dict[str, Any] = {}
    others: list[str] = []
    for role, name in _ROLES.items():
        if role in present:
            found[name], unfinished = reading.names(role)
            others += [role] if unfinished else []
    low = record.text.lower()
    _read_moved(reading, low, found)
    arxiv = find_arxiv(record.text) if "arxiv" in low else find_old_arxiv(record.text)
    for label, name, read in _READERS:
        if label in present and (value := read(reading, label)):
            found[name] = value
    if "issued" not in found and (pending := reading.pending()):
        found["issued"], found["note"] = pending, reading.joined("note")
    if "url" in present and "doi" not in found:
        found["doi"] = find_doi(present["url"])
    issued = found.get("issued")
    if issued and is_undated(issued.literal):  # "n.d.": who writes it anew says so in other words
        del found["issued"]
    elif issued and issued.literal and issued.parts and not found.get("edition"):
        found["edition"] = (edition_beside(issued.literal) or ("",))[0]
    found |= find_archives(record.text, low)
    kind = _kind(found, present, bool(arxiv))
    number = _number(kind, found, present)
    if number and number in found.get("genre", ""):
        found["genre"] = _without_number(found["genre"], number)
    return Work(
        type=kind,
        others=frozenset(others),
        number=number,
        arxiv=arxiv,
        unread=reading.unread(),
        **found,
    )


def _without_number(genre: str, number: str) -> str:
    """Return what a work is without its number, and without the words that led to it: "U.S. Patent No." 7,845,221."""
    first, _, rest = genre.partition(number)
    words = first.rstrip(" :.,(").split()
    while len(words) > 1 and folded(words[-1].strip(":.,(")) in before("issue"):
        words.pop()
    return trim(" ".join([*words, rest.lstrip(" ,.)") if "(" not in rest else rest]))


def _read_moved(reading: FieldReader, low: str, found: dict[str, Any]) -> None:
    """Read what stands in the field of something else: numbers of volumes and pages, versions, first editions, events.

    low : the reference in lower case.
    """
    present = reading.texts
    if "volume" in present or "issue" in present:
        found["number_of_volumes"] = reading.volumes()
        found["volume"], found["issue"] = reading.volume()
    if "pages" in present:
        found["pages"], found["number_of_pages"] = reading.pages()
    if "edition" in present:
        found["version"] = reading.taken("edition", parse_version) or ""
    dates = None
    if "date" in present:
        if "accessed" not in present and (visit := reading.visit()):
            found["accessed"] = visit
        dates = reading.original()
    if dates:
        found["issued"], found["original_date"] = dates
    elif "note" in present and (first := reading.taken("note", first_published)):
        found["original_date"] = first
    if "presented" in low or "given at" in low or "read at" in low or "delivered at" in low:
        found["event"], found["genre"] = reading.event()


_MOVED = (("pages", "number_of_pages"), ("volume", "number_of_volumes"), ("edition", "version"))


def _kind(found: dict[str, Any], present: dict[str, str], arxiv: bool) -> str:
    """Return the type of a work, of which some fields turned out to hold something else."""
    if found.get("event"):
        return "paper-conference"
    shown = present
    for label, count in _MOVED:
        if found.get(count) and not found.get(label):
            shown = {other: text for other, text in shown.items() if other != label}
    if found.get("issue") and "issue" not in present:
        shown = {**shown, "issue": found["issue"]}
    return kind_of(shown, arxiv, found.get("issued"), "." in found.get("version", ""))


def _number(kind: str, found: dict[str, Any], present: dict[str, str]) -> str:
    """Return the number of a report, a patent or a standard."""
    if kind == "report":
        return report_number(words_of_report(present))
    if kind == "patent":
        return patent_number(f"{found.get('genre', '')} {found.get('title', '')}")
    return number_of_standard(present) if kind == "standard" else ""

"""Nothing is lost: every letter and digit of a reference is in its `Work`, or is a word of a closed table.

The parts of this package read values out of fields; what surrounds a value ("pp.", "vol.", "Available at") goes. Which
words may go is written down here, label by label (`SILENT`), and nowhere else. A field with any other word that is not
in the work is kept as it was, in `Work.unread`, for which every format has a place. Besides, a value may be written in
another way: a month or season as a number, an ordinal as a number ("third": 3), a shortened last page in full ("101-8":
108), numbers without leading zeros, identifiers without the marks inside them, full-width signs as the usual ones. Tags
of HTML are no words, and an entity is the sign that it stands for (`seen`).

A bare number of the reference in its list ("[12]") is no part of the work and goes; a key ("[Knu84]") is kept. Names
have a law of their own (`names`): all letters of a list of names are in the names, but for the words that join them and
those that say a role.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass, replace
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Any

from espalier.citations.languages import folded, months, numerals, seasons, words
from espalier.citations.normalise.text import trim
from espalier.citations.seen import has_markup, without_markup
from espalier.citations.work import Date, Name, Pages, Work

if TYPE_CHECKING:
    from espalier.citations.record import Record

__all__ = ["ORDINALS", "SILENT", "with_the_rest", "words_of"]


_NUMBERS = words("volume", "issue")
_DATES = words("dates", "circa", "and", "between", "undated") | {word for word in words("suffixes") if len(word) > 1}
_UNDATED = words("undated")
_NAMES = words("and")
_ADDRESSES = words("available") | {"doi", "dx", "org", "http", "https", "www", "isbn", "issn"}
SILENT: Mapping[str, frozenset[str]] = {
    "title": frozenset(),
    "container-title": words("in") | {"the", "at", "ser"},
    "collection-title": words("in") | {"coll", "of", "ser"},
    "publisher": _NAMES,  # of bodies that are the authors
    "institution": _NAMES,
    "note": _UNDATED,
    "other": _UNDATED,
    "volume": _NUMBERS,
    "issue": _NUMBERS | {"p", "pp"},
    "pages": words("pages", "count", "leaves"),
    "edition": words("edition", "suffixes") | {"the"},
    "date": _DATES,
    "accessed": _DATES | words("accessed"),
    "doi": _ADDRESSES,
    "url": _ADDRESSES,
    "isbn": frozenset({"isbn"}),
    "issn": frozenset({"issn"}),
}
"""The words that may go, by label: in lower case, without accents."""

ORDINALS = frozenset(numerals("ordinals"))
"""Numbers in words, which become digits in an edition."""

_VALUES = {
    "title": ("title",),
    "container-title": ("container_title", "event"),
    "collection-title": ("collection_title",),
    "publisher": ("publisher", "institution", "authors"),
    "institution": ("institution", "publisher", "authors"),
    "note": ("note",),
    "other": ("note",),
    "volume": ("volume", "issue"),
    "issue": ("issue", "volume"),
    "pages": ("pages",),
    "edition": ("edition",),
    "date": ("issued",),
    "accessed": ("accessed",),
    "doi": ("doi", "note", "issn"),
    "url": ("url",),
    "isbn": ("isbn",),
    "issn": ("issn",),
}
"""Where the words of a label are looked for first; then anywhere in the work."""

_WORD = re.compile(r"[^\W\d_]+|[0-9]+|\d+")
_TIMES = frozenset(months()) | frozenset(seasons())
_NUMBERED = re.compile(r"[\W_]*[0-9]+[\W_]*[^\W\d_]?[\W_]*")
_ELSEWHERE = ("doi", "url", "isbn", "issn", "arxiv", "pmid", "pmcid", "jstor", "handle")
_DIGIT = re.compile(r"\d")
_THOUSANDS = re.compile("(?<![0-9])([0-9]{3}) ([0-9]{3})(?![0-9])")  # 110 565
_SHORTENED = re.compile("(?<=[0-9][-–])[0-9]+")
_ROLES = {"author": "authors", "editor": "editors", "translator": "translators"}
_LONG = 12  # characters
_AROUND = " .,;:()[]"
_IDENTIFIERS = frozenset(("doi", "url", "isbn", "issn"))


def words_of(text: str) -> list[str]:
    """Return the runs of letters and of digits, in lower case, without accents and with the usual signs."""
    if not text.isascii():
        text = text.replace("–", "-")  # in most pages nothing else is left
        if not text.isascii():
            text = folded(text)
    return _WORD.findall(text.lower())


def with_the_rest(work: Work, record: Record) -> Work:
    """Return the work with every field in `unread` of which a word would be lost."""
    fields = [(field.label, field.text) for field in record.fields]
    if has_markup(record.text):
        fields = [(label, without_markup(text)) for label, text in fields]
    losing = [_loses(label, text, work) for label, text in fields]
    if not any(losing):
        return work
    pairs = [(label, trim(text)) for label, text in fields]
    more = list(compress(pairs, losing))
    taken = [
        text for (label, text), loses in zip(pairs, losing, strict=True) if not loses and (label, text) in work.unread
    ]
    told, new = Counter([text for _, text in work.unread]) - Counter(taken), []
    for label, text in more:
        told[text] -= 1  # what could not be read at all is there already
        if told[text] < 0:
            new.append((label, text))
    return replace(work, unread=(*work.unread, *new))


def _loses(label: str, text: str, work: Work) -> bool:
    """Tell whether a word of a field is neither in the work nor silent."""
    silent = SILENT.get(label)
    if silent is None:
        if label == "citation-number":
            return not _NUMBERED.fullmatch(text if text.isascii() else folded(text))  # [１], ¹
        return label in _ROLES and _loses_of_names(text, getattr(work, _ROLES[label]), work)
    names = _VALUES[label]
    first = getattr(work, names[0])
    if first:  # most fields are their value and nothing else
        inner = text.strip(_AROUND)
        if inner == first or (not isinstance(first, str) and _whole(first) == inner.replace("–", "-")):
            return False
    values = [first, *[getattr(work, name) for name in names[1:]]]
    if isinstance(first, str) and len(first) > _LONG and first in text:
        text, values = text.replace(first, " ", 1), values[1:]  # titles need not be cut into words
    rest = _beyond([word for word in words_of(text) if word not in silent], values)
    if not rest or _otherwise(label, rest, text, work):
        return False
    if label in _IDENTIFIERS:
        return True
    known = set(_words_in([work]))
    rest = [word for word in rest if word not in known]
    return bool(rest) and not _otherwise(label, rest, text, work)


def _whole(value: Pages | Date) -> str:
    """Return pages or a year as they usually stand in a reference."""
    if isinstance(value, Pages):
        return value.text.replace("–", "-")
    return str(value.parts[0][0]) if value.parts else ""


def _beyond(words: list[str], values: list[Any]) -> list[str]:
    """Return the words that are not in the values, or stand there less often."""
    if len(words) > 1 and len(set(words)) < len(words):
        return list((Counter(words) - Counter(_words_in(values))).elements())
    for value in values:
        if words and value:
            near = _words_in((value,)) if isinstance(value, str | tuple) else _words_of_value(value)
            words = [word for word in words if word not in near]
    return words


@lru_cache(maxsize=4096)
def _words_of_value(value: Any) -> list[str]:
    """Return the words of a date or of pages: most years come again."""
    return _words_in((value,))


def _loses_of_names(text: str, names: tuple[Name, ...], work: Work) -> bool:
    """Tell whether digits of a list of names are lost; its letters never are (`names`)."""
    digits = [word for word in words_of(text) if word.isdigit()] if _DIGIT.search(text) else []
    if not digits:
        return False
    return bool(Counter(digits) - Counter(_words_in([names, work.unread])))


def _words_in(values: Iterable[Any]) -> list[str]:
    """Return the words of all texts and numbers inside some values."""
    words: list[str] = []
    for value in values:
        if isinstance(value, str):
            words += words_of(value)
        elif isinstance(value, int):
            words += words_of(str(value))
        elif isinstance(value, tuple | frozenset):
            words += _words_in(value)
        elif is_dataclass(value):
            words += _words_in([getattr(value, name) for name in value.__dataclass_fields__])
    return words


def _otherwise(label: str, rest: list[str], text: str, work: Work) -> bool:
    """Tell whether the words are there in another form."""
    if label == "pages" and work.pages is not None:
        told = words_of(work.pages.text)
        joined = [pair for pair in _THOUSANDS.findall(text) if "".join(pair) in told]
        if joined and set(rest) <= {half for pair in joined for half in pair}:
            return True
        if not work.pages.last and all(any(end.endswith(word) for end in told) for word in rest):
            return set(rest) <= set(_SHORTENED.findall(text))  # 345, 350–52
        last = words_of(work.pages.last)
        # In "12-5 (8)" and "12-15 (5)" a number is no end.
        short = not set(last).issubset(words_of(text)) and sum(map(str.isdigit, rest)) == 1
        return short and all(any(end.endswith(word) for end in last) for word in rest)
    if label in ("date", "accessed", "issue", "volume", "note"):
        return all(word in _TIMES or _same_number(word, work) for word in rest)
    if label == "edition":
        return all(word in ORDINALS for word in rest)
    return label in _IDENTIFIERS and _is_identifier(label, text, work)


def _same_number(word: str, work: Work) -> bool:
    """Tell whether digits are those of a date, but for leading zeros or a century."""
    dates = [date for date in (work.issued, work.accessed) if date is not None]
    numbers = [str(number) for date in dates for end in date.parts for number in end]
    return word.isdigit() and any(number == word.lstrip("0") or number.endswith(word) for number in numbers)


def _is_identifier(label: str, text: str, work: Work) -> bool:
    """Tell whether nothing but silent words stands around an identifier."""
    flat = "".join(words_of(text))
    for name in _ELSEWHERE:
        if value := getattr(work, name, ""):
            flat = flat.replace("".join(words_of(value)), " ", 1)
    silent = sorted(SILENT[label] | SILENT["doi"], key=len, reverse=True)
    return not re.sub("|".join(map(re.escape, silent)), "", flat).strip()

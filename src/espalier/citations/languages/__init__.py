"""Words of citing, one file a language: what references are printed with, and what is looked up when they are read.

A file (`de.toml`) has a string for each role; `|` divides its entries. An entry with `{}`, where the value stands, is a
way to write it: references are rendered with it, and its words are those that may stand before or behind such a value.

    volume = 'Bd. {}|{}. Jahrgang'     # before("volume") has "bd", behind("volume") "jahrgang"
    others = 'u. a.|und andere'        # no value: the words alone

Months are rows of twelve, the first of them as it stands in a date; seasons are four strings of words, ordinals and
small numbers (`few`, from two on) one string. `ROLES` says what each role is. Words are looked up `folded`: in lower
case and without accents.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

__all__ = [
    "ROLES",
    "before",
    "behind",
    "entries",
    "folded",
    "languages",
    "months",
    "numerals",
    "other_months",
    "printed",
    "seasons",
    "tables",
    "words",
]

ROLES: Mapping[str, str] = {
    "months": "rows of twelve names; the first as it stands behind a day",
    "seasons": "spring, summer, autumn, winter",
    "ordinals": "first, second, third ...",
    "few": "two, three, four ...",
    "suffixes": "what follows the digits of an ordinal: 2nd",
    "volume": "of a journal or a work",
    "issue": "of a journal",
    "pages": "which they are",
    "count": "how many pages",
    "volumes": "how many volumes",
    "edition": "which it is",
    "in": "leads to what a work is in",
    "editors": "of a book",
    "translated": "by whom",
    "accessed": "when a page was read",
    "available": "leads to an address",
    "and": "joins two names",
    "others": "a list of names goes on",
    "theses": "kinds of theses, as they are printed",
    "pending": "stands for a date that is not known, or not yet",
    "circa": "about that year",
    "date": "a day as it is printed, with {d} {dd} {m} {mn} {mm} {y}",
    "dates": "words in dates that say nothing about when",
    "beside_months": "one of these must stand beside a month that is another one elsewhere",
    "print_months": "months that are printed, and read by their numbers",
    "originals": "words of a note on the first edition",
    "again": "words of a reprint",
    "following": "and the next pages",
    "cited": "before the place that is cited from some pages",
}
"""What a file may say."""

_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST_MONTH = 3  # letters of one in short
_LETTERS = str.maketrans({"ı": "i"})


def folded(text: str) -> str:
    """Return a text as words are looked up: in lower case, without accents, wide signs as the usual ones."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join([sign for sign in parts if not unicodedata.combining(sign)]).translate(_LETTERS)


@cache
def tables() -> Mapping[str, Mapping[str, Any]]:
    """Return what all files say, by language."""
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    found = sorted((file for file in files(__name__).iterdir() if file.name.endswith(".toml")), key=lambda f: f.name)
    return {file.name.removesuffix(".toml"): tomllib.loads(file.read_text(encoding="utf-8")) for file in found}


def languages() -> tuple[str, ...]:
    """Return the languages that have a file, by their codes of two letters."""
    return tuple(tables())


def entries(role: str, language: str = "") -> tuple[str, ...]:
    """Return the entries of a role in a language, or in all of them, as they are written."""
    chosen = [tables()[language]] if language else tables().values()
    return tuple(dict.fromkeys(entry for table in chosen for entry in _divided(table.get(role, ""))))


def _divided(value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    return [entry.strip() for text in texts for entry in text.split("|") if entry.strip()]


@cache
def words(*roles: str) -> frozenset[str]:
    """Return every word of some roles in all languages."""
    return frozenset(word for role in roles for entry in entries(role) for word in _WORD.findall(folded(entry)))


@cache
def before(role: str) -> frozenset[str]:
    """Return the words that stand next before a value: `bd` of "Bd. {}"."""
    return frozenset(word[-1] for entry in entries(role) if (word := _around(entry)[0]))


@cache
def behind(role: str) -> frozenset[str]:
    """Return the words that stand next behind a value: `jahrgang` of "{}. Jahrgang"."""
    return frozenset(word[0] for entry in entries(role) if (word := _around(entry)[1]))


def _around(entry: str) -> tuple[list[str], list[str]]:
    first, mark, last = folded(entry).partition("{}")
    return (_WORD.findall(first), _WORD.findall(last)) if mark else ([], [])


@cache
def months() -> Mapping[str, int]:
    """Return the number of each month by its name in any language, or by a beginning of three letters or more.

    What is a beginning of several months belongs to the one that most names of it begin; a word of dates is none.
    """
    rows = [row.split() for _, table in _of_months() for row in table["months"]]
    names = _numbered(rows)
    begun: dict[str, Counter[int]] = {}
    for name, month in names.items():
        for n in range(_SHORTEST_MONTH, len(name)):
            begun.setdefault(name[:n], Counter())[month] += 1
    for beginning, counts in begun.items():
        (month, most), *others = counts.most_common()
        if beginning not in names and (not others or others[0][1] < most) and beginning not in words("dates"):
            names[beginning] = month
    return names


@cache
def other_months() -> Mapping[str, int]:
    """Return months whose names belong to another one elsewhere: October and November are both called listopad."""
    rows = [row.split() for _, table in _of_months() if "beside_months" in table for row in table["months"]]
    return {name: month for name, month in _numbered(rows).items() if months()[name] != month}


def _of_months() -> list[tuple[str, Mapping[str, Any]]]:
    """Return the languages that name months, those last whose names count only beside other words."""
    named = [(language, table) for language, table in tables().items() if "months" in table]
    return sorted(named, key=lambda pair: "beside_months" in pair[1])


@cache
def seasons() -> Mapping[str, int]:
    """Return the number of each season, 1 is spring, by its name in any language."""
    found: dict[str, int] = {}
    for table in tables().values():
        for season, names in enumerate(table.get("seasons", ()), start=1):
            found.update(dict.fromkeys(folded(names).split(), season))
    return found


@cache
def numerals(role: str, first: int = 1) -> Mapping[str, str]:
    """Return the number of each ordinal, or small number, as digits."""
    rows = (table[role].split() for table in tables().values() if role in table)
    return {name: str(number + first - 1) for name, number in _numbered(rows).items()}


def _numbered(rows: Iterable[Sequence[str]]) -> dict[str, int]:
    """Return the place of each word in its row, counted from 1; what was said before counts."""
    found: dict[str, int] = {}
    for row in rows:
        for number, name in enumerate(row, start=1):
            found.setdefault(folded(name), number)
    return found


def printed(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return what references in a language are rendered with, role by role."""
    table = tables()[language]
    found = {role: entries(role, language) for role in table if role not in ("months", "print_months", "seasons")}
    rows = table.get("months") or ()
    found["months"] = tuple(rows[0].split()) if rows else tuple(_divided(table.get("print_months", "")))
    return found

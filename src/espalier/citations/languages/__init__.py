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
from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple

__all__ = [
    "ROLES",
    "before",
    "behind",
    "cues",
    "entries",
    "folded",
    "kinds_in",
    "languages",
    "months",
    "numerals",
    "other_months",
    "printed",
    "seasons",
    "signs",
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
    "article": "its number, where pages are counted so",
    "count": "how many pages",
    "leaves": "how many leaves a thesis has",
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
    "pending": "stands for a date that is not known yet",
    "undated": "says that a work has no date",
    "circa": "about that year",
    "date": "a day as it is printed, with {d} {dd} {m} {mn} {mm} {y}",
    "dates": "words in dates that say nothing about when",
    "between": "from one date to another",
    "beside_months": "one of these must stand beside a month that is another one elsewhere",
    "print_months": "months that are printed, and read by their numbers",
    "originals": "words of a note on the first edition",
    "again": "words of a reprint",
    "following": "and the next pages",
    "abbreviated": "words that are abbreviated wherever they stand: a full stop behind them is theirs",
    "journals_in_short": "words of journals, abbreviated",
    "chinese_families": "family names in Latin letters",
    "korean_families": "family names in Latin letters",
    "vietnamese_families": "family names",
    "short_families": "such as may be another word",
    "double_families": "family names of two signs",
    "long_initials": "initials of two letters",
    "particles": "stand before a family name, in lower case",
    "low_particles": "are a particle in lower case only",
    "family_prefixes": "particles that are no given name",
    "short_given": "given names in short that look like whole ones",
    "whole_given": "short given names that are not abbreviated",
    "name_suffixes": "stand behind a name",
    "degrees": "degrees and honours in capitals",
    "weak_degrees": "such as are commoner as initials",
    "degree_parts": "words of degrees written apart",
    "titles": "what people are called before their names",
    "given_only": "given names that are hardly ever family names",
    "given": "given names that may be families",
    "rulers": "names of those who have a number behind them",
    "numerals": "their numbers",
    "regnal": "what they are",
    "back_references": "stand for the names of the reference before",
    "joiners": "join two names",
    "low_joiners": "join names in lower case, and are names with a capital",
    "roles": "what the people of a list have done",
    "roles_in_short": "such as may be names",
    "roles_alone": "such as stand between commas, in lower case",
    "role_openings": "begin a role of several words",
    "kinds": "words that show what something is: `kinds_in`",
    "cited": "before the place that is cited from some pages",
}
"""What a file may say."""

_WORD = re.compile(r"[^\W\d_]+")
_BEFORE = re.compile(r"((?:[^\W\d_](?:[^\W\d_]|[-'’ ])*|№)(?: ?[°º]|\. ?º)?)([.:]?) ?[:]? ?$")
_BEHIND = re.compile(r"[^\w(]{0,2}((?:[^\W\d_](?:[^\W\d_]|['’ -])*))()")
_SHORT_CUE = 2  # letters
_SHORTEST_MONTH = 3  # letters of one in short
_UNSPACED = re.compile("[\u3040-\u9fff\u1100-\u11ff\uac00-\ud7af]")
_STEM = 3  # letters that a word with a star has at least
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


@cache
def cues(role: str, side: str = "before") -> str:
    """Return a pattern of what may stand before a value, or behind it, as it is written or without accents.

    What has one or two letters is one only with its full stop, if no entry has it without.
    """
    found: dict[str, bool] = {}
    for entry in entries(role):
        first, mark, last = entry.partition("{}")
        text = _BEHIND.match(last) if side == "behind" else _BEFORE.search(first)
        if not mark or text is None or (_UNSPACED.match(text[1]) and (side == "behind" or len(text[1]) == 1)):
            continue
        for form in {text[1].strip().lower(), folded(text[1]).strip()}:
            bare = not text[2].startswith(".") or len(form) > _SHORT_CUE or side == "behind"
            found[form] = found.get(form, False) or bare
    order = sorted(found, key=len, reverse=True)
    return "|".join(re.escape(form) + ("" if found[form] else r"(?=\.)") for form in order)


@cache
def signs(role: str) -> str:
    """Return the signs of East Asia that stand behind a value, without a blank: 卷 of "{}卷"."""
    texts = [entry.partition("{}")[2] for entry in entries(role)]
    return "".join(dict.fromkeys(text for text in texts if len(text) == 1 and _UNSPACED.match(text)))


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


class _Kinds(NamedTuple):
    """Phrases by their first word, by its first letters, by its last ones, and words that may stand anywhere."""

    phrases: dict[str, list[tuple[tuple[str, ...], str]]]
    begun: dict[str, list[tuple[str, tuple[str, ...], str]]]
    ends: dict[str, str]
    anywhere: dict[str, str]


@cache
def _kinds() -> _Kinds:
    found = _Kinds({}, {}, {}, {})
    for table in tables().values():
        for kind, text in table.get("kinds", {}).items():
            for entry in map(folded, text.split("|")):
                first, *rest = entry.split()
                if entry.startswith("*"):
                    found.ends[entry[1:]] = kind
                elif _UNSPACED.match(entry):
                    found.anywhere[entry] = kind
                elif first.endswith("*"):
                    found.begun.setdefault(first[:_STEM], []).append((first[:-1], tuple(rest), kind))
                else:
                    found.phrases.setdefault(first, []).append((tuple(rest), kind))
    return found


@lru_cache(maxsize=4096)
def kinds_in(text: str) -> frozenset[str]:
    """Return the kinds that the words of a text show."""
    table, low = _kinds(), folded(text)
    found = set() if low.isascii() else {kind for word, kind in table.anywhere.items() if word in low}
    ends, tokens = tuple(table.ends), _WORD.findall(low)
    for k, token in enumerate(tokens):
        for rest, kind in table.phrases.get(token, ()):
            if not rest or _goes_on(tokens, k + 1, rest):
                found.add(kind)
        for stem, rest, kind in table.begun.get(token[:_STEM], ()):
            if token.startswith(stem) and _goes_on(tokens, k + 1, rest):
                found.add(kind)
        if token.endswith(ends):
            found.update(kind for end, kind in table.ends.items() if token.endswith(end))
    return frozenset(found)


def _goes_on(tokens: Sequence[str], start: int, rest: Sequence[str]) -> bool:
    """Tell whether the words of a phrase stand here; those with a star only begin so."""
    there = tokens[start : start + len(rest)]
    return len(there) == len(rest) and all(
        token.startswith(word[:-1]) if word.endswith("*") else token == word
        for token, word in zip(there, rest, strict=True)
    )


def printed(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return what references in a language are rendered with, role by role."""
    table = tables()[language]
    found = {
        role: entries(role, language) for role in table if role not in ("months", "print_months", "seasons", "kinds")
    }
    rows = table.get("months") or ()
    found["months"] = tuple(rows[0].split()) if rows else tuple(_divided(table.get("print_months", "")))
    return found

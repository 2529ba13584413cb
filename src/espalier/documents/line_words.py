"""What the words of one line say: how it begins and ends, and what it holds. Nothing here looks at other lines.

`look` reads a line once, by expressions whose time is linear in the line; `Look` has what it found. Kinds of beginnings
and ends are words, so that they can be attributes of a model as they are. The patterns are data: `line_words.toml`.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["LONGEST_LOOK", "NAMED", "Look", "heading_kind", "look", "mark_of", "pattern", "sort_key"]

LONGEST_LOOK = 400
"""Characters at each end of a line that are looked at."""

_TOML = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
_WORDS: dict[str, Any] = _TOML.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_NAMES = r"v\.|[Vv][ao]n|[Dd](?:[aeiu]|e[lnr]|os|as)|[Ll][ae]|[Tt]e[nr]|zu[rm]?|[Aa][fl]|[Ee]l|[Bb]in|St\.|Mc|O'"
_MACROS = {
    "<NUMBERING>": _WORDS["parts"]["NUMBERING"],
    "<LEAD>": _WORDS["parts"]["LEAD"],
    "<PHRASE>": _WORDS["parts"]["PHRASE"],
    "<SERIES>": _WORDS["parts"]["SERIES"],
    **{f"<{name}>": "|".join(words) for name, words in _WORDS.items() if isinstance(words, list)},
    "<P>": rf"(?:(?:{_NAMES})[ -]?){{0,3}}",
    "<W>": "<C>[\\w'’`´-]{1,30}",
    "<C>": r"[^\W\d_a-zß-öø-ÿ]",  # a capital, or a letter of a script without case
    "<U>": "[<u>]",
    "<u>": "A-ZÀ-ÖØ-ÞĀ-ŽА-ЯΑ-Ω",
    "<MONTH>": r"(?:Jan|Feb|Mar|Mär|Apr|Ma[yi]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])[a-zä]*\.? ",
    "<YEAR>": r"(?:1[5-9]|20)\d\d",
    "<HYPHENS>": "-‐‑\u00ad¬",
}


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern of `line_words.toml`, its names in angle brackets spelled out."""
    for name, meaning in _MACROS.items():
        text = text.replace(name, meaning)
    return re.compile(text, flags)


_MARKS, _BEGINNINGS, _ENDS, _FLAGS = (
    tuple((kind, pattern(text)) for kind, text in _WORDS[table].items()) for table in ("marks", "begin", "end", "flags")
)
_HEADS = tuple(
    (kind, pattern(text, 0 if kind == "numbered" else re.IGNORECASE)) for kind, text in _WORDS["headings"].items()
)
_KEY, _BULLET, _INITIALS, _YEARS = (pattern(_WORDS["parts"][name]) for name in ("KEY", "BULLET", "INITIALS", "YEARS"))
_DASH = _BEGINNINGS[0][1]
_PROSE = frozenset(_WORDS["prose"])
NAMED = frozenset(kind for kind, _ in _BEGINNINGS[:9] if kind != "initial")
"""Beginnings that are names."""

_SPACED = re.compile(r"\w(?: \w){4,}\Z")
_SORTED = re.compile(r"[^\W\d_]{2,}")
_ALONE = re.compile(r"(\d{1,3})(\.?)")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_FOLD = str.maketrans("àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿß", "aaaaaaaceeeeiiiinoooooouuuuyys")
_PARTICLES = frozenset(_WORDS["particles"])


class Look(NamedTuple):
    """What one line says.

    mark : its style and its number, if it begins with one (-1 for keys and bullets); begin, end : a kind each; flags :
    what it holds; years, initials, prose, words, capitals : how many of each; key : what alphabetical lists are sorted
    by; heading : a kind, or nothing.
    """

    mark: tuple[str, int] | None
    begin: str
    end: str
    flags: tuple[str, ...]
    years: int
    initials: int
    prose: int
    words: int
    capitals: int
    digits: float
    key: str
    heading: str
    first: str
    last: str


def mark_of(text: str) -> tuple[tuple[str, int] | None, int]:
    """Return the mark that a text begins with, as style and number, and where it ends."""
    head = text[:60]
    for style, pattern in _MARKS:
        found = pattern.match(head)
        if found:
            return (style, int(found[1].translate(_RAISED))), found.end()
    found = _KEY.match(head)
    if found:
        return ("[k]", -1), found.end()
    found = _BULLET.match(head)
    if found and not _DASH.match(head):
        return ("•", -1), found.end()
    return None, 0


def heading_kind(text: str) -> str:
    """Return what kind of heading a line may be: "references", "other", "numbered" ... or nothing."""
    text = text.strip()
    if len(text) > 90 or not text:
        return ""
    if _SPACED.match(text):  # L I T E R A T U R
        text = text.replace(" ", "")
    return next((kind for kind, pattern in _HEADS if pattern.match(text)), "")


def sort_key(text: str) -> str:
    """Return what an alphabetical list sorts a reference by: its first word that is no particle, without accents."""
    for found in _SORTED.finditer(text[:60]):
        word = found[0].lower().translate(_FOLD)
        if word not in _PARTICLES:
            return word
    return ""


def look(text: str) -> Look:
    """Read one line."""
    text = text.strip()
    mark, after = mark_of(text)
    if mark is None and (alone := _ALONE.fullmatch(text)):  # a number on a line of its own, above its reference
        mark = ("n." if alone[2] else "n|", int(alone[1]))
    rest = text[after:].lstrip()
    head, tail = rest[:LONGEST_LOOK], text[-60:]
    begin = next((kind for kind, pattern in _BEGINNINGS if pattern.match(head)), "other")
    end = next((kind for kind, pattern in _ENDS if pattern.search(tail)), "other")
    seen = text if len(text) <= 2 * LONGEST_LOOK else text[:LONGEST_LOOK] + " " + text[-LONGEST_LOOK:]
    words = seen.split()
    prose = sum(word.lower() in _PROSE for word in words)
    return Look(
        mark, begin, end, tuple(name for name, pattern in _FLAGS if pattern.search(seen)),
        len(_YEARS.findall(seen)), len(_INITIALS.findall(seen)), prose, len(words),
        sum(word[0].isupper() for word in words), sum(c.isdigit() for c in seen) / max(len(seen), 1),
        sort_key(rest), heading_kind(text), _word(words[0] if words else ""), _word(words[-1] if words else ""),
    )  # fmt: skip


def _word(word: str) -> str:
    return re.sub(r"\d+", "0", word.lower())[:16]

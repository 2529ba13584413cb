"""How the lines of a reference are joined, and where references that are run together are cut.

`glue` puts a space between two lines. But after a hyphen at the end of a line there is none, and the hyphen itself goes
away between two lower-case letters, unless the word is an address or begins like a compound (`self-`, `non-` ...). A
soft hyphen always goes away. An address that breaks after `/ _ = & ?` and a range that breaks after its dash go on.

`cuts` finds the next numbers, `[2]` anywhere, `2.` and `(2)` only after the end of a sentence and before a capital; or,
after the end of a sentence, names and a year (`Smith, J., & Jones, A. (1990)`). Either only if the text begins with one
itself: a wrong cut does more harm than a missing one. Time is linear in the text.
"""

from __future__ import annotations

import re
from itertools import islice

__all__ = ["cuts", "glue", "mark"]

SHORTEST = 20
"""A reference that is cut off another one has at least so many characters."""

_MARKER = re.compile(r"\s*(?:\[(\d{1,4})\]|\((\d{1,4})\)(?=\s)|(\d{1,4})[.)](?=\s))")
_KEY = re.compile(r"\s*\[[^\W\d_][\w+*.:-]{0,30}\]")
_BRACKETED = re.compile(r"(?<!\S)\[(\d{1,4})\]")
_NUMBERED = re.compile(r"(?<=[.!?)\]”\"»]\s)(?:\((\d{1,4})\)|(\d{1,4})\.)(?=\s+[\"“«'‘(]?[^\W\d_a-z])")
# Every part begins in its own way, so a failing match takes no detours.
_CAPITAL = r"[^\W\d_a-z]"
_PERSON = rf"{_CAPITAL}[\w'’-]{{1,40}}, {_CAPITAL}\.(?:[ -]?{_CAPITAL}\.){{0,4}}"
_YEAR = r"\((?:1[5-9]|20)\d\d[a-z]?\)"
_AUTHOR_DATE = re.compile(rf"{_PERSON}(?:,?(?: (?:&|and))? {_PERSON}){{0,30}},? ?{_YEAR}")
_ANY_YEAR = re.compile(_YEAR)
_SENTENCE_END = re.compile(rf"(?<=[.)\]\d/])\s+(?={_CAPITAL})")
_LAST_WORD = re.compile(r"[^\W\d_]{1,60}[-‐]\Z")
_COMPOUNDS = frozenset(
    (
        *("all", "anti", "co", "cross", "ex", "half", "high", "inter", "low", "mid", "multi", "non", "post", "pre"),
        *("pro", "quasi", "re", "self", "semi", "sub", "well"),
    )
)


def mark(line: str) -> int | str | None:
    """Return the number that a line begins with, "key" for a key in brackets (`[Knu84]`), else None."""
    found = _MARKER.match(line)
    if found:
        return int(found[found.lastindex or 1])
    return "key" if _KEY.match(line) else None


def glue(left: str, right: str) -> tuple[str, str]:
    """Return the left line as it is to stand before the right one, and what comes between them."""
    if left.endswith("\u00ad"):
        return left[:-1], ""
    before, last, first = left[-2:-1], left[-1:], right[:1]
    tail = left[-200:].rpartition(" ")[2]
    address = "/" in tail or tail.startswith("www.")
    if last in ("-", "‐") and before.isalnum() and first.isalnum():
        word = _LAST_WORD.search(left[-61:])
        compound = word is None or word[0][:-1].lower() in _COMPOUNDS
        return (left, "") if address or compound or not (before.islower() and first.islower()) else (left[:-1], "")
    if last in ("–", "—") and before.isdigit() and first.isdigit():
        return left, ""
    return left, "" if address and last in ("/", "_", "=", "&", "?") else " "


def cuts(text: str) -> tuple[list[int], float]:
    """Return where other references begin in a text, and the confidence that it is cut right: 1 if nowhere."""
    found = _MARKER.match(text)
    if not found:
        places, sure = _author_dates(text), 0.7
    elif found[1] is not None:
        places, sure = _successors(_BRACKETED, text, int(found[1])), 0.95
    else:
        places, sure = _successors(_NUMBERED, text, int(found[found.lastindex or 1])), 0.8
    kept: list[int] = []
    for at in places:
        if at - (kept[-1] if kept else 0) >= SHORTEST and len(text) - at >= SHORTEST:
            kept.append(at)
    return kept, sure if kept else 1.0


def _successors(pattern: re.Pattern[str], text: str, number: int) -> list[int]:
    """Return where number + 1, number + 2 ... stand, in order."""
    places = []
    for found in pattern.finditer(text):
        if int(found[found.lastindex or 1]) == number + 1:
            places.append(found.start())
            number += 1
    return places


def _author_dates(text: str) -> list[int]:
    """Return where, after the end of a sentence, names and a year in parentheses begin; none if the text does not."""
    if sum(1 for _ in islice(_ANY_YEAR.finditer(text), 2)) < 2 or not _AUTHOR_DATE.match(text):
        return []
    return [found.end() for found in _SENTENCE_END.finditer(text) if _AUTHOR_DATE.match(text, found.end())]

"""Where references begin, go on and end: marks, names and years, seams between lines, cuts inside a text.

`glue` puts a space between two lines. But after a hyphen at the end of a line there is none, and the hyphen itself goes
away between two lower-case letters, unless the word is an address or begins like a compound (`self-`, `non-` ...). A
soft hyphen always goes away. An address that breaks after `/ _ = & ?` and a range that breaks after its dash go on.

`seam` tells whether two lines are one reference. They are if the first is open (ends with `and`, a comma, a hyphen) or
the second goes on (`walls. Orchard`, `13(3), 4-9.`): 2. They are not if names begin the second and there was a year
before: -2. Names without a year before say nothing: 0. Two years are one each, unless names begin only the first line:
-1. Anything else goes on: 1.

`cuts` finds the next numbers, `[2]` anywhere, `2.` and `(2)` only after the end of a sentence and before a capital; or,
in a text without numbers, the names that the next reference begins with, in the style that the text itself begins with:

    dated        Smith, J., & Jones, A. (1990). Wires   Smith, J. 1990. Wires     after the end of a sentence
    Vancouver    Smith AB, Jones C. Wires   Smith AB (1990) Wires                 after a number or an address
    initials     Smith, J., Jones, A. Wires                                       after a number and a full stop

and only if there is a year on both sides. A wrong cut does more harm than a missing one: whatever else may begin a
reference (titles, institutions, full first names) is left alone. Time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

__all__ = ["SHORTEST", "begins", "cuts", "ends", "glue", "has_year", "mark", "seam", "unbroken"]

SHORTEST = 20
"""A reference that is cut off another one has at least so many characters."""

_MARKER = re.compile(r"\s*(?:\[(\d{1,4})\]|\((\d{1,4})\)(?=\s)|(\d{1,4})[.)](?=\s))")
_KEY = re.compile(r"\s*\[[^\W\d_][\w+*.:-]{0,30}\]")
_BRACKETED = re.compile(r"(?<!\S)\[(\d{1,4})\]")
_NUMBERED = re.compile(r"(?<=[.!?)\]”\"»]\s)(?:\((\d{1,4})\)|(\d{1,4})\.)(?=\s+[\"“«'‘(]?[^\W\d_a-z])")
# Every part begins in its own way, so a failing match takes no detours.
_CAPITAL = r"[^\W\d_a-z]"
_INITIAL = r"[A-ZÀ-ÖØ-Þ]"
_PARTICLE = r"(?:[Vv][ao]n|[Dd](?:[aeiu]|e[lnr]|os)|[Ll][ae]|[Tt]e[nr]|zu)"
_WORD = rf"{_CAPITAL}[\w'’-]{{1,40}}"
_SURNAME = rf"(?:{_PARTICLE} ){{0,3}}{_WORD}(?: {_WORD}){{0,2}}"
_AFTER_NAME = r"(?:,? (?:Jr|Sr|2nd|3rd|I{2,3})\b\.?)?"
_AND = r"(?:[,;](?: (?:&|and|und|et|y))?| (?:&|and|und|et|y)) ?"
_OTHERS = r"(?:,? (?:et al|and others)\b\.?)?"
_YEAR = r"(?:1[5-9]|20)\d\d[a-z]?"
_UNDATED = (
    r"(?:[Ii]n press|[Ff]orthcoming|[Tt]o appear|[Uu]ndated|[Nn]\.\s?d\.|[Ss]\.\s?d\.|[Ii]m Druck|[Ss]ous presse)"
)
_TITLE = rf"(?=[\"“‘'\[(¿]?{_CAPITAL}|\d)"
_PERSON = rf"{_SURNAME}, ?{_CAPITAL}\.(?:[ -]{{0,2}}{_CAPITAL}\.){{0,4}}{_AFTER_NAME}"
_PERSONS = rf"{_PERSON}(?:{_AND}{_PERSON}){{0,60}}{_OTHERS}(?:,? \([Ee]ds?\.?\)\.?)?"
_BARE_PERSON = rf"{_SURNAME} {_INITIAL}(?:-?{_INITIAL}){{0,3}}{_AFTER_NAME}"
_BARE_PERSONS = rf"{_BARE_PERSON}(?:{_AND}{_BARE_PERSON}){{0,80}}{_OTHERS}"
_ANY_YEAR = re.compile(rf"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)|\({_UNDATED}\)")
_BORDER = re.compile(r"(?<=[.)\]\d/])\s+(?=[^\W\d_])")
_INITIALS_FIRST = re.compile(rf"{_INITIAL}\.(?:[ -]?{_INITIAL}\.){{0,3}} ?{_SURNAME}(?:[,.:]|{_AND}| \()")
_SAME_NAMES = re.compile(r"[—–_-]{2,12}[.,:]? ")
_ANYTHING = re.compile("")
_TAIL = 90  # characters in which the end of a reference is looked for


class _Style(NamedTuple):
    """How references of a style begin, what stands before a border, and how sure a cut there is."""

    begins: re.Pattern[str]
    ends: re.Pattern[str]
    sure: float


_STYLES = (
    _Style(
        re.compile(rf"{_PERSONS},? ?(?:\((?:{_YEAR}(?:, [^()]{{1,20}})?|{_UNDATED})\)|{_YEAR}[.,:])"), _ANYTHING, 0.9
    ),
    _Style(
        re.compile(rf"{_BARE_PERSONS}(?:[.:]{{1,2}} {_TITLE}| \({_YEAR}\))"),
        re.compile(r"(?:\d[A-Za-z]?\)?\]?\.?|/\S{1,80})\s+\Z"),
        0.9,
    ),
    _Style(re.compile(rf"{_PERSONS}[.:,]? {_TITLE}"), re.compile(r"\d[A-Za-z]?\)?\]?\.\s+\Z"), 0.8),
)
_OPEN = re.compile(
    r"(?:[,:&(–—‐\u00ad-]|(?<!\S)(?:[Aa]nd|[Ii]n|of|the|an?|for|on|to|with|by|from|at|und|der|die|das|des|im|von|zu|et|de|"
    r"du|la|le|les|y|del|el|las|los|e|di|van|het|een|pp\.|[Vv]ol\.|[Nn]o\.|[Ee]ds?\.|[Pp]roc\.))\Z"
)
_GOES_ON = re.compile(
    "|".join(
        (
            rf"(?!(?:{_PARTICLE} ){{1,3}}{_CAPITAL})[a-zß-öø-ÿ][\w'’-]{{0,30}}(?:[\s,.;)]|\Z)",  # a word, no name
            rf"(?!{_YEAR}\b)\d{{1,6}}(?:[-–]\d{{1,6}})?(?:[(,:;]|\.\Z|\s+(?!{_CAPITAL}))",  # a volume, pages
            rf"{_YEAR}(?:[;)]|, \d|\.\Z)",
            rf"[),;:&]|[–—](?![–—])|\((?!\d{{1,4}}\)\s+{_CAPITAL})",
        )
    )
)
_BEGINNINGS = (*(style.begins for style in _STYLES), _INITIALS_FIRST, _SAME_NAMES)
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


def begins(line: str) -> bool:
    """Does a line begin with names, as references do, or with a dash in their place? A number before does not count."""
    found = _MARKER.match(line) or _KEY.match(line)
    named = line[found.end() :].lstrip() if found else line
    return any(pattern.match(named) for pattern in _BEGINNINGS)


def ends(line: str) -> bool:
    """Does a line end as a reference may: a full stop, a bracket, a number or an address?"""
    return line[-1:] in (".", ")", "]", "/") or line[-1:].isdigit() or "/" in line[-200:].rpartition(" ")[2]


def has_year(line: str) -> bool:
    """Is there a year in a line, or what stands in its place?"""
    return _ANY_YEAR.search(line) is not None


def seam(above: str, below: str) -> int:
    """Return how surely two lines, one after the other, are one reference: above 0, or two: below 0."""
    if _OPEN.search(above[-20:]) or _GOES_ON.match(below):
        return 2
    if begins(below):
        return -2 if has_year(above) else 0
    return -1 if has_year(above) and has_year(below) and not begins(above) else 1


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


def unbroken(text: str) -> str:
    """Return the lines of a text as one, as they would be without breaks; marks before it go."""
    parts = [part.strip() for part in text.split("\n") if part.strip()]
    whole = parts[0] if parts else ""
    for part in parts[1:]:
        left, between = glue(whole, part)
        whole = left + between + part
    return " ".join(whole.lstrip(" .,;)]").split())


def cuts(text: str) -> tuple[list[int], float]:
    """Return where other references begin in a text, and the confidence that it is cut right: 1 if nowhere."""
    found = _MARKER.match(text)
    if not found:
        places, sure = _names(text)
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


def _names(text: str) -> tuple[list[int], float]:
    """Return where names begin after the end of a reference, in the style of the text, and how sure that is."""
    style = next((style for style in _STYLES if style.begins.match(text)), None)
    years = [found.start() for found in _ANY_YEAR.finditer(text)] if style else []
    if style is None or len(years) < 2:
        return [], 1.0
    places, seen = [], 0  # seen : years before the last border
    for found in _BORDER.finditer(text):
        at = found.end()
        before = bisect_left(years, at)
        ended = seen < before < len(years) and style.ends.search(text[max(0, at - _TAIL) : at])
        if ended and style.begins.match(text, at):
            places.append(at)
            seen = before
    return places, style.sure

"""Names by BibTeX's rules: 'von Last, Jr, First' or 'First von Last', joined by 'and'; braces keep together."""

from __future__ import annotations

import re

from espalier.citations.work import Name
from espalier.io.tex import plain_text

__all__ = ["names_of"]

_AND = re.compile(r"\\.|[{}]|(?<=\s)and\s+", re.DOTALL | re.IGNORECASE)
_COMMA = re.compile(r"\\.|[{},]", re.DOTALL)
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)


def names_of(value: str) -> tuple[tuple[Name, ...], bool]:
    """Return the names of a field, and whether it ends in 'and others'."""
    found = [name for name in _split(value, _AND) if name.strip()]
    others = bool(found) and found[-1].strip().lower() == "others"
    return tuple(_name(name.strip()) for name in (found[:-1] if others else found)), others


def _split(value: str, cutting: re.Pattern[str]) -> list[str]:
    """Cut a value where the pattern finds a border outside all braces."""
    parts, depth, last = [], 0, 0
    for found in cutting.finditer(value):
        if found[0] in "{}":
            depth += 1 if found[0] == "{" else -1
        elif depth == 0 and found[0][0] != "\\":
            parts.append(value[last : found.start()])
            last = found.end()
    return [*parts, value[last:]]


def _name(text: str) -> Name:
    """Read one name by BibTeX's rules."""
    parts = [part.strip() for part in _split(text, _COMMA)]
    if len(parts) == 1:
        if text.startswith("{") and not text.startswith("{\\") and _closed_at(text) == len(text) - 1:
            return Name(literal=plain_text(text))
        return _natural(_words(text))
    particle, family = _particle(_words(parts[0]))
    suffix = plain_text(parts[1]) if len(parts) > 2 else ""
    return Name(family, plain_text(", ".join(parts[2:]) if len(parts) > 2 else parts[1]), particle, suffix)


def _closed_at(text: str) -> int:
    """Return where the brace that a text begins with is closed, -1 if nowhere."""
    depth = 0
    for found in _BRACES.finditer(text):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            return found.start()
    return -1


def _words(text: str) -> list[str]:
    """Cut at white space outside braces."""
    words, depth, word = [], 0, ""
    for sign in text.replace("~", " "):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign.isspace() and depth <= 0:
            words.append(word)
            word = ""
        else:
            word += sign
    return [word for word in [*words, word] if word]


def _is_low(word: str) -> bool:
    """Is a word in lower case for BibTeX? What is in braces has no case, unless it is an accent."""
    return (not word.startswith("{") or word.startswith("{\\")) and plain_text(word)[:1].islower()


def _particle(words: list[str]) -> tuple[str, str]:
    low = 0
    while low < len(words) - 1 and _is_low(words[low]):
        low += 1
    return plain_text(" ".join(words[:low])), plain_text(" ".join(words[low:]))


def _natural(words: list[str]) -> Name:
    """Read 'First von Last'."""
    lows = [i for i, word in enumerate(words[:-1]) if _is_low(word)]
    if not lows:
        return Name(plain_text(words[-1]) if words else "", plain_text(" ".join(words[:-1])))
    first, last = lows[0], lows[-1] + 1
    given, particle, family = words[:first], words[first:last], words[last:]
    return Name(*(plain_text(" ".join(part)) for part in (family, given, particle)))

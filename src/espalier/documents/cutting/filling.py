"""`fill_in`: a dash that a reference begins with stands for the authors of the one before; they are written there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

from espalier.documents.line_words import mark_of

__all__ = ["DASH", "fill_in"]

DASH = re.compile(r"(?:[—–―]{1,6}|[-_−]{2,12}|[-–—](?:\s[-–—]){1,3})(?=[\s.,:;(])")
DOUBTFUL = 0.5
"""How sure the cut of an entry must be, so that its authors are those of a dash below it."""

LONGEST_NAMES = 120
"""Characters of the authors of an entry, at most."""

_MARKS = ("[n]", "(n)", "n.", "n)", "[k]")  # no word of a title
_END = r"\s*[(:]?\s*(?<!\d)(?:1[5-9]|20)\d\d|{stop}|\s\(|,\s(?=[\"“„«])"
_AUTHOR_END = re.compile(_END.format(stop=r"[.:]\s(?![^\W\d_]\.)"))
_INITIALS_FIRST = re.compile(r"(?:[^\W\d_]\.[ -]?)+[^\W\d_]{2}")
# A. Berg. Hedges: not behind A.; A. Berg, B. Holt and C. Moss, Hedges
_INITIALS_FIRST_END = re.compile(
    _END.format(stop=r"(?<=[^\W\d_]{2})[.:]\s|,\s(?!(?:[^\W\d_]\.|and\b|&|et al|[JS]r\b|eds?\b))")
)


class Cited(Protocol):
    """A reference as far as a dash is concerned; it is a frozen dataclass."""

    @property
    def text(self) -> str: ...
    @property
    def confidence(self) -> float: ...
    @property
    def filled(self) -> str: ...


T = TypeVar("T", bound=Cited)


def fill_in(found: Iterable[T]) -> Iterator[T]:
    """Fill in the authors of the entry before where there is a dash for them; behind a doubtful cut there are none."""
    names = ""
    for one in found:
        mark, after = mark_of(one.text)
        begin = after + len(one.text[after:]) - len(one.text[after:].lstrip()) if mark and mark[0] in _MARKS else 0
        dash = DASH.match(one.text, begin)
        if dash is None:
            names = _names(one.text[begin:]) if one.confidence >= DOUBTFUL else ""
        elif names:
            rest = one.text[dash.end() :]
            rest = rest[1:] if names.endswith(".") and rest.startswith(".") else rest
            changed = replace(cast(Any, one), text=one.text[:begin] + names + rest, filled=names)
            one = cast(T, changed)
        yield one


def _names(text: str) -> str:
    """Return the authors that a reference begins with."""
    end = (_INITIALS_FIRST_END if _INITIALS_FIRST.match(text) else _AUTHOR_END).search(text)
    names = text[: end.start()].rstrip(" ,.") if end and end.start() < LONGEST_NAMES else ""
    return names + ("." if names and re.search(r"(?<!\w)\w$", names) else "")

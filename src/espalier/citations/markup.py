"""Marks of HTML in a reference, as publishers deposit them: what stands between tags, and what entities mean.

    <i>Tobacco Control</i>, 9        Tobacco Control, 9
    Ga&#353;evi&#263; &amp;amp; Ho   Gašević & Ho

Only tags that say how a text looks are known; an angle bracket in a formula stays. A line break is a space.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

__all__ = ["Plain", "has_markup", "read_markup", "without_markup"]

_LOOKS = "i|b|u|em|strong|sub|sup|small|big|span|sc|scp|tt|font|italic|bold|cite|br|p"
_MARK = re.compile(
    rf"(<(/?)(?:[a-z]+:)?({_LOOKS})(?:\s+[a-z:-]+\s*=[^<>]{{0,200}}|\s*/)?>)"
    r"|&(?:amp;)*(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});",
    re.IGNORECASE,
)
_BREAK = re.compile(r"</?(?:br|p)\b", re.IGNORECASE)


class Plain(NamedTuple):
    """A text without its marks, where each of its characters begins and ends in the marked text, and the tags there."""

    text: str
    starts: list[int]
    ends: list[int]
    tags: list[tuple[int, int]]


def has_markup(text: str) -> bool:
    """Tell whether there may be marks: most texts have neither of the signs that they begin with."""
    return "<" in text or "&" in text


def without_markup(text: str) -> str:
    """Return the text without tags, entities as the signs that they stand for."""
    plain = read_markup(text) if has_markup(text) else None
    return text if plain is None else plain.text


def read_markup(text: str) -> Plain | None:
    """Return what is left without the marks; None if there are none."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    tags: list[tuple[int, int]] = []

    def add(piece: str, start: int, end: int) -> None:
        pieces.append(piece)
        alone = len(piece) == end - start  # each character stands for itself
        starts.extend(range(start, end) if alone else [start] * len(piece))
        ends.extend(range(start + 1, end + 1) if alone else [end] * len(piece))

    at, marked = 0, False
    for found in _MARK.finditer(text):
        start, end = found.span()
        meant = "" if found[1] else _meant(found[0])
        if meant == found[0] or (found[1] and _is_formula(found, text)):  # nobody knows such an entity, or i<b>c
            continue
        marked = True
        add(text[at:start], at, start)
        at = end
        if found[1]:
            if _BREAK.match(found[0]):
                add(" ", start, end)
            tags.append((start, end))
        else:
            add(meant, start, end)
            if meant == " ":  # no token holds it
                tags.append((start, end))
    if not marked:
        return None
    add(text[at:], at, len(text))
    return Plain("".join(pieces), starts, ends, tags)


def _is_formula(tag: re.Match[str], text: str) -> bool:
    """Tell the signs of a formula from a tag of one letter: a tag is closed somewhere."""
    name = tag[3].lower()
    return len(name) == 1 and name != "p" and not tag[2] and f"</{name}>" not in text.lower()


def _meant(entity: str) -> str:
    """Return the sign that an entity stands for, escaped up to four times; spaces of all kinds are one."""
    for _ in range(4):
        entity = html.unescape(entity)
    return " " if entity.isspace() else entity

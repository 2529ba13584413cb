"""Values as bibliographies write them: names family first, dates in ISO order, left-over pieces after their labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from espalier.citations.normalise import parse_date, split_names
from espalier.citations.record import LABELS
from espalier.citations.work import KINDS, Date, Name, Work

__all__ = [
    "LABEL",
    "as_kind",
    "counted",
    "date_of",
    "edtf_date",
    "left_over_pieces",
    "make_work",
    "name_of",
    "particle_of",
]

_EDTF = re.compile(r"(-?\d{1,4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(~?)")
_OPEN_ENDS = (".", "..", "")
LABEL = rf"{'|'.join(map(re.escape, LABELS))}|annote|keywords?|abstract|language|langid|file|urls|type|[A-Z][A-Z0-9]"
"""What our own writers put before a piece that has no place of its own."""
_LABEL = re.compile(rf"(?:\A|; )({LABEL}): ")
_LONGEST = 1_000  # characters of a name or a date that is taken apart; what is longer is neither, and stays whole
_PARTS = frozenset(field.name for field in fields(Work))


def as_kind(kind: str) -> str:
    """Return a type of work if it is one of ours, else `document`."""
    return kind if kind in KINDS else "document"


def make_work(found: Mapping[str, Any], unread: Iterable[tuple[str, str]] = ()) -> Work:
    """Return the work with these parts; empty ones are as if they were not there."""
    kept = {part: value for part, value in found.items() if value and part in _PARTS}
    return Work(**kept, unread=tuple((label, text) for label, text in unread if text.strip()))


def counted(found: dict[str, Any]) -> dict[str, Any]:
    """Call the only page of a whole work the number of its pages: formats have one place for both."""
    pages = found.get("pages")
    if pages is None or found["type"] not in ("book", "thesis", "report") or not pages.text.isdigit():
        return found
    return found | {"pages": None, "number_of_pages": pages.text}


def particle_of(family: str) -> tuple[str, str]:
    """Return the words in lower case before a family name, and the name: ("van der", "Berg")."""
    words = family.split()
    low = 0
    while low < len(words) - 1 and words[low][:1].islower():
        low += 1
    return " ".join(words[:low]), " ".join(words[low:])


def name_of(text: str) -> Name:
    """Return the name of 'van der Berg, Jan, Jr' or 'Jan van der Berg'; what is not split is a literal."""
    parts = [" ".join(part.split()) for part in text.split(",")]
    if len(parts) > 3 or not parts[0] or len(text) > _LONGEST:
        return Name(literal=" ".join(text.split()))
    if len(parts) > 1:
        particle, family = particle_of(parts[0])
        return Name(family, parts[1], particle, parts[2] if len(parts) > 2 else "")
    if " " not in parts[0]:
        return Name(parts[0])
    found = split_names(parts[0])
    whole = len(found.names) == 1 and not found.others and not found.asides
    return found.names[0] if whole else Name(literal=parts[0])


def edtf_date(text: str) -> Date | None:
    """Return the date of '1994-05-02', '1994/1996', '1850~' or '1999-21'; None for anything else."""
    ends: list[tuple[int, ...]] = []
    season, circa = None, False
    for end in text.strip().split("/"):
        if end in _OPEN_ENDS and ends:
            continue
        found = _EDTF.fullmatch(end.partition("T")[0])
        if not found:
            return None
        numbers = [int(part) for part in found.groups()[:3] if part]
        if len(numbers) > 1 and 21 <= numbers[1] <= 24:
            season, numbers = numbers[1] - 20, numbers[:1]
        if any(number > most for number, most in zip(numbers[1:], (12, 31), strict=False)) or 0 in numbers[1:]:
            return None
        ends.append(tuple(numbers))
        circa = circa or bool(found[4])
    return Date(tuple(ends), season, circa=circa) if 0 < len(ends) <= 2 else None


def date_of(text: str) -> Date | None:
    """Return any date: as EDTF, else in words; None for no text."""
    text = " ".join(text.split())
    if len(text) > _LONGEST:
        return Date(literal=text)
    return edtf_date(text) or parse_date(text) if text else None


def left_over_pieces(text: str, found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (label, text) of what `formats.left_over` joined; the text of a date goes back to its date."""
    marks = list(_LABEL.finditer(text))
    if not text.strip():
        return []
    if not marks or marks[0].start():
        return [("annote", text)]
    pieces = []
    for mark, end in zip(marks, [*(mark.start() for mark in marks[1:]), len(text)], strict=True):
        label, piece = mark[1], text[mark.end() : end]
        part = {"date": "issued", "accessed": "accessed"}.get(label, "")
        date = found.get(part)
        if isinstance(date, Date) and date.parts and not date.literal:
            found[part] = replace(date, literal=piece)
        else:
            pieces.append((label, piece))
    return pieces

"""`fill_in`: a dash that a reference begins with stands for the authors of the one before; they are written there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from espalier.documents.finding import FoundReference

__all__ = ["DASH", "fill_in"]

DASH = re.compile(r"(?:[—–―]{1,6}|[-_−]{2,12}|[-–—](?:\s[-–—]){1,3})(?=[\s.,:;(])")
_AUTHOR_END = re.compile(r"\s*[(:]?\s*(?<!\d)(?:1[5-9]|20)\d\d|[.:]\s|\s\(|,\s(?=[\"“„«])")


def fill_in(found: Sequence[FoundReference]) -> list[FoundReference]:
    """Fill in the authors of the entry before where there is a dash for them."""
    filled: list[FoundReference] = []
    names = ""
    for one in found:
        dash = DASH.match(one.text)
        if dash and names:
            rest = one.text[dash.end() :]
            rest = rest[1:] if names.endswith(".") and rest.startswith(".") else rest
            one = replace(one, text=names + rest, filled=names)
        else:
            end = _AUTHOR_END.search(one.text)
            names = one.text[: end.start()].rstrip(" ,.") if end and end.start() < 120 else ""
            names += "." if names and re.search(r"(?<!\w)\w$", names) else ""
        filled.append(one)
    return filled

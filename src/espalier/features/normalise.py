"""What counts as one word: how tokens are normalised before they are counted.

| name | "Smith" | "1998" | "314" | "12-17" | "*PHONE*3" |
|---|---|---|---|---|---|
| `none` | Smith | 1998 | 314 | 12-17 | *PHONE*3 |
| `lower` | smith | 1998 | 314 | 12-17 | *phone*3 |
| `classes` | smith | YYYY | 000 | 0-0 | *phone* |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from espalier.errors import InputError

__all__ = ["NORMALISATIONS", "check_normalisation", "normalised"]

_YEAR = re.compile(r"(?:1[89]|20)[0-9]{2}[a-z]?")
_RANGE = re.compile(r"[0-9]+\W+[0-9]+")
_MASK = re.compile(r"(\*[^\W\d_]+\*).*", re.DOTALL)


def _number_class(word: str) -> str:
    """Lower the case; years become YYYY (a form no other word has), numbers zeros, at most five, and ranges 0-0.

    A mask, such as anonymised text has them, keeps only its name.
    """
    word = word.lower()
    if word.isalpha():
        return word
    if _YEAR.fullmatch(word):
        return "YYYY"
    if word.isdecimal():
        return "0" * min(len(word), 5)
    if _RANGE.fullmatch(word):
        return "0-0"
    mask = _MASK.fullmatch(word)
    return mask[1] if mask else word


NORMALISATIONS: Mapping[str, Callable[[str], str]] = {"none": str, "lower": str.lower, "classes": _number_class}
"""The normalisations by name."""


def check_normalisation(name: str) -> None:
    """Raise if there is no normalisation of this name."""
    if name not in NORMALISATIONS:
        raise InputError(f"normalise is {name!r}", hint="expected 'none', 'lower' or 'classes'")


def normalised(words: Iterable[str], name: str) -> list[str]:
    """Return the normalised form of each word."""
    return list(map(NORMALISATIONS[name], words))

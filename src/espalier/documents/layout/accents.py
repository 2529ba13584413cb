"""Accents and low quotes that a file draws by themselves, as TeX does with old fonts, joined to where they belong.

An accent is a character of its own, anywhere in the file, over the middle of its letter: `Zurich` and `¨` are `Zürich`
again. A low quote is a high one that is drawn lower; it would be a line by itself, and is `„` on its line again. A
ligature is one place with several letters on it, the second `f` of which is no `f` that is drawn twice to look bold.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["ACCENTS", "joined_marks", "one_place"]

# Accents that stand alone, and the marks that join a letter.
ACCENTS = {
    **{0x60: "\u0300", 0xB4: "\u0301", 0x2C6: "\u0302", 0x2DC: "\u0303", 0xAF: "\u0304", 0x2D8: "\u0306"},
    **{0x2D9: "\u0307", 0xA8: "\u0308", 0x2DA: "\u030a", 0x2DD: "\u030b", 0x2C7: "\u030c", 0xB8: "\u0327"},
    **{0x2DB: "\u0328", 0x5E: "\u0302", 0x2CB: "\u0300", 0x2CA: "\u0301", 0x7E: "\u0303"},
}
_DOTLESS = {0x131: "i", 0x237: "j"}
_LOWERED = {0x201D: 0x201E, 0x201C: 0x201E, 0x2019: 0x201A, 0x2018: 0x201A}
_CENTRED = 0.22  # from the middle of an accent to that of its letter, in type sizes
_LIFTED = (-0.1, 0.45)  # from the baseline of a letter up to that of its accent: capitals lift theirs
_SUNK = (0.3, 0.85)  # from the baseline of a line down to that of a low quote

Codes = npt.NDArray[np.uint32]
Places = npt.NDArray[np.float64]


def one_place(ends: Places, origins: Places) -> npt.NDArray[np.bool_]:
    """Return which characters have exactly the place of the one before: further letters of a ligature."""
    same = np.zeros(len(ends), bool)
    if len(ends) > 1:
        same[1:] = np.all(np.abs(np.diff(ends, axis=0)) < 0.01, axis=1)
        same[1:] &= np.all(np.abs(np.diff(origins, axis=0)) < 0.01, axis=1)
    return same


def joined_marks(
    codes: Codes, ends: Places, origins: Places, size_of: Callable[[int], float]
) -> tuple[Codes, Places, npt.NDArray[np.bool_]]:
    """Return codes and origins with accents and low quotes where they belong, and which characters to keep.

    ends : left and right edge of each; origins : where each begins, and its baseline, downwards; size_of : the type
    size of a character.
    """
    keep = np.ones(len(codes), bool)
    marks = np.flatnonzero(np.isin(codes, list(ACCENTS)))
    quotes = _alone(np.flatnonzero(np.isin(codes, list(_LOWERED))), origins)
    if not len(marks) and not len(quotes):
        return codes, origins, keep
    codes, origins = codes.copy(), origins.copy()
    middle, base = ends.mean(axis=1), origins[:, 1]
    for k in marks.tolist():
        size = size_of(k)
        lift = base - base[k]
        near = (np.abs(middle - middle[k]) < _CENTRED * size) & (lift > _LIFTED[0] * size) & (lift < _LIFTED[1] * size)
        near[k] = False
        found = np.flatnonzero(near & keep)
        both = 0
        if len(found):
            letter = found[np.argmin(np.abs(middle[found] - middle[k]))]
            both = _both(int(codes[letter]), int(codes[k]))
        if both:
            codes[letter], keep[k] = both, False
    for k in quotes.tolist():
        size = size_of(k)
        sunk = base[k] - base
        after = (sunk > _SUNK[0] * size) & (sunk < _SUNK[1] * size)
        after &= (ends[:, 0] > ends[k, 0]) & (ends[:, 0] < ends[k, 1] + 0.5 * size)
        found = np.flatnonzero(after)
        if len(found):
            codes[k], origins[k, 1] = _LOWERED[int(codes[k])], base[found[0]]
    return codes, origins, keep


def _alone(chosen: npt.NDArray[np.int64], origins: Places) -> npt.NDArray[np.int64]:
    """Return those whose baseline few other characters have."""
    if not len(chosen):
        return chosen
    rows, counts = np.unique(np.round(origins[:, 1]), return_counts=True)
    few: npt.NDArray[np.bool_] = counts[np.searchsorted(rows, np.round(origins[chosen, 1]))] < 4
    return chosen[few]


def _both(letter: int, accent: int) -> int:
    """Return the code of a letter with an accent, 0 if there is none."""
    text = unicodedata.normalize("NFC", _DOTLESS.get(letter, chr(letter)) + ACCENTS[accent])
    return ord(text) if len(text) == 1 and text.isalpha() else 0

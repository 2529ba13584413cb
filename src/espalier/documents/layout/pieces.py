"""Pieces of lines: the words of a page that stand on one baseline without a wide gap between them; and their text.

A gap of a sixth of the type size is a blank, and so is a blank in the file if there is any gap at all. Letters that are
spaced out (`R E F E R E N C E S`) are words again: between them only a gap that is much wider than the others counts.
A raised number that begins a line stands for itself: a blank follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from espalier.documents.layout.words import PlacedWord
from espalier.documents.lines import Box

__all__ = ["LinePiece", "is_figure", "joined_words", "piece_of", "pieces", "stands_beside"]

_WIDE = 0.62  # a gap between words, in type sizes, that ends a piece
_BLANK = 0.17  # of the type size
_SPACED_OUT = 4  # single letters in a row that are a word with wide spaces rather than words
_FIGURE = re.compile(r"[-−–+<]?(?:\d*[.,]\d+|\d{4,}|\d+%)\*{0,3}(?: [-−–+<]?[\d.,]+%?\*{0,3})*")


class LinePiece(NamedTuple):
    """Words on one baseline, left to right, without a wide gap."""

    words: tuple[PlacedWord, ...]
    x0: float
    x1: float
    base: float
    size: float

    @property
    def box(self) -> Box:
        """Where it stands."""
        return Box(self.x0, self.base - 0.75 * self.size, self.x1, self.base + 0.25 * self.size)

    @property
    def text(self) -> str:
        """Its words with a blank between any two."""
        return " ".join(word.text for word in self.words)


def pieces(words: Sequence[PlacedWord]) -> list[LinePiece]:
    """Return the pieces of a page, from top to bottom and left to right."""
    rows: list[list[PlacedWord]] = []
    for word in sorted(words, key=lambda word: (word.base, word.x0)):
        if rows and abs(word.base - rows[-1][-1].base) <= 0.08 * min(word.size, rows[-1][-1].size):
            rows[-1].append(word)
        else:
            rows.append([word])
    found = []
    for row in rows:
        row.sort(key=lambda word: word.x0)
        run = [row[0]]
        for before, word in pairwise(row):
            if word.x0 - before.x1 > _WIDE * max(word.size, before.size):
                found.append(piece_of(run))
                run = []
            run.append(word)
        found.append(piece_of(run))
    return found


def piece_of(words: Sequence[PlacedWord]) -> LinePiece:
    """Return a piece of words on one baseline."""
    letters = sum(len(word.text) for word in words)
    size = sum(word.size * len(word.text) for word in words) / letters
    return LinePiece(tuple(words), words[0].x0, max(word.x1 for word in words), words[0].base, size)


def is_figure(part: LinePiece) -> bool:
    """Whether a piece is a cell of a table: figures, and no number of a list."""
    return _FIGURE.fullmatch(part.text) is not None


def stands_beside(small: LinePiece, main: LinePiece) -> bool:
    """Whether a piece of small type stands in or next to one, a little above its baseline or below it."""
    lift = main.base - small.base
    if not 0.42 * main.size < small.size < 0.92 * main.size or small.x1 - small.x0 > 6 * main.size:
        return False
    if not -0.4 * main.size < lift < 0.75 * main.size or abs(lift) < 0.08 * main.size:
        return False
    near = 0.8 * main.size
    return small.x0 < main.x1 + near and small.x1 > main.x0 - near


def joined_words(words: Sequence[PlacedWord]) -> str:
    """Return the text of the words of a line, which come from left to right."""
    parts = [words[0].text] if words else []
    loose = _loose(words)
    for number in range(1, len(words)):
        blank = loose[number] if number in loose else _blank(words[number - 1], words[number], number == 1)
        parts.append(f" {words[number].text}" if blank else words[number].text)
    return " ".join("".join(parts).split())


def _blank(before: PlacedWord, word: PlacedWord, first: bool) -> bool:
    """Whether a blank stands between two words."""
    size = min(before.size, word.size)
    gap = word.x0 - before.x1
    if first and before.size > 1.7 * word.size and _is_letter(before):
        return gap > 0.7 * size
    if gap > _BLANK * size or (word.spaced and gap > 0.03 * size):
        return True
    raised = before.size < 0.85 * word.size and before.base < word.base - 0.1 * word.size
    return first and raised and before.text.isdigit()


def _loose(words: Sequence[PlacedWord]) -> dict[int, bool]:
    """Return, for the words in runs of single letters, whether a blank stands before them."""
    found: dict[int, bool] = {}
    first = 0
    for number in range(1, len(words) + 1):
        single = number < len(words) and _is_letter(words[number])
        if single and _is_letter(words[number - 1]):
            continue
        if number - first >= _SPACED_OUT and _is_letter(words[first]):
            gaps = [words[n].x0 - words[n - 1].x1 for n in range(first + 1, number)]
            usual = median(gaps)
            if usual > 0.05 * words[first].size:
                found |= {first + 1 + n: gap > 1.7 * usual for n, gap in enumerate(gaps)}
        first = number
    return found


def _is_letter(word: PlacedWord) -> bool:
    return len(word.text) == 1 and word.text.isalpha()

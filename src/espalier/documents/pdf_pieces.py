"""Pieces of lines: the words of a page that stand on one baseline without a wide gap between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from espalier.documents.lines import Box
from espalier.documents.pdf_words import PlacedWord

__all__ = ["LinePiece", "is_figure", "piece_of", "pieces", "stands_beside"]

_WIDE = 0.62  # a gap between words, in type sizes, that ends a piece
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

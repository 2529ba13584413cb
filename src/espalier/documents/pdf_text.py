"""The text of a line: where blanks stand between its words.

A gap of a sixth of the type size is a blank, and so is a blank in the file if there is any gap at all. Letters that are
spaced out (`R E F E R E N C E S`) are words again: between them only a gap that is much wider than the others counts.
A raised number that begins a line stands for itself: a blank follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from espalier.documents.pdf_words import PlacedWord

__all__ = ["joined_words"]

_BLANK = 0.17  # of the type size
_SPACED_OUT = 4  # single letters in a row that are a word with wide spaces rather than words


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

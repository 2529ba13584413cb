"""Lines to running text: words that a line end cut in two are joined, and every character still knows its place.

A hyphen at the end of a line was put there by the typesetter, or it is part of the word. What the document itself
writes elsewhere decides, in this order:

    the joined form is a known word                      root- / stock     rootstock
    the form with the hyphen is one                      root- / bound     root-bound
    both parts are, so that it may be a compound         apple- / tree     apple-tree
    small letters on both sides                          gra- / fting      grafting
    anything else keeps its hyphen                       Smith- / Jones    Smith-Jones

Known are the words of the document, and those that the caller adds. `und` or `and` after the hyphen is a word of its
own: `Obst- und Gartenbau`. Addresses and numbers keep theirs: `13-` / `19`.

An address has no hyphen where a line end cuts it. It goes on without a blank if it reaches the right edge and ends with
no stop, and the next line begins with signs of an address: `https://ely.org/old-or` / `chards.html`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from espalier.citations.borders import glue
from espalier.documents.lines import TextLine

__all__ = ["JoinedText", "join_lines", "known_words"]

_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_LAST = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*[-‐\xad]$")
_FIRST = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_ADDRESS_CUT = re.compile(r"(?<!\S)[<(\[]?(?:https?://|www\.|doi\.org/|(?:doi|URL):\s?\w)\S*[\w~%+-]\Z", re.IGNORECASE)
_ADDRESS_ON = re.compile(
    r"(?!(?:doi|https?|accessed|url)\b|www\.|pp?\.|vol\.|no\.|(?:1[5-9]|20)\d\d\b|\d+[-–]\d)"
    r"([a-z\d/.%?=&#_~+-][\w/.%?=&#_~+:@-]{0,200}?)[.,;>)\]]{0,4}(?=\s|\Z)"
)
_SIGN = re.compile(r"[\d/._=%&?#~]")
_CONJUNCTIONS = frozenset(["und", "oder", "bzw", "sowie", "and", "or", "et", "ou", "e", "y", "o", "en", "och", "og"])


@dataclass(frozen=True, slots=True)
class JoinedText:
    """Running text of lines. pieces : (where in `text`, where in the source) of each stretch that is taken over."""

    text: str
    pieces: tuple[tuple[int, int], ...]

    def offset(self, place: int) -> int:
        """Return where in the source a character of the text stands; a blank for a line end is where the line ends."""
        if not self.pieces:
            return 0
        here, there = self.pieces[max(bisect_right(self.pieces, (place, 1 << 62)) - 1, 0)]
        return there + max(place - here, 0)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of the source from the first to the last character of a stretch of the text."""
        return self.offset(start), self.offset(end - 1) + 1 if end > start else self.offset(start)


def known_words(lines: Iterable[TextLine]) -> frozenset[str]:
    """Return the words of a document in small letters, compounds as a whole; not those that a line end cuts."""
    found: set[str] = set()
    cut = False
    for line in lines:
        words = [word.lower() for word in _WORD.findall(line.text)]
        if cut and words:
            del words[0]
        cut = line.text.endswith(("-", "‐", "\xad"))
        if cut and words:
            del words[-1]
        found.update(words)
    return frozenset(found)


def join_lines(
    lines: Sequence[TextLine], words: Container[str] = frozenset(), full: Container[int] = frozenset()
) -> JoinedText:
    """Return the lines as one line.

    words : small letters, such as `known_words` of the document, and words of other lists; full : the numbers of the
    lines that reach the right edge, from 0.
    """
    text, pieces = "", []
    source = 0  # where the text so far ends in the source
    for number, line in enumerate(lines):
        content = line.text.strip()
        if not content:
            continue
        start = line.start + len(line.text) - len(line.text.lstrip())
        if text:
            cut = number - 1 in full and _is_cut_address(text, content)
            text, between = (text, "") if cut else _joint(text, content, words)
            if between:
                pieces.append((len(text), source))
                text += between
        pieces.append((len(text), start))
        text += content
        source = start + len(content)
    return JoinedText(text, tuple(pieces))


def _joint(left: str, right: str, words: Container[str]) -> tuple[str, str]:
    """Return the text so far as it stands before the next line, and what comes between them."""
    before, after = _LAST.search(left[-80:]), _FIRST.match(right[:80])
    if not before or not after:
        return glue(left, right)
    tail, head = before[0][:-1].lower(), after[0].lower()
    if left[-1] != "\xad" and head in _CONJUNCTIONS:
        return left, " "
    if _is_address(left):
        return left, ""
    # The first part of a compound after the break is enough: root- / stock-bound.
    joined = {tail + head, tail + re.split("[-‐]", head)[0], re.split("[-‐]", tail)[-1] + head}
    if left[-1] == "\xad" or any(word in words for word in joined):
        return left[:-1], ""
    if f"{tail}-{head}" in words or (tail in words and head in words):
        return left, ""
    return glue(left, right)


def _is_cut_address(left: str, right: str) -> bool:
    """Does a line end inside an address, and the next one go on with it?"""
    on = _ADDRESS_ON.match(right)
    if on is None or _ADDRESS_CUT.search(left[-300:]) is None:
        return False
    alone = right[on.end() :].lstrip()[:1] in ("", "(", "[")  # a word that is no sign by itself
    return alone or _SIGN.search(on[1]) is not None


def _is_address(left: str) -> bool:
    tail = left[-200:].rpartition(" ")[2]
    return "/" in tail or tail.startswith("www.") or "@" in tail

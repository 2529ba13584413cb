"""What candidates claim about a text, and where it stands there.

The strings of an answer may be not quite those of
the text (other case, spaces or signs, a typing slip): such a claim is placed where the text is most like it. Its
numbers have to be the same, digit for digit. A string that is nowhere in the text is invented.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

from espalier.document import Document
from espalier.extract.numerals import digits_of, is_grouped, numerals, same_numbers

__all__ = ["Claim", "ClaimPlace", "places_of", "plain"]

ALIKE = 0.7
"""The least likeness of a string and the stretch of text that it is taken for, from 0 to 1."""
TRIMMED = 0.95  # likeness of a string that has signs around it
SLACK = 2  # tokens by which such a stretch may be longer or shorter
MOST_ZEROS = 3  # that a text may have at the end of a number which was not given as text

_RUNS = re.compile(r"\d+(?:[\W_]\d+)*")
_SEPARATORS = re.compile(r"(?<=\d)[\W_]+(?=\d)")


@dataclass(frozen=True, slots=True)
class Claim:
    """Candidate number `candidate` says that `text` is a `label`.

    score : how sure it is, 0 to 1; start : where it says that the string begins, in characters. None: it does not say.
    rounded : `text` was a number of Python, which forgets zeros at the end of a fraction.
    """

    label: str
    text: str
    candidate: int
    score: float | None = None
    start: int | None = None
    rounded: bool = False


class ClaimPlace(NamedTuple):
    """Tokens first..end-1 are what a claim speaks of; likeness : 1 where they are its very words."""

    first: int
    end: int
    likeness: float


def places_of(claim: Claim, document: Document, words: Sequence[str]) -> list[ClaimPlace]:
    """Return where the text has the string of a claim, in order; where it is most like it if it has it nowhere.

    words : those of the document, in their plain form (see `plain`). One place where the claim says which. A claim is
    never taken for other numbers (see `numerals`), nor for a part of a longer one: `1234.50` not for that of `1,234.50`
    that begins with its third digit.
    """
    wanted = [plain(word) for word in Document.from_text(claim.text).words]
    written = list(numerals(document.text))
    grouped = _inside(document, [one.span for one in written if is_grouped(one)])
    inside = _inside(document, [one.signed for one in written])
    found = _uncut(_stretches(wanted, words, 1.0), grouped)
    if claim.start is not None:
        told = [place for place in found if document.tokens[place.first][0] == claim.start]
        found = told or found
    if found:
        return _uncut(found, inside) or found
    trimmed = _uncut(_stretches(_trimmed(wanted), words, TRIMMED), inside)
    trimmed = [place for place in trimmed if _has_numbers(document, place.first, place.end, claim)]
    return trimmed or _nearest(claim, wanted, document, words, inside)


def _inside(document: Document, stretches: Sequence[tuple[int, int]]) -> list[bool]:
    """Return for each token, and for the end of the text, whether it begins inside a stretch of characters."""
    found, k = [], 0
    for start, _ in document.tokens:
        while k < len(stretches) and stretches[k][1] <= start:
            k += 1
        found.append(k < len(stretches) and stretches[k][0] < start)
    return [*found, False]


def _uncut(places: Sequence[ClaimPlace], inside: Sequence[bool]) -> list[ClaimPlace]:
    return [place for place in places if not (inside[place.first] or inside[place.end])]


def _has_numbers(document: Document, first: int, end: int, claim: Claim) -> bool:
    stretch = document.text[document.tokens[first][0] : document.tokens[end - 1][1]]
    return same_numbers(claim.text, stretch, rounded=claim.rounded)


def _stretches(wanted: list[str], words: Sequence[str], likeness: float) -> list[ClaimPlace]:
    """Return the stretches that have just these words."""
    n = len(wanted)
    starts = range(len(words) - n + 1) if n else ()
    return [ClaimPlace(t, t + n, likeness) for t in starts if list(words[t : t + n]) == wanted]


def _trimmed(wanted: list[str]) -> list[str]:
    """Return the words without signs before the first and after the last of them."""
    known = [t for t, word in enumerate(wanted) if any(map(str.isalnum, word))]
    return wanted[known[0] : known[-1] + 1] if known else []


def plain(word: str) -> str:
    """Return a word without case and without differences of encoding."""
    return unicodedata.normalize("NFKC", word).casefold()


def _nearest(
    claim: Claim, wanted: list[str], document: Document, words: Sequence[str], inside: Sequence[bool]
) -> list[ClaimPlace]:
    """Return the stretch that is most like a string, if one is like it at all, among those with the same numbers.

    inside : tokens that begin in a number. A number counts as one token here, in however many it was cut.
    """
    string, best = _SEPARATORS.sub("", " ".join(wanted)), ClaimPlace(0, 0, 0.0)
    if not string:
        return []
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(string)
    length = len(wanted) - sum(_going_on(Document.from_text(claim.text)))
    # How many tokens, and how many digits, stand before each: stretches with as many are looked up, not tried.
    goes_on = _going_on(document)
    tokens = [0, *accumulate(not later for later in goes_on[:-1])]
    digits = [0, *accumulate(len(digits_of(word)) for word in document.words)]
    least = most = len(digits_of(claim.text))
    if claim.rounded:
        least, most = len(digits_of(claim.text).rstrip("0")), most + MOST_ZEROS
    for n in range(max(1, length - SLACK), length + SLACK + 1):
        for t in range(len(words)):
            wanted_tokens = tokens[t] - goes_on[t] + n
            low = max(t + 1, bisect_left(tokens, wanted_tokens), bisect_left(digits, digits[t] + least))
            high = min(bisect_right(tokens, wanted_tokens), bisect_right(digits, digits[t] + most))
            for end in range(low, high):
                if inside[t] or inside[end] or not _has_numbers(document, t, end, claim):
                    continue
                matcher.set_seq1(_SEPARATORS.sub("", " ".join(words[t:end])))
                enough = max(best.likeness, ALIKE)
                if matcher.real_quick_ratio() > enough and matcher.quick_ratio() > enough:
                    likeness = matcher.ratio()
                    if likeness > enough:
                        best = ClaimPlace(t, end, likeness if likeness < 1.0 else TRIMMED)
    return [best] if best.end else []


def _going_on(document: Document) -> list[bool]:
    """Return which tokens go on with a number that began before them; the last says nothing."""
    return _inside(document, [found.span() for found in _RUNS.finditer(document.text)])

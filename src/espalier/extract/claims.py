"""What candidates claim about a text: labels and strings, read from JSON or Python values, and found in the text.

A candidate is an answer of a language model, of a person or of another program. Its strings may be not quite those of
the text (other case, spaces or signs, a typing slip): such a claim is placed where the text is most like it. Its
numbers have to be the same, digit for digit. A string that is nowhere in the text is invented.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any, NamedTuple

from espalier.document import Document
from espalier.errors import InputError
from espalier.extract.extraction import Extraction
from espalier.extract.numerals import digits_of, is_grouped, numerals, same_numbers
from espalier.tags import OUTSIDE

__all__ = ["Claim", "ClaimPlace", "places_of", "plain", "read_claims"]

TEXTS, SCORES = ("text", "value", "string"), ("score", "confidence", "probability")
WRAPPERS = ("fields", "entities", "extractions")
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


def read_claims(candidate: Any, number: int) -> list[Claim]:
    """Return the claims of one candidate: JSON text, a mapping, a list of items, a document or an extraction."""
    if isinstance(candidate, Extraction):
        return [Claim(f.label, f.text, number, f.confidence, f.start) for f in candidate.fields]
    if isinstance(candidate, Document):
        return [Claim(s.label, candidate.text[s.start : s.end], number, None, s.start) for s in candidate.spans or ()]
    value = _parsed(candidate, number) if isinstance(candidate, str) else candidate
    return list(_claims(value, number))


def _parsed(text: str, number: int) -> Any:
    """Return the first JSON value in a text; models like to say something around it."""
    for at, sign in enumerate(text):
        if sign in "{[":
            try:
                return json.JSONDecoder().raw_decode(text, at)[0]
            except json.JSONDecodeError:
                continue
    raise InputError(
        f"candidate {number} holds no JSON: {text[:40]!r}", hint='pass {"label": "string"}, as text or as a dict'
    )


def _claims(value: Any, number: int) -> Iterator[Claim]:
    """Yield the claims of a mapping or of a list of items with labels."""
    if isinstance(value, Mapping):
        wrapped = next((value[name] for name in WRAPPERS if isinstance(value.get(name), list)), None)
        if wrapped is not None or "label" in value:
            yield from _claims(wrapped if wrapped is not None else [value], number)
            return
        for label, one in value.items():
            for item in one if isinstance(one, list | tuple) else [one]:
                yield from _claim(str(label), item, number)
        return
    if isinstance(value, Sequence) and not isinstance(value, str):
        for i, item in enumerate(value):
            if not isinstance(item, Mapping) or "label" not in item:
                what = f"candidate {number}, item {i} has no label: {str(item)[:40]!r}"
                raise InputError(what, hint='an item is {"label": ..., "text": ...}')
            yield from _claim(str(item["label"]), item, number)
        return
    raise InputError(f"candidate {number} is a {type(value).__name__}", hint="expected a mapping or a list of items")


def _claim(label: str, item: Any, number: int) -> Iterator[Claim]:
    """Yield the claim of one value; nothing for a field that is missing."""
    score = start = None
    if isinstance(item, Mapping):
        where = next((name for name in TEXTS if name in item), None)
        if where is None:
            raise InputError(f"candidate {number}, {label!r} has no text", hint=f"expected one of {', '.join(TEXTS)}")
        score, start = next((item[name] for name in SCORES if name in item), None), item.get("start")
        item = item[where]
    if not label or "/" in label or label == OUTSIDE:
        raise InputError(f"candidate {number} has a label {label!r}", hint="a label is a name without a slash, not O")
    text = "" if item is None else str(item).strip()
    if score is not None and not (isinstance(score, int | float) and 0.0 <= score <= 1.0):
        raise InputError(f"candidate {number}, {label!r} has the score {score!r}", hint="a score is from 0 to 1")
    if text:
        known = start if isinstance(start, int) and start >= 0 else None
        rounded = isinstance(item, int | float) and not isinstance(item, bool)
        yield Claim(label, text, number, None if score is None else float(score), known, rounded)


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

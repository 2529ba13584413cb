"""Is a stretch of a list of names a body (a ministry, a company, a team), and which stretches are one body? Learned.

Commas and "and" stand between names and inside the names of bodies: "Department of Health, Bureau of the Census",
"Food and Agriculture Organization". So stretches between separators are labelled in a row, by a chain of three labels:

    a person's (or a part of one)      a body begins      the body goes on

Weights of what a stretch shows (its words, their beginnings, ends and shapes, initials, separators, its place) were
learned from lists of names in many styles, by `scripts/train_names.py`; no word is listed here, and no language is
known. They are rows of a table that features are hashed into, two numbers each: how much rather a body begins, or goes
on, than that this is a person's.

Most lists have no word that speaks for a body. Then nobody is one, without another look: `may_be_bodies`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

__all__ = [
    "BUCKETS",
    "HARD",
    "INVERTED",
    "LABELS",
    "MORE",
    "PERSON",
    "STEP",
    "Stretch",
    "features_of",
    "is_hint",
    "labels_of",
    "may_be_bodies",
    "weights",
]

PERSON, BODY, MORE = LABELS = ("person", "body", "more")
"""A stretch of a person's name, the first of a body, and one that goes on with the body before it."""

HARD = ";"
"""A separator that stands inside nobody's name: a semicolon, a stroke, a dash."""

BUCKETS = 1 << 16
"""Rows for features; behind them stand two for each label: what it is worth before a body, and before one's rest."""

INVERTED = 3.0
"""Nats for a person where initials follow, "García Márquez de la Torre, L."; "Department of Energy, U.S." has more."""

STEP = 16.0
"""What weights were multiplied by, to be whole numbers of one byte."""

_LONGEST = 24  # characters of a word that are looked at
_ENDS = 5  # characters of the beginning and the end of a word
_PLACES = ("only", "first", "inner", "last")
_HINT = 1.75  # nats by which a word alone has to speak for a body
_INITIALS = 2  # letters of what may be anybody's
_NEVER = -1e9


class Stretch(NamedTuple):
    """Words between two separators; `before` is the separator before them, "" for the first.

    short : the words in brackets behind them are their initials: "World Health Organization (WHO)".
    """

    words: Sequence[str]
    before: str = ""
    short: bool = False


def labels_of(stretches: Sequence[Stretch]) -> list[str]:
    """Return the likeliest labels of all stretches of a list."""
    if not any(stretch.short for stretch in stretches) and not may_be_bodies(
        word for stretch in stretches for word in stretch.words
    ):
        return [PERSON] * len(stretches)
    table, steps = weights()
    scores = [0.0, _NEVER, _NEVER]
    ways: list[tuple[int, int, int]] = []
    for k, stretch in enumerate(stretches):
        begins, goes_on = 0.0, 0.0
        for position, word in zip(_positions(len(stretch.words)), stretch.words, strict=True):
            of_word = _of_word(word, position)
            begins, goes_on = begins + of_word[0], goes_on + of_word[1]
        for name in _around(stretches, k):
            row = table[_bucket(name)]
            begins, goes_on = begins + row[0], goes_on + row[1]
        if _is_inverted(stretches[k : k + 2]):
            begins, goes_on = begins - INVERTED, goes_on - INVERTED
        if not k or stretch.before == HARD:
            goes_on = _NEVER
        body = [scores[label] + steps[label][0] for label in range(3)]
        more = [scores[label] + steps[label][1] for label in range(3)]
        way = (_best(scores), _best(body), _best(more))
        scores = [scores[way[0]], body[way[1]] + begins, more[way[2]] + goes_on]
        ways.append(way)
    return list(_back(ways, _best(scores)))


def may_be_bodies(words: Iterable[str]) -> bool:
    """Tell whether any word speaks for a body."""
    return any(map(is_hint, words))


@lru_cache(maxsize=8192)
def is_hint(word: str) -> bool:
    """Tell whether a word that is no initials speaks, at whatever place, rather for a body; nobody is called 2020."""
    if len(word) <= _INITIALS and word.isupper():
        return False
    return word.isdigit() or max(_of_word(word, position)[0] for position in _PLACES) > _HINT


def features_of(stretches: Sequence[Stretch], k: int) -> list[int]:
    """Return the rows of all features of stretch k: what training counts, and `labels_of` adds up."""
    words = stretches[k].words
    names = [*_around(stretches, k)]
    for position, word in zip(_positions(len(words)), words, strict=True):
        names += [*_word_names(word), *_placed_names(word, position)]
    return [_bucket(name) for name in names]


def _is_inverted(stretches: Sequence[Stretch]) -> bool:
    """Tell whether the first stretch is words without initials, and the second, behind a comma, initials with stops.

    That is the form of a person's name, which says more than the words of lists that were learned from: few of those
    have families of four words.
    """
    if len(stretches) < 2 or stretches[1].before != ",":
        return False
    family, given = stretches[0].words, stretches[1].words
    return all(_shape(word).startswith("stops") for word in given) and not any(
        _shape(word).startswith("stops") for word in family
    )


def _best(scores: Sequence[float]) -> int:
    return max(range(3), key=scores.__getitem__)


def _back(ways: Sequence[tuple[int, int, int]], label: int) -> Iterator[str]:
    found = []
    for way in reversed(ways):
        found.append(LABELS[label])
        label = way[label]
    return reversed(found)


def _positions(n: int) -> list[str]:
    return ["only"] if n == 1 else ["first", *["inner"] * (n - 2), "last"]


@lru_cache(maxsize=8192)
def _of_word(word: str, position: str) -> tuple[float, float]:
    """Return what a word at a place says for the beginning of a body, and for the rest of one."""
    table, _ = weights()
    rows = [table[_bucket(name)] for name in (*_word_names(word), *_placed_names(word, position))]
    return sum(row[0] for row in rows), sum(row[1] for row in rows)


def _low(word: str) -> str:
    return word.strip(".").casefold()[:_LONGEST]


def _word_names(word: str) -> Iterator[str]:
    """Yield the features of a word wherever it stands: itself, its beginnings and ends."""
    low = _low(word)
    yield f"w={low}"
    if len(low) > _ENDS:
        yield f"p={low[:_ENDS]}"
        yield f"s={low[-_ENDS:]}"


def _placed_names(word: str, position: str) -> Iterator[str]:
    """Yield the features of a word at its place among others: itself, and its beginning."""
    low = _low(word)
    yield f"{position}={low}"
    yield f"{position} p={low[:5]}"


def _shape(word: str) -> str:
    letters = word.translate(_NO_LETTERS)
    if not letters.isalpha():
        return "digits" if letters.isdigit() else "mixed"
    if letters.isupper():
        return f"{'stops' if '.' in word else 'capitals'} {min(len(letters), 5)}"
    if letters.islower():
        return "small"
    return "title" if letters[:1].isupper() and letters[1:].islower() else "mixed"


_NO_LETTERS = str.maketrans("", "", ".-'’‘‐ªº")


def _around(stretches: Sequence[Stretch], k: int) -> Iterator[str]:
    """Yield what a stretch shows as a whole, and what stands around it."""
    stretch, n = stretches[k], len(stretches)
    words, kind = stretch.words, _kind(stretch)
    yield f"kind={kind}"
    yield from (
        f"{position} shape={_shape(word)}" for position, word in zip(_positions(len(words)), words, strict=True)
    )
    yield f"n={min(len(words), 6)}"
    yield f"before={stretch.before if k else ''}"
    if stretch.short:
        yield "short"
    behind = stretches[k + 1] if k + 1 < n else None
    yield f"kind={kind} after={'' if behind is None else behind.before + ' ' + _kind(behind)}"
    if k:
        earlier = stretches[k - 1]
        yield f"before={stretch.before} kinds={_kind(earlier)} {kind}"
        yield f"before={stretch.before} from={_low(earlier.words[-1])}"
        yield f"before={stretch.before} to={_low(words[0])}"
        yield f"before={stretch.before} to={_low(words[-1])[:5]} last"
        yield f"before={stretch.before} p={_low(words[0])[:4]} {min(len(words), 3)}"
        yield f"before={stretch.before} since={_low(earlier.words[0])[:5]}"


def _kind(stretch: Stretch) -> str:
    """Return what a stretch looks like: initials only, with initials, one word, several, with small words inside."""
    shapes = {_shape(word)[:5] for word in stretch.words}
    short = {"stops", "capit"}
    if shapes <= short:
        return "short" if max(map(len, stretch.words)) < _SHORT else "capitals"
    if "stops" in shapes or any(_is_short(word) for word in stretch.words):
        return "with initials"
    if "digit" in shapes or "mixed" in shapes:
        return "mixed"
    small = "small" in {_shape(word) for word in stretch.words[1:]}
    return f"{min(len(stretch.words), 3)}{' small' if small else ''}"


_SHORT = 5


def _is_short(word: str) -> bool:
    return len(word) < _SHORT - 1 and word.isupper()


def _bucket(name: str) -> int:
    return crc32(name.encode()) % BUCKETS


@cache
def weights() -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the weights of features, and of steps from each label to a body and to the rest of one."""
    rows = np.load(Path(__file__).with_name("bodies.npy")).astype(np.float64) / STEP
    found = [(float(begins), float(goes_on)) for begins, goes_on in rows]
    return found[:BUCKETS], [found[BUCKETS], found[BUCKETS + 1], found[BUCKETS + 2]]

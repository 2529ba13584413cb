"""Words as hashed ids: what a net looks up in a table of vectors, whatever the word.

A word has three groups of ids, and the vectors of a group are added up:

    form      the word, and its lower form
    shape     its shape (`Xx` for Anna, `d` for 1999), and its length
    pieces    the pairs, triples and fours of characters of its lower form, `<` before it and `>` behind

An id is a checksum of the text, multiplied by a number of its kind and brought down to the number of buckets. The
checksum alone would not do: it is linear, so words that meet in one kind would meet in every other kind, too.

A long word has the pieces of its beginning and its end. Cost: O(characters) a word, about 10 microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.document import Document

__all__ = ["GROUPS", "SPACES", "HashedWords", "hashed_words", "spaces_before"]

GROUPS = 3
"""Groups of ids: form, shape, pieces."""

SPACES = 3
"""What may stand before a token: nobody knows (0), nothing (1), space (2)."""

MOST_PIECES = 14
"""Pieces of each length that a word has at most; of a longer word those of both ends."""

LONGEST_SHAPE = 12
LONGEST = 8
"""Characters that the shape looks at, and the length from which on all lengths are one."""

_FORM, _LOWER, _SHAPE, _LENGTH, _PIECE = range(5)
_FACTORS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1], np.uint64)  # odd, one a kind
_LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class HashedWords:
    """The ids of many words: ids : int32[n], those of a word end to end, group after group; sizes : int64[words, 3]."""

    ids: NDArray[np.int32]
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.sizes)

    def taken(self, chosen: NDArray[np.int64]) -> HashedWords:
        """Return some of the words."""
        lengths = self.sizes.sum(axis=1)
        first = np.cumsum(lengths) - lengths
        return self.at(first, lengths, chosen)

    def at(self, first: NDArray[np.int64], lengths: NDArray[np.int64], chosen: NDArray[np.int64]) -> HashedWords:
        """Return some of the words, where the first id of each word and their number are known."""
        n = lengths[chosen]
        ends = np.cumsum(n)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first[chosen] - (ends - n), n)
        return HashedWords(self.ids[places], self.sizes[chosen])


def hashed_words(words: Sequence[str], buckets: int) -> HashedWords:
    """Return the ids of words, each below `buckets`."""
    sums: list[int] = []
    sizes = np.empty((len(words), GROUPS), np.int64)
    for k, word in enumerate(words):
        lower = word.lower()
        pieces = _pieces(f"<{lower}>")
        sums += [_sum(word), _sum(lower), _sum(_shape(word)), min(len(word), LONGEST), *map(_sum, pieces)]
        sizes[k] = 2, 2, len(pieces)
    kinds = np.full(len(sums), _PIECE)
    first = np.cumsum(sizes.sum(axis=1)) - sizes.sum(axis=1)
    for kind in (_FORM, _LOWER, _SHAPE, _LENGTH):
        kinds[first + kind] = kind
    mixed = (np.array(sums, np.uint64) * _FACTORS[kinds]) & _LOW
    mixed ^= mixed >> np.uint64(15)
    mixed = (mixed * np.uint64(0x2C1B3C6D)) & _LOW
    return HashedWords(((mixed * np.uint64(buckets)) >> np.uint64(32)).astype(np.int32), sizes)


def _sum(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _shape(word: str) -> str:
    """Return the kinds of characters without repetitions: X, x, d, and any other sign as it is."""
    kinds = ("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word[:LONGEST_SHAPE])
    return "".join(kind for kind, _ in groupby(kinds))


def _pieces(text: str) -> list[str]:
    """Return the pieces of two to four characters; there is at least one."""
    found: list[str] = []
    for n in (2, 3, 4):
        last = len(text) - n + 1
        places: Iterable[int] = range(last)
        if last > MOST_PIECES:
            half = MOST_PIECES // 2
            places = chain(range(half), range(last - half, last))
        found += [text[i : i + n] for i in places]
    return found


def spaces_before(corpus: Corpus) -> NDArray[np.uint8]:
    """Return what stands before each token, uint8[M]: 0 unknown, 1 nothing, 2 space.

    It is unknown without a text, and in a text where no two tokens touch: somebody put spaces between all of them.
    """
    spaces = np.zeros(corpus.n_tokens, np.uint8)
    if corpus.documents is None or not corpus.n_tokens:
        return spaces
    starts, ends = _offsets(corpus.documents, corpus.n_tokens)
    spaces[:] = 2
    touching = np.flatnonzero(starts[1:] == ends[:-1]) + 1
    first = corpus.indptr[:-1][corpus.lengths > 0]
    touching = np.setdiff1d(touching, first, assume_unique=True)
    spaces[touching] = 1
    touched = np.zeros(len(corpus), bool)
    touched[np.searchsorted(corpus.indptr, touching, side="right") - 1] = True
    spaces[np.repeat(~touched, corpus.lengths)] = 0
    return spaces


def _offsets(documents: Sequence[Document], n_tokens: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first characters of all tokens, and those behind their last ones."""
    pairs = chain.from_iterable(chain.from_iterable(document.tokens for document in documents))
    places = np.fromiter(pairs, np.int64, 2 * n_tokens)
    return places[::2], places[1::2]

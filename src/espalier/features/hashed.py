"""Words as hashed ids: what a net looks up in a table of vectors, whatever the word.

A word has three groups of ids, and the vectors of a group are added up:

    form      the word, and its lower form
    shape     its shape (`Xx` for Anna, `d` for 1999), and its length
    pieces    the pairs, triples and fours of characters of its lower form, `<` before it and `>` behind

An id is a checksum of the text, multiplied by a number of its kind and brought down to the number of buckets. The
checksum alone would not do: it is linear, so words that meet in one kind would meet in every other kind, too.

A long word has the pieces of its beginning and its end. Cost: O(characters) a word, about 8 microseconds, or 2 where
many words in ASCII come together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from string import ascii_lowercase, ascii_uppercase, digits
from typing import AnyStr
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.document import Document

__all__ = ["GROUPS", "SPACES", "WORTH_ARRAYS", "HashedWords", "hashed_words", "spaces_before"]

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
_KINDS = str.maketrans(ascii_uppercase + ascii_lowercase + digits, "X" * 26 + "x" * 26 + "d" * 10)
_TABLE = ~np.array([crc32(bytes([k]), 0xFFFFFFFF) for k in range(256)], np.uint32)  # what a byte adds to a checksum

WORTH_ARRAYS = 24
"""Fewer words are hashed sooner one by one."""


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
    if len(words) < WORTH_ARRAYS:
        return _one_by_one(words, buckets)
    plain = np.fromiter((word.isascii() for word in words), bool, len(words))
    if plain.all():
        return _all_at_once(words, buckets)
    places = np.flatnonzero(plain), np.flatnonzero(~plain)
    first, rest = ([words[k] for k in own.tolist()] for own in places)
    parts = _all_at_once(first, buckets), _one_by_one(rest, buckets)
    both = HashedWords(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("ids", "sizes")))
    return both.taken(np.argsort(np.concatenate(places)))


def _one_by_one(words: Sequence[str], buckets: int) -> HashedWords:
    """Return the ids of any words."""
    sums: list[int] = []
    sizes = np.empty((len(words), GROUPS), np.int64)
    for k, word in enumerate(words):
        lower = word.lower()
        if word.isascii():
            pieces = [*map(crc32, _pieces(f"<{lower}>".encode("ascii")))]
        else:
            pieces = [*map(_sum, _pieces(f"<{lower}>"))]
        sums += [_sum(word), _sum(lower), _sum_of_shape(word), min(len(word), LONGEST), *pieces]
        sizes[k] = 2, 2, len(pieces)
    return _mixed(np.array(sums, np.uint64), sizes, buckets)


def _all_at_once(words: Sequence[str], buckets: int) -> HashedWords:
    """Return the ids of words in ASCII: the checksums of all pieces in a few steps, whatever their number."""
    lower = [word.lower() for word in words]
    lengths = np.fromiter(map(len, words), np.int64, len(words)) + 2
    begin = np.cumsum(lengths) - lengths
    checksums = _checksums(np.frombuffer(f"<{'><'.join(lower)}>".encode("ascii"), np.uint8))
    numbers = {n: np.clip(lengths - n + 1, 0, MOST_PIECES) for n in checksums}
    sizes = np.full((len(words), GROUPS), 2, np.int64)
    sizes[:, -1] = sum(numbers.values())
    total = sizes.sum(axis=1)
    first = np.cumsum(total) - total
    sums = np.empty(total.sum(), np.uint64)
    sums[first + _FORM] = [crc32(word.encode("ascii")) for word in words]
    sums[first + _LOWER] = [crc32(word.encode("ascii")) for word in lower]
    sums[first + _SHAPE] = [_sum_of_shape(word) for word in words]
    sums[first + _LENGTH] = np.minimum(lengths - 2, LONGEST)
    free = first + _PIECE
    for n, own in checksums.items():
        number = numbers[n]
        j = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        # Of a long word the second half of the pieces are its last ones.
        skipped = np.repeat(lengths - n + 1 - number, number) * (j >= MOST_PIECES // 2)
        sums[np.repeat(free, number) + j] = own[np.repeat(begin, number) + j + skipped]
        free = free + number
    return _mixed(sums, sizes, buckets)


def _checksums(text: NDArray[np.uint8]) -> dict[int, NDArray[np.uint32]]:
    """Return the checksums of the 2, 3 and 4 bytes that begin at each byte; those beyond the end are wrong."""
    found, sums = {}, np.full(len(text), 0xFFFFFFFF, np.uint32)
    for n in (1, 2, 3, 4):
        sums = _TABLE[(sums ^ np.roll(text, 1 - n)) & 0xFF] ^ (sums >> np.uint32(8))
        if n > 1:
            found[n] = ~sums
    return found


def _mixed(sums: NDArray[np.uint64], sizes: NDArray[np.int64], buckets: int) -> HashedWords:
    """Return checksums as ids, each mixed with a number of its kind."""
    kinds = np.full(len(sums), _PIECE)
    first = np.cumsum(sizes.sum(axis=1)) - sizes.sum(axis=1)
    for kind in (_FORM, _LOWER, _SHAPE, _LENGTH):
        kinds[first + kind] = kind
    mixed = (sums * _FACTORS[kinds]) & _LOW
    mixed ^= mixed >> np.uint64(15)
    mixed = (mixed * np.uint64(0x2C1B3C6D)) & _LOW
    return HashedWords(((mixed * np.uint64(buckets)) >> np.uint64(32)).astype(np.int32), sizes)


def _sum(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _sum_of_shape(word: str) -> int:
    """Return the checksum of the kinds of characters without repetitions: X, x, d, and any other sign as it is."""
    word = word[:LONGEST_SHAPE]
    if word.isascii():
        return _sum_of_kinds(word.translate(_KINDS))
    return _sum_of_kinds(
        "".join("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word)
    )


@lru_cache(maxsize=4096)
def _sum_of_kinds(kinds: str) -> int:
    """Return the checksum of a shape, given the kind of each character."""
    return _sum("".join(kind for kind, _ in groupby(kinds)))


def _pieces(text: AnyStr) -> list[AnyStr]:
    """Return the pieces of two to four characters; there is at least one."""
    found: list[AnyStr] = []
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
    if corpus.documents is not None and len(corpus.documents) == 1:
        return _spaces_of_one(corpus.documents[0])
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


def _spaces_of_one(document: Document) -> NDArray[np.uint8]:
    """Return the same for one text, without arrays on the way."""
    kinds, before = [], -1
    for start, end in document.tokens:
        kinds.append(1 if start == before else 2)
        before = end
    return np.array(kinds if 1 in kinds else [0] * len(kinds), np.uint8)


def _offsets(documents: Sequence[Document], n_tokens: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first characters of all tokens, and those behind their last ones."""
    pairs = chain.from_iterable(chain.from_iterable(document.tokens for document in documents))
    places = np.fromiter(pairs, np.int64, 2 * n_tokens)
    return places[::2], places[1::2]

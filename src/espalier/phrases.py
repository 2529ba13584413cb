"""Lists of phrases: where any of a million phrases stands in a text, whichever way both were cut into tokens.

The tokens of a match, put together, spell the phrase, with a space in the phrase where two tokens meet, or none where
one of the two characters that meet is neither a letter nor a digit. So "St. Louis" matches `St . Louis` and
`St. Louis`, but "today" never `to day`. A token that begins or ends with white space matches nothing.

Phrases are cut into *pieces*, runs of letters and digits or single other signs, each with the space before it if there
is one: "St. Louis" is `St`, `.`, ` Louis`. They are kept as a trie in two sorted arrays: nodes are numbered level by
level, and node k + 1 is reached by keys[k] = parent * pieces + piece. Cost: nine bytes a node, and about 150 a distinct
piece; a text takes one binary search for each token and piece of the longest phrase that still goes on there, for all
tokens at once.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["PhrasePlaces", "PhraseTrie", "collapsed", "n_pieces"]

Ints = NDArray[np.int64]

_PIECE = re.compile(r" ?(?:[^\W_]+|.)", re.DOTALL)


class PhrasePlaces(NamedTuple):
    """Where phrases stand: tokens start..stop-1, int64[n] both; one place may be named more than once."""

    start: Ints
    stop: Ints


class _Stream(NamedTuple):
    """The pieces of a text, end to end, P in all; pieces that no phrase has are -1.

    piece : int64[P]; glued, spaced : int64[P], the piece as what follows the piece before it without and with a space,
    -1 where that cannot be; opens : bool[P], does a sequence begin here?; first, last : bool[P], of its token;
    token : int64[P].
    """

    piece: Ints
    glued: Ints
    spaced: Ints
    opens: NDArray[np.bool_]
    first: NDArray[np.bool_]
    last: NDArray[np.bool_]
    token: Ints


def collapsed(phrase: str) -> str:
    """Return the phrase with single spaces, and none at its ends."""
    return " ".join(phrase.split())


def n_pieces(phrase: str) -> int:
    """Return how many tokens a phrase can be at most."""
    return len(_PIECE.findall(phrase))


class PhraseTrie:
    """Phrases as a trie over their pieces; n_nodes : without the root."""

    __slots__ = ("_fold", "_keys", "_numbers", "_roots", "_whole")

    def __init__(self, phrases: Iterable[str], *, fold: bool) -> None:
        """Take phrases that are not empty, with single spaces; fold : ignore case, there and in the text."""
        self._fold = fold
        self._numbers: dict[str, int] = {}
        flat, ends = array("q"), array("q")
        numbers, cut = self._numbers, _PIECE.findall
        for phrase in phrases:
            if fold:
                phrase = phrase.casefold()
            for piece in (phrase,) if phrase.isalnum() else cut(phrase):
                flat.append(numbers.setdefault(piece, len(numbers)))
            ends.append(len(flat))
        self._keys, self._whole = _grown(np.array(flat, np.int64), np.array(ends, np.int64), len(numbers))
        self._roots = np.full(len(numbers) + 1, -1)  # the last stands for pieces that no phrase has
        level = np.searchsorted(self._keys, len(numbers))
        self._roots[self._keys[:level]] = np.arange(1, level + 1)

    @property
    def n_nodes(self) -> int:
        """Nodes, the root left out."""
        return len(self._keys)

    def find(self, indptr: Ints, token_ids: NDArray[np.integer], types: Sequence[str]) -> PhrasePlaces:
        """Return every place of every phrase.

        indptr : int64[N + 1], the borders of sequences; token_ids : int[M] into `types`.
        """
        text = self._stream(indptr, token_ids, types)
        opens = np.append(text.opens, True)
        at = np.flatnonzero(text.first)
        node = self._roots[text.piece[at]]
        at, node = at[node > 0], node[node > 0]
        start = text.token[at]
        starts, stops = [start[:0]], [start[:0]]
        while len(at):
            whole = self._whole[node] & text.last[at]
            starts.append(start[whole])
            stops.append(text.token[at[whole]] + 1)
            at = at + 1
            going = ~opens[at]
            at, node, start = at[going], node[going], start[going]
            below = [self._below(node, pieces[at]) for pieces in (text.glued, text.spaced)]
            at, start = (np.concatenate([rows[child > 0] for child in below]) for rows in (at, start))
            node = np.concatenate([child[child > 0] for child in below])
        return PhrasePlaces(np.concatenate(starts), np.concatenate(stops))

    def _below(self, node: Ints, piece: Ints) -> Ints:
        """Return the child of each node by a piece, 0 where there is none."""
        key = np.where(piece >= 0, node * len(self._numbers) + piece, -1)
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where(self._keys[place] == key, place + 1, 0)

    def _stream(self, indptr: Ints, token_ids: NDArray[np.integer], types: Sequence[str]) -> _Stream:
        """Return the pieces of a text."""
        if len(types) > len(token_ids):  # a part of a corpus shares the types of the whole
            used, token_ids = np.unique(token_ids, return_inverse=True)
            types = [types[k] for k in used.tolist()]
        words = [*map(str.casefold, types)] if self._fold else types
        plain = np.fromiter(map(str.isalnum, words), bool, len(words))
        known, nothing = self._numbers.get, repeat(-1)
        pieces: list[Sequence[int]] = [*zip(map(known, words, nothing))]  # nearly all words are one piece
        spaced = np.fromiter(map(known, map(" ".__add__, words), nothing), np.int64, len(words))
        begins, ends = plain.copy(), plain.copy()
        for k in np.flatnonzero(~plain).tolist():
            pieces[k], spaced[k], begins[k], ends[k] = self._cut(words[k])
        flat = np.fromiter(chain.from_iterable(pieces), np.int64)
        sizes = np.fromiter(map(len, pieces), np.int64, len(words))
        lengths = sizes[token_ids]
        token = np.repeat(np.arange(len(token_ids)), lengths)
        within = np.arange(len(token)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        piece = flat[(np.cumsum(sizes) - sizes)[token_ids][token] + within]
        first = within == 0
        apart = np.zeros(len(token_ids), bool)  # two letters or digits meet: only a space can be between
        apart[1:] = ends[token_ids[:-1]] & begins[token_ids[1:]]
        opening = np.zeros(len(token_ids) + 1, bool)
        opening[indptr[:-1]] = True
        return _Stream(
            piece=piece,
            glued=np.where(first & apart[token], -1, piece),
            spaced=np.where(first, spaced[token_ids][token], -1),
            opens=first & opening[token],
            first=first,
            last=within == lengths[token] - 1,
            token=token,
        )

    def _cut(self, word: str) -> tuple[Sequence[int], int, bool, bool]:
        """Return the pieces of a word, its first one with a space before it, and does it begin, end with a letter?"""
        if not word or word[0].isspace() or word[-1].isspace():
            return (-1,), -1, False, False
        known, pieces = self._numbers.get, _PIECE.findall(word)
        numbers = [known(piece, -1) for piece in pieces]
        return numbers, known(" " + pieces[0], -1), word[0].isalnum(), word[-1].isalnum()


def _grown(flat: Ints, ends: Ints, n: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the keys of a trie over sequences of numbers below n, and which nodes end one.

    flat : the sequences end to end; ends : where each one ends. The root is node 0 and has no key.
    """
    at = np.append(0, ends[:-1])[: len(ends)]
    node = np.zeros(len(ends), np.int64)
    keys, whole, base = [flat[:0]], [np.zeros(1, bool)], 1
    while len(at):
        level, inverse = np.unique(node * n + flat[at], return_inverse=True)
        node, at = base + inverse.astype(np.int64), at + 1
        ended = np.zeros(len(level), bool)
        ended[inverse[at == ends]] = True
        keys.append(level)  # parents of one level come after those of the level before: the whole is sorted, too
        whole.append(ended)
        base += len(level)
        going = at < ends
        at, node, ends = at[going], node[going], ends[going]
    return np.concatenate(keys), np.concatenate(whole)

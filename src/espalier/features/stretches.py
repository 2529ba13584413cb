"""Stretches of a text that punctuation marks off: chunks and sentences.

A token *ends* a chunk if its last character is one of . , ; : or a quotation mark, a sentence if it is one of . ! ?
But a full stop ends nothing after a single letter or an abbreviation, be it a token of its own (`J .`) or not (`J.`).
Tokens of punctuation that follow an end belong to it. So `Smith , J . , " On trees . " 1998` has the chunks
`Smith ,`, `J . , "`, `On trees . "` and `1998`. Nothing goes beyond the sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus

__all__ = [
    "ABBREVIATIONS",
    "BRACKETS",
    "MARKS",
    "QUOTES",
    "Stretches",
    "WordSign",
    "borders",
    "signs_of",
    "signs_of_word",
]

Ints = NDArray[np.int64]

QUOTES = frozenset('"“”„‟«»') | {"``", "''"}
"""Tokens that are quotation marks; the apostrophe is not, because it has other uses."""

BRACKETS = ("([{", ")]}")
"""Tokens that open a bracket, and those that close one."""

MARKS = {"chunk": frozenset('.,;:"“”„‟«»'), "sentence": frozenset(".!?")}
"""The characters that end a stretch, by its kind."""

ABBREVIATIONS = frozenset((
    *("al", "approx", "apt", "ave", "bros", "cf", "co", "comp", "conf", "corp", "dept", "dr", "ed", "eds", "eg"),
    *("esp", "est", "etc", "fig", "figs", "gen", "govt", "hr", "hrs", "ie", "inc", "incl", "int", "intl", "jr"),
    *("lab", "labs", "lect", "ltd", "max", "min", "misc", "mr", "mrs", "ms", "mt", "no", "nos", "op", "pp", "prof"),
    *("pt", "ref", "rep", "repr", "res", "rev", "sec", "sect", "ser", "sq", "sr", "st", "stat", "suppl", "symp"),
    *("tech", "tel", "trans", "univ", "util", "utils", "vol", "vols", "vs", "jan", "feb", "mar", "apr", "jun"),
    *("jul", "aug", "sep", "sept", "oct", "nov", "dec"),
))  # fmt: skip
"""Lower-case words after which a full stop ends nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """U stretches of M tokens, in order; none goes beyond its sequence.

    of_token : int64[M], the stretch of each token; first, last : int64[U], its first and last token;
    sequence : int64[U]; start : int64[N], the first stretch of each sequence (of an empty one: the next one's).
    """

    of_token: Ints
    first: Ints
    last: Ints
    sequence: Ints
    start: Ints

    @classmethod
    def of(cls, corpus: Corpus, kind: str, signs: NDArray[np.uint8]) -> Stretches:
        """Find the stretches of a kind: "chunk" or "sentence"; signs : uint8[M], of the tokens."""
        ends, bare = _ends(corpus, kind, signs)
        starting = corpus.indptr[:-1][corpus.lengths > 0]
        begins = np.ones(corpus.n_tokens, bool)
        begins[1:] = ends[:-1] & ~(ends[1:] & bare[1:])
        begins[starting] = True
        first = np.flatnonzero(begins)
        sequence = np.searchsorted(corpus.indptr, first, side="right") - 1
        return cls(
            np.cumsum(begins) - 1,
            first,
            np.append(first[1:], corpus.n_tokens)[: len(first)] - 1,
            sequence,
            np.searchsorted(first, corpus.indptr[:-1]),
        )

    def at(self, shift: int) -> Ints:
        """Return the stretch that stands `shift` after each stretch, int64[U]; -1 beyond the sequence."""
        U = len(self.first)
        there = np.arange(U) + shift
        inside = (there >= 0) & (there < U)
        there[~inside] = 0
        return np.where(inside & (self.sequence[there] == self.sequence), there, -1)

    @property
    def lengths(self) -> Ints:
        """Tokens in each stretch, int64[U]."""
        return self.last - self.first + 1


def borders(signs: Sequence[int], kind: str) -> list[tuple[int, int]]:
    """Return the first token of each stretch of one sequence, and the one behind its last; signs : of its tokens.

    The same stretches as those of `Stretches.of`, for one text.
    """
    end, bare, stop, abbreviated = (
        int(s) for s in (WordSign[kind.upper()], WordSign.BARE, WordSign.STOP, WordSign.ABBREVIATED)
    )
    firsts, before, ended = [], 0, True
    for t, sign in enumerate(signs):
        ends = bool(sign & end) and not (sign & stop and before & abbreviated)
        if t == 0 or (ended and not (ends and sign & bare)):
            firsts.append(t)
        before, ended = sign, ends
    return list(zip(firsts, [*firsts[1:], len(signs)], strict=True))


class WordSign(IntFlag):
    """What a word is to the text around it."""

    QUOTE = 1  # a quotation mark
    BARE = 2  # punctuation alone
    STOP = 4  # a full stop
    ABBREVIATED = 8  # a full stop after it ends nothing
    CHUNK = 16  # ends a chunk, unless it is a full stop after an abbreviation
    SENTENCE = 32  # ends a sentence, with the same exception
    OPENING = 64  # opens a bracket
    CLOSING = 128  # closes one


def signs_of(words: Sequence[str]) -> NDArray[np.uint8]:
    """Return the signs of each of U words, uint8[U]."""
    return np.fromiter(map(signs_of_word, words), np.uint8, len(words))


def _ends(corpus: Corpus, kind: str, signs: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether each token ends a stretch, and whether it is punctuation alone, bool[M] both."""
    kinds = (WordSign[kind.upper()], WordSign.BARE, WordSign.STOP, WordSign.ABBREVIATED)
    end, bare, stop, abbreviated = ((signs & int(sign)).astype(bool) for sign in kinds)
    after = np.zeros(corpus.n_tokens, bool)
    after[1:] = abbreviated[:-1]
    after[corpus.indptr[:-1][corpus.lengths > 0]] = False  # a sequence knows nothing of the one before
    return end & ~(stop & after), bare


@lru_cache(maxsize=1 << 16)
def signs_of_word(word: str) -> int:
    """Return the signs of a word, as a number: it is asked for again and again, once a corpus."""
    if word.isalnum():  # most words, and no sign but this one
        return int(WordSign.ABBREVIATED) if _is_abbreviation(word) else 0
    dotted = len(word) > 1 and word[-1] == "." and _is_abbreviation(word[:-1])
    holds = (  # in the order of `WordSign`
        word in QUOTES,
        not any(map(str.isalnum, word)),
        word == ".",
        _is_abbreviation(word),
        not dotted and (word[-1:] in MARKS["chunk"] or word in QUOTES),
        not dotted and word[-1:] in MARKS["sentence"],
        len(word) == 1 and word in BRACKETS[0],
        len(word) == 1 and word in BRACKETS[1],
    )
    return sum(1 << bit for bit, true in enumerate(holds) if true)


def _is_abbreviation(word: str) -> bool:
    return (len(word) == 1 and word.isalpha()) or word.lower() in ABBREVIATIONS

"""Stretches of a text that punctuation marks off: chunks and sentences.

A token *ends* a chunk if its last character is one of . , ; : or a quotation mark, a sentence if it is one of . ! ?
But a full stop ends nothing after a single letter or an abbreviation, be it a token of its own (`J .`) or not (`J.`).
Tokens of punctuation that follow an end belong to it. So `Smith , J . , " On trees . " 1998` has the chunks
`Smith ,`, `J . , "`, `On trees . "` and `1998`. Nothing goes beyond the sequence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus

__all__ = ["ABBREVIATIONS", "MARKS", "QUOTES", "Stretches"]

Ints = NDArray[np.int64]

QUOTES = frozenset('"“”„‟«»') | {"``", "''"}
"""Tokens that are quotation marks; the apostrophe is not, because it has other uses."""

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
    def of(cls, corpus: Corpus, kind: str) -> Stretches:
        """Find the stretches of a kind: "chunk" or "sentence"."""
        ends, bare = _ends(corpus, kind)
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


def _ends(corpus: Corpus, kind: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether each token ends a stretch, and whether it is punctuation alone, bool[M] both."""
    types, marks = corpus.types, MARKS[kind]
    quotes = QUOTES if kind == "chunk" else frozenset()
    bare = np.array([not any(map(str.isalnum, word)) for word in types], bool)
    marked = np.array([word[-1:] in marks or word in quotes for word in types], bool)
    stop = np.array([word == "." for word in types], bool)
    abbreviated = np.array([_is_abbreviation(word) for word in types], bool)
    dotted = np.array([len(word) > 1 and word[-1] == "." and _is_abbreviation(word[:-1]) for word in types], bool)
    ids = corpus.token_ids
    ends = (marked & ~dotted)[ids]
    after = np.zeros(corpus.n_tokens, bool)
    after[1:] = abbreviated[ids[:-1]]
    after[corpus.indptr[:-1][corpus.lengths > 0]] = False  # a sequence knows nothing of the one before
    return ends & ~(stop[ids] & after), bare[ids]


def _is_abbreviation(word: str) -> bool:
    return (len(word) == 1 and word.isalpha()) or word.lower() in ABBREVIATIONS

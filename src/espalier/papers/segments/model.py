"""A semi-Markov model: sparse weights of tokens, of segment ends and of whole segments make segment potentials.

    score(a, e, l) = Σ_{a≤m≤e} Σ_{k of token m} w(k, l)                     the attributes of every token inside
                   + Σ_{k of token a} first(k, l) + Σ_{k of token e} last(k, l)
                   + lengths[bin(e - a + 1), l] + inside[l] [a token of a..e-1 ends in a mark]

and `trans` between consecutive segments, also of one label (Sarawagi & Cohen 2004). Segment features by name:

| name | of the segment of tokens a..e |
|---|---|
| `length` | the number of tokens, binned: 1, 2, 3, 4, 5-6, 7-9, 10-14, 15-20, more |
| `punctuation` | token e ends in a mark, or e + 1 does, or a - 1 does (or lies outside); a token of a..e-1 does |
| `first:T`, `last:T` | the token template T at a or at e: `first:lower`, `last:suffix3`, `first:lower@-1` |

A mark is any character but letters and digits. CCM12 (table 4) has `punctuation` in 'semi-CRF', and `length` besides
in 'semi-CRF+'; its punctuation feature is 'token e ends in a mark' alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError, nearest
from espalier.features.declare import RegexField, parse_template
from espalier.features.fields import Template
from espalier.features.matrix import FeatureMatrix
from espalier.kernels import aligned, padded
from espalier.models.linear import Pairs, RowPlan
from espalier.papers.segments.kernels import Segments, reaches, segment_scores
from espalier.papers.segments.potentials import SegmentBatch
from espalier.parallel import balanced, choose_threads, run_chunks

__all__ = [
    "LENGTH_BINS",
    "MARKED_INSIDE",
    "SegmentFeatures",
    "SegmentInput",
    "SegmentalModel",
    "length_bins",
    "length_names",
]

LENGTH_BINS = (1, 2, 3, 4, 5, 7, 10, 15, 21)
"""First length of each bin of `length`."""

MARK = RegexField("mark", r"(?s:.*[\W_])")
MARKED_INSIDE = f"inside:{MARK.text}"
"""The name of the weights of marks before the last token."""

TOKENS_A_CHUNK = 4096
VALUES_A_BATCH = 1 << 22
"""Segment scores that prediction holds at a time, for each thread."""

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SegmentFeatures:
    """Segment features, read: templates at the first and at the last token, and what depends on both."""

    first: tuple[Template, ...] = ()
    last: tuple[Template, ...] = ()
    length: bool = False
    punctuation: bool = False

    @classmethod
    def of(cls, names: Sequence[str]) -> SegmentFeatures:
        """Read the names (see the module)."""
        if (
            isinstance(names, str)
            or not isinstance(names, Sequence)
            or not all(isinstance(name, str) for name in names)
        ):
            raise InputError(
                f"segment_features is {names!r}", hint="expected a list of names such as ['length', 'first:lower']"
            )
        if len(set(names)) < len(names):
            raise InputError(f"segment_features {list(names)!r} lists a name twice")
        ends: dict[str, list[Template]] = {"first": [], "last": []}
        for name in names:
            end, colon, template = name.partition(":")
            if name == "punctuation":
                ends["first"] += [MARK @ -1]
                ends["last"] += [MARK @ 0, MARK @ 1]
            elif colon and end in ends:
                ends[end] += parse_template(template)
            elif name != "length":
                known = ["length", "punctuation", "first:lower", "last:lower"]
                near = nearest(name, known, "known: length, punctuation, first:TEMPLATE, last:TEMPLATE")
                raise InputError(f"unknown segment feature {name!r}", hint=near)
        return cls(tuple(ends["first"]), tuple(ends["last"]), "length" in names, "punctuation" in names)

    def marks(self, corpus: Corpus) -> NDArray[np.int64]:
        """Count the tokens before each that end in a mark, int64[M + 1]; zeros if nobody asks."""
        counts = np.zeros(corpus.n_tokens + 1, np.int64)
        if self.punctuation:
            matches = re.compile(MARK.pattern).fullmatch
            marked = np.array([matches(word) is not None for word in corpus.types], bool)
            np.cumsum(marked[corpus.token_ids], out=counts[1:])
        return counts


def length_bins(longest: int, *, declared: bool) -> NDArray[np.int64]:
    """Return the bin of every length 0..longest, int64[longest + 1]; one bin for all if lengths have no weights."""
    bins = np.searchsorted(LENGTH_BINS, np.arange(longest + 1), side="right") - 1
    return np.asarray(np.maximum(bins, 0) if declared else np.zeros_like(bins), np.int64)


def length_names() -> list[str]:
    """Return the name of each bin of `length`: `length=4`, `length=5-6`, ... `length=21+`."""
    ranges = [f"{low}" if high == low + 1 else f"{low}-{high - 1}" for low, high in pairwise(LENGTH_BINS)]
    return [f"length={text}" for text in (*ranges, f"{LENGTH_BINS[-1]}+")]


@dataclass(frozen=True, slots=True, eq=False)
class SegmentInput:
    """A corpus as a segmental model reads it.

    indptr : int64[N + 1]; matrices : the attributes of every token, as part of a segment, as its first and as its last
    token; marks : int64[M + 1], see `SegmentFeatures.marks`.
    """

    indptr: NDArray[np.int64]
    matrices: tuple[FeatureMatrix, FeatureMatrix, FeatureMatrix]
    marks: NDArray[np.int64]

    @property
    def n_tokens(self) -> int:
        """M."""
        return len(self.marks) - 1


@dataclass(frozen=True, slots=True, eq=False)
class SegmentalModel:
    """Weights of segments.

    pairs, weights : three of each, as the matrices of `SegmentInput`; lengths : float64[B, L]; inside : float64[L];
    trans : float64[L, L]; limit : int64[L], the tokens that a segment of each label may have at most.
    """

    pairs: tuple[Pairs, Pairs, Pairs]
    weights: tuple[Float, Float, Float]
    lengths: Float
    inside: Float
    trans: Float
    limit: NDArray[np.int64]

    @property
    def n_labels(self) -> int:
        """L."""
        return len(self.trans)

    @property
    def table(self) -> Float:
        """The weights of lengths and of marks inside, joined by kind: float64[2 B, L]."""
        both = np.stack([self.lengths, self.lengths + self.inside], axis=1)
        return np.ascontiguousarray(both.reshape(-1, self.n_labels))

    def rows(self, data: SegmentInput, threads: int | None = None) -> list[Float]:
        """Return the score rows of the tokens, first tokens and last tokens, float64[M, padded(L)] each."""
        threads = choose_threads(data.n_tokens, threads)
        chunks = balanced(np.arange(data.n_tokens + 1), max(data.n_tokens // TOKENS_A_CHUNK, 1))
        return [
            _scored(matrix, pairs, w, chunks, threads)
            for matrix, pairs, w in zip(data.matrices, self.pairs, self.weights, strict=True)
        ]

    def segments(self, data: SegmentInput, rows: Sequence[Float], reach: NDArray[np.int32]) -> Segments:
        """Return the scores of segments as kernels take them, from `rows`; reach : int32[M, padded(L)]."""
        longest = int(min(self.limit.max(), np.diff(data.indptr).max(initial=1)))  # a limit may be beyond any sequence
        bins = 2 * length_bins(longest, declared=len(self.lengths) > 1)
        L, given = self.n_labels, self.table
        table, trans = np.zeros((len(given), padded(L))), np.zeros((L, padded(L)))
        table[:, :L], trans[:, :L] = given, self.trans
        tokens, first, last = rows
        return Segments(data.indptr, tokens, first, last, table, 0, bins, data.marks, trans, reach)

    def potentials(self, data: SegmentInput, threads: int | None = None) -> SegmentBatch:
        """Return the potentials of a corpus; their scores are float64[M, D, L], and `each_batch` needs less memory."""
        return self._batch(self._free(data, threads), 0, len(data.indptr) - 1)

    def each_batch(
        self, data: SegmentInput, call: Callable[[int, SegmentBatch], object], threads: int | None = None
    ) -> None:
        """Call `call(first sequence, potentials)` for ranges of sequences whose potentials fit into memory."""
        segments, N = self._free(data, threads), len(data.indptr) - 1
        values = data.n_tokens * self._longest(data.indptr, 0, N) * self.n_labels
        ranges = balanced(data.indptr, max(-(-values // VALUES_A_BATCH), 1))

        def chunk(c: int) -> None:
            lo, hi = ranges[c]
            call(lo, self._batch(segments, lo, hi))

        run_chunks(chunk, len(ranges), choose_threads(data.n_tokens, threads))

    def _free(self, data: SegmentInput, threads: int | None) -> Segments:
        """Return the scores of segments about which nothing is known but how long they may be."""
        unknown, reach = np.full(data.n_tokens, -1), np.zeros((data.n_tokens, padded(self.n_labels)), np.int32)
        reaches(data.indptr, unknown.astype(np.int16), unknown.astype(np.int8), self.limit, reach)
        return self.segments(data, self.rows(data, threads), reach)

    def _longest(self, indptr: NDArray[np.int64], lo: int, hi: int) -> int:
        """D of some sequences: no more than their tokens."""
        return int(min(self.limit.max(), np.diff(indptr[lo : hi + 1]).max(initial=1)))

    def _batch(self, segments: Segments, lo: int, hi: int) -> SegmentBatch:
        """Return the potentials of the sequences lo..hi-1."""
        indptr, L = segments.indptr[lo : hi + 1] - segments.indptr[lo], self.n_labels
        score = np.empty((int(indptr[-1]), self._longest(segments.indptr, lo, hi), L))
        segment_scores(segments, lo, hi, score)
        return SegmentBatch(indptr, score, self.trans, np.zeros(L), np.zeros(L))


def _scored(matrix: FeatureMatrix, pairs: Pairs, w: Float, chunks: list[tuple[int, int]], threads: int) -> Float:
    """Return the score rows of one matrix."""
    plan = RowPlan.of(matrix, pairs)
    plan.prepare(w, threads)
    rows = aligned(matrix.n_tokens, padded(pairs.n_labels))

    def chunk(c: int) -> None:
        lo, hi = chunks[c]
        plan.score(plan.tokens(np.arange(lo, hi)), 0, hi - lo, w, rows[lo:hi])

    run_chunks(chunk, len(chunks), threads)
    return rows

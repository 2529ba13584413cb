"""Potentials of segments: the log scores of segmentations, whoever made them.

    s(y) = start[l_1] + Σ_k score[e_k, d_k, l_k] + Σ_{k≥2} trans[l_{k-1}, l_k] + end[l_K]

for segments k that end at token e_k, have d_k + 1 tokens and label l_k. -inf forbids; nan and +inf are errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.errors import InputError
from espalier.inference import LaidOut
from espalier.papers.segments.inference import laid_out
from espalier.potentials import checked_scores

__all__ = ["SegmentBatch", "SegmentPotentials"]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SegmentPotentials:
    """The scores of one sequence's segmentations.

    score : float64[T, D, L]; score[t, d, l] is the segment of d + 1 tokens that ends at token t with label l
    (entries that would start before the first token are ignored); trans : float64[L, L] between consecutive
    segments (also of the same label); start, end : float64[L].

    Examples
    --------
    >>> import espalier as es
    >>> from espalier.inference import viterbi
    >>> potentials = es.SegmentPotentials([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.5], [3.0, 0.0]]])
    >>> viterbi(potentials).labels.tolist()  # one segment of two tokens scores 3
    [0, 0]
    """

    score: Float
    trans: Float
    start: Float
    end: Float

    def __init__(
        self,
        score: ArrayLike,
        trans: ArrayLike | None = None,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
    ) -> None:
        """Check shapes and values."""
        score = np.asarray(score, dtype=np.float64)
        if score.ndim != 3 or score.shape[1] == 0 or score.shape[2] == 0:
            raise InputError(f"score has shape {score.shape}, expected (tokens, longest segment, labels)")
        L = score.shape[2]
        object.__setattr__(self, "score", checked_scores(score, score.shape, "score"))
        object.__setattr__(self, "trans", checked_scores(trans, (L, L), "trans"))
        object.__setattr__(self, "start", checked_scores(start, (L,), "start"))
        object.__setattr__(self, "end", checked_scores(end, (L,), "end"))

    @property
    def n_tokens(self) -> int:
        """T."""
        return int(self.score.shape[0])

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.score.shape[2])

    @property
    def longest(self) -> int:
        """D, the longest possible segment in tokens."""
        return int(self.score.shape[1])

    @staticmethod
    def laid_out(several: Sequence[SegmentPotentials]) -> LaidOut:
        """Return segmentations as `inference` asks for them."""
        return laid_out(SegmentBatch.of(several))


@dataclass(frozen=True, slots=True, eq=False)
class SegmentBatch:
    """The scores of the segmentations of N sequences, M tokens in all: what the segment kernels take.

    indptr : int64[N + 1]; score : float64[M, D, L]; trans : float64[L, L]; start, end : float64[L].
    Built by code that checked its input, so nothing is checked again.
    """

    indptr: NDArray[np.int64]
    score: Float
    trans: Float
    start: Float
    end: Float

    @classmethod
    def of(cls, sequences: Sequence[SegmentPotentials]) -> SegmentBatch:
        """Lay sequences end to end; they share labels, trans, start and end; where D differs, -inf fills up."""
        if not sequences:
            raise InputError("a batch needs at least one sequence")
        first = sequences[0]
        for p in sequences:
            same = (np.array_equal(getattr(p, name), getattr(first, name)) for name in ("trans", "start", "end"))
            if p.n_labels != first.n_labels or not all(same):
                raise InputError("sequences of one batch share their labels, trans, start and end scores")
        indptr = np.concatenate([[0], np.cumsum([p.n_tokens for p in sequences])]).astype(np.int64)
        score = np.full((indptr[-1], max(p.longest for p in sequences), first.n_labels), -np.inf)
        for p, a, b in zip(sequences, indptr[:-1], indptr[1:], strict=True):
            score[a:b, : p.longest] = p.score
        return cls(indptr, score, first.trans, first.start, first.end)

    def __len__(self) -> int:
        """Return N."""
        return len(self.indptr) - 1

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.score.shape[2])

    @property
    def longest(self) -> int:
        """D, the longest possible segment in tokens."""
        return int(self.score.shape[1])

    def __getitem__(self, i: int) -> SegmentPotentials:
        """Return the potentials of one sequence."""
        i = range(len(self))[i]  # also from the end; IndexError outside
        a, b = int(self.indptr[i]), int(self.indptr[i + 1])
        return SegmentPotentials(self.score[a:b], self.trans, self.start, self.end)

    @staticmethod
    def laid_out(several: Sequence[SegmentBatch]) -> LaidOut:
        """Return segmentations as `inference` asks for them."""
        if len(several) > 1:
            raise InputError("a list of batches", hint="give one batch, or a list of SegmentPotentials")
        return laid_out(several[0])

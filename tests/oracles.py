"""The oracle of every kernel, lowering and decoder: write down all structures, then look.

`labellings(potentials)` and `segmentations(potentials)` return an `Enumeration`: every label sequence (a tuple of
label numbers) or segmentation (a tuple of `Piece`) with its score, computed term by term in plain Python from the
definition. An enumeration answers in any semiring: `total` for a given sum, and by name the best, the k best, log_z,
probabilities, entropy and expectations. `reweighted` adds what rules have to say.

    labellings(p).best(backwards)                      the winner and its score, ties as Viterbi breaks them
    labellings(p).reweighted(lambda y: -2.0 * violations(y)).log_z
    segmentations(p).expectation(segment_counts(p))    marginals

Nothing here uses the library except the containers of scores. Costs L^T: keep T and L tiny.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from espalier.papers.segments.potentials import SegmentPotentials
from espalier.potentials import Potentials

Y = TypeVar("Y")


class Piece(NamedTuple):
    """One segment: tokens start..end-1 with one label."""

    start: int
    end: int
    label: int


def log_sum(scores: Iterable[float]) -> float:
    """Return log Σ exp(score); -inf for no or only forbidden scores."""
    scores = list(scores)
    top = max(scores, default=-math.inf)
    return top if top == -math.inf else top + math.log(math.fsum(math.exp(s - top) for s in scores))


@dataclass(frozen=True)
class Enumeration(Generic[Y]):
    """Every structure y with its score, -inf where it is forbidden."""

    items: tuple[tuple[Y, float], ...]

    def total(self, plus: Callable[[Iterable[float]], float]) -> float:
        """Sum the scores of all structures by `plus`: max, `log_sum`, or any other semiring's."""
        return plus(score for _, score in self.items)

    def reweighted(self, gain: Callable[[Y], float]) -> Enumeration[Y]:
        """Add gain(y), for instance minus the penalties of violated rules, to every score."""
        return Enumeration(tuple((y, score + gain(y)) for y, score in self.items))

    def ranked(self, order: Callable[[Y], Any]) -> list[tuple[Y, float]]:
        """List the allowed structures by falling score; ties by rising `order`."""
        allowed = [(y, score) for y, score in self.items if score > -math.inf]
        return sorted(allowed, key=lambda item: (-item[1], order(item[0])))

    def best(self, order: Callable[[Y], Any]) -> tuple[Y, float] | None:
        """Return the best structure and its score; None if all are forbidden."""
        return next(iter(self.ranked(order)), None)

    @property
    def log_z(self) -> float:
        """log Σ_y exp s(y)."""
        return self.total(log_sum)

    @property
    def probabilities(self) -> dict[Y, float]:
        """p(y) ∝ exp s(y) of every allowed structure: what samples must follow; empty if all are forbidden."""
        log_z = self.log_z
        return {y: math.exp(score - log_z) for y, score in self.items if score > -math.inf}

    @property
    def entropy(self) -> float:
        """-Σ p log p in natural units; 0 if all are forbidden."""
        return -math.fsum(p * math.log(p) for p in self.probabilities.values() if p > 0)

    def expectation(self, count: Callable[[Y], np.ndarray]) -> np.ndarray:
        """Σ_y p(y) count(y): marginals and expected counts; zeros if all are forbidden."""
        result = np.zeros(np.shape(count(self.items[0][0])))
        for y, p in self.probabilities.items():
            result += p * count(y)
        return result


# Chains: y is a tuple of label numbers.


def labellings(potentials: Potentials) -> Enumeration[tuple[int, ...]]:
    """Enumerate the label sequences of a chain, in lexicographic order."""
    T, L = potentials.unary.shape
    return Enumeration(tuple((y, chain_score(potentials, y)) for y in itertools.product(range(L), repeat=T)))


def chain_score(potentials: Potentials, y: Sequence[int]) -> float:
    """Return s(y) from the definition."""
    if not y:
        return 0.0
    terms = [potentials.start[y[0]], potentials.end[y[-1]]]
    terms += [potentials.unary[t, label] for t, label in enumerate(y)]
    for t in range(1, len(y)):
        step = potentials.trans[t - 1] if potentials.trans.ndim == 3 else potentials.trans
        terms.append(step[y[t - 1], y[t]])
    return math.fsum(terms)


def backwards(y: Sequence[int]) -> tuple[int, ...]:
    """Order ties of chains: lexicographic from the last token."""
    return tuple(reversed(y))


def label_counts(potentials: Potentials) -> Callable[[tuple[int, ...]], np.ndarray]:
    """Return the count whose expectation are the marginals [T, L]."""
    return lambda y: np.eye(potentials.n_labels)[np.array(y, dtype=int)]


def pair_counts(potentials: Potentials) -> Callable[[tuple[int, ...]], np.ndarray]:
    """Return the count whose expectation are the pair marginals [T, L, L], 0 at the first token."""

    def count(y: tuple[int, ...]) -> np.ndarray:
        pairs = np.zeros((len(y), potentials.n_labels, potentials.n_labels))
        for t in range(1, len(y)):
            pairs[t, y[t - 1], y[t]] = 1.0
        return pairs

    return count


# Segmentations: y is a tuple of pieces.


def segmentations(potentials: SegmentPotentials) -> Enumeration[tuple[Piece, ...]]:
    """Enumerate the segmentations into pieces of at most D tokens."""
    T, D, L = potentials.score.shape
    return Enumeration(tuple((y, segmentation_score(potentials, y)) for y in _cut(0, T, D, L)))


def _cut(start: int, T: int, D: int, L: int) -> Iterator[tuple[Piece, ...]]:
    if start == T:
        yield ()
    for end in range(start + 1, min(start + D, T) + 1):
        for label in range(L):
            for rest in _cut(end, T, D, L):
                yield (Piece(start, end, label), *rest)


def segmentation_score(potentials: SegmentPotentials, y: Sequence[Piece]) -> float:
    """Return s(y) from the definition."""
    if not y:
        return 0.0
    terms = [potentials.start[y[0].label], potentials.end[y[-1].label]]
    terms += [potentials.score[piece.end - 1, piece.end - piece.start - 1, piece.label] for piece in y]
    terms += [potentials.trans[a.label, b.label] for a, b in itertools.pairwise(y)]
    return math.fsum(terms)


def pieces_backwards(y: Sequence[Piece]) -> tuple[tuple[int, int], ...]:
    """Order ties of segmentations: from the last piece, by label, then by length."""
    return tuple((piece.label, piece.end - piece.start) for piece in reversed(y))


def pieces(labels: Sequence[int], starts: Sequence[bool]) -> tuple[Piece, ...]:
    """Read a segmentation off the two arrays that the kernels write."""
    cuts = [t for t, starting in enumerate(starts) if starting] + [len(starts)]
    return tuple(Piece(a, b, int(labels[a])) for a, b in itertools.pairwise(cuts))


def segment_counts(potentials: SegmentPotentials) -> Callable[[tuple[Piece, ...]], np.ndarray]:
    """Return the count whose expectation are the segment marginals [T, D, L]."""

    def count(y: tuple[Piece, ...]) -> np.ndarray:
        counts = np.zeros(potentials.score.shape)
        for piece in y:
            counts[piece.end - 1, piece.end - piece.start - 1, piece.label] = 1.0
        return counts

    return count


def cover_counts(potentials: SegmentPotentials) -> Callable[[tuple[Piece, ...]], np.ndarray]:
    """Return the count whose expectation are the token marginals [T, L]."""

    def count(y: tuple[Piece, ...]) -> np.ndarray:
        counts = np.zeros((potentials.n_tokens, potentials.n_labels))
        for piece in y:
            counts[piece.start : piece.end, piece.label] = 1.0
        return counts

    return count


def border_counts(potentials: SegmentPotentials) -> Callable[[tuple[Piece, ...]], np.ndarray]:
    """Return the count whose expectation are the expected transitions [L, L] between pieces."""

    def count(y: tuple[Piece, ...]) -> np.ndarray:
        counts = np.zeros((potentials.n_labels, potentials.n_labels))
        for a, b in itertools.pairwise(y):
            counts[a.label, b.label] += 1.0
        return counts

    return count

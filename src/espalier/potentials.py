"""Potentials: the log scores of label sequences, whoever made them.

    s(y) = start[y_1] + Σ_t unary[t, y_t] + Σ_{t≥2} trans[y_{t-1}, y_t] + end[y_T]

-inf forbids; nan and +inf are errors. Values are frozen: every operation returns new potentials.

Scores may have a temperature: P(y) ∝ exp(s(y) / temperature). Decoders compare scores, and with them what
rules cost, as they are; whoever wants probabilities asks for those of `tempered` scores, which are divided by it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.errors import InputError

__all__ = [
    "ChainBatch",
    "OtherBatch",
    "OtherPotentials",
    "Potentials",
    "checked_scores",
    "exchanged",
    "sum_of_potentials",
    "with_ends",
]

Float = NDArray[np.float64]

MANY_CLASSES = 64
"""Classes of transitions in a sum above which those that occur nowhere are left out."""


def checked_scores(value: ArrayLike | None, shape: tuple[int, ...], name: str) -> Float:
    """Return a checked float64 copy-if-needed; None means zeros."""
    if value is None:
        return np.zeros(shape)
    array = np.ascontiguousarray(value, dtype=np.float64)
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}, expected {shape}")
    if np.isnan(array).any() or np.isposinf(array).any():
        raise InputError(f"{name} holds nan or +inf", hint="scores are finite, or -inf to forbid")
    return array


def _labels(y: Sequence[int] | NDArray[Any], T: int, L: int, least: int) -> NDArray[np.int64]:
    """Return checked labels, int64[T], each in least..L-1 (-1 is unknown)."""
    labels = np.asarray(y, dtype=np.int64)
    if labels.shape != (T,):
        raise InputError(f"{T} tokens, but labels of shape {labels.shape}")
    wrong = np.flatnonzero((labels < least) | (labels >= L))
    if len(wrong):
        raise InputError(f"token {wrong[0]} has label {labels[wrong[0]]}, expected {least}..{L - 1}")
    return labels


@dataclass(frozen=True, slots=True, eq=False)
class Potentials:
    """The scores of one sequence of T tokens over L labels.

    unary : float64[T, L]; trans : float64[L, L], or float64[T - 1, L, L] where transitions depend on the
    position (trans[t] leads from token t to token t + 1); start, end : float64[L], zero if not given.
    temperature : P(y) ∝ exp(s(y) / temperature). source : whose scores these are, for certificates; "" says nothing.

    Examples
    --------
    >>> import espalier as es
    >>> potentials = es.Potentials([[2.0, 0.0], [0.0, 1.0]], trans=[[0.0, -1.5], [0.0, 0.0]])
    >>> es.decode(potentials, labels=["a", "b"]).names()
    ['a', 'a']
    """

    unary: Float
    trans: Float
    start: Float
    end: Float
    temperature: float
    source: str

    def __init__(
        self,
        unary: ArrayLike,
        trans: ArrayLike | None = None,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        temperature: float = 1.0,
        source: str = "",
    ) -> None:
        """Check shapes and values."""
        unary = np.asarray(unary, dtype=np.float64)
        if unary.ndim != 2 or unary.shape[1] == 0:
            raise InputError(f"unary has shape {unary.shape}, expected (tokens, labels) with at least one label")
        T, L = unary.shape
        trans_shape = (max(T - 1, 0), L, L) if np.ndim(trans) == 3 else (L, L)  # type: ignore[arg-type]
        object.__setattr__(self, "unary", checked_scores(unary, (T, L), "unary"))
        object.__setattr__(self, "trans", checked_scores(trans, trans_shape, "trans"))
        object.__setattr__(self, "start", checked_scores(start, (L,), "start"))
        object.__setattr__(self, "end", checked_scores(end, (L,), "end"))
        if not 0.0 < temperature < math.inf:
            raise InputError(f"temperature is {temperature!r}", hint="expected a finite number above 0")
        object.__setattr__(self, "temperature", float(temperature))
        object.__setattr__(self, "source", source)

    @property
    def n_tokens(self) -> int:
        """T."""
        return int(self.unary.shape[0])

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.unary.shape[1])

    def score(self, y: Sequence[int] | NDArray[Any]) -> float:
        """Return s(y) of one labelling."""
        T = self.n_tokens
        y = _labels(y, T, self.n_labels, least=0)
        if T == 0:
            return 0.0
        steps = self.trans[np.arange(T - 1), y[:-1], y[1:]] if self.trans.ndim == 3 else self.trans[y[:-1], y[1:]]
        return float(self.start[y[0]] + self.unary[np.arange(T), y].sum() + steps.sum() + self.end[y[-1]])

    def tempered(self) -> Potentials:
        """Return the scores divided by the temperature, so that P(y) ∝ exp s(y)."""
        heat = self.temperature
        if heat == 1.0:
            return self
        return Potentials(self.unary / heat, self.trans / heat, self.start / heat, self.end / heat, 1.0, self.source)

    def clamp(self, positions: Mapping[int, int | Sequence[int]]) -> Potentials:
        """Forbid every label but the given one (or ones) at each given token."""
        unary = self.unary.copy()
        for t, chosen in positions.items():
            if not 0 <= t < self.n_tokens:
                raise InputError(f"token {t} cannot be clamped: the sequence has {self.n_tokens} tokens")
            kept = np.atleast_1d(np.asarray(chosen, dtype=np.int64))
            if ((kept < 0) | (kept >= self.n_labels)).any():
                raise InputError(f"token {t} cannot be clamped to {chosen}: labels are 0..{self.n_labels - 1}")
            keep = np.zeros(self.n_labels, bool)
            keep[kept] = True
            unary[t, ~keep] = -np.inf
        return replace_arrays(self, unary=unary)

    def forbid(self, start: NDArray[np.bool_] | None = None, trans: NDArray[np.bool_] | None = None) -> Potentials:
        """Keep only the allowed first labels, bool[L], and transitions, bool[L, L] (see `Labels.allowed`)."""
        new_start = self.start if start is None else np.where(start, self.start, -np.inf)
        new_trans = self.trans if trans is None else np.where(trans, self.trans, -np.inf)
        return replace_arrays(self, start=new_start, trans=new_trans)

    def with_hamming_cost(self, gold: Sequence[int] | NDArray[Any], cost: float = 1.0) -> Potentials:
        """Add `cost` to every label that differs from gold: loss-augmented decoding is decoding these.

        Where gold is unknown (-1) no label costs anything.
        """
        y = _labels(gold, self.n_tokens, self.n_labels, least=-1)
        unary = self.unary + cost
        known = y >= 0
        unary[np.flatnonzero(known), y[known]] -= cost
        unary[~known] -= cost
        return replace_arrays(self, unary=unary)


def replace_arrays(potentials: Potentials, **arrays: Float) -> Potentials:
    """Return potentials with some arrays exchanged."""
    return replace(potentials, **arrays)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False)
class ChainBatch:
    """The scores of N sequences of M tokens in all: what the chain kernels take.

    indptr : int64[N + 1]; unary : float64[M, L]; trans : float64[C, L, L]; start, end : float64[L].
    trans_class : int32[M]; the transition into token m is trans[trans_class[m]] (unused at first tokens);
    most models have one class, C = 1. Built by code that checked its input, so nothing is checked again.
    temperature : float64[N], of each sequence (None: 1). sources : whose scores each sequence has, one text for each,
    or none at all.
    """

    indptr: NDArray[np.int64]
    unary: Float
    trans: Float
    trans_class: NDArray[np.int32]
    start: Float
    end: Float
    temperature: Float | None = None
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, sequences: Sequence[Potentials]) -> ChainBatch:
        """Lay sequences end to end; they share start and end, and may each have their own transitions."""
        if not sequences:
            raise InputError("a batch needs at least one sequence")
        first = sequences[0]
        L = first.n_labels
        matrices: list[Float] = []
        classes: list[NDArray[np.int32]] = []
        offset, shared = 0, {}
        for p in sequences:
            if p.n_labels != L or not (np.array_equal(p.start, first.start) and np.array_equal(p.end, first.end)):
                raise InputError("sequences of one batch share their labels, start and end scores")
            if p.trans.ndim == 2:
                if id(p.trans) not in shared:
                    shared[id(p.trans)] = offset
                    matrices.append(p.trans[None])
                    offset += 1
                classes.append(np.full(p.n_tokens, shared[id(p.trans)], np.int32))
            else:
                # Token t >= 1 is entered through trans[t - 1]; the first token's class is never used.
                classes.append(offset + np.maximum(np.arange(p.n_tokens) - 1, 0).astype(np.int32))
                matrices.append(p.trans)
                offset += len(p.trans)
        trans = np.concatenate(matrices) if offset else np.zeros((1, L, L))
        indptr = np.concatenate([[0], np.cumsum([p.n_tokens for p in sequences])]).astype(np.int64)
        unary = np.concatenate([p.unary for p in sequences])
        heat = np.array([p.temperature for p in sequences]) if any(p.temperature != 1.0 for p in sequences) else None
        sources = tuple(p.source for p in sequences) if any(p.source for p in sequences) else ()
        classes_of = np.concatenate(classes).astype(np.int32)
        return cls(indptr, unary, trans, classes_of, first.start, first.end, heat, sources)

    def __len__(self) -> int:
        """Return N."""
        return len(self.indptr) - 1

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.unary.shape[1])

    def __getitem__(self, i: int) -> Potentials:
        """Return the potentials of one sequence."""
        i = range(len(self))[i]  # also from the end; IndexError outside
        a, b = int(self.indptr[i]), int(self.indptr[i + 1])
        classes = self.trans_class[a + 1 : b]
        one = len(self.trans) == 1 or (len(classes) > 0 and bool((classes == classes[0]).all()))
        trans = self.trans[classes[0] if one and len(classes) else 0] if one else self.trans[classes]
        heat = 1.0 if self.temperature is None else float(self.temperature[i])
        source = self.sources[i] if self.sources else ""
        return Potentials(self.unary[a:b], trans, self.start, self.end, heat, source)

    def score(self, y: NDArray[np.integer[Any]]) -> float:
        """Return s(y) of the one sequence of a batch; the terms are added one after the other, as kernels do it."""
        if not len(y):
            return 0.0
        terms = np.zeros(2 * len(y))
        terms[0] = self.start[y[0]] + self.end[y[-1]]
        scored = self.unary[np.arange(len(y)), y]
        terms[1], terms[2::2] = scored[0], scored[1:]
        terms[3::2] = self.trans[self.trans_class[1:], y[:-1], y[1:]]
        return float(np.cumsum(terms)[-1])

    def with_unary(self, unary: Float) -> ChainBatch:
        """Return the same batch with other unary scores."""
        return replace(self, unary=unary)

    def tokens_of(self, sequences: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the tokens of some sequences, end to end."""
        lengths = np.diff(self.indptr)[sequences]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.asarray(np.repeat(self.indptr[sequences], lengths) + within, np.int64)

    def chosen(self, sequences: Sequence[int] | NDArray[np.int64]) -> ChainBatch:
        """Return some of the sequences, one as often as it is chosen, in the order given."""
        chosen = np.asarray(sequences, np.int64)
        token = self.tokens_of(chosen)
        indptr = np.concatenate([[0], np.cumsum(np.diff(self.indptr)[chosen])]).astype(np.int64)
        heat = None if self.temperature is None else self.temperature[chosen]
        sources = tuple(self.sources[i] for i in chosen.tolist()) if self.sources else ()
        return replace(
            self, indptr=indptr, unary=self.unary[token], trans_class=self.trans_class[token],
            temperature=heat, sources=sources,
        )  # fmt: skip

    def by_class(self) -> list[tuple[NDArray[np.int64], ChainBatch]]:
        """Return the sequences of each transition class with their numbers, as batches of one class.

        None at all where there is one class only, or where one sequence has several.
        """
        lengths, present = np.diff(self.indptr), np.flatnonzero(np.diff(self.indptr) > 0)
        if len(self.trans) <= 1 or not len(present):
            return []
        kind = np.zeros(len(lengths), np.int64)
        kind[present] = self.trans_class[self.indptr[1:][present] - 1]  # a first token's class is never used
        differs = self.trans_class != np.repeat(kind, lengths)
        differs[self.indptr[:-1][present]] = False
        if differs.any():
            return []
        groups = [(c, np.flatnonzero(kind == c)) for c in np.unique(kind).tolist()]
        return [(own, _of_class(self.chosen(own), c)) for c, own in groups]

    def tempered(self) -> ChainBatch:
        """Return the scores divided by the temperature of their sequence, so that P(y) ∝ exp s(y)."""
        if self.temperature is None or not len(self):
            return replace(self, temperature=None) if self.temperature is not None else self
        heat = self.temperature[0]
        if len(self) == 1 or (self.temperature == heat).all():
            unary, trans, start, end = (scores / heat for scores in (self.unary, self.trans, self.start, self.end))
            return ChainBatch(self.indptr, unary, trans, self.trans_class, start, end, None, self.sources)
        heats, kind = np.unique(self.temperature, return_inverse=True)
        # Sequences of a batch share start and end: here each has its own, so they move into its tokens.
        lengths = np.diff(self.indptr)
        kinds, (moved,) = np.repeat(kind, lengths), with_ends([self])
        unary = moved.unary / np.repeat(self.temperature, lengths)[:, None]
        trans = (self.trans / heats[:, None, None, None]).reshape(-1, *self.trans.shape[1:])
        classes = (self.trans_class + len(self.trans) * kinds).astype(np.int32)
        return replace(moved, unary=unary, trans=trans, trans_class=classes, temperature=None)


class OtherPotentials(Protocol):
    """Scores that are no chain's; they say how they are laid out."""

    @staticmethod
    def laid_out(several: Sequence[Any]) -> Any:
        """Return potentials of this class as their kernels take them (`inference.LaidOut`); a batch stands alone."""


class OtherBatch(OtherPotentials, Protocol):
    """The scores of N sequences that are no chains."""

    def __len__(self) -> int:
        """Return N."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Where sequences begin and end, int64[N + 1]."""


def _of_class(batch: ChainBatch, c: int) -> ChainBatch:
    """Return a batch all of whose transitions are of class c, with these alone."""
    return replace(batch, trans=batch.trans[c : c + 1], trans_class=np.zeros(len(batch.unary), np.int32))


def exchanged(batch: ChainBatch, sequences: NDArray[np.int64], others: ChainBatch) -> ChainBatch:
    """Return a batch with the scores of some sequences taken from another batch, which holds just these, in order.

    Both have temperatures and sources. Start and end scores move into the tokens (`with_ends`).
    """
    assert batch.temperature is not None
    assert others.temperature is not None
    token = batch.tokens_of(sequences)
    (whole, own), classes = with_ends([batch, others]), batch.trans_class.copy()
    whole.unary[token] = own.unary  # in a copy of our own
    classes[token] = others.trans_class + np.int32(len(batch.trans))
    heat, sources = batch.temperature.copy(), list(batch.sources)
    heat[sequences] = others.temperature
    for i, source in zip(sequences.tolist(), others.sources, strict=True):
        sources[i] = source
    trans = np.concatenate([batch.trans, others.trans])
    return replace(whole, trans=trans, trans_class=classes, temperature=heat, sources=tuple(sources))


def with_ends(batches: Sequence[ChainBatch]) -> list[ChainBatch]:
    """Return batches whose first and last tokens hold what start and end score, so that they can be joined.

    start and end are then the same for all of them, and only say what all forbid, which rules must know.
    """
    start, end = (
        np.where(np.logical_and.reduce([np.isneginf(scores) for scores in ends]), -np.inf, 0.0)
        for ends in ([batch.start for batch in batches], [batch.end for batch in batches])
    )
    return [_with_ends(batch, start, end) for batch in batches]


def _with_ends(batch: ChainBatch, start: Float, end: Float) -> ChainBatch:
    present, unary = np.diff(batch.indptr) > 0, batch.unary.copy()
    unary[batch.indptr[:-1][present]] += np.where(start == 0, batch.start, 0.0)
    unary[batch.indptr[1:][present] - 1] += np.where(end == 0, batch.end, 0.0)
    return replace(batch, unary=unary, start=start, end=end)


def sum_of_potentials(batches: Sequence[ChainBatch], weights: Sequence[float] | Float | None = None) -> ChainBatch:
    """Return Σ weight · scores, of the same sequences and labels; weights are above 0 (None: 1), and -inf stays -inf.

    Where transitions depend on the place, each tuple of the batches' transition classes is a class of the sum; where
    that would be many, those that occur. Temperatures are left behind.
    """
    first, *others = batches
    weights = np.ones(len(batches)) if weights is None else np.asarray(weights, np.float64)
    L = first.n_labels
    unary, trans, start, end = (weights[0] * a for a in (first.unary, first.trans, first.start, first.end))
    classes = first.trans_class
    for batch, weight in zip(others, weights[1:].tolist(), strict=True):
        if not (np.array_equal(first.indptr, batch.indptr) and batch.n_labels == L):
            raise InputError("the batches are not of the same sequences and labels")
        unary, start, end = unary + weight * batch.unary, start + weight * batch.start, end + weight * batch.end
        n, tuples = len(batch.trans), len(trans) * len(batch.trans)
        classes = classes * np.int32(n) + batch.trans_class
        if tuples > MANY_CLASSES and len(classes):
            seen, places = np.unique(classes, return_inverse=True)
            trans, classes = trans[seen // n] + weight * batch.trans[seen % n], places.astype(np.int32)
        else:
            trans = (trans[:, None] + weight * batch.trans).reshape(-1, L, L)
    return ChainBatch(first.indptr, unary, trans, classes, start, end)

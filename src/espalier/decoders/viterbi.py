"""Viterbi on folded potentials: exact when every rule that costs something is local.

    α_t(j) = ψ_t(j) + max_i α_{t-1}(i) + τ_t(i, j)

with the penalties of local rules folded into ψ and τ. Positions can be clamped to labels, sets of labels or
sub-paths ("constrained Viterbi", eq. 10 of Fersini, Messina, Felici & Roth, 2014). Cost O(T L²); the common order
of ties.

With global rules the answer is that of the local rules alone; its folded score bounds every labelling, because
penalties are not negative. So the answer is OPTIMAL if it breaks no global rule, and BOUNDED otherwise.

A longer list proves more (`listed`). Let F_1 >= F_2 >= ... be the folded scores in falling order and S_m <= F_m what
the global rules leave of them. A labelling beyond the m-th has S <= F_m, so the k best of m listed labellings are the k
best of all as soon as the k-th of them has S >= F_m. The list is doubled until then, at most to `longest`: exact for
any rule while it lasts, and without global rules at once. Cost O(T L² m log m).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier import inference
from espalier.corpus import Labels
from espalier.decoders.base import (
    Decoder,
    Decoding,
    Problem,
    Verdict,
    certify_all,
    checked_count,
    nothing_found,
    refusal,
)
from espalier.decoders.certify import WorkDone
from espalier.decoders.joint import Joint
from espalier.errors import InputError, LabelError, Place
from espalier.potentials import ChainBatch, Potentials
from espalier.rules.compile import Compiled

__all__ = ["KBEST", "VITERBI", "Clamp", "accepts", "clamped", "clamped_batch", "decode", "listed"]

Choice: TypeAlias = str | int | Iterable[str | int]
Clamp: TypeAlias = Mapping[int | tuple[int, int], Choice]
"""Token t, or tokens (start, end) up to but not including end -> the label, by name or id, or the labels allowed."""


def accepts(compiled: Compiled) -> Verdict:
    """Accept local rules."""
    return refusal(compiled, ("local",), "viterbi")


def decode(problem: Problem, *, k: int = 1) -> Decoding:
    """Return the k best labellings under the local rules, ranked by and certified against all rules."""
    checked_count(k, "k")
    return _listed(problem, k, k, "viterbi")


def listed(problem: Problem, *, k: int = 1, longest: int = 1024) -> Decoding:
    """Return the k best labellings; BOUNDED where a list of `longest` labellings does not prove them."""
    return _listed(problem, checked_count(k, "k"), checked_count(longest, "longest"), "kbest")


class _Item(NamedTuple):
    """A listed labelling: penalised score, folded score, labels."""

    score: float
    folded: float
    y: NDArray[np.int16]

    def order(self) -> tuple[float, tuple[int, ...]]:
        return -self.score, tuple(self.y[::-1].tolist())


def _listed(problem: Problem, k: int, longest: int, method: str) -> Decoding:
    """Return the k best of a list of at most `longest` (at least k) labellings, under a method's name."""
    joint = Joint.of(problem)
    m, passes = k, 0
    while True:
        found = inference.k_best(problem.folded, m, allow_infeasible=True)
        passes += 1
        folded = found.scores[0]
        n = int(np.isfinite(folded).sum())
        items = [
            _Item(float(f) - joint.cost(y.tolist()), float(f), y)
            for f, y in zip(folded[:n], found.labels, strict=False)
        ]
        # Beyond the list nothing scores more than its last; beyond a list of everything there is nothing.
        rest = float(folded[n - 1]) if n == m else -math.inf
        best = sorted((item for item in items if item.score > -math.inf), key=_Item.order)[:k]
        if _settled(best, k, rest) or m >= longest:
            break
        m = min(2 * m, longest)
    work = WorkDone(viterbi=passes, nodes=n)
    if not best and rest > -math.inf:
        return nothing_found(problem, rest, method, work)
    return certify_all(problem, [(item.y, max(item.score, rest)) for item in best], method, work)


def _settled(best: list[_Item], k: int, rest: float) -> bool:
    """Is nothing beyond the list better than the k best of it, nor equal and first in the order of ties?

    What is equal and beyond the list pays nothing, and comes after every listed labelling that pays nothing.
    """
    if rest == -math.inf:
        return True
    if len(best) < k or best[-1].score < rest:
        return False
    return all(item.score > rest or item.folded == rest for item in best)


def clamped(potentials: Potentials, clamp: Clamp, labels: Labels) -> Potentials:
    """Forbid every label but the given ones at the given tokens; tokens count from 0, and from -1 at the end.

    `{0: "a", (3, 6): ("b", "c"), -1: "a"}`: token 0 is a, tokens 3, 4 and 5 are each b or c, the last is a. A
    sub-path is one entry a token.
    """
    if not isinstance(clamp, Mapping):
        raise InputError(f"clamp is {clamp!r}", hint='expected labels by tokens, such as {0: "a", (3, 6): ("b", "c")}')
    T = potentials.n_tokens
    positions: dict[int, set[int]] = {}
    for place, choice in clamp.items():
        ids = _ids(choice, labels, place)
        for t in _tokens(place, T):
            positions[t] = positions[t] & ids if t in positions else ids
    for t, kept in positions.items():
        if not kept:
            raise InputError(f"token {t} is clamped twice, to labels that exclude each other")
    return potentials.clamp({t: sorted(kept) for t, kept in positions.items()})


def clamped_batch(batch: ChainBatch, clamps: Sequence[Clamp | None], labels: Labels) -> ChainBatch:
    """Do the same for the sequences of a batch that have any."""
    if not any(clamps):
        return batch
    unary = batch.unary.copy()
    for i, clamp in enumerate(clamps):
        if clamp:
            try:
                unary[batch.indptr[i] : batch.indptr[i + 1]] = clamped(batch[i], clamp, labels).unary
            except InputError as error:
                raise InputError(Place(i), f": {error.what}", hint=error.hint) from None
    return batch.with_unary(unary)


def _tokens(place: int | tuple[int, int], T: int) -> range:
    """Return the tokens of a position or of a stretch."""
    start, end = place if isinstance(place, tuple) else (place, place + 1)
    if not isinstance(place, tuple) and -T <= place < 0:
        start, end = place + T, place + T + 1
    if not 0 <= start < end <= T:
        raise InputError(f"tokens {place} cannot be clamped: the sequence has {T} tokens, 0 to {T - 1}")
    return range(start, end)


def _id(label: str, labels: Labels, place: int | tuple[int, int]) -> int:
    try:
        return labels.index(label)
    except LabelError as error:
        raise error.within(f"clamp of {place}") from None


def _ids(choice: Choice, labels: Labels, place: int | tuple[int, int]) -> set[int]:
    """Return label ids of names or ids."""
    several = [choice] if isinstance(choice, str | int | np.integer) else list(choice)
    ids = set()
    for label in several:
        if isinstance(label, str):
            ids.add(_id(label, labels, place))
        elif 0 <= label < len(labels):
            ids.add(int(label))
        else:
            raise InputError(f"tokens {place} cannot be clamped to {label}: labels are 0 to {len(labels) - 1}")
    if not ids:
        raise InputError(f"tokens {place} cannot be clamped to no label at all")
    return ids


VITERBI = Decoder("viterbi", decode, True, "dynamic programming; local rules only", accepts)
KBEST = Decoder("kbest", listed, True, "list the best without global rules, then charge them")

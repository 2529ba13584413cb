"""Viterbi on folded potentials: exact when every rule that costs something is local.

    α_t(j) = ψ_t(j) + max_i α_{t-1}(i) + τ_t(i, j)

with the penalties of local rules folded into ψ and τ. Positions can be clamped to labels, sets of labels or
sub-paths ("constrained Viterbi", eq. 10 of Fersini, Messina, Felici & Roth, 2014). Cost O(T L²); the common order
of ties.

With global rules the answer is that of the local rules alone; its folded score bounds every labelling, because
penalties are not negative. So the answer is OPTIMAL if it breaks no global rule, and BOUNDED otherwise.
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

__all__ = [
    "VITERBI",
    "ChargedLabels",
    "Clamp",
    "accepts",
    "certify_list",
    "charged_list",
    "clamped",
    "clamped_batch",
    "decode",
]

Choice: TypeAlias = str | int | Iterable[str | int]
Clamp: TypeAlias = Mapping[int | tuple[int, int], Choice]
"""Token t, or tokens (start, end) up to but not including end -> the label, by name or id, or the labels allowed."""


def accepts(compiled: Compiled) -> Verdict:
    """Accept local rules."""
    return refusal(compiled, ("local",), "viterbi")


def decode(problem: Problem, *, k: int = 1) -> Decoding:
    """Return the k best labellings under the local rules, ranked by and certified against all rules."""
    items, rest = charged_list(problem, checked_count(k, "k"))
    return certify_list(problem, items, rest, "viterbi", WorkDone(1, len(items)))


class ChargedLabels(NamedTuple):
    """A listed labelling: penalised score, folded score, labels."""

    score: float
    folded: float
    y: NDArray[np.int16]

    def order(self) -> tuple[float, tuple[int, ...]]:
        """Return what a list is sorted by: the best first, of equal ones the first in the common order."""
        return -self.score, tuple(self.y[::-1].tolist())


def charged_list(problem: Problem, m: int) -> tuple[list[ChargedLabels], float]:
    """Return the m best labellings under the local rules, charged for all and sorted; what any other scores at most."""
    joint, found = Joint.of(problem), inference.k_best(problem.folded, m, allow_infeasible=True)
    folded = found.scores[0]
    n = int(np.isfinite(folded).sum())
    pairs = zip(folded[:n].tolist(), found.labels, strict=False)
    items = [ChargedLabels(f - joint.cost(y.tolist()), f, y) for f, y in pairs]
    # Beyond the list nothing scores more than its last; beyond a list of everything there is nothing.
    return sorted(items, key=ChargedLabels.order), float(folded[n - 1]) if n == m else -math.inf


def certify_list(
    problem: Problem, items: Sequence[ChargedLabels], rest: float, method: str, work: WorkDone
) -> Decoding:
    """Certify the items that are possible, if any."""
    possible = [item for item in items if item.score > -math.inf]
    if not possible and rest > -math.inf:
        return nothing_found(problem, rest, method, work)
    return certify_all(problem, [(item.y, max(item.score, rest)) for item in possible], method, work)


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

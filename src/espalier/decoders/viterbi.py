"""Viterbi on folded potentials: exact when every rule that costs something is local.

    α_t(j) = ψ_t(j) + max_i α_{t-1}(i) + τ_t(i, j)

with the penalties of local rules folded into ψ and τ. Positions can be clamped to labels, sets of labels or
sub-paths ("constrained Viterbi", eq. 10 of Fersini, Messina, Felici & Roth, 2014). Cost O(T L²); the common order
of ties.

With global rules the answer is that of the local rules alone; its folded score bounds every labelling, because
penalties are not negative. So the answer is OPTIMAL if it breaks no global rule, and BOUNDED otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np

from espalier.corpus import Labels
from espalier.decoders.base import Decoding, Problem, Verdict, checked_count, refusal
from espalier.decoders.kbest import listed
from espalier.errors import InputError, LabelError
from espalier.potentials import Potentials
from espalier.rules.compile import Compiled

__all__ = ["Clamp", "accepts", "clamped", "decode"]

Choice: TypeAlias = str | int | Iterable[str | int]
Clamp: TypeAlias = Mapping[int | tuple[int, int], Choice]
"""Token t, or tokens (start, end) up to but not including end -> the label, by name or id, or the labels allowed."""


def accepts(compiled: Compiled) -> Verdict:
    """Accept local rules."""
    return refusal(compiled, ("local",), "viterbi")


def decode(problem: Problem, *, k: int = 1) -> Decoding:
    """Return the k best labellings under the local rules, ranked by and certified against all rules."""
    checked_count(k, "k")
    return listed(problem, k, k, "viterbi")


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

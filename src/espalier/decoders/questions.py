"""What a user asks of a decoder, as a problem: scores in any form, rules as text or as a set, labels by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from typing import NamedTuple, TypeAlias

from numpy.typing import ArrayLike

from espalier.corpus import Labels
from espalier.decoders.base import Problem
from espalier.decoders.score_forms import as_floats, parts_of, tag_limits, ties_broken
from espalier.decoders.viterbi import Clamp, clamped
from espalier.errors import InputError, RuleError
from espalier.potentials import ChainBatch, Potentials
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.ruleset import Rule, RuleSet

__all__ = ["Batch", "Rules", "Scores", "compiled_for", "potentials_of", "problem_of"]

Scores: TypeAlias = Potentials | ArrayLike | tuple[ArrayLike | None, ...]
"""Potentials, unary scores [T, L], or a tuple (unary, trans, start, end), the last three optional.

An array may be of any library that NumPy can read: see `score_forms`.
"""

Batch: TypeAlias = ChainBatch | Sequence[Potentials] | Sequence[ArrayLike] | Scores
"""Scores of several sequences: unary scores [N, T, L], a tuple of which these are the first, or a list."""

Rules: TypeAlias = RuleSet | Rule | str | Compiled | None
"""Rules as a set, as one rule, as text, or already compiled for the labels."""


def problem_of(
    potentials: Scores,
    rules: Rules = None,
    *,
    tokens: Sequence[str] | None = None,
    labels: Labels | Sequence[str] | None = None,
    penalties: Mapping[str, float] | ArrayLike | None = None,
    text: str | None = None,
    clamp: Clamp | None = None,
    valid_tags: bool | None = None,
) -> Problem:
    """Check what a user gave and make a Problem of it."""
    scores = potentials_of(potentials)
    compiled = compiled_for(rules, labels, scores.n_labels)
    if tokens is None and compiled.K:
        raise InputError("rules speak about tokens", hint="pass tokens=, one string for each row of the unary scores")
    if isinstance(tokens, str):
        raise InputError("tokens is a string, not a list of tokens", hint="split it first")
    if clamp:
        scores = clamped(scores, clamp, compiled.labels)
    limits = tag_limits(compiled.labels, valid_tags)
    if limits is not None and scores.n_labels == len(compiled.labels):
        scores = scores.forbid(*limits)
        scores = replace(scores, trans=ties_broken(scores.trans, limits))
    words = [""] * scores.n_tokens if tokens is None else list(tokens)
    if isinstance(penalties, Mapping):
        penalties = compiled.rules.with_penalties(penalties).penalties
    return Problem(scores, compiled.ground(words, text), penalties)


def potentials_of(scores: Scores) -> Potentials:
    """Return Potentials of anything that a user may call scores."""
    if isinstance(scores, Potentials):
        return scores
    if isinstance(scores, tuple):
        parts = parts_of(scores)
        return Potentials(as_floats(scores[0], "unary"), *parts)
    return Potentials(as_floats(scores, "unary"))


def compiled_for(rules: Rules, labels: Labels | Sequence[str] | None, L: int) -> Compiled:
    """Return the rules compiled for the labels, which are numbers where none are given."""
    if isinstance(rules, Compiled):
        if labels is not None and Labels(labels) != rules.labels:
            raise InputError("the rules were compiled for other labels, or for the same in another order")
        return rules
    if labels is not None:
        return _compiled(rules, labels.names if isinstance(labels, Labels) else Labels(labels).names)
    try:
        return _compiled(rules, tuple(map(str, range(L))))
    except RuleError as error:
        if "unknown field" not in error.what:
            raise
        raise error.noted("without labels= the fields are numbers: pass labels=, a name for each column") from None


def _compiled(rules: RuleSet | Rule | str | None, names: tuple[str, ...]) -> Compiled:
    """Compile rules in any form for the labels; the last ones are kept, for many ask sequence by sequence.

    Text that may name a file of words is read each time, because the file may change.
    """
    if isinstance(rules, PathLike) or (isinstance(rules, str) and "file" in rules):
        return compile_rules(RuleSet.from_text(rules, labels=names), Labels(names))
    if not isinstance(rules, str | Rule | RuleSet | None):
        raise InputError(f"rules are a RuleSet or text, not {type(rules).__name__}")
    return _kept(rules if isinstance(rules, str | None) else _Itself(rules), names)


class _Itself(NamedTuple):
    """A value that equals nothing but itself: rules may be equal, and call other functions by the same name."""

    value: RuleSet | Rule

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@lru_cache(maxsize=16)
def _kept(rules: str | _Itself | None, names: tuple[str, ...]) -> Compiled:
    labels = Labels(names)
    if isinstance(rules, str):
        return compile_rules(RuleSet.from_text(rules, labels=labels), labels)
    chosen = RuleSet([]) if rules is None else rules.value
    return compile_rules(RuleSet([chosen]) if isinstance(chosen, Rule) else chosen, labels)

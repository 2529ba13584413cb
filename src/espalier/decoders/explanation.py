"""Why this answer: the labelling without rules beside the one with them, and the rules that make the difference.

The *cause* is a smallest set of rules that alone, at their own prices, turns the first answer into the second. A
deletion filter finds an irreducible set; smaller sets are then tried by size. A set can only matter if it holds a
rule that the first answer breaks. `minimal` is False where the budget of decodings ended the search early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from espalier.decoders.base import Decoding, Problem, evaluate
from espalier.errors import InfeasibleError

__all__ = ["NO_RULES", "ExpertShare", "Explanation", "RuleEffect", "explain", "smallest_cause"]

NO_RULES = "No rules are used in decoding"


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """One rule: its penalty, its degree before and after, and what the answer pays for it."""

    name: str
    penalty: float
    before: int
    after: int
    paid: float


@dataclass(frozen=True, slots=True)
class ExpertShare:
    """One expert: its weight, and what its scores, times the weight, add to the answer before and to that after."""

    name: str
    weight: float
    before: float
    after: float


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Two answers side by side.

    before : the best labelling without any rule; after : the best with all of them; effects : every rule that one of
    the two breaks, and every one of the cause; cause : names of the rules that make the difference, none if there is no
    difference; minimal : is no smaller set enough? experts : where several models were asked, what each of them adds to
    the scores; unruled : what to say where there are no rules at all.
    """

    tokens: tuple[str, ...]
    before: Decoding
    after: Decoding
    effects: tuple[RuleEffect, ...]
    cause: tuple[str, ...]
    minimal: bool
    experts: tuple[ExpertShare, ...] = ()
    unruled: str = ""

    @property
    def changed(self) -> tuple[int, ...]:
        """The tokens whose label the rules changed."""
        pairs = zip(self.before.names(), self.after.names(), strict=True)
        return tuple(t for t, (a, b) in enumerate(pairs) if a != b)

    def __str__(self) -> str:
        """Draw the labels over the tokens, then the table of rules, then the verdict."""
        names = (self.before.names(), self.after.names())
        marks = ["^" if t in self.changed else "" for t in range(len(self.tokens))]
        rows = [("without rules", *names[0]), ("with rules", *names[1]), ("", *self.tokens), ("", *marks)]
        if self.unruled:
            rows = [("labels", *names[1]), ("", *self.tokens)]
        parts = ["\n".join(_columns(rows))]
        if self.effects:
            head = ("rule", "penalty", "broken without", "broken with", "paid")
            body = [(e.name, f"{e.penalty:g}", str(e.before), str(e.after), f"{e.paid:g}") for e in self.effects]
            parts.append("\n".join(_columns([head, *body])))
        if self.experts:
            columns = [("expert", "weight", "score without", "score with")]
            columns += [(e.name, f"{e.weight:.3g}", f"{e.before:.4g}", f"{e.after:.4g}") for e in self.experts]
            whose = self.after.certificate.scores
            parts.append("\n".join([*_columns([*columns]), *([f"Scores: {whose}."] if whose else [])]))
        parts.append(self._verdict())
        return "\n\n".join(parts)

    def _verdict(self) -> str:
        loss = self.before.model_score - self.after.model_score
        if self.unruled:
            return f"{self.unruled} ({self.after.status})."
        if not self.changed:
            return f"The rules change nothing ({self.after.status})."
        names = ", ".join(self.cause) + ("" if self.minimal else ", or fewer: the search ended early,")
        who = f"The rule {names} changes" if len(self.cause) == 1 else f"The rules {names} change"
        return f"{who} the answer at a cost of {loss:.4g} ({self.after.status})."


def explain(problem: Problem, *, method: str = "auto", budget: int = 200) -> Explanation:
    """Explain what the rules of a problem do to its answer; at most about `budget` decodings look for the cause."""
    from espalier.decoders.table import run  # all methods, which nobody needs who wants the names of this module

    nothing = np.zeros(problem.rules.K)
    before, after = run(problem.with_penalties(nothing)), run(problem, method)
    if before.labels is None or after.labels is None:
        raise _nothing_to_explain(problem)
    broken = evaluate(problem, before.labels).degrees
    kept = evaluate(problem, after.labels).degrees

    def same(rules: Sequence[int]) -> bool:
        """Do these rules alone give the same labels?"""
        penalties = np.zeros(problem.rules.K)
        penalties[list(rules)] = problem.penalties[list(rules)]
        labels = run(problem.with_penalties(penalties), method).labels
        return labels is not None and np.array_equal(labels, after.labels)  # type: ignore[arg-type]

    active = [int(k) for k in np.flatnonzero(problem.penalties > 0)]
    cause, minimal = smallest_cause(active, frozenset(k for k in active if broken[k]), same, budget)
    names = tuple(problem.rules.names[k] for k in cause)
    effects = tuple(
        RuleEffect(name, float(rho), int(b), int(a), float(rho * a) if a else 0.0)
        for name, rho, b, a in zip(problem.rules.names, problem.penalties, broken, kept, strict=True)
        if b or a or name in names
    )
    unruled = "" if problem.rules.K else NO_RULES
    return Explanation(tuple(problem.grounded.tokens), before, after, effects, names, minimal, unruled=unruled)


def _nothing_to_explain(problem: Problem) -> InfeasibleError:
    """Name the hard rules that leave no labelling."""
    from espalier.decoders.conflict import conflict

    why = conflict(problem)
    if why is None or not why.rules:
        return InfeasibleError("there is no labelling to explain: the scores forbid every one")
    names = ", ".join(why.rules)
    what = f"the hard rule {names} cannot be kept" if len(why.rules) == 1 else f"hard rules exclude each other: {names}"
    return InfeasibleError(f"there is no labelling to explain: {what}", hint="give one a penalty instead of [hard]")


def smallest_cause(
    active: Sequence[int], broken: frozenset[int], same: Callable[[Sequence[int]], bool], budget: int
) -> tuple[tuple[int, ...], bool]:
    """Return a set of rules that gives the same answer as all active ones, and whether it is a smallest one.

    broken : those that the answer without rules breaks; same : do these rules alone give the answer of all? It is asked
    about `budget` times.
    """
    if same(()):
        return (), True
    # Rules that the first answer keeps are the likelier ones to be without effect: drop them first.
    kept, asked = sorted(active, key=lambda k: k in broken), 1
    for k in tuple(kept):
        fewer = [other for other in kept if other != k]
        if asked < budget:
            asked += 1
            kept = fewer if same(fewer) else kept
    for smaller in _by_size(active, len(kept), broken):
        if asked >= budget:
            return tuple(sorted(kept)), False
        asked += 1
        if same(smaller):
            return smaller, True
    return tuple(sorted(kept)), True


def _by_size(rules: Sequence[int], below: int, broken: frozenset[int]) -> Iterator[tuple[int, ...]]:
    """Yield the sets of fewer than `below` rules that hold a broken one, small ones first."""
    for size in range(1, below):
        yield from (chosen for chosen in combinations(rules, size) if not broken.isdisjoint(chosen))


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Align cells in columns."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return [line.rstrip() for line in lines if line.strip()]

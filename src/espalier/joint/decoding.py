"""Decode a joint problem: decompose, solve the integer program if a gap is left, certify from the meaning; explain."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.decoders.base import checked_count
from espalier.decoders.certify import Certificate, Status, WorkDone, magnitude_of, prove, tolerance
from espalier.decoders.explanation import RuleEffect, smallest_cause
from espalier.decoders.ilp import MAX_COLUMNS, checked_seconds, trusted
from espalier.errors import InfeasibleError, InputError
from espalier.joint.dual import Decomposition
from espalier.joint.meaning import JointViolated, violations
from espalier.joint.program import JointProgram
from espalier.joint.rows import rows_of

if TYPE_CHECKING:
    from espalier.joint.problem import Assignment, JointProblem

__all__ = ["METHODS", "JointDecoding", "JointExplanation", "decode", "explain"]

METHODS = ("auto", "dual", "ilp")
PASSES = 40
"""Passes of the decomposition before the integer program: it closes most gaps that it can close in fewer."""


@dataclass(frozen=True, eq=False)
class JointDecoding:
    """Labels of every layer, what they score together, what they break, and what is proven about them.

    names : label names by layer: a list for each text, one for all pairs; a list of lists where a layer has several
    texts. None if no answer is possible. violations : of the rules across layers.
    """

    names: dict[str, list[Any]] | None
    score: float
    model_score: float
    violations: tuple[JointViolated, ...]
    certificate: Certificate
    alternatives: tuple[JointDecoding, ...] = ()

    @property
    def status(self) -> Status:
        """The certificate's status."""
        return self.certificate.status

    def __getitem__(self, layer: str) -> list[Any]:
        """Return the label names of a layer."""
        if self.names is None:
            if self.status is not Status.INFEASIBLE:
                raise InfeasibleError("no answer was found that keeps every hard rule", hint="allow it more work")
            which = ", ".join(self.certificate.conflict)
            why = f": these hard rules exclude each other: {which}" if which else ""
            raise InfeasibleError(f"no answer is possible{why}", hint="soften one of them" if which else "")
        return self.names[layer]

    def __iter__(self) -> Iterator[JointDecoding]:
        """Iterate over the answer and its alternatives, best first."""
        return iter((self, *self.alternatives))


def decode(
    problem: JointProblem,
    k: int = 1,
    *,
    method: str = "auto",
    max_iterations: int = PASSES,
    time_limit: float | None = None,
    max_columns: int = MAX_COLUMNS,
) -> JointDecoding:
    """Return the best answer, or the k best; see `JointProblem.decode`."""
    checked_count(k, "k"), checked_count(max_iterations, "max_iterations"), checked_seconds(time_limit)
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}", hint=f"use {', '.join(map(repr, METHODS))}")
    if method == "dual" and k > 1:
        raise InputError("the decomposition finds one answer", hint="use method='auto' for the k best")
    found = Decomposition(problem, rows_of(problem))
    found.run(1 if method == "ilp" else max_iterations)
    if found.bound == -math.inf:
        return _none(-math.inf, "joint-dual", WorkDone(viterbi=found.passes))
    if k == 1 and (method == "dual" or found.closed):
        return _of(problem, found.labels, found.bound, "joint-dual", WorkDone(viterbi=found.passes))
    answer = _of_program(problem, found, k, time_limit, max_columns)
    if answer.status is not Status.INFEASIBLE:
        return answer
    return replace(answer, certificate=replace(answer.certificate, conflict=_conflict(problem, max_columns)))


def _conflict(problem: JointProblem, max_columns: int) -> tuple[str, ...]:
    """Return hard rules across that exclude each other: each is left out while the rest stays impossible."""
    kept = [k for k, rho in enumerate(problem.penalties) if rho == math.inf]
    for k in tuple(kept):
        fewer = [other for other in kept if other != k]
        prices = np.zeros(len(problem.penalties))
        prices[fewer] = math.inf
        softer = problem.with_penalties(prices)
        found = Decomposition(softer, rows_of(softer))
        found.run(1)
        if found.labels is None and _of_program(softer, found, 1, None, max_columns).status is Status.INFEASIBLE:
            kept = fewer
    return tuple(problem.joint_rules.names[k] for k in kept)


def _of_program(
    problem: JointProblem, found: Decomposition, k: int, time_limit: float | None, max_columns: int
) -> JointDecoding:
    """Solve the integer program k times; what it left out scores no more than the floor."""
    scores = sorted(found.met.values(), reverse=True)
    floor = scores[k - 1] if len(scores) >= k else -math.inf
    program, bound, nodes = JointProgram(problem, found, floor, max_columns), found.bound, 0
    answers: list[JointDecoding] = []
    for _ in range(k):
        solution = program.solve(time_limit)
        nodes += solution.nodes
        work = WorkDone(viterbi=found.passes, nodes=nodes)
        bound = min(bound, max(solution.bound, floor))
        if solution.x is None:
            if not answers:
                return _of(problem, found.labels if k == 1 else None, bound, "joint-ilp", work)
            break
        y = program.labels(solution.x)
        if k == 1 and found.labels is not None and found.best > problem.evaluate(y).score:
            y = found.labels
        score = problem.evaluate(y).score
        if score == -math.inf:  # a column was not quite integral
            return _none(bound, "joint-ilp", work)
        answers.append(_certified(problem, y, trusted(bound, score), "joint-ilp", work))
        if not any(map(len, y)):  # where nothing is to be labelled there is one answer
            break
        program.forbid(solution.x)
    return replace(answers[0], alternatives=tuple(answers[1:]))


def _certified(problem: JointProblem, y: Assignment, bound: float, method: str, work: WorkDone) -> JointDecoding:
    """Make an answer of labels and an upper bound; the score is recomputed from the meaning."""
    model_score, _, score = problem.evaluate(y)
    magnitude = None
    if bound < score - tolerance(score):
        chains = zip(problem.chains, y, strict=True)
        magnitude = sum(magnitude_of(chain.problem.potentials, labels) for chain, labels in chains if len(labels))
    certificate = prove(score, bound, method, work, magnitude=magnitude)
    return JointDecoding(_names(problem, y), score, model_score, tuple(violations(problem, y)), certificate)


def _of(problem: JointProblem, y: Assignment | None, bound: float, method: str, work: WorkDone) -> JointDecoding:
    """Certify an answer, if there is one."""
    return _none(bound, method, work) if y is None else _certified(problem, y, bound, method, work)


def _none(bound: float, method: str, work: WorkDone) -> JointDecoding:
    """Say that no answer is possible, or that none was found."""
    return JointDecoding(None, -math.inf, -math.inf, (), prove(-math.inf, bound, method, work))


def _names(problem: JointProblem, y: Assignment) -> dict[str, list[Any]]:
    """Return the label names of every layer, in the form in which its texts were given."""
    lists = [[chain.problem.labels.names[j] for j in labels] for chain, labels in zip(problem.chains, y, strict=True)]
    found: dict[str, list[Any]] = {}
    for name, layer in problem.layers.items():
        mine = [lists[c] for c in problem.chains_of(name)]
        found[name] = mine if getattr(layer, "several", False) else mine[0]
    return found


@dataclass(frozen=True, eq=False)
class JointExplanation:
    """Two answers side by side: without the rules across layers, and with them.

    effects : every rule that one of the two breaks; cause : names of the rules that make the difference; minimal : is
    no smaller set enough?
    """

    before: JointDecoding
    after: JointDecoding
    effects: tuple[RuleEffect, ...]
    cause: tuple[str, ...]
    minimal: bool

    @property
    def changed(self) -> tuple[tuple[str, int, int], ...]:
        """Layer, text and position of every label that the rules changed."""
        found = []
        for layer in self.before.names or ():
            one, two = _texts(self.before[layer]), _texts(self.after[layer])
            for text, (a, b) in enumerate(zip(one, two, strict=True)):
                found += [(layer, text, t) for t, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        return tuple(found)

    def __str__(self) -> str:
        """Say what changed, and why."""
        lines = []
        for layer, text, t in self.changed:
            old, new = _texts(self.before[layer])[text][t], _texts(self.after[layer])[text][t]
            lines.append(f"{layer} {t}: {old} -> {new}")
        cause = ", ".join(self.cause) + ("" if self.minimal else " (or fewer)")
        lines.append(f"Because of {cause}." if self.changed else "The rules change nothing.")
        return "\n".join([*lines, f"The answer is {self.after.status}."])


def _texts(names: list[Any]) -> Sequence[list[str]]:
    """Return a list for each text."""
    return names if names and isinstance(names[0], list) else [names]


def explain(problem: JointProblem, budget: int) -> JointExplanation:
    """Explain what the rules across do; see `JointProblem.explain`."""
    K = len(problem.joint_rules)
    before, after = decode(problem.with_penalties(np.zeros(K))), decode(problem)
    if before.names is None or after.names is None:
        raise InfeasibleError("there is no answer to explain", hint="soften a hard rule")
    degrees = [problem.evaluate(problem.assignment(names)).degrees for names in (before.names, after.names)]
    effects = tuple(
        RuleEffect(rule.name, float(rho), int(b), int(a), float(rho * a) if a else 0.0)
        for rule, rho, b, a in zip(problem.joint_rules, problem.penalties, *degrees, strict=True)
        if b or a
    )

    def same(rules: Sequence[int]) -> bool:
        penalties = np.zeros(K)
        penalties[list(rules)] = problem.penalties[list(rules)]
        return decode(problem.with_penalties(penalties)).names == after.names

    active = [int(r) for r in np.flatnonzero(problem.penalties > 0)]
    broken = frozenset(int(r) for r in np.flatnonzero((degrees[0] > 0) & (problem.penalties > 0)))
    cause, minimal = smallest_cause(active, broken, same, budget)
    return JointExplanation(before, after, effects, tuple(problem.joint_rules.names[r] for r in cause), minimal)

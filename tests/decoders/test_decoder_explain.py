"""Explanations: which rules made the difference, checked by decoding with and without them."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from decoder_problems import problem_from, problems, ranked
from espalier.decoders import Problem, Status, explain
from espalier.errors import InfeasibleError

UNARY = [[2.0, 0.0], [0.0, 1.5], [2.0, 0.0], [0.0, 0.1]]


def test_an_explanation_reads_well() -> None:
    text = "Once: a once [hard]\nLast: last in b [penalty 1]\nLong: length(a) >= 2 [penalty 0.25]"
    found = explain(problem_from(text, "one two three four", "a b", UNARY))
    assert str(found) == (
        "without rules  a    b    a      b\n"
        "with rules     a    a    a      b\n"
        "               one  two  three  four\n"
        "                    ^\n"
        "\n"
        "rule  penalty  broken without  broken with  paid\n"
        "Once  inf      1               0            0\n"
        "Long  0.25     2               0            0\n"
        "\n"
        "The rule Once changes the answer at a cost of 1.5 (optimal)."
    )
    assert (found.cause, found.minimal, found.changed) == (("Once",), True, (1,))
    assert found.before.violations == (("Once", 2, 1, 0.0), ("Long", 0, 1, 0.0), ("Long", 2, 1, 0.0))


def test_rules_that_change_nothing() -> None:
    found = explain(problem_from("Once: a once [penalty 0.5]", "one two three four", "a b", UNARY))
    assert (found.cause, found.minimal, found.changed) == ((), True, ())
    assert [(e.name, e.before, e.after, e.paid) for e in found.effects] == [("Once", 1, 1, 0.5)]
    assert str(found).endswith("The rules change nothing (optimal).")


def test_two_rules_that_only_together_matter() -> None:
    text = "A: a once [penalty 1]\nB: length(a) >= 2 [penalty 0.5]\nC: b once [penalty 0]"
    found = explain(problem_from(text, "one two three four", "a b", UNARY))
    assert (found.cause, found.minimal) == (("A", "B"), True)
    early = explain(problem_from(text, "one two three four", "a b", UNARY), budget=1)
    assert (set(early.cause), early.minimal) == ({"A", "B"}, False)
    assert "the search ended early" in str(early)


def test_a_rule_that_neither_answer_breaks_is_in_the_table_if_it_is_named() -> None:
    """The second rule is kept by both answers; without it the first would be kept in another way."""
    text = "Last: last in a [hard]\nLong: length(b) >= 2 [hard]"
    unary = [[0.0, 1.0], [0.0, 5.0]]
    found = explain(problem_from(text, "one two", "a b", unary))
    assert (found.before.names(), found.after.names()) == (["b", "b"], ["a", "a"])
    assert found.cause == ("Last", "Long")
    assert [(effect.name, effect.before, effect.after) for effect in found.effects] == [("Last", 1, 0), ("Long", 0, 0)]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(problem=problems(min_tokens=1, most_rules=3))
def test_causes_are_causes_and_smallest(problem: Problem) -> None:
    if not ranked(problem):
        with pytest.raises(InfeasibleError):
            explain(problem)
        return
    found = explain(problem, method="kbest")
    assert set(found.cause) <= {effect.name for effect in found.effects}
    active = [k for k in range(problem.rules.K) if problem.penalties[k] > 0]

    def best(rules: tuple[int, ...]) -> tuple[int, ...]:
        penalties = np.zeros(problem.rules.K)
        penalties[list(rules)] = problem.penalties[list(rules)]
        return ranked(problem.with_penalties(penalties))[0][0]

    target = tuple(found.after.labels.tolist())
    sizes = [n for n in range(len(active) + 1) for chosen in combinations(active, n) if best(chosen) == target]
    scores = [score for _, score in ranked(problem)]
    if len(scores) > 1 and math.isclose(scores[0], scores[1], abs_tol=1e-9):
        return  # Near-ties are decided by rounding.
    assert found.after.status is Status.OPTIMAL
    assert best(tuple(active)) == target
    assert found.minimal
    assert len(found.cause) == min(sizes)

"""Viterbi over the states of the product automaton, against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from decoder_problems import enumerated, problem_from, problems, ranked
from hypothesis import given, settings

from espalier.decoders import product
from espalier.decoders.auto import auto
from espalier.decoders.base import Problem, Status, certify


@settings(max_examples=150, deadline=None, derandomize=True)
@given(problem=problems())
def test_the_best_of_all_labellings(problem: Problem) -> None:
    automaton = product.automaton_of(problem)
    if automaton is None:
        return
    found, expected = product.best_over_states(problem, automaton), ranked(problem)
    if not expected:
        assert found.status is Status.INFEASIBLE
        return
    best = max(score for _, score in enumerated(problem).items)
    assert found.status is Status.OPTIMAL
    assert found.score == pytest.approx(best, abs=1e-9)
    # A labelling that is known may prune, and never changes the answer's score: neither the worst nor the best one.
    for y, _ in (expected[0], expected[-1]):
        known = certify(problem, y, math.inf, "known")
        assert product.best_over_states(problem, automaton, known).score == pytest.approx(best, abs=1e-9)


LABELS = " ".join("abcdefghijkl")


def test_many_states_are_searched_where_the_ladder_needs_them() -> None:
    """Each of twelve fields once, 24,577 states: labels that want to alternate are put in the best order of blocks."""
    T, L = 30, 12
    unary = np.random.default_rng(5).normal(0.0, 3.0, (T, L))
    problem = problem_from("Once: each field once [hard]", " ".join(["x"] * T), LABELS, unary)
    automaton = product.automaton_of(problem)
    assert automaton is not None
    assert automaton.n_states == 1 + 12 * 2**11
    found = product.best_over_states(problem, automaton)
    assert found.status is Status.OPTIMAL
    assert auto(problem).score == pytest.approx(found.score)
    blocks = [name for name, before in zip(found.names(), ["", *found.names()], strict=False) if name != before]
    assert len(set(blocks)) == len(blocks)


def test_what_is_too_large_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_from("Once: each field once [hard]", "x y", LABELS)
    monkeypatch.setattr(product, "MOST_STATES", 1000)
    assert product.automaton_of(problem) is None
    monkeypatch.setattr(product, "MOST_STATES", 100_000)
    monkeypatch.setattr(product, "MOST_PLACES", 1000)
    assert product.automaton_of(problem) is None


def test_the_automaton_is_kept_with_the_rules() -> None:
    problem = problem_from("Once: each field once [hard]", "x y", "a b")
    assert product.automaton_of(problem) is product.automaton_of(problem.with_penalties([1.0]))

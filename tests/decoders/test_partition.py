"""Log partition, expectations and entropy under rules: against enumeration, and derivatives against differences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import espalier as es
from decoder_problems import enumerated, problem_from, problems
from espalier.decoders.base import Problem
from espalier.decoders.partition import Expectations, expectations_of
from espalier.errors import InfeasibleError, InputError
from espalier.rules.automaton import SizeError
from espalier.rules.meaning import degrees
from oracles import label_counts

STEP = 1e-5
SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)


def oracle(problem: Problem) -> tuple[float, float, np.ndarray, np.ndarray, np.ndarray]:
    """log_z, entropy, marginals, pairs and degrees of all labellings, one by one."""
    every = enumerated(problem)
    L, tokens, names = problem.L, problem.grounded.tokens, problem.labels.names

    def pairs(y: tuple[int, ...]) -> np.ndarray:
        count = np.zeros((max(len(y) - 1, 0), L, L))
        count[np.arange(len(count)), list(y[:-1]), list(y[1:])] = 1.0
        return count

    def broken(y: tuple[int, ...]) -> np.ndarray:
        return np.asarray(degrees(problem.rules, tokens, [names[j] for j in y]), float)

    counts = (label_counts(problem.potentials), pairs, broken)
    return every.log_z, every.entropy, *(every.expectation(count) for count in counts)


def found_of(problem: Problem) -> Expectations:
    """The expectations; problems without an automaton are drawn again."""
    compiled = problem.grounded.compiled
    rules = [k for k, form in enumerate(compiled.form) if form != "local"]
    try:
        compiled.automaton(rules)
    except SizeError:
        assume(False)
    return expectations_of(problem)


@settings(deadline=None, derandomize=True, max_examples=80, suppress_health_check=SLOW)
@given(problem=problems())
def test_equals_enumeration(problem: Problem) -> None:
    log_z, entropy, *counts = oracle(problem)
    if log_z == -math.inf:
        with pytest.raises(InfeasibleError):
            found_of(problem)
        return
    found = found_of(problem)
    assert found.log_z == pytest.approx(log_z, abs=1e-9)
    assert found.entropy == pytest.approx(entropy, abs=1e-8)
    for ours, theirs in zip((found.marginals, found.pairs, found.degrees), counts, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def moved(problem: Problem, name: str, where: tuple[int, ...], by: float) -> Problem:
    """The problem with one score or one penalty changed."""
    if name == "penalties":
        rho = problem.penalties.copy()
        rho[where] += by
        return problem.with_penalties(rho)
    array = getattr(problem.potentials, name).copy()
    array[where] += by
    return problem.with_potentials(replace(problem.potentials, **{name: array}))


@settings(deadline=None, derandomize=True, max_examples=30, suppress_health_check=SLOW)
@given(problem=problems(min_tokens=1))
def test_derivatives_equal_differences(problem: Problem) -> None:
    """By enumeration on both sides of every number: the library computes the derivative only."""
    if oracle(problem)[0] == -math.inf:
        return
    found = found_of(problem)
    slopes = {
        "log_z": found.log_z_slopes,
        "entropy": found.entropy_slopes,
    }
    steps = [("unary", (t, j)) for t in range(problem.T) for j in range(problem.L)]
    if problem.potentials.trans.ndim == 3:
        steps += [("trans", w) for w in np.ndindex(problem.potentials.trans.shape)][:9]
    steps += [("penalties", (k,)) for k in range(problem.rules.K) if 0.1 < problem.penalties[k] < math.inf]
    for name, where in steps:
        value = problem.penalties[where] if name == "penalties" else getattr(problem.potentials, name)[where]
        if not math.isfinite(value):
            continue
        up, down = (oracle(moved(problem, name, where, sign * STEP)) for sign in (1, -1))
        for number, slope in enumerate(slopes.values()):
            difference = (up[number] - down[number]) / (2 * STEP)
            assert getattr(slope, name)[where] == pytest.approx(difference, abs=2e-5 * max(1.0, abs(difference)))


def test_a_penalty_of_zero_has_a_derivative() -> None:
    problem = problem_from("Once: a once [penalty 0]", "x y z", "a b")
    found = expectations_of(problem)
    assert found.degrees[0] == pytest.approx(1 / 8)
    assert found.log_z == pytest.approx(3 * math.log(2))


def test_start_and_end_move_with_the_tokens_beside_them() -> None:
    rng = np.random.default_rng(0)
    problem = problem_from(
        "Once: a once [penalty 1]", "x y z", "a b c", rng.normal(size=(3, 3)), start=[1, 2, 0], end=[0, 1, 3]
    )
    found = expectations_of(problem)
    for name, row in (("start", 0), ("end", -1)):
        for j in range(3):
            up, down = (oracle(moved(problem, name, (j,), sign * STEP)) for sign in (1, -1))
            assert found.log_z_slopes.unary[row, j] == pytest.approx((up[0] - down[0]) / (2 * STEP), abs=1e-6)


def test_no_token_and_no_rule() -> None:
    assert es.expectations(np.zeros((0, 2))).log_z == 0.0
    found = es.expectations(np.zeros((0, 2)), "Need: a required [penalty 2]", tokens=[], labels=["a", "b"])
    assert (found.log_z, found.entropy, found.degrees.tolist()) == (-2.0, 0.0, [1.0])
    plain = es.expectations(np.zeros((4, 3)))
    assert plain.log_z == pytest.approx(4 * math.log(3)) == pytest.approx(plain.entropy)


def test_a_temperature_divides_scores_and_penalties() -> None:
    unary = np.random.default_rng(1).normal(size=(3, 2))
    options = {"tokens": ["x", "y", "z"], "labels": ["a", "b"]}
    hot = es.expectations(es.Potentials(unary, temperature=2.0), "Once: a once [penalty 3]", **options)
    cool = es.expectations(unary / 2, "Once: a once [penalty 1.5]", **options)
    assert hot.log_z == pytest.approx(cool.log_z)


def test_large_scores_do_not_overflow() -> None:
    found = es.expectations([[1e4, -1e4]] * 5, "Once: b once [penalty 7]", tokens=["x"] * 5, labels=["a", "b"])
    assert found.log_z == pytest.approx(5e4)
    assert found.entropy == pytest.approx(0.0, abs=1e-6)
    assert np.isfinite(found.entropy_slopes.unary).all()


def test_what_has_no_automaton_is_refused_by_its_name() -> None:
    text = "Fine: a once\nSame: count(a) == count(b) [penalty 1]"
    problem = problem_from(text, "x y z", "a b c")
    with pytest.raises(SizeError):
        problem.grounded.compiled.automaton([1])
    with pytest.raises(InputError, match="rule 'Same' has no exact expectation"):
        expectations_of(problem)
    with pytest.raises(InputError, match=r"the rules 'Fine' need more than max_edges = 3 edges"):
        es.expectations(np.zeros((4, 3)), "Fine: a once", tokens=list("wxyz"), labels=["a", "b", "c"], max_edges=3)

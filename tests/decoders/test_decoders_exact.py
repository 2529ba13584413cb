"""Every exact decoder finds what enumeration finds, and every certificate holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoder_problems import enumerated, problem_from, problems, ranked
from espalier.decoders import DECODERS, Decoding, Problem, Status
from espalier.decoders.base import evaluate
from espalier.decoders.certify import tolerance
from espalier.decoders.table import auto
from espalier.rules.meaning import degrees
from oracles import chain_score

ANY_RULE = ("exhaustive", "kbest", "astar")
EVERY = (*ANY_RULE, "beam", "gibbs", "viterbi")
OPTIONS: dict[str, dict[str, int]] = {"gibbs": {"sweeps": 4}, "beam": {"width": 2}}


def check(problem: Problem, found: Decoding) -> None:
    """What must be true of any answer of any decoder."""
    everything = enumerated(problem)
    top = max(score for _, score in everything.items)
    certificate = found.certificate
    assert certificate.bound >= top - 1e-9
    if found.labels is None:
        assert found.score == -math.inf
        assert (found.status is Status.INFEASIBLE) <= (top == -math.inf)
        return
    assert found.status is not Status.INFEASIBLE
    y = tuple(found.labels.tolist())
    names = [problem.labels.names[i] for i in y]
    paid = degrees(problem.rules, problem.grounded.tokens, names)
    assert found.names() == names
    assert found.model_score == pytest.approx(chain_score(problem.potentials, y), abs=1e-9)
    assert found.score == pytest.approx(dict(everything.items)[y], abs=1e-9)
    assert certificate.gap == pytest.approx(certificate.bound - found.score, abs=1e-9)
    assert certificate.gap >= 0
    assert sum(v.amount for v in found.violations) == paid.sum()
    assert math.fsum(v.price for v in found.violations) == pytest.approx(found.model_score - found.score, abs=1e-9)
    if found.status is Status.OPTIMAL:
        assert found.score >= top - tolerance(top)


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(problem=problems())
def test_certificates_hold(name: str, problem: Problem) -> None:
    check(problem, DECODERS[name].decode(problem, **OPTIONS.get(name, {})))


def answer(found: Decoding) -> list[tuple[int, ...]]:
    """The labels of an answer and of its alternatives, nothing if there are none."""
    return [tuple(one.labels.tolist()) for one in found if one.labels is not None]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(problem=problems())
def test_exact_decoders_agree_with_enumeration(problem: Problem) -> None:
    best = ranked(problem)
    names = [*ANY_RULE, *(["viterbi"] if not problem.globals else [])]
    for name, found in [("auto", auto(problem)), *((name, DECODERS[name].decode(problem)) for name in names)]:
        assert found.status is (Status.OPTIMAL if best else Status.INFEASIBLE), name
        assert (found.labels is None) == (not best), name
        assert found.score == pytest.approx(best[0][1] if best else -math.inf, abs=1e-9), name


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problem=problems(exact=True), k=st.integers(1, 6))
def test_k_best_lists_and_ties_are_those_of_enumeration(problem: Problem, k: int) -> None:
    best = ranked(problem)[:k]
    names = [*ANY_RULE, *(["viterbi"] if not problem.globals else [])]
    for name, found in [("auto", auto(problem, k=k)), *((name, DECODERS[name].decode(problem, k=k)) for name in names)]:
        if not best:
            assert found.status is Status.INFEASIBLE, name
            continue
        labels = answer(found)
        assert [one.score for one in found] == [score for _, score in best], name
        assert all(one.status is Status.OPTIMAL for one in found), name
        assert len(set(labels)) == len(labels), name
        assert name in ("astar", "auto") or labels == [y for y, _ in best], name


@settings(max_examples=10, deadline=None, derandomize=True)
@given(problem=problems())
def test_the_same_question_has_the_same_answer(problem: Problem) -> None:
    for name in EVERY:
        one, other = (answer(DECODERS[name].decode(problem, k=2, **OPTIONS.get(name, {}))) for _ in range(2))
        assert one == other, name


def test_a_wide_beam_is_exact() -> None:
    problem = problem_from("One: count(a) <= 1 [penalty 2]", "x x x x", "a b", np.eye(2)[[0, 1, 0, 1]] * 3)
    found = DECODERS["beam"].decode(problem, width=64)
    assert found.status is Status.OPTIMAL
    assert found.score == ranked(problem)[0][1]


def test_a_narrow_beam_says_heuristic_and_still_bounds() -> None:
    # Starting with b is right only because of a rule that the end reveals; a beam of one does not look there.
    problem = problem_from("R: first in b [penalty 0]\nEnd: b before a [hard]\nReq: b required [hard]", "x x", "a b")
    problem = problem.with_potentials(type(problem.potentials)([[1.0, 0.0], [1.0, 0.0]]))
    found = DECODERS["beam"].decode(problem, width=1)
    assert found.status in (Status.HEURISTIC, Status.OPTIMAL)
    assert found.certificate.bound >= ranked(problem)[0][1]


@pytest.mark.parametrize("name", EVERY)
def test_an_empty_sequence(name: str) -> None:
    soft = problem_from("Req: a required [penalty 2]", "", "a b")
    found = DECODERS[name].decode(soft)
    assert found.labels is not None
    assert (found.labels.shape, found.score) == ((0,), -2.0)
    assert name in ("viterbi", "beam", "gibbs") or found.status is Status.OPTIMAL
    hard = DECODERS[name].decode(soft.with_penalties([math.inf]))
    assert hard.labels is None
    assert DECODERS[name].decode(soft.with_penalties([0.0])).score == 0.0


@pytest.mark.parametrize("name", EVERY)
def test_no_rules_at_all(name: str) -> None:
    problem = problem_from("", "x y", "a b", [[0.0, 1.0], [2.0, 0.0]], trans=[[0.0, 0.0], [-5.0, 0.0]])
    found = DECODERS[name].decode(problem)
    assert (found.names(), found.score, found.violations) == (["a", "a"], 2.0, ())


@pytest.mark.parametrize("name", EVERY)
def test_potentials_that_forbid_everything(name: str) -> None:
    problem = problem_from("R: a once", "x y", "a b", np.full((2, 2), -np.inf))
    found = DECODERS[name].decode(problem)
    assert (found.status, found.labels, found.certificate.bound) == (Status.INFEASIBLE, None, -math.inf)


@pytest.mark.parametrize("name", ANY_RULE)
def test_hard_rules_that_exclude_each_other(name: str) -> None:
    problem = problem_from("A: a required [hard]\nB: count(a) <= 0 [hard]\nC: b once [hard]", "x y", "a b")
    assert DECODERS[name].decode(problem).status is Status.INFEASIBLE


@pytest.mark.parametrize("name", ANY_RULE)
def test_violations_are_named_priced_and_placed(name: str) -> None:
    unary = [[5.0, 0.0], [0.0, 5.0], [5.0, 0.0]]
    found = DECODERS[name].decode(
        problem_from("Once: a once [penalty 1.5]\nFree: b once [penalty 0]", "x y z", "a b", unary)
    )
    assert found.names() == ["a", "b", "a"]
    assert found.violations == (("Once", 2, 1, 1.5),)
    assert (found.model_score, found.score) == (15.0, 13.5)


@pytest.mark.parametrize("name", [*ANY_RULE, "viterbi", "beam", "gibbs"])
def test_huge_scores_that_cancel_are_no_bug(name: str) -> None:
    # Sums of terms of 1e9 that nearly cancel round by far more than the gap of an optimal answer.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        unary = rng.normal(size=(4, 2)) + 1e9 * np.array([[1], [-1], [1], [-1]]) / 3
        problem = problem_from("Once: a once [penalty 0.3]", "x x x x", "a b", unary, trans=rng.normal(size=(2, 2)))
        found = DECODERS[name].decode(problem)
        assert found.labels is not None
        assert found.score == pytest.approx(dict(enumerated(problem).items)[tuple(found.labels.tolist())], abs=1e-5)


def test_evaluate_agrees_with_the_definition() -> None:
    problem = problem_from("Once: a once [hard]", "x y z", "a b")
    model_score, found, score = evaluate(problem, [0, 1, 0])
    assert (model_score, found.tolist(), score) == (0.0, [1], -math.inf)
    assert evaluate(problem.with_penalties([0.0]), [0, 1, 0]).score == 0.0

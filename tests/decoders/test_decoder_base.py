"""Problems are checked, and only a closed gap is called optimal."""

from __future__ import annotations

import math

import numpy as np
import pytest

from decoder_problems import problem_from
from espalier.decoders import Problem, Status, WorkDone
from espalier.decoders.base import certify, certify_all, infeasible, nothing_found, price, refusal
from espalier.errors import EspalierError, InfeasibleError, InputError
from espalier.potentials import Potentials


@pytest.fixture
def problem() -> Problem:
    return problem_from("Once: a once [penalty 2]", "x y z", "a b", [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("bound", "status"),
    [
        (1.0, Status.OPTIMAL),
        (1.0 + 5e-10, Status.OPTIMAL),
        (1.0 + 1e-8, Status.BOUNDED),
        (4.0, Status.BOUNDED),
        (math.inf, Status.HEURISTIC),
    ],
)
def test_the_status_follows_from_the_gap(problem: Problem, bound: float, status: Status) -> None:
    found = certify(problem, [0, 1, 0], bound, "test", WorkDone(nodes=3))
    assert (found.status, found.score, found.model_score) == (status, 1.0, 3.0)
    assert found.certificate.gap == pytest.approx(bound - 1.0)
    assert found.certificate.work.nodes == 3


def test_a_heuristic_never_says_bounded(problem: Problem) -> None:
    assert certify(problem, [0, 1, 0], 4.0, "test", heuristic=True).status is Status.HEURISTIC
    assert certify(problem, [0, 1, 0], 1.0, "test", heuristic=True).status is Status.OPTIMAL


@pytest.mark.parametrize("bound", [0.5, -math.inf, math.nan])
def test_a_bound_below_the_score_is_a_bug(problem: Problem, bound: float) -> None:
    with pytest.raises(EspalierError, match="bug"):
        certify(problem, [0, 1, 0], bound, "test")


def test_a_labelling_that_breaks_a_hard_rule_is_no_answer(problem: Problem) -> None:
    with pytest.raises(EspalierError, match="score -inf"):
        certify(problem.with_penalties([math.inf]), [0, 1, 0], 4.0, "test")


def test_answers_are_frozen(problem: Problem) -> None:
    found = certify(problem, [0, 1, 0], 4.0, "test")
    assert found.labels is not None
    assert found.labels.dtype == np.int16
    with pytest.raises(ValueError, match="read-only"):
        found.labels[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        problem.penalties[0] = 1


def test_alternatives_come_in_order(problem: Problem) -> None:
    found = certify_all(problem, [([0, 1, 1], 2.0), ([1, 1, 0], 2.0)], "test")
    assert [one.names() for one in found] == [["a", "b", "b"], ["b", "b", "a"]]
    assert certify_all(problem, [], "test").status is Status.INFEASIBLE


def test_no_labels_have_no_names_but_a_reason(problem: Problem) -> None:
    with pytest.raises(InfeasibleError, match="exclude each other: A, B"):
        infeasible(problem, "test", conflict=("A", "B")).names()
    with pytest.raises(InfeasibleError, match="forbidden by the potentials"):
        infeasible(problem, "test").names()
    with pytest.raises(InfeasibleError, match="allow it more work"):
        nothing_found(problem, 3.0, "test").names()


def test_an_infeasible_answer_may_carry_the_least_bad_labels(problem: Problem) -> None:
    found = infeasible(problem.with_penalties([math.inf]), "test", y=[0, 1, 0])
    assert (found.status, found.names(), found.score) == (Status.INFEASIBLE, ["a", "b", "a"], -math.inf)
    assert found.violations == (("Once", 2, 1, math.inf),)


@pytest.mark.parametrize(
    ("penalties", "complaint"),
    [
        ([-1.0], "'Once': penalty -1.0 must be zero or more"),
        ([math.nan], "'Once': penalty nan"),
        ([1.0, 2.0], "one for each of 1 rules"),
        (1.0, "one for each of 1 rules"),
    ],
)
def test_bad_penalties(problem: Problem, penalties: object, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        problem.with_penalties(penalties)


def test_sizes_must_agree(problem: Problem) -> None:
    with pytest.raises(InputError, match="2 tokens, but 3 tokens"):
        problem.with_potentials(Potentials(np.zeros((2, 2))))
    with pytest.raises(InputError, match="3 labels, but 2 label names"):
        problem.with_potentials(Potentials(np.zeros((3, 3))))


def test_nothing_times_infinity_is_nothing() -> None:
    assert price(np.array([0, 2]), np.array([math.inf, 1.5])) == 3.0
    assert price(np.array([1, 0]), np.array([math.inf, 1.5])) == math.inf


def test_refusals_name_the_rule() -> None:
    compiled = problem_from("L: first in a\nG: a before b", "x", "a b").grounded.compiled
    assert refusal(compiled, ("local", "linear", "monitor"), "x").ok
    verdict = refusal(compiled, ("local",), "viterbi")
    assert not verdict.ok
    assert "'G'" in verdict.reason

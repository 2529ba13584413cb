"""Two-stage inference against enumeration of all labellings, by both solvers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from count_problems import all_nodes, enumerated, problem_of, problems
from espalier.decoders.base import Status
from espalier.errors import InputError
from espalier.papers.two_stage import inference as two_stage
from espalier.potentials import Potentials
from espalier.rules.ruleset import RuleSet

many = settings(max_examples=70, deadline=None, derandomize=True)
few = settings(max_examples=30, deadline=None, derandomize=True)
rules = RuleSet.from_text
NO = -np.inf
taus = st.sampled_from([0.0, 0.3, 0.7, 0.95, 1.0])
counts = st.sampled_from(two_stage.COUNTS)


def cheapest(problem, allowed, count, costs=None):
    """The least (cost, -score) of the labellings that lose at most `allowed`; None if there is none."""
    found = enumerated(problem)
    top = max((answer.model_score for answer in found), default=-math.inf)
    costs = problem.penalties if costs is None else costs
    ranked = []
    for answer in found:
        sigma = np.minimum(answer.degrees, 1) if count == "rules" else answer.degrees
        cost = sum(c * int(s) for c, s in zip(costs, sigma, strict=True) if s)
        if answer.model_score >= top - allowed - 1e-9 and cost < math.inf:
            ranked.append((round(cost, 9), -answer.model_score))
    return min(ranked, default=None)


def check(problem, found, count, costs=None):
    best = cheapest(problem, found.allowed, count, costs)
    assert found.proven
    if best is None:
        assert found.labels is None
        return
    assert found.cost == pytest.approx(best[0])
    assert found.score == pytest.approx(-best[1], abs=1e-7)
    assert found.score >= found.top - found.allowed - 1e-8 * max(1, abs(found.top))
    [mine] = [answer for answer in enumerated(problem) if answer.y == tuple(found.labels.tolist())]
    assert found.violated == tuple(problem.rules.names[k] for k in np.flatnonzero(mine.degrees))


@many
@given(problems(all_nodes, once=(False, True)), taus, counts)
def test_search(problem, tau, count):
    check(problem, two_stage.solve(problem, tau=tau, count=count, solver="search"), count)


@few
@given(problems(all_nodes, once=(False, True)), taus, counts)
def test_integer_program(problem, tau, count):
    check(problem, two_stage.solve(problem, tau=tau, count=count, solver="ilp"), count)


def test_the_best_score_among_the_cheapest():
    """At least two segments of a for nothing; of those labellings a O O a scores most."""
    trans = np.zeros((3, 3))
    trans[2, 2] = 1.0
    twice = rules("Twice: not (a once) [penalty 1.25]")
    problem = problem_of(Potentials(np.zeros((4, 3)), trans), ["a", "b", "O"], twice)
    for solver in ("search", "ilp"):
        found = two_stage.solve(problem, tau=0.0, count="violations", solver=solver)
        assert (found.cost, found.score) == (0.0, 1.0)


@few
@given(
    problems(all_nodes, prices=(1.0,)),
    st.floats(0, 6),
    st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=3, max_size=3),
)
def test_own_costs_and_an_absolute_slack(problem, slack, costs):
    costs = np.array(costs[: problem.rules.K])
    for solver in ("search", "ilp"):
        found = two_stage.solve(problem, slack=slack, costs=costs, solver=solver)
        check(problem, found, "rules", costs)
        assert found.allowed == slack


@few
@given(problems(all_nodes))
def test_the_decoding_is_certified_for_the_penalised_score(problem):
    decoding = two_stage.decode(problem, tau=0.5)
    best = max((answer.score for answer in enumerated(problem)), default=-math.inf)
    assert decoding.certificate.bound >= best - 1e-9 * max(1, abs(best))
    assert decoding.score <= best + 1e-9
    if decoding.labels is not None:
        found = two_stage.solve(problem, tau=0.5)
        assert decoding.labels.tolist() == found.labels.tolist()
        assert tuple(dict.fromkeys(v.name for v in decoding.violations)) == found.violated


TWO = Potentials([[0, -1], [-1, 0], [0, -1.5]])  # a O a scores 0, a O O -1.5, O O a -1, a a a -1
SHIFTED = Potentials(TWO.unary - 10)


@pytest.mark.parametrize(
    ("slack", "names", "score"), [(0.0, "aOa", 0.0), (0.9, "aOa", 0.0), (1.0, "OOa", -1.0), (5.0, "OOa", -1.0)]
)
def test_the_allowed_loss_decides(slack, names, score):
    problem = problem_of(TWO, ["a", "O"], rules("One: count(a) <= 1"))
    found = two_stage.solve(problem, slack=slack)
    # O O a and a a a tie at -1: the rule holds in both.
    assert found.score == score
    assert "".join(problem.labels.decode(found.labels)) in (names, names.replace("OOa", "aaa"))
    assert found.violated == (("One",) if names == "aOa" else ())


def test_tau_works_for_negative_scores():
    # Z* = -30: tau 0.97 allows a loss of 0.9, tau 0.96 one of 1.2.
    problem = problem_of(SHIFTED, ["a", "O"], rules("One: count(a) <= 1"))
    strict, loose = two_stage.solve(problem, tau=0.97), two_stage.solve(problem, tau=0.96)
    assert (strict.top, strict.allowed) == (-30.0, pytest.approx(0.9))
    assert strict.violated == ("One",)
    assert loose.violated == ()


def test_for_positive_scores_tau_is_the_papers():
    p = Potentials([[4.0, 0.0], [4.0, 3.0]])
    found = two_stage.solve(problem_of(p, ["a", "O"], rules("Few: tokens(a) <= 1")), tau=0.8)
    assert found.top - found.allowed == pytest.approx(0.8 * 8.0)
    assert (found.score, found.cost) == (7.0, 0.0)


def test_counting_rules_or_violations():
    # Three segments of a break One twice; two of them once; so the count matters when only one can be mended.
    p = Potentials([[5, 0], [0, 5], [0.5, 0], [0, 5], [5, 0]], None)
    problem = problem_of(p, ["a", "O"], rules("One: count(a) <= 1"))
    by_rule = two_stage.solve(problem, slack=1.0, count="rules")
    by_violation = two_stage.solve(problem, slack=1.0, count="violations")
    assert "".join(problem.labels.decode(by_rule.labels)) == "aOaOa"
    assert (by_rule.cost, by_rule.score) == (1.0, 20.5)
    assert "".join(problem.labels.decode(by_violation.labels)) == "aOOOa"
    assert (by_violation.cost, by_violation.score) == (1.0, 20.0)


def test_hard_rules_hold_whatever_they_cost():
    problem = problem_of(TWO, ["a", "O"], rules("One: count(a) <= 1 [hard]\nMost: tokens(a) >= 3"))
    for solver in ("search", "ilp"):
        assert two_stage.solve(problem, slack=2.0, costs=[0.0, 1.0], solver=solver).cost == 0.0  # a a a
        assert two_stage.solve(problem, slack=0.5, solver=solver).labels is None
    decoding = two_stage.decode(problem, slack=0.5)
    assert decoding.status is Status.BOUNDED
    assert decoding.labels is None


def test_an_exhausted_search_turns_to_the_integer_program():
    problem = problem_of(TWO, ["a", "O"], rules("One: count(a) <= 1"))
    searched = two_stage.solve(problem, slack=1.0, solver="search", max_nodes=1)
    assert (searched.labels, searched.proven) == (None, False)
    found = two_stage.solve(problem, slack=1.0, max_nodes=1)
    assert (found.cost, found.score, found.proven) == (0.0, -1.0, True)


def test_every_label_forbidden():
    problem = problem_of(Potentials([[NO, NO]]), ["a", "O"], rules("One: count(a) <= 1"))
    assert two_stage.decode(problem).status is Status.INFEASIBLE
    assert two_stage.solve(problem).labels is None


def test_no_rules_is_viterbi():
    problem = problem_of(TWO, ["a", "O"], RuleSet())
    for solver in two_stage.SOLVERS:
        assert two_stage.solve(problem, tau=0.0, solver=solver).labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tau": 1.5}, "tau"),
        ({"tau": math.nan}, "tau"),
        ({"slack": -1.0}, "slack"),
        ({"costs": [1.0, 2.0]}, "one for each"),
        ({"costs": [-1.0]}, "zero or more"),
        ({"count": "segments"}, "'violations'"),
        ({"solver": "simplex"}, "'search'"),
        ({"max_nodes": 0}, "max_nodes"),
        ({"max_columns": 0}, "max_columns"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"k": 2}, "one labelling"),
    ],
)
def test_wrong_options(options, message):
    problem = problem_of(TWO, ["a", "O"], rules("One: count(a) <= 1"))
    with pytest.raises(InputError, match=message):
        two_stage.decode(problem, **options)

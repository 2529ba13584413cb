"""Dual decomposition against enumeration, closed forms of the dual, and infeasible rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from count_problems import enumerated, linear_nodes, local_nodes, optimum, problem_of, problems
from espalier.corpus import Labels
from espalier.decoders import dual
from espalier.decoders.base import Problem, Status, evaluate
from espalier.errors import InputError
from espalier.inference import viterbi
from espalier.potentials import Potentials
from espalier.rules.compile import compile_rules
from espalier.rules.ruleset import RuleSet

few = settings(max_examples=30, deadline=None, derandomize=True)
many = settings(max_examples=80, deadline=None, derandomize=True)
NO = -np.inf
rules = RuleSet.from_text


def check(problem, decoding):
    """The certificate holds: whatever is claimed, enumeration agrees."""
    best = optimum(problem)
    certificate = decoding.certificate
    assert certificate.bound >= best - 1e-9 * max(1, abs(best))
    if decoding.status is Status.INFEASIBLE:
        assert best == -math.inf
        assert decoding.labels is None
        return
    if decoding.labels is None:
        assert decoding.status is Status.BOUNDED
        assert certificate.gap == math.inf
        return
    [mine] = [answer for answer in enumerated(problem) if answer.y == tuple(decoding.labels.tolist())]
    assert decoding.score == pytest.approx(mine.score)
    assert certificate.gap == pytest.approx(certificate.bound - decoding.score, abs=1e-12)
    if decoding.status is Status.OPTIMAL:
        assert decoding.score == pytest.approx(best, abs=1e-8)


@many
@given(problems(linear_nodes | local_nodes))
def test_certificates_hold(problem):
    check(problem, dual.decode(problem))


@few
@given(problems(linear_nodes | local_nodes))
def test_certificates_hold_with_the_diminishing_step(problem):
    check(problem, dual.decode(problem, step="sdd14", max_iterations=50))


@few
@given(problems(linear_nodes | local_nodes))
def test_certificates_hold_with_cutting_planes(problem):
    check(problem, dual.decode(problem, step="cuts"))


@few
@given(problems(linear_nodes, prices=(0.5, 1.25, 4.0)))
def test_cutting_planes_end_at_the_least_dual(problem):
    """No other step, however long, gets below; and they need few passes."""
    least = dual.decode(problem, step="cuts", max_iterations=500).certificate
    others = [dual.decode(problem, step=step, max_iterations=500).certificate.bound for step in ("polyak", "sdd14")]
    assert least.bound <= min(others) + 1e-6
    assert least.work.viterbi < 100


@few
@given(problems(linear_nodes, exact=True))
def test_certificates_hold_among_ties(problem):
    check(problem, dual.decode(problem))


@few
@given(problems(linear_nodes, prices=(0.5, 1.25, 4.0)))
def test_stopping_early_keeps_the_certificate(problem):
    for n in (1, 2, 5):
        decoding = dual.decode(problem, max_iterations=n)
        check(problem, decoding)
        assert decoding.certificate.work.viterbi <= n


def broken_problems(n, penalty):
    """Sequences of 6 tokens and 3 labels whose Viterbi labelling breaks a rule: what Soft-DD is for."""
    text = "Once: each field once\nSome: count(c) >= 1\nPair: count(a) + count(b) <= 1"
    compiled = compile_rules(rules(text).with_penalties([penalty] * 3), Labels(["a", "b", "c"]))
    rng = np.random.default_rng(7)
    while n:
        potentials = Potentials(rng.normal(0, 1.5, (6, 3)), rng.normal(0, 0.5, (3, 3)))
        problem = Problem(potentials, compiled.ground(["x"] * 6))
        top = viterbi(potentials)
        if evaluate(problem, top.labels).score < top.scores[0]:
            n -= 1
            yield problem


@pytest.mark.parametrize(("penalty", "share"), [(0.5, 0.9), (2.0, 0.8), (math.inf, 0.7)])
def test_most_answers_are_certified(penalty, share):
    decodings = [dual.decode(problem) for problem in broken_problems(60, penalty)]
    certified = [decoding.status is Status.OPTIMAL for decoding in decodings]
    assert np.mean(certified) >= share
    assert np.mean([d.certificate.work.viterbi for d, ok in zip(decodings, certified, strict=True) if ok]) < 30


def test_polyak_needs_fewer_passes():
    passes = {
        step: sum(dual.decode(problem, step=step).certificate.work.viterbi for problem in broken_problems(40, 2.0))
        for step in dual.STEPS
    }
    assert passes["cuts"] < passes["polyak"] < passes["sdd14"]


# a O a scores 3.5; with one segment of a at most a O O is best with 3; O O O scores 2.
BLOCKS = Potentials([[1, 0], [0, 2], [0.5, 0]])


@pytest.mark.parametrize(
    ("penalty", "names", "score"), [(0.0, "aOa", 3.5), (0.25, "aOa", 3.25), (3.0, "aOO", 3.0), (math.inf, "aOO", 3.0)]
)
def test_a_soft_rule_is_paid_for_when_that_is_cheaper(penalty, names, score):
    decoding = dual.decode(problem_of(BLOCKS, ["a", "O"], rules("One: count(a) <= 1"), penalties=[penalty]))
    assert decoding.status is Status.OPTIMAL
    assert decoding.score == pytest.approx(score)
    assert "".join(decoding.names()) == names
    assert [v.name for v in decoding.violations] == (["One"] if names == "aOa" else [])


def test_ties_may_hide_the_optimum_but_never_the_truth():
    # D(λ) = max(4 - λ, 3, 2 + λ): a O O and its like attain it at λ = 1 only, together with a O a and O O O.
    problem = problem_of(Potentials([[1, 0], [0, 2], [1, 0]]), ["a", "O"], rules("One: count(a) <= 1 [hard]"))
    decoding = dual.decode(problem)
    check(problem, decoding)
    assert decoding.certificate.bound == pytest.approx(3.0, abs=0.05)


def both_or_none(gain):
    """Two tokens, labelled a a for `gain` or O O for nothing; nothing else is possible."""
    return Potentials([[gain / 2, 0], [gain / 2, 0]], [[0, NO], [NO, 0]])


def test_a_duality_gap_is_reported_as_it_is():
    # One token of a at most: D(λ) = max(10 - 2λ, 0) + λ is least at λ = 5, where it is 5; only O O keeps the rule.
    problem = problem_of(both_or_none(10.0), ["a", "O"], rules("Few: tokens(a) <= 1 [hard]"))
    decoding = dual.decode(problem)
    assert decoding.names() == ["O", "O"]
    assert decoding.status is Status.BOUNDED
    assert decoding.certificate.bound == pytest.approx(5.0, abs=0.05)
    assert decoding.certificate.bound >= 5.0 - 1e-9
    assert decoding.certificate.gap == pytest.approx(decoding.certificate.bound)
    cut = dual.decode(problem, step="cuts")
    assert (cut.status, cut.certificate.bound) == (Status.BOUNDED, pytest.approx(5.0))
    assert cut.certificate.work.viterbi < decoding.certificate.work.viterbi


def test_hard_rules_that_exclude_each_other_are_infeasible():
    text = "Many: tokens(a) >= 3 [hard]\nFew: tokens(a) + tokens(b) <= 2 [hard]\nSoft: count(b) >= 1"
    rng = np.random.default_rng(0)
    for _ in range(10):
        potentials = Potentials(rng.normal(size=(5, 3)), rng.normal(size=(3, 3)))
        decoding = dual.decode(problem_of(potentials, ["a", "b", "O"], rules(text)))
        assert decoding.status is Status.INFEASIBLE
        assert decoding.labels is None


def test_an_impossible_hard_rule_is_infeasible():
    problem = problem_of(Potentials(np.zeros((3, 2))), ["a", "O"], rules("Many: tokens(a) >= 4 [hard]"))
    assert dual.decode(problem).status is Status.INFEASIBLE


def test_rules_that_only_fractions_satisfy_are_never_called_optimal():
    # Half of a a and half of O O has one token of a; no labelling has.
    problem = problem_of(both_or_none(2.0), ["a", "O"], rules("One: tokens(a) == 1 [hard]"))
    decoding = dual.decode(problem, max_iterations=50)
    assert decoding.status is Status.BOUNDED
    assert decoding.labels is None
    assert 1.0 - 1e-9 <= decoding.certificate.bound < 2.0  # the relaxation's optimum is 1
    assert decoding.certificate.gap == math.inf


def test_forbidden_by_the_potentials():
    decoding = dual.decode(problem_of(Potentials([[NO, NO]]), ["a", "O"], rules("One: count(a) <= 1")))
    assert decoding.status is Status.INFEASIBLE


@pytest.mark.parametrize(("text", "status"), [("count(a) >= 1", "optimal"), ("count(a) >= 1 [hard]", "infeasible")])
def test_no_tokens(text, status):
    decoding = dual.decode(problem_of(Potentials(np.zeros((0, 2))), ["a", "O"], rules(f"Some: {text}")))
    assert str(decoding.status) == status
    assert decoding.score == (-1.0 if status == "optimal" else -math.inf)


def test_without_violations_it_is_viterbi_in_one_pass():
    problem = problem_of(Potentials(np.zeros((4, 3))), ["a", "b", "O"], rules("One: count(a) <= 1\nZ: count(b) <= 1"))
    decoding = dual.decode(problem)
    assert decoding.names() == ["a"] * 4  # the first of all ties
    assert decoding.certificate.work.viterbi == 1


def test_equal_problems_have_equal_answers():
    problem = problem_of(Potentials(np.zeros((4, 3))), ["a", "b", "O"], rules("One: tokens(a) == 2"))
    first, second = dual.decode(problem), dual.decode(problem)
    assert first.labels.tolist() == second.labels.tolist()


def test_a_rule_that_is_not_linear_is_refused_by_name():
    compiled = compile_rules(rules("One: count(a) <= 1\nOrder: a before b"), Labels(["a", "b", "O"]))
    verdict = dual.accepts(compiled)
    assert not verdict.ok
    assert "'Order'" in verdict.reason
    potentials = Potentials(np.zeros((2, 3)))
    with pytest.raises(InputError, match="'Order'"):
        dual.decode(Problem(potentials, compiled.ground(["x", "x"])))
    # It costs nothing, so nobody needs to count it.
    assert dual.decode(Problem(potentials, compiled.ground(["x", "x"]), [1.0, 0.0])).status is Status.OPTIMAL


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 2}, "one labelling"),
        ({"step": "newton"}, "'polyak' or 'sdd14'"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"rate": 0.0}, "rate"),
        ({"cap": -1.0}, "cap"),
        ({"shrink": 1.0}, "shrink"),
        ({"gap": math.nan}, "gap"),
    ],
)
def test_wrong_options(options, message):
    problem = problem_of(BLOCKS, ["a", "O"], rules("One: count(a) <= 1"))
    with pytest.raises(InputError, match=message):
        dual.decode(problem, **options)


def test_a_gap_that_is_good_enough_ends_the_search():
    problem = problem_of(both_or_none(10.0), ["a", "O"], rules("Few: tokens(a) <= 1 [penalty 9]"))
    loose = dual.decode(problem, gap=8.0)
    assert loose.certificate.gap <= 8.0
    assert loose.certificate.work.viterbi < dual.decode(problem).certificate.work.viterbi

"""Integer programs against enumeration: every form of rule, the lattice, the flows of single rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from count_problems import all_nodes, enumerated, linear_nodes, local_nodes, optimum, problem_of, problems
from espalier.decoders import ilp
from espalier.decoders.base import Status
from espalier.errors import InputError
from espalier.potentials import Potentials
from espalier.rules.ruleset import RuleSet
from strategies import chains

few = settings(max_examples=30, deadline=None, derandomize=True)
many = settings(max_examples=70, deadline=None, derandomize=True)
rules = RuleSet.from_text
NO = -np.inf


def check(problem, decoding):
    best = optimum(problem)
    if best == -math.inf:
        assert decoding.status is Status.INFEASIBLE
        assert decoding.labels is None
        return
    assert decoding.status is Status.OPTIMAL
    assert decoding.score == pytest.approx(best, abs=1e-8)
    assert decoding.certificate.bound >= best - 1e-9 * max(1, abs(best))


@few
@given(problems(linear_nodes | local_nodes))
def test_linear_rules(problem):
    check(problem, ilp.decode(problem))


@many
@given(problems(all_nodes, once=(False, True)))
def test_every_rule(problem):
    check(problem, ilp.decode(problem))


@few
@given(problems(all_nodes, exact=True))
def test_ties(problem):
    decoding = ilp.decode(problem)
    check(problem, decoding)
    if decoding.labels is not None:
        assert ilp.decode(problem).labels.tolist() == decoding.labels.tolist()


@few
@given(problems(all_nodes, max_tokens=3, once=(False, True)))
def test_the_expression_of_a_rule_is_its_degree(problem):
    """Along every single path the least value of the expression is the degree, and never above `most`."""
    if problem.T == 0:
        return
    lattice = ilp.ProgramLattice.of(problem.potentials)
    for answer in enumerated(problem)[:6]:
        for k in range(problem.rules.K):
            program = ilp.Program()
            x = lattice.add_to(program)
            degree = ilp.degree_of(problem.grounded, k, lattice, program, x)
            on_path = np.array(answer.y)[lattice.t] == lattice.j
            on_path &= (lattice.t == 0) | (np.array(answer.y)[lattice.t - 1] == lattice.i)
            program.add_row(ilp.Expression(x, on_path.astype(float)), lower=problem.T)
            solution = program.maximise([(-1.0, degree)])
            assert -solution.bound == pytest.approx(answer.degrees[k])
            assert answer.degrees[k] <= degree.most


@many
@given(chains(min_tokens=1), st.floats(-12, 12))
def test_the_lattice_keeps_what_can_reach_the_floor(potentials, floor):
    problem = problem_of(potentials, [f"l{i}" for i in range(potentials.n_labels)], RuleSet())

    def reaching(least):
        return {
            (t, y[t - 1] if t else potentials.n_labels, y[t])
            for y, score, *_ in enumerated(problem)
            if score >= least
            for t in range(len(y))
        }

    lattice = ilp.ProgramLattice.of(potentials, floor)
    kept = set(zip(lattice.t.tolist(), lattice.i.tolist(), lattice.j.tolist(), strict=True))
    assert reaching(floor) <= kept <= reaching(floor - 1e-6)  # ties with the floor are kept


def test_steps_add_up_to_scores():
    rng = np.random.default_rng(3)
    p = Potentials(rng.normal(size=(3, 2)), rng.normal(size=(2, 2, 2)), rng.normal(size=2), rng.normal(size=2))
    lattice = ilp.ProgramLattice.of(p)
    assert len(lattice.t) == 2 + 2 * 4
    for answer in enumerated(problem_of(p, ["a", "b"], RuleSet())):
        before = (2, *answer.y[:-1])
        taken = (np.array(before)[lattice.t] == lattice.i) & (np.array(answer.y)[lattice.t] == lattice.j)
        assert lattice.score[taken].sum() == pytest.approx(answer.model_score)
        assert lattice.labels(taken.astype(float)).tolist() == list(answer.y)


def test_a_fractional_relaxation_is_solved():
    # Half of a a and half of O O would keep the rule; only O O does.
    potentials = Potentials([[5, 0], [5, 0]], [[0, NO], [NO, 0]])
    decoding = ilp.decode(problem_of(potentials, ["a", "O"], rules("Few: tokens(a) <= 1 [hard]")))
    assert decoding.names() == ["O", "O"]
    assert decoding.status is Status.OPTIMAL


def test_hard_rules_that_exclude_each_other():
    text = "One: tokens(a) == 1 [hard]"
    potentials = Potentials([[5, 0], [5, 0]], [[0, NO], [NO, 0]])
    assert ilp.decode(problem_of(potentials, ["a", "O"], rules(text))).status is Status.INFEASIBLE


def test_every_label_forbidden():
    decoding = ilp.decode(problem_of(Potentials([[NO, NO]]), ["a", "O"], rules("One: count(a) <= 1")))
    assert decoding.status is Status.INFEASIBLE


def test_without_violations_it_is_viterbi():
    problem = problem_of(Potentials(np.zeros((4, 2))), ["a", "O"], rules("One: count(a) <= 1"))
    assert ilp.decode(problem).names() == ["a"] * 4


def long_problem(T=40, L=6):
    rng = np.random.default_rng(1)
    names = [f"f{i}" for i in range(L)]
    text = "Once: each field once [penalty 2]\nOrder: f1 before f2 [hard]\nLong: length(f3) >= 3"
    return problem_of(Potentials(rng.normal(size=(T, L)) * 2, rng.normal(size=(L, L))), names, rules(text))


def test_a_time_limit_leaves_a_bound():
    problem = long_problem()
    rushed, exact = ilp.decode(problem, time_limit=1e-3), ilp.decode(problem)
    assert exact.status is Status.OPTIMAL
    assert rushed.certificate.bound >= exact.score - 1e-9
    assert rushed.score <= exact.score + 1e-9


def test_a_program_that_is_too_large_says_which_rule():
    with pytest.raises(InputError, match=r"'Order'.*raise max_columns"):
        ilp.decode(long_problem(), max_columns=2_000)
    with pytest.raises(InputError, match="the lattice"):
        ilp.decode(long_problem(), max_columns=10)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"k": 3}, "one labelling"), ({"time_limit": 0}, "seconds"), ({"max_columns": 0}, "max_col")],
)
def test_wrong_options(options, message):
    with pytest.raises(InputError, match=message):
        ilp.decode(long_problem(), **options)

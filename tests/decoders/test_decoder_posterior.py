"""Distributions under rules: exact ones equal enumeration, sampled ones come near it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from decoder_problems import enumerated, problem_from, problems
from espalier.decoders import Problem, product
from espalier.decoders.lattice import LatticeTooLarge, from_automaton, from_monitors, posterior_of
from espalier.errors import InfeasibleError, InputError
from espalier.papers.decoders import gibbs
from espalier.rules.automaton import SizeError
from oracles import label_counts


@settings(max_examples=50, deadline=None, derandomize=True)
@given(problem=problems())
def test_log_partition_and_marginals_equal_enumeration(problem: Problem) -> None:
    everything = enumerated(problem)
    if everything.log_z == -math.inf:
        with pytest.raises(InfeasibleError):
            product.posterior(problem)
        return
    found = product.posterior(problem)
    assert found.log_z == pytest.approx(everything.log_z, abs=1e-9)
    assert product.log_partition(problem) == found.log_z
    assert found.marginals.shape == (problem.T, problem.L)
    np.testing.assert_allclose(found.marginals, everything.expectation(label_counts(problem.potentials)), atol=1e-9)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problem=problems())
def test_both_ways_to_build_a_lattice_agree(problem: Problem) -> None:
    try:
        automaton = problem.grounded.compiled.automaton(problem.globals)
    except SizeError:
        return
    tables, stepped = from_automaton(problem, automaton, 10_000), from_monitors(problem, 10_000)
    for one, other in zip(tables.layers, stepped.layers, strict=True):
        assert set(one.label.tolist()) == set(other.label.tolist())
    if enumerated(problem).log_z > -math.inf:
        found = [posterior_of(lattice) for lattice in (tables, stepped)]
        assert found[0].log_z == pytest.approx(found[1].log_z, abs=1e-9)
        assert found[0].entropy == pytest.approx(found[1].entropy, abs=1e-9)


def test_rules_without_an_automaton_are_stepped() -> None:
    # The difference of two counts has as many values as there are tokens.
    problem = problem_from("Same: tokens(a) == tokens(b) [penalty 1]", "x y z x", "a b c", np.eye(3)[[0, 0, 1, 2]])
    with pytest.raises(SizeError):
        problem.grounded.compiled.automaton(problem.globals)
    assert product.posterior(problem).log_z == pytest.approx(enumerated(problem).log_z)


# a once, soft: p(y) on two labels and three tokens is easily enumerated, and every labelling is possible.
SOFT = problem_from("Once: a once [penalty 1.5]", "x y z", "a b", [[1.0, 0.2], [0.0, 0.5], [0.8, 0.0]])
# IOB2 tags: single labels cannot cross from `B-a I-a` to `O O`; windows can.
TAGGED = problem_from(
    "One: count(a) <= 1 [hard]",
    "x y z",
    "B-a I-a O",
    [[0.3, 0.0, 0.1], [0.0, 0.5, 0.0], [0.2, 0.1, 0.0]],
    trans=[[0.0, 0.7, 0.0], [0.0, 0.0, 0.0], [0.0, -np.inf, 0.0]],
    start=[0.0, -np.inf, 0.0],
)
N = 4000


def assert_drawn_from(problem: Problem, y: np.ndarray, allowance: float) -> None:
    """The shares of whole labellings lie within `allowance` standard errors (and nothing impossible is drawn)."""
    expected = enumerated(problem).probabilities
    shares = dict.fromkeys(expected, 0.0)
    for row in y.tolist():
        shares[tuple(row)] += 1 / len(y)
    for labels, probability in expected.items():
        error = math.sqrt(probability * (1 - probability) / len(y))
        assert abs(shares[labels] - probability) <= allowance * error, labels


@pytest.mark.parametrize("problem", [SOFT, TAGGED], ids=["soft", "tagged"])
def test_exact_samples_follow_the_distribution(problem: Problem) -> None:
    y = product.sample(problem, N, np.random.default_rng(1))
    assert (y.shape, y.dtype) == ((N, 3), np.int16)
    assert_drawn_from(problem, y, 4.5)


@pytest.mark.parametrize("problem", [SOFT, TAGGED], ids=["soft", "tagged"])
def test_gibbs_samples_come_near_the_distribution(problem: Problem) -> None:
    # Draws are correlated: allow more standard errors than independent draws need.
    assert_drawn_from(problem, gibbs.sample(problem, N, np.random.default_rng(2)), 8.0)


def test_gibbs_marginals_come_near_the_exact_ones() -> None:
    y = gibbs.sample(TAGGED, N, 3)
    found = (y[:, :, None] == np.arange(TAGGED.L)).mean(axis=0)
    np.testing.assert_allclose(found, product.posterior(TAGGED).marginals, atol=0.06)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_seeds_decide_everything() -> None:
    one, same, other = (gibbs.sample(SOFT, 20, seed).tolist() for seed in (5, 5, 6))
    assert one == same != other
    assert gibbs.sample(SOFT, 20, np.random.default_rng(5)).tolist() == one


@settings(max_examples=25, deadline=None, derandomize=True)
@given(problem=problems(min_tokens=1))
def test_samples_are_possible_labellings(problem: Problem) -> None:
    possible = enumerated(problem).probabilities
    draws = [
        lambda: product.sample(problem, 5, np.random.default_rng(0)),
        lambda: gibbs.sample(problem, 5, 0, burn=2),
    ]
    for draw in draws:
        if possible:
            assert {tuple(row) for row in draw().tolist()} <= set(possible)
        else:
            with pytest.raises(InfeasibleError):
                draw()


def test_nothing_is_drawn_where_the_first_token_may_have_no_label() -> None:
    problem = problem_from("A: first in b [hard]\nB: first in a [hard]", "x", "a b")
    with pytest.raises(InfeasibleError):
        product.sample(problem, 5, np.random.default_rng(0))


def test_a_lattice_that_does_not_fit_says_its_size() -> None:
    problem = problem_from("Once: each field once", "x " * 8, "a b c d")
    with pytest.raises(LatticeTooLarge, match=r"max_edges = 50 edges .* 'astar'"):
        product.posterior(problem, max_edges=50)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"rng": -1}, "rng is -1"),
        ({"rng": "seed"}, "rng is 'seed'"),
        ({"sweeps": 0}, "sweeps is 0"),
        ({"window": 0}, "window is 0"),
        ({"hot": 0.1, "cold": 1.0}, "hot to cold"),
        ({"cold": 0.0}, "hot to cold"),
        ({"k": 0}, "k is 0"),
    ],
)
def test_bad_options_of_gibbs(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        gibbs.decode(SOFT, **options)


def test_annealing_finds_the_best_labelling_of_a_small_problem() -> None:
    for problem in (SOFT, TAGGED, TAGGED.with_penalties([0.5])):
        best, score = max(enumerated(problem).items, key=lambda item: item[1])
        found = gibbs.decode(problem, rng=7)
        assert (tuple(found.labels.tolist()), found.score) == (best, pytest.approx(score))


def test_annealing_gets_out_of_a_hard_conflict() -> None:
    unary = np.tile([3.0, 0.0], (6, 1))
    problem = problem_from("Most: tokens(a) <= 2 [hard]\nLast: last in a [hard]", "x " * 6, "a b", unary)
    found = gibbs.decode(problem, rng=1)
    assert found.labels is not None
    assert (found.labels == 0).sum() == 2
    assert found.labels[-1] == 0

"""A*, beams and lists under a budget: bounds hold, long sequences end."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoder_problems import problem_from, problems, ranked
from espalier.decoders import DECODERS, Problem, Status
from espalier.decoders.reduced import Losses
from espalier.errors import InputError
from espalier.potentials import Potentials
from oracles import chain_score, labellings
from strategies import chains


@settings(max_examples=60, deadline=None, derandomize=True)
@given(potentials=chains(min_tokens=1))
def test_losses_sum_to_what_a_labelling_misses(potentials: Potentials) -> None:
    losses = Losses(potentials)
    everything = labellings(potentials)
    assert losses.top == pytest.approx(everything.total(max), abs=1e-9)
    if losses.top == -math.inf:
        return
    for y, score in everything.items:
        lost = [losses.row(t, y[t - 1] if t else -1)[label] for t, label in enumerate(y)]
        assert losses.top - math.fsum(lost) == pytest.approx(score, abs=1e-9)
    for t in range(potentials.n_tokens):
        for i in range(potentials.n_labels) if t else (-1,):
            row, (slacks, order) = losses.row(t, i), losses.sorted_row(t, i)
            assert slacks == sorted(slacks) == row[order].tolist()
            assert not slacks or min(slacks) == 0.0
            assert len(slacks) == np.isfinite(row).sum()


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problem=problems(min_tokens=1), max_nodes=st.integers(1, 12), k=st.integers(1, 3))
def test_a_budget_gives_true_bounds(problem: Problem, max_nodes: int, k: int) -> None:
    best = ranked(problem)
    found = DECODERS["astar"].decode(problem, max_nodes=max_nodes, width=1, k=k)
    top = best[0][1] if best else -math.inf
    assert found.certificate.bound >= top - 1e-9
    assert found.certificate.work.nodes <= max_nodes
    if found.status is Status.OPTIMAL:
        assert found.score == pytest.approx(top, abs=1e-9)
    if found.status is Status.INFEASIBLE:
        assert not best
    for rank, one in enumerate(found.alternatives, start=1):
        assert one.certificate.bound >= best[rank][1] - 1e-9


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problem=problems(min_tokens=1), longest=st.integers(1, 6))
def test_a_short_list_gives_true_bounds(problem: Problem, longest: int) -> None:
    best = ranked(problem)
    found = DECODERS["kbest"].decode(problem, longest=longest)
    assert found.certificate.bound >= (best[0][1] if best else -math.inf) - 1e-9
    assert found.status is not Status.INFEASIBLE or not best


def repeated_fields(T: int, seed: int) -> Problem:
    """A long noisy sequence over five fields, each of which should come once: Viterbi re-opens all of them."""
    rng = np.random.default_rng(seed)
    trans = np.where(np.eye(5, dtype=bool), 1.0, -1.0)
    text = "Once: each field once [penalty 0.7]\nOrder: a before b [penalty 1]"
    return problem_from(text, ["x"] * T, "a b c d e", rng.normal(size=(T, 5)), trans=trans)


def test_five_thousand_tokens_within_a_budget() -> None:
    problem = repeated_fields(5000, 0)
    found = DECODERS["astar"].decode(problem, max_nodes=20_000, width=4)
    assert found.status in (Status.BOUNDED, Status.OPTIMAL)
    assert found.certificate.work.nodes <= 20_000
    assert found.score <= found.certificate.bound < math.inf
    easy = DECODERS["astar"].decode(problem.with_penalties([0.0, 0.0]))
    assert easy.status is Status.OPTIMAL
    assert easy.score == pytest.approx(chain_score(problem.potentials, easy.labels.tolist()))


def test_astar_is_as_cheap_as_viterbi_where_no_rule_is_broken() -> None:
    problem = problem_from("Once: a once [hard]\nReq: b required", "x " * 50, "a b", np.tile([0.0, 1.0], (50, 1)))
    found = DECODERS["astar"].decode(problem)
    assert found.status is Status.OPTIMAL
    assert found.certificate.work.nodes <= 51


def test_a_plateau_of_ties_is_not_flooded() -> None:
    # Every labelling without a second segment scores 0.
    found = DECODERS["astar"].decode(problem_from("Once: each field once [hard]", "x " * 60, "a b c d e f g h"))
    assert (found.status, found.score) == (Status.OPTIMAL, 0.0)
    assert found.certificate.work.nodes < 1000


@pytest.mark.parametrize(
    ("name", "option"), [("astar", "max_nodes"), ("astar", "width"), ("beam", "width"), ("kbest", "longest")]
)
def test_budgets_are_whole_numbers(name: str, option: str) -> None:
    problem = problem_from("", "x", "a b")
    for value in (0, -3, 1.5, True, None):
        with pytest.raises(InputError, match=f"{option} is {value!r}"):
            DECODERS[name].decode(problem, **{option: value})


@pytest.mark.parametrize("name", list(DECODERS))
def test_k_is_a_whole_number(name: str) -> None:
    with pytest.raises(InputError, match="k is 0"):
        DECODERS[name].decode(problem_from("", "x", "a b"), k=0)


def test_exhaustive_refuses_what_it_cannot_list() -> None:
    with pytest.raises(InputError, match=r"2 labels on 40 tokens have 1\.1e"):
        DECODERS["exhaustive"].decode(problem_from("", "x " * 40, "a b"))

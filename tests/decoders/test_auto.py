"""The ladder: every rung against enumeration, what it says about itself, and what ends it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from count_problems import linear_nodes, optimum
from count_problems import problems as linear_problems
from decoder_problems import enumerated, problem_from, problems, ranked
from espalier.corpus import Corpus
from espalier.decoders import Problem, Status, astar, climb, ilp
from espalier.decoders.batch import decode_batch
from espalier.decoders.many import auto
from espalier.errors import InputError
from espalier.potentials import ChainBatch, Potentials

STEPS = {"viterbi", "soft-dd", "search", "list", "astar", "ilp"}

LAW = settings(max_examples=50, deadline=None, derandomize=True)
FEWER = settings(max_examples=25, deadline=None, derandomize=True)


def check(problem: Problem, found, best: float) -> None:
    """The answer is the best there is, or says by how much it may fall short."""
    assert found.certificate.method in STEPS
    assert found.certificate.bound >= best - 1e-9
    assert found.score <= best + 1e-9
    if found.status is Status.OPTIMAL:
        assert found.score == pytest.approx(best, abs=1e-9)
    if found.status is Status.INFEASIBLE:
        assert best == -math.inf
    if found.labels is not None:
        scores = dict(enumerated(problem).items)
        assert scores[tuple(found.labels.tolist())] == pytest.approx(found.score, abs=1e-9)


@LAW
@given(problem=problems())
def test_any_rule_is_decoded_exactly(problem: Problem) -> None:
    best = ranked(problem)
    found = auto(problem)
    assert found.status is (Status.OPTIMAL if best else Status.INFEASIBLE)
    check(problem, found, best[0][1] if best else -math.inf)


@LAW
@given(problem=linear_problems(linear_nodes))
def test_linear_rules_are_decoded_exactly(problem: Problem) -> None:
    best = optimum(problem)
    found = auto(problem)
    assert found.status is (Status.OPTIMAL if best > -math.inf else Status.INFEASIBLE)
    assert found.score == pytest.approx(best, abs=1e-9)


@FEWER
@given(problem=problems(), nodes=st.integers(0, 3))
def test_a_small_budget_leaves_a_true_bound(problem: Problem, nodes: int) -> None:
    best = ranked(problem)
    check(problem, auto(problem, max_nodes=nodes), best[0][1] if best else -math.inf)


@FEWER
@given(problem=problems(exact=True), k=st.integers(2, 5))
def test_the_k_best_are_those_of_enumeration(problem: Problem, k: int) -> None:
    best = ranked(problem)[:k]
    found = auto(problem, k=k)
    if not best:
        assert found.status is Status.INFEASIBLE
        return
    assert [one.score for one in found] == [score for _, score in best]
    assert all(one.certificate.method in STEPS for one in found)


@FEWER
@given(problem=problems(), data=st.data())
def test_a_known_labelling_does_not_change_what_the_search_finds(problem: Problem, data: st.DataObject) -> None:
    best = ranked(problem)
    if not best:
        return
    known, floor = data.draw(st.sampled_from(best))
    found = astar.decode(problem, known=known)
    assert found.status is Status.OPTIMAL
    assert found.score == pytest.approx(best[0][1], abs=1e-9)
    cut = astar.decode(problem, known=known, max_nodes=1)
    assert cut.score >= floor - 1e-9
    assert cut.certificate.bound >= best[0][1] - 1e-9


# Of four tokens the first and the third ask for a, by 3; one a too many costs 2.
SCORES = np.array([[3.0, 0.0], [0.0, 3.0], [3.0, 0.0], [0.0, 3.0]])


@pytest.mark.parametrize(
    ("rule", "method", "score"),
    [
        ("R: first in a [penalty 2]", "viterbi", 12.0),
        ("R: count(a) <= 2 [hard]", "viterbi", 12.0),
        ("R: count(a) <= 1 [penalty 2]", "soft-dd", 10.0),
        # One run of a less costs 3. D(λ) = max(12 - λ, 9, 6 + λ) meets that only at λ = 3, where labellings tie.
        ("R: count(a) <= 1 [hard]", "search", 9.0),
        # b may not stand before a: either the second token or the third gives up its 3.
        ("R: a before b [hard]", "search", 9.0),
    ],
)
def test_the_certificate_names_the_step(rule: str, method: str, score: float) -> None:
    found = auto(problem_from(rule, "x x x x", "a b", SCORES))
    assert found.status is Status.OPTIMAL
    assert found.score == score
    assert found.certificate.method == method
    assert found.certificate.work.viterbi >= 1


def test_transitions_may_differ_by_token() -> None:
    problem = problem_from("R: count(a) <= 1 [penalty 2]", "x x x x", "a b", SCORES, trans=np.zeros((3, 2, 2)))
    found = auto(problem)
    assert (found.status, found.score) == (Status.OPTIMAL, 10.0)
    assert found.certificate.method in ("soft-dd", "search")


def hard_to_search() -> tuple[Problem, float]:
    """Scores that are nearly flat under rules that do not add up: many labellings look alike."""
    rng = np.random.default_rng(3)
    text = "A: length(a) >= 2 [penalty 1]\nB: a before b [penalty 1]\nC: length(b) <= 2 [penalty 0.7]"
    problem = problem_from(text, ["x"] * 8, "a b c", rng.normal(size=(8, 3)))
    return problem, ranked(problem)[0][1]


def test_the_integer_program_proves_what_a_short_search_cannot() -> None:
    problem, best = hard_to_search()
    found = auto(problem, max_nodes=2)
    assert found.status is Status.OPTIMAL
    assert found.certificate.method == "ilp"
    assert found.score == pytest.approx(best, abs=1e-6)


def test_where_nothing_fits_the_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, best = hard_to_search()
    monkeypatch.setattr(climb, "MAX_COLUMNS", 1)
    found = auto(problem, max_nodes=2)
    assert found.status is Status.BOUNDED
    assert found.certificate.method == "astar"
    assert found.score <= best + 1e-9 <= found.certificate.bound + 2e-9


def test_time_ends_the_climb_with_what_is_known() -> None:
    problem, best = hard_to_search()
    found = auto(problem, max_nodes=2, seconds=1e-9)
    assert found.certificate.method in ("viterbi", "soft-dd", "search")
    assert found.status is Status.BOUNDED
    check(problem, found, best)


def test_blocks_in_any_order() -> None:
    """Each of nine fields once, over scores that want to alternate: 2,305 states of the product automaton."""
    unary = np.random.default_rng(5).normal(0.0, 3.0, (25, 9))
    problem = problem_from("Once: each field once [hard]", " ".join(["x"] * 25), " ".join("abcdefghi"), unary)
    found = auto(problem)
    assert found.status is Status.OPTIMAL
    assert found.score == pytest.approx(ilp.decode(problem).score)
    blocks = [name for name, before in zip(found.names(), ["", *found.names()], strict=False) if name != before]
    assert len(set(blocks)) == len(blocks)


def test_infeasible_is_claimed_only_when_proven() -> None:
    problem = problem_from("R: count(a) >= 3 [hard]", "x x x", "a b", trans=[[0.0, 0.0], [0.0, -math.inf]])
    assert auto(problem).status is Status.INFEASIBLE
    unproven = auto(problem, max_nodes=0)
    assert unproven.labels is None
    assert unproven.status in (Status.BOUNDED, Status.INFEASIBLE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k is 0"),
        ({"max_nodes": -1}, "max_nodes is -1"),
        ({"seconds": 0}, "seconds is 0; expected a positive number"),
        ({"seconds": math.nan}, "seconds is nan"),
    ],
)
def test_wrong_options_are_errors(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        auto(problem_from("R: count(a) <= 1", "x", "a b"), **options)


def test_a_known_labelling_serves_one_answer_only() -> None:
    with pytest.raises(InputError, match="leave it out for the k best"):
        astar.decode(problem_from("R: count(a) <= 1", "x", "a b"), k=2, known=[0])


@FEWER
@given(problem=linear_problems(linear_nodes))
def test_a_batch_of_any_transitions_is_decoded_exactly(problem: Problem) -> None:
    batch = ChainBatch.of([problem.potentials, problem.potentials])
    corpus = Corpus.from_tokens([list(problem.grounded.tokens)] * 2)
    found = decode_batch(batch, problem.grounded.compiled, corpus)
    best = optimum(problem)
    assert found.scores == pytest.approx([best] * 2, abs=1e-9)
    assert found.settled.all() == (best > -math.inf)


def test_an_unproven_sequence_of_a_batch_keeps_its_bound() -> None:
    # Viterbi labels everything a, which breaks S; without a search no other labelling is met.
    problem = problem_from(
        "R: b before a [hard]\nS: b required [hard]", "x x x x", "a b", SCORES + np.array([5.0, 0.0])
    )
    batch = ChainBatch.of([Potentials(problem.potentials.unary)])
    found = decode_batch(batch, problem.grounded.compiled, Corpus.from_tokens([["x"] * 4]), max_nodes=0)
    assert found.scores[0] == -math.inf
    assert found.bounds[0] >= ranked(problem)[0][1]
    assert not found.settled[0]

"""The front door: anybody's scores and rules in, labels or a clear complaint out."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from decoder_problems import enumerated, problem_from, problems, ranked
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.corpus import Labels
from espalier.decoders import Problem, Status, decode, marginals, sample
from espalier.decoders.base import Problems
from espalier.decoders.conflict import conflict, relaxed
from espalier.errors import InputError, LabelError, RuleError
from espalier.potentials import Potentials
from espalier.rules import Rule, RuleSet, once
from espalier.rules.compile import compile_rules
from oracles import label_counts

TOKENS = ["x", "y", "z"]
LABELS = ["a", "b"]
UNARY = [[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]]
ONCE = "Once: a once [hard]"


def test_scores_come_in_several_forms() -> None:
    trans, start, end = np.array([[0.5, 0.0], [0.0, 0.0]]), np.array([0.0, 1.0]), np.array([0.0, 2.0])
    whole = decode(Potentials(UNARY, trans, start, end)).score
    assert decode((UNARY, trans, start, end)).score == whole
    assert decode((UNARY, trans, None, None)).score == decode(Potentials(UNARY, trans)).score
    assert decode(UNARY).score == decode(np.array(UNARY)).score == 5.0
    assert decode(UNARY).names() == ["0", "1", "0"]


def test_rules_come_in_several_forms() -> None:
    rules = RuleSet.from_text(ONCE)
    forms = (ONCE, rules, rules[0], Rule("Once", once("a"), math.inf), compile_rules(rules, Labels(LABELS)))
    for form in forms:
        found = decode(UNARY, form, tokens=TOKENS, labels=LABELS)
        assert (found.names(), found.score, found.status) == (["a", "a", "a"], 4.0, Status.OPTIMAL)


def test_penalties_by_name_or_in_order() -> None:
    soft = decode(UNARY, ONCE, tokens=TOKENS, labels=LABELS, penalties={"Once": 0.25})
    assert (soft.names(), soft.score) == (["a", "b", "a"], 4.75)
    assert decode(UNARY, ONCE, tokens=TOKENS, labels=LABELS, penalties=[0.25]).score == 4.75
    with pytest.raises(RuleError, match="did you mean 'Once'"):
        decode(UNARY, ONCE, tokens=TOKENS, labels=LABELS, penalties={"Onec": 1.0})
    for wrong in ({"Once": -1.0}, [-1.0], [math.nan], {"Once": math.nan}):
        with pytest.raises(InputError, match="must be zero or more"):
            decode(UNARY, ONCE, tokens=TOKENS, labels=LABELS, penalties=wrong)


@pytest.mark.parametrize(
    ("clamp", "names"),
    [
        ({1: "a"}, ["a", "a", "a"]),
        ({0: 1}, ["b", "b", "a"]),
        ({-1: "b"}, ["a", "b", "b"]),
        ({(0, 2): "b"}, ["b", "b", "a"]),
        ({0: "b", 1: "b", 2: "b"}, ["b", "b", "b"]),
        ({(0, 3): ("a", "b")}, ["a", "b", "a"]),
        ({(0, 3): ["a", 1], 0: "b"}, ["b", "b", "a"]),
    ],
)
def test_clamped_tokens(clamp: dict[object, object], names: list[str]) -> None:
    assert decode(UNARY, labels=LABELS, clamp=clamp).names() == names


@pytest.mark.parametrize(
    ("clamp", "complaint"),
    [
        ({3: "a"}, "tokens 3 cannot be clamped: the sequence has 3 tokens"),
        ({-4: "a"}, "tokens -4"),
        ({(2, 2): "a"}, r"tokens \(2, 2\)"),
        ({0: "c"}, "unknown label 'c'"),
        ({0: 2}, "labels are 0 to 1"),
        ({0: []}, "no label at all"),
        ({0: "a", (0, 2): "b"}, "token 0 is clamped twice"),
    ],
)
def test_bad_clamps(clamp: dict[object, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        decode(UNARY, labels=LABELS, clamp=clamp)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"method": "vitrebi"}, "unknown method 'vitrebi'; did you mean 'viterbi'"),
        ({"method": "magic"}, "methods: auto, viterbi"),
        ({"method": "astar", "max_node": 3}, "'astar' has no option 'max_node'; did you mean 'max_nodes'"),
        ({"method": "viterbi", "width": 3, "rules": None}, "'viterbi' has no option 'width'; it has none"),
        ({"width": 3}, "'auto' has no option 'width'"),
        ({"method": "viterbi"}, "rule 'Once' has the form .* use method='auto'"),
        ({"tokens": None}, "pass tokens="),
        ({"tokens": "x y"}, "is a string"),
        ({"tokens": ["x"]}, "potentials of 3 tokens, but 1 tokens"),
        ({"labels": ["a", "b", "c"]}, "potentials of 2 labels, but 3 label names"),
        ({"rules": "R: c once"}, "unknown field 'c'"),
        ({"rules": RuleSet.from_text("R: c once")}, "unknown field 'c'"),
        ({"rules": 3}, "rules are a RuleSet or text, not int"),
        ({"rules": compile_rules(RuleSet.from_text(ONCE), Labels(["b", "a"]))}, "compiled for other labels"),
        ({"potentials": (UNARY,) * 5}, "a tuple of 5 arrays"),
        ({"potentials": [1.0, 2.0]}, r"expected \(tokens, labels\)"),
        ({"potentials": [[math.nan, 0.0]] * 3}, "nan"),
        ({"k": 0}, "k is 0"),
    ],
)
def test_bad_input_is_explained(arguments: dict[str, object], complaint: str) -> None:
    given_ = {"potentials": UNARY, "rules": ONCE, "tokens": TOKENS, "labels": LABELS} | arguments
    with pytest.raises(InputError, match=complaint):
        decode(given_.pop("potentials"), given_.pop("rules"), **given_)


def test_labels_that_are_no_labels() -> None:
    with pytest.raises(LabelError, match="listed twice"):
        decode(UNARY, labels=["a", "a"])


def test_a_rule_without_a_price_needs_no_method_that_takes_it() -> None:
    found = decode(UNARY, ONCE, tokens=TOKENS, labels=LABELS, penalties=[0.0], method="viterbi")
    assert (found.status, found.violations) == (Status.OPTIMAL, (("Once", 2, 1, 0.0),))


IMPOSSIBLE = "A: a required [hard]\nB: count(a) <= 0 [hard]\nC: b once [hard]\nD: first in b [penalty 0.5]"


@pytest.mark.parametrize("method", ["auto", "astar", "exhaustive", "kbest"])
def test_impossible_rules_are_named(method: str) -> None:
    found = decode(UNARY, IMPOSSIBLE, tokens=TOKENS, labels=LABELS, method=method)
    assert (found.status, found.labels, found.certificate.conflict) == (Status.INFEASIBLE, None, ("A", "B"))
    assert conflict(problem_from(ONCE, "x y z", "a b")) is None


def test_relaxing_breaks_as_little_as_possible() -> None:
    found = decode(UNARY, IMPOSSIBLE, tokens=TOKENS, labels=LABELS, relax=True)
    assert (found.status, found.certificate.conflict) == (Status.INFEASIBLE, ("A", "B"))
    # Breaking A (no a at all) costs one violation, as does one block of a; the score prefers the latter.
    assert found.names() == ["a", "a", "a"]
    assert {v.name for v in found.violations} == {"B", "D"}


@settings(max_examples=80, deadline=None, derandomize=True)
@given(problem=problems(min_tokens=1))
def test_relaxing_equals_enumeration(problem: Problem) -> None:
    if ranked(problem):  # nothing has to be relaxed
        assert conflict(problem) is None
        return
    hard = list(problem.hard)
    priced = problem.with_penalties(np.where(np.isinf(problem.penalties), 0.0, problem.penalties))
    alone = problem.with_penalties(np.where(np.isinf(problem.penalties), 1.0, 0.0))
    flat = alone.with_potentials(Potentials(np.zeros((problem.T, problem.L))))
    degree = {y: -score for y, score in enumerated(flat).items}
    allowed = [(degree[y], -score) for y, score in enumerated(priced).items if score > -math.inf]
    (found,) = relaxed(Problems.of_one(problem))
    if not allowed:
        assert found is None
        return
    assert found is not None
    least, loss = min(allowed)
    y = tuple(found.tolist())
    assert degree[y] == least
    assert dict(enumerated(priced).items)[y] == pytest.approx(-loss, abs=1e-9)
    assert least > 0
    why = conflict(problem)
    assert why is not None
    # Irreducible: the named rules alone are impossible, and possible without any one of them.
    assert why.proven
    for missing in (None, *why.rules):
        kept = [k for k in hard if problem.rules.names[k] in why.rules and problem.rules.names[k] != missing]
        penalties = np.zeros(problem.rules.K)
        penalties[kept] = math.inf
        assert bool(ranked(problem.with_penalties(penalties))) == (missing is not None)


def test_potentials_that_forbid_everything_are_no_conflict_of_rules() -> None:
    found = decode(np.full((3, 2), -np.inf), ONCE, tokens=TOKENS, labels=LABELS, relax=True)
    assert (found.status, found.labels, found.certificate.conflict) == (Status.INFEASIBLE, None, ())


def test_marginals_say_how_they_were_made() -> None:
    problem = problem_from("Once: a once [penalty 1]", "x y z", "a b", UNARY)
    expected = enumerated(problem).expectation(label_counts(problem.potentials))
    arguments = {"rules": "Once: a once [penalty 1]", "tokens": TOKENS, "labels": LABELS}
    exact = marginals(UNARY, **arguments)
    assert (exact.method, exact.exact) == ("exact", True)
    np.testing.assert_allclose(exact.probabilities, expected)
    assert exact.log_z == pytest.approx(enumerated(problem).log_z)
    estimated = marginals(UNARY, **arguments, max_edges=1, sweeps=2000)
    assert (estimated.method, estimated.exact, estimated.log_z) == ("gibbs", False, None)
    np.testing.assert_allclose(estimated.probabilities, expected, atol=0.05)
    with pytest.raises(InputError, match="max_edges = 1"):
        marginals(UNARY, **arguments, max_edges=1, method="exact")


def test_marginals_without_global_rules_use_the_chain() -> None:
    problem = problem_from("First: first in b [penalty 1]", "x y z", "a b", UNARY)
    found = marginals(UNARY, "First: first in b [penalty 1]", tokens=TOKENS, labels=LABELS)
    np.testing.assert_allclose(found.probabilities, enumerated(problem).expectation(label_counts(problem.potentials)))
    assert marginals(np.zeros((0, 2))).probabilities.shape == (0, 2)


def test_samples_say_how_they_were_drawn() -> None:
    exact = sample(UNARY, ONCE, tokens=TOKENS, labels=LABELS, n=50, rng=1)
    assert (exact.labels.shape, exact.method, exact.exact) == ((50, 3), "exact", True)
    walked = sample(UNARY, ONCE, tokens=TOKENS, labels=LABELS, n=50, rng=1, method="gibbs", burn=5, thin=2)
    assert (walked.labels.shape, walked.method, walked.exact) == ((50, 3), "gibbs", False)
    for labels in (*exact.labels.tolist(), *walked.labels.tolist()):
        assert labels != [0, 1, 0]


@pytest.mark.parametrize("front", [marginals, sample])
def test_bad_methods_and_options_of_distributions(front: object) -> None:
    with pytest.raises(InputError, match="method 'viterbi' draws no labellings; use 'auto' or 'exact' or 'gibbs'"):
        front(UNARY, method="viterbi")
    with pytest.raises(InputError, match="method 'gibbs' has no option 'sweep'"):
        front(UNARY, sweep=3)


# One sequence is a batch of one.


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problem=problems(), k=st.integers(1, 3))
def test_one_sequence_is_a_batch_of_one(problem: Problem, k: int) -> None:
    compiled, tokens = problem.grounded.compiled, list(problem.grounded.tokens)
    how = {"penalties": problem.penalties, "k": k}
    one = es.decode(problem.potentials, compiled, tokens=tokens, **how)
    (other,) = es.decode([problem.potentials], compiled, tokens=[tokens], **how)
    for a, b in zip(one, other, strict=True):
        assert (a.labels is None) == (b.labels is None)
        assert a.labels is None or a.labels.tolist() == b.labels.tolist()
        assert (a.score, a.violations) == (b.score, b.violations)
        assert a.certificate.to_dict() == pytest.approx(b.certificate.to_dict())


def test_rules_that_look_alike_are_not_taken_for_each_other() -> None:
    scores, tokens = [[0.0, 1.0], [0.0, 1.0]], ["u", "v"]
    found = []
    for word in ("u", "v"):
        own = es.rules("R: token is mine -> x [hard]", predicates={"mine": lambda token, word=word: token == word})
        found.append(es.decode(scores, own, tokens=tokens, labels=["x", "y"]).names())
    assert found == [["x", "y"], ["y", "x"]]


def test_a_file_of_words_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = []
    for word in ("u", "v"):
        (tmp_path / "mine.txt").write_text(word + "\n", encoding="utf-8")
        text = 'R: token in file "mine.txt" -> x [hard]'
        found.append(es.decode([[0.0, 1.0], [0.0, 1.0]], text, tokens=["u", "v"], labels=["x", "y"]).names())
    assert found == [["x", "y"], ["y", "x"]]

"""Joint decoding against enumeration; certificates, k best, explanations, and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from joint_problems import check, enumerated, random_problem

from espalier.decoders.base import Status
from espalier.errors import InfeasibleError, InputError, RuleError
from espalier.joint import JointProblem, PairLayer, TextLayer
from espalier.joint.dual import Decomposition
from espalier.joint.rows import rows_of
from espalier.joint.rules import JointRules


def small(seed: int, most: int = 700) -> JointProblem | None:
    problem = random_problem(np.random.default_rng(seed))
    size = math.prod(chain.problem.L**chain.problem.T for chain in problem.chains)
    return problem if size <= most else None


@pytest.mark.parametrize("method", ["auto", "dual", "ilp"])
def test_certificates_are_true(method):
    problems = [p for p in map(small, range(1000, 1040)) if p is not None]
    statuses = [str(check(problem, method=method).status) for problem in problems]
    assert len(statuses) > 10
    proven = len(statuses) - statuses.count("bounded")
    assert proven == len(statuses) or method == "dual"
    assert proven > 0.6 * len(statuses)


def test_impossible_problems_are_told_apart():
    """Of these seeds every pair has to be joined, and a hard rule says what it may join."""
    problems = [random_problem(np.random.default_rng(seed)) for seed in (5022, 5136, 5181, 5234, 5296, 5394)]
    answers = [(bool(enumerated(problem)), problem.decode()) for problem in problems]
    assert {possible for possible, _ in answers} == {True, False}
    for possible, answer in answers:
        assert (answer.names is not None) is possible
        assert answer.status is (Status.OPTIMAL if possible else Status.INFEASIBLE)


def test_rows_count_what_the_meaning_counts():
    rng = np.random.default_rng(5)
    for seed in range(40):
        problem = random_problem(np.random.default_rng(seed))
        rows = rows_of(problem)
        for _ in range(10):
            y = tuple(rng.integers(c.problem.L, size=c.problem.T).astype(np.int16) for c in problem.chains)
            degrees = problem.evaluate(y).degrees
            broken = degrees > 0
            priced = float((degrees[broken] * problem.penalties[broken]).sum())
            assert rows.price(rows.excess(rows.taken(y))) == pytest.approx(priced)


def test_the_bound_of_any_multipliers_holds():
    for seed in range(2000, 2030):
        problem = small(seed, 400)
        if problem is None:
            continue
        every = enumerated(problem)
        found = Decomposition(problem, rows_of(problem))
        found.run(15)
        if every:
            assert found.bound >= every[0][0] - 1e-9 * max(1.0, abs(every[0][0]))


def test_k_best_are_those_of_enumeration():
    tried = 0
    for seed in range(3000, 3025):
        problem = small(seed, 400)
        if problem is None or (every := enumerated(problem)) == []:
            continue
        tried += 1
        answers = list(problem.decode(k=4))
        assert [a.score for a in answers] == pytest.approx([score for score, _ in every[:4]], abs=1e-6)
        assert all(a.status is Status.OPTIMAL for a in answers)
        assert len({str(a.names) for a in answers}) == len(answers)
    assert tried >= 5


def live_in(penalty: str = "[hard]", gain: float = 3.0) -> JointProblem:
    """`Ulm` is a person by a hair; that somebody lives there says otherwise."""
    labels = ["O", "B-per", "B-loc"]
    names = TextLayer([[0.0, 3.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.2, 1.0]], labels=labels, tokens=["Ann", "in", "Ulm"])
    pairs = PairLayer("names", [((0, 1), (2, 3))], [[0.0, gain]], labels=["none", "lives"])
    return JointProblem({"names": names, "pairs": pairs}, f"Live: lives joins per and loc {penalty}")


def test_a_relation_corrects_a_name():
    problem = live_in()
    answer = problem.decode()
    assert answer["names"] == ["B-per", "O", "B-loc"]
    assert answer["pairs"] == ["lives"]
    assert answer.certificate.proven
    found = problem.explain()
    assert found.cause == ("Live",)
    assert found.changed == (("names", 0, 2),)
    assert "names 2: B-per -> B-loc" in str(found)
    assert live_in(gain=0.1).decode()["pairs"] == ["none"]
    unchanged = live_in("[penalty 0.1]").decode()
    assert unchanged["names"][2] == "B-per"
    assert [(v.name, v.layer, v.position) for v in unchanged.violations] == [("Live", "pairs", 0)]


def test_hard_rules_that_exclude_every_answer_are_infeasible():
    problem = live_in()
    pairs = PairLayer("names", [((1, 2), (2, 3))], [[0.0]], labels=["lives"])
    names = TextLayer([[0.0, 3.0]] * 3, labels=["O", "loc"], tokens=["Ann", "in", "Ulm"])
    answer = JointProblem({"names": names, "pairs": pairs}, problem.rules).decode()
    assert answer.status is Status.INFEASIBLE
    assert answer.certificate.conflict == ("Live",)
    with pytest.raises(InfeasibleError, match="these hard rules exclude each other: Live"):
        answer["names"]


def test_several_texts_and_nothing_at_all():
    names = TextLayer([[[1.0, 0.0]], np.zeros((0, 2))], labels=["O", "per"], tokens=[["Ann"], []])
    answer = JointProblem({"names": names}).decode()
    assert answer["names"] == [["O"], []]
    assert answer.certificate.proven
    assert JointProblem({}).decode().names == {}


def test_rules_print_as_they_are_read():
    text = (
        "Live: live-in joins person and location  [hard]\n"
        "Noun: person of entities -> noun, name of words  [penalty 2.0]\n"
        "Same: same token -> same field of entities where token ~ /[A-Z].*/\n"
        'Speak: same token -> same speaker of "my lines"  [penalty 0.5]'
    )
    rules = JointRules.from_text(text)
    assert str(rules) == text
    assert JointRules.from_text(str(rules)) == rules
    assert rules.penalties.tolist() == [math.inf, 2.0, 1.0, 0.5]
    assert rules.with_penalties({"Same": 3.0}).penalties[2] == 3.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Live live-in", "begins with its name"),
        ("Live: live-in join person", "expected 'joins' or 'of'"),
        ("Live: live-in joins person", "expected 'and'"),
        ("A: x joins a and b\nA: x joins a and b", "a second rule named 'A'"),
        ("A: same token -> other field of x", "expected 'same'"),
        ("A: x joins a and b [soft]", "unknown option 'soft'; known are hard and penalty 2.5"),
    ],
)
def test_slips_are_shown(text, said):
    with pytest.raises(RuleError, match=said):
        JointRules.from_text(text)


@pytest.mark.parametrize(
    ("rules", "places", "said"),
    [
        ("A: hates joins per and loc", [((0, 1), (1, 2))], "no layer of pairs has the label 'hates'"),
        ("A: per of name -> noun of words", [], "no text layer is named 'name'"),
        ("", [((0, 1), (1, 9))], r"there is no place \(1, 9\)"),
        ("", [((0.9, 1.9), (1, 2))], "expected two places"),
        ("", [((0, "1"), (1, 2))], "expected two places"),
        ("", [(0, 0)], "expected two places"),
    ],
)
def test_what_is_not_there_is_refused(rules, places, said):
    names = TextLayer(np.zeros((2, 2)), labels=["O", "per"], tokens=["Ann", "saw"])
    pairs = PairLayer("names", places, np.zeros((len(places), 2)), labels=["none", "lives"])
    with pytest.raises(InputError, match=said):
        JointProblem({"names": names, "pairs": pairs}, rules)


def test_slips_in_layers_are_refused():
    names = TextLayer(np.zeros((2, 2)), labels=["O", "per"], tokens=["Ann", "saw"])
    pairs = PairLayer("names", [((0, 1), (1, 2))], np.zeros((1, 3)), labels=["none", "lives"])
    slips = [
        ({"names": names, "pairs": pairs}, "", r"scores of pairs have shape \(1, 3\)"),
        ({"names": names, "pairs": PairLayer("words", [], [], labels=["none"])}, "", "which is no text layer"),
        ({"names": names, "pairs": PairLayer("names", [((0, 1),)], [[0.0]], labels=["none"])}, "", "pair 0"),
        ({"names": [[0.0, 1.0]]}, "", "layer 'names' is a list"),
        ({"names": names}, 3, "not int"),
    ]
    for layers, rules, said in slips:
        with pytest.raises(InputError, match=said):
            JointProblem(layers, rules)
    for given, said in (
        ({}, "no labels for layer"),
        ({"names": ["O"]}, "2 places"),
        ({"names": ["O", "x"]}, "no label 'x'"),
    ):
        with pytest.raises(InputError, match=said):
            JointProblem({"names": names}).assignment(given)


def test_labels_of_every_text_are_needed():
    several = TextLayer([np.zeros((1, 2))] * 2, labels=["O", "per"], tokens=[["Ann"], ["saw"]])
    for given in ([["O"]], [["O"]] * 3):
        with pytest.raises(InputError, match="2 texts, but labels of"):
            JointProblem({"names": several}).assignment({"names": given})


def test_where_nothing_is_labelled_there_is_one_answer():
    empty = JointProblem({"names": TextLayer(np.zeros((0, 2)), labels=["O", "per"], tokens=[])})
    assert len(list(empty.decode(k=4))) == 1
    assert "optimal" in str(JointProblem({}).explain())
    with pytest.raises(InputError, match="2 penalties for 0 rules"):
        empty.with_penalties([1.0, 2.0])


def test_options_are_checked():
    problem = live_in()
    for options, said in (({"method": "magic"}, "unknown method"), ({"method": "dual", "k": 2}, "finds one answer")):
        with pytest.raises(InputError, match=said):
            problem.decode(**options)

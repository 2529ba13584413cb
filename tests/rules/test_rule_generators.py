"""Templates: how many rules, which ones, and what they mean."""

from __future__ import annotations

import pytest

from espalier.errors import RuleError
from espalier.rules import RuleSet, count_templates, degree, relation_templates, rules
from espalier.rules.text import parse_node

FLAT = ["B-a", "I-a", "B-b", "I-b", "B-c", "I-c", "O"]
DEEP = ["B-s/B-p", "I-s/I-p", "B-t", "I-t"]


def test_singletons() -> None:
    found = RuleSet(count_templates(FLAT, ("singleton",)))
    assert [rule.node for rule in found] == [parse_node(f"count({x}) <= 1") for x in "abc"]
    assert RuleSet(count_templates(DEEP, ("singleton",))).names == ("n(s) <= 1", "n(s/p) <= 1", "n(t) <= 1")


def test_pairwise() -> None:
    found = RuleSet(count_templates(FLAT, ("pairwise",)))
    # Three pairs: sums with 4 upper and 3 lower bounds; differences, both ways, with as many.
    assert found.K == 3 * 7 + 6 * 7
    assert len({rule.node for rule in found}) == found.K
    assert found["n(a) + n(b) <= 1"].node == parse_node("count(a) + count(b) <= 1")
    assert found["n(c) - n(a) >= 2"].node == parse_node("count(c) - count(a) >= 2")
    assert "n(a) + n(b) >= 0" not in found
    assert RuleSet(count_templates(FLAT, ("pairwise",), bounds=[1])).K == 3 * 2 + 6 * 2


def test_hierarchical() -> None:
    found = RuleSet(count_templates(DEEP, ("hierarchical",)))
    assert found.K == 3 * 2
    assert found["e(p, s) <= 0"].node == parse_node("count(p) <= count(s)")
    # One s around two p: two p more than allowed by e(p, s) <= 0, by one.
    assert degree(found["e(p, s) <= 0"], ["x", "x"], ["B-s/B-p", "I-s/B-p"]) == 1
    assert list(count_templates(FLAT, ("hierarchical",))) == []


def test_all_kinds_have_different_names_and_print() -> None:
    found = RuleSet([*count_templates(DEEP), *relation_templates(DEEP)])
    assert rules(str(found)) == found
    assert found.unset == found.names


def test_relations() -> None:
    found = RuleSet(relation_templates(["a", "b"], delimiters=(",", ".")))
    assert found.K == 4 + 2 + 4 * 2 + 4 + 2
    expected = {
        "adjacency: a b": "label a -> next b",
        "precedence: a b": "a followed later by b",
        "state change ',': a b": 'token in "," -> previous a and token in "," -> next b',
        "begin-end: b a": "if first in b then last in a",
        "presence: a b": "a before b",
    }
    for name, text in expected.items():
        assert found[name].node == parse_node(text)
    followed = RuleSet(relation_templates(["a", "b"], kinds=("followed",)))
    assert followed["followed: a b"].node == parse_node("a followed by b")


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("adjacency: a b", "a b a b", 0),
        ("adjacency: a b", "a a b", 1),
        ("precedence: a b", "a c b", 0),
        ("precedence: a b", "b a", 1),
        ("state change ',': a b", "a c b", 0),
        ("state change ',': a b", "b a a", 2),
        ("begin-end: a b", "a c b", 0),
        ("begin-end: a b", "a b c", 1),
        ("presence: a b", "a b b", 0),
        ("presence: a b", "b c a", 1),
    ],
)
def test_relations_mean_what_the_paper_says(name: str, labels: str, expected: int) -> None:
    found = RuleSet(relation_templates(["a", "b", "c"]))
    y = labels.split()
    assert degree(found[name], ["x", ",", "x", "x"][: len(y)], y) == expected


def test_wrong_use() -> None:
    with pytest.raises(RuleError, match="unknown template 'singelton'; did you mean 'singleton'"):
        list(count_templates(FLAT, ("singelton",)))
    with pytest.raises(RuleError, match="such as"):
        list(count_templates(FLAT, "singleton"))
    with pytest.raises(RuleError, match="no labels"):
        list(relation_templates(["O"]))

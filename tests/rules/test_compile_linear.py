"""Linear rules: the excess of the rows is the degree."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_compile_cases import FAST, LABEL_SETS, Problem, gated, linear_leaves, problems

from espalier.corpus import Labels
from espalier.errors import InputError
from espalier.rules import degree, rules
from espalier.rules import nodes as n
from espalier.rules.compile import Grounded, compile_rules, degrees_of
from espalier.rules.lowering import FORMS, support_table


@cache
def linear_nodes(kind: str) -> st.SearchStrategy[n.Node]:
    return gated(linear_leaves(kind))


def count_by_hand(grounded: Grounded, y: tuple[int, ...]) -> list[int]:
    """n(y) from its definition, one pair at a time."""
    L = len(grounded.compiled.labels)
    pairs = [(y[t - 1] if t else L, j) for t, j in enumerate(y)]
    return [sum(int(value[i, j]) for i, j in pairs) for value in grounded.compiled.features]


@FAST
@given(problems(nodes=linear_nodes, once=(False,)))
def test_the_excess_of_the_rows_is_the_degree(problem: Problem) -> None:
    for grounded, y, names in problem.grounded():
        counted = grounded.compiled.linear.counts(np.array(y, np.int64))
        assert counted.tolist() == count_by_hand(grounded, y)
        for k, rule in enumerate(problem.rules):
            if grounded.compiled.form[k] == "linear":
                rows = [row for row in grounded.rows if row.rule == k]
                excess = sum(max(0, int(row.coefficients @ counted) - row.bound) for row in rows)
                assert excess == degree(rule, grounded.tokens, names), (str(rule), grounded.tokens, names)
            else:
                assert grounded.compiled.form[k] == "local"  # cheaper still: never worse than linear


@settings(FAST, max_examples=20)
@given(problems())
def test_rows_belong_to_linear_rules(problem: Problem) -> None:
    for grounded, _, _ in problem.grounded():
        assert all(grounded.compiled.form[row.rule] == "linear" for row in grounded.rows)


def test_rows_by_hand() -> None:
    labels = Labels(LABEL_SETS["tags"])
    chosen = rules("Both: count(a) + count(b) <= 1\nTitle: count(a) >= 1\nSame: count(a) == tokens(b)")
    grounded = compile_rules(chosen, labels).ground(["x"] * 4)
    assert [(row.rule, row.bound) for row in grounded.rows] == [(0, 1), (1, -1), (2, 0), (2, 0)]
    assert len(grounded.compiled.features) == 3  # segments of a, segments of b, tokens of b: shared between rules
    y = labels.encode(["B-a", "I-a", "I-b", "B-b"])  # I-b has nothing to continue, so it opens a segment
    counted = grounded.compiled.linear.counts(np.array(y, np.int64))
    assert counted.tolist() == [1, 2, 2]
    assert [int(row.coefficients @ counted) - row.bound for row in grounded.rows] == [2, 0, -1, 1]


def test_a_gate_is_shut_where_the_input_does_not_ask() -> None:
    chosen = rules('Pages: if any token in "pp" then count(a) >= 1')
    compiled = compile_rules(chosen, LABEL_SETS["plain"])
    assert compiled.form == ("linear",)
    assert len(compiled.ground(["x", "pp"]).rows) == 1
    assert compiled.ground(["x", "y"]).rows == []
    assert compiled.ground([]).rows == []


def test_counting_once_is_linear_only_where_no_sum_exceeds_one() -> None:
    chosen = rules("Needed: count(a) >= 1 [once]\nTwo: count(a) >= 2 [once]\nOnce: each field once [once, hard]")
    assert compile_rules(chosen, LABEL_SETS["plain"]).form == ("linear", "monitor", "monitor")


def test_features_are_small_integers() -> None:
    compiled = compile_rules(rules("Once: each field once"), LABEL_SETS["hierarchy"])
    assert compiled.features.dtype == np.int16
    assert compiled.features.shape == (4, 11, 10)


@pytest.mark.parametrize(
    ("y", "message"), [([0], "2 tokens, but labels of shape"), ([0, 9], "token 1 has label 9; expected -1..3")]
)
def test_wrong_labels(y: list[int], message: str) -> None:
    grounded = compile_rules(rules("Once: each field once"), LABEL_SETS["plain"]).ground(["x", "y"])
    with pytest.raises(InputError, match=message):
        degrees_of(grounded, y)


def test_every_node_type_is_lowered_or_says_no() -> None:
    assert set(FORMS) == set(n.NODE_TYPES)
    table = support_table()
    assert all((table[node.__name__]["linear"] == "no") is (FORMS[node].linear is None) for node in FORMS)


@settings(FAST, max_examples=30)
@given(problems(most=1, once=(False,)))
def test_forms_without_rows_are_never_linear(problem: Problem) -> None:
    if FORMS[type(problem.rules[0].node)].linear is None:
        assert problem.compiled.form != ("linear",)

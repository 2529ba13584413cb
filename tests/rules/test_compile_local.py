"""Local rules: charges add up to the degree, and folding them moves every score by what the rules cost."""

from __future__ import annotations

import math
from functools import cache
from typing import Any as Anything

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_compile_cases import FAST, LABEL_SETS, Problem, gated, local_leaves, problems

from espalier.corpus import Labels
from espalier.decoders import base as decoding
from espalier.errors import InputError
from espalier.potentials import Potentials
from espalier.rules import Rule, RuleSet, degree, degrees, rules
from espalier.rules import nodes as n
from espalier.rules.compile import Grounded, compile_rules
from espalier.rules.lowering import FORMS, support_table

LABELS = Labels(LABEL_SETS["plain"])


def folded(grounded: Grounded, potentials: Potentials, penalties: Anything = None) -> Potentials:
    """Potentials minus the penalties of local rules, as decoders fold them."""
    return decoding.Problem(potentials, grounded, penalties).folded


@cache
def local_nodes(kind: str) -> st.SearchStrategy[n.Node]:
    return gated(local_leaves(kind))


local_problems = problems(nodes=local_nodes, once=(False,))


@FAST
@given(local_problems)
def test_charges_add_up_to_the_degree(problem: Problem) -> None:
    assert set(problem.compiled.form) == {"local"}
    for grounded, y, names in problem.grounded():
        for k, rule in enumerate(problem.rules):
            unary, pair = grounded.local_unary(k), grounded.local_pair(k)
            total = sum(int(unary[t, j]) for t, j in enumerate(y))
            if pair is not None:
                total += sum(int(pair[t, y[t - 1], y[t]]) for t in range(1, len(y)))
            assert total == degree(rule, grounded.tokens, names), (str(rule), grounded.tokens, names)


@FAST
@given(problems(), st.integers(0, 2**32), st.booleans())
def test_folding_costs_what_the_local_rules_cost(problem: Problem, seed: int, by_position: bool) -> None:
    random = np.random.default_rng(seed)
    L = len(problem.labels)
    prices = random.choice([0.0, 0.5, 2.0, math.inf], size=len(problem.rules))
    for grounded, y, names in problem.grounded():
        T = grounded.T
        trans = random.normal(size=(max(T - 1, 0), L, L) if by_position else (L, L))
        unary = np.where(random.random((T, L)) < 0.1, -np.inf, random.normal(size=(T, L)))
        plain = Potentials(unary, trans, random.normal(size=L), random.normal(size=L))
        amounts = degrees(problem.rules, grounded.tokens, names)
        is_local = [form == "local" for form in grounded.compiled.form]
        cost = sum(rho * d for rho, d, counts in zip(prices, amounts, is_local, strict=True) if counts and d)
        found = folded(grounded, plain, prices)
        assert isinstance(found, Potentials)
        assert found.score(y) == pytest.approx(plain.score(y) - cost, abs=1e-9)


def test_only_pairs_that_cost_something_make_transitions_depend_on_the_position() -> None:
    plain = Potentials(np.zeros((3, 4)), np.zeros((4, 4)))
    words = compile_rules(rules('R: token in "x" -> a'), LABELS)
    assert folded(words.ground(["x", "y", "x"]), plain).trans.ndim == 2
    change = compile_rules(rules("R: change only after is punctuation"), LABELS)
    assert folded(change.ground([".", ".", "x"]), plain).trans.ndim == 2  # nothing can be violated
    assert folded(change.ground(["x", "x", "x"]), plain).trans.shape == (2, 4, 4)


def test_rules_without_a_penalty_cost_the_default() -> None:
    grounded = compile_rules(rules("R: first in a"), LABELS).ground(["x"])
    assert folded(grounded, Potentials(np.zeros((1, 4)))).unary.tolist() == [[0.0, -1.0, -1.0, -1.0]]


def test_tables_by_hand() -> None:
    """The word rule charges a row where the word stands, the change rule a matrix where no full stop stood before."""
    chosen = rules('Word: token in "x" -> a, b\nChange: change only after "."\nOnce: each field once')
    compiled = compile_rules(chosen, LABELS)
    word, change = compiled.local_tables()
    assert (word.rule, change.rule) == (0, 1)
    assert word.unary is not None
    assert word.unary.tolist() == [0, 0, 1, 1]
    assert (word.pair, word.first) == (None, None)
    assert change.unary is None
    assert change.pair is not None
    assert change.first is not None
    assert change.pair.tolist() == (1 - np.eye(4, dtype=int)).tolist()
    assert change.first.tolist() == [0, 0, 0, 0]
    bits = compiled.ground(["x", ".", "y"]).bits
    assert bits[:, word.bit].tolist() == [True, False, False]
    assert bits[1:, change.bit].tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('token in "x" -> a', "local"),
        ("first in a", "local"),
        ("last not in a", "local"),
        ("a followed by b", "local"),
        ("tokens(a) <= 0", "local"),
        ("count(a) == 0", "local"),
        ("length(a) <= 1", "local"),
        ("tokens(a) <= 1", "linear"),
        ("count(a) >= 1", "linear"),
        ("each field once", "linear"),
        ("length(a) <= 2", "monitor"),
        ("length(a) >= 2", "monitor"),
        ("a before b", "monitor"),
    ],
)
def test_the_cheapest_form(text: str, form: str) -> None:
    assert compile_rules(rules(f"R: {text}"), LABELS).form == (form,)


def test_counting_once_is_local_only_where_no_sum_exceeds_one() -> None:
    chosen = rules('First: first in a [once]\nWord: token in "x" -> a [once]\nHard: token in "x" -> a [hard, once]')
    assert compile_rules(chosen, LABELS).form == ("local", "monitor", "monitor")


def test_a_rule_that_is_not_local_has_no_charges() -> None:
    grounded = compile_rules(rules("Order: a before b"), LABELS).ground(["x"])
    with pytest.raises(InputError, match="'Order' is not local; its form is 'monitor'"):
        grounded.local_unary(0)


@pytest.mark.parametrize(
    ("penalties", "message"),
    [
        ([1.0], r"shape \(1,\); expected one for each of 2 rules"),
        ([1.0, -1.0], "rule 'B': penalty -1.0 must be zero or more"),
        ([math.nan, 1.0], "rule 'A': penalty nan"),
    ],
)
def test_wrong_penalties(penalties: list[float], message: str) -> None:
    grounded = compile_rules(rules("A: first in a\nB: last in a"), LABELS).ground(["x"])
    with pytest.raises(InputError, match=message):
        folded(grounded, Potentials(np.zeros((1, 4))), penalties)


def test_potentials_of_another_sequence() -> None:
    grounded = compile_rules(rules("A: first in a"), LABELS).ground(["x"])
    with pytest.raises(InputError, match="potentials of 2 tokens, but 1 tokens are given"):
        folded(grounded, Potentials(np.zeros((2, 4))))


def test_every_node_type_is_lowered_or_says_no() -> None:
    assert set(FORMS) == set(n.NODE_TYPES)
    table = support_table()
    assert all((table[node.__name__]["local"] == "no") is (FORMS[node].local is None) for node in FORMS)


@settings(FAST, max_examples=30)
@given(problems(most=1, once=(False,)))
def test_unsupported_nodes_are_never_local(problem: Problem) -> None:
    if FORMS[type(problem.rules[0].node)].local is None:
        assert problem.compiled.form != ("local",)


def test_no_rules_at_all() -> None:
    grounded = compile_rules(RuleSet([]), LABELS).ground(["x"])
    plain = Potentials(np.ones((1, 4)))
    assert folded(grounded, plain).unary.tolist() == plain.unary.tolist()
    assert grounded.rows == []


def test_a_rule_may_charge_nothing() -> None:
    node = n.Implies(rules("R: first in a")[0].node.condition, n.ANYTHING)
    grounded = compile_rules(RuleSet([Rule("R", node)]), LABELS).ground(["x", "y"])
    assert not grounded.local_unary(0).any()
    assert grounded.local_pair(0) is None

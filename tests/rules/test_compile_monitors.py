"""Monitors read every labelling to its degree, charge nothing twice, and keep their states small."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from test_compile_cases import FAST, LABEL_SETS, Problem, problems

from espalier.corpus import Labels
from espalier.rules import Rule, RuleSet, degree, degrees, rules
from espalier.rules import nodes as n
from espalier.rules.compile import Grounded, compile_rules, degrees_of
from espalier.rules.lowering import FORMS


def run(grounded: Grounded, k: int, y: tuple[int, ...]) -> int:
    """The sum of all increments, by the contract alone."""
    monitor = grounded.monitor(k)
    state, total = monitor.initial, 0
    for t, j in enumerate(y):
        state, increment = monitor.step(state, t, y[t - 1] if t else -1, j)
        assert increment >= 0
        assert hash(state) is not None
        total += increment
    return total + monitor.final(state)


@settings(FAST, max_examples=150)
@given(problems())
def test_a_monitor_gives_the_degree(problem: Problem) -> None:
    for grounded, y, names in problem.grounded():
        for k, rule in enumerate(problem.rules):
            assert run(grounded, k, y) == degree(rule, grounded.tokens, names), (str(rule), grounded.tokens, names)


@FAST
@given(problems())
def test_degrees_of_takes_the_cheapest_form(problem: Problem) -> None:
    for grounded, y, names in problem.grounded():
        expected = degrees(problem.rules, grounded.tokens, names)
        assert degrees_of(grounded, y).tolist() == expected.tolist()


def test_unknown_labels_are_asked_of_the_meaning() -> None:
    labels = Labels(("a", "b"))
    chosen = rules("Once: each field once\nFirst: first in a\nOrder: a before b")
    grounded = compile_rules(chosen, labels).ground(["x", "y", "x"])
    for y in itertools.product((-1, 0, 1), repeat=3):
        expected = degrees(chosen, grounded.tokens, labels.decode(y))
        assert degrees_of(grounded, y).tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["plain", "tags", "hierarchy"])
def test_every_short_labelling(kind: str) -> None:
    """All labellings of three tokens, of rules that care about segments."""
    labels = Labels(LABEL_SETS[kind])
    field = "p" if kind == "hierarchy" else "a"
    other = "s" if kind == "hierarchy" else "b"
    text = f"""
        Once: each field once
        Short: length({field}) <= 2
        Long: length({field}) >= 2
        Order: {field} before {other}
        Later: {other} followed later by {field}
        Balance: count({field}) - count({other}) == 0
    """
    chosen = rules(text, labels=labels)
    tokens = ["x", ".", "y"]
    grounded = compile_rules(chosen, labels).ground(tokens)
    for y in itertools.product(range(len(labels)), repeat=3):
        expected = degrees(chosen, tokens, labels.decode(y)).tolist()
        assert [run(grounded, k, y) for k in range(len(chosen))] == expected, y


@FAST
@given(problems(most=1))
def test_states_stay_within_their_number(problem: Problem) -> None:
    machine = problem.compiled.machines[0]
    if machine.states is None or machine.states > 3000:
        return
    grounded = problem.compiled.ground(["x", ".", "y", "12", "x"])
    monitor, L = grounded.monitor(0), len(problem.labels)
    seen = {monitor.initial}
    layer = {(monitor.initial, -1)}
    for t in range(grounded.T):
        layer = {(monitor.step(state, t, i, j)[0], j) for state, i in layer for j in range(L)}
        seen |= {state for state, _ in layer}
    assert len(seen) <= machine.states


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("tokens(a) <= 2", 3),
        ("count(a) >= 1", 2),
        ("a before b", 2),
        ("b followed later by a", 2),
        ("each field once", 8),
        ("length(a) >= 3", 4),
        ("count(a) - count(b) <= 0", None),
    ],
)
def test_counts_saturate(text: str, states: int | None) -> None:
    chosen = rules(f"R: {text}")
    monitor = compile_rules(chosen, LABEL_SETS["plain"]).ground(["x"]).monitor(0)
    assert monitor.machine.states == states


def test_counting_once_bounds_what_is_owed() -> None:
    node = n.If(rules("R: count(a) >= 1")[0].node, rules("R: count(b) <= 1")[0].node)
    labels = LABEL_SETS["plain"]
    free, capped = (compile_rules(RuleSet([Rule("R", node, once=flag)]), labels).machines[0] for flag in (False, True))
    assert free.states is None
    assert capped.states is not None


def test_an_increment_is_charged_as_soon_as_it_is_certain() -> None:
    """Excluded fields: the debt falls due when the condition can no longer fail."""
    labels = Labels(("a", "b", "O"))
    node = n.If(rules("R: count(a) >= 1")[0].node, rules("R: count(b) <= 0")[0].node)
    monitor = compile_rules(RuleSet([Rule("R", node)]), labels).ground(["x"] * 4).monitor(0)
    state, charged = monitor.initial, []
    y = labels.encode(["b", "O", "a", "b"])
    for t, j in enumerate(y):
        state, increment = monitor.step(state, t, y[t - 1] if t else -1, j)
        charged.append(increment)
    assert charged == [0, 0, 1, 1]
    assert monitor.final(state) == 0


def test_monitors_are_total() -> None:
    assert set(FORMS) == set(n.NODE_TYPES)
    for form in FORMS.values():  # what is always local needs no machine of its own
        assert (form.machine is None) is (form.local is not None and form.local[0] == "yes")

"""The product automaton reads every labelling to the degrees of its rules, and knows its size."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from test_compile_cases import FAST, LABEL_SETS, Problem, problems

from espalier.errors import InputError
from espalier.rules import degrees, rules
from espalier.rules.automaton import MOST_CONDITIONS, Automaton, SizeError
from espalier.rules.compile import compile_rules

LABELS = LABEL_SETS["plain"]


def run(automaton: Automaton, classes: np.ndarray, y: Sequence[int]) -> list[int]:
    """The degree of every rule for a labelling, read off the tables."""
    state, total = 0, np.zeros(len(automaton.rules), int)
    for c, label in zip(classes.tolist(), y, strict=True):
        total += automaton.increment_rows[automaton.increment_ids[state, c, label]]
        state = int(automaton.next[state, c, label])
    return (total + automaton.final[state]).tolist()


@settings(FAST, max_examples=80)
@given(problems(kinds=("plain", "tags", "paths", "mixed", "one"), most=2))
def test_the_automaton_gives_the_degrees(problem: Problem) -> None:
    compiled = problem.compiled
    chosen = list(range(len(problem.rules)))[::-1]
    assume(all(machine.states is not None and machine.states <= 2000 for machine in compiled.machines))
    try:
        automaton = compiled.automaton(chosen, max_states=3000)
    except SizeError:
        assume(False)
    check_tables(automaton, len(problem.labels))
    for grounded, y, names in problem.grounded():
        expected = degrees(problem.rules, grounded.tokens, names)[chosen]
        assert run(automaton, automaton.classes(grounded.bits), y) == expected.tolist()


def check_tables(automaton: Automaton, L: int) -> None:
    S, C = automaton.n_states, 1 << len(automaton.bits)
    assert automaton.next.shape == automaton.increment_ids.shape == (S, C, L)
    assert automaton.next.dtype == np.int32
    assert automaton.increment_rows[automaton.increment_ids].shape == (S, C, L, len(automaton.rules))
    assert automaton.final.shape == (S, len(automaton.rules))
    assert automaton.label[0] == -1
    assert (automaton.label[automaton.next] == np.arange(L)).all()  # the label just read is part of the state
    assert set(np.unique(automaton.next)) | {0} == set(range(S))  # every state is reached


@pytest.mark.parametrize("L", [2, 5, 8])
def test_each_field_once_has_the_known_size(L: int) -> None:
    """One start, and for each label the sets of labels that hold it: 1 + L 2^(L - 1)."""
    compiled = compile_rules(rules("Once: each field once"), [f"f{k}" for k in range(L)])
    automaton = compiled.automaton([0])
    assert automaton.n_states == 1 + L * 2 ** (L - 1)
    assert automaton.increment_rows.tolist() == [[0], [1]]


def test_rules_that_share_counts_share_states() -> None:
    """Whether `f0` was there is known already; asking for it doubles no state."""
    text = "Once: each field once\nNeeded: count(f0) >= 1"
    compiled = compile_rules(rules(text), [f"f{k}" for k in range(6)])
    once = compiled.automaton([0])
    both = compiled.automaton([0, 1], max_states=once.n_states)
    assert both.n_states == once.n_states


def test_classes_are_binary_numbers_of_conditions() -> None:
    chosen = rules('A: token in "x" -> a [once]\nB: token in "." -> b [once]')
    compiled = compile_rules(chosen, LABELS)
    automaton = compiled.automaton([0, 1])
    grounded = compiled.ground(["x", ".", "y"])
    assert automaton.next.shape[1] == 4
    assert automaton.classes(grounded.bits).tolist() == [1, 2, 0]


def test_an_automaton_of_no_rules() -> None:
    automaton = compile_rules(rules("A: first in a"), LABELS).automaton([])
    assert automaton.n_states == 5
    assert run(automaton, np.zeros(2, np.int32), [0, 1]) == []


def test_too_many_states() -> None:
    compiled = compile_rules(rules("Once: each field once"), [f"f{k}" for k in range(10)])
    with pytest.raises(SizeError, match=r"'Once' needs up to 5,121 states; the limit is 5,000") as caught:
        compiled.automaton([0], max_states=5_000)
    assert caught.value.size == 5_121
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.size) == (str(caught.value), 5_121)


def test_far_too_many_states_are_refused_before_any_search() -> None:
    compiled = compile_rules(rules("Once: each field once"), [f"f{k}" for k in range(60)])
    with pytest.raises(SizeError, match="needs up to") as caught:
        compiled.automaton([0])
    assert caught.value.size == 1 + 60 * 2**59


def test_a_single_rule_may_be_too_large() -> None:
    """What counts once in all cannot be split by field, so the rule is one table."""
    compiled = compile_rules(rules("Once: each field once [once]"), [f"f{k}" for k in range(10)])
    with pytest.raises(SizeError, match=r"rule 'Once' alone needs up to 1,025 states .* the limit is 500"):
        compiled.automaton([0], max_states=500)


def test_states_that_grow_with_the_sequence() -> None:
    compiled = compile_rules(rules("Same: count(a) == count(b)"), LABELS)
    with pytest.raises(SizeError, match="'Same': the number of its states grows with the length"):
        compiled.automaton([0])


def test_too_many_conditions() -> None:
    words = "\n".join(f'R{k}: token in "w{k}" -> a' for k in range(MOST_CONDITIONS + 1))
    compiled = compile_rules(rules(words), LABELS)
    with pytest.raises(SizeError, match=r"9 conditions of a token, 2\^9 token classes"):
        compiled.automaton(range(compiled.K))
    assert compiled.automaton(range(MOST_CONDITIONS)).next.shape[1] == 2**MOST_CONDITIONS


@pytest.mark.parametrize(("chosen", "message"), [([0, 0], "twice"), ([3], "not 0..0: 3"), ([-1], "not 0..0: -1")])
def test_wrong_rules(chosen: list[int], message: str) -> None:
    compiled = compile_rules(rules("Once: each field once"), LABELS)
    with pytest.raises(InputError, match=message):
        compiled.automaton(chosen)

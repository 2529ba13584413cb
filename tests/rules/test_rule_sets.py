"""`Rule` and `RuleSet`: order, penalties, storage, errors."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_strategies import rule_nodes

from espalier.errors import RuleError
from espalier.rules import Rule, RuleSet, count, first, once, rules, token, when

TEXT = """
    Start: first in a, b     [penalty 1.5]
    Once:  each field once
    Venue: count(a) <= 1     [hard, once]
"""


def stored(text: str) -> dict[str, object]:
    return {"rules": [{"name": "A", "rule": text, "penalty": None, "once": False}], "lexicons": {}}


def test_order_names_and_penalties() -> None:
    found = rules(TEXT)
    assert found.K == len(found) == 3
    assert found.names == ("Start", "Once", "Venue")
    assert found.penalties.dtype == np.float64
    assert found.penalties.tolist() == [1.5, 1.0, math.inf]
    assert found.unset == ("Once",)
    assert found["Venue"] == found[2] == found[-1]
    assert found[:2].names == ("Start", "Once")
    assert "Once" in found
    assert found[0] in found
    assert "Other" not in found
    assert [rule.hard for rule in found] == [False, False, True]


def test_the_package_itself_parses() -> None:
    import espalier.rules

    assert espalier.rules(TEXT) == rules(TEXT)


def test_derived_sets() -> None:
    found = rules(TEXT)
    changed = found.with_penalties({"Start": 0, "Venue": None})
    assert changed.penalties.tolist() == [0.0, 1.0, 1.0]
    assert found.penalties.tolist() == [1.5, 1.0, math.inf]
    assert found.with_penalties(np.array([1.0, 2.0, math.inf])).penalties.tolist() == [1.0, 2.0, math.inf]
    assert found.without("Once").names == ("Start", "Venue")
    assert found.only(["Venue", "Start"]).names == ("Start", "Venue")
    assert found.only("Once").names == ("Once",)
    assert (found[:1] + found[1:]) == found
    assert hash(found[:1] + found[1:]) == hash(found)
    assert (found + Rule("More", once())).names == (*found.names, "More")
    assert copy.deepcopy(found) == pickle.loads(pickle.dumps(found)) == found
    assert repr(found) == "RuleSet(Start, Once, Venue)"


def test_text_and_dictionary_round_trips(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("x\ny", encoding="utf-8")
    found = rules(TEXT + '    Lex: token in file "w.txt" -> a\n', directory=tmp_path)
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert RuleSet.from_dict(stored) == found  # without the file
    assert rules(str(found), directory=tmp_path) == found
    assert str(found["Venue"]) == "Venue: count(a) <= 1  [hard, once]"


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.lists(rule_nodes, max_size=3), st.one_of(st.none(), st.floats(0, math.inf, allow_nan=False)), st.booleans())
def test_random_sets_round_trip(nodes, penalty: float | None, yes_no: bool) -> None:
    found = RuleSet(Rule(f"r {k}", node, penalty, yes_no) for k, node in enumerate(nodes))
    assert rules(str(found)) == found
    assert RuleSet.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_user_predicates_cannot_be_stored() -> None:
    found = RuleSet([Rule("A", when(token.satisfies("odd", lambda word: len(word) % 2 == 1)).then("a"))])
    with pytest.raises(RuleError, match="rule 'A' uses the Python function 'odd', which cannot be stored"):
        found.to_dict()


def test_check() -> None:
    found = rules(TEXT)
    assert found.check(["B-a", "I-a", "B-b", "O"]) is found
    with pytest.raises(RuleError, match="rule 'Start': unknown field 'b'; known fields: O, a"):
        found.check(["a", "O"])
    with pytest.raises(RuleError, match="did you mean 'title'"):
        RuleSet([Rule("A", first("titel"))]).check(["B-title"])


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (lambda: Rule("A", once(), -0.5), "penalty -0.5 must be zero or more"),
        (lambda: Rule("A", once(), math.nan), "must be zero or more"),
        (lambda: Rule("A", once(), "2"), "not a number"),
        (lambda: Rule("A", once(), True), "not a number"),
        (lambda: Rule("", once()), "needs a name"),
        (lambda: Rule("A", count("a")), "compare counts"),
        (lambda: RuleSet([Rule("A", once()), Rule("A", once())]), "two rules are named 'A'"),
        (lambda: RuleSet([once()]), "takes Rule"),
        (lambda: rules(TEXT) + rules(TEXT), "two rules are named 'Start'"),
        (lambda: rules(TEXT)["Strat"], "no rule is named 'Strat'; did you mean 'Start'"),
        (lambda: rules(TEXT).without("X"), "rules: Start, Once, Venue"),
        (lambda: rules(TEXT).only(["X"]), "no rule is named"),
        (lambda: rules(TEXT).with_penalties({"X": 1.0}), "no rule is named"),
        (lambda: rules(TEXT).with_penalties({"Once": -1.0}), "rule 'Once': penalty -1.0"),
        (lambda: rules(TEXT).with_penalties([1.0]), "1 penalty for 3 rules; give one"),
        (lambda: RuleSet.from_dict({"rules": []}), "not a stored rule set"),
        (lambda: RuleSet.from_dict({"rules": [3], "lexicons": {}}), "not a stored rule set"),
        (lambda: RuleSet.from_dict({"rules": [], "lexicons": 3}), "not a stored rule set"),
        (lambda: RuleSet.from_dict(stored("a once\nB: b once")), "expected the end of the rule"),
        (lambda: RuleSet.from_dict(stored('any token in file "f"')), "words of lexicon 'f' are missing"),
        (lambda: rules("x.rules"), "is the name of a file, no rule"),
    ],
)
def test_wrong_use(wrong, what: str) -> None:
    with pytest.raises(RuleError, match=what):
        wrong()

"""Mined relations by hand, and coverings against enumeration of all sets of rules."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.learning.relations import Relation, cover
from espalier.papers.two_stage.mining import mine
from espalier.rules.ruleset import RuleSet

CORPUS = Corpus.from_tokens(
    [["x", ",", "x"], ["x", ",", "x"], ["x", "x"], ["x"]],
    [["a", "a", "b"], ["a", "a", "b"], ["b", "a"], ["c"]],
)


def relation(text: str, support: int, broken: int) -> Relation:
    return Relation(RuleSet.from_text(text)[0], "", support, broken)


def test_mined_relations_by_hand() -> None:
    found = {r.rule.name: (r.support, r.broken) for r in mine(CORPUS, min_support=2, min_confidence=0.6)}
    assert found == {
        "precedence: a b": (2, 1),  # kept in two of the three sequences with a
        "state change ',': a b": (4, 0),  # both sides of two commas
        "begin-end: a b": (2, 0),
        "presence: a b": (2, 1),
    }
    assert [r.template for r in mine(CORPUS, ("begin-end",), min_support=2)] == ["begin-end"]


def test_a_relation_that_is_broken_wherever_it_applies_is_not_mined() -> None:
    # b is followed by b in four of six places, but at the end of each run it is not.
    corpus = Corpus.from_tokens([["x"] * 4] * 2, [["b", "b", "b", "a"]] * 2)
    names = [r.rule.name for r in mine(corpus, ("adjacency",), min_support=1, min_confidence=0.0)]
    assert names == []


def test_cost_grows_with_share_and_support() -> None:
    always, seldom, often = (
        relation("R: a before b", 8, 0),
        relation("R: a before b", 5, 5),
        relation("R: a once", 98, 0),
    )
    assert always.cost == pytest.approx(math.log(10))
    assert seldom.cost == pytest.approx(math.log(2))
    assert often.cost == pytest.approx(math.log(100))
    assert (always.confidence, seldom.confidence, relation("R: a once", 0, 0).confidence) == (1.0, 0.5, 0.0)


def cheapest(table: np.ndarray, costs: np.ndarray, depth: int) -> float:
    """The cost of the best covering, by trying every set; of equal rows only the cheapest may be used."""
    rows: dict[bytes, tuple[float, np.ndarray]] = {}
    for row, cost in zip(table, costs, strict=True):
        rows[row.tobytes()] = min(rows.get(row.tobytes(), (math.inf, row)), (cost, row), key=lambda pair: pair[0])
    prices, different = np.array([c for c, _ in rows.values()]), np.array([row for _, row in rows.values()])
    needed = np.minimum(different.sum(axis=0), depth)
    sets = (list(s) for size in range(len(prices) + 1) for s in combinations(range(len(prices)), size))
    return min(prices[s].sum() for s in sets if (different[s].sum(axis=0) >= needed).all())


tables = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(lambda shape: hnp.arrays(bool, shape))


@settings(max_examples=80, deadline=None, derandomize=True)
@given(tables, st.integers(1, 3), st.data())
def test_coverings_are_cheapest(table: np.ndarray, depth: int, data: st.DataObject) -> None:
    costs = np.array(data.draw(st.lists(st.integers(1, 4), min_size=len(table), max_size=len(table))), float)
    chosen = cover(table, costs, depth)
    assert (np.diff(chosen) > 0).all()
    assert costs[chosen].sum() == pytest.approx(cheapest(table, costs, depth))
    assert (table[chosen].any(axis=0) == table.any(axis=0)).all()


def test_repeated_and_implied_rules_are_left_out() -> None:
    table = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    assert cover(table, np.ones(5)).tolist() == [0, 1]
    assert cover(table, [2, 1, 1, 1, 1]).tolist() == [1, 2]
    assert cover(table, np.ones(5), depth=2).tolist() == [0, 1, 3]
    assert cover(np.zeros((3, 2)), np.ones(3)).tolist() == []
    assert cover(np.zeros((0, 0)), np.zeros(0)).tolist() == []


def test_wrong_use() -> None:
    with pytest.raises(InputError, match="finite costs above 0"):
        cover([[True]], [0.0])
    with pytest.raises(InputError, match="finite costs above 0"):
        cover([[True]], [1.0, 1.0])
    with pytest.raises(InputError, match="depth is 0"):
        cover([[True]], [1.0], 0)
    with pytest.raises(InputError, match="min_confidence is 2"):
        mine(CORPUS, min_confidence=2)
    with pytest.raises(InputError, match="has no labels"):
        mine(Corpus.from_tokens([["x"]]))
    with pytest.raises(InputError, match="unknown template"):
        mine(CORPUS, ("adjacensy",))

"""Mined relations by hand."""

from __future__ import annotations

import pytest

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.papers.two_stage.mining import mine

CORPUS = Corpus.from_tokens(
    [["x", ",", "x"], ["x", ",", "x"], ["x", "x"], ["x"]],
    [["a", "a", "b"], ["a", "a", "b"], ["b", "a"], ["c"]],
)


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


def test_wrong_use() -> None:
    with pytest.raises(InputError, match="min_confidence is 2"):
        mine(CORPUS, min_confidence=2)
    with pytest.raises(InputError, match="has no labels"):
        mine(Corpus.from_tokens([["x"]]))
    with pytest.raises(InputError, match="unknown template"):
        mine(CORPUS, ("adjacensy",))

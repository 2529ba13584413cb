"""Clauses counted over a corpus against the meaning of the rules, sequence by sequence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError
from espalier.learning.discovery_clauses import ClauseCounter
from espalier.rules import count_templates, meaning, relation_templates
from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules.text import parse_node

WORDS = ("x", "y", ",", "12")
FLAT = ("a", "b", "c", "O")
MARKED = ("B-a", "I-a", "B-b", "I-b", "O")
DEEP = ("B-s/B-a", "I-s/B-a", "I-s/I-a", "B-s/B-b", "I-s/I-b", "B-a", "I-a", "I-s", "O")

field_sets = st.one_of(
    st.builds(n.Fields, st.lists(st.sampled_from(["a", "b", "s/a", "O"]), min_size=1).map(tuple), st.booleans()),
    st.sampled_from([n.ANYTHING, n.ANY_FIELD]),
)
conditions = st.sampled_from(
    [p.ALWAYS, p.FIRST, p.LAST, p.At(1, -2), p.Words((",",)), p.NoneOf(p.Words(("x", "y"))), p.Near(-1, p.Pattern("x"))]
)
offsets, comparisons = st.sampled_from([-1, 0, 1]), st.sampled_from(["<=", ">=", "=="])
terms = st.lists(
    st.builds(n.Term, st.sampled_from([-2, -1, 1, 2]), st.sampled_from(["segments", "tokens"]), field_sets),
    min_size=1, max_size=3, unique_by=lambda term: (term.unit, term.fields),
).map(tuple)  # fmt: skip
simple = st.one_of(
    st.builds(n.Implies, conditions, field_sets, field_sets, offsets),
    st.builds(n.Change, conditions),
    st.builds(n.Once, field_sets),
    st.builds(n.Length, field_sets, comparisons, st.integers(1, 3)),
    st.builds(n.Linear, terms, comparisons, st.integers(-2, 3)),
    st.builds(n.Before, field_sets, field_sets),
    st.builds(n.Followed, field_sets, field_sets),
    st.builds(n.Later, field_sets, field_sets),
    st.builds(n.Exists, conditions),
)


def combined(inner):
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(n.All, several), st.builds(n.Any, several), st.builds(n.Not, inner), st.builds(n.If, inner, inner)
    )


rule_nodes = st.recursive(simple, combined, max_leaves=4)


@st.composite
def corpora(draw):
    """A few short sequences over one kind of labels, some of them unknown, some sequences empty."""
    names = draw(st.sampled_from([FLAT, MARKED, DEEP]))
    label = st.sampled_from([*names, None] if draw(st.booleans()) else names)
    tokens, labels = [], []
    for _ in range(draw(st.integers(1, 4))):
        y = draw(st.lists(label, max_size=7))
        labels.append(y)
        tokens.append(draw(st.lists(st.sampled_from(WORDS), min_size=len(y), max_size=len(y))))
    return Corpus.from_tokens(tokens, labels, vocabulary=Labels(names))


def degrees(corpus, node):
    return np.array([meaning.degree(node, corpus.tokens(i), corpus.label_names(i)) for i in range(len(corpus))])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(corpora(), rule_nodes)
def test_broken_clauses_are_violations(corpus, node):
    applies, broken = ClauseCounter(corpus).count(node)
    np.testing.assert_array_equal(broken > 0, degrees(corpus, node) > 0)
    assert (applies >= broken).all()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(corpora())
def test_every_template(corpus):
    """All templates of both papers; for relations a broken clause is one unit of the degree."""
    counter = ClauseCounter(corpus)
    for rule in count_templates(corpus.labels, bounds=(0, 1)):
        np.testing.assert_array_equal(counter.count(rule.node).broken, np.minimum(degrees(corpus, rule.node), 1))
    for rule in relation_templates(corpus.labels, delimiters=(",",)):
        applies, broken = counter.count(rule.node)
        np.testing.assert_array_equal(broken, degrees(corpus, rule.node))
        assert (applies >= broken).all()


@pytest.mark.parametrize(
    ("text", "applies", "broken"),
    [
        ("label a -> next b", [2, 0, 2], [1, 0, 0]),
        ("a followed later by b", [1, 0, 1], [0, 0, 0]),
        ("a before b", [1, 0, 2], [0, 0, 1]),
        ("b before a", [1, 0, 2], [1, 0, 2]),
        ("if first in a then last in b", [1, 0, 1], [0, 0, 0]),
        ('token in "," -> previous a', [1, 0, 1], [0, 0, 0]),
        ("count(a) <= 1", [1, 0, 1], [0, 0, 1]),
        ("count(c) >= 1", [1, 1, 1], [1, 0, 1]),
        ("each field once", [2, 1, 2], [0, 0, 2]),
    ],
)
def test_clauses_by_hand(text, applies, broken):
    corpus = Corpus.from_tokens(
        [["x", ",", "x"], ["x", "x"], ["x", ",", "x", "x"]],
        [["a", "a", "b"], ["c", "c"], ["a", "b", "a", "b"]],
    )
    found = ClauseCounter(corpus).count(parse_node(text))
    assert (found.applies.tolist(), found.broken.tolist()) == (applies, broken)


def test_unlabelled():
    with pytest.raises(InputError, match="has no labels"):
        ClauseCounter(Corpus.from_tokens([["x"]]))

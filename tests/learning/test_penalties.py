"""Penalties by counting: what an occasion is, what is counted, and the formula; by hand and by the meaning."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus, Labels
from espalier.decoders.certify import degree_matrix
from espalier.errors import InputError
from espalier.learning.penalties import count_penalties, tally
from espalier.rules import Rule, RuleSet
from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules.compile import compile_rules
from espalier.rules.lowering import FORMS, occasions
from espalier.rules.meaning import degree, degrees

sys.path.append(str(Path(__file__).parents[1] / "decoders"))

from decoder_problems import VOCABULARIES, WORDS, known, rule_nodes

TOKENS = [["Ada", ".", "Notes", "on", ".", "1843"], ["Post", "Sets", "1944", ".", "In", "1945"]]
GOLD = [["who", "who", "what", "what", "what", "when"], ["who", "what", "when", "when", "what", "when"]]
CORPUS = Corpus.from_tokens(TOKENS, GOLD)
WHO, WHAT, WHEN = (n.Fields((name,)) for name in ("who", "what", "when"))
# Each rule with its violations and its occasions in these two sequences, counted by hand.
BY_HAND = [
    (r"token ~ /\d+/ -> when", 0, 3),
    ("token ~ /[A-Z].*/ -> who", 3, 5),  # Ada, Post; but Notes, Sets, In
    ('change only after token in "."', 3, 6),
    ("each field once", 2, 8),
    ("when once", 1, 3),
    ("length(what) >= 2", 2, 3),
    ("length(what) <= 2", 1, 4),  # three segments, and one token too many
    ("count(when) <= 1", 1, 2),
    ("count(what) + count(when) <= 2", 2, 3),  # kept in one sequence, broken by two units in the other
    ("count(who) >= 1", 0, 2),
    ('token in "xyz" -> who', 0, 0),
    (n.Before(WHO, WHAT), 0, 2),
    (n.Later(WHEN, WHAT), 2, 2),
    ("when followed by what", 2, 3),  # twice at the end
    (n.Later(WHAT, WHEN), 0, 2),
    (n.If(n.Exists(p.Words(("In",))), n.Once(WHEN)), 1, 2),
    (n.All((n.Once(WHEN), n.Once(WHO))), 1, 5),
    (n.Implies(p.ALWAYS, WHAT, given=WHO, offset=1), 1, 3),  # Ada is followed by who
    (n.Implies(p.ALWAYS, n.ANYTHING), 0, 0),
]


def one_rule(rule: str | n.Node) -> RuleSet:
    return RuleSet.from_text(f"r: {rule}") if isinstance(rule, str) else RuleSet([Rule("r", rule)])


def test_every_node_type_has_occasions() -> None:
    assert set(FORMS) == set(n.NODE_TYPES)


@pytest.mark.parametrize(("rule", "violated", "possible"), BY_HAND)
def test_tally_by_hand(rule: str | n.Node, violated: int, possible: int) -> None:
    compiled = compile_rules(one_rule(rule), CORPUS.labels)
    found = tally(compiled, CORPUS, over="applicable")
    assert found.violated.tolist() == [violated]
    assert found.kept.tolist() == [possible - violated]
    by_tokens = tally(compiled, CORPUS, over="tokens")
    assert by_tokens.violated.tolist() == [violated]
    assert by_tokens.kept.tolist() == [12 - violated]


def test_once_counts_sequences() -> None:
    rules = RuleSet.from_text(
        'r: token ~ /[A-Z].*/ -> who [once]\nq: when once [once]\nz: token in "xyz" -> who [once]'
    )
    found = tally(compile_rules(rules, CORPUS.labels), CORPUS, over="applicable")
    assert found.violated.tolist() == [2, 1, 0]
    assert found.kept.tolist() == [0, 1, 0]


@given(st.data())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_a_violation_is_an_occasion(data: st.DataObject) -> None:
    vocabulary = data.draw(st.sampled_from(VOCABULARIES))
    node = data.draw(rule_nodes(known(vocabulary)))
    tokens = data.draw(st.lists(st.sampled_from(WORDS), max_size=5))
    labels = data.draw(st.lists(st.sampled_from(vocabulary), min_size=len(tokens), max_size=len(tokens)))
    assert degree(occasions(node), tokens, labels) >= degree(node, tokens, labels)


@given(st.data())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_degrees_of_a_corpus_are_those_of_the_meaning(data: st.DataObject) -> None:
    vocabulary = data.draw(st.sampled_from(VOCABULARIES))
    names = (
        st.one_of(st.sampled_from(vocabulary), st.none()) if data.draw(st.booleans()) else st.sampled_from(vocabulary)
    )
    drawn = data.draw(st.lists(st.tuples(rule_nodes(known(vocabulary)), st.booleans()), max_size=4))
    rules = RuleSet(Rule(f"r{k}", node, once=once) for k, (node, once) in enumerate(drawn))
    tokens = data.draw(st.lists(st.lists(st.sampled_from(WORDS), max_size=4), min_size=1, max_size=4))
    labels = [data.draw(st.lists(names, min_size=len(words), max_size=len(words))) for words in tokens]
    corpus = Corpus.from_tokens(tokens, labels, vocabulary=Labels(vocabulary))
    expected = [degrees(rules, words, y) for words, y in zip(tokens, labels, strict=True)]
    found = degree_matrix(compile_rules(rules, Labels(vocabulary)), corpus, corpus.y)
    np.testing.assert_array_equal(found, expected)


def test_the_formula() -> None:
    rules = RuleSet.from_text(
        r"""
        Number: token ~ /\d+/ -> when
        Name:   token ~ /[A-Z].*/ -> who
        Wrong:  token ~ /\d+/ -> who
        Never:  token in "xyz" -> who
        Given:  each field once [penalty 0.25]
        Hard:   count(who) >= 1 [hard]
        """
    )
    compiled = compile_rules(rules, CORPUS.labels)
    a, b = 4.0, 0.5
    found = count_penalties(compiled, CORPUS, over="applicable", kept_prior=a, violated_prior=b)
    expected = [
        math.log((3 + a) / b),
        math.log((2 + a) / (3 + b)),
        math.log(a / (3 + b)),
        math.log(a / b),
        0.25,
        math.inf,
    ]
    assert found.tolist() == pytest.approx(expected)
    # All gold labels break it: below zero without a prior in its favour, and never negative.
    assert count_penalties(compiled, CORPUS, over="applicable", kept_prior=1, violated_prior=1)[2] == 0.0
    # Equation of the paper with every token an occasion: P1 = 3 / 12.
    tiny = 1e-12
    by_tokens = count_penalties(compiled, CORPUS, over="tokens", kept_prior=tiny, violated_prior=tiny)
    assert by_tokens[1] == pytest.approx(-math.log((3 / 12) / (9 / 12)))


def test_sample_weight_counts_as_copies() -> None:
    rules = RuleSet.from_text("A: token ~ /[A-Z].*/ -> who\nB: when once\nC: count(when) <= 1")
    compiled = compile_rules(rules, CORPUS.labels)
    copies = CORPUS[[0, 1, 1, 1]]
    for over in ("applicable", "tokens"):
        weighted = count_penalties(compiled, CORPUS, over=over, sample_weight=np.array([1.0, 3.0]))
        np.testing.assert_allclose(weighted, count_penalties(compiled, copies, over=over))


def test_unknown_labels() -> None:
    """A token nobody labelled is no occasion; a sequence with such tokens says nothing about the whole of itself."""
    labels = [["who", None, "what", "what", None, "when"], GOLD[1]]
    corpus = Corpus.from_tokens(TOKENS, labels)
    rules = RuleSet.from_text(
        'A: token in "." -> who\nB: token ~ /[A-Z].*/ -> who\nC: count(when) <= 1\nD: when once\nE: count(who) <= 0'
    )
    found = tally(compile_rules(rules, corpus.labels), corpus, over="applicable")
    assert found.violated.tolist() == [1, 3, 1, 1, 1]
    assert found.kept.tolist() == [0, 2, 0, 1, 0]
    nothing = Corpus.from_tokens(TOKENS, [[None] * 6] * 2, vocabulary=corpus.labels)
    assert tally(compile_rules(rules, corpus.labels), nothing, over="applicable").kept.tolist() == [0] * 5


def test_bad_input() -> None:
    compiled = compile_rules(RuleSet.from_text("A: when once"), CORPUS.labels)
    with pytest.raises(InputError, match="'applicable' or 'tokens', not 'words'"):
        count_penalties(compiled, CORPUS, over="words")
    with pytest.raises(InputError, match="both must be positive"):
        count_penalties(compiled, CORPUS, kept_prior=0.0)
    with pytest.raises(InputError, match="compiled for"):
        count_penalties(compiled, Corpus.from_tokens(TOKENS))
    with pytest.raises(InputError, match="compiled for"):
        count_penalties(compiled, Corpus.from_tokens([["a"]], [["when"]]))
    assert count_penalties(compile_rules(RuleSet(), CORPUS.labels), CORPUS).shape == (0,)

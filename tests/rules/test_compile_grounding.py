"""Conditions in arrays hold where each condition says it holds, for one sequence and for a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_compile_cases import FAST, LABEL_SETS, WORDS, conditions, on_input

from espalier.corpus import Corpus
from espalier.document import Document
from espalier.errors import InputError
from espalier.rules import Rule, RuleSet, degree, rules
from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules.compile import compile_rules, degrees_of
from espalier.rules.lowering import Plan, Satisfied, Sequences, both, holds_when_empty, input_only

sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=5)


@FAST
@given(sentences, st.lists(st.one_of(conditions, on_input.map(Satisfied)), max_size=4))
def test_a_corpus_at_once(sequences: list[list[str]], asked: list[p.Condition]) -> None:
    bits = Plan.of(asked).ground(Sequences.of_corpus(Corpus.from_tokens(sequences)))
    expected = [
        [condition.holds(tokens, t, " ".join(tokens)) for condition in asked]
        for tokens in sequences
        for t in range(len(tokens))
    ]
    assert bits.shape == (sum(map(len, sequences)), len(asked))
    assert bits.tolist() == expected


@FAST
@given(st.lists(st.sampled_from(WORDS), max_size=6), on_input)
def test_input_only_nodes_say_the_same_of_every_labelling(tokens: list[str], node: n.Node) -> None:
    assert input_only(node)
    assert len({degree(node, tokens, [label] * len(tokens)) for label in ("a", "b", "O", "B-a", None)}) == 1
    assert holds_when_empty(Satisfied(node)) is (degree(node, [], []) == 0)


def test_sequences_of_a_corpus_are_grounded_as_if_alone() -> None:
    text = 'A: token in "x" -> a\nB: if any token in "12" then count(b) >= 1\nC: change only after "."'
    compiled = compile_rules(rules(text), LABEL_SETS["plain"])
    corpus = Corpus.from_tokens([["x", "."], [], ["12", "x", "y"]])
    for tokens, grounded in zip(corpus, compiled.ground_corpus(corpus), strict=True):
        alone = compiled.ground(tokens)
        assert grounded.tokens == alone.tokens
        assert grounded.bits.tolist() == alone.bits.tolist()
        assert [row.rule for row in grounded.rows] == [row.rule for row in alone.rows]
    assert compiled.ground_corpus(corpus[:0]) == []


def test_the_text_of_documents_is_searched() -> None:
    compiled = compile_rules(RuleSet([Rule("R", n.Implies(p.Text("x  y"), n.Fields(("a",))))]), ("a", "b"))
    document = Document("x  y", ((0, 1), (3, 4)))
    [grounded] = compiled.ground_corpus(Corpus.from_documents([document]))
    assert grounded.text == "x  y"
    assert degrees_of(grounded, [1, 1]).tolist() == [2]
    assert degrees_of(compiled.ground(["x", "y"]), [1, 1]).tolist() == [0]
    assert degrees_of(compiled.ground(["x", "y"], text="x  y"), [1, 1]).tolist() == [2]


def test_a_word_is_asked_once_a_type() -> None:
    asked: Counter[str] = Counter()

    def listed(word: str) -> bool:
        asked[word] += 1
        return word == "x"

    text = "A: token is listed -> a\nB: previous token is listed -> b\nC: change only after is listed"
    compiled = compile_rules(rules(text, predicates={"listed": listed}), ("a", "b"))
    corpus = Corpus.from_tokens([["x", "y", "x"], ["x", "x"], ["y"]])
    compiled.ground_corpus(corpus)
    assert asked == {"x": 1, "y": 1}
    asked.clear()
    compiled.ground_corpus(corpus[[2]])  # a part of a corpus keeps all types, but asks only about its own
    assert asked == {"y": 1}


@dataclass(frozen=True)
class EvenPosition(p.Condition):
    """A condition of a user's own."""

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        return t % 2 == 0 and tokens[t] in text


def test_conditions_of_others_are_asked_token_by_token() -> None:
    corpus = Corpus.from_tokens([["x", "y", "x"], ["y"]])
    bits = Plan.of([EvenPosition(), ~EvenPosition()]).ground(Sequences.of_corpus(corpus))
    assert bits[:, 0].tolist() == [True, False, True, True]
    assert np.array_equal(bits[:, 1], ~bits[:, 0])


def test_both_drops_what_always_holds() -> None:
    word = p.Words(("x",))
    assert both(p.ALWAYS, word) == both(word, p.ALWAYS) == word
    assert both(word, p.FIRST) == p.AllOf((word, p.FIRST))


def test_a_string_is_no_token_list() -> None:
    with pytest.raises(InputError, match="split it first"):
        compile_rules(rules("R: first in a"), ("a", "b")).ground("x y")

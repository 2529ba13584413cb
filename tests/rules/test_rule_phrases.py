"""Conditions on several tokens against enumeration: windows, lists of phrases, patterns over tokens."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_strategies import phrase_patterns

from espalier.corpus import Corpus
from espalier.errors import RuleError
from espalier.rules import RuleSet, either, optional, phrase, repeated, rules, token, when, within
from espalier.rules import phrases as ph
from espalier.rules import predicates as p
from espalier.rules.lowering import Plan, Sequences
from espalier.rules.reader import parse_condition, print_condition
from espalier.rules.text import parse_node

MANY = settings(deadline=None, derandomize=True, max_examples=200)
WORDS = ("a", "b", "A", ".", "-", "a.b", "12")
ELEMENTS = st.sampled_from(
    [
        p.Words(("a",)),
        p.Words(("b", "12")),
        p.Pattern(r"\d+"),
        p.Named("punctuation", p.BUILT_IN["punctuation"]),
        p.Near(-1, p.Words(("a",))),
        ~p.Words(("b",)),
    ]
)
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=7), min_size=1, max_size=3)


def held(condition: p.Condition, sequences: list[list[str]]) -> list[list[bool]]:
    """Where the condition holds, for a corpus at once."""
    corpus = Corpus.from_tokens(sequences)
    bits = Plan.of([condition]).ground(Sequences.of_corpus(corpus))[:, 0].tolist()
    return [bits[a:b] for a, b in zip(corpus.indptr[:-1].tolist(), corpus.indptr[1:].tolist(), strict=True)]


def matches(part: ph.PhrasePart, tokens: list[str], a: int, b: int) -> bool:
    """Does the part match tokens a..b-1?  Every way to cut them is tried."""
    if isinstance(part, p.Condition):
        return b == a + 1 and part.holds(tokens, a, " ".join(tokens))
    if isinstance(part, ph.Either):
        return any(matches(each, tokens, a, b) for each in part.parts)
    if isinstance(part, ph.Repeat):
        if a == b:
            return part.sign != "+" or matches(part.part, tokens, a, b)
        if part.sign == "?":
            return matches(part.part, tokens, a, b)
        more = ph.Repeat(part.part, "*")
        return any(matches(part.part, tokens, a, c) and matches(more, tokens, c, b) for c in range(a + 1, b + 1))
    first, *others = part.parts
    rest = ph.InOrder(tuple(others)) if len(others) > 1 else others[0]
    return any(matches(first, tokens, a, c) and matches(rest, tokens, c, b) for c in range(a, b + 1))


def spelled(tokens: list[str], phrases: list[str], fold: bool) -> bool:
    """Do the tokens spell a phrase?  Every way to put them together is tried."""
    ways = [[""]] if len(tokens) == 1 else product(["", " "], repeat=len(tokens) - 1)
    for gaps in ways:
        text = tokens[0]
        legal = True
        for gap, word in zip(gaps if len(tokens) > 1 else [], tokens[1:], strict=True):
            legal &= bool(gap) or not (text[-1].isalnum() and word[0].isalnum())
            text += gap + word
        if legal and any((text.casefold() == each.casefold()) if fold else text == each for each in phrases):
            return True
    return False


def roles(found: list[tuple[int, int]], T: int, role: str) -> list[bool]:
    """What each token is to the runs a..b-1 that were found."""
    wanted = {
        "in": lambda t, a, b: a <= t < b,
        "begins": lambda t, a, b: t == a,
        "continues": lambda t, a, b: a < t < b,
        "ends": lambda t, a, b: t == b - 1,
    }[role]
    return [any(wanted(t, a, b) for a, b in found) for t in range(T)]


@MANY
@given(texts, phrase_patterns(ELEMENTS), st.sampled_from(ph.ROLES))
def test_patterns_are_found_as_by_trying_every_run(
    sequences: list[list[str]], pattern: ph.PhrasePart, role: ph.Role
) -> None:
    condition = ph.PhrasePattern(pattern, role)
    expected = []
    for tokens in sequences:
        T = len(tokens)
        found = [(a, b) for a in range(T) for b in range(a + 1, T + 1) if matches(pattern, tokens, a, b)]
        expected.append(roles(found, T, role))
    assert held(condition, sequences) == expected
    assert [[condition.holds(s, t, " ".join(s)) for t in range(len(s))] for s in sequences] == expected
    assert parse_condition(print_condition(condition)) == condition


@MANY
@given(
    texts,
    st.lists(st.sampled_from(["a", "A b", "a.b", "a. b", "a.", "a - a", "b-12", "12 12", "-", ". ."]), min_size=1),
    st.booleans(),
    st.sampled_from(ph.ROLES),
)
def test_lists_of_phrases_are_found_as_by_trying_every_run(
    sequences: list[list[str]], phrases: list[str], fold: bool, role: ph.Role
) -> None:
    condition = ph.Phrases(tuple(phrases), fold, "", role)
    expected = []
    for tokens in sequences:
        T = len(tokens)
        found = [(a, b) for a in range(T) for b in range(a + 1, T + 1) if spelled(tokens[a:b], phrases, fold)]
        expected.append(roles(found, T, role))
    assert held(condition, sequences) == expected
    assert [[condition.holds(s, t, "") for t in range(len(s))] for s in sequences] == expected
    assert parse_condition(print_condition(condition)) == condition


@MANY
@given(texts, st.integers(-8, 8), st.integers(0, 9), ELEMENTS)
def test_windows(sequences: list[list[str]], first: int, width: int, inner: p.Condition) -> None:
    condition = p.Window(first, first + width, inner)
    expected = [
        [
            any(inner.holds(s, u, "") for u in range(t + first, t + first + width + 1) if 0 <= u < len(s))
            for t in range(len(s))
        ]
        for s in sequences
    ]
    assert held(condition, sequences) == expected
    assert parse_condition(print_condition(condition)) == condition


def test_a_time_of_day() -> None:
    tokens = ["Call", "at", "3", ":", "30", "PM", ",", "or", "5", "pm", ",", "room", "7", ":", "1"]
    [rule] = rules(r'Time: token in phrase (/\d{1,2}/ (":" /\d\d/)? "am", "pm") -> time')
    where = [tokens[t] for t, true in enumerate(held(rule.node.condition, [tokens])[0]) if true]
    assert where == ["3", ":", "30", "PM", "5", "pm"]
    number = token.matches(r"\d{1,2}")
    python = phrase(number, optional(":", token.matches(r"\d\d")), token.isin("am", "pm"))
    assert rule.node == when(token.in_phrase(python)).then("time")


def test_python_and_text_agree() -> None:
    number = token.satisfies("number")
    pairs = [
        (token.in_phrase("New York", "Rome"), 'in phrase "New York", "Rome"'),
        (token.begins_phrase("New York", exactly=True), 'exactly begins phrase "New York"'),
        (token.ends_phrase(phrase(number, "%")), 'ends phrase (is number "%")'),
        (token.continues_phrase(either("a", phrase("b", "c"))), 'continues phrase ("a" or "b" "c")'),
        (token.in_phrase(phrase("x", optional(repeated(number)))), 'in phrase ("x" (is number+)?)'),
        (within(-2, 3, number), "within -2..3 is number"),
        (within(2, 2, number), "within 2 is number"),
        (token.in_phrase(number | token.isin("a")), 'in phrase (is number or "a")'),
    ]
    for python, text in pairs:
        assert parse_condition(text) == python
        assert parse_node(f"token {text} -> x") == when(python).then("x")


def test_files_and_stored_rules(tmp_path: Path) -> None:
    (tmp_path / "places.txt").write_text("New  York\n\nSt. Louis \r\nOslo", encoding="utf-8")
    text = 'A: token in phrase file "places.txt" -> x\nB: token exactly ends phrase file "places.txt" -> x'
    found = rules(text, directory=tmp_path)
    assert found["A"].node.condition.phrases == ("New York", "St. Louis", "Oslo")
    assert rules(str(found), directory=tmp_path) == found
    stored = RuleSet.from_dict(found.to_dict())
    assert stored == found
    tokens = ["to", "new", "york", "or", "St", ".", "Louis"]
    assert held(stored["A"].node.condition, [tokens]) == [[False, True, True, False, True, True, True]]
    assert held(stored["B"].node.condition, [tokens]) == [[False] * 6 + [True]]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("token in phrase -> x", "expected phrases in double quotes, 'file' and its name, or a pattern in brackets"),
        ('token in phrase ("a"?) -> x', "this pattern may match no token at all; leave out a '.' or a '.'"),
        ('token in phrase ("a"?*) -> x', "a repetition of a repetition; put the inner one in brackets"),
        ('token in phrase ("a" -> x', r"expected '\)', found '->'"),
        ("token in phrase () -> x", "expected a token condition"),
        ('token exactly in phrase ("a") -> x', "'exactly' stands before words"),
        ('token in phrase (("a" or "b") and "c") -> x', "'and' behind a part of a pattern"),
        ('token begins "a" -> x', "expected 'phrase'"),
        ('token in phrase " " -> x', "at least one phrase, and no empty ones"),
        (f'token in phrase "{"a" * 1001}" -> x', "has 1001 characters; 1000 are the most"),
        (f"token in phrase ({'is number ' * 65}) -> x", "a pattern of more than 64 conditions; split it"),
        ('token in phrase file "none.txt" -> x', "lexicon 'none.txt' cannot be read: No such file"),
        ("token within 3..1 is number -> x", "window 3..1 is in the wrong order; the smaller number first"),
        ("token within 1..1001 is number -> x", "window 1..1001 is too wide; 1000 tokens either side"),
        ("token within is number -> x", "expected a whole number"),
    ],
)
def test_mistakes_are_shown(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(RuleError, match=what) as caught:
        rules(f"R: {text}", directory=tmp_path)
    assert re.search(r"^line 1, column \d+: .*\n    …?.*\n *\^$", str(caught.value), re.DOTALL)


def test_wrong_parts_in_python() -> None:
    for make, what in [
        (lambda: phrase(), "an empty pattern"),
        (lambda: either("a"), "at least two parts"),
        (lambda: ph.PhrasePattern(3), "made of token conditions, not of 3"),
        (lambda: token.in_phrase("a", phrase("b", "c")), "give phrases as strings, or one pattern"),
        (lambda: token.in_phrase(phrase("b", "c"), exactly=True), "exactly= is for phrases"),
        (lambda: ph.Phrases(("a",), role="after"), "'after' is no place in a phrase; use in, begins"),
        (lambda: ph.Repeat(token.isin("a"), "!"), "'!' is no repetition"),
        (lambda: ph.Phrases(["a"]), "must be a tuple of strings"),
    ]:
        with pytest.raises(RuleError, match=re.escape(what)):
            make()


def test_long_texts_take_one_pass() -> None:
    """Where each run would be tried by itself, this would take hours."""
    tokens = ["a"] * 20_000
    condition = parse_condition('in phrase (("a"+)+ "b")')
    assert not any(held(condition, [tokens])[0])
    assert all(held(condition, [[*tokens, "b"]])[0])

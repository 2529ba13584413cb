"""What the language says of fields with stars, of phrases as segments and of lists inside patterns; and its hints."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import espalier as es
from espalier.errors import RuleError
from espalier.rules import RuleSet
from espalier.rules.compile import compile_rules, degrees_of
from espalier.rules.meaning import degrees
from espalier.rules.nodes import names_path
from espalier.rules.text import parse_node, print_node

LABELS = ["O", "B-from.city", "I-from.city", "B-to.city", "B-to.day"]
TOKENS = ["ulm", "to", "ely"]


def test_what_a_star_fits() -> None:
    assert names_path("*.city", "from.city")
    assert names_path("*.city", "trip/from.city")
    assert not names_path("*.city", "from.cityname")
    assert not names_path("*.city", "from/x.city/day")
    assert names_path("to.*", "to.city")
    assert not names_path("*", "O")


@pytest.mark.parametrize(
    "rule",
    [
        '"*.city" once',
        '"*.city", "to.day" once',
        'any but "*.city" once',
        'token in "ulm", "ely" -> "*.city"',
        'token in "to" -> not "to.*"',
        'count("*.city") <= 1',
        'length("from.*") <= 1',
        '"from.*" before "to.*"',
        'if any token "to" then "*.city" required',
    ],
)
def test_every_form_of_a_rule_takes_them(rule: str) -> None:
    rules = RuleSet.from_text(f"R: {rule}", labels=LABELS)
    compiled = compile_rules(rules, LABELS)
    seen = set()
    for y in itertools.product(range(len(LABELS)), repeat=len(TOKENS)):
        meant = degrees(rules, TOKENS, [LABELS[j] for j in y]).tolist()
        assert degrees_of(compiled.ground(TOKENS), np.array(y)).tolist() == meant
        seen.add(meant[0])
    assert len(seen) > 1
    assert parse_node(print_node(rules[0].node)) == rules[0].node


def test_once_is_for_each_field_that_fits() -> None:
    once = es.rules('R: "*.city" once')
    assert degrees(once, TOKENS, ["B-from.city", "O", "B-to.city"]).tolist() == [0]
    assert degrees(once, TOKENS, ["B-to.city", "O", "B-to.city"]).tolist() == [1]


def test_a_star_that_fits_nothing_is_a_slip() -> None:
    with pytest.raises(RuleError, match=r"unknown field '\*\.town'"):
        RuleSet.from_text('R: "*.town" once', labels=LABELS)


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ('previous exactly "Mr" -> to', 'token previous exactly "Mr" -> to'),
        ('next "st" -> to', 'token next in "st" -> to'),
        ("previous /[0-9]+/ -> to", "token previous ~ /[0-9]+/ -> to"),
        ("next is number -> to", "token next is number -> to"),
        ('previous not in "a" -> to', 'token previous not in "a" -> to'),
    ],
)
def test_previous_and_next_need_no_token_behind_them(short: str, full: str) -> None:
    assert parse_node(short) == parse_node(full)


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("R: fromloc.city once", "written in quotes"),
        ('R: token matches "\\d+" -> year', r"token ~ /\\d\+/ -> year"),
        ('R: token matches "May" -> month', 'token in "May" -> month'),
    ],
)
def test_hints(rule: str, hint: str) -> None:
    with pytest.raises(RuleError, match=hint):
        es.rules(rule)


# One phrase is one segment.


def test_a_phrase_that_is_to_be_a_field_is_one_segment() -> None:
    answer = es.decode(
        np.zeros((3, 3)),
        'A: token in phrase "one way" -> t',
        tokens=["one", "way", "x"],
        labels=["O", "B-t", "I-t"],
    )
    assert answer.names() == ["B-t", "I-t", "O"]
    rule = es.rules('A: token in phrase "one way" -> t')
    tokens = ["one", "way", "one", "way"]
    assert degrees(rule, tokens, ["B-t", "I-t", "B-t", "I-t"]).tolist() == [0]
    assert degrees(rule, tokens, ["B-t", "B-t", "B-t", "I-t"]).tolist() == [1]
    assert degrees(rule, tokens, ["B-t", "I-t", "I-t", "I-t"]).tolist() == [0]
    assert degrees(rule, tokens, ["B-t", "O", "O", "O"]).tolist() == [3]


def test_what_is_inside_a_field_does_not_cut_its_phrase() -> None:
    rule = es.rules('A: token in phrase "ann lee" -> person')
    inner = ["B-person/B-first", "I-person/B-last"]
    assert degrees(rule, ["ann", "lee"], inner).tolist() == [0]
    assert degrees(rule, ["ann", "lee"], ["B-person/B-first", "B-person/B-last"]).tolist() == [1]


@pytest.mark.parametrize(
    "rule",
    [
        'token in phrase "a b", "b c" -> x',
        'token in phrase "a b" or token in phrase ("b" "c"+) -> x, y',
        'token in phrase "a b" -> not x',
        'token begins phrase "a b" -> x',
        'label x and token in phrase "a b" -> x',
        'token in phrase "a b" -> next x',
        'token in phrase "a b" -> O',
    ],
)
@pytest.mark.parametrize("labels", [["O", "B-x", "I-x", "B-y"], ["O", "x", "y"], ["O", "x/B-y", "B-x/B-y", "I-x/I-y"]])
def test_compiled_rules_on_phrases_mean_the_same(rule: str, labels: list[str]) -> None:
    if "x/B-y" in labels:
        labels = ["O", "B-x/B-y", "I-x/B-y", "I-x/I-y"]
    rules, tokens = es.rules(f"R: {rule}"), ["a", "b", "c", "c"]
    compiled = compile_rules(rules, labels)
    assert compiled.form == ("local",)
    for y in itertools.product(range(len(labels)), repeat=len(tokens)):
        meant = degrees(rules, tokens, [labels[j] for j in y]).tolist()
        assert degrees_of(compiled.ground(tokens), np.array(y)).tolist() == meant


# Lists inside patterns.

TOWNS = ("ulm", "new york", "york harbor town", "st. louis")


def read(rule: str) -> RuleSet:
    return RuleSet.from_text(rule, lexicons={"towns.txt": TOWNS})


@pytest.mark.parametrize("role", ["in", "begins", "continues", "ends"])
def test_a_list_inside_a_pattern_is_its_phrases_side_by_side(role: str) -> None:
    listed = read(f'R: token {role} phrase ("from" file "towns.txt" "to"?) -> x')
    towns = '"ulm" or "new" "york" or "york" "harbor" "town" or ("st" "." or "st.") "louis"'
    spelled = es.rules(f'R: token {role} phrase ("from" ({towns}) "to"?) -> x')
    words = ["from", "new", "york", "harbor", "town", "st.", "louis", "ulm", "to"]
    random = np.random.default_rng(0)
    for _ in range(60):
        tokens = [str(word) for word in random.choice(words, 7)]
        labels = ["O"] * 7
        assert degrees(listed, tokens, labels).tolist() == degrees(spelled, tokens, labels).tolist()
        compiled = compile_rules(listed, ["O", "x"])
        assert (
            degrees_of(compiled.ground(tokens), np.zeros(7, int)).tolist() == degrees(listed, tokens, labels).tolist()
        )
    assert degrees(listed, ["from", "new", "york", "harbor", "town"], ["O"] * 5).sum() > 0


def test_a_list_inside_a_pattern_is_printed_and_stored() -> None:
    rules = read('R: token in phrase ("from" exactly file "towns.txt"+) -> x')
    text = print_node(rules[0].node)
    assert text == 'token in phrase (in "from" exactly file "towns.txt"+) -> x'
    again = RuleSet.from_dict(rules.to_dict())
    assert again[0].node == rules[0].node


def test_a_long_phrase_inside_a_pattern_is_refused() -> None:
    with pytest.raises(RuleError, match="has 9 words and signs; inside a pattern 8"):
        RuleSet.from_text('R: token in phrase ("a" file "x") -> y', lexicons={"x": ["a b c d e f g h i"]})


# Ties.


@pytest.mark.parametrize("rule", ['A: token in "one", "way" -> t', 'A: token in "one", "way" -> t [hard]'])
def test_where_scores_tie_a_field_goes_on(rule: str) -> None:
    tokens, labels = ["one", "way", "x"], ["O", "B-t", "I-t"]
    assert es.decode(np.zeros((3, 3)), rule, tokens=tokens, labels=labels).names() == ["B-t", "I-t", "O"]
    batch = es.decode(np.zeros((2, 3, 3)), rule, tokens=[tokens, tokens], labels=labels)
    assert batch.names() == [["B-t", "I-t", "O"]] * 2
    assert batch.scores.tolist() == [0.0, 0.0]
    hardly = np.zeros((3, 3))
    hardly[1, 1] = 1e-9  # a score that says something is heard
    assert es.decode(hardly, rule, tokens=tokens, labels=labels).names() == ["B-t", "B-t", "O"]

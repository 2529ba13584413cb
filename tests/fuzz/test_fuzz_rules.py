"""Rule texts: a rule set, or a RuleError that names line and column; and a text that was read is printed and read."""

from __future__ import annotations

import re

import pytest
from fuzzing import Campaign, attempt
from hypothesis import strategies as st
from mutations import damaged

from espalier.errors import RuleError
from espalier.rules.meaning import violations
from espalier.rules.ruleset import RuleSet
from espalier.rules.text import KEYWORDS

VALID = (
    "Start: first in who, when\nOnce: each field once [penalty 2.5]\n",
    'Pages: token in "pp.", "pages" -> what   # a comment\nVenue: count(who) + 2 * count(what) <= 1 [hard]\n',
    "Year: token ~ /(19|20)\\d\\d[a-z]?/ -> when\nEdge: change only after token is punctuation\n",
    "Long: length(who) >= 2 [penalty 1e-3]\nOrder: who before what\nMust: when required\n",
    'If: if any token in "In" then what required\n    and not (who once) [penalty 0]\n"odd name": who excludes when\n',
    "Text: if text ~ /no\\. \\d+/ then what required\nAt: token at -2..-1 -> when, what\nFar: who requires what\n",
    'Near: token shape "Xx" and not previous in "a" and next is capitalised -> who\nBy: who followed later by what\n',
)
TOKENS = ["A.", "Cau", ",", "pp.", "1999"]
LABELLING = ["who", "who", "O", "what", "when"]
PLACE = re.compile(r"line \d+, column \d+: ")


def accepts(text: str) -> bool:
    """Read, print, read again, and ask what the rules mean; a refusal must show the place."""
    rules, refusal = attempt(lambda: RuleSet.from_text(text), RuleError)
    if rules is None:
        assert PLACE.match(refusal), refusal
        return False
    again = RuleSet.from_text(str(rules))
    assert again == rules
    assert str(again) == str(rules)
    for rule in rules:
        violations(rule.node, TOKENS, LABELLING)
    return True


@pytest.mark.parametrize("text", VALID)
def test_valid_rules_are_valid(text: str) -> None:
    assert accepts(text), RuleSet.from_text(text)


def test_damaged_rules(campaign: Campaign) -> None:
    campaign.fuzz("rules, damaged", damaged(VALID), accepts, few=200)


def test_words_of_the_language_in_any_order(campaign: Campaign) -> None:
    signs = [
        "->",
        "<=",
        ">=",
        "==",
        "(",
        ")",
        "[",
        "]",
        ",",
        "+",
        "-",
        "*",
        "..",
        ":",
        "~",
        "/a+/",
        '"x"',
        "1",
        "2.5",
        "who",
        "what",
        "hard",
        "penalty",
        "punctuation",
    ]
    words = st.sampled_from([*sorted(KEYWORDS), *signs, "\n", "\n  "])
    texts = st.lists(words, max_size=14).map(lambda found: "R: " + " ".join(found))
    campaign.fuzz("rules, shuffled words", texts, accepts, few=200)


def test_any_text_as_rules(campaign: Campaign) -> None:
    campaign.fuzz("rules, any text", st.text(max_size=40), accepts)


def test_any_pattern(campaign: Campaign) -> None:
    pieces = [
        "a",
        "b",
        ".",
        "\\d",
        "\\.",
        "[a-c]",
        "[^a]",
        "(",
        ")",
        "(?:",
        "|",
        "*",
        "+",
        "?",
        "{2}",
        "{2,}",
        "{1,255}",
        "^",
        "$",
        "(?i)",
        "\\",
        "]",
        "é",
        "İ",
    ]
    patterns = st.lists(st.sampled_from(pieces), max_size=12).map("".join)
    campaign.fuzz("rules, patterns", patterns.map(lambda p: f"R: token ~ /{p}/ -> who"), accepts, few=100)

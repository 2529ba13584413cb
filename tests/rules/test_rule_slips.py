"""Common wrong forms of rules: each gets a hint, and what the hint says to write can be read."""

from __future__ import annotations

import re

import pytest

from espalier.errors import RuleError
from espalier.rules import rules
from espalier.rules.reader import KEYWORDS
from espalier.rules.slips import meant

LABELS = ["O", "unit", "name", "quantity"]

# What somebody writes, and what it means.
SLIPS = [
    ("unit -> name", ["unit followed by name", "unit requires name"]),
    ("unit => name", ["unit followed by name", "unit requires name"]),
    ("if unit then quantity", ["unit requires quantity"]),
    ("if unit then quantity required", ["unit requires quantity"]),
    ("if unit then quantity once", ["if unit required then quantity once"]),
    ('if token in "g" then unit', ['token in "g" -> unit']),
    ("quantity <= 1", ["count(quantity) <= 1"]),
    ("quantity=1", ["count(quantity) == 1"]),
    ("quantity > 0", ["count(quantity) > 0"]),
    ("max 1 name", ["count(name) <= 1"]),
    ("at most 2 name", ["count(name) <= 2"]),
    ("at least one name", ["count(name) >= 1"]),
    ("exactly one name", ["count(name) == 1"]),
    ("only one name", ["count(name) <= 1"]),
    ('token == "g" -> unit', ['token in "g" -> unit']),
    ('token = "g", "kg" -> unit', ['token in "g", "kg" -> unit']),
    ('token equals "g" -> unit', ['token in "g" -> unit']),
    ("token matches /k?g/ -> unit", ["token ~ /k?g/ -> unit"]),
    ("token =~ /k?g/ -> unit", ["token ~ /k?g/ -> unit"]),
    ('token starts with "k" -> unit', ["token ~ /k.*/ -> unit"]),
    ('token ends with "." -> unit', [r"token ~ /.*\./ -> unit"]),
    ('token contains "g" -> unit', ["token ~ /.*g.*/ -> unit"]),
    ('token in "g" => unit', ['token in "g" -> unit']),
    ('token in "g" then unit', ['token in "g" -> unit']),
    ('"g" -> unit', ['token in "g" -> unit']),
    ("/k?g/ -> unit", ["token ~ /k?g/ -> unit"]),
    ("name is required", ["name required"]),
    ("not name", ["not name required"]),
    ("no name", ["not name required"]),
    ("unit after quantity", ["quantity before unit"]),
    ("unit follows quantity", ["quantity followed by unit"]),
]  # fmt: skip


@pytest.mark.parametrize("labels", [None, LABELS], ids=["any fields", "known fields"])
@pytest.mark.parametrize(("written", "forms"), SLIPS, ids=[slip for slip, _ in SLIPS])
def test_a_wrong_form_gets_the_right_ones(written: str, forms: list[str], labels: list[str] | None) -> None:
    with pytest.raises(RuleError) as caught:
        rules(f"R: {written}  [penalty 2]", labels=labels)
    [hint] = re.findall(r"; write (.+)$", str(caught.value).split("\n")[0])
    assert re.findall(r"'(.*?)'", hint) == forms
    for form in forms:
        assert rules(f"R: {form}", labels=labels).K == 1


def test_a_field_is_not_taken_for_a_word_of_the_language() -> None:
    with pytest.raises(RuleError) as caught:
        rules("R: unit somehow name", labels=LABELS)
    assert "count" not in str(caught.value)


def test_words_of_the_language_are_no_fields() -> None:
    for word in KEYWORDS:
        assert f"count({word})" not in meant(f"{word} <= 1", KEYWORDS)


def test_a_rule_over_two_lines_is_read_as_one() -> None:
    with pytest.raises(RuleError, match='write \'token in "g", "kg" -> unit\''):
        rules('R: token == "g",\n      "kg" -> unit')


def test_long_lines_take_no_time() -> None:
    assert meant("token " * 100_000, KEYWORDS) == ""


def test_a_misspelt_field_is_named_first() -> None:
    with pytest.raises(RuleError, match="unknown field 'quantty'; did you mean 'quantity'"):
        rules("R: quantty <= 1", labels=LABELS)

"""Token conditions by hand, and field names against labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.errors import RuleError
from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules import rules, token
from espalier.rules.text import parse_node


@pytest.mark.parametrize(
    ("word", "shape"),
    [("Andersen", "Xx"), ("L.", "X."), ("12-18", "d-d"), ("McCallum", "XxXx"), ("", ""), ("été", "x"), ("...", ".")],
)
def test_shapes(word: str, shape: str) -> None:
    assert p.shape_of(word) == shape


@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("punctuation", [",", "--", "\n", "“"], ["a,", "1", "é"]),
        ("number", ["12", "٣"], ["1.5", "x", "²"]),
        ("capitalised", ["Lee", "X"], ["lee", "1"]),
        ("uppercase", ["NY", "X-1"], ["Ny", "1"]),
    ],
)
def test_built_in(name: str, yes: list[str], no: list[str]) -> None:
    accepts = token.satisfies(name).accepts
    assert all(accepts(word) for word in yes)
    assert not any(accepts(word) for word in no)


def ground(condition: p.Condition, tokens: list[str], text: str | None = None) -> list[bool]:
    """Where the condition holds; without `text` the tokens are joined by one space."""
    whole = " ".join(tokens) if text is None else text
    return [condition.holds(tokens, t, whole) for t in range(len(tokens))]


def test_ground() -> None:
    words = ["vol", "3", ",", "Vol", "x"]
    number, vol = token.satisfies("number"), token.isin("VOL")
    assert ground(vol, words) == [True, False, False, True, False]
    assert ground(p.Near(-1, vol) & number, words) == [False, True, False, False, False]
    assert ground(p.Near(1, number) | p.LAST, words) == [True, False, False, False, True]
    assert ground(~p.Near(-1, vol), words) == [True, False, True, True, False]
    assert ground(p.Near(-1, ~vol), words) == [False, False, True, True, False]
    assert ground(p.Text("3 ,"), words) == [True] * 5
    assert ground(p.Text("3 ,"), words, "vol 3, Vol x") == [False] * 5
    assert ground(p.At(1, -2), words) == [False, True, True, True, False]
    assert ground(p.At(-9, 0), words) == [True, False, False, False, False]
    assert ground(p.ALWAYS, []) == []


def test_very_long_tokens_match_no_pattern() -> None:
    assert p.Pattern("a+").accepts("a" * p.LONGEST_TOKEN)
    assert not p.Pattern("a+").accepts("a" * (p.LONGEST_TOKEN + 1))


def test_user_predicates() -> None:
    def palindrome(word: str) -> bool:
        return word == word[::-1]

    found = rules("A: token is palindrome -> x", predicates={"palindrome": palindrome})
    assert found[0].node == n.Implies(token.satisfies("palindrome", palindrome), n.Fields(("x",)))
    assert ground(found[0].node.condition, ["anna", "lee"]) == [True, False]
    with pytest.raises(RuleError, match="no condition is named 'palindrom'; did you mean 'palindrome'"):
        rules("A: token is palindrom -> x", predicates={"palindrome": palindrome})


def test_lexicons(tmp_path: Path) -> None:
    (tmp_path / "places.txt").write_text("Paris\n\nRome  \r\nOslo", encoding="utf-8")
    found = rules('A: token in file "places.txt" -> x\nB: token exactly in file "places.txt" -> x', directory=tmp_path)
    condition = found["A"].node.condition
    assert condition.words == ("Paris", "Rome", "Oslo")
    assert condition.accepts("PARIS")
    assert not found["B"].node.condition.accepts("PARIS")
    assert rules(str(found), directory=tmp_path) == found
    assert rules(str(found), lexicons={"places.txt": ["Paris", "Rome", "Oslo"]}) == found


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"New York\n", "line 1: 'New York' is not one token"), (b"\xff", "cannot be read"), (b"\n", "at least one")],
)
def test_wrong_lexicons(tmp_path: Path, content: bytes, what: str) -> None:
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises(RuleError, match=what):
        rules('A: token in file "bad.txt" -> x', directory=tmp_path)


@pytest.mark.parametrize(
    ("field", "label", "inside"),
    [
        ("a", "a", True),
        ("a", "B-a", True),
        ("a", "I-a", True),
        ("a", "ba", False),
        ("O", "O", True),
        ("a", "O", False),
        ("person", "I-s/B-person/B-first", True),
        ("s", "I-s/B-person/B-first", True),
        ("first", "s/person/first", True),
        ("s/person", "s/person/first", True),
        ("person/first", "s/person/first", True),
        ("s/first", "s/person/first", False),
        ("t/person", "s/person/first", False),
    ],
)
def test_which_labels_a_field_stands_for(field: str, label: str, inside: bool) -> None:
    assert n.Fields((field,)).has_label(label) is inside
    assert n.Fields((field,), negated=True).has_label(label) is not inside
    assert (field in n.known_fields([label])) is (inside or field == "O")


def test_any_field_and_anything() -> None:
    assert n.ANY_FIELD.has_label("a")
    assert not n.ANY_FIELD.has_label("O")
    assert n.ANYTHING.has_label("O")
    assert n.ANYTHING.has_label(None)
    assert not n.Fields(("a",)).has_label(None)


def test_parts_and_walks() -> None:
    node = parse_node('if any token (in "a" and not previous /b/) then count(x) + tokens(y) <= 1 and label z -> next w')
    assert [type(inner) for inner in n.walk(node)] == [n.If, n.Exists, n.All, n.Linear, n.Implies]
    assert [f.names for f in n.fields_of(node)] == [("x",), ("y",), ("w",), ("z",)]
    (condition,) = n.conditions_of(node)
    assert [type(part) for part in p.parts(condition)] == [p.AllOf, p.Words, p.NoneOf, p.Near, p.Pattern]


@pytest.mark.parametrize("fold", [True, False])
def test_many_words_at_once(fold: bool) -> None:
    condition = p.Words(("pp.", "Straße", "CA"), fold=fold)
    words = ["PP.", "pp.", "STRASSE", "Straße", "ca", "CA", ""]
    assert condition.accepted(words) == [condition.accepts(word) for word in words]
    assert condition.accepted(words) == (
        [True] * 6 + [False] if fold else [False, True, False, True, False, True, False]
    )

"""The text form: printing is the inverse of parsing, and wrong text is shown with a caret."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from rule_strategies import rule_nodes

from espalier.errors import RuleError
from espalier.rules import Rule, RuleSet, rules
from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules.text import GRAMMAR, KEYWORDS, parse_node, print_node


@settings(deadline=None, derandomize=True, max_examples=70)
@given(rule_nodes)
def test_printing_is_the_inverse_of_parsing(node: n.Node) -> None:
    text = print_node(node)
    assert "\n" not in text
    assert parse_node(text) == node
    assert hash(parse_node(text)) == hash(node)
    rule = RuleSet([Rule("odd: name #1", node, 0.1 + 0.2, once=True)])
    assert rules(str(rule)) == rule


@pytest.mark.parametrize(
    "text",
    [
        "first in a, b",
        "last not in a",
        "first in any field",
        'token in "pp.", "x\\"y" -> pages',
        'token exactly "CA" -> not x',
        'label a and token in "," -> next b',
        "label a -> previous anything",
        "change only after ~ /[.,]/",
        "change only at is punctuation",
        'change only before (in "a" or next is number)',
        "each field once",
        "any but a, b once",
        "length(a) >= 3",
        "count(a) + 2 count(b) - tokens(c) <= 4",
        "count(a) == count(b)",
        "-count(a) + count(b) >= 0",
        "tokens >= 10",
        "title required",
        "a before b",
        "a followed later by not b",
        'any token (in "a" and is first)',
        "text ~ /a\\/b/",
        'if any token in "a" then b required or c required',
        "(if a required then b required) and c once",
        "(a once or b once) and c once",
        "not (a once)",
        "not (not (a once))",
        'token at 2..-3 and shape "Xx-d" -> a',
        '"first" before "two words"',
        "count(person-first) <= count(a/b)",
    ],
)
def test_canonical_text_prints_as_it_is(text: str) -> None:
    assert print_node(parse_node(text)) == text


@pytest.mark.parametrize(
    ("sugar", "plain"),
    [
        ("tokens 3..7 are a", "token at 3..7 -> a"),
        ("tokens -2..-1 are a", "token at -2..-1 -> a"),
        ("tokens 3 are a", "token at 3..3 -> a"),
        ("token at 0 -> a", "first in a"),
        ("token is last -> not a", "last not in a"),
        ('token "a", "b" only in c', 'token in "a", "b" -> c'),
        ("token /a/ -> c", "token ~ /a/ -> c"),
        ("previous token /a/ and token is number -> c", "token previous ~ /a/ and is number -> c"),
        ("any field once", "each field once"),
        ("count(a) < 2", "count(a) <= 1"),
        ("count(a) > 2", "count(a) >= 3"),
        ("count(a) = 2", "count(a) == 2"),
        ("count(a) != 2", "not (count(a) == 2)"),
        ("2 >= count(a)", "count(a) <= 2"),
        ("count(a) + 1 <= count(b) + 3", "count(a) - count(b) <= 2"),
        ("count(a) + count(a) <= 3", "2 count(a) <= 3"),
        ("2*count(a) <= count(a) + 1", "count(a) <= 1"),
        ("count(a) >= 1", "a required"),
        ("a excludes b", "if count(a) >= 1 then count(b) <= 0"),
        ("a requires b", "if count(a) >= 1 then count(b) >= 1"),
        ("(a once and b once) and c once", "a once and b once and c once"),
        ("a once or (b once or c once)", "a once or b once or c once"),
        ("if a once then if b once then c once", "if a once then (if b once then c once)"),
    ],
)
def test_sugar(sugar: str, plain: str) -> None:
    assert parse_node(sugar) == parse_node(plain)


def test_precedence() -> None:
    a, b, c = (n.Once(n.Fields((name,))) for name in "abc")
    assert parse_node("a once or b once and c once") == n.Any((a, n.All((b, c))))
    assert parse_node("not a once and b once") == n.All((n.Not(a), b))
    assert parse_node("if a once then b once or c once") == n.If(a, n.Any((b, c)))
    word = {name: p.Words((name,)) for name in "abc"}
    node = parse_node('token in "a" or in "b" and next in "c" -> x')
    assert node.condition == p.AnyOf((word["a"], p.AllOf((word["b"], p.Near(1, word["c"])))))


def test_layout() -> None:
    text = """
      # a comment
      A: first in x     # another

      B: token in "#",
           "b"          # in the middle
         # between
           -> y
           [penalty 1e-3, once]
      "odd name": z required [hard]\r
    """
    found = rules(text)
    assert found.names == ("A", "B", "odd name")
    assert found["B"].node == n.Implies(p.Words(("#", "b")), n.Fields(("y",)))
    assert (found["B"].penalty, found["B"].once) == (0.001, True)
    assert found["odd name"].hard
    assert rules("") == RuleSet()
    assert rules("\ufeffA: x once").names == ("A",)
    assert rules("A: x once\n      B: y once\n    C: z once").names == ("A", "B", "C")


# Each text, the caret's line and column, and what the message says.
WRONG = [
    ("A: frist in x", 1, 4, "did you mean 'first'"),
    ("A: first once", 1, 10, "written in quotes"),
    ("A: forst on x", 1, 4, "expected 'once'"),
    ("A: first in", 1, 12, "expected a field name, the rule ends here"),
    ("A: first in x,", 1, 15, "expected a field name"),
    ("A: each feild once", 1, 9, "expected 'field' behind 'each'.*did you mean 'field'"),
    ("first in x", 1, 1, "begins with its name and a colon"),
    ("A: x once\nB: y onse", 2, 6, "expected 'once'"),
    ("A: x once\ny once", 2, 1, "begins with its name"),
    ("A: x once\n  y once", 2, 3, "expected the end of the rule"),
    ("A: token in pp -> x", 1, 13, "words in double quotes"),
    ("A: token in 'pp' -> x", 1, 13, "use double quotes"),
    ('A: token in "pp -> x', 1, 13, "never closed"),
    ('A: token in "" -> x', 1, 13, "empty quotes"),
    (r'A: token in "\q" -> x', 1, 14, "unknown escape"),
    ("A: token ~ /(a/ -> x", 1, 12, "character 1: this parenthesis is never closed"),
    ("A: token ~ /a -> x", 1, 12, "never closed on its line"),
    ('A: token "a" => x', 1, 14, "expected '->'"),
    ("A: token is punctuaton -> x", 1, 13, "did you mean 'punctuation'"),
    ('A: token shape "Xxx" -> x', 1, 10, "as in 'Xx'"),
    ("A: token at 5..2 -> x", 1, 10, "wrong order"),
    ("A: count(x) <= 1.5", 1, 16, "not a whole number"),
    ("A: count(x) <= 99999999999", 1, 16, "at most nine digits"),
    ("A: count(x) <= 3 *", 1, 19, "expected a number, count"),
    ("A: count(x) 1", 1, 13, "expected a comparison"),
    ("A: count(x) <= 1 <= 2", 1, 18, "expected the end of the rule"),
    ("A: count(x) <= count(x)", 1, 4, "without any count"),
    ("A: count x <= 1", 1, 10, r"expected '\(' behind 'count'"),
    ("A: length(x) >= 0", 1, 4, "at least one token"),
    ("A: x, y required", 1, 4, "takes one field"),
    ("A: B-title once", 1, 4, "rules name fields without marks: 'title'"),
    ("A: (x once", 1, 11, r"expected '\)'"),
    ("A: x once)", 1, 10, "expected the end of the rule"),
    ("A: if x once y once", 1, 14, "expected 'then'"),
    ("A: change only in x", 1, 16, "expected 'after', 'before' or 'at'"),
    ("A: x once [penalty -1]", 1, 20, "may not be negative"),
    ("A: x once [penalty nan]", 1, 20, "a number"),
    ("A: x once [penalty 1e999]", 1, 12, "infinite"),
    ("A: x once [hrad]", 1, 12, "did you mean 'hard'"),
    ("A: x once [hard, penalty 2]", 1, 18, "one penalty"),
    ("A: x once [hard", 1, 16, r"expected '\]'"),
    ("A: x once\nA: y once", 2, 1, "second rule named 'A'"),
    ("A: x once § y", 1, 11, "unexpected character"),
    ("A: " + "(" * 80 + "x once" + ")" * 80, 1, None, "nested more than"),
    ("A: " + "not " * 80 + "x once", 1, None, "nested more than"),
    ('A: token in file "no/such/file" -> x', 1, 18, "cannot be read"),
]


@pytest.mark.parametrize(("text", "line", "column", "what"), WRONG)
def test_wrong_text_is_shown_with_a_caret(text: str, line: int, column: int | None, what: str) -> None:
    with pytest.raises(RuleError, match=what) as caught:
        rules(text)
    message = str(caught.value)
    head, shown, caret = message.split("\n")
    assert head.startswith(f"line {line}, column {column or ''}")
    assert shown == "    " + text.split("\n")[line - 1]
    if column is not None:
        assert len(caret) == 4 + column
    assert caret.strip() == "^"


def test_unknown_fields_are_found_where_they_stand() -> None:
    text = "A: first in title\nB: token is number -> titel"
    with pytest.raises(RuleError, match="line 2, column 23: unknown field 'titel'; did you mean 'title'"):
        rules(text, labels=["B-title", "I-title", "O"])
    assert rules(text).K == 2
    hierarchical = ["B-s/B-person/B-first", "O"]
    assert (
        rules("A: person once\nB: s/person once\nC: person/first once\nD: any field once", labels=hierarchical).K == 4
    )
    with pytest.raises(RuleError, match="unknown field 'zzz'; known fields: O, first"):
        rules("A: zzz once", labels=hierarchical)


def test_the_caret_respects_tabs() -> None:
    with pytest.raises(RuleError) as caught:
        rules("\tA:\tx onse")
    assert str(caught.value).split("\n")[-1] == "    \t  \t  ^"


def test_every_keyword_is_in_the_grammar() -> None:
    assert {word for word in KEYWORDS if f'"{word}"' not in GRAMMAR} == set()

"""What every construct means, by hand; and against independent definitions on random labellings."""

from __future__ import annotations

import ast
import inspect
from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_strategies import WORDS, plain_labellings, rule_nodes

from espalier.errors import InputError
from espalier.rules import Rule, count, degree, degrees, first, meaning, once, rules, tokens, violations
from espalier.rules import nodes as n
from espalier.rules.meaning import MEANINGS
from espalier.rules.text import parse_node
from espalier.tags import is_tag, segments

END = None
REFERENCE = ("Lee", ".", "A", "book", ".", "pp.", "3", ",", "1994", ".")
GOOD = "author author title title title pages pages pages date date"

CASES = [
    # rule, tokens, labels, [(position, amount), ...]
    ("first in author, editor", "a b", "author title", []),
    ("first in author, editor", "a b", "title author", [(0, 1)]),
    ("first not in note", "a b", "note note", [(0, 1)]),
    ("first in any field", "a", "O", [(0, 1)]),
    ("last in date", "a b c", "date date note", [(2, 1)]),
    ("last not in title", "a", "title", [(0, 1)]),
    ("first in author", "", "", []),
    ("tokens 1..2 are title", "a b c d", "x title y z", [(2, 1)]),
    ("tokens -2..-1 are title", "a b c d", "x x title y", [(3, 1)]),
    ("tokens 2..7 are title", "a b", "x x", []),
    # tokens imply labels
    ('token in "pp.", "pages" -> pages', "PP. x pages", "pages x date", [(2, 1)]),
    ('token exactly "CA" -> location', "CA ca", "x x", [(0, 1)]),
    ("token ~ /(19|20)\\d\\d/ -> date", "1994 19945 2001", "x x date", [(0, 1)]),
    ('token shape "Xx" -> author', "Lee lee LEE", "x x x", [(0, 1)]),
    ("token is number only in pages", "12 a", "date x", [(0, 1)]),
    ('token in "x" -> not title, note', "x x x", "title note O", [(0, 1), (1, 1)]),
    ('token in "x" -> O', "x x", "O title", [(1, 1)]),
    ('previous token in "vol" and token is number -> volume', "vol 3 4", "x y y", [(1, 1)]),
    ('token in "a" and next in "b" -> x', "a b a", "y y y", [(0, 1)]),
    ('token not in "a" and not next in "a" -> x', "b a b", "y y y", [(2, 1)]),
    ('token (in "a" or is last) and not is first -> x', "a a b", "y y y", [(1, 1), (2, 1)]),
    ("token previous previous is first -> x", "a a a a", "y y y y", [(2, 1)]),
    ('token text ~ /b c/ and in "c" -> x', "a b c", "y y y", [(2, 1)]),
    # neighbours: adjacency and state change, with nothing beyond the ends
    ("label a -> next b", "x x x", "a b a", [(2, 1)]),
    ("label a -> next b", "x x x", "a a b", [(0, 1)]),
    ("label b -> previous a", "x x x", "b a b", [(0, 1)]),
    ("label a -> next not b", "x x x", "a b a", [(0, 1)]),
    ('label a and token in "," -> next b', "x , y", "a a a", [(1, 1)]),
    ('token in "," -> previous a and token in "," -> next b', "x , y ,", "a a b b", [(3, 1), (3, 1)]),
    ("a followed by b", "x x x x", "a a b c", []),
    ("a followed by b", "x x x x", "a c a a", [(0, 1), (3, 1)]),
    ("a followed by b", "x x x x", "B-a B-a I-a B-b", [(0, 1)]),
    ("a followed by not c", "x x x", "a c a", [(0, 1)]),
    ("any field followed by any field", "x x x", "a b O", [(1, 1)]),
    ("label a -> next any field", "x x x", "a a O", [(1, 1)]),
    ("label a -> next any field", "x x", "a a", [(1, 1)]),
    ("label a -> previous any field", "x x", "a a", [(0, 1)]),
    ("label a -> next not b", "x x", "a a", []),
    ("label a -> next O", "x x", "a a", [(0, 1)]),
    ('token in "x" -> not any field', "x y x", "a a O", [(0, 1)]),
    ("length(a) >= 3", "x x x x", "a b a a", [(0, 1), (2, 1)]),
    ("a excludes b", "x x x x", "b a a b", [(0, 1), (3, 1)]),
    ("b excludes a", "x x x x", "b a a b", [(1, 1)]),
    # borders
    ("change only after is punctuation", "a , b c", "x x y z", [(3, 1)]),
    ("change only before is punctuation", "a ( b c", "x y y z", [(3, 1)]),
    ("change only at is punctuation", "a ( b ) c d", "x y y y z w", [(5, 1)]),
    ('change only after ",", "."', "a b", "x O", [(1, 1)]),
    ("change only after /[.,]/", "a b c", "B-x I-x B-x", [(2, 1)]),
    ("change only after /[.,]/", "a b c", "B-x I-x I-x", []),
    ("change only after /[.,]/", "a b", "B-s/B-p I-s/B-p", [(1, 1)]),
    # once
    ("each field once", "a a a a", "x y x y", [(2, 1), (3, 1)]),
    ("each field once", "a a a a", "O y O y", [(3, 1)]),
    ("each field once", "a a a", "B-x I-x B-x", [(2, 1)]),
    ("x once", "a a a a", "x y x y", [(2, 1)]),
    ("x, y once", "a a a a", "x y x y", [(2, 1), (3, 1)]),
    ("any but x once", "a a a a", "x y x y", [(3, 1)]),
    ("person once", "a a", "B-s/B-person B-t/B-person", [(1, 1)]),
    ("each field once", "a a", "B-s/B-person B-t/B-person", []),
    # lengths
    ("length(each field) >= 3", "a a a a a", "x x y y y", [(0, 1)]),
    ("length(x) <= 2", "a a a a", "x x x x", [(2, 1), (3, 1)]),
    ("length(x) == 2", "a a a a a", "x y x x x", [(0, 1), (4, 1)]),
    ("length(each field) >= 2", "a a", "O O", []),
    # counts
    ("count(j) + count(b) <= 1", "a a a", "j b j", [(1, 1), (2, 1)]),
    ("2 count(j) <= 3", "a a a", "j x j", [(2, 1)]),
    ("2*count(j) + count(x) <= 3", "a a a a", "j x j x", [(2, 2), (3, 1)]),
    ("count(j) - count(b) <= 0", "a a a", "j x j", [(END, 2)]),
    ("count(p) == count(f)", "a a a", "p f p", [(END, 1)]),
    ("count(p) == 1", "a", "x", [(END, 1)]),
    ("count(p) >= 2", "a", "x", [(END, 2)]),
    ("count(p) < 1", "a", "p", [(0, 1)]),
    ("count(p) > 1", "a", "p", [(END, 1)]),
    ("count(p) != 1", "a", "p", [(END, 1)]),
    ("1 <= count(p)", "a", "x", [(END, 1)]),
    ("count(p) <= -1", "a a", "p x", [(0, 1), (END, 1)]),
    ("tokens(t) <= 2", "a a a a", "t x t t", [(3, 1)]),
    ("tokens >= 3", "a a", "x x", [(END, 1)]),
    ("tokens <= 1", "a a", "x x", [(1, 1)]),
    ("count(each field) <= 1", "a a a", "x O x", [(2, 1)]),
    ("count(x, y) <= 1", "a a", "x y", [(1, 1)]),
    ("title required", "a", "title", []),
    ("title required", "a", "x", [(END, 1)]),
    ("journal excludes booktitle", "a a", "journal booktitle", [(1, 1)]),
    ("journal excludes booktitle", "a a", "x booktitle", []),
    ("thesis requires school", "a", "thesis", [(END, 1)]),
    ("thesis requires school", "a", "school", []),
    # hierarchies: every level is a segment
    (
        "count(person) == count(first)",
        "a b c d",
        "B-s/B-person/B-first I-s/I-person/B-last I-s/B-person/B-last O",
        [(END, 1)],
    ),
    ("count(s) <= 0", "a b", "B-s/B-person I-s/B-person", [(0, 1)]),
    ("count(s/person) <= 1", "a b", "B-s/B-person I-s/B-person", [(1, 1)]),
    ("tokens(person) <= 0", "a b", "B-s/B-person I-s/I-person", [(0, 1), (1, 1)]),
    ("first in s", "a", "B-s/B-person/B-first", []),
    ("first in first", "a", "B-s/B-person/B-first", []),
    ("first in person/first", "a", "B-s/B-person/B-first", []),
    ("count(person) <= 1", "a b c", "s/person/first s/person/last s", []),
    ("count(first) <= 1", "a b c", "s/person/first s/person/last s/person/first", [(2, 1)]),
    # order
    ("author before title", "a a a", "title author author", [(1, 1)]),
    ("author before title", "a a a", "author title author", [(2, 1)]),
    ("author before title", "a a a", "author x title", []),
    ("author before title", "a", "title", []),
    ("author followed later by title", "a a a", "author x title", []),
    ("author followed later by title", "a a a", "author title author", [(2, 1)]),
    ("author followed later by title", "a", "title", []),
    ("a followed later by a", "x x x", "a b a", [(2, 1)]),
    # conditions on the whole sequence, and logic
    ('any token in "thesis"', "a thesis", "x x", []),
    ('any token in "thesis"', "a b", "x x", [(END, 1)]),
    ("text ~ /hes+is/", "a thesis", "x x", []),
    ("text ~ /^thesis/", "a thesis", "x x", [(END, 1)]),
    ('if any token in "thesis" then school required', "thesis", "x", [(END, 1)]),
    ('if any token in "thesis" then school required', "book", "x", []),
    ("if tokens >= 3 then each field once", "a a a", "x y x", [(2, 1)]),
    ("if first in a then last in b", "x x", "a a", [(1, 1)]),
    ("if first in a then last in b", "x x", "b a", []),
    ("x required and y required", "a", "z", [(END, 1), (END, 1)]),
    ("x required or count(y) >= 3", "a", "z", [(END, 1)]),
    ("x required or y required", "a", "y", []),
    ("not x required", "a", "x", [(END, 1)]),
    ("not x required", "a", "y", []),
    ("not not each field once", "a a a a", "x y x y", [(END, 1)]),
    ("not (x required or y required)", "a", "y", [(END, 1)]),
]


NODES = [parse_node(text) for text, *_ in CASES]


@pytest.mark.parametrize(("text", "tokens", "labels", "expected"), CASES)
def test_by_hand(text: str, tokens: str, labels: str, expected: list[tuple[int | None, int]]) -> None:
    node = parse_node(text)
    x, y = tokens.split(), labels.split()
    assert violations(node, x, y) == expected
    assert degree(node, x, y) == sum(amount for _, amount in expected)


def test_every_node_has_a_meaning_and_a_case() -> None:
    declared = {v for v in vars(n).values() if isinstance(v, type) and issubclass(v, n.Node) and v is not n.Node}
    assert declared == set(n.NODE_TYPES) == set(MEANINGS)
    seen = {type(inner) for text, *_ in CASES for inner in n.walk(parse_node(text))}
    assert seen == set(MEANINGS)


def test_a_good_labelling_violates_nothing() -> None:
    text = r"""
        Start: first in author
        Once: each field once
        Punct: change only after is punctuation
        Pages: token in "pp." -> pages
        Date: token ~ /(19|20)\d\d/ -> date
        Title: title required
        Order: author before title
    """
    assert degrees(rules(text), REFERENCE, GOOD.split()).tolist() == [0] * 7
    bad = ["title", "author", "title", "title", "title", "pages", "date", "date", "date", "date"]
    # Borders stand behind Lee, ".", "." and "pp.": the first and the last are not punctuation.
    assert degrees(rules(text), REFERENCE, bad).tolist() == [1, 1, 2, 0, 0, 0, 1]


def test_once_option_makes_a_degree_yes_or_no() -> None:
    x, y = list("abcd"), list("pqpq")
    assert violations(Rule("r", once(), once=True), x, y) == [(2, 1)]
    assert degree(Rule("r", once()), x, y) == 2
    assert degrees(rules("A: each field once [once]\nB: each field once"), x, y).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("first in a", [None, "a"], []),
        ("label a -> next b", ["a", None], []),
        ("label a -> next b", [None, "c"], []),
        ('token in "x" -> previous b', ["a", None], [(0, 1), (1, 1)]),
        ("change only after is punctuation", ["a", None, "b"], []),
        ("each field once", ["a", None, "a"], [(2, 1)]),
        ("tokens(any field) <= 0", ["a", None], [(0, 1)]),
        ("tokens(not b) <= 0", ["a", None], [(0, 1)]),
        ("tokens <= 0", ["a", None], [(0, 1), (1, 1)]),
    ],
)
def test_unknown_labels_violate_nothing(text: str, labels: list[str | None], expected: list[tuple[int, int]]) -> None:
    assert violations(parse_node(text), ["x"] * len(labels), labels) == expected


def test_lengths_must_agree() -> None:
    with pytest.raises(InputError, match=r"2 tokens but 1 label$"):
        violations(first("a"), ["x", "y"], ["a"])


def test_the_text_may_differ_from_the_joined_tokens() -> None:
    node = parse_node("text ~ /a,b/")
    assert degree(node, ["a", ",", "b"], ["x", "x", "x"]) == 1
    assert degree(node, ["a", ",", "b"], ["x", "x", "x"], text="a,b") == 0


def _runs(y: list[str]) -> list[tuple[str, int, int]]:
    """Label, first token and length of every run: an independent definition of segments."""
    found, at = [], 0
    for name, group in groupby(y):
        size = len(list(group))
        found.append((name, at, size))
        at += size
    return [run for run in found if run[0] != "O"]


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    plain_labellings, st.integers(-3, 3), st.integers(-3, 3), st.integers(-2, 4), st.sampled_from(["<=", ">=", "=="])
)
def test_linear_against_runs(y: list[str], u: int, v: int, b: int, comparison: str) -> None:
    if u == 0 or v == 0:
        return
    runs = _runs(y)
    total = u * sum(r[0] == "a" for r in runs) + v * y.count("b")
    missed = {"<=": max(0, total - b), ">=": max(0, b - total), "==": abs(total - b)}[comparison]
    left = u * count("a") + v * tokens("b")
    node = {"<=": left <= b, ">=": left >= b, "==": left == b}[comparison]
    assert degree(node, ["x"] * len(y), y) == missed


@settings(deadline=None, derandomize=True, max_examples=150)
@given(plain_labellings)
def test_segment_rules_against_runs(y: list[str]) -> None:
    x = ["x"] * len(y)
    runs = _runs(y)
    names = [name for name, *_ in runs]
    assert degree(once(), x, y) == len(names) - len(set(names))
    assert degree(parse_node("length(each field) >= 2"), x, y) == sum(size < 2 for *_, size in runs)
    assert degree(parse_node("length(each field) <= 2"), x, y) == sum(max(0, size - 2) for *_, size in runs)
    assert degree(parse_node("change only after is punctuation"), x, y) == sum(a != b for a, b in pairwise(y))
    before = sum(1 for k, name in enumerate(names) if name == "a" and "b" in names[:k])
    assert degree(parse_node("a before b"), x, y) == before
    last = max((k for k, name in enumerate(names) if name == "a"), default=None)
    assert degree(parse_node("a followed later by b"), x, y) == int(last is not None and "b" not in names[last:])
    adjacent = sum(1 for k, label in enumerate(y) if label == "a" and y[k + 1 : k + 2] != ["b"])
    assert degree(parse_node("label a -> next b"), x, y) == adjacent


@settings(deadline=None, derandomize=True, max_examples=50)
@given(plain_labellings)
def test_marks_that_follow_the_runs_change_nothing(y: list[str]) -> None:
    x = [WORDS[k % len(WORDS)] for k in range(len(y))]
    tags = ["O" if label == "O" else ("I-" if k and y[k - 1] == label else "B-") + label for k, label in enumerate(y)]
    for node in NODES:
        assert violations(node, x, y) == violations(node, x, tags)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(rule_nodes, rule_nodes, plain_labellings)
def test_laws_of_logic(p: n.Node, q: n.Node, y: list[str]) -> None:
    x = [WORDS[k % len(WORDS)] for k in range(len(y))]
    d_p, d_q = degree(p, x, y), degree(q, x, y)
    assert degree(p & q, x, y) == d_p + d_q
    assert degree(p | q, x, y) == min(d_p, d_q)
    assert degree(~p, x, y) == int(d_p == 0)
    assert degree(n.If(p, q), x, y) == (d_q if d_p == 0 else 0)
    found = violations(p, x, y)
    assert all(v.amount > 0 and (v.position is None or 0 <= v.position < len(y)) for v in found)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(plain_labellings, st.integers(0, 7))
def test_what_a_prefix_violates_stays_violated(y: list[str], cut: int) -> None:
    """Eq. 2 of Chang et al.: y_i violates the rule given the labels before it, whatever comes after."""
    x = ["x"] * len(y)
    for text in (
        "each field once",
        "a before b",
        "count(a) + tokens(b) <= 1",
        "length(a) <= 1",
        "token is first -> a",
    ):
        node = parse_node(text)
        before = [v for v in violations(node, x, y) if v.position is not None and v.position < cut]
        assert violations(node, x[:cut], y[:cut]) == before


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.lists(st.sampled_from(["a", "b", "x-y", "O", "B-a", "I-a", "B-b", "I-b", None]), max_size=9))
def test_flat_labels_have_the_segments_of_their_tags(labels: list[str | None]) -> None:
    """Segments of one level, against the general definition: an unmarked label goes on with whatever it can."""
    tags = [label if label is None or is_tag(label) else f"I-{label}" for label in labels]
    starts = [violation.position for violation in violations(parse_node("each field once"), [""] * len(labels), labels)]
    seen: set[str] = set()
    again = [s.start for s in segments(tags) if s.label in seen or seen.add(s.label)]
    assert starts == again


def test_the_oracle_is_plain_python() -> None:
    """It asks no compiled form, keeps nothing between calls, and reads segments as everybody does."""
    tree = ast.parse(inspect.getsource(meaning))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {name for name in modules if name and name.startswith("espalier")}
    assert ours == {
        "espalier.errors",
        "espalier.rules",
        "espalier.rules.predicates",
        "espalier.rules.ruleset",
        "espalier.tags",
    }
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"lru_cache", "cache", "cached_property"}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert sum(isinstance(call.func, ast.Name) and call.func.id == "segments" for call in calls) == 1

"""The Python algebra builds the nodes that the text form builds, and refuses what it cannot mean."""

from __future__ import annotations

import copy
import pickle

import pytest

from espalier.errors import RuleError
from espalier.rules import (
    any_token,
    before,
    change_only,
    count,
    excludes,
    fields,
    first,
    followed_by,
    following,
    label,
    last,
    length,
    once,
    precedes,
    previous,
    required,
    requires,
    span,
    text_matches,
    token,
    tokens,
    when,
)
from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules.text import parse_node

punctuation = token.satisfies("punctuation")

PAIRS = [
    (first("a", "b"), "first in a, b"),
    (first(), "first in any field"),
    (last(fields(but=("a",))), "last not in a"),
    (span(3, 7, "title"), "tokens 3..7 are title"),
    (once(), "each field once"),
    (once("a", "b"), "a, b once"),
    (change_only(after=token.matches("[.,]")), "change only after /[.,]/"),
    (change_only(before=punctuation), "change only before is punctuation"),
    (change_only(at=punctuation), "change only at is punctuation"),
    (when(token.isin("pp.", "pages")).then("pages"), 'token in "pp.", "pages" -> pages'),
    (when(token.isin("CA", exactly=True)).then_not("x", "y"), 'token exactly "CA" -> not x, y'),
    (
        when(token.shape("Xx") & ~previous(punctuation)).then("a"),
        'token shape "Xx" and not previous is punctuation -> a',
    ),
    (when(token.at(0) | following(token.isin("x"))).then("a"), 'token is first or next in "x" -> a'),
    (
        when(token.isin(",")).then_previous("a") & when(token.isin(",")).then_next("b"),
        'token "," -> previous a and token "," -> next b',
    ),
    (when(label("a")).then_next("b"), "label a -> next b"),
    (
        when(label("a") & token.isin(",") & token.at(1, 2)).then_next("b"),
        'label a and token in "," and at 1..2 -> next b',
    ),
    (count("j") + count("b") <= 1, "count(j) + count(b) <= 1"),
    (count("j") - 2 * count("b") == 3, "count(j) - 2 count(b) == 3"),
    (count("p") == count("f"), "count(p) == count(f)"),
    (1 - count("p") < tokens("f"), "1 - count(p) < tokens(f)"),
    (count() >= 2, "2 <= count(any field)"),
    (tokens() > 3, "tokens > 3"),
    (count("p") != 1, "count(p) != 1"),
    (-count("a") >= -1, "-count(a) >= -1"),
    (count("a") * 3 + 1 <= 2 + count("a"), "3*count(a) + 1 <= 2 + count(a)"),
    (length() >= 3, "length(each field) >= 3"),
    (length("a") <= 4, "length(a) <= 4"),
    (length("a") == 1, "length(a) == 1"),
    (required("a"), "a required"),
    (excludes("a", "b"), "a excludes b"),
    (requires("a", "b"), "a requires b"),
    (before("a", "b"), "a before b"),
    (precedes("a", fields("b", "c")), "a followed later by b, c"),
    (followed_by("a", "b"), "a followed by b"),
    (any_token(token.isin("x")), 'any token in "x"'),
    (text_matches("x y"), "text ~ /x y/"),
    (when(any_token(token.isin("thesis"))).then(required("school")), 'if any token in "thesis" then school required'),
    ((once("a") & once("b")) | ~once("c"), "a once and b once or not c once"),
    (once("a") & once("b") & once("c"), "a once and b once and c once"),
]


@pytest.mark.parametrize(("node", "written"), PAIRS, ids=[written for _, written in PAIRS])
def test_algebra_builds_what_the_text_builds(node: n.Node, written: str) -> None:
    assert node == parse_node(written)
    assert hash(node) == hash(parse_node(written))


def test_the_pairs_use_every_node() -> None:
    assert {type(inner) for node, _ in PAIRS for inner in n.walk(node)} == set(n.NODE_TYPES)


@pytest.mark.parametrize("node", [node for node, _ in PAIRS])
def test_nodes_survive_copying_and_pickling(node: n.Node) -> None:
    assert copy.deepcopy(node) == node
    assert pickle.loads(pickle.dumps(node)) == node


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (lambda: 0 <= count("a") <= 1, "chained comparison"),
        (lambda: once() and first("a"), "neither true nor false"),
        (lambda: not once(), "neither true nor false"),
        (lambda: token.isin("a") or token.isin("b"), "combine conditions with"),
        (lambda: bool(count("a")), "compare it"),
        (lambda: bool(length("a")), "compare it"),
        (lambda: count("a") <= 1.5, "counts and integers, not 1.5"),
        (lambda: count("a") <= True, "counts and integers"),
        (lambda: count("a") * 0.5, "by an integer only"),
        (lambda: count("a") <= count("a"), "without any count"),
        (lambda: length("a") >= 1.5, "not an integer"),
        (lambda: length("a") >= 0, "at least one token"),
        (lambda: first("B-a"), "'a'"),
        (lambda: first(""), "non-empty strings"),
        (lambda: first(fields("a"), "b"), "not a mixture"),
        (lambda: fields("a", but=("b",)), "not both"),
        (lambda: change_only(), "exactly one of"),
        (lambda: change_only(after=punctuation, at=punctuation), "exactly one of"),
        (lambda: token.satisfies("nice"), "no built-in condition"),
        (lambda: token.matches(""), "empty pattern"),
        (lambda: token.matches("a\nb"), "line break"),
        (lambda: token.matches("(a"), "never closed"),
        (lambda: token.isin(), "at least one word"),
        (lambda: token.isin("a", 3), "tuple of strings"),
        (lambda: token.shape("XXx"), "written once, as in 'Xx'"),
        (lambda: token.shape(""), "no token has the shape"),
        (lambda: p.Near(2, punctuation), "nest conditions"),
        (lambda: n.Implies(punctuation, n.Fields(("a",)), offset=2), "previous, this or the next"),
        (lambda: n.Length(n.Fields(("a",)), "<", 3), "unknown comparison"),
        (lambda: n.Linear((n.Term(0, "segments", n.Fields(("a",))),), "<=", 1), "other than zero"),
        (lambda: n.All((once(),)), "at least two"),
        (lambda: p.AnyOf((punctuation,)), "at least two"),
        (lambda: when(3), "takes a token condition"),
    ],
)
def test_wrong_use(wrong, what: str) -> None:
    with pytest.raises(RuleError, match=what):
        wrong()


def test_counts_are_not_hashable() -> None:
    with pytest.raises(TypeError):
        hash(count("a"))


def test_nothing_else_mixes_with_rules() -> None:
    with pytest.raises(TypeError):
        once() & 3
    with pytest.raises(TypeError):
        punctuation | once()

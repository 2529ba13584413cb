"""Nodes back to text. `parse_node(print_node(node)) == node` for every node: a law kept by a test."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any as Anything

from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules.lexer import KEYWORDS, NAME

__all__ = ["print_condition", "print_fields", "print_name", "print_node"]


def print_node(node: n.Node) -> str:
    """Return the text form of a node."""
    return _PRINTERS[type(node)](node)


def print_name(name: str) -> str:
    """Return a rule's or field's name, in quotes if it is not a plain word or means something else."""
    return name if NAME.fullmatch(name) and name not in KEYWORDS else _string(name)


def print_fields(fields: n.Fields, *, leading: bool = False) -> str:
    """Return `title, date`, `not title`, `any field` or `anything`.

    At the beginning of a rule (`leading`) a `not` would deny the rule, so it is `any but title` there.
    """
    if fields == n.ANYTHING:
        return "anything"
    if fields == n.ANY_FIELD:
        return "any field"
    return ("" if not fields.negated else "any but " if leading else "not ") + ", ".join(
        print_name(name) for name in fields.names
    )


def print_condition(condition: p.Condition) -> str:
    """Return the text form of a token condition, without the word `token` in front."""
    if isinstance(condition, p.AllOf):
        return " and ".join(_tight(c) if isinstance(c, p.AnyOf) else print_condition(c) for c in condition.conditions)
    if isinstance(condition, p.AnyOf):
        return " or ".join(print_condition(c) for c in condition.conditions)
    return _tight(condition)


def _tight(condition: p.Condition) -> str:
    """Print so that `and`, `or`, `not` and `next` around it cannot tear it apart."""
    if isinstance(condition, p.AllOf | p.AnyOf):
        return f"({print_condition(condition)})"
    if isinstance(condition, p.NoneOf):
        return "not " + _tight(condition.condition)
    if isinstance(condition, p.Near):
        return ("previous " if condition.offset < 0 else "next ") + _tight(condition.condition)
    if isinstance(condition, p.Words):
        if condition.source:
            return ("in" if condition.fold else "exactly in") + f" file {_string(condition.source)}"
        return ("in " if condition.fold else "exactly ") + ", ".join(_string(word) for word in condition.words)
    if isinstance(condition, p.Pattern):
        return f"~ {_regex(condition.regex)}"
    if isinstance(condition, p.Text):
        return f"text ~ {_regex(condition.regex)}"
    if isinstance(condition, p.Shape):
        return f"shape {_string(condition.shape)}"
    if isinstance(condition, p.Named):
        return f"is {print_name(condition.name)}"
    if isinstance(condition, p.At):
        if condition in (p.FIRST, p.LAST):
            return "is first" if condition == p.FIRST else "is last"
        return f"at {condition.first}..{condition.last}"
    raise AssertionError(f"a condition without a text form: {condition!r}")


def _string(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c, c) for c in text) + '"'


def _regex(regex: str) -> str:
    return "/" + re.sub(r"\\.|/", lambda m: "\\/" if m[0] == "/" else m[0], regex) + "/"


def _implies(node: n.Implies) -> str:
    then = {-1: "previous ", 0: "", 1: "next "}[node.offset] + print_fields(node.fields)
    if node.given == n.ANYTHING:
        if node.offset == 0 and node.condition in (p.FIRST, p.LAST):
            where = "first" if node.condition == p.FIRST else "last"
            negated = node.fields.negated and node.fields not in (n.ANYTHING, n.ANY_FIELD)
            return f"{where} not in {then.removeprefix('not ')}" if negated else f"{where} in {then}"
        return f"token {print_condition(node.condition)} -> {then}"
    given = f"label {print_fields(node.given)}"
    if node.condition == p.ALWAYS:
        return f"{given} -> {then}"
    return f"{given} and token {print_condition(node.condition)} -> {then}"


def _change(node: n.Change) -> str:
    c = node.condition
    if isinstance(c, p.AnyOf) and len(c.conditions) == 2 and c.conditions[0] == p.Near(-1, c.conditions[1]):
        return f"change only at {_tight(c.conditions[1])}"
    if isinstance(c, p.Near) and c.offset == -1:
        return f"change only after {_tight(c.condition)}"
    return f"change only before {_tight(c)}"


def _once(node: n.Once) -> str:
    return "each field once" if node.fields == n.ANY_FIELD else f"{print_fields(node.fields, leading=True)} once"


def _length(node: n.Length) -> str:
    return f"length({print_fields(node.fields)}) {node.comparison} {node.bound}"


def _linear(node: n.Linear) -> str:
    one = node.terms[0]
    if len(node.terms) == 1 and (one.coefficient, node.comparison, node.bound) == (1, ">=", 1):
        single = len(one.fields.names) == 1 and not one.fields.negated
        if one.unit == "segments" and single:
            return f"{print_fields(one.fields)} required"
    left, right = list(node.terms), ""
    if node.bound == 0 and left[0].coefficient > 0:
        # a - b == 0 reads better as a == b; only a tail of negative terms may cross, to keep their order.
        cut = len(left)
        while left[cut - 1].coefficient < 0:
            cut -= 1
        right = _sum([n.Term(-t.coefficient, t.unit, t.fields) for t in left[cut:]])
        left = left[:cut]
    return f"{_sum(left)} {node.comparison} {right or node.bound}"


def _sum(terms: list[n.Term]) -> str:
    text = ""
    for term in terms:
        size = abs(term.coefficient)
        count = "count" if term.unit == "segments" else "tokens"
        inside = "" if term.unit == "tokens" and term.fields == n.ANYTHING else f"({print_fields(term.fields)})"
        sign = " - " if term.coefficient < 0 else " + "
        text += (sign if text else sign.strip(" +")) + (f"{size} " if size != 1 else "") + count + inside
    return text


def _before(node: n.Before) -> str:
    return f"{print_fields(node.first, leading=True)} before {print_fields(node.second)}"


def _later(node: n.Later) -> str:
    return f"{print_fields(node.first, leading=True)} followed later by {print_fields(node.second)}"


def _exists(node: n.Exists) -> str:
    return _tight(node.condition) if isinstance(node.condition, p.Text) else f"any token {_tight(node.condition)}"


def _if(node: n.If) -> str:
    condition = _inside(node.condition, n.If)
    return f"if {condition} then {print_node(node.then)}"


def _all(node: n.All) -> str:
    return " and ".join(_inside(part, n.If, n.Any) for part in node.parts)


def _any(node: n.Any) -> str:
    return " or ".join(_inside(part, n.If) for part in node.parts)


def _not(node: n.Not) -> str:
    return f"not ({print_node(node.part)})"


def _inside(node: n.Node, *loose: type[n.Node]) -> str:
    return f"({print_node(node)})" if isinstance(node, loose) else print_node(node)


_PRINTERS: dict[type[n.Node], Callable[[Anything], str]] = {
    n.Implies: _implies,
    n.Change: _change,
    n.Once: _once,
    n.Length: _length,
    n.Linear: _linear,
    n.Before: _before,
    n.Later: _later,
    n.Exists: _exists,
    n.If: _if,
    n.All: _all,
    n.Any: _any,
    n.Not: _not,
}

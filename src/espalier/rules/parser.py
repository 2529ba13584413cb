"""Rule text to nodes: recursive descent over the grammar in `espalier.rules.text`.

Every complaint names line and column, shows the line with a caret, and says what was expected or which known
word is nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from espalier.errors import RuleError, nearest
from espalier.rules import language as build
from espalier.rules.counts import Count, Lengths, compare
from espalier.rules.lexer import complain, logical_lines
from espalier.rules.nodes import ANYTHING, All, Any, Change, Exists, Fields, If, Implies, Node, Not, Once
from espalier.rules.predicates import ALWAYS, FIRST, LAST, Condition, Near
from espalier.rules.reader import Context, Reader

__all__ = ["ParsedRule", "parse_node", "parse_rules"]

_COMPARISONS = ("<=", ">=", "==", "!=", "<", ">", "=")


class ParsedRule(NamedTuple):
    """One rule as written."""

    name: str
    node: Node
    penalty: float | None
    once: bool


def parse_rules(source: str, context: Context) -> Iterator[ParsedRule]:
    """Yield the rules of a text."""
    lines = source.removeprefix("\ufeff").split("\n")  # some editors begin a file with this mark
    names: set[str] = set()
    for numbers in logical_lines(lines):
        parser = _Parser(lines, numbers, context)
        at = parser.now
        rule = parser.line()
        if rule.name in names:
            raise complain(lines, at, f"a second rule named {rule.name!r}", hint="names must differ")
        names.add(rule.name)
        yield rule


def parse_node(source: str, context: Context | None = None) -> Node:
    """Return the node of one rule without name and options."""
    lines = source.split("\n")
    numbers = [number for group in logical_lines(lines) for number in group]
    if not numbers:
        raise RuleError("an empty rule")
    parser = _Parser(lines, numbers, context or Context())
    node = parser.rule()
    if parser.now.kind != "end":
        parser.expected("the end of the rule, 'and' or 'or'")
    return node


class _Parser(Reader):
    """Recursive descent over the lexemes of one rule."""

    # -- lines and options -------------------------------------------------------------------------

    def line(self) -> ParsedRule:
        if self.now.kind not in ("name", "string") or self.peek(1) != ":":
            self.fail("a rule begins with its name and a colon, as in 'Start: first in title'")
        name = self.name("a rule name")
        self.need(":")
        node = self.rule()
        penalty, once = self.options()
        if self.now.kind != "end":
            self.expected("the end of the rule, 'and', 'or' or options in brackets")
        return ParsedRule(name, node, penalty, once)

    def options(self) -> tuple[float | None, bool]:
        penalty: float | None = None
        once = False
        if not self.take("["):
            return penalty, once
        while True:
            at = self.now
            if self.take("once"):
                once = True
            elif penalty is None and self.take("hard"):
                penalty = float("inf")
            elif penalty is None and self.take("penalty"):
                if self.peek() == "-":
                    self.fail("a penalty may not be negative", hint="write the rule the other way round")
                penalty = float(self.next_of("number", "a number, as in [penalty 2.5]").text)
                if penalty == float("inf"):
                    self.fail("this penalty is infinite", at, "write [hard]")
            elif at.text in ("hard", "penalty"):
                self.fail("a rule has one penalty")
            else:
                near = nearest(at.text, ("hard", "penalty", "once"))
                self.fail(f"unknown option {at.text!r}", hint=near or "known are hard, penalty 2.5 and once")
            if not self.take(","):
                break
        self.need("]")
        return penalty, once

    # -- rules -------------------------------------------------------------------------------------

    def rule(self) -> Node:
        return self.nested(self._rule)

    def _rule(self) -> Node:
        if self.take("if"):
            condition = self.rule()
            self.need("then")
            return If(condition, self.rule())
        branches = [self.both()]
        while self.take("or"):
            branches.append(self.both())
        return branches[0] if len(branches) == 1 else Any(tuple(branches))

    def both(self) -> Node:
        parts = [self.nested(self.single)]
        while self.take("and"):
            parts.append(self.nested(self.single))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def single(self) -> Node:
        if self.take("not"):
            return Not(self.nested(self.single))
        if self.take("("):
            node = self.rule()
            self.need(")")
            return node
        for words, parse in _STARTS:
            if all(self.peek(k) in word for k, word in enumerate(words)):
                return parse(self)
        if self.peek() == "tokens" and (self.stream[self.at + 1].kind == "number" or self.peek(3) == ".."):
            return self.clamp()
        if self.now.kind == "number" or self.peek() in ("-", "+", "tokens"):
            return self.comparison()
        word = self.peek()
        if word in _BEHIND and self.peek(1) not in ("field", "but"):
            self.at += 1
            self.expected(f"{_BEHIND[word]} behind {word!r} (a field of that name is written in quotes)")
        return self.about_fields()

    def ends(self) -> Node:
        condition = FIRST if self.peek() == "first" else LAST
        self.at += 1
        negated = self.take("not")
        self.need("in")
        return Implies(condition, self.fields(negated=negated))

    def clamp(self) -> Node:
        self.need("tokens")
        condition = self.positions(self.now)
        self.need("are")
        return Implies(condition, self.fields())

    def change(self) -> Node:
        self.need("change")
        self.need("only")
        for word in ("after", "before", "at"):
            if self.take(word):
                condition = self.nested(self.tight)
                if word == "at":
                    return Change(Near(-1, condition) | condition)
                return Change(condition if word == "before" else Near(-1, condition))
        self.expected("'after', 'before' or 'at'")

    def implication(self) -> Node:
        given: Fields = ANYTHING
        condition: Condition = ALWAYS
        if self.take("label"):
            given = self.fields()
            if self.take("and"):
                condition = self.condition()
        else:
            condition = self.condition()
        if not self.take("->") and not self.take("only", "in"):
            self.expected("'->' and the fields, or 'only in' and the fields")
        offset = -1 if self.take("previous") else 1 if self.take("next") else 0
        return Implies(condition, self.fields(), given, offset)

    def lengths(self) -> Node:
        start = self.now
        self.need("length")
        self.need("(")
        fields = Lengths(self.fields())
        self.need(")")
        comparison = self.comparison_sign(("<=", ">=", "==", "="))
        bound = self.integer()
        makers = {"<=": fields.__le__, ">=": fields.__ge__, "==": fields.__eq__}
        return self.built(start, lambda: makers[comparison](bound))

    def exists(self) -> Node:
        if self.take("any", "token"):
            return Exists(self.nested(self.tight))
        return Exists(self.tight())

    def about_fields(self) -> Node:
        start = self.now
        one = self.fields(leading=True)
        if self.take("once"):
            return Once(one)
        if self.take("required"):
            if one.negated or len(one.names) > 1:
                self.fail("'required' takes one field", start, "for one out of several write count(a, b) >= 1")
            return build.required(one.names[0])
        if self.take("before"):
            return build.before(one, self.fields())
        if self.take("excludes"):
            return build.excludes(one, self.fields())
        if self.take("requires"):
            return build.requires(one, self.fields())
        if self.take("followed", "later", "by"):
            return build.precedes(one, self.fields())
        if self.take("followed", "by"):
            other = self.fields()
            return self.built(start, lambda: build.followed_by(one, other))
        what = "'once', 'required', 'before', 'excludes', 'requires', 'followed by' or 'followed later by'"
        slip = nearest(start.text, _BEHIND) if start.kind == "name" else ""
        if slip:
            self.fail(f"expected {what} behind the field {start.text!r}", start, slip)
        self.expected(what)

    # -- counts ------------------------------------------------------------------------------------

    def comparison(self) -> Node:
        start = self.now
        left = self.sum()
        sign = self.comparison_sign(_COMPARISONS)
        right = self.sum()
        return self.built(start, lambda: compare(left, sign, right))

    def comparison_sign(self, allowed: Sequence[str]) -> str:
        for sign in allowed:
            if self.take(sign):
                return "==" if sign == "=" else sign
        self.expected("a comparison: " + ", ".join(sign for sign in allowed if sign != "="))

    def sum(self) -> Count:
        total = self.summand()
        while self.peek() in ("+", "-"):
            total = total + self.summand()
        return total

    def summand(self) -> Count:
        sign = -1 if self.take("-") else 1
        if sign == 1:
            self.take("+")
        factor = self.integer() if self.now.kind == "number" else None
        times = factor is not None and self.take("*")
        if self.peek() not in ("count", "tokens"):
            if factor is None or times:
                self.expected("a number, count(...) or tokens(...)")
            return Count(constant=sign * factor)
        coefficient = sign * (1 if factor is None else factor)
        if self.take("tokens") and self.peek() != "(":
            return build.tokens() * coefficient
        unit = build.count if self.take("count") else build.tokens
        self.need("(")
        fields = self.fields()
        self.need(")")
        return unit(fields) * coefficient


_BEHIND = {
    "any": "'token', 'field' or 'but'",
    "change": "'only'",
    "count": "'('",
    "each": "'field'",
    "first": "'in'",
    "last": "'in'",
    "length": "'('",
    "next": "'token'",
    "previous": "'token'",
    "text": "'~'",
}
"""The words a rule may begin with, and what has to stand behind them."""

_Words = tuple[tuple[str, ...], ...]
_STARTS: tuple[tuple[_Words, Callable[[_Parser], Node]], ...] = (
    ((("first", "last"), ("in", "not")), _Parser.ends),
    ((("change",), ("only",)), _Parser.change),
    ((("token", "label"),), _Parser.implication),
    ((("previous", "next"), ("token",)), _Parser.implication),
    ((("length",), ("(",)), _Parser.lengths),
    ((("any",), ("token",)), _Parser.exists),
    ((("text",), ("~",)), _Parser.exists),
    ((("count",), ("(",)), _Parser.comparison),
)
"""How a simple rule may begin; a number begins a comparison, anything else a statement about fields."""

r"""The text form of rules: one rule on each line, readable without knowing Python.

    Start:   first in name, title
    Once:    each field once
    Punct:   change only after /[.,;:!?]/
    Pages:   token in "pp.", "pages" -> pages
    Year:    token ~ /(19|20)\d\d/ -> date
    Quotes:  token in "\"" only in title
    Venue:   count(series) + count(volume) <= 1          [hard]
    Title:   title required                              [penalty 2.5]
    Order:   name before title
    Len:     length(each field) >= 3
    Thesis:  if any token in "thesis" then school required

A line that is indented deeper than the first rule and does not begin with a name and a colon continues the rule
above it; `#` begins a comment.
Words are in double quotes and ignore case unless they stand behind `exactly`; patterns stand between slashes
and speak about the whole token (behind `text ~`, about any part of the text). A field whose name is a word of
the language, or not a plain word, is written in quotes. Positions count from 0, and from -1 at the end.

`GRAMMAR` is the whole language, `espalier.rules.meaning` says what each rule means. What is read here is printed here:
`parse_node(print_node(node)) == node` for every node, a law kept by a test.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any as Anything
from typing import NamedTuple

from espalier.errors import nearest
from espalier.rules import language as build
from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules.reader import (
    GRAMMAR,
    KEYWORDS,
    ConditionReader,
    Scope,
    complain,
    logical_lines,
    print_condition,
    print_name,
    print_tight,
    read_whole,
)

__all__ = ["GRAMMAR", "KEYWORDS", "LineReader", "ParsedRule", "parse_node", "parse_rules", "print_name", "print_node"]

# Reading.


class ParsedRule(NamedTuple):
    """One rule as written."""

    name: str
    node: Anything
    penalty: float | None
    once: bool


def parse_rules(
    source: str, scope: Scope, kind: type[LineReader] | None = None, keywords: Collection[str] = KEYWORDS
) -> Iterator[ParsedRule]:
    """Yield the rules of a text; kind : what reads a line, where it is another language than this one."""
    lines = source.removeprefix("\ufeff").split("\n")  # some editors begin a file with this mark
    names: set[str] = set()
    for numbers in logical_lines(lines):
        parser = (kind or _Parser)(lines, numbers, scope, keywords)
        at = parser.now
        rule = parser.line()
        if rule.name in names:
            raise complain(lines, at, f"a second rule named {rule.name!r}", hint="names must differ")
        names.add(rule.name)
        yield rule


def parse_node(source: str, scope: Scope | None = None) -> n.Node:
    """Return the node of one rule without name and options."""
    return read_whole(_Parser, "rule", source, scope, _Parser.rule)


class LineReader(ConditionReader):
    """Reads a line: a name, a rule of some language, and options. example : a line of that language."""

    example = "Start: first in title"
    known: tuple[str, ...] = ("hard", "penalty", "once")
    said = "hard, penalty 2.5 and once"

    def rule(self) -> Anything:
        """Read a rule without name and options."""
        raise NotImplementedError

    def line(self) -> ParsedRule:
        """Read a rule with its name and its options."""
        if self.now.kind not in ("name", "string") or self.peek(1) != ":":
            self.fail(f"a rule begins with its name and a colon, as in {self.example!r}")
        name = self.name("a rule name")
        self.need(":")
        node = self.rule()
        penalty, once = self.options()
        if self.now.kind != "end":
            self.expected("the end of the rule, 'and', 'or' or options in brackets")
        return ParsedRule(name, node, penalty, once)

    def options(self) -> tuple[float | None, bool]:
        """Read the penalty, and whether violations count once, if brackets say so."""
        penalty: float | None = None
        once = False
        if not self.take("["):
            return penalty, once
        while True:
            at = self.now
            if "once" in self.known and self.take("once"):
                once = True
            elif penalty is None and self.take("hard"):
                penalty = float("inf")
            elif penalty is None and self.take("penalty"):
                if self.peek() == "-":
                    self.fail("a penalty may not be negative", hint="write the rule the other way round")
                if self.peek() in ("inf", "infinity", "infinite"):
                    self.fail("this penalty is infinite", hint="write [hard]")
                penalty = float(self.next_of("number", "a number, as in [penalty 2.5]").text)
                if penalty == float("inf"):
                    self.fail("this penalty is infinite", at, "write [hard]")
            elif at.text in ("hard", "penalty"):
                self.fail("a rule has one penalty")
            else:
                near = nearest(at.text, self.known, f"known are {self.said}")
                self.fail(f"unknown option {at.text!r}", hint=near)
            if not self.take(","):
                break
        self.need("]")
        return penalty, once


class _Parser(LineReader):
    """Recursive descent over the lexemes of one rule."""

    def rule(self) -> n.Node:
        return self.nested(self._rule)

    def _rule(self) -> n.Node:
        if self.take("if"):
            condition = self.rule()
            self.need("then")
            return n.If(condition, self.rule())
        branches = [self.both()]
        while self.take("or"):
            branches.append(self.both())
        return branches[0] if len(branches) == 1 else n.Any(tuple(branches))

    def both(self) -> n.Node:
        parts = [self.nested(self.single)]
        while self.take("and"):
            parts.append(self.nested(self.single))
        return parts[0] if len(parts) == 1 else n.All(tuple(parts))

    def single(self) -> n.Node:
        if self.take("not"):
            return n.Not(self.nested(self.single))
        if self.take("("):
            node = self.rule()
            self.need(")")
            return node
        if self.peek() in ("previous", "next") and self.stream[self.at + 1].kind in ("string", "regex"):
            return self.implication()
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

    def ends(self) -> n.Node:
        condition = p.FIRST if self.peek() == "first" else p.LAST
        self.at += 1
        negated = self.take("not")
        self.need("in")
        return n.Implies(condition, self.fields(negated=negated))

    def clamp(self) -> n.Node:
        self.need("tokens")
        condition = self.positions(self.now)
        self.need("are")
        return n.Implies(condition, self.fields())

    def change(self) -> n.Node:
        self.need("change")
        self.need("only")
        for word in ("after", "before", "at"):
            if self.take(word):
                return build.change_only(**{word: self.nested(self.tight)})
        self.expected("'after', 'before' or 'at'")

    def implication(self) -> n.Node:
        given: n.Fields = n.ANYTHING
        condition: p.Condition = p.ALWAYS
        if self.take("label"):
            given = self.fields()
            if self.take("and"):
                condition = self.condition()
        else:
            condition = self.condition()
        if not self.take("->") and not self.take("only", "in"):
            self.expected("'->' and the fields, or 'only in' and the fields")
        offset = -1 if self.take("previous") else 1 if self.take("next") else 0
        return n.Implies(condition, self.fields(), given, offset)

    def lengths(self) -> n.Node:
        start = self.now
        self.need("length")
        self.need("(")
        fields = build.Lengths(self.fields())
        self.need(")")
        comparison = self.comparison_sign(("<=", ">=", "==", "="))
        bound = self.integer()
        makers = {"<=": fields.__le__, ">=": fields.__ge__, "==": fields.__eq__}
        return self.built(start, lambda: makers[comparison](bound))

    def exists(self) -> n.Node:
        if self.take("any", "token"):
            return n.Exists(self.nested(self.tight))
        return n.Exists(self.tight())

    def about_fields(self) -> n.Node:
        start = self.now
        one = self.fields(leading=True)
        if self.take("once"):
            return n.Once(one)
        if self.take("required"):
            if one.negated or len(one.names) > 1:
                self.fail("'required' takes one field", start, "for one out of several write count(a, b) >= 1")
            return build.required(one.names[0])
        for words, relate in _BETWEEN.items():
            if self.take(*words.split()):
                other = self.fields()
                return self.built(start, partial(relate, one, other))
        what = f"'once', 'required', {', '.join(map(repr, list(_BETWEEN)[:-1]))} or {list(_BETWEEN)[-1]!r}"
        known = self.scope.known is not None  # then it is a field, not a misspelt word
        slip = nearest(start.text, _BEHIND) if start.kind == "name" and not known and not self.slip() else ""
        if slip:
            self.fail(f"expected {what} behind the field {start.text!r}", start, slip)
        self.expected(what)


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

_BETWEEN: dict[str, Callable[[n.Fields, n.Fields], n.Node]] = {
    "before": build.before,
    "excludes": build.excludes,
    "requires": build.requires,
    "followed by": build.followed_by,
    "followed later by": build.precedes,
}
"""What may stand between two sets of fields."""

_CONDITIONS = (
    "token",
    "exactly",
    "in",
    "is",
    "not",
    "shape",
    "begins",
    "continues",
    "ends",
    "at",
    "text",
    "within",
    "~",
)
"""What a condition behind `previous` and `next` may begin with, beside strings and patterns."""

_Words = tuple[tuple[str, ...], ...]
_STARTS: tuple[tuple[_Words, Callable[[_Parser], n.Node]], ...] = (
    ((("first", "last"), ("in", "not")), _Parser.ends),
    ((("change",), ("only",)), _Parser.change),
    ((("token", "label"),), _Parser.implication),
    ((("previous", "next"), _CONDITIONS), _Parser.implication),
    ((("length",), ("(",)), _Parser.lengths),
    ((("any",), ("token",)), _Parser.exists),
    ((("text",), ("~",)), _Parser.exists),
    ((("count",), ("(",)), _Parser.comparison),
)
"""How a simple rule may begin; a number begins a comparison, anything else a statement about fields."""

# Printing.


def print_node(node: n.Node) -> str:
    """Return the text form of a node."""
    return _PRINTERS[type(node)](node)


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
        return f"change only at {print_tight(c.conditions[1])}"
    if isinstance(c, p.Near) and c.offset == -1:
        return f"change only after {print_tight(c.condition)}"
    return f"change only before {print_tight(c)}"


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


def _between(words: str, node: n.Before | n.Followed | n.Later) -> str:
    return f"{print_fields(node.first, leading=True)} {words} {print_fields(node.second)}"


def _exists(node: n.Exists) -> str:
    text = print_tight(node.condition)
    return text if isinstance(node.condition, p.Text) else f"any token {text}"


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
    n.Before: partial(_between, "before"),
    n.Followed: partial(_between, "followed by"),
    n.Later: partial(_between, "followed later by"),
    n.Exists: _exists,
    n.If: _if,
    n.All: _all,
    n.Any: _any,
    n.Not: _not,
}

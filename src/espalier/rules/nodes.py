"""The rule language on one screen: thirteen frozen node types over the fields of a labelling.

A node says what a labelling y of tokens x should obey; `espalier.rules.meaning` says how far it does not,
the *degree* d(x, y) >= 0. Equality is structural; nodes are hashable and hold no penalty. A `Count` is no node: it is
a sum that becomes one, a `Linear`, when it is compared with a number.

Labels in rules are *field* names, without B- and I- marks. `names_path` decides once and for all which
labels a field name stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Literal, NoReturn

from espalier.errors import RuleError
from espalier.rules.predicates import ALWAYS, Condition
from espalier.tags import OUTSIDE, parse_tag

__all__ = [
    "ANYTHING",
    "ANY_FIELD",
    "NODE_TYPES",
    "All",
    "Any",
    "Before",
    "Change",
    "Comparison",
    "Count",
    "Exists",
    "Fields",
    "Followed",
    "If",
    "Implies",
    "Later",
    "Length",
    "Linear",
    "Node",
    "Not",
    "Once",
    "Term",
    "Unit",
    "compare",
    "conditions_of",
    "fields_of",
    "known_fields",
    "levels",
    "names_path",
    "unknown_field",
    "walk",
]

Comparison = Literal["<=", ">=", "=="]
Unit = Literal["segments", "tokens"]


@lru_cache(maxsize=65536)
def levels(label: str) -> tuple[str, ...]:
    """Return the paths of the segments a token with this label is in, outermost first.

    `I-staff/B-person` and the unmarked `staff/person` both give `("staff", "staff/person")`;
    `O` gives `("O",)`: it is in no segment, but rules may name it.
    """
    names = [part for _, name in parse_tag(label) for part in name.split("/")] or [OUTSIDE]
    return tuple("/".join(names[: depth + 1]) for depth in range(len(names)))


def names_path(field: str, path: str) -> bool:
    """Does the field name stand for this path?  It is the path or its end: `person` for `staff/person`.

    A name with stars stands for all that it fits: `*.city` for `from.city` and `to.city`.
    """
    if "*" in field:
        return _fits(field, path) or any(_fits(field, path[at + 1 :]) for at, sign in enumerate(path) if sign == "/")
    return path == field or ("/" in path and path.endswith("/" + field))


@lru_cache(maxsize=4096)
def _fits(pattern: str, name: str) -> bool:
    """Does a name with stars fit this name? Each star is any number of signs without a slash; none fits `O`."""
    parts = [re.escape(part) for part in pattern.split("*")]
    return name != OUTSIDE and re.fullmatch("[^/]*".join(parts), name) is not None


@dataclass(frozen=True, slots=True)
class Fields:
    """A set of fields by name, or by names with stars; `negated` means every label but these.

    A segment belongs to the set by its own path, a token by any of the segments it is in: the token of a
    first name is `first`, and it is also `person` and `staff`.
    """

    names: tuple[str, ...]
    negated: bool = False

    def __post_init__(self) -> None:
        """Check the names."""
        names: object = self.names
        if not isinstance(names, tuple) or not all(isinstance(name, str) and name for name in names):
            raise RuleError(f"field names must be a tuple of non-empty strings, not {names!r}")
        object.__setattr__(self, "names", tuple(dict.fromkeys(names)))
        if not self.names and not self.negated:
            raise RuleError("no field is named")
        marked = next((name for name in self.names if name[:2] in ("B-", "I-")), None)
        if marked is not None:
            raise RuleError(f"{marked!r} is a tag", hint=f"rules name fields without marks: {marked[2:]!r}")

    def has_path(self, path: str) -> bool:
        """Is a segment with this path one of them?"""
        return any(names_path(name, path) for name in self.names) is not self.negated

    def has_label(self, label: str | None) -> bool:
        """Is a token with this label in one of them?  Beyond the ends (None) nothing is in a field, as with `O`."""
        paths = levels(OUTSIDE if label is None else label)
        return any(names_path(name, path) for name in self.names for path in paths) is not self.negated

    def groups(self, paths: Iterable[str]) -> list[list[str]]:
        """Divide paths into those that are one field: each alone where no plain name says which belong together."""
        known = list(dict.fromkeys(paths))
        if self.negated:
            return [[path] for path in known if self.has_path(path)]
        starred = [[path] for path in known if any("*" in name and names_path(name, path) for name in self.names)]
        plain = [name for name in self.names if "*" not in name]
        return [[path for path in known if names_path(name, path)] for name in plain] + starred


ANYTHING = Fields((), negated=True)
ANY_FIELD = Fields((OUTSIDE,), negated=True)
"""Every label; every label but `O`."""


class Node:
    """The root of the rule nodes. `&`, `|` and `~` combine them."""

    __slots__ = ()

    def __and__(self, other: Node) -> All:
        """Both hold; degrees add."""
        return All((self, other)) if isinstance(other, Node) else NotImplemented

    def __or__(self, other: Node) -> Any:
        """At least one holds; the smallest degree counts."""
        return Any((self, other)) if isinstance(other, Node) else NotImplemented

    def __invert__(self) -> Not:
        """It does not hold."""
        return Not(self)

    def __bool__(self) -> NoReturn:
        """Refuse: `0 <= count(x) <= 1` or `a and b` would silently drop half of what was written."""
        raise RuleError(
            "a rule is neither true nor false by itself",
            hint=("combine rules with &, | and ~, and write a chained comparison as two rules joined by &"),
        )


@dataclass(frozen=True, slots=True)
class Implies(Node):
    """Where `condition` holds at t and y_t is in `given`, y_{t + offset} is in `fields` (offset -1, 0 or 1).

    Where the condition is a phrase that its tokens are in, and all of them may be in a named field, the phrase is in
    one segment: `phrase_goes_on` says at which tokens none may begin.
    """

    condition: Condition
    fields: Fields
    given: Fields = ANYTHING
    offset: int = 0

    def __post_init__(self) -> None:
        """Check the offset."""
        if self.offset not in (-1, 0, 1):
            raise RuleError(f"offset {self.offset}: a rule speaks about the previous, this or the next token")

    @property
    def phrase_goes_on(self) -> Condition | None:
        """Where a phrase goes on that is to be one segment; None if the rule speaks of no phrase."""
        if self.offset or self.given != ANYTHING or self.fields.negated or OUTSIDE in self.fields.names:
            return None
        return self.condition.continued()


@dataclass(frozen=True, slots=True)
class Change(Node):
    """A segment begins or ends between t - 1 and t only where `condition` holds at t, the token behind the border.

    "Only after a comma" asks about the token in front of the border: `Near(-1, comma)`.
    """

    condition: Condition


@dataclass(frozen=True, slots=True)
class Once(Node):
    """Each named field has at most one segment; for a negated set, and a name with stars, each path that occurs."""

    fields: Fields


@dataclass(frozen=True, slots=True)
class Length(Node):
    """Every segment of these fields has at least, at most or exactly so many tokens."""

    fields: Fields
    comparison: Comparison
    bound: int

    def __post_init__(self) -> None:
        """Check the bound."""
        _check_comparison(self.comparison, self.bound)
        if self.bound < 1:
            raise RuleError(f"length {self.comparison} {self.bound}: a segment has at least one token")


@dataclass(frozen=True, slots=True)
class Term:
    """`coefficient` times the number of segments, or of tokens, of these fields."""

    coefficient: int
    unit: Unit
    fields: Fields


@dataclass(frozen=True, slots=True)
class Linear(Node):
    """a . n(y) compared with b, where n(y) counts segments or tokens; the violation is the amount missed."""

    terms: tuple[Term, ...]
    comparison: Comparison
    bound: int

    def __post_init__(self) -> None:
        """Check that every count stands there once, with an integer other than zero."""
        _check_comparison(self.comparison, self.bound)
        if not self.terms:
            raise RuleError("a comparison without any count", hint="it would hold always or never")
        if any(type(term.coefficient) is not int or term.coefficient == 0 for term in self.terms):
            raise RuleError("coefficients of counts are integers other than zero")
        if any(term.unit not in ("segments", "tokens") for term in self.terms):
            raise RuleError("counts are of 'segments' or 'tokens'")
        if len({(term.unit, term.fields) for term in self.terms}) < len(self.terms):
            raise RuleError("the same count stands twice in one comparison", hint="add the coefficients")


@dataclass(frozen=True, slots=True)
class Before(Node):
    """No segment of `second` ends before a segment of `first` begins."""

    first: Fields
    second: Fields


@dataclass(frozen=True, slots=True)
class Followed(Node):
    """Right behind every segment of `first` stands a token of `second`."""

    first: Fields
    second: Fields


@dataclass(frozen=True, slots=True)
class Later(Node):
    """After every segment of `first` comes, sooner or later, a segment of `second`."""

    first: Fields
    second: Fields


@dataclass(frozen=True, slots=True)
class Exists(Node):
    """Some token satisfies the condition; says nothing about labels, so it is for `If`."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class If(Node):
    """Where `condition` holds (has degree 0), so should `then`."""

    condition: Node
    then: Node


@dataclass(frozen=True, slots=True)
class All(Node):
    """All parts hold; nested ones are flattened."""

    parts: tuple[Node, ...]

    def __post_init__(self) -> None:
        """Flatten."""
        _flatten(self)


@dataclass(frozen=True, slots=True)
class Any(Node):
    """At least one part holds; nested ones are flattened."""

    parts: tuple[Node, ...]

    def __post_init__(self) -> None:
        """Flatten."""
        _flatten(self)


@dataclass(frozen=True, slots=True)
class Not(Node):
    """The part does not hold."""

    part: Node


NODE_TYPES: tuple[type[Node], ...] = (
    Implies,
    Change,
    Once,
    Length,
    Linear,
    Before,
    Followed,
    Later,
    Exists,
    If,
    All,
    Any,
    Not,
)
"""Every node type: what a meaning, a printer or a lowering has to be total over."""


# Looking into nodes.


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and every node inside it."""
    yield node
    for value in _values(node):
        if isinstance(value, Node):
            yield from walk(value)


def fields_of(node: Node) -> Iterator[Fields]:
    """Yield every field set the node speaks about."""
    for inner in walk(node):
        for value in _values(inner):
            if isinstance(value, Fields):
                yield value
            elif isinstance(value, Term):
                yield value.fields


def conditions_of(node: Node) -> Iterator[Condition]:
    """Yield every token condition of the node, the trivial one left out."""
    for inner in walk(node):
        for value in _values(inner):
            if isinstance(value, Condition) and value != ALWAYS:
                yield value


def unknown_field(names: Iterable[str], known: Iterable[str]) -> str | None:
    """Return the first name that stands for none of the known fields, or None."""
    known = set(known)
    return next(
        (n for n in names if n not in known and not any("*" in n and names_path(n, one) for one in known)), None
    )


def known_fields(labels: Iterable[str]) -> set[str]:
    """Return every field name that stands for some level of these labels."""
    known = {OUTSIDE}
    for label in labels:
        for path in levels(label):
            parts = path.split("/")
            known.update("/".join(parts[k:]) for k in range(len(parts)))
    return known


def _values(node: Node) -> Iterator[object]:
    for f in fields(node):  # type: ignore[arg-type]
        value = getattr(node, f.name)
        yield from value if isinstance(value, tuple) else (value,)


def _flatten(node: All | Any) -> None:
    flat: list[Node] = []
    for part in node.parts:
        flat.extend(part.parts if type(part) is type(node) else (part,))
    if len(flat) < 2:
        raise RuleError(f"{type(node).__name__} needs at least two rules")
    object.__setattr__(node, "parts", tuple(flat))


def _check_comparison(comparison: str, bound: object) -> None:
    if comparison not in ("<=", ">=", "=="):
        raise RuleError(f"unknown comparison {comparison!r}", hint="use <=, >= or ==")
    if type(bound) is not int:
        raise RuleError(f"bound {bound!r} is not an integer")


# Sums of counts: what becomes a rule when it is compared with a number, in text and in Python.


class Count:
    """A sum of counts with integer coefficients; comparing it makes a rule."""

    __slots__ = ("constant", "terms")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, terms: tuple[Term, ...] = (), constant: int = 0) -> None:
        """Collect equal counts; those that cancel disappear."""
        merged: dict[tuple[Unit, Fields], int] = {}
        for term in terms:
            key = (term.unit, term.fields)
            merged[key] = merged.get(key, 0) + term.coefficient
        self.terms = tuple(Term(c, unit, f) for (unit, f), c in merged.items() if c != 0)
        self.constant = constant

    def __add__(self, other: Count | int) -> Count:
        """Add."""
        other = _count(other)
        return Count(self.terms + other.terms, self.constant + other.constant)

    def __mul__(self, factor: int) -> Count:
        """Multiply by an integer."""
        if type(factor) is not int:
            raise RuleError(f"a count can be multiplied by an integer only, not by {factor!r}")
        return Count(tuple(Term(t.coefficient * factor, t.unit, t.fields) for t in self.terms), self.constant * factor)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Count:
        """Negate."""
        return self * -1

    def __sub__(self, other: Count | int) -> Count:
        """Subtract."""
        return self + -_count(other)

    def __rsub__(self, other: int) -> Count:
        """Subtract from a number."""
        return _count(other) - self

    def __le__(self, other: Count | int) -> Node:
        """At most."""
        return compare(self, "<=", _count(other))

    def __ge__(self, other: Count | int) -> Node:
        """At least."""
        return compare(self, ">=", _count(other))

    def __lt__(self, other: Count | int) -> Node:
        """Less than."""
        return compare(self, "<", _count(other))

    def __gt__(self, other: Count | int) -> Node:
        """More than."""
        return compare(self, ">", _count(other))

    def __eq__(self, other: object) -> Node:  # type: ignore[override]
        """Exactly."""
        return compare(self, "==", _count(other))

    def __ne__(self, other: object) -> Node:  # type: ignore[override]
        """Anything but."""
        return compare(self, "!=", _count(other))

    def __bool__(self) -> bool:
        """Refuse: a count has no value before it meets a labelling."""
        raise RuleError("a count is neither true nor false", hint="compare it, as in count('title') >= 1")


def _count(value: object) -> Count:
    if isinstance(value, Count):
        return value
    if type(value) is int:
        return Count(constant=value)
    raise RuleError(f"counts are compared with and added to counts and integers, not {value!r}")


def compare(left: Count, comparison: str, right: Count) -> Node:
    """Return the node of a comparison: counts to the left, the number to the right; `<`, `>`, `!=` are rewritten."""
    if not left.terms:
        flipped = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
        left, right, comparison = right, left, flipped.get(comparison, comparison)
    both = left - right
    bound = -both.constant
    if comparison == "!=":
        return Not(Linear(both.terms, "==", bound))
    if comparison in ("<", ">"):
        bound += -1 if comparison == "<" else 1
    kinds: dict[str, Comparison] = {"<": "<=", "<=": "<=", ">": ">=", ">=": ">=", "==": "=="}
    return Linear(both.terms, kinds[comparison], bound)

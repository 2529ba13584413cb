"""Sums of counts and segment lengths: what becomes a rule when it is compared with a number."""

from __future__ import annotations

from espalier.errors import RuleError
from espalier.rules.nodes import Comparison, Fields, Length, Linear, Node, Not, Term, Unit

__all__ = ["Count", "Lengths", "compare"]


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
        raise RuleError("a count is neither true nor false; compare it, as in count('title') >= 1")


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


class Lengths:
    """The number of tokens of each segment of some fields; comparing it makes a rule."""

    __slots__ = ("fields",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, fields: Fields) -> None:
        """Remember the fields."""
        self.fields = fields

    def __ge__(self, bound: int) -> Length:
        """At least."""
        return Length(self.fields, ">=", bound)

    def __le__(self, bound: int) -> Length:
        """At most."""
        return Length(self.fields, "<=", bound)

    def __eq__(self, bound: object) -> Length:  # type: ignore[override]
        """Exactly."""
        return Length(self.fields, "==", bound)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        """Refuse: a length has no value before it meets a labelling."""
        raise RuleError("a length is neither true nor false; compare it, as in length('title') >= 2")

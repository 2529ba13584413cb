"""The Python algebra of rules: builds the same nodes as the text form.

    first("title", "date")                                       first in title, date
    once()                                                       each field once
    change_only(after=token.matches("[.,;]"))                    change only after ~ /[.,;]/
    when(token.isin("pp.", "pages")).then("pages")               token in "pp.", "pages" -> pages
    when(token.isin('"')).then_not("note")                       token in "\\"" -> not note
    count("series") + count("volume") <= 1                       count(series) + count(volume) <= 1
    when(any_token(token.isin("thesis"))).then(required("school"))
                                                                 if any token in "thesis" then school required
    when(within(-3, -1, token.isin("at"))).then("time")          token within -3..-1 in "at" -> time
    when(token.in_phrase("New York")).then("place")              token in phrase "New York" -> place
    when(token.in_phrase(phrase(token.matches("[0-9]+"), ":", token.matches("[0-9]+"), optional("am")))).then("time")
                                                  token in phrase (~ /[0-9]+/ in ":" ~ /[0-9]+/ in "am"?) -> time

Field arguments are names, or one `fields(...)`; no argument means any field. Rules combine with `&`, `|` and
`~`, and so do token conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

from espalier.errors import RuleError
from espalier.rules.nodes import (
    ANY_FIELD,
    ANYTHING,
    Before,
    Change,
    Count,
    Exists,
    Fields,
    Followed,
    If,
    Implies,
    Later,
    Length,
    Node,
    Once,
    Term,
)
from espalier.rules.phrases import PhrasePattern, Phrases, Phrasing, either, in_phrase, optional, phrase, repeated
from espalier.rules.predicates import (
    ALWAYS,
    BUILT_IN,
    FIRST,
    LAST,
    At,
    Condition,
    Named,
    Near,
    Pattern,
    Shape,
    Text,
    Window,
    Words,
)

__all__ = [
    "any_token",
    "before",
    "change_only",
    "count",
    "either",
    "excludes",
    "fields",
    "first",
    "followed_by",
    "following",
    "label",
    "last",
    "length",
    "once",
    "optional",
    "phrase",
    "precedes",
    "previous",
    "repeated",
    "required",
    "requires",
    "span",
    "text_matches",
    "token",
    "tokens",
    "when",
    "within",
]

Names = str | Fields


def fields(*names: str, but: tuple[str, ...] = ()) -> Fields:
    """Return the named fields; `fields(but=("note",))` is every label except these; `fields()` is any field."""
    if names and but:
        raise RuleError("give the fields wanted or, with but=, those not wanted", hint="not both")
    return Fields(tuple(but), negated=True) if but else Fields(names) if names else ANY_FIELD


def _fields(names: tuple[Names, ...]) -> Fields:
    if len(names) == 1 and isinstance(names[0], Fields):
        return names[0]
    if any(isinstance(name, Fields) for name in names):
        raise RuleError("give either names or one fields(...), not a mixture")
    return fields(*[str(name) for name in names])


class _Token:
    """Conditions on one token; use the ready-made `token`."""

    def isin(self, *words: str, exactly: bool = False) -> Words:
        """Return the condition that the token is one of these words, ignoring case unless `exactly`."""
        return Words(words, fold=not exactly)

    def matches(self, regex: str) -> Pattern:
        """Return the condition that the whole token matches a regular expression."""
        return Pattern(regex)

    def shape(self, shape: str) -> Shape:
        """Return the condition that the token has a shape such as `Xx` or `d-d`."""
        return Shape(shape)

    def in_phrase(self, *what: Phrasing, exactly: bool = False) -> Phrases | PhrasePattern:
        """Return the condition that the token is in one of these phrases (strings), or in one of a pattern."""
        return in_phrase("in", what, exactly)

    def begins_phrase(self, *what: Phrasing, exactly: bool = False) -> Phrases | PhrasePattern:
        """Return the condition that a phrase begins with the token; see `in_phrase`."""
        return in_phrase("begins", what, exactly)

    def continues_phrase(self, *what: Phrasing, exactly: bool = False) -> Phrases | PhrasePattern:
        """Return the condition that the token is in a phrase, behind its beginning; see `in_phrase`."""
        return in_phrase("continues", what, exactly)

    def ends_phrase(self, *what: Phrasing, exactly: bool = False) -> Phrases | PhrasePattern:
        """Return the condition that a phrase ends with the token; see `in_phrase`."""
        return in_phrase("ends", what, exactly)

    def at(self, first: int, last: int | None = None) -> At:
        """Return the condition that the token is at positions first..last, from 0; -1 is the last token."""
        return At(first, first if last is None else last)

    def satisfies(self, name: str, function: Callable[[str], bool] | None = None) -> Named:
        """Return a built-in condition (`punctuation`, `number`, ...), or a function of your own under a name."""
        if function is None and name not in BUILT_IN:
            raise RuleError(
                f"no built-in condition {name!r}", hint=f"known are {', '.join(BUILT_IN)}; or give a function"
            )
        return Named(name, BUILT_IN[name] if function is None else function)


token = _Token()
"""Where conditions start: `token.isin("pp.")`, `token.matches(r"\\d+")`, `token.satisfies("punctuation")`."""


def previous(condition: Condition) -> Near:
    """Return the condition that another one holds at the token before."""
    return Near(-1, condition)


def following(condition: Condition) -> Near:
    """Return the condition that another one holds at the token after."""
    return Near(1, condition)


def within(first: int, last: int, condition: Condition) -> Window:
    """Return the condition that another one holds at some token from `first` to `last` tokens away (-1: before)."""
    return Window(first, last, condition)


def text_matches(regex: str) -> Exists:
    """Some part of the whole text matches the regular expression."""
    return Exists(Text(regex))


def any_token(condition: Condition) -> Exists:
    """Some token satisfies the condition."""
    return Exists(condition)


def first(*names: Names) -> Implies:
    """The first token is in one of these fields."""
    return Implies(FIRST, _fields(names))


def last(*names: Names) -> Implies:
    """The last token is in one of these fields."""
    return Implies(LAST, _fields(names))


def span(start: int, end: int, *names: Names) -> Implies:
    """Tokens start..end, both included and counted from 0, are in one of these fields."""
    return Implies(At(start, end), _fields(names))


def once(*names: Names) -> Once:
    """Each of these fields (or every field) is one segment, at most."""
    return Once(_fields(names))


def change_only(
    *, after: Condition | None = None, before: Condition | None = None, at: Condition | None = None
) -> Change:
    """The label changes only after, before, or at (directly before or after) a token that satisfies the condition."""
    given = [c for c in (after, before, at) if c is not None]
    if len(given) != 1:
        raise RuleError("change_only takes exactly one of after=, before= and at=")
    if at is not None:
        return Change(Near(-1, at) | at)
    return Change(given[0] if before is not None else Near(-1, given[0]))


# Segment lengths: what becomes a rule when it is compared with a number.


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
        raise RuleError("a length is neither true nor false", hint="compare it, as in length('title') >= 2")


def count(*names: Names) -> Count:
    """The number of segments of these fields."""
    return Count((Term(1, "segments", _fields(names)),))


def tokens(*names: Names) -> Count:
    """The number of tokens in these fields; without a name, of all tokens."""
    return Count((Term(1, "tokens", _fields(names) if names else ANYTHING),))


def length(*names: Names) -> Lengths:
    """The number of tokens of each segment of these fields (or of every field): `length("title") <= 40`."""
    return Lengths(_fields(names))


def required(name: str) -> Node:
    """The field has at least one segment."""
    return count(name) >= 1


def excludes(one: Names, other: Names) -> If:
    """Where one field is, the other is not."""
    return If(count(one) >= 1, count(other) <= 0)


def requires(one: Names, other: Names) -> If:
    """Where one field is, the other is too."""
    return If(count(one) >= 1, count(other) >= 1)


def before(one: Names, other: Names) -> Before:
    """One field never begins after the other has ended (eq. 21 of Fersini et al., 2014)."""
    return Before(_fields((one,)), _fields((other,)))


def precedes(one: Names, other: Names) -> Later:
    """After one field comes, sooner or later, the other (eq. 18 of Fersini et al., 2014)."""
    return Later(_fields((one,)), _fields((other,)))


def followed_by(one: Names, other: Names) -> Followed:
    """Right behind every segment of one field stands the other (compare eq. 17)."""
    return Followed(_fields((one,)), _fields((other,)))


class _Label:
    """Tokens in these fields, as the condition of `when`; may be joined with a token condition by `&`."""

    __slots__ = ("condition", "fields")

    def __init__(self, fields: Fields, condition: Condition = ALWAYS) -> None:
        self.fields, self.condition = fields, condition

    def __and__(self, condition: Condition) -> _Label:
        """Ask for a token condition, too."""
        return _Label(self.fields, condition if self.condition is ALWAYS else self.condition & condition)


def label(*names: Names) -> _Label:
    """Tokens in these fields: `when(label("first")).then_next("last")`."""
    return _Label(_fields(names))


class _When:
    """The first half of an if-then on tokens."""

    __slots__ = ("_where",)

    def __init__(self, where: _Label) -> None:
        self._where = where

    def then(self, *names: Names, offset: int = 0) -> Implies:
        """The token is in one of these fields."""
        return Implies(self._where.condition, _fields(names), self._where.fields, offset)

    def then_not(self, *names: str) -> Implies:
        """The token is in none of these fields."""
        return self.then(fields(but=names))

    def then_next(self, *names: Names) -> Implies:
        """The next token is in one of these fields."""
        return self.then(*names, offset=1)

    def then_previous(self, *names: Names) -> Implies:
        """The token before is in one of these fields."""
        return self.then(*names, offset=-1)


class _WhenRule:
    """The first half of an if-then between rules."""

    __slots__ = ("_condition",)

    def __init__(self, condition: Node) -> None:
        self._condition = condition

    def then(self, rule: Node) -> If:
        """The rule applies only to labellings that obey the condition."""
        return If(self._condition, rule)


@overload
def when(condition: Condition | _Label) -> _When: ...
@overload
def when(condition: Node) -> _WhenRule: ...
def when(condition: Condition | _Label | Node) -> _When | _WhenRule:
    """Begin an if-then: on tokens (a condition or `label`), or on whole sequences (a rule)."""
    if isinstance(condition, Node):
        return _WhenRule(condition)
    if isinstance(condition, Condition):
        return _When(_Label(ANYTHING, condition))
    if isinstance(condition, _Label):
        return _When(condition)
    raise RuleError(f"when() takes a token condition, label(...) or a rule, not {condition!r}")

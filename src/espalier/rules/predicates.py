"""Token conditions: what a rule may ask about the input, never about the labels.

A condition holds at a token, `condition.holds(tokens, t, text)`; a *word condition* depends on that token's
string alone, so that it can be computed once for each word type. Conditions are frozen values with structural
equality and combine with `&`, `|` and `~`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import groupby
from typing import NoReturn

from espalier.errors import RuleError
from espalier.regex import LONGEST_TEXT, LONGEST_TOKEN, compile_regex

__all__ = [
    "ALWAYS",
    "BUILT_IN",
    "FIRST",
    "LAST",
    "AllOf",
    "AnyOf",
    "At",
    "Condition",
    "Named",
    "Near",
    "NoneOf",
    "Pattern",
    "Shape",
    "Text",
    "Window",
    "WordCondition",
    "Words",
    "lists_of",
    "own_function",
    "parts",
    "shape_of",
]


WIDEST = 1000
"""How far from its token a condition may look."""


class Condition(ABC):
    """Something that holds at a token, or does not."""

    __slots__ = ()

    @abstractmethod
    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Does it hold at token t, 0 <= t < T?"""

    def inner(self) -> tuple[Condition, ...]:
        """Return the conditions that this one is made of."""
        return ()

    def continued(self) -> Condition | None:
        """Return where a phrase goes on that the token is in; None if this asks for no phrase."""
        return None

    def lists(self) -> tuple[tuple[str, Sequence[str]], ...]:
        """Return the file that this condition itself names, if any, with its words or phrases."""
        return ()

    def __and__(self, other: Condition) -> AllOf:
        """Both."""
        return AllOf((self, other)) if isinstance(other, Condition) else NotImplemented

    def __or__(self, other: Condition) -> AnyOf:
        """At least one."""
        return AnyOf((self, other)) if isinstance(other, Condition) else NotImplemented

    def __invert__(self) -> NoneOf:
        """Not."""
        return NoneOf(self)

    def __bool__(self) -> NoReturn:
        """Refuse: a condition has no truth value before it meets a token."""
        raise RuleError(
            "a token condition is neither true nor false by itself", hint="combine conditions with &, | and ~"
        )


class WordCondition(Condition):
    """A condition on the token's own string."""

    __slots__ = ()

    @abstractmethod
    def accepts(self, word: str) -> bool:
        """Does the word satisfy it?"""

    def accepted(self, words: Iterable[str]) -> list[bool]:
        """Say of each word whether it satisfies it; what is faster than asking for each may override this."""
        return [self.accepts(word) for word in words]

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Does token t satisfy it?"""
        return self.accepts(tokens[t])


@dataclass(frozen=True, slots=True)
class Words(WordCondition):
    """The token is one of these words; `fold` ignores case. `source` names the file of a lexicon."""

    words: tuple[str, ...]
    fold: bool = True
    source: str = ""
    _index: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check, and index the words."""
        words: object = self.words
        if not isinstance(words, tuple) or not all(isinstance(word, str) for word in words):
            raise RuleError(f"words must be a tuple of strings, not {words!r}")
        if not self.words or not all(self.words):
            raise RuleError("a word list needs at least one word, and no empty ones")
        object.__setattr__(self, "_index", frozenset(w.casefold() if self.fold else w for w in self.words))

    def lists(self) -> tuple[tuple[str, Sequence[str]], ...]:
        """Return its file and its words."""
        return ((self.source, self.words),) if self.source else ()

    def accepts(self, word: str) -> bool:
        """Is the word listed?"""
        return (word.casefold() if self.fold else word) in self._index

    def accepted(self, words: Iterable[str]) -> list[bool]:
        """Say of each word whether it is listed."""
        return list(map(self._index.__contains__, map(str.casefold, words) if self.fold else words))


@dataclass(frozen=True, slots=True)
class Pattern(WordCondition):
    """The whole token matches a regular expression (see `espalier.regex.SYNTAX`)."""

    regex: str

    def __post_init__(self) -> None:
        """Compile once, so that a wrong pattern is an error here."""
        object.__setattr__(self, "regex", _check_regex(self.regex))

    def accepts(self, word: str) -> bool:
        """Does the whole word match?"""
        return len(word) <= LONGEST_TOKEN and compile_regex(self.regex).fullmatch(word)


@dataclass(frozen=True, slots=True)
class Shape(WordCondition):
    """The token has this shape: `Xx` for `Andersen`, `X.` for `L.`, `d-d` for `12-18`; see `shape_of`."""

    shape: str

    def __post_init__(self) -> None:
        """Refuse a shape that no token has."""
        if not self.shape or shape_of(self.shape.replace("d", "0")) != self.shape:
            nearest = shape_of(self.shape.replace("d", "0"))
            raise RuleError(
                f"no token has the shape {self.shape!r}", hint=f"runs are written once, as in {nearest or 'Xx'!r}"
            )

    def accepts(self, word: str) -> bool:
        """Has the word this shape?"""
        return shape_of(word) == self.shape


@dataclass(frozen=True, slots=True)
class Named(WordCondition):
    """A predicate with a name: built in, or a Python function of the user's. Equality is by name."""

    name: str
    function: Callable[[str], bool] = field(compare=False, repr=False)

    def accepts(self, word: str) -> bool:
        """Ask the function."""
        return bool(self.function(word))

    def accepted(self, words: Iterable[str]) -> list[bool]:
        """Ask the function of each word."""
        return list(map(bool, map(self.function, words)))


@dataclass(frozen=True, slots=True)
class At(Condition):
    """The token's position is first..last, both included; negative numbers count from the end, -1 the last."""

    first: int
    last: int

    def __post_init__(self) -> None:
        """Refuse ranges that are empty whatever the sequence."""
        if (self.first < 0) == (self.last < 0) and self.last < self.first:
            raise RuleError(f"positions {self.first}..{self.last} are in the wrong order")

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Is t in the range?"""
        T = len(tokens)
        first = self.first + T if self.first < 0 else self.first
        last = self.last + T if self.last < 0 else self.last
        return first <= t <= last


@dataclass(frozen=True, slots=True)
class Near(Condition):
    """Another condition holds `offset` tokens away (-1 the previous token); false where there is no such token."""

    offset: int
    condition: Condition

    def __post_init__(self) -> None:
        """Only direct neighbours; farther ones are neighbours of neighbours."""
        if self.offset not in (-1, 1):
            raise RuleError(f"offset {self.offset}: a neighbour is at -1 or 1", hint="nest conditions to look farther")

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Does it hold there?"""
        return 0 <= t + self.offset < len(tokens) and self.condition.holds(tokens, t + self.offset, text)

    def inner(self) -> tuple[Condition, ...]:
        """Return the other condition."""
        return (self.condition,)


@dataclass(frozen=True, slots=True)
class Window(Condition):
    """Another condition holds at some token from `first` to `last` tokens away: -3..-1 are the three before."""

    first: int
    last: int
    condition: Condition

    def __post_init__(self) -> None:
        """Refuse windows that are empty, or wider than anybody needs."""
        if self.last < self.first:
            raise RuleError(f"window {self.first}..{self.last} is in the wrong order", hint="the smaller number first")
        if max(abs(self.first), abs(self.last)) > WIDEST:
            raise RuleError(
                f"window {self.first}..{self.last} is too wide", hint=f"{WIDEST} tokens either side at most"
            )

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Does it hold somewhere there?"""
        there = range(max(t + self.first, 0), min(t + self.last + 1, len(tokens)))
        return any(self.condition.holds(tokens, u, text) for u in there)

    def inner(self) -> tuple[Condition, ...]:
        """Return the other condition."""
        return (self.condition,)


@dataclass(frozen=True, slots=True)
class Text(Condition):
    """Some part of the sequence's whole text matches a regular expression; the same at every token."""

    regex: str

    def __post_init__(self) -> None:
        """Compile once, so that a wrong pattern is an error here."""
        object.__setattr__(self, "regex", _check_regex(self.regex))

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Does it match anywhere?"""
        return _found_in(self.regex, text[:LONGEST_TEXT])


@dataclass(frozen=True, slots=True)
class _Several(Condition):
    """Conditions joined in one way; nested ones of the same kind are flattened."""

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        """Flatten."""
        flat: list[Condition] = []
        for condition in self.conditions:
            flat.extend(condition.conditions if type(condition) is type(self) else (condition,))
        if len(flat) < 2:
            raise RuleError(f"{type(self).__name__} needs at least two conditions")
        object.__setattr__(self, "conditions", tuple(flat))

    def inner(self) -> tuple[Condition, ...]:
        """Return all of them."""
        return self.conditions


@dataclass(frozen=True, slots=True)
class AllOf(_Several):
    """All of these hold; nested ones are flattened."""

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Do all hold?"""
        return all(c.holds(tokens, t, text) for c in self.conditions)


@dataclass(frozen=True, slots=True)
class AnyOf(_Several):
    """At least one of these holds; nested ones are flattened."""

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Does one hold?"""
        return any(c.holds(tokens, t, text) for c in self.conditions)

    def continued(self) -> Condition | None:
        """Return where the phrases among these go on."""
        parts = [part for part in (c.continued() for c in self.conditions) if part is not None]
        return reduce(Condition.__or__, parts) if parts else None


@dataclass(frozen=True, slots=True)
class NoneOf(Condition):
    """The condition does not hold."""

    condition: Condition

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Does it fail?"""
        return not self.condition.holds(tokens, t, text)

    def inner(self) -> tuple[Condition, ...]:
        """Return the condition that is denied."""
        return (self.condition,)


ALWAYS, FIRST, LAST = At(0, -1), At(0, 0), At(-1, -1)
"""Every token, the first one, the last one."""


def _capitalised(word: str) -> bool:
    return word[:1].isupper()


def _punctuation(word: str) -> bool:
    return not any(c.isalnum() for c in word)


BUILT_IN: Mapping[str, Callable[[str], bool]] = {
    "capitalised": _capitalised,
    "number": str.isdecimal,
    "punctuation": _punctuation,
    "uppercase": str.isupper,
}
"""The predicates every rule may use: `token is punctuation`."""


def shape_of(word: str) -> str:
    """Return the shape: capitals X, other letters x, digits d, other characters themselves; runs once."""
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdecimal() else c for c in word)
    return "".join(kind for kind, _ in groupby(kinds))


def parts(condition: Condition) -> Iterator[Condition]:
    """Yield the condition and every condition inside it."""
    yield condition
    for part in condition.inner():
        yield from parts(part)


def own_function(condition: Condition) -> str:
    """Return the name of a Python function of the user's that the condition calls, or nothing."""
    named = (part for part in parts(condition) if isinstance(part, Named))
    return next((part.name for part in named if BUILT_IN.get(part.name) is not part.function), "")


def lists_of(condition: Condition) -> dict[str, list[str]]:
    """Return the words and phrases of every file that the condition names."""
    return {source: list(entries) for part in parts(condition) for source, entries in part.lists()}


@lru_cache(maxsize=256)
def _found_in(regex: str, text: str) -> bool:
    """Search a text once, and not once for each of its tokens."""
    return compile_regex(regex).search(text)


def _check_regex(regex: str) -> str:
    r"""Return the pattern in its one spelling, `/` for `\/`, or raise."""
    if "\n" in regex or "\r" in regex:
        raise RuleError(r"a pattern holds a line break", hint=r"write \n or \r")
    if not regex:
        raise RuleError("an empty pattern", hint="it would match only empty tokens")
    compile_regex(regex)
    pieces = regex.split("\\\\")  # an escaped backslash does not escape the slash behind it
    return "\\\\".join(piece.replace("\\/", "/") for piece in pieces)

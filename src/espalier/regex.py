"""Regular expressions that cannot hang: Thompson's construction, run as a lazily built automaton.

Python's `re` backtracks, so that `(a+)+$` takes exponential time on thirty letters. Patterns of rules and features
come from users, so they run here instead: every character is looked at once, and costs at most the number of
states (Thompson 1968). The price is a smaller language, documented in `SYNTAX`: no back-references and no
look-around. Within it, whether a pattern matches agrees with `re`, except that `$` means the very end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from espalier.errors import RuleError

__all__ = ["LONGEST_TEXT", "LONGEST_TOKEN", "SYNTAX", "Regex", "compile_regex"]

SYNTAX = r"""
x        the character itself          .        any character but a newline
\.       a sign taken literally        \n \t \r newline, tab, carriage return
\d \w \s a digit, a word character, white space; \D \W \S their opposites
[a-z_]   one of these characters       [^a-z]   any other character
(ab)     a group; also (?:ab)          a|b      either
(?s:a.)  a group where . is any character, a newline too
* + ?    any number, at least one, at most one; {2} {2,} {2,5} so many times
^ $      the beginning and the end     (?i)     at the start of the pattern: ignore case
"""
"""The whole pattern language."""

LONGEST_TOKEN, LONGEST_TEXT = 2_000, 10_000
"""A longer token matches no pattern; of a longer text only the beginning is searched."""

MAX_PATTERN, MAX_DEPTH, MAX_REPEAT, MAX_STATES = 1000, 40, 255, 500
MAX_CACHED = 100_000
"""How many states the remembered moves may name in all: the memory of one pattern."""

_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "d": str.isdecimal,
    "w": lambda c: c.isalnum() or c == "_",
    "s": str.isspace,
}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


@dataclass(frozen=True, slots=True)
class _Set:
    """A set of characters: ranges, named categories (a capital letter is the opposite), perhaps negated."""

    ranges: tuple[tuple[str, str], ...] = ()
    categories: tuple[str, ...] = ()
    negated: bool = False

    def has(self, c: str) -> bool:
        """Is the character in the set?"""
        found = any(a <= c <= b for a, b in self.ranges) or any(
            _CATEGORIES[k.lower()](c) is k.islower() for k in self.categories
        )
        return found is not self.negated

    def has_folded(self, c: str) -> bool:
        """Is the character in the set when case is ignored?"""
        variants = {c, c.lower(), c.upper()}
        plain = _Set(self.ranges, self.categories)
        return any(plain.has(v) for v in variants) is not self.negated


_ANY = _Set((("\n", "\n"),), negated=True)
_EVERY = _Set(categories=("s", "S"))

# A syntax tree is a nested tuple: ("set", _Set), ("begin",), ("end",), ("seq", trees), ("alt", trees),
# ("repeat", tree, least, most or None).
_Tree = tuple[Any, ...]


class _Parser:
    """Recursive descent over one pattern; every complaint names the character."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at, self.depth = pattern, 0, 0
        self.dot = _ANY
        self.fold = pattern.startswith("(?i)")
        if self.fold:
            self.at = 4

    def fail(self, what: str) -> NoReturn:
        raise RuleError(f"pattern /{self.pattern}/, character {self.at + 1}: {what}")

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self, text: str) -> bool:
        if self.pattern.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def parse(self) -> _Tree:
        tree = self.alternatives()
        if self.at < len(self.pattern):
            self.fail("a closing parenthesis without an opening one")
        return tree

    def alternatives(self) -> _Tree:
        branches = [self.sequence()]
        while self.take("|"):
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else ("alt", tuple(branches))

    def sequence(self) -> _Tree:
        parts = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.repeated())
        return ("seq", tuple(parts))

    def repeated(self) -> _Tree:
        start = self.at
        tree = self.single()
        bounds = self.bounds()
        if bounds is None:
            return tree
        if tree[0] in ("begin", "end"):
            self.at = start
            self.fail("an anchor cannot be repeated")
        self.take("?")  # a lazy repetition matches the same strings
        if self.peek() and self.peek() in "*+?{":
            self.fail("a repetition of a repetition; put the inner one in parentheses")
        return ("repeat", tree, *bounds)

    def bounds(self) -> tuple[int, int | None] | None:
        for sign, pair in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return pair
        if not self.take("{"):
            return None
        close = self.pattern.find("}", self.at)
        least, comma, most = self.pattern[self.at : close].partition(",") if close >= 0 else ("", "", "")
        if not (least.isascii() and least.isdigit() and (not most or (most.isascii() and most.isdigit()))):
            self.fail(r"expected {2}, {2,} or {2,5}; a brace itself is written \{")
        low = int(least)
        high = int(most) if most else None if comma else low
        if max(low, high or 0) > MAX_REPEAT or (high is not None and high < low):
            self.fail(f"repetition bounds must be in order and at most {MAX_REPEAT}")
        self.at = close + 1
        return low, high

    def single(self) -> _Tree:
        c = self.peek()
        if c == "(":
            return self.group()
        if c == "[":
            return ("set", self.bracket())
        if c in "*+?{":
            self.fail(f"nothing to repeat; the sign itself is written \\{c}")
        self.at += 1
        if c in "^$":
            return ("begin",) if c == "^" else ("end",)
        if c == ".":
            return ("set", self.dot)
        return ("set", self.escape() if c == "\\" else _Set(((c, c),)))

    def group(self) -> _Tree:
        start = self.at
        self.at += 1
        outer = self.dot
        if self.take("?s:"):
            self.dot = _EVERY
        elif self.take("?") and not self.take(":"):
            self.fail("only (?:...) groups, and (?i) at the start, are supported: no look-around, no names")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"parentheses nested more than {MAX_DEPTH} deep")
        tree = self.alternatives()
        self.depth -= 1
        self.dot = outer
        if not self.take(")"):
            self.at = start
            self.fail("this parenthesis is never closed")
        return tree

    def escape(self) -> _Set:
        """Read what follows a backslash."""
        c = self.peek()
        if c == "":
            self.fail("the pattern ends in a backslash")
        if c.lower() in _CATEGORIES:
            self.at += 1
            return _Set(categories=(c,))
        if c.isalnum():
            if c not in _CONTROLS:
                self.fail(f"\\{c} is not supported; see espalier.regex.SYNTAX")
            c = _CONTROLS[c]
        self.at += 1
        return _Set(((c, c),))

    def bracket(self) -> _Set:
        start = self.at
        self.at += 1
        negated = self.take("^")
        ranges: list[tuple[str, str]] = []
        categories: list[str] = []
        while not self.take("]"):
            if self.peek() == "":
                self.at = start
                self.fail("this bracket is never closed")
            low = self.member()
            if low.categories:
                categories += low.categories
                continue
            a = b = low.ranges[0][0]
            if self.peek() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("", "]"):
                self.at += 1
                high = self.member()
                b = high.ranges[0][0] if high.ranges else ""
                if b < a:
                    self.fail("a range must go from a lower to a higher character")
            ranges.append((a, b))
        if not ranges and not categories:
            self.at = start
            self.fail("an empty set of characters; a bracket itself is written \\[ or \\]")
        return _Set(tuple(ranges), tuple(categories), negated)

    def member(self) -> _Set:
        c = self.peek()
        self.at += 1
        return self.escape() if c == "\\" else _Set(((c, c),))


class _Builder:
    """Thompson's construction, backwards: `add(tree, out)` returns the state that matches tree, then goes to out."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.sets: list[_Set | str | None] = [None]  # a set to consume, "begin", "end", or None for a free move
        self.outs: list[tuple[int, ...]] = [()]  # state 0 accepts

    def state(self, what: _Set | str | None, *outs: int) -> int:
        if len(self.sets) >= MAX_STATES:
            raise RuleError(
                f"pattern /{self.pattern}/ is too large: its repetitions expand to over {MAX_STATES} states"
            )
        self.sets.append(what)
        self.outs.append(outs)
        return len(self.sets) - 1

    def add(self, tree: _Tree, out: int) -> int:
        kind = tree[0]
        if kind == "set":
            return self.state(tree[1], out)
        if kind in ("begin", "end"):
            return self.state(kind, out)
        if kind == "alt":
            return self.state(None, *[self.add(branch, out) for branch in tree[1]])
        if kind == "seq":
            for part in reversed(tree[1]):
                out = self.add(part, out)
            return out
        _, inner, least, most = tree
        if most is None:
            loop = self.state(None)
            self.outs[loop] = (self.add(inner, loop), out)
            out = loop
        else:
            skip = out
            for _ in range(most - least):
                out = self.state(None, self.add(inner, out), skip)
        for _ in range(least):
            out = self.add(inner, out)
        return out


class _State:
    """A set of states of Thompson's automaton, as one state of the automaton that is built while it runs."""

    __slots__ = ("accepts", "moves", "parts")

    def __init__(self, parts: frozenset[int], accepts: bool) -> None:
        self.parts, self.accepts = parts, accepts
        self.moves: dict[str, _State] = {}


class Regex:
    """A compiled pattern. `fullmatch` asks about the whole string, `search` about any part of it."""

    def __init__(self, pattern: str) -> None:
        """Parse and build; a wrong pattern is a RuleError that names the character."""
        if len(pattern) > MAX_PATTERN:
            raise RuleError(f"a pattern of {len(pattern)} characters", hint=f"at most {MAX_PATTERN} are possible")
        parser = _Parser(pattern)
        tree = parser.parse()
        builder = _Builder(pattern)
        self.pattern = pattern
        self._start = builder.add(tree, 0)
        self._sets, self._outs = builder.sets, builder.outs
        self._fold = parser.fold
        self._first = self._closure([self._start], begin=True)
        self._empty = 0 in self._closure([self._start], begin=True, end=True)
        self._forget()

    def fullmatch(self, text: str) -> bool:
        """Does the pattern match the whole text?"""
        if not text:
            return self._empty
        state = self._begin
        for c in text:
            state = state.moves.get(c) or self._move(state, c)
            if not state.parts:
                return False
        return state.accepts

    def begins(self, c: str) -> bool:
        """May a text that matches as a whole begin with this character?  Asking once spares asking for every text."""
        return bool((self._begin.moves.get(c) or self._move(self._begin, c)).parts)

    def search(self, text: str) -> bool:
        """Does the pattern match some part of the text?"""
        if not text:
            return self._empty
        state = self._begin_search
        for c in text:
            if 0 in state.parts:
                return True
            state = state.moves.get(c) or self._move(state, c, search=True)
        return state.accepts

    def _forget(self) -> None:
        """Begin with no remembered moves; another thread that is under way goes on with those it has."""
        self._cached = 0
        self._known: dict[frozenset[int], _State] = {}
        self._known_search: dict[frozenset[int], _State] = {}
        self._begin, self._begin_search = _State(self._first, False), _State(self._first, False)

    def _closure(self, states: Iterable[int], *, begin: bool = False, end: bool = False) -> frozenset[int]:
        """Return the states reachable without a character; anchors pass only where they hold."""
        seen: set[int] = set()
        stack = list(states)
        while stack:
            s = stack.pop()
            if s in seen:
                continue
            seen.add(s)
            what = self._sets[s]
            if what is None or (what == "begin" and begin) or (what == "end" and end):
                stack.extend(self._outs[s])
        return frozenset(seen)

    def _move(self, state: _State, c: str, search: bool = False) -> _State:
        """Return where a character leads from a state, and remember it."""
        has = _Set.has_folded if self._fold else _Set.has
        moved = [
            out
            for s in state.parts
            for out in self._outs[s]
            if isinstance(what := self._sets[s], _Set) and has(what, c)
        ]
        # A search may begin anew behind every character.
        parts = self._closure([*moved, self._start] if search else moved)
        known = self._known_search if search else self._known
        found = known.get(parts) or _State(parts, 0 in self._closure(parts, end=True))
        self._cached += len(parts) + 1
        if self._cached > MAX_CACHED:
            self._forget()
        else:
            known[parts] = state.moves[c] = found
        return found


@lru_cache(maxsize=1024)
def compile_regex(pattern: str) -> Regex:
    """Return the compiled pattern, from a cache."""
    return Regex(pattern)

"""Token conditions as text: how they are read and how they are printed.

`parse_condition(print_condition(condition)) == condition` for every condition, a law kept by a test.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

from espalier.errors import RuleError, nearest
from espalier.rules import phrases as ph
from espalier.rules.predicates import (
    BUILT_IN,
    FIRST,
    LAST,
    AllOf,
    AnyOf,
    At,
    Condition,
    Named,
    Near,
    NoneOf,
    Pattern,
    Shape,
    Text,
    Window,
    Words,
)
from espalier.rules.reader import KEYWORDS, Lexeme, Reader, Scope, logical_lines, print_name, print_string

__all__ = ["ConditionReader", "parse_condition", "print_condition", "print_tight", "read_whole"]

_R = TypeVar("_R", bound=Reader)
_T = TypeVar("_T")

_SIGNS: tuple[Literal["?", "*", "+"], ...] = ("?", "*", "+")
_BEGINS = frozenset(
    ("token", "not", "previous", "next", "within", "(", "text", "~", "exactly", "shape", "is", "at", *ph.ROLES)
)
"""What an element of a pattern may begin with, beside strings and regular expressions."""


def parse_condition(source: str, scope: Scope | None = None) -> Condition:
    """Return the token condition that a text stands for; the word `token` in front may be left out."""
    return read_whole(ConditionReader, "condition", source, scope, ConditionReader.condition)


def read_whole(kind: type[_R], what: str, source: str, scope: Scope | None, read: Callable[[_R], _T]) -> _T:
    """Return what a reader makes of a whole text; an empty one, and anything behind it, is refused."""
    lines = source.split("\n")
    numbers = [number for group in logical_lines(lines) for number in group]
    if not numbers:
        raise RuleError(f"an empty {what}")
    reader = kind(lines, numbers, scope or Scope(), KEYWORDS)
    found = read(reader)
    if reader.now.kind != "end":
        reader.expected(f"the end of the {what}, 'and' or 'or'")
    return found


class ConditionReader(Reader):
    """Reads token conditions off the lexemes of one rule."""

    def condition(self) -> Condition:
        """Read a token condition: conjunctions joined by `or`."""
        return self.nested(self._condition)

    def _condition(self) -> Condition:
        branches = [self.conjunction()]
        while self.take("or"):
            branches.append(self.conjunction())
        return branches[0] if len(branches) == 1 else AnyOf(tuple(branches))

    def conjunction(self) -> Condition:
        """Read conditions joined by `and`."""
        parts = [self.nested(self.tight)]
        while self.take("and"):
            parts.append(self.nested(self.tight))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def tight(self) -> Condition:
        """Read one condition that no `and` or `or` tears apart; the word `token` is decoration."""
        self.take("token")
        if self.take("not"):
            return NoneOf(self.nested(self.tight))
        if self.take("previous"):
            return Near(-1, self.nested(self.tight))
        if self.take("next"):
            return Near(1, self.nested(self.tight))
        if self.take("within"):
            return self.window()
        if self.take("("):
            condition = self.condition()
            self.need(")")
            return condition
        return self.atom()

    def window(self) -> Condition:
        """Read how far a condition may be away, and the condition."""
        at = self.now
        first = self.integer()
        last = self.integer() if self.take("..") else first
        condition = self.nested(self.tight)
        return self.built(at, lambda: Window(first, last, condition))

    def atom(self) -> Condition:
        """Read a condition without parts."""
        at = self.now
        if self.take("text"):
            self.need("~")
            return self.built(self.now, lambda: Text(self.regex()))
        if self.now.kind == "regex" or self.take("~"):
            return self.built(self.now, lambda: Pattern(self.regex()))
        place = self.peek(1 if self.peek() == "exactly" else 0)
        if place in ph.ROLES and (place != "in" or "phrase" in (self.peek(1), self.peek(2))):
            return self.phrase()
        if self.now.kind == "string" or self.peek() in ("in", "exactly"):
            return self.words()
        if self.take("shape"):
            return self.built(at, lambda: Shape(self.string('a shape in quotes, such as "Xx"')))
        if self.take("at"):
            return self.positions(at)
        if self.take("is"):
            return self.predicate()
        self.expected("a token condition: 'in \"word\"', '~ /pattern/', 'is ...', 'shape \"Xx\"' or 'at 0..2'")

    def words(self) -> Condition:
        """Read a word list or the file name of one."""
        exactly = self.take("exactly")
        self.take("in")
        if self.take("file"):
            return self.lexicon(fold=not exactly)
        at = self.now
        words = self.strings("words in double quotes")
        return self.built(at, lambda: Words(words, fold=not exactly))

    def strings(self, what: str) -> tuple[str, ...]:
        """Read one string or several, separated by commas."""
        found = [self.string(what)]
        while self.peek() == "," and self.stream[self.at + 1].kind == "string":
            self.at += 1
            found.append(self.string(what))
        return tuple(found)

    def lexicon(self, *, fold: bool) -> Condition:
        """Read a file name, and the words in that file."""
        at, source, words = self.listed(_read_words)
        return self.built(at, lambda: Words(words(), fold=fold, source=source))

    def listed(self, read: Callable[[Path, str], tuple[str, ...]]) -> tuple[Lexeme, str, Callable[[], tuple[str, ...]]]:
        """Read the name of a file; return its place, the name, and what gives the entries."""
        at = self.now
        source = self.string("a file name in quotes")
        listed, directory = self.scope.lexicons.get(source), self.scope.directory
        if listed is None and directory is None:
            self.fail(f"the words of lexicon {source!r} are missing", at)
        return at, source, lambda: tuple(listed) if listed is not None else read(directory or Path(), source)

    # -- phrases -----------------------------------------------------------------------------------

    def phrase(self) -> Condition:
        """Read a list of phrases, the file name of one, or a pattern over several tokens."""
        exactly = self.take("exactly")
        role = next(role for role in ph.ROLES if self.take(role))
        self.need("phrase")
        at = self.now
        if self.take("file"):
            at, source, phrases = self.listed(_read_phrases)
            return self.built(at, lambda: ph.Phrases(phrases(), not exactly, source, role))
        if self.take("("):
            pattern = self.pattern()
            self.need(")")
            if exactly:
                self.fail("'exactly' stands before words", at, 'inside a pattern write: exactly "May"')
            return self.built(at, lambda: ph.PhrasePattern(pattern, role))
        if self.now.kind != "string":
            self.expected("phrases in double quotes, 'file' and its name, or a pattern in brackets")
        strings = self.strings("a phrase")
        return self.built(at, lambda: ph.Phrases(strings, not exactly, "", role))

    def pattern(self) -> ph.PhrasePart:
        """Read rows of a pattern joined by `or`."""
        return self.nested(self._pattern)

    def _pattern(self) -> ph.PhrasePart:
        rows = [self.row()]
        while self.take("or"):
            rows.append(self.row())
        return rows[0] if len(rows) == 1 else ph.Either(tuple(rows))

    def row(self) -> ph.PhrasePart:
        """Read elements of a pattern, one behind the other."""
        parts = [self.element()]
        while self.now.kind in ("string", "regex") or self.peek() in _BEGINS:
            parts.append(self.element())
        return parts[0] if len(parts) == 1 else ph.InOrder(tuple(parts))

    def element(self) -> ph.PhrasePart:
        """Read a condition, or a pattern in brackets, and how often it may stand there."""
        part: ph.PhrasePart
        if self.take("("):
            part = self.pattern()
            self.need(")")
            if self.peek() == "and":
                self.fail(
                    "'and' behind a part of a pattern",
                    hint="for conditions on one token write: token (... or ...) and ...",
                )
        else:
            part = self.conjunction()
        for sign in _SIGNS:
            if self.take(sign):
                part = ph.Repeat(part, sign)
                if self.peek() in _SIGNS:
                    self.fail("a repetition of a repetition", hint="put the inner one in brackets")
        return part

    # -- names and positions -----------------------------------------------------------------------

    def predicate(self) -> Condition:
        """Read the name of a built-in or user condition."""
        if self.take("first"):
            return FIRST
        if self.take("last"):
            return LAST
        at = self.now
        name = self.name("the name of a condition")
        known = {**BUILT_IN, **self.scope.predicates}
        if name not in known:
            near = nearest(name, known, f"known are first, last, {', '.join(sorted(known))}")
            self.fail(f"no condition is named {name!r}", at, near)
        return Named(name, known[name])

    def positions(self, at: Lexeme) -> At:
        """Read a position or a range of positions."""
        first = self.integer()
        last = self.integer() if self.take("..") else first
        return self.built(at, lambda: At(first, last))


# Printing.


def print_condition(condition: Condition) -> str:
    """Return the text form of a token condition, without the word `token` in front."""
    if isinstance(condition, AllOf):
        return " and ".join(
            print_tight(c) if isinstance(c, AnyOf) else print_condition(c) for c in condition.conditions
        )
    if isinstance(condition, AnyOf):
        return " or ".join(print_condition(c) for c in condition.conditions)
    return print_tight(condition)


def print_tight(condition: Condition) -> str:
    """Print so that `and`, `or`, `not` and `next` around it cannot tear it apart."""
    if isinstance(condition, AllOf | AnyOf):
        return f"({print_condition(condition)})"
    if isinstance(condition, NoneOf):
        return "not " + print_tight(condition.condition)
    if isinstance(condition, Near):
        return ("previous " if condition.offset < 0 else "next ") + print_tight(condition.condition)
    if isinstance(condition, Window):
        return f"within {condition.first}..{condition.last} {print_tight(condition.condition)}"
    if isinstance(condition, ph.Phrases | ph.PhrasePattern):
        return _phrase(condition)
    if isinstance(condition, Words):
        if condition.source:
            return ("in" if condition.fold else "exactly in") + f" file {print_string(condition.source)}"
        return ("in " if condition.fold else "exactly ") + ", ".join(print_string(word) for word in condition.words)
    if isinstance(condition, Pattern):
        return f"~ {_regex(condition.regex)}"
    if isinstance(condition, Text):
        return f"text ~ {_regex(condition.regex)}"
    if isinstance(condition, Shape):
        return f"shape {print_string(condition.shape)}"
    if isinstance(condition, Named):
        return f"is {print_name(condition.name)}"
    if isinstance(condition, At):
        if condition in (FIRST, LAST):
            return "is first" if condition == FIRST else "is last"
        return f"at {condition.first}..{condition.last}"
    raise AssertionError(f"a condition without a text form: {condition!r}")


def _regex(regex: str) -> str:
    return "/" + re.sub(r"\\.|/", lambda m: "\\/" if m[0] == "/" else m[0], regex) + "/"


def _phrase(condition: ph.Phrases | ph.PhrasePattern) -> str:
    if isinstance(condition, ph.PhrasePattern):
        return f"{condition.role} phrase ({_rows(condition.pattern)})"
    what = ", ".join(map(print_string, condition.phrases))
    if condition.source:
        what = f"file {print_string(condition.source)}"
    return ("" if condition.fold else "exactly ") + f"{condition.role} phrase {what}"


def _rows(part: ph.PhrasePart) -> str:
    """Print a part of a pattern for where alternatives may stand."""
    if isinstance(part, ph.Either):
        return " or ".join(map(_rows, part.parts))
    return " ".join(map(_element, part.parts)) if isinstance(part, ph.InOrder) else _element(part)


def _element(part: ph.PhrasePart) -> str:
    """Print a part of a pattern so that its neighbours cannot tear it apart."""
    if isinstance(part, ph.Repeat):
        alone = isinstance(part.part, Condition) and not isinstance(part.part, AllOf)
        return (_element(part.part) if alone else f"({_rows(part.part)})") + part.sign
    if isinstance(part, ph.Either | ph.InOrder):
        return f"({_rows(part)})"
    text = print_condition(part)
    return f"token {text}" if text.startswith("(") else text  # a bracket alone would begin a part of the pattern


# Lists in files.


def _read_words(directory: Path, source: str) -> tuple[str, ...]:
    """Read a word list: UTF-8, one token on each line, blank lines ignored."""
    words = _read_lines(directory, source)
    for number, word in enumerate(words, 1):
        if len(word.split()) > 1:
            raise RuleError(
                f"lexicon {source!r}, line {number}: {word!r} is not one token",
                hint="list single tokens, or write: in phrase file",
            )
    return tuple(word for word in words if word)


def _read_lines(directory: Path, source: str) -> list[str]:
    """Return the lines of a list, without white space at their ends."""
    try:
        lines = (directory / source).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise RuleError(f"lexicon {source!r} cannot be read: {why}") from None
    return [line.strip() for line in lines]


def _read_phrases(directory: Path, source: str) -> tuple[str, ...]:
    """Read a list of phrases: UTF-8, one phrase on each line, blank lines ignored."""
    return tuple(filter(None, _read_lines(directory, source)))

"""The lower half of the parser: lexemes, names, fields and token conditions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, TypeVar

from espalier.errors import RuleError, nearest
from espalier.rules.lexer import KEYWORDS, Lexeme, complain, lexemes, unquote
from espalier.rules.nodes import ANY_FIELD, ANYTHING, Fields
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
    Words,
    read_lexicon,
)

__all__ = ["Context", "Reader"]

MAX_DEPTH = 60
"""How deep rules and conditions may nest."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule text may refer to.

    known : the field names that exist; None accepts any. predicates : the user's functions by name.
    lexicons : word lists by name; others are files, sought in `directory`, or not at all if that is None.
    """

    known: Collection[str] | None = None
    predicates: Mapping[str, Callable[[str], bool]] = field(default_factory=dict)
    lexicons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    directory: Path | None = Path()


class Reader:
    """Reads fields and token conditions off the lexemes of one rule."""

    def __init__(self, lines: list[str], numbers: list[int], context: Context) -> None:
        """Cut the lines into lexemes."""
        self.lines, self.context = lines, context
        self.stream = lexemes(lines, numbers)
        self.at, self.depth = 0, 0

    @property
    def now(self) -> Lexeme:
        """The lexeme to be read next."""
        return self.stream[self.at]

    def peek(self, ahead: int = 0) -> str:
        """Return the text of a coming word or sign; a string or pattern is never a keyword."""
        lexeme = self.stream[min(self.at + ahead, len(self.stream) - 1)]
        return "" if lexeme.kind in ("string", "regex") else lexeme.text

    def take(self, *words: str) -> bool:
        """Read these words if they come next, and say whether they did."""
        if all(self.peek(k) == word for k, word in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def need(self, word: str) -> None:
        """Read this word, or complain."""
        if not self.take(word):
            self.expected(repr(word))

    def next_of(self, kind: str, what: str) -> Lexeme:
        """Read a lexeme of this kind, or complain that `what` was expected."""
        if self.now.kind != kind:
            self.expected(what)
        self.at += 1
        return self.stream[self.at - 1]

    def fail(self, what: str, at: Lexeme | None = None, hint: str = "") -> NoReturn:
        """Complain at a lexeme, by default the next one."""
        raise complain(self.lines, at or self.now, what, hint=hint)

    def expected(self, what: str) -> NoReturn:
        """Complain that something else was expected here."""
        found = f"found {self.now.text!r}" if self.now.kind != "end" else "the rule ends here"
        near = nearest(self.now.text, KEYWORDS) if self.now.kind == "name" else ""
        self.fail(f"expected {what}, {found}", hint="" if repr(self.now.text) in near else near)

    def built(self, at: Lexeme, make: Callable[[], _T]) -> _T:
        """Make a value; if it refuses, show the place."""
        try:
            return make()
        except RuleError as error:
            raise complain(self.lines, at, *error.args, hint=error.ways) from None

    def nested(self, parse: Callable[[], _T]) -> _T:
        """Parse something that may hold itself, but not too deep."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"nested more than {MAX_DEPTH} deep", hint="split it into several rules")
        result = parse()
        self.depth -= 1
        return result

    # -- words -------------------------------------------------------------------------------------

    def fields(self, *, negated: bool = False, leading: bool = False) -> Fields:
        """Read a set of fields; at the beginning of a rule (`leading`) a `not` is not part of it."""
        if not negated:
            if self.take("any", "field") or self.take("each", "field"):
                return ANY_FIELD
            if self.take("anything"):
                return ANYTHING
            negated = self.take("any", "but") or (not leading and self.take("not"))
        names = [self.field_name()]
        while self.take(","):
            names.append(self.field_name())
        return self.built(self.now, lambda: Fields(tuple(names), negated))

    def field_name(self) -> str:
        """Read the name of a known field."""
        at = self.now
        name = self.name("a field name")
        known = self.context.known
        if known is not None and name not in known:
            fields = f"known fields: {', '.join(sorted(known)[:12])}"
            if name in KEYWORDS:
                self.fail(f"{name!r} is a word of the language", at, f"a condition begins with 'token'; {fields}")
            self.fail(f"unknown field {name!r}", at, nearest(name, [*known, *KEYWORDS], fields))
        return self.built(at, lambda: Fields((name,)).names[0])

    def name(self, what: str) -> str:
        """Read a plain word or a string."""
        if self.now.kind == "string":
            return self.string(what)
        return self.next_of("name", what).text

    def string(self, what: str) -> str:
        """Read a string that is not empty."""
        at = self.next_of("string", what)
        value = unquote(self.lines, at)
        if not value:
            self.fail("empty quotes", at)
        return value

    def regex(self) -> str:
        """Read a pattern between slashes."""
        return unquote(self.lines, self.next_of("regex", "a pattern between slashes, as in /[0-9]+/"))

    def integer(self) -> int:
        """Read a whole number, perhaps negative."""
        sign = -1 if self.take("-") else 1
        at = self.next_of("number", "a whole number")
        if not at.text.isdecimal() or len(at.text) > 9:
            self.fail(f"{at.text[:40]!r} is not a whole number of at most nine digits", at)
        return sign * int(at.text)

    # -- token conditions --------------------------------------------------------------------------

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
        if self.take("("):
            condition = self.condition()
            self.need(")")
            return condition
        return self.atom()

    def atom(self) -> Condition:
        """Read a condition without parts."""
        at = self.now
        if self.take("text"):
            self.need("~")
            return self.built(self.now, lambda: Text(self.regex()))
        if self.now.kind == "regex" or self.take("~"):
            return self.built(self.now, lambda: Pattern(self.regex()))
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
        words = [self.string("words in double quotes")]
        while self.peek() == "," and self.stream[self.at + 1].kind == "string":
            self.at += 1
            words.append(self.string("a word"))
        return self.built(at, lambda: Words(tuple(words), fold=not exactly))

    def lexicon(self, *, fold: bool) -> Condition:
        """Read a file name, and the words in that file."""
        at = self.now
        source = self.string("a file name in quotes")
        listed, directory = self.context.lexicons.get(source), self.context.directory
        if listed is None and directory is None:
            self.fail(f"the words of lexicon {source!r} are missing", at)

        def read() -> Words:
            words = tuple(listed) if listed is not None else read_lexicon(directory or Path(), source)
            return Words(words, fold=fold, source=source)

        return self.built(at, read)

    def predicate(self) -> Condition:
        """Read the name of a built-in or user condition."""
        if self.take("first"):
            return FIRST
        if self.take("last"):
            return LAST
        at = self.now
        name = self.name("the name of a condition")
        known = {**BUILT_IN, **self.context.predicates}
        if name not in known:
            near = nearest(name, known, f"known are first, last, {', '.join(sorted(known))}")
            self.fail(f"no condition is named {name!r}", at, near)
        return Named(name, known[name])

    def positions(self, at: Lexeme) -> At:
        """Read a position or a range of positions."""
        first = self.integer()
        last = self.integer() if self.take("..") else first
        return self.built(at, lambda: At(first, last))

"""The lower half of reading rules: the grammar, lexemes, names, fields, sums of counts, and token conditions.

Every complaint names line and column, shows the line with a caret, and says what was expected or which known word is
nearest. `espalier.rules.text` reads whole rules. `parse_condition(print_condition(condition)) == condition` for every
condition, a law kept by a test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn, TypeVar

from espalier.errors import Hint, Part, RuleError, listed, nearest, shortened
from espalier.rules import phrases as ph
from espalier.rules.nodes import ANY_FIELD, ANYTHING, Count, Fields, Node, Term, Unit, compare, unknown_field
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
from espalier.tags import OUTSIDE

__all__ = [
    "GRAMMAR",
    "KEYWORDS",
    "NAME",
    "ConditionReader",
    "Lexeme",
    "Reader",
    "Scope",
    "complain",
    "logical_lines",
    "parse_condition",
    "print_condition",
    "print_name",
    "print_string",
    "print_tight",
    "read_whole",
]

GRAMMAR = r"""
line       = name ":" rule [ "[" option { "," option } "]" ]
option     = "hard" | "penalty" number | "once"

rule       = "if" rule "then" rule | both { "or" both }
both       = single { "and" single }
single     = "not" single | "(" rule ")" | simple

simple     = ( "first" | "last" ) [ "not" ] "in" fields
           | "tokens" position ".." position "are" fields
           | where ( "->" | "only" "in" ) [ "previous" | "next" ] fields
           | "change" "only" ( "after" | "before" | "at" ) tight
           | fields "once"
           | "length" "(" fields ")" ( "<=" | ">=" | "==" ) integer
           | sum ( "<=" | ">=" | "==" | "!=" | "<" | ">" ) sum
           | field "required"
           | fields ( "before" | "excludes" | "requires" ) fields
           | fields "followed" [ "later" ] "by" fields
           | "any" "token" tight
           | "text" "~" pattern

where      = condition | "label" fields [ "and" condition ]
condition  = conjunction { "or" conjunction }
conjunction= tight { "and" tight }
tight      = [ "token" ] ( "not" tight | "previous" tight | "next" tight
                         | "within" position [ ".." position ] tight | "(" condition ")" | atom )
atom       = [ "in" | "exactly" [ "in" ] ] string { "," string }
           | [ "exactly" ] "in" "file" string
           | [ "exactly" ] place "phrase" ( string { "," string } | "file" string )
           | place "phrase" "(" row { "or" row } ")"
           | [ "~" ] pattern | "text" "~" pattern
           | "shape" string
           | "is" ( "first" | "last" | name )
           | "at" position [ ".." position ]
place      = "in" | "begins" | "continues" | "ends"
row        = element { element }
element    = ( "(" row { "or" row } ")" | [ "exactly" ] "file" string | conjunction ) [ "?" | "*" | "+" ]

sum        = [ "-" ] summand { ( "+" | "-" ) summand }
summand    = integer | [ integer [ "*" ] ] ( "count" "(" fields ")" | "tokens" [ "(" fields ")" ] )

fields     = [ "not" ] ( "any" | "each" ) "field" | "anything" | [ "not" | "any" "but" ] field { "," field }
field      = name
name       = word | string
position   = [ "-" ] integer
"""
"""EBNF. At the beginning of a rule `not` denies the rule, so a negated set of fields is `any but ...` there;
a `where` begins there with `token`, `previous`, `next` or `label`. A field in quotes may have stars: `"*.city"`
stands for every field that fits it."""

KEYWORDS = frozenset(re.findall(r'"([a-z]+)"', GRAMMAR)) - {"after", "hard", "penalty"}
"""Words of the language; a field or rule with such a name is written in quotes. The three that are left out stand only
where no name can."""

NAME = re.compile(r"[^\W\d]\w*(?:[-/]\w+)*")
"""A plain word: letters, digits, inner hyphens and slashes."""


def print_name(name: str) -> str:
    """Return a rule's or field's name, in quotes if it is not a plain word or means something else."""
    return name if NAME.fullmatch(name) and name not in KEYWORDS else print_string(name)


def print_string(text: str) -> str:
    """Return a string in quotes."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c, c) for c in text) + '"'


MAX_DEPTH = 60
"""How deep rules and conditions may nest."""

# A pattern or a string that is never closed gets a kind of its own, for a better complaint.
_LEXEME = re.compile(
    r"""(?P<space>[ \t\r\f\v\u00a0]+ | \#.*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<regex>/(?:[^/\\]|\\.)+/)
      | (?P<name>[^\W\d]\w*(?:[-/]\w+)*)
      | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
      | (?P<sign>->|<=|>=|==|!=|\.\.|[-+*?<>=~:,()\[\]])
      | (?P<open>["/])
      | (?P<odd>.)""",
    re.VERBOSE,
)
_T = TypeVar("_T")
_HEAD = re.compile(r'(?:[^\W\d]\w*(?:[-/]\w+)*|"(?:[^"\\]|\\.)*")\s*:')
_SHOWN = 250  # characters of a line on each side of a complaint
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}


class Lexeme(NamedTuple):
    """A piece of rule text: its kind (name, string, regex, number, sign, end), its text and its place."""

    kind: str
    text: str
    line: int
    column: int


def complain(lines: list[str], at: Lexeme, *what: Part, hint: Hint | list[Hint] = "") -> RuleError:
    """Return an error that names line and column (from 1) and shows the line, or the part around it, with a caret."""
    line = lines[at.line].replace("\r", " ")
    start = max(at.column - _SHOWN, 0) if len(line) > 2 * _SHOWN else 0
    before, behind = line[start : at.column], line[at.column : at.column + _SHOWN]
    shown = ("…" if start else "") + before + behind + ("…" if start + len(before + behind) < len(line) else "")
    # Keep tabs, so that the caret stands where the reader sees the character.
    pad = " " * bool(start) + "".join("\t" if c == "\t" else " " for c in before)
    what = tuple(shortened(part) if isinstance(part, str) else part for part in what)
    return RuleError(*what, line=at.line + 1, column=at.column + 1, shown=f"    {shown}\n    {pad}^", hint=hint)


def logical_lines(lines: list[str]) -> Iterator[list[int]]:
    """Yield the line numbers of each rule.

    A line continues the one above if it is indented deeper than the first rule and does not begin with a name
    and a colon.
    """
    group: list[int] = []
    margin: int | None = None
    for number, line in enumerate(lines):
        body = line.strip()
        if not body or body.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        margin = indent if margin is None else margin
        if group and indent > margin and not _HEAD.match(body):
            group.append(number)
            continue
        if group:
            yield group
        group = [number]
    if group:
        yield group


def lexemes(lines: list[str], numbers: list[int]) -> list[Lexeme]:
    """Cut the lines of one rule into lexemes, with one of kind `end` behind the last."""
    found: list[Lexeme] = []
    for number in numbers:
        for match in _LEXEME.finditer(lines[number]):
            kind, text = str(match.lastgroup), match.group()
            at = Lexeme(kind, text, number, match.start())
            if kind == "open":
                thing = "text in quotes" if text == '"' else "pattern"
                raise complain(lines, at, f"this {thing} is never closed on its line")
            if kind == "odd":
                hint = "use double quotes" if text in "'‘’“”`" else ""
                if text == "." and found and found[-1].kind == "name":
                    hint = 'a field whose name is not a plain word is written in quotes, as in "from.city"'
                raise complain(lines, at, f"unexpected character {text!r}", hint=hint)
            if kind != "space":
                found.append(at)
    last = found[-1]
    return [*found, Lexeme("end", "", last.line, last.column + len(last.text))]


def _written(stream: list[Lexeme]) -> str:
    """Return a rule as it was written, without name and options, with single blanks."""
    body = stream[2:-1] if len(stream) > 2 and stream[1].text == ":" else stream[:-1]
    text, before = "", None
    for at in body:
        if at.text == "[":
            break
        joined = before is None or (at.line, at.column) == (before.line, before.column + len(before.text))
        text, before = text + ("" if joined else " ") + at.text, at
    return text


def unquote(lines: list[str], at: Lexeme) -> str:
    """Return the text of a string or pattern lexeme without its delimiters and escapes."""
    body = at.text[1:-1]
    if at.kind == "regex":
        return re.sub(r"\\(.)", lambda m: "/" if m[1] == "/" else m[0], body)
    bad = next((m for m in re.finditer(r"\\(.)", body) if m[1] not in _ESCAPES), None)
    if bad is not None:
        raise complain(
            lines,
            at._replace(column=at.column + 1 + bad.start()),
            f"unknown escape {bad[0]}",
            hint=r"known are \" \\ \n \t \r",
        )
    return re.sub(r"\\(.)", lambda m: _ESCAPES[m[1]], body)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a rule text may refer to.

    known : the field names that exist; None accepts any. predicates : the user's functions by name.
    lexicons : word lists by name; others are files, sought in `directory`, or not at all if that is None.
    """

    known: Collection[str] | None = None
    predicates: Mapping[str, Callable[[str], bool]] = field(default_factory=dict)
    lexicons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    directory: Path | None = Path()


class Reader:
    """Reads fields, token conditions and sums off the lexemes of one rule."""

    def __init__(self, lines: list[str], numbers: list[int], scope: Scope, keywords: Collection[str]) -> None:
        """Cut the lines into lexemes; a name that is a keyword may be a slip."""
        self.lines, self.scope, self.keywords = lines, scope, keywords
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
        near = nearest(self.now.text, self.keywords) if self.now.kind == "name" else ""
        self.fail(f"expected {what}, {found}", hint=self.slip() or ("" if repr(self.now.text) in near else near))

    def slip(self) -> str:
        """Return a hint if the rule is one of the common wrong forms, or nothing."""
        from espalier.rules.slips import meant  # asked only where reading has failed

        return meant(_written(self.stream), self.keywords)

    def built(self, at: Lexeme, make: Callable[[], _T]) -> _T:
        """Make a value; if it refuses, show the place."""
        try:
            return make()
        except RuleError as error:
            raise complain(self.lines, at, *error.parts, hint=error.ways) from None

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
            if negated and self.take("any", "field"):
                return Fields((OUTSIDE,))  # outside every field
        names = [self.field_name()]
        while self.take(","):
            names.append(self.field_name())
        return self.built(self.now, lambda: Fields(tuple(names), negated))

    def field_name(self) -> str:
        """Read the name of a known field."""
        at = self.now
        name = self.name("a field name")
        known = self.scope.known
        if known is not None and unknown_field([name], known) is not None:
            fields = f"known fields: {listed(sorted(known))}"
            if name in self.keywords:
                hint = self.slip() or f"a condition begins with 'token'; {fields}"
                self.fail(f"{name!r} is a word of the language", at, hint)
            slip = self.slip()
            other = at.kind == "string" or name not in re.findall(r"[\w/-]+", slip)  # is `name` no field at all?
            near = nearest(name, known, fields)
            self.fail(f"unknown field {name!r}", at, (other and slip) or near)
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

    # -- counts ------------------------------------------------------------------------------------

    def comparison(self) -> Node:
        """Read two sums and the sign between them."""
        start = self.now
        left = self.sum()
        sign = self.comparison_sign(("<=", ">=", "==", "!=", "<", ">", "="))
        right = self.sum()
        return self.built(start, lambda: compare(left, sign, right))

    def comparison_sign(self, allowed: Sequence[str]) -> str:
        """Read one of these signs."""
        for sign in allowed:
            if self.take(sign):
                return "==" if sign == "=" else sign
        self.expected("a comparison: " + ", ".join(sign for sign in allowed if sign != "="))

    def sum(self) -> Count:
        """Read counts and numbers, added and subtracted."""
        total = self.summand()
        while self.peek() in ("+", "-"):
            total = total + self.summand()
        return total

    def summand(self) -> Count:
        """Read a number, or a count with its coefficient."""
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
        unit: Unit = "tokens" if self.take("tokens") else "segments"
        self.take("count")
        fields = ANYTHING
        if unit == "segments" or self.peek() == "(":
            self.need("(")
            fields = self.fields()
            self.need(")")
        return Count((Term(coefficient, unit, fields),))


# Token conditions as text: how they are read and how they are printed.


_R = TypeVar("_R", bound=Reader)

_SIGNS: tuple[Literal["?", "*", "+"], ...] = ("?", "*", "+")
_BEGINS = frozenset(
    ("token", "not", "previous", "next", "within", "(", "text", "~", "exactly", "file", "shape", "is", "at", *ph.ROLES)
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
        elif self.peek(1 if self.peek() == "exactly" else 0) == "file":
            exactly = self.take("exactly")
            self.need("file")
            at, source, phrases = self.listed(_read_phrases)
            part = self.built(at, lambda: ph.AnyListed(phrases(), not exactly, source))
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
    if isinstance(part, ph.AnyListed):
        return ("" if part.fold else "exactly ") + f"file {print_string(part.source)}"
    if isinstance(part, ph.Repeat):
        alone = isinstance(part.part, Condition | ph.AnyListed) and not isinstance(part.part, AllOf)
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

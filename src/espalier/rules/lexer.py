"""Rule text to lexemes, and complaints that show the line with a caret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from espalier.errors import Hint, Part, RuleError, shortened

__all__ = ["KEYWORDS", "NAME", "Lexeme", "complain", "lexemes", "logical_lines", "unquote"]

NAME = re.compile(r"[^\W\d]\w*(?:[-/]\w+)*")
"""A plain word: letters, digits, inner hyphens and slashes."""

KEYWORDS = frozenset(
    {"and", "any", "anything", "are", "at", "before", "but", "by", "change", "count", "each", "exactly", "excludes"}
    | {"field", "file", "first", "followed", "if", "in", "is", "label", "last", "later", "length", "next", "not"}
    | {"once", "only", "or", "previous", "required", "requires", "shape", "text", "then", "token", "tokens"}
)
"""Words of the language; a field or rule with such a name is written in quotes."""

# A pattern or a string that is never closed gets a kind of its own, for a better complaint.
_LEXEME = re.compile(
    r"""(?P<space>[ \t\r\f\v\u00a0]+ | \#.*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<regex>/(?:[^/\\]|\\.)+/)
      | (?P<name>[^\W\d]\w*(?:[-/]\w+)*)
      | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
      | (?P<sign>->|<=|>=|==|!=|\.\.|[-+*<>=~:,()\[\]])
      | (?P<open>["/])
      | (?P<odd>.)""",
    re.VERBOSE,
)
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
                raise complain(lines, at, f"unexpected character {text!r}", hint=hint)
            if kind != "space":
                found.append(at)
    last = found[-1]
    return [*found, Lexeme("end", "", last.line, last.column + len(last.text))]


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

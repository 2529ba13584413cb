"""Values as language models write them: JSON, and what is nearly JSON, wherever it stands in a text.

Nearly JSON is what people read without a thought: commas too many or too few, single or curly quotes, quotes inside
quotes, names without quotes, comments, `None` and `True`, numbers with separators, brackets that are never closed.
What is JSON is read as JSON. A number that is only nearly JSON stays text, so that it keeps every digit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["CUT", "LooseValue", "values_in"]

CUT = object()
"""Stands for a string that the end of the answer has cut."""

DEEPEST = 40

_SPACE = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/|\#[^\n]*)*", re.DOTALL)
_CLOSERS = {'"': '"', "'": "'", "“": "”", "„": "“”", "‘": "’", "«": "»", "`": "`"}
_CLOSED = re.compile(r"[ \t\r]*(?:[,;:}\])]|=>|\n|$|//|/\*)")
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?=\s*(?:,\s|[}\])\n]|$))")
_BARE = re.compile(r"[^,{}\[\]()\n\"“”]+")
_KEY = re.compile(r"[^\s:={}\[\](),\"'“”][^:={}\[\](),\"“”\n]*")
_COLON = re.compile(r"=>|[:=]")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "\n": ""}
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("null", "none", "undefined", "nil", "nan", "...", "…")),
    "true": True,
    "false": False,
}


class LooseValue(NamedTuple):
    """A value and its place in a text; cut : the text ends inside it."""

    value: Any
    start: int
    end: int
    cut: bool


class _NoValue(Exception):
    """There is no value here."""


def values_in(text: str) -> Iterator[LooseValue]:
    """Yield the mappings and lists that stand in a text, from left to right, each as far out as it goes."""
    at, decoder = 0, json.JSONDecoder(parse_constant=lambda _: None)
    strictly = True
    while at < len(text):
        at = min((place for place in (text.find(sign, at) for sign in "{[") if place >= 0), default=len(text))
        if at == len(text):
            return
        found = None
        try:
            if strictly:
                value, end = decoder.raw_decode(text, at)
                found = LooseValue(value, at, end, cut=False)
        except ValueError:
            pass
        except RecursionError:
            strictly = False  # it would be so at each of the next thousand brackets
        if found is None:
            reader = _Reader(text, at)
            try:
                found = LooseValue(reader.value(0), at, reader.at, reader.cut)
            except _NoValue:
                at = max(at + 1, reader.at)
                continue
        yield found
        at = found.end


class _Reader:
    """Recursive descent that forgives; at : the place to read next; cut : the text ended inside something."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.cut = text, at, False

    def peek(self) -> str:
        """Return the next sign that is no space and no comment, "" at the end."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Any:
        """Read any value."""
        sign = self.peek()
        if depth > DEEPEST:
            raise _NoValue
        if sign == "{":
            return self.mapping(depth)
        if sign in ("[", "("):
            return self.items(depth, "]" if sign == "[" else ")")
        return self.string() if sign in _CLOSERS else self.bare()

    def closed(self, sign: str) -> bool:
        """Read the sign that closes a value, or say whether the text ends before it."""
        found = self.peek()
        if found == sign:
            self.at += 1
        elif not found:
            self.cut = True
        return found in ("", sign)

    def mapping(self, depth: int) -> dict[str, Any]:
        """Read `{name: value, ...}`."""
        found: dict[str, Any] = {}
        self.at += 1
        while not self.closed("}"):
            if self.peek() in (",", ";"):
                self.at += 1
                continue
            key = self.key()
            self.peek()
            colon = _COLON.match(self.text, self.at)
            if colon is None:
                if self.at < len(self.text):
                    raise _NoValue
                self.cut = True
                return found
            self.at = colon.end()
            value = CUT if self.peek() == "" else self.value(depth + 1) if self.peek() not in (",", "}") else None
            known = found.get(key)  # a name that stands twice has both values
            found[key] = value if known is None else [*(known if isinstance(known, list) else [known]), value]
        return found

    def key(self) -> str:
        """Read the name of a value, with or without quotes."""
        if self.peek() in _CLOSERS:
            return str(self.string())
        found = _KEY.match(self.text, self.at)
        if found is None:
            raise _NoValue
        self.at = found.end()
        return found[0].strip()

    def items(self, depth: int, closer: str) -> list[Any]:
        """Read `[value, ...]` or `(value, ...)`."""
        found: list[Any] = []
        self.at += 1
        while not self.closed(closer):
            sign = self.peek()
            if sign in (",", ";"):
                self.at += 1
            elif sign in "}])":  # closes what is around this
                self.cut = True
                return found
            else:
                found.append(self.value(depth + 1))
        return found

    def string(self) -> Any:
        """Read a string; a quote that nothing can follow is a part of it."""
        text, opener = self.text, self.text[self.at]
        triple = opener in "\"'" and text.startswith(opener * 3, self.at)
        closers = _CLOSERS[opener]
        start = at = self.at + (3 if triple else 1)
        while at < len(text):
            if text[at] == "\\":
                at += 2
                continue
            ends = text.startswith(opener * 3, at) if triple else text[at] in closers
            if ends and (triple or _CLOSED.match(text, at + 1)):
                self.at = at + (3 if triple else 1)
                return _ESCAPE.sub(_unescaped, text[start:at])
            at += 1
        self.at, self.cut = len(text), True
        return CUT

    def bare(self) -> Any:
        """Read a word or a number without quotes."""
        found = _GROUPED.match(self.text, self.at) or _BARE.match(self.text, self.at)
        if found is None:
            raise _NoValue
        self.at = found.end()
        word = found[0].strip()
        if self.at == len(self.text):
            self.cut = True
            return CUT
        return _WORDS.get(word.casefold(), word)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)

"""Numbered lines of bounded length, and how a reader names a place, reports a repair, or sets a record aside.

A record has at most `longest` characters, and a line at most `PER_CHARACTER` bytes for each of them: what is longer is
refused while it is read, before anything is made of it. So a hostile file costs the time and the memory of the longest
record that is admitted, whatever its own length. Formats whose records are not lines hold their file as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import NamedTuple

from espalier.errors import Argument, FormatError, Hint, InputError

__all__ = ["CUT", "LONGEST", "Lines", "Problem", "check_longest", "longest_line", "too_long"]

LONGEST = 1_000_000
"""Characters of a record that are admitted unless the caller says otherwise: a token may take 140 bytes."""

PER_CHARACTER = 16
"""Bytes that a line may have for each character of a record: tags, and labels and escapes of JSON, take their share."""

_AHEAD = 1 << 20  # characters that are looked at before a format or a form is chosen


class Problem(NamedTuple):
    """Something a reader repaired or left out: which line, and what."""

    line: int
    what: str

    def __str__(self) -> str:
        """Show `line 12: what`."""
        return f"line {self.line}: {self.what}"


def check_longest(longest: float) -> None:
    """Raise InputError if `longest` is not a number of characters."""
    if isinstance(longest, bool) or not isinstance(longest, (int, float)) or not longest >= 1:
        raise InputError(f"longest is a number of characters, at least 1, or inf for any number, not {longest!r}")


def longest_line(longest: float) -> float:
    """Return how many bytes a line may have."""
    return PER_CHARACTER * longest


CUT: list[Hint] = ["cut it into several", ("pass ", Argument("read", "longest"))]
"""What to do about a record that is longer than admitted."""


def too_long(what: str, longest: float) -> str:
    """Return the complaint about a record that is longer than admitted."""
    return f"{what}, and a record has at most {longest:,.0f} characters"


class Lines:
    """Numbered lines without their ends; iterate once.

    pieces : the lines with their ends. One that is too long comes in several pieces, of which only the last ends with
    a line feed.
    """

    def __init__(self, name: str, pieces: Iterable[str], problems: list[Problem], longest: float = LONGEST) -> None:
        """Keep the source's name for messages, the list that problems go to, and the bound on a record."""
        self.name = name
        self.problems = problems
        self.longest = longest
        self.refused: list[FormatError] | None = None
        self._pieces = iter(pieces)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield (line number from 1, line); one that is set aside for its length leaves a blank line."""
        return self.numbered(aside=True)

    def numbered(self, *, aside: bool) -> Iterator[tuple[int, str]]:
        """Yield numbers and lines; without `aside` a line that is too long ends the reading."""
        for number, piece in enumerate(self._pieces, 1):
            line = piece.removesuffix("\n")
            if len(line) == len(piece) and self._pass_rest():
                line, most = "", longest_line(self.longest)
                with self.at(number) if aside else nullcontext():
                    raise self.error(too_long(f"a line of more than {most:,.0f} bytes", self.longest), number, CUT)
            yield number, line.removesuffix("\r")

    def _pass_rest(self) -> bool:
        """Pass over the rest of a line that has not ended; return whether there was any."""
        piece = ""
        for piece in self._pieces:
            if piece.endswith("\n"):
                break
        return bool(piece)

    def whole(self) -> str:
        """Return all lines, joined by line feeds; these are as long as they are."""
        text = "".join(self._pieces).removesuffix("\n")
        return text.replace("\r\n", "\n").removesuffix("\r")

    def head(self, count: int) -> list[str]:
        """Return the first lines, as far as a guess needs them, without consuming them; call it before iterating."""
        return [piece.rstrip("\r\n") for piece in self._ahead(lambda seen: len(seen) == count)]

    def first_text(self) -> str:
        """Return the first line that is not blank, stripped, without consuming anything."""
        seen = self._ahead(lambda seen: bool(seen[-1].strip()))
        return seen[-1].strip() if seen else ""

    def _ahead(self, enough: Callable[[list[str]], bool]) -> list[str]:
        seen: list[str] = []
        size = 0
        for piece in self._pieces:
            seen.append(piece)
            size += len(piece)
            if enough(seen) or size > _AHEAD:
                break
        self._pieces = chain(seen, self._pieces)
        return seen

    def admit(self, characters: int) -> None:
        """Refuse a record of too many characters; a reader asks before it makes tokens."""
        if characters > self.longest:
            raise InputError(too_long(f"a text of {characters:,} characters", self.longest), hint=CUT)

    def error(self, what: str, line: int = 0, hint: Hint | list[Hint] = "") -> FormatError:
        """Return a `FormatError` that names this source and the line."""
        return FormatError(what, path=self.name, line=line, hint=hint)

    def fault(self, error: InputError, line: int) -> FormatError:
        """Return an error that knows no place as a `FormatError` that names this source and the line."""
        return FormatError(*error.args, path=self.name, line=line, hint=error.ways)

    def report(self, what: str, line: int) -> None:
        """Note something that was repaired or left out."""
        self.problems.append(Problem(line, what))

    @contextmanager
    def at(self, line: int) -> Iterator[None]:
        """Turn an `InputError` raised inside into a `FormatError` at this line.

        If there is a list `refused` the error goes there, and the block ends as if it had done nothing: so a reader
        that yields inside the block leaves a bad record out.
        """
        try:
            yield
        except InputError as error:
            found = error if isinstance(error, FormatError) else self.fault(error, line)
            if self.refused is None:
                raise found from None
            self.refused.append(found)

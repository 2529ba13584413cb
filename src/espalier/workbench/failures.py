"""What goes wrong, as the API says it: what, where, what to do, and a status."""

from __future__ import annotations

import re
from typing import Any

from espalier.errors import EspalierError, FormatError, InfeasibleError, NotFittedError

__all__ = ["Failure", "explained", "places"]

_PLACE = re.compile(r"(?s)(?:(?P<before>.*?): )?line (?P<line>\d+), column (?P<column>\d+): (?P<rest>.*)")


class Failure(EspalierError):
    """An answer that is an error: a status, and the three parts of its message."""

    def __init__(self, status: int, what: str, hint: str = "", where: str = "") -> None:
        """Keep the parts."""
        super().__init__(what)
        self.status, self.what, self.hint, self.where = status, what, hint, where

    def body(self) -> dict[str, Any]:
        """Return the JSON of the answer."""
        return {"error": {"what": self.what, "where": self.where, "hint": self.hint}}


def explained(error: EspalierError) -> Failure:
    """Return an error of the library as an answer; its messages say what is wrong, and after a semicolon what to do."""
    if isinstance(error, Failure):
        return error
    status = 409 if isinstance(error, InfeasibleError | NotFittedError) else 400
    if isinstance(error, FormatError):
        what, hint = _halves(error.what)
        place = f"line {error.line}" if error.line else ""
        return Failure(status, what, hint, ", ".join(part for part in (error.path, place) if part))
    line, column, what, hint = places(str(error))
    return Failure(status, what, hint, f"line {line}, column {column}" if line else "")


def places(message: str) -> tuple[int, int, str, str]:
    """Take the message of a rule error apart: line and column from 1 (0 if it names none), what, and a hint."""
    found = _PLACE.match(message)
    if found is None:
        return (0, 0, *_halves(message))
    before, rest = found["before"], found["rest"].split("\n")[0]  # the line with its caret is on the screen already
    return (int(found["line"]), int(found["column"]), *_halves(f"{before}: {rest}" if before else rest))


def _halves(message: str) -> tuple[str, str]:
    what, _, hint = message.partition("; ")
    return what, hint

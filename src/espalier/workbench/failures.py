"""What goes wrong, as the API says it: what, where, what to do, and a status; and how long a request may take."""

from __future__ import annotations

from time import monotonic
from typing import Any

from espalier.errors import EspalierError, FormatError, InfeasibleError, NotFittedError

__all__ = ["Deadline", "Failure", "explained"]


_AGAIN = 5  # seconds


class Failure(EspalierError):
    """An answer that is an error: a status, and the three parts of its message."""

    def __init__(self, status: int, what: str, hint: str = "", where: str = "") -> None:
        """Keep the parts."""
        super().__init__(what, hint=hint)
        self.status, self.place = status, (where,) if where else ()

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer: who comes too early is told when to come again."""
        return {"retry-after": str(_AGAIN)} if self.status == 503 else {}

    def body(self) -> dict[str, Any]:
        """Return the JSON of the answer."""
        return {"error": {"what": self.what, "where": self.where, "hint": self.hint}}


def explained(error: EspalierError) -> Failure:
    """Return an error of the library as an answer."""
    if isinstance(error, Failure):
        return error
    status = 409 if isinstance(error, InfeasibleError | NotFittedError) else 400
    where = error.where
    if isinstance(error, FormatError):
        where = ", ".join(filter(None, (error.path, f"line {error.line}" if error.line else "")))
    return Failure(status, error.what, error.hint, where)


class Deadline:
    """The end of a request's time."""

    def __init__(self, seconds: float) -> None:
        """Begin to count."""
        self.seconds, self._end = seconds, monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0."""
        return max(0.0, self._end - monotonic())

    def check(self) -> None:
        """Raise if the time is over."""
        if not self.left:
            raise self.over()

    def over(self) -> Failure:
        """Return the answer of a request whose time is over."""
        return Failure(
            504,
            f"this took longer than {self.seconds:g} seconds",
            "ask for fewer records, or again: what is done is kept",
        )

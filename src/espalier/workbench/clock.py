"""The time, as the API writes it, and how long a request may take."""

from __future__ import annotations

from datetime import datetime, timezone
from time import monotonic

from espalier.workbench.failures import Failure

__all__ = ["Deadline", "now"]


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


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

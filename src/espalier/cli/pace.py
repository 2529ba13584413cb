"""How fast a command is, and how long it will take: the news of a progress bar."""

from __future__ import annotations

from datetime import timedelta
from time import monotonic

__all__ = ["Pace"]


class Pace:
    """Counts from when it is made; `what` is counted."""

    def __init__(self, what: str) -> None:
        """Start the clock."""
        self._what, self._begin = what, monotonic()

    def news(self, done: int, share: float | None = None) -> str:
        """Return how many are done and how many a second; if the share of all is known (0 to 1), also the time left."""
        seconds = max(monotonic() - self._begin, 1e-9)
        left = ""
        if share:
            left = f", {timedelta(seconds=round(seconds * max(0.0, 1 - share) / share))} left"
        return f"{done:,} {self._what}, {done / seconds:,.0f} a second{left}"

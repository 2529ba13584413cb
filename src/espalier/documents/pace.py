"""`watched`: whoever waits for a document may look at the clock between two pages, and give up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["look", "watched"]

_WATCH: ContextVar[Callable[[], None] | None] = ContextVar("watch", default=None)


@contextmanager
def watched(check: Callable[[], None]) -> Iterator[None]:
    """Let readers of documents call `check` after every page; what it raises ends the reading."""
    token = _WATCH.set(check)
    try:
        yield
    finally:
        _WATCH.reset(token)


def look() -> None:
    """Call what watches, if anything does; readers do so after every page."""
    check = _WATCH.get()
    if check is not None:
        check()

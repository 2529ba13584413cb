"""`watched`: whoever waits for a document may look at the clock now and then, and give up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["look", "watched"]

_WATCH: ContextVar[Callable[[], None] | None] = ContextVar("watch", default=None)


@contextmanager
def watched(check: Callable[[], None]) -> Iterator[None]:
    """Let readers, and what finds references, call `check` again and again; what it raises ends them."""
    token = _WATCH.set(check)
    try:
        yield
    finally:
        _WATCH.reset(token)


def look() -> None:
    """Call what watches, if anything does: while a reader is waited for, and between parts of what is found."""
    check = _WATCH.get()
    if check is not None:
        check()

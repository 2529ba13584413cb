"""Python's search for garbage, where there is none: a short command would spend a good part of its time on it.

Modules and models stay until the end, and Python looks through them again and again, after every few hundred objects
that they add.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["YOUNG", "seldom"]

YOUNG = 50_000
"""New objects before Python looks among them for garbage, instead of 700: a few MB if all of them are."""


@contextmanager
def seldom() -> Iterator[None]:
    """Look for garbage less often than usual; also a decorator, `@seldom()`."""
    before = gc.get_threshold()
    gc.set_threshold(max(YOUNG, before[0]), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)

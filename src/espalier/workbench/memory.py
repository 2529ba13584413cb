"""What is kept between requests, within bounds: documents and scores by model and record, answers by rules, too.

Texts and models never change, and numbers are never used twice, so nothing here can be stale: what has changed has
another key. The least recently used goes first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Kept"]

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by key, together no larger than a bound; safe to use from several threads."""

    def __init__(self, bound: int, size: Callable[[Value], int] = lambda _: 1) -> None:
        """Keep values whose sizes add up to `bound` at most."""
        self._bound, self._size = bound, size
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        """Return a value, None if it is not kept."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value, and let go of others if need be."""
        with self._lock:
            if key in self._values:
                self._total -= self._size(self._values.pop(key))
            self._values[key] = value
            self._total += self._size(value)
            while self._total > self._bound and self._values:
                self._total -= self._size(self._values.popitem(last=False)[1])

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._values)

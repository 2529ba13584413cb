"""What is kept between requests, within bounds: documents and scores by model and record, answers by rules, too.

Texts and models never change, and numbers are never used twice, so nothing here can be stale: what has changed has
another key. The least recently used goes first.

Scores are kept for single records and put together again. A model of chains has one table of transitions, which its
records share; where transitions depend on the place, each record has its own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np

from espalier.potentials import ChainBatch, with_ends

__all__ = ["Kept", "alone", "joined", "size"]

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

    def made(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return a value; one that is not kept is made, and kept."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def several(self, keys: Sequence[Hashable], make: Callable[[list[int]], Iterable[Value]]) -> list[Value]:
        """Return the values of some keys; make : from the places of those that are not kept to their values."""
        found = [self.get(key) for key in keys]
        missing = [i for i, value in enumerate(found) if value is None]
        for i, value in zip(missing, make(missing) if missing else (), strict=True):
            found[i] = value
            self.put(keys[i], value)
        return [value for value in found if value is not None]

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._values)


def alone(batch: ChainBatch, i: int) -> ChainBatch:
    """Return the scores of sequence i as a batch of its own, with its own memory."""
    return ChainBatch.of([batch[i]]) if len(batch.trans) > 1 else batch.chosen([i])


def joined(parts: Sequence[ChainBatch]) -> ChainBatch:
    """Lay the scores of single sequences, all of one model, end to end."""
    first = parts[0]
    if any(len(part.trans) > 1 or part.temperature is not None or part.sources for part in parts):
        same = all(np.array_equal(a, b) for p in parts for a, b in ((p.start, first.start), (p.end, first.end)))
        return ChainBatch.of([part[0] for part in (parts if same else with_ends(parts))])
    unary = np.concatenate([part.unary for part in parts])
    indptr = np.cumsum([0, *(len(part.unary) for part in parts)]).astype(np.int64)
    return ChainBatch(indptr, unary, first.trans, np.zeros(len(unary), np.int32), first.start, first.end)


def size(part: ChainBatch) -> int:
    """Return about how many bytes the scores of one sequence take."""
    return int(part.unary.nbytes) + (int(part.trans.nbytes) if len(part.trans) > 1 else 0) + 1000

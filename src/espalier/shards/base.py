"""What is asked of parts, wherever they are: `Shards`; and the kind that works in this process, `ShardsHere`.

A part, its state, the arguments of a function and its statistics are pickled on their way, in this process too. So an
array has the same layout in memory whoever works on it, and sums come out the same to the last bit.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import EspalierError, InputError
from espalier.parallel import balanced

__all__ = ["NO_STATE", "Shards", "ShardsHere", "answered", "corpus_parts", "fixed_parts", "packed"]

TOKENS_A_PART = 10_000
FEWEST_PARTS, MOST_PARTS = 8, 64
"""Data are cut into parts of about so many tokens, and into so many parts, whatever the number of processes."""

Part = TypeVar("Part")
State = TypeVar("State")
Self = TypeVar("Self", bound="Shards[Any]")
Statistics = TypeVar("Statistics", bound=tuple[Any, ...])
P = ParamSpec("P")


def fixed_parts(indptr: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut sequences into ranges [lo, hi) of about equally many tokens; the data alone decide into how many."""
    wanted = min(max(int(indptr[-1] - indptr[0]) // TOKENS_A_PART, FEWEST_PARTS), MOST_PARTS)
    return balanced(indptr, wanted) or [(0, 0)]


def corpus_parts(corpus: Corpus, cuts: Sequence[tuple[int, int]]) -> list[Corpus]:
    """Return the sequences of each range as a corpus that holds no more word types than it needs."""
    parts = []
    for lo, hi in cuts:
        part = corpus[lo:hi]
        used, ids = np.unique(part.token_ids, return_inverse=True)
        types = tuple(corpus.types[k] for k in used.tolist())
        parts.append(replace(part, token_ids=ids.reshape(-1).astype(np.int32), types=types))
    return parts


class Shards(ABC, Generic[Part]):
    """Parts of some data, each with a state, and the functions that are asked of them; a context manager."""

    def replies(
        self,
        function: Callable[Concatenate[Part, State | None, P], tuple[Statistics, State]],
        *arguments: P.args,
        **keywords: P.kwargs,
    ) -> list[Statistics]:
        """Return the statistics of every part, in order: what function(part, state, *arguments) returns first.

        What it returns besides becomes the state of the part, which is None before; if it fails anywhere, no state
        changes. A worker must be able to import the function.
        """
        return [pickle.loads(reply) for reply in self._ask(packed((function, arguments, keywords)))]

    def total(
        self,
        function: Callable[Concatenate[Part, State | None, P], tuple[Statistics, State]],
        *arguments: P.args,
        **keywords: P.kwargs,
    ) -> Statistics:
        """Return the sum of the replies, which are tuples of arrays and numbers, added in the order of the parts."""
        replies = self._ask(packed((function, arguments, keywords)))
        total: Statistics = reduce(_added, map(pickle.loads, replies))
        return total

    @abstractmethod
    def _ask(self, request: bytes) -> Iterator[bytes]:
        """Have a request answered for every part; yield the replies in order."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the parts hold."""

    def __enter__(self: Self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()


class ShardsHere(Shards[Part]):
    """All parts in this process, asked one after the other."""

    def __init__(
        self, data: Sequence[Any], prepare: Callable[[Any, Any], Part], common: Any, first: Sequence[int]
    ) -> None:
        """Prepare the parts."""
        shared = pickle.loads(packed(common))
        self._parts = [prepare(shared, pickle.loads(packed(part))) for part in data]
        self._first, self._states = first, [NO_STATE] * len(self._parts)

    def _ask(self, request: bytes) -> Iterator[bytes]:
        asked, after = pickle.loads(request), []
        for part, state, first in zip(self._parts, self._states, self._first, strict=True):
            reply, next_state = answered(asked, part, state, first)
            after.append(next_state)
            yield reply
        self._states = after

    def close(self) -> None:
        """Forget the parts."""
        self._parts, self._states = [], []


def answered(asked: tuple[Any, Any, Any], part: Any, state: bytes, first: int) -> tuple[bytes, bytes]:
    """Call the function that is asked for; return its statistics and the next state, pickled.

    asked : function, arguments and keywords. first : the number of the part's first sequence, for errors.
    """
    function, arguments, keywords = asked
    before = pickle.loads(state)
    try:
        statistics, after = function(part, before, *arguments, **keywords)
    except EspalierError as error:
        raise type(error)(f"in the part that begins with sequence {first}: {error}") from error
    return packed(statistics), state if after is before else packed(after)


def packed(value: Any) -> bytes:
    """Pickle a value; one that cannot be is an InputError."""
    try:
        return pickle.dumps(value, protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"this cannot be sent to another process: {error}; functions in rules or features must be importable, "
            "or leave out jobs"
        ) from error


NO_STATE = packed(None)
"""The state of a part that no function has seen."""


def _added(one: Statistics, other: Statistics) -> Statistics:
    """Add two tuples item by item; a named tuple stays one."""
    items = [a + b for a, b in zip(one, other, strict=True)]
    return type(one)(*items) if hasattr(one, "_fields") else type(one)(items)

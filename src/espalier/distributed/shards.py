"""Data in fixed parts, over processes or machines: workers hold the parts and send back sums, never data.

    with shards_of(parts, prepare, common=..., jobs=2) as shards:
        total = shards.total(function, *arguments)

Every part has a *state*, kept where the part is; `function(part, state, *arguments)` returns statistics and the next
state. The statistics of all parts are added in the order of the parts. Parts depend on the data alone, so the same
data give the same bits on one process, on two, or on a cluster.

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
from espalier.errors import EspalierError, InputError, MissingExtraError
from espalier.learning.jobs import check_jobs
from espalier.parallel import balanced

__all__ = [
    "NO_STATE", "Shards", "ShardsHere", "answered", "corpus_parts", "fixed_parts", "n_workers", "packed",
    "shard_corpus", "shards_of",
]  # fmt: skip

Common = TypeVar("Common")
Data = TypeVar("Data")

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
            f"this cannot be sent to another process: {error}",
            hint=("functions in rules or features must be importable, or leave out jobs"),
        ) from error


NO_STATE = packed(None)
"""The state of a part that no function has seen."""


def _added(one: Statistics, other: Statistics) -> Statistics:
    """Add two tuples item by item; a named tuple stays one."""
    items = [a + b for a, b in zip(one, other, strict=True)]
    return type(one)(*items) if hasattr(one, "_fields") else type(one)(items)


def shards_of(
    data: Sequence[Data],
    prepare: Callable[[Common, Data], Part],
    *,
    common: Common,
    jobs: int,
    first: Sequence[int] | None = None,
) -> Shards[Part]:
    """Hand out the parts of some data; close what is returned, or use it in a `with`.

    prepare : makes of `common` and one part what functions get to see; called once a process and part. jobs : 1 works
    in this process; more, or -1, in as many of the joblib backend in force (`joblib.parallel_config`; loky if none),
    but in no more than there are parts, or twice the cores.
    first : the number of the first sequence of each part, for error messages.
    """
    check_jobs(jobs)
    places = list(range(len(data))) if first is None else list(first)
    if jobs == 1:
        return ShardsHere(data, prepare, common, places)
    from espalier.distributed.workers import ShardsInFolder, ShardsInFutures  # which are made of what is here

    backend = _backend(jobs)
    if hasattr(getattr(backend, "client", None), "scatter"):
        return ShardsInFutures(data, prepare, common, places, backend)
    most = min(len(data), 2 * backend.effective_n_jobs(-1))
    return ShardsInFolder(data, prepare, common, places, jobs if jobs < 0 else max(min(jobs, most), 1))


def shard_corpus(
    corpus: Corpus, prepare: Callable[[Common, Corpus], Part], *, common: Common, jobs: int
) -> Shards[Part]:
    """Hand out the fixed parts of a corpus."""
    cuts = fixed_parts(corpus.indptr)
    return shards_of(corpus_parts(corpus, cuts), prepare, common=common, jobs=jobs, first=[lo for lo, _ in cuts])


def n_workers(jobs: int) -> int:
    """Return how many processes `jobs` stands for under the joblib backend in force."""
    check_jobs(jobs)
    return 1 if jobs == 1 else max(int(_backend(jobs).effective_n_jobs(jobs)), 1)


def _backend(jobs: int) -> Any:
    """Return joblib's backend in force."""
    try:
        from joblib.parallel import get_active_backend
    except ImportError:
        raise MissingExtraError(
            f"jobs={jobs} needs joblib: pip install 'espalier-nlp[cluster]', or leave out jobs to work in threads"
        ) from None
    return get_active_backend()[0]

"""`ordered_map`: a function over a stream of batches, on several processes, results in order, memory bounded.

Work goes through `joblib.Parallel`, so whatever backend `joblib.parallel_config` names is used (Dask, Ray, Spark,
threads); without one it is processes of this machine (loky). Batches are sent in rounds, and the next round is read
while this one is worked on. So at most two rounds of batches and one of results are in memory, however slow the reader
of the results is; joblib alone would run ahead of it. Cost: workers wait for each other once a round, less than one
batch in `ROUND`.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from espalier.cluster.extras import need
from espalier.errors import EspalierError, InputError

__all__ = ["ROUND", "ordered_map"]

ROUND = 16
"""Batches a worker has in a round, on average."""

_EXPECTED = (
    "A worker stopped while some jobs were given",  # workers remember words, and loky replaces one that has grown
    r"\d+ tasks (have been successfully executed|which were still being processed)",  # nobody reads on
)

Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item], *, jobs: int) -> Iterator[Result]:
    """Yield `work(item)` for each item, in order; jobs : how many are worked on at a time, 1 for this process alone.

    `work` must be a function that can be pickled, and so must items and results. The first exception of `work`, or of
    the iterable, is raised when its turn comes.
    """
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"jobs is {jobs!r}; expected a whole number of at least 1")
    return map(work, items) if jobs == 1 else _in_rounds(work, items, jobs)


def _in_rounds(work: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    joblib = need("joblib")
    call = joblib.delayed(_attempt)
    coming = _Ahead(items)
    try:
        with warnings.catch_warnings(), joblib.Parallel(n_jobs=jobs, return_as="generator", batch_size=1) as pool:
            for message in _EXPECTED:
                warnings.filterwarnings("ignore", message=message)
            coming.read(ROUND * jobs)
            while batch := coming.take():
                with closing(pool(call(work, item) for item in batch)) as results:
                    for result in results:
                        if isinstance(result, _Raised):
                            raise result.error from _Elsewhere(result.trace)
                        yield result
                        coming.read(1)
    except BrokenExecutor as error:
        raise EspalierError("a worker process died, perhaps for want of memory; try fewer jobs") from error
    coming.finish()


@dataclass(frozen=True, slots=True)
class _Raised:
    """An exception on its way to its turn: joblib would raise it as soon as it is known."""

    error: Exception
    trace: str


class _Elsewhere(Exception):
    """Where in another process an exception was raised."""


def _attempt(work: Callable[[Item], Result], item: Item) -> Result | _Raised:
    try:
        return work(item)
    except Exception as error:
        return _Raised(error, traceback.format_exc())


class _Ahead(Generic[Item]):
    """Items read before they are needed; an error of their source waits until those before it are done."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._source = iter(items)
        self._read: list[Item] = []
        self._error: Exception | None = None

    def read(self, count: int) -> None:
        try:
            for item in islice(self._source, count):
                self._read.append(item)  # not extend: what came before an error counts
        except Exception as error:
            self._error, self._source = error, iter(())

    def take(self) -> list[Item]:
        taken, self._read = self._read, []
        return taken

    def finish(self) -> None:
        if self._error is not None:
            raise self._error

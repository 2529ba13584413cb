"""`ordered_map`: a function over a stream of batches, on several processes, results in order, memory bounded.

Work goes to processes of this machine, by the standard library. Where a program has loaded joblib, it goes through
`joblib.Parallel`, so whatever backend `joblib.parallel_config` names is used (Dask, Ray, Spark, threads). Batches are
read ahead while others are worked on, at most two rounds of them, however slow the reader of the results is. With
joblib workers wait for each other once a round, less than one batch in `ROUND`.

More workers than cores only wait for each other, and each holds a model: so there are at most `A_CORE` for each core of
the backend, and never more than batches.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import signal
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from espalier.errors import EspalierError, InputError, ResultWarning
from espalier.parallel import cores

__all__ = ["A_CORE", "ROUND", "ordered_map"]

ROUND = 16
"""Batches a worker has in a round, on average."""

A_CORE = 2
"""Workers for each core, at most."""

_EXPECTED = (
    "A worker stopped while some jobs were given",  # workers remember words, and loky replaces one that has grown
    r"\d+ tasks (have been successfully executed|which were still being processed)",  # nobody reads on
)

_DIED = "a worker process died, perhaps for want of memory"

Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item], *, jobs: int) -> Iterator[Result]:
    """Yield `work(item)` for each item, in order; jobs : how many are worked on at a time, 1 for this process alone.

    `work` must be a function that can be pickled, and so must items and results. The first exception of `work`, or of
    the iterable, is raised when its turn comes. More jobs than the machine has use for are fewer, and a ResultWarning
    says so; a single item is worked on in this process.
    """
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"jobs is {jobs!r}", hint="expected a whole number of at least 1")
    return map(work, items) if jobs == 1 else _in_rounds(work, items, jobs)


def _in_rounds(work: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    joblib: Any = sys.modules.get("joblib")  # who wants a backend of joblib has loaded it
    here = cores() if joblib is None else max(joblib.effective_n_jobs(-1), 1)  # those of a cluster may be to come
    most = A_CORE * here
    if jobs > most:
        warnings.warn(
            f"jobs={jobs} is more than {here} cores have use for; there are {most} processes",
            ResultWarning,
            stacklevel=2,
        )
    coming = _Ahead(items)
    coming.read(min(jobs, most))
    jobs = min(jobs, most, len(coming))
    if jobs > 1 and joblib is None:
        yield from _on_processes(work, coming, jobs)
    elif jobs > 1:
        coming.read((ROUND - 1) * jobs)
        yield from _on_workers(joblib, work, coming, jobs)
    else:
        yield from map(work, coming.take())
    coming.finish()


def _on_processes(work: Callable[[Item], Result], coming: _Ahead[Item], jobs: int) -> Iterator[Result]:
    """Keep so many processes busy: each result that is taken makes room for another item."""
    # A fork would inherit threads and locks; what is begun anew inherits nothing.
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=gc.get_threshold())
    sent: deque[Future[Result | _Raised]] = deque()
    finished = False
    try:
        while True:
            # The first items start the processes, which takes a second: others are read meanwhile.
            while items := coming.take():
                sent.extend(pool.submit(_attempt, work, item) for item in items)
                if len(sent) < ROUND * jobs:
                    coming.read(1)
            if not sent:
                finished = True
                return
            yield _unpacked(sent.popleft().result())
            coming.read(1)
    except BrokenExecutor as error:
        raise EspalierError(_DIED, hint="try fewer jobs") from error
    except BaseException:  # Ctrl-C, or an error: nobody waits for what the others are at
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        # Who has nothing left to do ends at once; had this process ended meanwhile, Python might print a traceback.
        pool.shutdown(wait=finished, cancel_futures=True)


def _unpacked(result: Result | _Raised) -> Result:
    """Return what another process found; raise what was raised there."""
    if isinstance(result, _Raised):
        raise result.error from _Elsewhere(result.trace)
    return result


def _begin(*objects: int) -> None:
    """Look for garbage as often as the parent does, and not once more in the end; and leave interrupts to the parent.

    Ctrl-C reaches every process of a terminal; the parent says what was kept, and ends the others.
    """
    gc.set_threshold(*objects)
    atexit.register(gc.freeze)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _on_workers(joblib: Any, work: Callable[[Item], Result], coming: _Ahead[Item], jobs: int) -> Iterator[Result]:
    call = joblib.delayed(_attempt)
    try:
        with _hushed(), joblib.Parallel(n_jobs=jobs, return_as="generator", batch_size=1) as pool:
            while batch := coming.take():
                with _ended(pool(call(work, item) for item in batch)) as results:
                    for result in results:
                        yield _unpacked(result)
                        coming.read(1)
    except BrokenExecutor as error:
        raise EspalierError(_DIED, hint="try fewer jobs") from error


@contextmanager
def _hushed() -> Iterator[None]:
    with warnings.catch_warnings():
        for message in _EXPECTED:
            warnings.filterwarnings("ignore", message=message)
        yield


@contextmanager
def _ended(results: Any) -> Iterator[Any]:
    """Close results in the end; where their reader went away, whoever set the filters of warnings may be gone too."""
    try:
        yield results
    finally:
        with _hushed():
            results.close()


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

    def __len__(self) -> int:
        return len(self._read)

    def take(self) -> list[Item]:
        taken, self._read = self._read, []
        return taken

    def finish(self) -> None:
        if self._error is not None:
            raise self._error

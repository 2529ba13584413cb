"""Work in threads: fixed chunks, whose results never depend on how many threads took them.

A compiled kernel releases the interpreter lock, so threads are enough. The chunks are cut by the data alone; every
chunk writes its own outputs; what must be added up is added in the order of the chunks by the caller.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError

__all__ = ["balanced", "choose_threads", "independent_chunks", "run_chunks"]

WORTH_THREADS = 20_000
"""Fewer tokens than this are done sooner than a second thread can help."""

MAX_THREADS = 64

# Module state, on purpose: starting threads costs far more than a training step should wait, so one pool serves all
# calls of a process. It is kept by process id, because a forked child inherits the pool but not its threads.
_pools: dict[int, ThreadPoolExecutor] = {}


def choose_threads(n_tokens: int, threads: int | None = None) -> int:
    """Return the number of threads to use: the given one, or by None one for small work and else one a core."""
    if threads is None:
        return 1 if n_tokens < WORTH_THREADS else min(_cores(), MAX_THREADS)
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise InputError(f"threads is {threads!r}, expected a positive integer, or None to choose by size")
    return min(int(threads), MAX_THREADS)


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def balanced(indptr: NDArray[Any], n_chunks: int) -> list[tuple[int, int]]:
    """Cut the sequences of indptr : int64[N + 1] into at most n_chunks ranges [lo, hi) of about equally many tokens.

    Every sequence is in exactly one range, in order; no range is empty (without sequences there is no range).
    """
    N = len(indptr) - 1
    if N > 0 and n_chunks == 1:
        return [(0, N)]
    targets = np.linspace(indptr[0], indptr[-1], n_chunks + 1)[1:-1]
    inner = np.searchsorted(indptr, targets)
    cuts = np.unique(np.concatenate([[0], np.clip(inner, 0, N), [N]])).tolist()
    return list(itertools.pairwise(cuts))


def independent_chunks(threads: int) -> int:
    """Return into how many pieces to cut work whose pieces are never added up: few, but enough to balance."""
    return 1 if threads == 1 else 4 * threads


def run_chunks(call: Callable[[int], object], n_chunks: int, threads: int) -> None:
    """Call `call(c)` once for every c below n_chunks, on up to `threads` threads, and return when all are done.

    The calling thread works too, so a barrier costs one wake-up of the others. Chunks are handed out in order; after
    a failure no new ones are, and the exception of the lowest failing chunk is raised, with any number of threads.
    """
    helpers = min(threads, n_chunks, MAX_THREADS) - 1
    if helpers < 1:
        for c in range(n_chunks):
            call(c)
        return
    tickets = itertools.count()  # next() on it is atomic
    failures: dict[int, BaseException] = {}

    def work() -> None:
        while not failures:
            c = next(tickets)
            if c >= n_chunks:
                return
            try:
                call(c)
            except BaseException as error:
                failures[c] = error

    pool = _pool()
    started = [pool.submit(work) for _ in range(helpers)]
    work()
    for future in started:
        # A helper that never got a thread has nothing left to do; waiting for it could deadlock nested calls.
        if not future.cancel():
            future.result()
    if failures:
        raise failures[min(failures)]


def _pool() -> ThreadPoolExecutor:
    """Return this process's pool; its threads start when first needed."""
    pool = _pools.get(os.getpid())
    if pool is None:
        pool = _pools.setdefault(os.getpid(), ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="espalier"))
    return pool

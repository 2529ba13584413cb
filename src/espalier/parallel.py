"""Work in threads: fixed chunks, whose results never depend on how many threads took them.

A compiled kernel releases the interpreter lock, so threads are enough. The chunks are cut by the data alone; every
chunk writes its own outputs; what must be added up is added in the order of the chunks by the caller.

One pool of threads serves a process. A helper that wakes too late finds nothing left to do, and nobody waits for it.

The library behind NumPy's matrix products has threads of its own, and each waits for the others by spinning. For
matrices as small as a text's that gains nothing, and beside other work on the same cores a product of microseconds
takes a second. So nets hold them at one thread each (`with one_blas_thread(): ...`), and slices of the work go to
threads of ours. That setting is the process's. It is changed when the first block opens and restored when the last one
closes. OpenBLAS may not listen to a second thread while another holds it, so whoever labels in several threads had
better set OPENBLAS_NUM_THREADS=1 before NumPy is loaded, as the command line and the server do.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError

__all__ = ["balanced", "choose_threads", "cores", "independent_chunks", "one_blas_thread", "run_chunks"]

WORTH_THREADS = 8_000
"""Fewer tokens than this are done sooner than a second thread can help."""

MAX_THREADS = 64

# Module state, on purpose: starting threads costs far more than a training step should wait, so the same ones serve all
# calls of a process.
_pool: list[ThreadPoolExecutor] = []
_in_use = threading.Lock()


def choose_threads(n_tokens: int, threads: int | None = None) -> int:
    """Return the number of threads to use: the given one, or by None one for small work and else one a core."""
    if threads is None:
        return 1 if n_tokens < WORTH_THREADS else min(cores(), MAX_THREADS)
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise InputError(f"threads is {threads!r}, expected a positive integer, or None to choose by size")
    return min(int(threads), MAX_THREADS)


def cores() -> int:
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

    The calling thread works too. Chunks are handed out in order; after a failure no new ones are, and the exception of
    the lowest failing chunk is raised: the same for any number of threads. Only one call at a time has helpers: a call
    from inside a chunk, or from another thread meanwhile, does its work alone.
    """
    n_helpers = min(threads, n_chunks, MAX_THREADS) - 1
    lock = _in_use  # by name: a fork inside a chunk gives the child another one
    if n_helpers < 1 or not lock.acquire(blocking=False):
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

    try:
        if not _pool:
            _pool.append(ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="espalier"))
        helpers = [_pool[0].submit(work) for _ in range(n_helpers)]
        work()
        wait([helper for helper in helpers if not helper.cancel()])
    finally:
        lock.release()
    if failures:
        raise failures[min(failures)]


class _Setting:
    """How many blocks are open, and what undoes the setting when the last of them closes."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open = 0
        self.controller: Any = None
        self.undo: Any = None

    def enter(self) -> None:
        with self.lock:
            limit = self._limited()  # by every thread: some libraries remember what a thread itself has set
            if self.undo is None:
                self.undo = limit
            self.open += 1

    def leave(self) -> None:
        with self.lock:
            self.open -= 1
            if self.open == 0 and self.undo is not None:
                self._let_go()  # the block that began it may be another thread's
                self.undo.restore_original_limits()
                self._let_go()
                self.undo = None

    def _let_go(self) -> None:
        """Let any thread set the number next: threadpoolctl from 3.7 on obeys the first that did, until told so."""
        for library in self.controller.lib_controllers:
            forget = getattr(library, "clear_controlling_thread", None)
            if forget is not None:
                forget(force=True)

    def _limited(self) -> Any:
        if self.controller is None:
            try:
                from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]
            except ImportError:  # nothing to hold them with: what is computed is the same, but may take longer
                return None
            self.controller = ThreadpoolController().select(user_api="blas")  # looks through the libraries: once
        if all(library.get_num_threads() == 1 for library in self.controller.lib_controllers):
            return None  # as it should be
        return self.controller.limit(limits=1)


_setting = _Setting()  # module state, on purpose: the number of threads is the process's, too


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold matrix products at one thread each, as long as this is open."""
    setting = _setting  # by name: a fork meanwhile gives the child another one
    setting.enter()
    try:
        yield
    finally:
        setting.leave()


def _start_afresh() -> None:
    """Forget the pool, locks and open blocks: a forked child inherits them, but not the threads behind them."""
    global _in_use, _setting
    _pool.clear()
    _in_use = threading.Lock()
    _setting = _Setting()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)

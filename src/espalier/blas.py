"""Matrix products on one thread each, for as long as a block is open: `with one_blas_thread(): ...`

The library behind NumPy's products has threads of its own, and each waits for the others by spinning. For matrices as
small as a text's that gains nothing, and beside other work on the same cores a product of microseconds takes a second.
Whoever wants several cores gives slices of the work to threads, which are Python's.

The setting is the process's. It is changed when the first block opens and restored when the last one closes. OpenBLAS
may not listen to a second thread while another holds it, so whoever labels in several threads had better set
OPENBLAS_NUM_THREADS=1 before NumPy is loaded, as the command line and the server do.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["one_blas_thread"]


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
            if self.open == 0:
                self.undo = limit
            self.open += 1

    def leave(self) -> None:
        with self.lock:
            self.open -= 1
            if self.open == 0 and self.undo is not None:
                self.undo.restore_original_limits()
                self.undo = None

    def _limited(self) -> Any:
        if self.controller is None:
            try:
                from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]
            except ImportError:  # nothing to hold them with: what is computed is the same, but may take longer
                return None
            self.controller = ThreadpoolController()  # looks through the loaded libraries: once a process
        return self.controller.limit(limits=1, user_api="blas")


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
    """Forget the lock and what is open: a forked child inherits them, but not the threads that would close it."""
    global _setting
    _setting = _Setting()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)

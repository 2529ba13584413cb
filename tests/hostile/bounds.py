"""A limit on the time of a block, generous enough for a busy machine: what it forbids is not slowness but growth."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Fail if the block took more of the processor's time."""
    start = time.process_time()
    try:
        yield
    finally:
        spent = time.process_time() - start
        assert spent < seconds, f"{spent:.1f} seconds"

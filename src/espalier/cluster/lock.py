"""One run at a time in a directory of results.

A run begins with removing what earlier ones left half-written, which it cannot tell from what another one is writing at
this moment. So on a local disk it holds a lock on the directory for as long as it lives; the operating system takes the
lock back from a process that died. Object stores have no such lock. Two runs at a time do no damage there, since each
writes under hidden names of its own, but they may have to do partitions again, or set them aside.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from espalier.cluster.extras import need
from espalier.cluster.stores import Store
from espalier.errors import InputError

__all__ = ["alone"]

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]


@contextmanager
def alone(store: Store) -> Iterator[None]:
    """Have a directory for oneself, which is made if it is not there; one that another run has is refused."""
    if fcntl is None or not isinstance(store.fs, need("fsspec.implementations.local").LocalFileSystem):
        yield
        return
    try:
        store.make()
        directory = os.open(store.root, os.O_RDONLY)
    except OSError as error:
        raise InputError(f"{store.address} cannot be a directory of results: {error.strerror}") from None
    try:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{store.address}: another run is writing there; wait until it has ended, or name another output"
            ) from None
        except OSError:  # a network disk without locks
            pass
        yield
    finally:
        os.close(directory)

"""What the tests of work over processes share: functions that workers import, and a Dask cluster."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from espalier.errors import InputError


def prepared(common, data):
    """Make a part: the process that did it, what all share, and the data."""
    return os.getpid(), common, data


def added(part, state, factor):
    """Return the sum of the part, times a factor, and how often it was asked; the state counts that."""
    asked = 1 if state is None else state + 1
    return (part[1] * factor * np.asarray(part[2]).sum(), asked), asked


def who(part, _):
    """Return which process prepared the part and which one works on it."""
    return (part[0], os.getpid()), None


def complains(part, _, number):
    """Raise on the part that holds a number."""
    if number in part[2]:
        raise InputError(f"{number} is not wanted")
    return (0,), None


def dies(part, _, number):
    """End the process on the part that holds a number, as one that is killed for want of memory."""
    if number in part[2]:
        os._exit(9)
    return (1,), None


@contextmanager
def dask_workers(n: int = 2) -> Iterator[object]:
    """Start a cluster of processes of one thread each, and yield its client."""
    import dask
    from distributed import Client, LocalCluster

    with warnings.catch_warnings(), dask.config.set({"distributed.worker.daemon": True}):
        warnings.simplefilter("ignore")  # those of other people's packages
        cluster = LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None)
        client = Client(cluster)
    try:
        yield client
    finally:
        client.close()
        cluster.close()

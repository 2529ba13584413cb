"""The engine: a Dask cluster that hands partitions to workers.

Partitions do not depend on each other, so the engine is asked for little: to hand them out, to try again those that
fail, and to give those of a lost worker to another. At most `IN_FLIGHT` of them are with the scheduler at a time,
however many there are. The model file goes to each worker once, also to one that joins late. Where no cluster is named,
it is processes of this machine, one thread each.
"""

from __future__ import annotations

import logging
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from espalier.cluster.job import Job
from espalier.cluster.partition import Entry, run_partition
from espalier.cluster.plan import Partition
from espalier.cluster.stores import NO_ROOM, need
from espalier.errors import EspalierError, InputError

__all__ = ["FOR_SCHEDULER", "FOR_WORKER", "IN_FLIGHT", "connected", "outcomes", "uninterrupted"]

IN_FLIGHT = 2_000
"""Partitions that the scheduler knows of at a time."""

FOR_SCHEDULER, FOR_WORKER = 5.0, 60.0
"""Seconds to wait for a scheduler, which is there or not, and for a first worker, which may still be starting."""


def outcomes(client: Any, job: Job, todo: Sequence[Partition]) -> Iterator[tuple[Partition, Entry | BaseException]]:
    """Yield each partition with its entry or its error, as they finish; after want of room begin no more."""
    distributed = need("distributed")
    name = _upload(client, job)
    coming, running = iter(todo), {}

    def submit() -> list[Any]:
        partition = next(coming, None)
        if partition is None:
            return []
        future = client.submit(_work, job, name, partition, pure=False, retries=job.settings.retries)
        running[future.key] = partition
        return [future]

    futures = distributed.as_completed([future for _ in range(IN_FLIGHT) for future in submit()])
    for future in futures:
        partition = running.pop(future.key)
        if future.cancelled():
            raise EspalierError("the scheduler went away", hint="finished partitions stay: run the same command again")
        error = future.exception()
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            coming = iter(())
        yield partition, future.result() if error is None else error.with_traceback(future.traceback())
        del future  # so that the scheduler forgets it
        for following in submit():
            futures.add(following)


def _upload(client: Any, job: Job) -> str:
    """Give the model file to every worker, now or when it joins, and return its name there."""
    plugins = need("distributed.diagnostics.plugin")
    name = f"{job.labeller.digest}.espalier"
    with tempfile.TemporaryDirectory() as directory:
        client.register_plugin(
            plugins.UploadFile(shutil.copy(job.labeller.path, Path(directory) / name), load=False), name
        )
    return name


def _work(job: Job, name: str, partition: Partition) -> Entry:
    """Do a partition on a worker, with the model file that was put there."""
    path = Path(need("distributed").get_worker().local_directory) / name
    return run_partition(replace(job, labeller=replace(job.labeller, path=str(path))), partition)


@contextmanager
def connected(cluster: str | None, workers: int | None, wait: float | None, most: int) -> Iterator[Any]:
    """Connect to a cluster, or start one of at most so many processes; wait : seconds, see `run_job`."""
    distributed = need("distributed")
    if cluster is not None:
        patience = FOR_SCHEDULER if wait is None else wait
        with _hushed():
            try:
                client = distributed.Client(cluster, timeout=patience)
            except OSError:
                raise InputError(
                    f"no Dask scheduler answers at {cluster} within {patience:g} seconds",
                    hint=("is the address right? --wait SECONDS waits longer for one that is starting"),
                ) from None
            except (ValueError, TypeError) as error:
                raise InputError(f"{cluster} is no address of a Dask scheduler: {error}") from None
            with client:
                _check_workers(client, cluster, FOR_WORKER if wait is None else wait)
                yield client
        return
    # A worker's profiler remembers where it was at every moment of the last hour: some hundred MB that nobody asks for.
    with need("dask").config.set({"distributed.worker.profile.enabled": False}), uninterrupted():
        local = distributed.LocalCluster(
            n_workers=workers and min(workers, most),
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # any free port, for those who look
            silence_logs=logging.CRITICAL,
        )
    with local, distributed.Client(local) as client:
        yield client


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started here: the terminal sends it to all, and each would print a traceback.

    A blocked signal stays blocked in processes and threads that begin now; this one gets it afterwards.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which unblocks the signal when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep the engine from telling every lost connection in full; what it means for the job is in the report."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _check_workers(client: Any, cluster: str, patience: float) -> None:
    """Refuse a cluster that has no worker, or workers with another espalier."""
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise EspalierError(
            f"no worker has joined the scheduler at {cluster} in {patience:g} seconds",
            hint="--wait SECONDS waits longer",
        ) from None
    try:
        versions = set(client.run(_version).values())
    except Exception as error:  # whatever a worker says that cannot even import this module
        raise EspalierError(f"the workers at {cluster} cannot use espalier: {error}", hint="install it there") from None
    if versions != {_version()}:
        raise EspalierError(
            f"the workers at {cluster} have espalier {', '.join(sorted(versions))}, here is {_version()}"
        )


def _version() -> str:
    return str(need("espalier").__version__)

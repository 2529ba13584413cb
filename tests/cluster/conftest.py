"""One Dask cluster of two processes for all tests, started when the first one asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def scheduler() -> Iterator[str]:
    """The address of a scheduler whose workers may be killed: they come back."""
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster,
    ):
        yield str(cluster.scheduler_address)

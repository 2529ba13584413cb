"""Parts on a cluster: Dask's workers hold them, and answer as one process would."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from joblib import parallel_config

import espalier as es
from espalier.distributed import workers
from espalier.distributed.shards import n_workers, shards_of
from espalier.distributed.workers import ShardsInFutures
from espalier.errors import EspalierError, InputError
from sharded_learners import FEW, LABELS, LEARNERS, figures, learn, records, short_of
from sharded_work import added, complains, dask_workers, dies, prepared, who

DATA = [[1, 2], [3], [], [4, 5, 6], [7]]


@pytest.fixture(scope="module")
def cluster():
    with dask_workers() as client:
        yield client


@pytest.fixture
def _dask(cluster):
    with parallel_config("dask", client=cluster, wait_for_workers_timeout=30):
        yield


pytestmark = pytest.mark.usefixtures("_dask")


def test_answers_and_states_stay_on_the_cluster() -> None:
    with shards_of(DATA, prepared, common=10, jobs=2) as shards:
        assert isinstance(shards, ShardsInFutures)
        assert shards.replies(added, 1) == [(30, 1), (30, 1), (0, 1), (150, 1), (70, 1)]
        assert shards.total(added, 2) == (560, 10)
        assert shards.total(added, factor=1) == (280, 15)
        makers, answering = zip(*shards.replies(who), strict=True)
        assert makers == answering  # a part is worked on where it is
        assert os.getpid() not in answering
        with pytest.raises(InputError, match="in the part that begins with sequence 3: 5 is not wanted"):
            shards.total(complains, 5)
        assert shards.total(added, 1)[1] == 5  # `who` had no state, and an error changes none
    assert n_workers(-1) == 2


@pytest.mark.parametrize("name", ["em", "codl", "pr"])
def test_learners_find_the_same_bits(name) -> None:
    ours, theirs = learn(LEARNERS[name], -1), learn(LEARNERS[name], 1)
    assert all(map(np.array_equal, figures(ours), figures(theirs)))
    assert ours.history_ == theirs.history_


@pytest.mark.parametrize("name", ["codl", "pr"])
def test_a_crf_that_workers_teach_has_the_same_bits(name) -> None:
    ours, theirs = (learn(short_of(name, 4), jobs) for jobs in (-1, 1))
    assert all(map(np.array_equal, figures(ours), figures(theirs)))
    assert ours.history_ == theirs.history_


def test_a_crf_has_the_same_bits() -> None:
    ours, theirs = (es.CRF(["lower[-1,0]"], max_iterations=10, jobs=jobs).fit(FEW) for jobs in (2, 1))
    assert np.array_equal(ours.weights_.w, theirs.weights_.w)
    assert np.array_equal(ours.weights_.trans, theirs.weights_.trans)
    assert ours.minimum_.values == theirs.minimum_.values


def test_rules_found_are_the_same() -> None:
    dev, model = records(60, 3), es.HMM().fit(FEW, labels=LABELS)
    assert es.discover(dev, model, jobs=2) == es.discover(dev, model)


@pytest.mark.parametrize("wait", [0.0, 1.0])  # for the cluster to notice
def test_a_worker_that_dies_between_two_requests(wait) -> None:
    with shards_of(DATA, prepared, common=1, jobs=2) as shards:
        os.kill(shards.replies(who)[0][1], signal.SIGKILL)
        time.sleep(wait)
        with pytest.raises(EspalierError, match="a worker of the cluster died with its part of the data"):
            shards.total(added, 1)


def test_a_worker_that_dies_at_work() -> None:
    with (
        shards_of(DATA, prepared, common=1, jobs=2) as shards,
        pytest.raises(EspalierError, match="so there is no sum; fit again"),
    ):
        shards.total(dies, 4)
    with shards_of(DATA, prepared, common=1, jobs=2) as shards:  # the cluster has new workers
        assert shards.total(added, 1)[0] == 28


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_worker_that_dies_while_data_are_handed_out(times, cluster, monkeypatch) -> None:
    """The scheduler looks for a worker that it no longer has: a KeyError of its own."""
    left, scatter = [times], cluster.scatter

    def scatters(*args, **named):
        left[0] -= 1
        if left[0] >= 0:
            raise KeyError("tcp://127.0.0.1:1")
        return scatter(*args, **named)

    monkeypatch.setattr(cluster, "scatter", scatters)
    monkeypatch.setattr(workers, "_PAUSE", 0.0)
    if times == 3:
        with pytest.raises(EspalierError, match="could not be handed to the cluster in 3 tries"):
            shards_of(DATA, prepared, common=1, jobs=2)
    else:
        with shards_of(DATA, prepared, common=1, jobs=2) as shards:
            assert shards.total(added, 1)[0] == 28

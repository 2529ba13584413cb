"""Parts over processes: the same sums wherever they are made, states that stay, and no sum where a worker died."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config

import espalier.distributed.workers as memory
from espalier.corpus import Corpus
from espalier.distributed.shards import corpus_parts, fixed_parts, n_workers, shards_of
from espalier.distributed.workers import ShardsInFolder, _answer_from_folder
from espalier.errors import EspalierError, InputError, MissingExtraError
from espalier.learning.jobs import check_jobs
from sharded_learners import records
from sharded_work import added, complains, dies, prepared, who

DATA = [[1, 2], [3], [], [4, 5, 6], [7]]


@pytest.fixture(params=["here", "loky", "threading"])
def jobs(request):
    """Put a joblib backend in force; the value is the number of jobs that leads there."""
    if request.param == "here":
        yield 1
    else:
        with parallel_config(request.param):
            yield 2


lengths = st.lists(st.integers(0, 4000), max_size=120)


@given(lengths)
@settings(max_examples=60, derandomize=True, deadline=None)
def test_parts_are_ranges_that_cover_all_sequences(lengths) -> None:
    cuts = fixed_parts(np.append(0, np.cumsum(np.array(lengths, np.int64))).astype(np.int64))
    assert [i for lo, hi in cuts for i in range(lo, hi)] == list(range(len(lengths)))
    assert 1 <= len(cuts) <= 64


def test_how_many_parts() -> None:
    assert len(fixed_parts(np.arange(0, 1001, 10))) == 8  # few tokens: some parts all the same
    assert len(fixed_parts(np.arange(0, 200_001, 10))) == 20  # of 10,000 tokens
    assert len(fixed_parts(np.arange(0, 2_000_001, 100))) == 64  # and no more than that
    assert fixed_parts(np.zeros(1, np.int64)) == [(0, 0)]


def test_a_part_of_a_corpus_has_its_own_words() -> None:
    corpus = records(30, 0)
    parts = corpus_parts(corpus, [(0, 10), (10, 30)])
    assert [tokens for part in parts for tokens in part] == list(corpus)
    assert [y for part in parts for y in part.all_labels()] == corpus.all_labels()
    assert all(set(part.types) == {word for tokens in part for word in tokens} for part in parts)
    assert len(corpus_parts(Corpus.from_tokens([["a"], []]), [(1, 2)])[0].types) == 0


def test_the_same_answers_and_states_everywhere(jobs) -> None:
    with shards_of(DATA, prepared, common=10, jobs=jobs) as shards:
        assert shards.replies(added, 1) == [(30, 1), (30, 1), (0, 1), (150, 1), (70, 1)]
        assert shards.total(added, 2) == (560, 10)  # 2 · 10 · 28, and everybody's second time
        assert shards.total(added, factor=1) == (280, 15)


def test_floats_are_added_in_the_order_of_the_parts(jobs) -> None:
    data = [[0.1], [0.2], [0.3], [1e16], [-1e16], [0.7]]
    with shards_of(data, prepared, common=1.0, jobs=jobs) as shards:
        total = shards.total(added, 1.0)[0]
    assert total == ((((0.1 + 0.2) + 0.3) + 1e16) - 1e16) + 0.7


def test_errors_say_where_and_change_no_state(jobs) -> None:
    with shards_of(DATA, prepared, common=1, jobs=jobs, first=[0, 10, 20, 30, 40]) as shards:
        assert shards.total(added, 1) == (28, 5)
        with pytest.raises(InputError, match="in the part that begins with sequence 30: 5 is not wanted"):
            shards.total(complains, 5)
        assert shards.total(added, 1) == (28, 10)


def test_a_part_is_prepared_once_a_process() -> None:
    with shards_of(DATA, prepared, common=1, jobs=2) as shards:
        pairs = [pair for _ in range(3) for pair in shards.replies(who)]
        assert all(maker == worker != os.getpid() for maker, worker in pairs)


def test_no_more_processes_than_parts_or_twice_the_cores() -> None:
    cores = len(os.sched_getaffinity(0))
    for parts in (2, 5, 1000):
        with shards_of([[n] for n in range(parts)], prepared, common=1, jobs=100_000) as shards:
            assert isinstance(shards, ShardsInFolder)
            assert shards._jobs == min(parts, 2 * cores)


def test_the_runs_last_used_are_remembered() -> None:
    """A learner with parts of two kinds, of which one is handed out anew again and again, keeps the other."""
    load, number = [], pickle.dumps((prepared, 0))

    def part(run: str) -> None:
        def data() -> bytes:
            load.append(run)
            return pickle.dumps([])

        memory.prepared(run, 0, lambda: number, data)

    for turn in range(4):
        part("stays-test")
        part(f"comes-{turn}-test")
    assert load == ["stays-test", *(f"comes-{turn}-test" for turn in range(4))]


def test_a_worker_that_dies_gives_no_sum() -> None:
    with (
        shards_of(DATA, prepared, common=1, jobs=2) as shards,
        pytest.raises(EspalierError, match=r"a worker process died, twice, .* so there is no sum; fit again"),
    ):
        shards.total(dies, 4)


def test_a_worker_that_dies_once_is_replaced() -> None:
    with shards_of(DATA, prepared, common=1, jobs=2) as shards:
        shards.total(added, 1)
        os.kill(shards.replies(who)[0][1], signal.SIGKILL)
        assert shards.total(added, 1)[0] == 28  # the files are still there


def test_files_are_gone_afterwards(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with shards_of(DATA, prepared, common=1, jobs=2) as shards:
        shards.total(added, 1)
        (folder,) = tmp_path.glob("espalier-*")
        names = {path.name for path in folder.iterdir()}
        assert names == {"common", "request"} | {f"part{k}" for k in range(5)} | {f"state{k}.1" for k in range(5)}
    assert not list(tmp_path.glob("espalier-*"))
    with pytest.raises(InputError, match="cannot be sent"):
        shards_of([lambda: 0], prepared, common=1, jobs=2)
    assert not list(tmp_path.glob("espalier-*"))


def test_a_folder_that_a_worker_cannot_see() -> None:
    with pytest.raises(EspalierError, match=r"cannot see .*; set TMPDIR to a directory that all machines share"):
        _answer_from_folder(str(Path("nowhere", "espalier-x")), 0, 1, 0, 0)


def test_what_cannot_be_sent(jobs) -> None:
    with pytest.raises(InputError, match=r"cannot be sent to another process: .*must be importable, or leave out jobs"):
        shards_of([1], prepared, common=lambda: 0, jobs=jobs)
    with (
        shards_of(DATA, prepared, common=1, jobs=jobs) as shards,
        pytest.raises(InputError, match="cannot be sent to another process"),
    ):
        shards.total(lambda part, _: ((1,), None))


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, "2"])
def test_numbers_of_jobs_that_make_no_sense(jobs) -> None:
    with pytest.raises(InputError, match=r"jobs is .*; expected None, a number of processes, or -1"):
        check_jobs(jobs)
    with pytest.raises(InputError, match="jobs is"):
        shards_of(DATA, prepared, common=1, jobs=jobs)


def test_all_the_processes_there_are() -> None:
    assert n_workers(1) == 1
    assert n_workers(3) == 3
    assert n_workers(-1) == len(os.sched_getaffinity(0))


def test_without_joblib(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "joblib.parallel", None)
    assert shards_of(DATA, prepared, common=1, jobs=1).total(added, 1)[0] == 28
    with pytest.raises(MissingExtraError, match=r"jobs=2 needs joblib: pip install 'espalier-nlp\[cluster\]'"):
        shards_of(DATA, prepared, common=1, jobs=2)

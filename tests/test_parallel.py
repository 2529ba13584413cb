"""Chunks cover everything once; threads change nothing but the time."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier import parallel
from espalier.errors import InputError
from espalier.parallel import balanced, choose_threads, run_chunks


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 12))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_chunks_cover_every_sequence_once_in_order(lengths, n_chunks):
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    chunks = balanced(indptr, n_chunks)
    assert len(chunks) <= n_chunks
    assert all(lo < hi for lo, hi in chunks)
    assert [i for lo, hi in chunks for i in range(lo, hi)] == list(range(len(lengths)))
    for lo, hi in chunks:  # off the ideal size by less than one sequence
        assert indptr[hi] - indptr[lo] < indptr[-1] / n_chunks + max(lengths) + 1


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n_chunks", [0, 1, 2, 7])
def test_every_chunk_is_called_once(threads, n_chunks):
    calls = []
    run_chunks(calls.append, n_chunks, threads)
    assert sorted(calls) == list(range(n_chunks))


def test_threads_do_work_at_the_same_time():
    meet = threading.Barrier(2, timeout=30)
    run_chunks(lambda c: meet.wait(), 2, 2)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_lowest_failing_chunk_is_reported(threads):
    def call(c):
        if c >= 3:
            raise ValueError(f"chunk {c}")

    for _ in range(20):
        with pytest.raises(ValueError, match="chunk 3"):
            run_chunks(call, 8, threads)


def test_after_a_failure_no_new_chunks_are_handed_out():
    calls = []

    def call(c):
        calls.append(c)
        raise KeyError(c)

    with pytest.raises(KeyError):
        run_chunks(call, 1000, 2)
    assert len(calls) <= 2


def test_nested_calls_finish():
    calls = []
    run_chunks(lambda c: run_chunks(lambda d: calls.append((c, d)), 4, 4), 4, 4)
    assert sorted(calls) == [(c, d) for c in range(4) for d in range(4)]


def test_calls_from_many_threads_finish():
    totals = []

    def caller():
        for n in range(200):
            done = []
            run_chunks(done.append, n % 5, 3)
            totals.append(len(done) == n % 5)

    callers = [threading.Thread(target=caller) for _ in range(4)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert totals == [True] * 800


def test_helpers_sleep_and_wake_again():
    for pause in (0.0, 0.05, 0.0, 0.05):
        meet = threading.Barrier(2, timeout=30)
        run_chunks(lambda c, meet=meet: meet.wait(), 2, 2)
        time.sleep(pause)


def test_all_calls_share_one_pool():
    run_chunks(lambda c: None, 4, 2)
    (pool,) = parallel._pool
    run_chunks(lambda c: None, 8, 3)
    assert parallel._pool == [pool]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_its_own_pool():
    run_chunks(lambda c: None, 4, 2)  # the parent's threads exist
    child = os.fork()
    if child == 0:
        meet = threading.Barrier(2, timeout=20)
        try:
            run_chunks(lambda c: meet.wait(), 2, 2)  # passes only if a second thread really runs
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_threads_are_chosen_by_size():
    assert choose_threads(100) == 1
    assert 1 <= choose_threads(10**6) <= (os.cpu_count() or 1)
    assert choose_threads(100, 3) == 3


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_a_wrong_number_of_threads_is_refused(threads):
    with pytest.raises(InputError, match="positive integer"):
        choose_threads(10, threads)

"""Matrix products on one thread: in nested blocks, after errors, in other threads, and in a forked child."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from espalier.parallel import one_blas_thread


def counts() -> list[int]:
    assert np.ones((2, 2)) @ np.ones(2) is not None  # the library is there
    return [library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()]


@pytest.fixture
def usual():
    """How many threads products have outside of blocks: two, whatever the tests were started with."""
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        found = set(counts())
        if found == {1}:
            pytest.skip("products have one thread anyway")
        yield found


def test_blocks_nest(usual) -> None:
    with one_blas_thread():
        assert set(counts()) == {1}
        with one_blas_thread():
            assert set(counts()) == {1}
        assert set(counts()) == {1}
    assert set(counts()) == usual


def test_an_error_closes_a_block(usual) -> None:
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert set(counts()) == usual


def test_any_thread_may_open_a_block(usual) -> None:
    with one_blas_thread():
        pass

    def held() -> set[int]:
        with one_blas_thread():
            return set(counts())

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(held).result() == {1}
        assert set(counts()) == usual


def test_the_last_block_that_closes_may_be_of_another_thread(usual) -> None:
    opened, closed = threading.Event(), threading.Event()

    def outlasts() -> None:
        with one_blas_thread():
            opened.set()
            closed.wait(60)

    with ThreadPoolExecutor(1) as pool:
        with one_blas_thread():
            other = pool.submit(outlasts)
            assert opened.wait(60)
        assert set(counts()) == {1}
        closed.set()
        other.result()
        assert set(counts()) == usual


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_in_a_block_can_open_one() -> None:
    with one_blas_thread():
        child = os.fork()
        if child == 0:
            with one_blas_thread():
                os._exit(0 if set(counts()) == {1} else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

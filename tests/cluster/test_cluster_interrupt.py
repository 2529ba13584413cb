"""Ctrl-C reaches the process that started the workers, and none of them."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from espalier.cluster.engine import uninterrupted

BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked here")
def test_processes_that_are_started_do_not_hear_it() -> None:
    def started() -> str:
        return subprocess.run(
            [sys.executable, "-c", BLOCKED], check=True, capture_output=True, text=True
        ).stdout.strip()

    with uninterrupted():
        assert started() == "True"
    assert started() == "False"


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked here")
def test_this_process_hears_it_afterwards() -> None:
    with pytest.raises(KeyboardInterrupt):
        _interrupted()


def _interrupted() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            waited = True
        raise AssertionError(f"nobody heard it, {waited}")
    finally:
        signal.signal(signal.SIGINT, before)

"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Threads of matrix products wait by spinning: beside a second process of tests they would keep the cores from it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("ESPALIER_QUIET", "1")  # a first run compiles, and says so where tests look at stderr

REASON = "needs the shared data sets (set ESPALIER_DATA)"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The shared data sets: $ESPALIER_DATA, else ../shared/data beside the repository.

    A test that asks for them skips where there are none. A path that was set on purpose and leads
    nowhere is a mistake, and fails.
    """
    chosen = os.environ.get("ESPALIER_DATA")
    directory = Path(chosen) if chosen else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not directory.is_dir():
        if chosen:
            pytest.fail(f"ESPALIER_DATA is {chosen!r}, which is not a directory")
        pytest.skip(REASON)
    return directory

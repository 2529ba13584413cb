"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
from collections import Counter
from pathlib import Path

import pytest

# Threads of matrix products wait by spinning: beside a second process of tests they would keep the cores from it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("ESPALIER_QUIET", "1")  # a first run compiles, and says so where tests look at stderr

REASON = "needs the shared data sets (set ESPALIER_DATA)"


LONG = (
    "test_scripts.py",
    "test_docs_tutorial.py",
    "test_readme.py",
    "test_crashes.py",
    "test_determinism.py",
    "test_docs_architecture.py",
    "test_cli_resume.py",
    "test_cli_run.py",
    "test_cli_warm.py",
    "test_workbench_load.py",
    "test_workbench_serve.py",
    "test_workbench_training.py",
    "test_server_workers.py",
)
"""Files with few tests that take long."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where two processes share the files, begin with what takes long, so that both end at about the same time.

    By itself `--dist loadfile` begins with the files that have the most tests, and ends with a long one.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        tests = Counter(item.path for item in items)
        long = {path for path in tests if path.name in LONG or path.parent.name == "browser"}
        items.sort(key=lambda item: (item.path not in long, -tests[item.path]))


def pytest_collection_finish() -> None:
    """What was imported and collected stays: looking for garbage among it again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()


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

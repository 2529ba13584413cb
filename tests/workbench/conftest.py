"""Servers for the tests: what a browser would talk to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from workbench_server import RULES, Running

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """One server for all tests that do not mind each other: each makes its own task."""
    running = Running(tmp_path_factory.mktemp("shared") / "project")
    yield running.client
    running.stop()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start servers of one's own; they are stopped in the end."""
    started: list[Running] = []

    def begin(project: Path | None = None, **options: Any) -> Running:
        started.append(Running(tmp_path / "project" if project is None else project, **options))
        return started[-1]

    yield begin
    for running in started:
        running.stop()


@pytest.fixture
def task(api: httpx.Client) -> str:
    """A new task with the labels item and price."""
    name = f"task-{next(_NUMBERS)}"
    done = api.post("/tasks", json={"name": name, "labels": ["item", "price"], "rules": RULES})
    assert done.status_code == 201, done.text
    return name

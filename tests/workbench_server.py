"""A server on a free port, in a thread, and what the tests of the server and the workbench do over and over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from espalier.server.transport import configured
from espalier.workbench.app import PREFIX, create_app

_NUMBERS = count(1)
HEADERS = {"X-Espalier": "1"}
RULES = 'Dollar: token in "$" -> price\nOnce: price once [penalty 2]\n'


class Running:
    """A server in a thread, and a client that knows the manners."""

    def __init__(self, project: Path, create: Callable[..., FastAPI] = create_app, **options: Any) -> None:
        self.app = create(project, **options)
        config = configured(self.app, port=0, log_level="critical")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        port = self.server.servers[0].sockets[0].getsockname()[1]
        self.origin = f"http://127.0.0.1:{port}"
        self.client = httpx.Client(base_url=f"{self.origin}{PREFIX}", headers=HEADERS, timeout=60)

    def stop(self) -> None:
        self.client.close()
        self.server.should_exit = True
        self.thread.join(timeout=20)


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


def finished(api: httpx.Client, job: int, seconds: float = 60) -> dict[str, Any]:
    """Wait for the end of a job."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found: dict[str, Any] = api.get(f"/jobs/{job}").json()
        if found["state"] in ("done", "failed", "cancelled"):
            return found
        time.sleep(0.1)
    raise AssertionError(f"job {job} did not end: {found}")


def wares(n: int) -> list[tuple[str, list[dict[str, Any]]]]:
    """Texts such as 'chair 12 $' with their fields."""
    things = ("chair", "lamp", "oak table", "blue vase", "old clock", "spoon", "red carpet")
    found = []
    for i in range(n):
        thing = things[i % len(things)]
        text = f"{thing} {10 + i} $"
        cut = len(thing)
        fields = [{"label": "item", "start": 0, "end": cut}, {"label": "price", "start": cut + 1, "end": len(text)}]
        found.append((text, fields))
    return found


def corrected_wares(api: httpx.Client, task: str, n: int, more: int = 0) -> list[int]:
    """Add texts, correct the first n, and return the numbers of all."""
    texts = wares(n + more)
    ids: list[int] = api.post(f"/tasks/{task}/records", json={"text": "\n".join(t for t, _ in texts)}).json()["added"]
    for id, (_, fields) in list(zip(ids, texts, strict=True))[:n]:
        done = api.put(f"/tasks/{task}/records/{id}/fields", json={"fields": fields})
        assert done.status_code == 200, done.text
    return ids

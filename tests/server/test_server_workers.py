"""Several processes on one project: what one has written the others read, jobs run once, and who dies is replaced."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from espalier.workbench.app import create_app
from espalier.workbench.jobs import Jobs
from workbench_server import HEADERS, Running, corrected_wares, finished

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SO_REUSEPORT")


def until(is_so: Callable[[], Any], seconds: float = 90) -> Any:
    """Wait until something is so, and return what it is."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = is_so()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it never was")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of two processes, and its address."""
    command = [sys.executable, "-m", "espalier", "serve", "--project", str(tmp_path / "p"), "--port", "0"]
    process = subprocess.Popen([*command, "--workers", "2"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process, process.stdout.readline().strip()
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def worker_of(client: httpx.Client) -> str | None:
    try:
        found = re.search(r'worker="(\d)"', client.get("/metrics").text)
    except httpx.HTTPError:
        return None
    return found[1] if found else None


def both(address: str) -> dict[str, httpx.Client]:
    """Return a kept connection to each of the processes."""
    clients: dict[str, httpx.Client] = {}

    def connected() -> bool:
        client = httpx.Client(base_url=address, headers=HEADERS, timeout=60)
        worker = worker_of(client)
        if worker is None or worker in clients:
            client.close()
        else:
            clients[worker] = client
        return len(clients) == 2

    until(connected)
    return clients


def children(process: subprocess.Popen[str]) -> list[int]:
    """Return the servers that any thread of this one has started; readers of documents are none."""
    listed = Path(f"/proc/{process.pid}/task").glob("*/children")
    pids: list[int] = []
    for file in listed:
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended since
            pids += map(int, file.read_text().split())
    return [pid for pid in pids if b"espalier.workbench.app" in command_of(pid)]


def command_of(pid: int) -> bytes:
    """Return what a process runs, nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_two_processes_and_one_that_dies(server: tuple[subprocess.Popen[str], str]) -> None:
    process, address = server
    clients = both(address)
    made = clients["1"].post("/api/v1/tasks", json={"name": "wares", "labels": ["item", "price"]})
    assert made.status_code == 201
    ids = corrected_wares_through(clients["0"], 6)
    assert clients["1"].get("/api/v1/tasks/wares").json()["corrected"] == 6
    (other,) = children(process)
    os.kill(other, signal.SIGKILL)
    clients["1"].close()
    until(lambda: children(process) not in ([], [other]))
    clients["0"].close()
    clients = both(address)
    assert clients["1"].get(f"/api/v1/tasks/wares/records/{ids[0]}").json()["corrected"]
    (last,) = children(process)
    process.send_signal(signal.SIGKILL)  # the others notice, and go
    process.wait(timeout=30)
    until(lambda: not Path(f"/proc/{last}").exists() or "Z" in Path(f"/proc/{last}/stat").read_text().split()[2])
    for client in clients.values():
        client.close()


def corrected_wares_through(client: httpx.Client, n: int) -> list[int]:
    with httpx.Client(base_url=f"{client.base_url}api/v1", headers=HEADERS, timeout=60) as api:
        return corrected_wares(api, "wares", n)


SLOW = (
    "import json, sys, time; sys.stdin.readline();"
    "print(json.dumps({'news': 'thinking', 'progress': 0.5, 'held_out': 0}), flush=True); time.sleep(60)"
)


def test_jobs_are_asked_for_anywhere_and_run_in_one_place(start: Callable[..., Running]) -> None:
    """The second process is another application on the same project, without a server of its own."""
    first = start(trainer=[sys.executable, "-c", SLOW], shared=True)
    api = first.client
    assert api.post("/tasks", json={"name": "wares", "labels": ["item", "price"]}).status_code == 201
    corrected_wares(api, "wares", 6)
    second = create_app(first.app.state.core.directory, worker=1, shared=True)
    jobs: Jobs = second.state.jobs
    job = jobs.start(second.state.core.tasks.get("wares"), "supervised", "x", True).id
    until(lambda: jobs.get(job).message == "thinking", 30)  # its news come through the project
    assert jobs.status().running == job
    assert jobs.cancel(job).state == "cancelled"
    until(lambda: first.app.state.jobs.status().running is None, 30)
    assert finished(api, job)["state"] == "cancelled"
    until(lambda: first.app.state.jobs._process is None, 30)  # and the process is gone
    jobs.close()
    second.state.core.close()

"""`espalier serve` as a process: what was confirmed outlives kill -9, and a project has one server."""

from __future__ import annotations

import os
import re
import select
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import socket
from typing import Any

import httpx
import pytest

from espalier.cli import serve as command
from espalier.cli.app import run
from espalier.errors import InputError
from espalier.server.database import FILE, VERSION, Database
from workbench_server import HEADERS, wares

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")


class Process:
    """A server process, and a client for it."""

    def __init__(self, project: Path, *options: str) -> None:
        words = [sys.executable, "-m", "espalier", "serve", "--project", str(project), "--port", "0", *options]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        assert ready, "the server did not say where it is"
        self.line = self.process.stdout.readline().strip()
        found = ADDRESS.match(self.line)
        assert found, self.process.stderr.read() if self.process.stderr else self.line
        self.client = httpx.Client(base_url=f"{found[0]}api/v1", headers=HEADERS, timeout=30)
        self.client.get("/status")  # the socket listens already; what answers may need a moment

    def end(self, how: signal.Signals = signal.SIGKILL) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(timeout=20)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.client.close()
        return code


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def begin(*options: str) -> Process:
        started.append(Process(tmp_path / "project", *options))
        return started[-1]

    yield begin
    for one in started:
        one.end()


def test_killed_while_writing_nothing_confirmed_is_lost(serve: Callable[..., Process]) -> None:
    first = serve()
    api = first.client
    assert api.post("/tasks", json={"name": "wares", "labels": ["item", "price"]}).status_code == 201
    texts = wares(60)
    ids = api.post("/tasks/wares/records", json={"text": "\n".join(text for text, _ in texts)}).json()["added"]
    confirmed: dict[int, object] = {}
    lock = threading.Lock()

    def correct(own: list[tuple[int, object]]) -> None:
        with httpx.Client(base_url=api.base_url, headers=HEADERS) as mine:
            for id, fields in own * 50:
                try:
                    done = mine.put(f"/tasks/wares/records/{id}/fields", json={"fields": fields})
                except httpx.HTTPError:
                    return
                if done.status_code == 200:
                    with lock:
                        confirmed[id] = fields
                        enough.set() if len(confirmed) > 20 else None

    enough = threading.Event()
    todo = [(id, fields) for id, (_, fields) in zip(ids, texts, strict=True)]
    threads = [threading.Thread(target=correct, args=(todo[k::3],)) for k in range(3)]
    for thread in threads:
        thread.start()
    assert enough.wait(60)
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    for thread in threads:
        thread.join(timeout=20)

    again = serve().client
    records = again.get("/tasks/wares/records", params={"limit": 100}).json()["records"]
    found = {record["id"]: record["corrected"] for record in records}
    assert len(found) == 60
    assert len(confirmed) > 20
    assert {id: found[id] for id in confirmed} == confirmed


def test_a_project_has_one_server(
    serve: Callable[..., Process], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = serve()
    assert run(["serve", "--project", str(tmp_path / "project"), "--port", "0"]) == 2
    assert "in use by another server" in capsys.readouterr().err
    assert first.client.get("/status").status_code == 200
    first.process.send_signal(signal.SIGINT)
    _, said = first.process.communicate(timeout=20)
    assert said.splitlines()[-1] == "espalier: stopped; everything confirmed is stored"
    assert first.process.returncode == 0
    Database(tmp_path / "project").close()  # the lock went with it


@pytest.mark.parametrize("signals", [[signal.SIGINT] * 2, [signal.SIGINT] * 3, [signal.SIGTERM]])
def test_it_ends_in_order_however_often_and_by_whatever_it_is_told(
    serve: Callable[..., Process], signals: list[signal.Signals]
) -> None:
    first = serve()
    for each in signals:
        first.process.send_signal(each)
        time.sleep(0.05)
    _, said = first.process.communicate(timeout=20)
    assert said == "espalier: stopped; everything confirmed is stored\n"


def test_addresses_of_others_need_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, str | None]] = []

    def close(app: Any, module: str, listener: socket, token: str | None, workers: int) -> None:
        ran.append((listener.getsockname()[0], token))
        app.state.jobs.close()
        app.state.core.close()

    monkeypatch.setattr(command, "_run", close)
    for host in ("127.0.0.1", "0.0.0.0", "0.0.0.0"):
        assert run(["serve", "--project", str(tmp_path), "--host", host, "--port", "0"]) == 0
    assert ran[0] == ("127.0.0.1", None)
    tokens = [token for _, token in ran[1:] if token is not None and len(token) >= 20]
    assert len(set(tokens)) == 2  # a new one every time


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--token", "short"], "at least 12 characters"),
        (["--host", "203.0.113.7"], "cannot listen on 203.0.113.7"),
        (["--project", os.devnull], "cannot be a project"),
    ],
)
def test_wrong_use(tmp_path: Path, options: list[str], what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--project", str(tmp_path), "--port", "0", *options]) == 2
    assert what in capsys.readouterr().err


def test_files_that_are_no_projects(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"this is a shopping list, not a database " * 50)
    with pytest.raises(InputError, match="not a project"):
        Database(tmp_path)
    (tmp_path / FILE).unlink()
    with sqlite3.connect(tmp_path / FILE) as other:
        other.execute("CREATE TABLE shopping (item TEXT)")
    other.close()
    with pytest.raises(InputError, match="not a project"):
        Database(tmp_path)


def test_a_project_of_a_later_version(tmp_path: Path) -> None:
    Database(tmp_path).close()
    later = sqlite3.connect(tmp_path / FILE)
    later.execute(f"PRAGMA user_version = {VERSION + 1}")
    later.close()
    with pytest.raises(InputError, match=f"has version {VERSION + 1}"):
        Database(tmp_path)


def test_a_write_is_whole_or_not_at_all(tmp_path: Path) -> None:
    database = Database(tmp_path)

    def twice() -> None:
        with database.write() as write:
            for _ in range(2):  # the second breaks a constraint, and takes the first with it
                write.execute("INSERT INTO task (name, rules) VALUES ('half', '')")

    with pytest.raises(sqlite3.IntegrityError):
        twice()
    assert database.row("SELECT * FROM task") is None
    database.close()

"""The first minute of a server: who comes too early is told to come again, and a start that fails is no end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from espalier.errors import InputError
from espalier.server.core import Limits
from espalier.server.failures import Failure
from espalier.server.starting import ServerStart
from espalier.server.tasks import REFERENCES
from espalier.server.workers import _warm_up
from espalier.workbench.bench import Bench
from workbench_server import Running

ONE = "Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9."


def _wait(go: threading.Event) -> None:
    go.wait(30)


def test_who_comes_too_early_is_told_to_come_again(start: Callable[..., Running], tmp_path: Path) -> None:
    server, go = start(tmp_path / "early"), threading.Event()
    thread = server.app.state.core.start.begin(lambda: _wait(go), patience=0)
    with httpx.Client(base_url=server.origin, timeout=60) as client:
        small = client.post("/api/v1/parse", json={"texts": [ONE]})
        asked = (
            small,
            client.post("/api/v1/parse", json={"texts": [ONE], "k": 2}),
            client.post("/api/processCitation", data={"citations": ONE}),
            client.get("/ready"),
        )
        assert [answer.status_code for answer in asked] == [503] * 4
        assert all(int(answer.headers["retry-after"]) > 0 for answer in asked)
        assert small.json()["error"]["what"] == "the server is starting: it compiles what it needs, once"
        assert client.get("/ready").json()["status"] == "starting"
        assert client.get("/health").status_code == 200
        assert client.get("/api/v1/tasks").status_code == 200  # what computes nothing is answered
        go.set()
        thread.join(10)
        assert client.get("/ready").json()["status"] == "ok"
        assert client.post("/api/v1/parse", json={"texts": [ONE]}).status_code == 200


def test_who_comes_in_the_first_seconds_waits() -> None:
    start, go = ServerStart(), threading.Event()
    start.wait()  # where nothing was begun there is nothing to wait for
    start.begin(lambda: _wait(go), patience=20)
    threading.Timer(0.2, go.set).start()
    begin = time.monotonic()
    start.wait()
    assert 0.1 < time.monotonic() - begin < 15


def test_a_start_that_fails_is_one_line_and_tried_again(capfd: pytest.CaptureFixture[str]) -> None:
    start, tried = ServerStart(), list[int]()
    broken = threading.Event()
    broken.set()

    def work() -> None:
        tried.append(1)
        if broken.is_set():
            raise InputError("the model is damaged", hint="install it again")

    thread = start.begin(work, patience=30, again=0.05)
    start.wait()  # requests are answered as well as they can be
    while len(tried) < 3:
        time.sleep(0.01)
    assert start.state == "failed"
    assert "the model is damaged" in start.trouble
    broken.clear()
    thread.join(10)
    assert (start.state, start.trouble) == ("ok", "")
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1
    assert "the model is damaged" in said[0]
    assert "Traceback" not in said[0]


def test_work_that_fails_behind_the_end_is_no_trouble(capfd: pytest.CaptureFixture[str]) -> None:
    start, go = ServerStart(), threading.Event()

    def work() -> None:
        go.wait(10)
        raise OSError("the file is closed")

    thread = start.begin(work)
    start.end()
    go.set()
    thread.join(10)
    assert not thread.is_alive()
    assert (start.trouble, capfd.readouterr().err) == ("", "")


def test_no_time_limit_holds_for_the_start(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "slow", Limits(seconds=1e-9))
    try:
        with pytest.raises(Failure, match="took longer"):
            bench.answered(REFERENCES, 0, [ONE], 1)
        bench.start.begin(lambda: _warm_up(bench)).join(60)
        assert (bench.start.state, bench.start.trouble) == ("ok", "")
    finally:
        bench.close()

"""Several processes on one project and one address: each answers requests, and the first one has the lock and the jobs.

    python -m espalier.server.app         a process (`work`); its orders are one line of JSON on its input
    python -m espalier.workbench.app      the same of a workbench

Connections are shared out by the system (SO_REUSEPORT). All that has to hold is in the project's file. A process that
dies is started again; when the first one ends, however it does, the input of the others ends, and so do they.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from socket import socket
from types import FrameType
from typing import Any

import uvicorn

from espalier.server.core import Core
from espalier.server.reading import read_file
from espalier.server.security import Gate, networks
from espalier.server.tasks import REFERENCES
from espalier.server.transport import configured, listening, many_files

__all__ = ["Crew", "serve_app", "work"]

_WARM_UP = "A. Author. A title. 2001."
_ODD = ("a b", "2001 1 2 3. A title. 2002. (2003).")  # which break rules, and have to be searched
_WARM_UP_PAGE = b"<html><body><h2>References</h2><p>[1] A. Author. A title. 2001.</p><p>[2] B. Boe. Two. 2002.</p>"
_END = "end"
_PAUSE = 1.0  # seconds before a process that died is started again


def serve_app(app: Any, listener: socket) -> None:
    """Serve until interrupted; what somebody would wait for is loaded in the meantime."""
    core = app.state.core
    core.start.begin(lambda: _warm_up(core))
    many_files()
    server = app.state.server = _Server(configured(app))
    server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that ends in order, however often and by whatever signal it is told to, and returns to its caller.

    Uvicorn's own drops everything at a second Ctrl-C, with a traceback, and raises the signals again in the end.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; what is under way has some seconds (`transport.configured`)."""
        self.should_exit = True


def _warm_up(core: Core) -> None:
    """Load the bundled model and the one in use, all that their answers need, and the reader of documents."""
    task = core.tasks.get(REFERENCES)
    for model in {0, task.active} - {None}:
        for k in (1, 2):
            for texts in ([_WARM_UP], [_WARM_UP, *_ODD] * 4):  # one by one, and together
                core.answered(REFERENCES, model, texts, k)
    read_file(core, task, _WARM_UP_PAGE, "start.html")


class Crew:
    """The processes beside the first one."""

    def __init__(self, number: int, module: str, project: Path, address: tuple[str, int], gate: Gate) -> None:
        """Start so many; module : makes their application; address : host and port, both known by now."""
        self._command = [sys.executable, "-m", module]
        hosts = None if gate.hosts is None else sorted(gate.hosts)
        where = {"project": str(project), "host": address[0], "port": address[1]}
        self._orders = {**where, "token": gate.token, "hosts": hosts, "proxies": list(map(str, gate.proxies))}
        self._lock, self._closed = threading.Lock(), False
        self._processes = [self._started(k + 1) for k in range(number)]
        threading.Thread(target=self._watch, name="espalier-crew", daemon=True).start()

    def _started(self, worker: int) -> subprocess.Popen[str]:
        # In a session of its own: Ctrl-C is for the first process, which ends the others.
        process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps({**self._orders, "worker": worker}) + "\n")
        process.stdin.flush()
        return process

    def _watch(self) -> None:
        while not self._closed:
            time.sleep(_PAUSE)
            with self._lock:
                for k, process in enumerate(self._processes):
                    if process.poll() is not None and not self._closed:
                        self._processes[k] = self._started(k + 1)

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            self._closed = True
        for process in self._processes:
            try:
                process.communicate(f"{_END}\n", timeout=10)
            except (subprocess.TimeoutExpired, BrokenPipeError):
                process.kill()
                process.wait()


def _end_with_input(app: Any) -> None:
    """End in order when told to, and at once when the first process is gone."""
    if sys.stdin.readline().strip() != _END:
        os._exit(1)
    while not hasattr(app.state, "server"):
        time.sleep(0.01)
    app.state.server.should_exit = True


def work(create: Callable[..., Any]) -> None:
    """Take orders, and serve the application that `create` makes."""
    orders = json.loads(sys.stdin.readline())
    hosts = None if orders["hosts"] is None else frozenset(orders["hosts"])
    gate = Gate(orders["token"], hosts, networks(orders["proxies"]))
    app = create(Path(orders["project"]), gate=gate, worker=orders["worker"], shared=True)
    threading.Thread(target=_end_with_input, args=(app,), daemon=True).start()
    with listening(orders["host"], orders["port"], shared=True) as listener:
        serve_app(app, listener)

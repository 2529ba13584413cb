"""A server under attack: how long single references of others take meanwhile, and what its memory is afterwards.

Others ask on new connections, which the system shares out among the workers: those of the one that is attacked count.
Memory is that of the server and all its processes (`Pss`: what they share counts once); Linux only.
"""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from attacking.attacks import ATTACKS, RAW

__all__ = ["NAMES", "SiegeCost", "besieged", "serving", "table"]

NAMES = (*ATTACKS, *RAW)
"""The names of all attacks."""

_P99, _MEMORY = 0.5, 300.0  # what is promised: seconds, and megabytes more than at the start
_QUESTION = json.dumps({"texts": ["A. Berg. On oak trees. Tree Letters, 1999."]})


@dataclass(frozen=True)
class SiegeCost:
    """What an attack was answered and cost: its seconds, and those of others; peak, after : MB more than before."""

    attack: str
    megabytes: float
    answer: str
    seconds: float
    seconds_of_others: list[float]
    refused: int
    peak: float
    after: float

    @property
    def p99(self) -> float:
        """Return the 99th percentile of the others' seconds."""
        return sorted(self.seconds_of_others)[int(0.99 * len(self.seconds_of_others))]

    @property
    def held(self) -> bool:
        """Has the server kept what is promised?"""
        mistake = self.answer.startswith("500") or self.answer.startswith("HTTP/1.1 5")
        return self.p99 < _P99 and not self.refused and self.after < _MEMORY and not mistake


def table(costs: list[SiegeCost]) -> str:
    """Return all costs as a table."""
    rows = [
        "| attack | sent | answer | seconds | others' p99 | others refused | memory, most | memory later |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {c.attack} | {c.megabytes:.2f} MB | {c.answer[:60]} | {c.seconds:.1f} s "
        f"| {1000 * c.p99:.0f} ms of {len(c.seconds_of_others)} | {c.refused} | {c.peak:+.0f} MB "
        f"| {c.after:+.0f} MB{'' if c.held else ' FAILED'} |"
        for c in costs
    ]
    return "\n".join(rows)


class Served:
    """A server that runs. process : its first process; start : its memory when it was ready."""

    def __init__(self, process: subprocess.Popen[str], address: tuple[str, int]) -> None:
        """Wait until it is ready, and has answered some."""
        self.process, self.address = process, address
        end = time.monotonic() + 120
        while self.asked("GET", "/ready")[0] != 200:
            if time.monotonic() > end:
                raise TimeoutError("the server does not become ready")
            time.sleep(0.2)
        for _ in range(20):
            self.reference()
        time.sleep(1)
        self.start = self.memory()

    def asked(
        self, method: str, path: str, body: bytes | str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str]:
        """Send a request on a connection of its own; return the status, and how the answer begins; 0 if it hung up."""
        connection = http.client.HTTPConnection(*self.address, timeout=120)
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # it has read enough, and may have said why
                connection.request(method, path, body, {"X-Espalier": "1", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read(300).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            return 0, f"hung up: {type(error).__name__}"
        finally:
            connection.close()

    def reference(self) -> bool:
        """Ask for one reference; is the answer there?"""
        return self.asked("POST", "/api/v1/parse", _QUESTION, {"Content-Type": "application/json"})[0] == 200

    def memory(self) -> float:
        """Return the megabytes of all its processes."""
        return sum(map(_megabytes, _family(self.process.pid)))


def _family(pid: int) -> list[int]:
    """Return a process and all that it has begun."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):  # it has ended
            continue
    found = [pid]
    for one in found:  # which grows
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _megabytes(pid: int) -> float:
    try:
        found = re.search(r"Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


@contextmanager
def serving(project: Path, workers: int = 2) -> Iterator[Served]:
    """Start a server on a project of its own, and end it."""
    command = [sys.executable, "-m", "espalier", "serve", "--project", str(project), "--port", "0"]
    command += ["--workers", str(workers)]
    said = project.with_suffix(".messages")
    with (
        open(said, "w", encoding="utf-8") as messages,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=messages, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            found = re.search(r"http://([\d.]+):(\d+)", process.stdout.readline())
            if found is None:
                raise OSError(f"the server did not start: {said.read_text()[:500]}")
            yield Served(process, (found[1], int(found[2])))
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:  # something in it does not end
                process.kill()


class _Others:
    """Who asks meanwhile: for a reference every few milliseconds, and now and then whether the server is there."""

    def __init__(self, server: Served) -> None:
        self.seconds, self.refused, self.peak = list[float](), 0, 0.0
        self._server, self._over = server, threading.Event()
        self._threads = [threading.Thread(target=work) for work in (self._ask, self._look)]
        for thread in self._threads:
            thread.start()

    def _ask(self) -> None:
        while not self._over.wait(0.02):
            began = time.perf_counter()
            self.refused += not self._server.reference()
            self.seconds.append(time.perf_counter() - began)

    def _look(self) -> None:
        while not self._over.wait(0.2):
            self.peak = max(self.peak, self._server.memory())
            self.refused += self._server.asked("GET", "/health")[0] != 200

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()


def besieged(
    server: Served, name: str, size: float = 1.0, times: int = 3, least: float = 2.0, later: float = 10.0
) -> SiegeCost:
    """Attack a server some times at once, while others ask.

    least : seconds in which others ask at least; later : until the memory is looked at again.
    """
    body = ATTACKS[name].body(size) if name in ATTACKS else b""
    answers: list[str] = []

    def attack() -> None:
        if name in RAW:
            answers.append(RAW[name](server.address, size))
            return
        one = ATTACKS[name]
        status, said = server.asked("POST", one.path, body, {"Content-Type": one.kind, **one.headers})
        found = re.search(r'"what": ?"([^"]*)', said)
        answers.append(f"{status or ''} {found[1] if found else said[:40] if not status else ''}".strip())

    others = _Others(server)
    began = time.perf_counter()
    threads = [threading.Thread(target=attack) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    time.sleep(max(0.0, least - took))
    others.end()
    time.sleep(later)
    start = server.start
    return SiegeCost(
        name, len(body) / 1e6, min(answers), took, others.seconds, others.refused, max(0.0, others.peak - start),
        server.memory() - start,
    )  # fmt: skip

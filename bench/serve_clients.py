"""Clients of the server that cost little themselves: one kept connection each, on the standard library."""

from __future__ import annotations

import http.client
import json
import os
import socket
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PARSE = "/api/v1/tasks/citations/parse"
HALF = b"POST /api/v1/tasks/citations/parse HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Espa"


@dataclass
class Seen:
    """What clients have seen: seconds of each answer, and how often each status."""

    seconds: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)

    def add(self, status: int, seconds: float) -> None:
        self.seconds.append(seconds)
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def ms(self, share: float) -> float:
        """Return a quantile in milliseconds."""
        if len(self.seconds) < 2:
            return 1000 * self.seconds[0] if self.seconds else float("nan")
        return 1000 * statistics.quantiles(self.seconds, n=100, method="inclusive")[round(100 * share) - 1]

    @property
    def errors(self) -> list[str]:
        return [f"{n} answers {status}" for status, n in self.statuses.items() if status != 200]


def _family(pid: int) -> list[int]:
    """Return a process and all that it has started."""
    found = [pid]
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [one for child in file.read_text().split() for one in _family(int(child))]
    return found


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process and all that it has started; nan where the system does not tell."""
    try:
        stats = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in _family(pid)]
    except OSError:
        return float("nan")
    ticks = sum(int(stat[11]) + int(stat[12]) for stat in stats)
    return ticks / os.sysconf("SC_CLK_TCK") if stats else float("nan")


class KeptConnection:
    """A connection that is kept."""

    def __init__(self, base: str, timeout: float = 180.0) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=timeout)

    def post(self, body: Any, path: str = PARSE, seen: Seen | None = None) -> int:
        """Send a request, read its whole answer, and return its status."""
        data = json.dumps(body).encode()
        began = time.perf_counter()
        self._connection.request("POST", path, data, {"X-Espalier": "1", "Content-Type": "application/json"})
        answer = self._connection.getresponse()
        answer.read()
        if seen is not None:
            seen.add(answer.status, time.perf_counter() - began)
        return answer.status

    def close(self) -> None:
        self._connection.close()


def singles(base: str, texts: Sequence[str], n: int) -> Seen:
    """One client, one reference after the other over one connection."""
    seen = Seen()
    with closing(KeptConnection(base)) as client:
        for i in range(n):
            client.post({"texts": [texts[i % len(texts)]]}, seen=seen)
    return seen


def together(base: str, texts: Sequence[str], clients: int, until: Callable[[], bool], pause: float = 0.0) -> Seen:
    """Many clients at once, each with single references, until something is over. pause : of each, between two."""
    seen = Seen()

    def work(k: int) -> None:
        with closing(KeptConnection(base)) as client:
            while not until():
                client.post({"texts": [texts[k % len(texts)]]}, seen=seen)
                k += clients
                time.sleep(pause)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def for_seconds(seconds: float) -> Callable[[], bool]:
    """Return what says whether some seconds are over."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def batches(base: str, texts: Sequence[str], rounds: int, clients: int = 1) -> tuple[float, Seen]:
    """Return the references in a second of the best of several rounds: in each, every client sends a large request."""
    seen, best = Seen(), float("inf")
    body = {"texts": list(texts)}
    for _ in range(rounds):
        with ExitStack() as stack:
            kept = [stack.enter_context(closing(KeptConnection(base))) for _ in range(clients)]
            threads = [threading.Thread(target=one.post, args=(body,), kwargs={"seen": seen}) for one in kept]
            began = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            best = min(best, time.perf_counter() - began)
    return clients * len(texts) / best, seen


@dataclass
class Attack:
    """What came of an attack: its status and seconds, and what five others saw in the meantime."""

    status: int
    seconds: float
    others: Seen


def attack(base: str, body: Any, texts: Sequence[str]) -> Attack:
    """Send one request that is large, though within all limits, while five clients ask for single references."""
    over, own = threading.Event(), Seen()

    def strike() -> None:
        with closing(KeptConnection(base)) as client:
            client.post(body, seen=own)
        over.set()

    thread = threading.Thread(target=strike)
    thread.start()
    others = together(base, texts, 5, over.is_set, pause=0.02)
    thread.join()
    return Attack(next(iter(own.statuses)), own.seconds[0], others)


@contextmanager
def half_open(base: str, n: int) -> Any:
    """Hold connections that have sent half of a head."""
    held: list[socket.socket] = []
    where = urlsplit(base)
    try:
        for _ in range(n):
            one = socket.create_connection((where.hostname or "", where.port or 0), timeout=30)
            one.sendall(HALF)
            held.append(one)
        yield held
    finally:
        for one in held:
            one.close()

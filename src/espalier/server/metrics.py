"""What the server has done, in Prometheus' text format: answers by route and status, their seconds, who waits.

Every worker counts for itself, and says which one it is; a scrape reaches one of them.
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from time import perf_counter, time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MEDIA_TYPE", "MetricsWatch", "ServerMetrics"]

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIXES = ("/api/v1", "/api")  # the longest first
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0)


class ServerMetrics:
    """Counts of one worker."""

    def __init__(self, worker: int = 0) -> None:
        """Begin at zero."""
        self._worker, self._began, self._lock = worker, time(), threading.Lock()
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._within = [0] * (len(_BOUNDS) + 1)  # answers between a bound and the one before
        self._seconds = 0.0

    def add(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        with self._lock:
            self._answers[method, route, status] += 1
            self._seconds += seconds
            self._within[bisect_left(_BOUNDS, seconds)] += 1

    def text(self, waiting: int) -> str:
        """Return all counts. waiting : requests that wait for their turn to compute."""
        with self._lock:
            answers, within, seconds = dict(self._answers), list(accumulate(self._within)), self._seconds
        total, who = sum(answers.values()), f'worker="{self._worker}"'
        rows = ["# HELP espalier_answers_total Answers by route and status.", "# TYPE espalier_answers_total counter"]
        rows += [
            f'espalier_answers_total{{{who},method="{method}",route="{route}",status="{status}"}} {n}'
            for (method, route, status), n in sorted(answers.items())
        ]
        rows += ["# HELP espalier_answer_seconds Seconds until the answer.", "# TYPE espalier_answer_seconds histogram"]
        rows += [
            f'espalier_answer_seconds_bucket{{{who},le="{b:g}"}} {n}' for b, n in zip(_BOUNDS, within, strict=False)
        ]
        rows.append(f'espalier_answer_seconds_bucket{{{who},le="+Inf"}} {total}')
        rows += [
            f"espalier_answer_seconds_sum{{{who}}} {seconds:.6f}",
            f"espalier_answer_seconds_count{{{who}}} {total}",
        ]
        for name, about, value in (
            ("espalier_waiting", "Requests that wait for their turn.", waiting),
            ("espalier_resident_bytes", "Memory of the worker.", _resident()),
            ("espalier_start_time_seconds", "When the worker began.", round(self._began, 3)),
        ):
            rows += [f"# HELP {name} {about}", f"# TYPE {name} gauge", f"{name}{{{who}}} {value}"]
        return "\n".join(rows) + "\n"


def _resident() -> int:
    """Return the memory of this process in bytes; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


class MetricsWatch:
    """Stands before everything, and counts answers."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        """Count the answers of an application."""
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and count it; the route is its pattern, so that there are few of them."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, began = 500, perf_counter()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._metrics.add(scope["method"], _route(scope), status, perf_counter() - began)


def _route(scope: Scope) -> str:
    """Return the pattern of a request's whole address; the framework's has no prefix."""
    pattern = str(getattr(scope.get("route"), "path", ""))
    prefix = next((prefix for prefix in _PREFIXES if scope["path"].startswith(f"{prefix}/")), "")
    return "other" if not pattern else pattern if pattern.startswith(f"{prefix}/") else prefix + pattern

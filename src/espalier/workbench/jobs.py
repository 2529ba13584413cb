"""Training in a process of its own, one job at a time, in the order they were asked for.

The process gets its orders as one line of JSON, writes its news as lines of JSON, and leaves the model in a file; it
ends when its input does, so it does not outlive the server. Cancelling is killing. What it writes:

    {"news": text, "progress": 0..1}                            what it does
    {"point": {"records", "token_accuracy", "field_f1"}}        of the learning curve
    {"model": kind}                                             the model is in its file
    {"scores": {...}}                                           how it was judged
    {"error": {"what", "where", "hint"}}                        why there is none
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from espalier.document import Document
from espalier.errors import EspalierError
from espalier.io import write
from espalier.rules.ruleset import RuleSet
from espalier.workbench.bench import Bench
from espalier.workbench.failures import Failure, explained
from espalier.workbench.job_table import ENDED, JobTable
from espalier.workbench.labellers import check_file
from espalier.workbench.rule_texts import pruned, sound
from espalier.workbench.tasks import Task

__all__ = ["METHODS", "Jobs"]

METHODS = {
    "supervised": (False, "from corrected records"),
    "codl": (True, "constraint-driven: labels the other records under the rules, and learns from those, too"),
    "samplerank": (True, "ranking in a random walk, taught by rules on the other records"),
    "em": (True, "expectation maximisation of an HMM; the rules are applied afterwards"),
    "pr": (True, "posterior regularisation: expectations of the rules on the other records"),
    "ge": (True, "generalised expectation: the same, by gradient"),
}
"""The methods of `espalier train`: do they learn from records that nobody corrected, and what they are."""

_BY_RULES = ("pr", "ge")
_MEMORY = 8 << 30
_LOG = logging.getLogger("espalier.workbench")
_TAIL = 2000  # characters of a failed process's complaints that are shown


class Jobs:
    """The queue, and the thread that works through it."""

    def __init__(self, bench: Bench, command: Sequence[str], memory: int = _MEMORY) -> None:
        """Take the command of a training process; memory : bytes that it may address, where that can be set."""
        self.table = JobTable(bench.database)
        self._bench, self._command, self._memory = bench, list(command), memory
        self._live: dict[str, Any] | None = None
        self._process: subprocess.Popen[str] | None = None
        self._lock, self._wake, self._closed = threading.RLock(), threading.Event(), False
        self._thread = threading.Thread(target=self._work, name="espalier-jobs", daemon=True)
        self._thread.start()

    def start(self, task: Task, method: str, name: str, activate: bool) -> dict[str, Any]:
        """Put a job into the queue."""
        total, corrected = self._bench.records.counts(task.name)
        if METHODS[method][0] and total == corrected:
            what = f"{method} learns from records that nobody corrected, and there are none"
            raise Failure(409, what, "add some texts, or train supervised")
        if method in _BY_RULES and not self._rules(task).K:
            raise Failure(409, f"{method} learns from rules, and none is on", "write some, or choose codl")
        if not corrected:
            raise Failure(
                409, "no record of this task is corrected yet", "correct a few first: they are what it learns from"
            )
        job = self.table.add(task.name, method, name, activate)
        self._wake.set()
        return job

    def get(self, job: int) -> dict[str, Any]:
        """Return a job with its latest news."""
        with self._lock:
            live = self._live
        return self._with_news(self.table.get(job), live)

    def all(self, task: str | None, limit: int) -> list[dict[str, Any]]:
        """Return jobs with their latest news, the newest first."""
        with self._lock:
            live = self._live
        return [self._with_news(job, live) for job in self.table.all(task, limit)]

    @staticmethod
    def _with_news(job: dict[str, Any], live: dict[str, Any] | None) -> dict[str, Any]:
        return job | live if live is not None and live["id"] == job["id"] and job["state"] == "running" else job

    def status(self) -> dict[str, Any]:
        """Return which job runs and how many wait."""
        with self._lock:
            running = None if self._live is None else self._live["id"]
        return {"running": running, "queued": self.table.waiting()}

    def cancel(self, job: int) -> dict[str, Any]:
        """End a job at once; one that has ended stays as it is."""
        found = self.table.get(job)
        with self._lock:
            live = self._live if self._live is not None and self._live["id"] == job else {}
            known = {key: live[key] for key in ("message", "progress", "curve", "held_out", "model") if key in live}
            if found["state"] not in ENDED and self.table.change(job, "cancelled", **known) and live:
                self._kill()
        return self.table.get(job)

    def close(self) -> None:
        """End the process that runs; its job counts as interrupted, those that wait begin with the next server."""
        with self._lock:
            self._closed = True
            self._kill()
        self._wake.set()
        self._thread.join(timeout=10)

    def _kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)  # it leads a group of its own
            else:
                self._process.kill()

    def _work(self) -> None:
        while not self._closed:
            job = self.table.next()
            if job is None:
                self._wake.wait()
                self._wake.clear()
                continue
            self._run(job)

    def _run(self, job: dict[str, Any]) -> None:
        directory = Path(tempfile.mkdtemp(prefix="espalier-job-"))
        error: dict[str, Any] | None = None
        try:
            task = self._bench.tasks.get(job["task"])
            orders, seen, pool = self._orders(task, job["method"], directory)
            if self._begin(job):
                error = self._follow(job, task, orders, seen, pool)
        except EspalierError as failure:
            error = explained(failure).body()["error"]
        except Exception as mistake:  # whatever it is, the jobs after this one are to run
            _LOG.error("job %s", job["id"], exc_info=mistake)
            error = Failure(500, f"training could not be followed: {mistake}", "see the server's messages").body()[
                "error"
            ]
        finally:
            shutil.rmtree(directory, ignore_errors=True)
            self._end(job, error)

    def _begin(self, job: dict[str, Any]) -> bool:
        with self._lock:
            if self._closed or not self.table.change(job["id"], "running"):
                return False
            self._live = {
                "id": job["id"],
                "message": "starting",
                "progress": 0.0,
                "curve": [],
                "held_out": 0,
                "model": None,
            }
            return True

    def _end(self, job: dict[str, Any], error: dict[str, Any] | None) -> None:
        with self._lock:
            live, self._live, self._process = self._live or {}, None, None
            if self._closed:
                return  # the next server says that it was interrupted
            known = {key: live[key] for key in ("message", "progress", "curve", "held_out", "model") if key in live}
            if error is None and not known.get("model"):
                error = Failure(500, "the training process ended without a model", "see the server's messages").body()[
                    "error"
                ]
            self.table.change(job["id"], "failed" if error else "done", **known, error=error)

    def _orders(self, task: Task, method: str, directory: Path) -> tuple[dict[str, Any], list[int], int]:
        """Write what the process reads, and return its orders, the records it learns from, and the size of the pool."""
        stored = self._bench.records.all(task.name)
        labelled = [one for one in stored if one.corrected]
        pool = [one.document for one in stored if not one.corrected] if METHODS[method][0] else []
        write([one.document for one in labelled], directory / "labelled.jsonl")
        write([Document(document.text, document.tokens) for document in pool], directory / "pool.jsonl")
        rules = self._rules(task)
        (directory / "task.rules").write_text(f"{rules}\n", encoding="utf-8")
        source = task.name
        if not task.builtin:
            source = str(directory / f"{task.name}.toml")
            Path(source).write_text(_task_file(task), encoding="utf-8")
        orders = {
            "task": source,
            "rules": str(directory / "task.rules") if rules.K else None,
            "method": method,
            "labelled": str(directory / "labelled.jsonl"),
            "pool": str(directory / "pool.jsonl") if pool else None,
            "output": str(directory / "model.espalier"),
            "memory": self._memory,
        }
        return orders, [one.id for one in labelled], len(pool)

    @staticmethod
    def _rules(task: Task) -> RuleSet:
        """Return the rules that are on, with what the sliders say."""
        rules = sound(task.rules.text, task.labels)
        state = pruned(task.rules, rules.names)
        prices = {name: float("inf") if value is None else value for name, value in state.penalties.items()}
        return rules.with_penalties(prices).without(*state.off)

    def _follow(
        self, job: dict[str, Any], task: Task, orders: dict[str, Any], seen: list[int], pool: int
    ) -> dict[str, Any] | None:
        """Start the process and read its news until it ends; return why it failed, if it did."""
        error = None
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
            process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True,
                encoding="utf-8", start_new_session=True,
            )  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            with self._lock:
                self._process = process
                if self._closed or self.table.get(job["id"])["state"] != "running":  # cancelled in the meantime
                    self._kill()
            with suppress(BrokenPipeError):  # it is dead already, and how it ended says why
                process.stdin.write(json.dumps(orders) + "\n")
                process.stdin.flush()
            for line in process.stdout:
                error = self._hear(json.loads(line), job, task, Path(orders["output"]), seen, pool) or error
            process.stdout.close()
            with suppress(BrokenPipeError):
                process.stdin.close()
            if process.wait() and error is None:
                complaints.seek(0)
                said = complaints.read()[-_TAIL:].strip().split("\n")[-1]
                error = Failure(500, f"the training process ended with code {process.returncode}", said).body()["error"]
        return error

    def _hear(
        self, news: dict[str, Any], job: dict[str, Any], task: Task, output: Path, seen: list[int], pool: int
    ) -> dict[str, Any] | None:
        """Take one line of news; return an error if it is one."""
        with self._lock:
            live = self._live or {}
            if "news" in news:
                live |= {"message": news["news"], "progress": news["progress"], "held_out": news["held_out"]}
            elif "point" in news:
                live["curve"] = [*live.get("curve", []), news["point"]]
            elif "scores" in news:
                self._bench.models.set_scores(live["model"], news["scores"])
            elif "model" in news and self.table.get(job["id"])["state"] == "running":
                live["model"] = self._keep(job, task, output, seen, pool)
            self._live = live or None
        return news.get("error")

    def _keep(self, job: dict[str, Any], task: Task, output: Path, seen: list[int], pool: int) -> int:
        """Store the model that was trained."""
        file = output.read_bytes()
        kind = check_file(task, file).kind
        parent = self._bench.tasks.get(task.name).active
        return self._bench.models.add(
            task.name, file, name=job["name"], kind=kind, source="trained", parent=parent, method=job["method"],
            seen=seen, pool=pool, activate=job["activate"],
        ).id  # fmt: skip


def _task_file(task: Task) -> str:
    """Return a task of your own as a task file; its rules are beside it."""
    labels, templates = (json.dumps(list(values), ensure_ascii=False) for values in (task.labels, task.templates))
    return f"labels = {labels}\n\n[features]\ntemplates = {templates}\n"

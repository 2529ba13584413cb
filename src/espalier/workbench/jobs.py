"""Training in a process of its own, one job at a time, in the order they were asked for.

The process gets its orders as one line of JSON, writes its news as lines of JSON, and leaves the model in a file; it
ends when its input does, so it does not outlive the server. Cancelling is killing. What it writes:

    {"news": text, "progress": 0..1}                            what it does
    {"point": {"records", "token_accuracy", "field_f1"}}        of the learning curve
    {"model": kind}                                             the model is in its file
    {"scores": {...}}                                           how it was judged
    {"verdict": {"used", "why", ...}}                           is it worse than the model in use?
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
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from espalier.errors import EspalierError
from espalier.recipes import METHODS
from espalier.server.failures import Failure, explained
from espalier.server.labellers import check_file
from espalier.server.tasks import ProjectTask
from espalier.workbench.bench import Bench
from espalier.workbench.job_table import ALWAYS, Activate, JobTable
from espalier.workbench.orders import Orders, rules_in_use, write_orders
from espalier.workbench.shapes.tasks import JobAnswer, RunningJobs

__all__ = ["Jobs"]

ENDED = ("done", "failed", "cancelled")
_BY_RULES = ("pr", "ge")
_MEMORY = 8 << 30  # bytes that a training process may address, where that can be set
_LOG = logging.getLogger("espalier.workbench")
_LOOK = 0.5  # seconds between two looks at what other processes of the server have asked for
_TAIL = 2000  # characters of a failed process's complaints that are shown


class Jobs:
    """The queue, and the thread that works through it."""

    def __init__(self, bench: Bench, command: Sequence[str], *, leads: bool, shared: bool) -> None:
        """Take the command of a training process.

        leads : this process of the server runs the jobs; shared : others start and cancel some, too.
        """
        self.table, self._shared, self._told = JobTable(bench.database, leads=leads), shared, 0.0
        self._bench, self._command = bench, list(command)
        self._live: dict[str, Any] | None = None
        self._process: subprocess.Popen[str] | None = None
        self._lock, self._wake, self._closed = threading.RLock(), threading.Event(), False
        self._thread = threading.Thread(target=self._work, name="espalier-jobs", daemon=True)
        if leads:
            self._thread.start()

    def start(self, task: ProjectTask, method: str, name: str, activate: Activate) -> JobAnswer:
        """Put a job into the queue; activate : put the model in use if it is not worse, always, or not (False)."""
        total, corrected = self._bench.records.counts(task.name)
        if METHODS[method].pool and total == corrected:
            what = f"{method} learns from records that nobody corrected, and there are none"
            raise Failure(409, what, "add some texts, or train supervised")
        if method in _BY_RULES and not rules_in_use(task).K:
            raise Failure(409, f"{method} learns from rules, and none is on", "write some, or choose codl")
        if not corrected:
            hint = "correct a few first: they are what it learns from"
            raise Failure(409, "no record of this task is corrected yet", hint)
        job = self.table.add(task.name, method, name, activate)
        self._wake.set()
        return JobAnswer(**job)

    def get(self, job: int) -> JobAnswer:
        """Return a job with its latest news."""
        return self._with_news([self.table.get(job)])[0]

    def all(self, task: str | None, limit: int) -> list[JobAnswer]:
        """Return jobs with their latest news, the newest first."""
        return self._with_news(self.table.all(task, limit))

    def _with_news(self, jobs: Sequence[dict[str, Any]]) -> list[JobAnswer]:
        with self._lock:
            news = {job["id"]: self._known(job["id"]) for job in jobs if job["state"] == "running"}
        return [JobAnswer(**job | news.get(job["id"], {})) for job in jobs]

    def status(self) -> RunningJobs:
        """Return which job runs and how many wait."""
        return RunningJobs(running=self.table.running(), queued=self.table.waiting())

    def cancel(self, job: int) -> JobAnswer:
        """End a job at once; one that has ended stays as it is."""
        found = self.table.get(job)
        with self._lock:
            known = self._known(job)
            if found["state"] not in ENDED and self.table.change(job, "cancelled", **known) and known:
                self._kill()
        return JobAnswer(**self.table.get(job))

    def cancel_all(self, task: str) -> None:
        """End all jobs of a task."""
        for job in self.table.open(task):
            self.cancel(job)

    def close(self) -> None:
        """End the process that runs; its job counts as interrupted, those that wait begin with the next server."""
        with self._lock:
            self._closed = True
            self._kill()
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=10)

    def _kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):  # it ended by itself since, and another thread knows
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, signal.SIGKILL)  # it leads a group of its own
                else:
                    self._process.kill()

    def _work(self) -> None:
        while not self._closed:
            job = self.table.next()
            if job is None:
                self._wake.wait(_LOOK if self._shared else None)
                self._wake.clear()
                continue
            self._run(job)

    def _run(self, job: dict[str, Any]) -> None:
        directory = Path(tempfile.mkdtemp(prefix="espalier-job-"))
        failure: Failure | None = None
        try:
            task = self._bench.tasks.get(job["task"])
            stores = self._bench.records, self._bench.models
            orders = write_orders(*stores, task, job["method"], directory, memory=_MEMORY)
            if self._begin(job):
                failure = self._follow(job, task, orders)
        except EspalierError as error:
            failure = explained(error)
        except Exception as mistake:  # whatever it is, the jobs after this one are to run
            _LOG.error("job %s", job["id"], exc_info=mistake)
            failure = Failure(500, f"training could not be followed: {mistake}", "see the server's messages")
        finally:
            shutil.rmtree(directory, ignore_errors=True)
            self._end(job, failure)

    def _begin(self, job: dict[str, Any]) -> bool:
        """Mark a job as running, unless it was cancelled before it began."""
        with self._lock:
            if self._closed or not self.table.change(job["id"], "running"):
                return False
            news = {"message": "starting", "progress": 0.0, "curve": [], "held_out": 0, "model": None, "verdict": None}
            self._live = {"id": job["id"], **news}
            return True

    def _end(self, job: dict[str, Any], failure: Failure | None) -> None:
        """Store how a job went; one that was cancelled stays so."""
        with self._lock:
            known, self._live, self._process = self._known(job["id"]), None, None
            if self._closed:
                return  # the next server says that it was interrupted
            if failure is None and not known.get("model"):
                failure = Failure(500, "the training process ended without a model", "see the server's messages")
            error = None if failure is None else failure.body()["error"]
            self.table.change(job["id"], "done" if failure is None else "failed", **known, error=error)

    def _known(self, job: int) -> dict[str, Any]:
        """Return the latest news of a job that runs, nothing of others."""
        if self._live is None or self._live["id"] != job:
            return {}
        return {key: value for key, value in self._live.items() if key != "id"}

    def _follow(self, job: dict[str, Any], task: ProjectTask, orders: Orders) -> Failure | None:
        """Start the process and read its news until it ends; return why it failed, if it did."""
        failure = None
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints,
            self._started(job["id"], complaints) as process,
        ):
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(BrokenPipeError):  # it is dead already, and how it ended says why
                process.stdin.write(json.dumps(orders.text) + "\n")
                process.stdin.flush()
            for line in process.stdout:
                failure = self._hear(json.loads(line), job, task, orders) or failure
            if process.wait() and failure is None:
                complaints.seek(0)
                said = complaints.read()[-_TAIL:].strip().split("\n")[-1]
                failure = Failure(500, f"the training process ended with code {process.returncode}", said)
        return failure

    @contextmanager
    def _started(self, job: int, complaints: IO[str]) -> Iterator[subprocess.Popen[str]]:
        """Start the process; whatever happens, it has ended afterwards."""
        process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True,
            encoding="utf-8", start_new_session=True,
        )  # fmt: skip
        with self._lock:
            self._process = process
            if self._closed or self.table.get(job)["state"] != "running":  # cancelled in the meantime
                self._kill()
        if self._shared:
            threading.Thread(target=self._look, args=(job, process), daemon=True).start()
        try:
            yield process
        finally:
            with self._lock:
                self._kill()
            with suppress(BrokenPipeError):
                process.communicate()

    def _look(self, job: int, process: subprocess.Popen[str]) -> None:
        """Kill a job that another process of the server has cancelled."""
        while process.poll() is None:
            time.sleep(_LOOK)
            with self._lock:
                if self._process is process and self.table.get(job)["state"] != "running":
                    self._kill()

    def _tell(self) -> None:
        """Let the other processes of the server have the news, some times a second."""
        if self._shared and self._live is not None and time.monotonic() > self._told + _LOOK:
            self._told = time.monotonic()
            self.table.note(self._live["id"], **self._known(self._live["id"]))

    def _hear(self, news: dict[str, Any], job: dict[str, Any], task: ProjectTask, orders: Orders) -> Failure | None:
        """Take one line of news; return a failure if it tells of one."""
        with self._lock:
            live = self._live or {}
            if "news" in news:
                live |= {"message": news["news"], "progress": news["progress"], "held_out": news["held_out"]}
            elif "point" in news:
                live["curve"] = [*live["curve"], news["point"]]
            elif "scores" in news:
                self._bench.models.set_scores(live["model"], news["scores"])
            elif "verdict" in news:
                live["verdict"] = self._decide(job, task, live["model"], news["verdict"])
            elif "model" in news and self.table.get(job["id"])["state"] == "running":
                live["model"] = self._keep(job, task, orders)
            self._tell()
        error = news.get("error")
        return None if error is None else Failure(400, error["what"], error["hint"], error["where"])

    def _keep(self, job: dict[str, Any], task: ProjectTask, orders: Orders) -> int:
        """Store the model that was trained; only where a person said so it is in use before it is judged."""
        file = orders.output.read_bytes()
        kind = check_file(task, file).kind
        parent = self._bench.tasks.get(task.name).active
        at_once = job["activate"] == ALWAYS or (bool(job["activate"]) and parent is None)
        return self._bench.models.add(
            task.name, file, name=job["name"], kind=kind, source="trained", parent=parent, method=job["method"],
            seen=orders.seen, pool=orders.pool, activate=at_once,
        ).id  # fmt: skip

    def _decide(
        self, job: dict[str, Any], task: ProjectTask, model: int | None, said: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Put a model in use that is not worse than the one before, unless nobody wants it; return what was done."""
        if model is None or self.table.get(job["id"])["state"] != "running":
            return None
        if job["activate"] == ALWAYS:
            return said | {"used": True, "why": "you said so"}
        if not job["activate"]:
            return said | {"used": False}
        if said["used"]:
            self._bench.tasks.set_active(task.name, model)
        return said

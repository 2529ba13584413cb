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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from sqlite3 import Row
from typing import IO, Any, Literal

from espalier.errors import EspalierError
from espalier.recipes import METHODS
from espalier.workbench.bench import Bench
from espalier.workbench.database import Database, as_stored, now
from espalier.workbench.failures import Failure, explained
from espalier.workbench.labellers import check_file
from espalier.workbench.orders import Orders, rules_in_use, write_orders
from espalier.workbench.tasks import ProjectTask

__all__ = ["Jobs"]

ALWAYS: Literal["always"] = "always"
Activate = bool | Literal["always"]
ENDED = ("done", "failed", "cancelled")
_JSON = ("curve", "error", "verdict")
_OPEN = "state IN ('queued', 'running')"
_INTERRUPTED = Failure(500, "the server was stopped while this ran", "start it again").body()["error"]
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

    def start(self, task: ProjectTask, method: str, name: str, activate: Activate) -> dict[str, Any]:
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
        return {"running": self.table.running(), "queued": self.table.waiting()}

    def cancel(self, job: int) -> dict[str, Any]:
        """End a job at once; one that has ended stays as it is."""
        found = self.table.get(job)
        with self._lock:
            known = self._known(job)
            if found["state"] not in ENDED and self.table.change(job, "cancelled", **known) and known:
                self._kill()
        return self.table.get(job)

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


class JobTable:
    """The table of jobs; one that ran when a server died has failed, those that waited still wait."""

    def __init__(self, database: Database, *, leads: bool) -> None:
        """Take the project's file; leads : no other process runs jobs."""
        self._db = database
        if not leads:
            return
        with database.write() as write:
            write.execute(
                "UPDATE job SET state = 'failed', finished = ?, error = ? WHERE state = 'running'",
                (now(), json.dumps(_INTERRUPTED)),
            )

    def add(self, task: str, method: str, name: str, activate: Activate) -> dict[str, Any]:
        """Store a job that waits."""
        values = (task, method, name, 2 if activate == ALWAYS else int(activate), now())
        into = "INSERT INTO job (task, method, name, activate, state, created) VALUES (?, ?, ?, ?, 'queued', ?)"
        with self._db.write() as write:
            id = write.execute(into, values).lastrowid
        return self.get(int(id or 0))

    def get(self, job: int) -> dict[str, Any]:
        """Return a job as the API writes it."""
        row = self._db.row("SELECT * FROM job WHERE id = ?", job)
        if row is None:
            raise Failure(404, f"there is no job {job}", "the list of jobs has the numbers")
        return _job(row)

    def all(self, task: str | None, limit: int) -> list[dict[str, Any]]:
        """Return jobs, the newest first."""
        only, values = ("", ()) if task is None else (" WHERE task = ?", (task,))
        return [_job(row) for row in self._db.rows(f"SELECT * FROM job{only} ORDER BY id DESC LIMIT ?", *values, limit)]

    def next(self) -> dict[str, Any] | None:
        """Return the job that has waited longest."""
        row = self._db.row("SELECT * FROM job WHERE state = 'queued' ORDER BY id LIMIT 1")
        return None if row is None else _job(row)

    def open(self, task: str) -> list[int]:
        """Return the numbers of a task's jobs that have not ended."""
        rows = self._db.rows(f"SELECT id FROM job WHERE task = ? AND {_OPEN} ORDER BY id DESC", task)
        return [row["id"] for row in rows]

    def running(self) -> int | None:
        """Return the number of the job that runs, None if none does."""
        row = self._db.row("SELECT id FROM job WHERE state = 'running' ORDER BY id LIMIT 1")
        return None if row is None else int(row["id"])

    def note(self, job: int, **columns: Any) -> None:
        """Store the news of a job that runs."""
        self._set(job, "state = 'running'", columns)

    def waiting(self) -> int:
        """Return how many jobs wait."""
        row = self._db.row("SELECT count(*) AS n FROM job WHERE state = 'queued'")
        return 0 if row is None else int(row["n"])

    def change(self, job: int, state: str, **columns: Any) -> bool:
        """Move a job that has not ended to another state; say whether that was possible."""
        stamp = "started" if state == "running" else "finished"
        return self._set(job, _OPEN, {**columns, "state": state, stamp: now()})

    def _set(self, job: int, condition: str, columns: Mapping[str, Any]) -> bool:
        values = [json.dumps(value) if name in _JSON else value for name, value in columns.items()]
        sets = ", ".join(f"{name} = ?" for name in columns)
        with self._db.write() as write:
            done = write.execute(f"UPDATE job SET {sets} WHERE id = ? AND {condition}", (*values, job))
        return done.rowcount > 0


@as_stored
def _job(row: Row) -> dict[str, Any]:
    found = {key: row[key] for key in row.keys() if key not in ("activate", *_JSON)}  # noqa: SIM118
    found["activate"] = ALWAYS if row["activate"] == 2 else bool(row["activate"])
    return found | {name: None if row[name] is None else json.loads(row[name]) for name in _JSON}

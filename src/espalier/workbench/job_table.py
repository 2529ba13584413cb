"""Jobs as they are stored: what was asked for, how it went, what came of it."""

from __future__ import annotations

import json
from sqlite3 import Row
from typing import Any

from espalier.workbench.clock import now
from espalier.workbench.database import Database
from espalier.workbench.failures import Failure

__all__ = ["ENDED", "JobTable"]

ENDED = ("done", "failed", "cancelled")
_JSON = ("curve", "error")
_INTERRUPTED = Failure(500, "the server was stopped while this ran", "start it again").body()["error"]


class JobTable:
    """The table of jobs; one that ran when a server died has failed, those that waited still wait."""

    def __init__(self, database: Database) -> None:
        """Take the project's file."""
        self._db = database
        with database.write() as write:
            write.execute(
                "UPDATE job SET state = 'failed', finished = ?, error = ? WHERE state = 'running'",
                (now(), json.dumps(_INTERRUPTED)),
            )

    def add(self, task: str, method: str, name: str, activate: bool) -> dict[str, Any]:
        """Store a job that waits."""
        values = (task, method, name, activate, now())
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
        rows = self._db.rows(
            "SELECT id FROM job WHERE task = ? AND state IN ('queued', 'running') ORDER BY id DESC", task
        )
        return [row["id"] for row in rows]

    def waiting(self) -> int:
        """Return how many jobs wait."""
        row = self._db.row("SELECT count(*) AS n FROM job WHERE state = 'queued'")
        return 0 if row is None else int(row["n"])

    def change(self, job: int, state: str, **columns: Any) -> bool:
        """Move a job that has not ended to another state; say whether that was possible."""
        stamp = "started" if state == "running" else "finished"
        columns |= {"state": state, stamp: now()}
        columns |= {name: json.dumps(columns[name]) for name in _JSON if name in columns}
        sets = ", ".join(f"{name} = ?" for name in columns)
        with self._db.write() as write:
            done = write.execute(
                f"UPDATE job SET {sets} WHERE id = ? AND state IN ('queued', 'running')", (*columns.values(), job)
            )  # fmt: skip
            return done.rowcount > 0


def _job(row: Row) -> dict[str, Any]:
    found = {key: row[key] for key in row.keys() if key not in ("activate", *_JSON)}  # noqa: SIM118
    found["activate"] = bool(row["activate"])
    found["curve"] = json.loads(row["curve"])
    found["error"] = None if row["error"] is None else json.loads(row["error"])
    return found

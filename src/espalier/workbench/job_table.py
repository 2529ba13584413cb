"""The table of jobs: what was asked for, how far it is, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from sqlite3 import Row
from typing import Any, Literal

from espalier.server.database import Database, as_stored, now
from espalier.server.failures import Failure

__all__ = ["ALWAYS", "Activate", "JobTable"]

ALWAYS: Literal["always"] = "always"
Activate = bool | Literal["always"]
_JSON = ("curve", "error", "verdict")
_OPEN = "state IN ('queued', 'running')"
_INTERRUPTED = Failure(500, "the server was stopped while this ran", "start it again").body()["error"]


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
        """Return a job, as JSON values."""
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

"""Who changed what, and when: one row a change of a record or of a rule set, with what was there before and after.

A record and a rule set have a version, which every change raises by one. Who writes says which version he has read; if
it is not the latest any more, somebody else was faster, and the write is refused with what is there now (`Stale`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from sqlite3 import Connection, Row
from typing import TYPE_CHECKING, Any

from espalier.server.database import Database, as_stored, now
from espalier.server.failures import Failure

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["HistoryChange", "HistoryStore", "Stale", "note", "stale"]


class Stale(Failure):
    """A write on an old version. current : what is there now, as the API shows it; a route fills it in."""

    def __init__(self, what: str, who: str, at: str | None) -> None:
        """Say whose change came first."""
        when = "" if at is None else f" at {at}"
        super().__init__(409, f"{who or 'somebody'} has changed {what}{when}", "look at both, and choose one")
        self.current: BaseModel | None = None

    def body(self) -> dict[str, Any]:
        """Return the JSON of the answer, with what is there now."""
        shown = None if self.current is None else self.current.model_dump(mode="json", exclude_unset=True)
        return {**super().body(), "current": shown}


@dataclass(frozen=True, slots=True)
class HistoryChange:
    """One change. record : None for rules and labels; version : the one that it made; before, after : JSON values."""

    id: int
    record: int | None
    version: int
    at: str
    who: str
    what: str
    before: Any
    after: Any


class HistoryStore:
    """The table of changes."""

    def __init__(self, database: Database) -> None:
        """Take the project's file."""
        self._db = database

    def of(self, task: str, record: int | None, limit: int) -> list[HistoryChange]:
        """Return the changes of a task, or of one record of it, the newest first."""
        only, values = ("", ()) if record is None else (" AND record = ?", (record,))
        rows = self._db.rows(
            f"SELECT * FROM history WHERE task = ?{only} ORDER BY id DESC LIMIT ?", task, *values, limit
        )
        return [_change(row) for row in rows]

    def get(self, task: str, change: int) -> HistoryChange:
        """Return a change by its number."""
        row = self._db.row("SELECT * FROM history WHERE task = ? AND id = ?", task, change)
        if row is None:
            raise Failure(404, f"the task {task} has no change {change}", "read the history again")
        return _change(row)

    def names(self, task: str) -> list[str]:
        """Return who has changed something, by name."""
        rows = self._db.rows("SELECT DISTINCT who FROM history WHERE task = ? AND who != '' ORDER BY who", task)
        return [row["who"] for row in rows]


def note(
    write: Connection,
    task: str,
    record: int | None,
    version: int,
    who: str,
    what: str,
    before: Any = None,
    after: Any = None,
) -> None:
    """Store a change, inside the transaction that makes it."""
    values = (task, record, version, now(), who, what, *(None if v is None else json.dumps(v) for v in (before, after)))
    into = "INSERT INTO history (task, record, version, at, who, what, before, after)"
    write.execute(f"{into} VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)


def stale(write: Connection, what: str, task: str, record: int | None) -> Stale:
    """Return the refusal of a write on an old version of a record, or with None of the rules: who was faster."""
    of = "record IS NULL AND what = 'rules'" if record is None else "record = ?"
    query = f"SELECT who, at FROM history WHERE task = ? AND {of} ORDER BY id DESC LIMIT 1"
    last = write.execute(query, (task,) if record is None else (task, record)).fetchone()
    return Stale(what, "", None) if last is None else Stale(what, last["who"], last["at"])


@as_stored
def _change(row: Row) -> HistoryChange:
    found = {key: row[key] for key in row.keys() if key != "task"}  # noqa: SIM118
    for key in ("before", "after"):
        found[key] = None if found[key] is None else json.loads(found[key])
    return HistoryChange(**found)

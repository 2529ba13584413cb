"""Taking back a change, whoever made it: what was there before is there again, and the history has one row more.

Only the latest change of a thing can be taken back: what came after it would be lost otherwise. Taking back what was
taken back is doing it again.
"""

from __future__ import annotations

import json
from sqlite3 import Connection
from typing import Any

from espalier.workbench.bench import Bench
from espalier.workbench.failures import Failure
from espalier.workbench.history import HistoryChange
from espalier.workbench.marking import parted_back
from espalier.workbench.records import bring_back, check_restored, give_fields, stale
from espalier.workbench.tasks import ProjectTask, RuleState

__all__ = ["undo"]

_FIELDS = ("confirmed", "confirmed with others", "taken back", "loaded from a file", "undone")


def undo(bench: Bench, task: ProjectTask, change: HistoryChange, who: str) -> None:
    """Take a change back; `Stale` if it is not the latest of its record or of the rules."""
    if change.what == "rules":
        bench.tasks.set_rules(task.name, RuleState.from_dict(change.before), who, change.version)
        return
    with bench.database.write() as write:
        if change.what in _FIELDS:
            _fields_back(write, task, change, who)
        elif change.what in ("split", "merged"):
            parted_back(write, task, change.before, change.after, who)
        elif change.what == "removed":
            _record_back(write, task, change, who)
        else:
            raise Failure(409, f"{change.what!r} cannot be taken back", "do the opposite by hand")


def _fields_back(write: Connection, task: ProjectTask, change: HistoryChange, who: str) -> None:
    row = write.execute("SELECT * FROM record WHERE id = ?", (change.record,)).fetchone()
    if row is None:
        raise Failure(409, f"record {change.record} was removed", "take that back first")
    if row["version"] != change.version:
        raise stale(write, row)
    check_restored(task, change.before)
    give_fields(write, row, None if change.before is None else json.dumps(change.before), who, "undone")


def _record_back(write: Connection, task: ProjectTask, change: HistoryChange, who: str) -> None:
    row: dict[str, Any] = change.before
    query = "SELECT max(version) FROM history WHERE task = ? AND record = ?"
    if write.execute(query, (task.name, row["id"])).fetchone()[0] != change.version:
        raise stale(write, row)
    bring_back(write, task, row, change.version + 1, who)

"""Versions of a task's model: where each comes from, what it learned from, how it was judged, and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Row
from typing import Any

from espalier.server.database import Database, as_stored, now
from espalier.server.failures import Failure
from espalier.server.tasks import BUNDLED_MODEL, REFERENCES, ProjectTask

__all__ = ["ModelStore", "Version"]

_COLUMNS = "id, task, name, parent, created, source, method, kind, corrected, pool, scores, seen, length(file) AS bytes"


@dataclass(frozen=True, slots=True)
class Version:
    """One model. seen : the records it learned from; scores : of held-out records, None if nothing was held out."""

    id: int
    name: str
    parent: int | None
    created: str | None
    source: str
    method: str | None
    kind: str
    corrected: int
    pool: int
    scores: Mapping[str, float] | None
    seen: frozenset[int]
    bytes: int | None


_BUNDLED = Version(BUNDLED_MODEL, "bundled", None, None, "bundled", None, "ccm", 0, 0, None, frozenset(), None)


class ModelStore:
    """The table of models."""

    def __init__(self, database: Database) -> None:
        """Take the project's file."""
        self._db = database

    def all(self, task: str) -> list[Version]:
        """Return the versions, the newest first."""
        rows = self._db.rows(f"SELECT {_COLUMNS} FROM model WHERE task = ? ORDER BY id DESC", task)
        return [*map(_version, rows), *([_BUNDLED] if task == REFERENCES else [])]

    def get(self, task: str, model: int) -> Version:
        """Return one version."""
        if model == BUNDLED_MODEL and task == REFERENCES:
            return _BUNDLED
        return _version(self._row(_COLUMNS, task, model))

    def chosen(self, task: ProjectTask, model: int | None) -> int | None:
        """Return the number of a version that is there; None stands for the one in use."""
        return task.active if model is None else self.get(task.name, model).id

    def _row(self, columns: str, task: str, model: int) -> Row:
        row = self._db.row(f"SELECT {columns} FROM model WHERE task = ? AND id = ?", task, model)
        if row is None:
            raise Failure(404, f"the task {task} has no model {model}", "the list of its models has the numbers")
        return row

    def file(self, task: str, model: int) -> bytes:
        """Return the model file of a version that is not bundled."""
        return bytes(self._row("file", task, model)["file"])

    def check_labels(self, task: ProjectTask, model: int) -> None:
        """Refuse a model that has learned other labels than the task has now."""
        row = self._db.row("SELECT labels FROM model WHERE task = ? AND id = ?", task.name, model)
        if row is not None and row["labels"] is not None and set(json.loads(row["labels"])) != set(task.fields):
            what = f"model {model} knows the labels that {task.name} had before"
            raise Failure(409, what, "train a new one on the corrected records")

    def add(
        self,
        task: str,
        file: bytes,
        *,
        name: str,
        kind: str,
        source: str,
        parent: int | None,
        method: str | None = None,
        seen: Sequence[int] = (),
        pool: int = 0,
        activate: bool = True,
    ) -> Version:
        """Store a version and, if told to, make it the active one, both or neither."""
        values = (task, name, parent, now(), source, method, kind, len(seen), pool, json.dumps(list(seen)), file)
        into = "INSERT INTO model (task, name, parent, created, source, method, kind, corrected, pool, seen, file)"
        with self._db.write() as write:
            id = int(write.execute(f"{into} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values).lastrowid or 0)
            if activate:
                write.execute("UPDATE task SET active = ? WHERE name = ?", (id, task))
        return self.get(task, id)

    def set_scores(self, model: int, scores: Mapping[str, Any]) -> None:
        """Store how a version was judged."""
        with self._db.write() as write:
            write.execute("UPDATE model SET scores = ? WHERE id = ?", (json.dumps(dict(scores)), model))

    def rename(self, task: str, model: int, name: str) -> Version:
        """Give a version another name."""
        self._own(task, model, "it keeps its name")
        with self._db.write() as write:
            write.execute("UPDATE model SET name = ? WHERE task = ? AND id = ?", (name, task, model))
        return self.get(task, model)

    def delete(self, task: str, model: int) -> None:
        """Forget a version that is not in use."""
        self._own(task, model, "it cannot be deleted")
        with self._db.write() as write:
            if write.execute("SELECT 1 FROM task WHERE name = ? AND active = ?", (task, model)).fetchone():
                raise Failure(409, f"model {model} is the active one", "activate another one first")
            write.execute("DELETE FROM model WHERE task = ? AND id = ?", (task, model))

    def _own(self, task: str, model: int, consequence: str) -> None:
        if self.get(task, model).source == "bundled":
            raise Failure(409, f"model {model} comes with the library; {consequence}")


@as_stored
def _version(row: Any) -> Version:
    values = {key: row[key] for key in row.keys() if key not in ("task", "scores", "seen")}  # noqa: SIM118
    scores = None if row["scores"] is None else json.loads(row["scores"])
    return Version(**values, scores=scores, seen=frozenset(json.loads(row["seen"])))

"""Tasks of a project: those that come with the library, and your own; the rules, and the model in use, of each.

Labels are plain names or, where a task file says so, tags with B- and I-; people see *fields*, which are the same names
without marks, and `outside` says whether text may be in none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from sqlite3 import Connection
from typing import Any

from espalier.citations.seen import reference_document
from espalier.corpus import Labels
from espalier.document import Document
from espalier.features.extract import FeatureExtractor
from espalier.features.fields import default_templates
from espalier.server.database import Database, as_stored
from espalier.server.failures import Failure
from espalier.server.history import Stale, note, stale
from espalier.tags import OUTSIDE, is_tag, path_of
from espalier.tasks.task import load_task

__all__ = [
    "BUILTIN",
    "BUNDLED_MODEL",
    "MOST_LABELS",
    "REFERENCES",
    "ProjectTask",
    "RuleState",
    "TaskStore",
    "document_of",
    "own_labels",
]

REFERENCES = "citations"
"""The task whose records are references: with a bundled model, a splitter and formats of its own."""

BUILTIN = (REFERENCES, "ads", "cora", "entities")
BUNDLED_MODEL = 0
"""The number of the model that comes with the library."""

NAME = r"[a-z][a-z0-9-]{0,39}"
LABEL = r"[^\W\d]\w*(?:-\w+)*"
MOST_LABELS = 60
_LABEL = re.compile(LABEL)


@dataclass(frozen=True, slots=True)
class RuleState:
    """Rules as their text, with what sliders (None is hard) and switches say about them."""

    text: str
    penalties: Mapping[str, float | None] = field(default_factory=dict)
    off: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """What tells two states apart."""
        return (self.text, tuple(sorted(self.penalties.items())), self.off)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"text": self.text, "penalties": dict(self.penalties), "off": list(self.off)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RuleState:
        """Return a state from its JSON values."""
        return cls(values["text"], values["penalties"], tuple(values["off"]))


@dataclass(frozen=True, slots=True)
class ProjectTask:
    """One task. labels : as models have them; templates : its features; active : the number of the model in use.

    version : of the labels and the model in use; rules_version : of the rules.
    """

    name: str
    labels: Labels
    templates: tuple[str, ...]
    rules: RuleState
    active: int | None
    version: int = 1
    rules_version: int = 1

    @property
    def builtin(self) -> bool:
        """Does it come with the library?"""
        return self.name in BUILTIN

    @property
    def fields(self) -> tuple[str, ...]:
        """What people may assign."""
        return tuple(dict.fromkeys(path_of(label) for label in self.labels if label != OUTSIDE))

    @property
    def outside(self) -> bool:
        """May text be in no field?"""
        return OUTSIDE in self.labels


class TaskStore:
    """The table of tasks; those that come with the library are there from the start."""

    def __init__(self, database: Database) -> None:
        """Put the tasks of the library where they are missing."""
        self._db = database
        with database.write() as write:
            for name in BUILTIN:
                _begin(write, name)

    def all(self) -> list[ProjectTask]:
        """Return all tasks: the library's, then your own by name."""
        found = {row["name"]: _task(row) for row in self._db.rows("SELECT * FROM task ORDER BY name")}
        return [found.pop(name) for name in BUILTIN] + list(found.values())

    def get(self, name: str) -> ProjectTask:
        """Return a task by name."""
        row = self._db.row("SELECT * FROM task WHERE name = ?", name)
        if row is None:
            known = ", ".join(row["name"] for row in self._db.rows("SELECT name FROM task ORDER BY name"))
            raise Failure(404, f"there is no task {name!r}", f"tasks: {known}")
        return _task(row)

    def create(
        self, name: str, labels: Sequence[str], outside: bool, templates: Sequence[str] | None, rules: str
    ) -> ProjectTask:
        """Add a task of your own; wrong labels or templates are refused, and a name that is taken."""
        templates = None if templates is None else list(templates)
        definition = json.dumps({"labels": list(labels), "outside": outside, "templates": templates})
        _defined(definition)
        with self._db.write() as write:
            if write.execute("SELECT 1 FROM task WHERE name = ?", (name,)).fetchone():
                raise Failure(409, f"there is a task {name!r} already", "choose another name")
            write.execute("INSERT INTO task (name, definition, rules) VALUES (?, ?, ?)", (name, definition, rules))
        return self.get(name)

    def delete(self, name: str) -> None:
        """Forget a task with all it has; one of the library's begins anew."""
        self.get(name)
        with self._db.write() as write:
            write.execute("DELETE FROM task WHERE name = ?", (name,))
            if name in BUILTIN:
                _begin(write, name)

    def set_rules(self, name: str, state: RuleState, who: str = "", version: int | None = None) -> None:
        """Store rules; version : the one that was read, if later ones are not to be overwritten (`Stale`)."""
        with self._db.write() as write:
            row = write.execute("SELECT * FROM task WHERE name = ?", (name,)).fetchone()
            before = _rules_of(row)
            if version is not None and row["rules_version"] != version and before != state:
                raise stale(write, f"the rules of {name}", name, None)
            values = (state.text, json.dumps(dict(state.penalties)), json.dumps(state.off), name)
            sets = "rules = ?, penalties = ?, off = ?, rules_version = rules_version + 1"
            write.execute(f"UPDATE task SET {sets} WHERE name = ?", values)
            note(write, name, None, row["rules_version"] + 1, who, "rules", before.to_dict(), state.to_dict())

    def set_active(self, name: str, model: int | None, version: int | None = None) -> None:
        """Store which model is in use; version : of the task, as it was read."""
        with self._db.write() as write:
            _check_version(write, name, version)
            write.execute("UPDATE task SET active = ?, version = version + 1 WHERE name = ?", (model, name))

    def set_labels(
        self,
        write: Connection,
        task: ProjectTask,
        names: Sequence[str],
        state: RuleState,
        who: str,
        version: int | None,
    ) -> None:
        """Store labels and rules; models of before are marked with the labels that they know, and none is in use."""
        _check_version(write, task.name, version)
        definition = json.dumps({"labels": names, "outside": task.outside, "templates": list(task.templates)})
        rules = (state.text, json.dumps(dict(state.penalties)), json.dumps(state.off))
        sets = "definition = ?, rules = ?, penalties = ?, off = ?, active = NULL"
        versions = "version = version + 1, rules_version = rules_version + 1"
        write.execute(f"UPDATE task SET {sets}, {versions} WHERE name = ?", (definition, *rules, task.name))
        known = json.dumps(list(task.fields))
        write.execute("UPDATE model SET labels = ? WHERE task = ? AND labels IS NULL", (known, task.name))
        before = {"labels": list(task.fields), "rules": task.rules.text}
        note(write, task.name, None, task.version + 1, who, "labels", before, {"labels": names, "rules": state.text})


def document_of(task: str, text: str) -> Document:
    """Return a text with the tokens that records of a task have: those of references are their own."""
    return reference_document(text) if task == REFERENCES else Document.from_text(text)


def _check_version(write: Connection, name: str, version: int | None) -> None:
    """Refuse a change of a task that has been changed since it was read."""
    row = write.execute("SELECT version FROM task WHERE name = ?", (name,)).fetchone()
    if version is not None and row["version"] != version:
        raise Stale(f"the task {name}", "", None)


def _begin(write: Connection, name: str) -> None:
    """Put a task of the library into the table, unless it is there."""
    active = BUNDLED_MODEL if name == REFERENCES else None
    values = (name, _own_rules(name), active)
    write.execute("INSERT OR IGNORE INTO task (name, rules, active) VALUES (?, ?, ?)", values)


@as_stored
def _task(row: Any) -> ProjectTask:
    labels, templates = _declared(row["name"]) if row["definition"] is None else _defined(row["definition"])
    versions = row["version"], row["rules_version"]
    return ProjectTask(row["name"], labels, templates, _rules_of(row), row["active"], *versions)


@as_stored
def _rules_of(row: Any) -> RuleState:
    return RuleState(row["rules"], json.loads(row["penalties"]), tuple(json.loads(row["off"])))


@lru_cache(maxsize=8)
def _declared(name: str) -> tuple[Labels, tuple[str, ...]]:
    task = load_task(name)
    return task.labels, tuple(map(str, task.extractor.templates))


@lru_cache(maxsize=64)
def _defined(definition: str) -> tuple[Labels, tuple[str, ...]]:
    table = json.loads(definition)
    labels = own_labels(table["labels"], table["outside"])
    if table["templates"] is None:
        return labels, tuple(map(str, default_templates()))
    extractor = FeatureExtractor.from_table({"templates": table["templates"]})
    return labels, tuple(map(str, extractor.templates))


def own_labels(labels: Sequence[str], outside: bool) -> Labels:
    """Return the labels of a task of your own; `O` comes first, so that it wins among equals."""
    for label in labels:
        if not _LABEL.fullmatch(label) or label == OUTSIDE or is_tag(label):
            hint = (
                "use letters, digits, inner hyphens and underscores, as in 'title' or 'start-date'; not O, B-x or I-x"
            )
            raise Failure(400, f"{label!r} is no name for a label", hint)
    return Labels([OUTSIDE, *labels] if outside else labels)


def _own_rules(name: str) -> str:
    return (resources.files("espalier.tasks") / f"{name}.rules").read_text(encoding="utf-8")

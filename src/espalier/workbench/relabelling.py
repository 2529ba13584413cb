"""Labels of a task are added, renamed, merged (renamed to one that is there), removed; what happens is shown first.

Confirmed fields follow. A removed label takes its fields along; where all text of a task is in fields, such records are
not confirmed any more. In the rules names are exchanged, and rules that cannot be read then become comments. Models
have learned the old labels, so none is in use afterwards: train a new one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from espalier.corpus import Labels
from espalier.errors import nearest
from espalier.workbench.bench import Bench
from espalier.workbench.failures import Failure
from espalier.workbench.history import note
from espalier.workbench.records import give_fields
from espalier.workbench.rule_texts import check_text, pruned
from espalier.workbench.tasks import MOST_LABELS, ProjectTask, RuleState, check_version, own_labels

__all__ = ["LabelChange", "change_labels", "renamed_rules"]

_LEXEMES = re.compile(r'"(?:[^"\\]|\\.)*"|/(?:[^/\\\n]|\\.)*/|#[^\n]*|[^\W\d]\w*(?:-\w+)*\s*:(?!:)|[^\W\d]\w*(?:-\w+)*')
_CORRECTED = "SELECT * FROM record WHERE task = ? AND corrected IS NOT NULL"
_MOST = 1000  # rules that become comments


@dataclass(frozen=True, slots=True)
class LabelChange:
    """What to do: labels to add, new names by the old ones, labels to remove."""

    add: Sequence[str] = ()
    rename: Mapping[str, str] | None = None
    remove: Sequence[str] = ()


def change_labels(
    bench: Bench, task: ProjectTask, change: LabelChange, who: str, *, really: bool, version: int | None
) -> dict[str, Any]:
    """Return what a change of labels does, and do it if it is really wanted."""
    names = _names(task, change)
    outside = task.outside
    labels = own_labels(names, outside)
    state, rules = _rules(task, change, labels)
    touched = [
        row for row in bench.database.rows(_CORRECTED, task.name) if _new_fields(row["corrected"], change, outside)[1]
    ]
    lost = sum(_new_fields(row["corrected"], change, outside)[0] is None for row in touched)
    told = {"labels": names, "records": len(touched), "reopened": lost, "rules": rules,
            "model": task.active is not None, "done": really}  # fmt: skip
    if not really:
        return told
    definition = json.dumps({"labels": names, "outside": outside, "templates": list(task.templates)})
    with bench.database.write() as write:
        check_version(write, task.name, version)
        _store(write, task, definition, state)
        before = {"labels": list(task.fields), "rules": task.rules.text}
        note(write, task.name, None, task.version + 1, who, "labels", before, {"labels": names, "rules": state.text})
        for row in write.execute(_CORRECTED, (task.name,)).fetchall():
            fields, moved = _new_fields(row["corrected"], change, outside)
            if moved:
                give_fields(write, row, fields, who, "labels changed")
    return told


def _names(task: ProjectTask, change: LabelChange) -> list[str]:
    """Return the labels after a change, in order; what cannot be done is refused."""
    if task.builtin:
        what = f"the labels of {task.name} come with the library"
        raise Failure(409, what, "make a task of your own, and load the corrected records there")
    rename = change.rename or {}
    for label in (*rename, *change.remove):
        if label not in task.fields:
            hint = nearest(label, task.fields, f"labels: {', '.join(task.fields)}")
            raise Failure(400, f"the task {task.name} has no label {label!r}", hint)
    kept = [rename.get(label, label) for label in task.fields if label not in change.remove]
    names = list(dict.fromkeys(kept))
    twice = next((label for label in change.add if label in names), None)
    if twice is not None:
        raise Failure(400, f"there is a label {twice!r} already", "to merge two labels, rename one to the other")
    if not names and not change.add:
        raise Failure(400, "no label would be left", "keep one, or delete the task")
    names += dict.fromkeys(change.add)
    if len(names) > max(MOST_LABELS, len(task.fields)):
        raise Failure(400, f"a task has at most {MOST_LABELS} labels", "remove or merge some")
    return names


def _new_fields(stored: str, change: LabelChange, outside: bool) -> tuple[str | None, bool]:
    """Return the fields of a record after a change, None if they are no longer confirmed, and whether they differ."""
    rename = change.rename or {}
    spans = json.loads(stored)
    kept = [[start, end, rename.get(label, label)] for start, end, label in spans if label not in change.remove]
    if len(kept) < len(spans) and not outside:
        return None, True
    return json.dumps(kept), kept != spans


def renamed_rules(text: str, rename: Mapping[str, str]) -> str:
    """Exchange names of labels in a text of rules; names of rules, strings, patterns and comments stay."""
    return _LEXEMES.sub(lambda found: rename.get(found.group(), found.group()), text)


def _rules(task: ProjectTask, change: LabelChange, labels: Labels) -> tuple[RuleState, list[dict[str, str]]]:
    """Return the rules after a change, and each line that differs."""
    text = renamed_rules(task.rules.text, change.rename or {})
    for _ in range(_MOST):
        mistakes = check_text(text, labels).mistakes
        if not mistakes:
            break
        lines = text.split("\n")
        lines[mistakes[0].line - 1] = f"# {lines[mistakes[0].line - 1]}"
        text = "\n".join(lines)
    pairs = zip(task.rules.text.split("\n"), text.split("\n"), strict=True)
    rows = [{"before": old, "after": new} for old, new in pairs if old != new]
    state = RuleState(text, task.rules.penalties, task.rules.off)
    return pruned(state, check_text(text, labels).rules.names), rows


def _store(write: Connection, task: ProjectTask, definition: str, state: RuleState) -> None:
    """Store labels and rules; models of before are marked with the labels that they know, and none is in use."""
    rules = (state.text, json.dumps(dict(state.penalties)), json.dumps(state.off))
    sets = "definition = ?, rules = ?, penalties = ?, off = ?, active = NULL"
    versions = "version = version + 1, rules_version = rules_version + 1"
    write.execute(f"UPDATE task SET {sets}, {versions} WHERE name = ?", (definition, *rules, task.name))
    known = json.dumps(list(task.fields))
    write.execute("UPDATE model SET labels = ? WHERE task = ? AND labels IS NULL", (known, task.name))

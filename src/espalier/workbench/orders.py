"""What a training process is told: which task, records and rules, as files in a directory of its own."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from espalier.document import Document
from espalier.io import write
from espalier.recipes import METHODS
from espalier.rules.ruleset import RuleSet
from espalier.server.models import ModelStore, Version
from espalier.server.rule_texts import pruned, sound
from espalier.server.tasks import REFERENCES, ProjectTask
from espalier.workbench.records import RecordStore, Stored

__all__ = ["Orders", "rules_in_use", "write_orders"]


@dataclass(frozen=True, slots=True)
class Orders:
    """Orders for a process; output : where it leaves the model; seen : the records that it learns from; pool : how many
    more it reads without labels."""

    text: dict[str, Any]
    output: Path
    seen: list[int]
    pool: int


def write_orders(
    records: RecordStore, models: ModelStore, task: ProjectTask, method: str, directory: Path, *, memory: int
) -> Orders:  # fmt: skip
    """Write the files, and return the orders."""
    active = None if task.active is None else models.get(task.name, task.active)
    methods = [method, *([] if active is None or active.method is None else [active.method])]
    pooled = any(METHODS[name].pool for name in methods)
    labelled = records.all(task.name, corrected=True)
    pool = records.all(task.name, corrected=False) if pooled else []
    write([one.document for one in labelled], directory / "labelled.jsonl")
    write([Document(one.document.text, one.document.tokens) for one in pool], directory / "pool.jsonl")
    rules = rules_in_use(task)
    (directory / "task.rules").write_text(f"{rules}\n", encoding="utf-8")
    text = {
        "task": task.name if task.builtin else str(_task_file(task, directory)),
        "rules": str(directory / "task.rules") if rules.K else None,
        "method": method,
        "labelled": str(directory / "labelled.jsonl"),
        "pool": str(directory / "pool.jsonl") if pool else None,
        "output": str(directory / "model.espalier"),
        "memory": memory,
        "active": None if active is None else _active(models, task, active, labelled, directory),
    }
    learned = len(pool) if METHODS[method].pool else 0
    return Orders(text, directory / "model.espalier", [one.id for one in labelled], learned)


def _active(
    models: ModelStore, task: ProjectTask, active: Version, labelled: Sequence[Stored], directory: Path
) -> dict[str, Any]:
    """Write the model in use, which the new one is compared with, and say which of the records it has learned from."""
    file = REFERENCES
    if active.source != "bundled":
        (directory / "active.espalier").write_bytes(models.file(task.name, active.id))
        file = str(directory / "active.espalier")
    seen = [place for place, one in enumerate(labelled) if one.id in active.seen]
    return {"file": file, "method": active.method, "seen": seen}


def rules_in_use(task: ProjectTask) -> RuleSet:
    """Return the rules that are on, with what the sliders say."""
    rules = sound(task.rules.text, task.labels)
    state = pruned(task.rules, rules.names)
    prices = {name: math.inf if value is None else value for name, value in state.penalties.items()}
    return rules.with_penalties(prices).without(*state.off)


def _task_file(task: ProjectTask, directory: Path) -> Path:
    """Write a task of your own as a task file; its rules are beside it."""
    labels, templates = (json.dumps(list(values), ensure_ascii=False) for values in (task.labels, task.templates))
    path = directory / f"{task.name}.toml"
    path.write_text(f"labels = {labels}\n\n[features]\ntemplates = {templates}\n", encoding="utf-8")
    return path

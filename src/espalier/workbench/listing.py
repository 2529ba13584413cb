"""Records in an order: by place, by confidence, or as a queue of what to correct next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from espalier.workbench.bench import Bench
from espalier.workbench.records import Stored
from espalier.workbench.tasks import ProjectTask

__all__ = ["listed", "queued"]

_CORRECTED = {"any": None, "yes": True, "no": False}


def listed(
    bench: Bench, task: ProjectTask, order: str, corrected: str, offset: int, limit: int, k: int
) -> dict[str, Any]:  # fmt: skip
    """Return a page of records; only an order by confidence needs the answers of all."""
    bench.check_many(limit)
    total, done = bench.records.counts(task.name)
    matching = {"any": total, "yes": done, "no": total - done}[corrected]
    if order == "position":
        stored = bench.records.all(task.name, _CORRECTED[corrected], offset, limit)
    else:
        everything = bench.records.all(task.name, _CORRECTED[corrected])
        stored = _by_confidence(bench, task, everything, reverse=order == "confidence")[offset : offset + limit]
    counts = {"total": total, "corrected": done, "matching": matching, "offset": offset, "model": task.active}
    return {**counts, "records": bench.record_dicts(task, stored, k)}


def queued(bench: Bench, task: ProjectTask, limit: int, skip: Sequence[int], k: int) -> dict[str, Any]:
    """Return the least confident records that nobody corrected."""
    stored = bench.records.all(task.name, corrected=False)
    left, skipped = len(stored), frozenset(skip)
    stored = [one for one in stored if one.id not in skipped]
    first = _by_confidence(bench, task, stored)[:limit]
    return {"left": left, "records": bench.record_dicts(task, first, k)}


def _by_confidence(bench: Bench, task: ProjectTask, stored: Sequence[Stored], *, reverse: bool = False) -> list[Stored]:
    sure = dict(zip((one.id for one in stored), bench.confidences(task, stored), strict=True))
    return sorted(stored, key=lambda one: sure[one.id], reverse=reverse)

"""The history of a task and its records: who, when, what; and taking a change back."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from fastapi import Query

from espalier.server.failures import Failure
from espalier.server.history import Stale
from espalier.server.shapes import LARGEST
from espalier.workbench.marking import undo
from espalier.workbench.routes.shared import BenchOf, Number, Routes, TaskOf, WhoOf
from espalier.workbench.shapes.records import HistoryAnswer

__all__ = ["router"]

router = Routes(tags=["history"])


@router.get("/tasks/{task}/history")
def read_history(
    task: TaskOf,
    bench: BenchOf,
    record: Annotated[int | None, Query(ge=1, le=LARGEST)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> HistoryAnswer:
    """List the changes of a task or of one record, the newest first."""
    return HistoryAnswer(changes=bench.history.of(task.name, record, limit), names=bench.history.names(task.name))


@router.post("/tasks/{task}/history/{change}/undo")
def undo_change(task: TaskOf, change: Number, bench: BenchOf, who: WhoOf) -> HistoryAnswer:
    """Take a change back, whoever made it, if nothing came after it."""
    found = bench.history.get(task.name, change)
    try:
        undo(bench, task, found, who)
    except Stale as stale:
        if found.record is not None:
            with suppress(Failure):  # the record may be gone
                stale.current = bench.written(task, [bench.records.get(task.name, found.record)], 1)[0]
        raise
    return read_history(task, bench, found.record)

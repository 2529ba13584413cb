"""The history of a task and its records: who, when, what; and taking a change back."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from espalier.workbench.failures import Failure
from espalier.workbench.history import Stale
from espalier.workbench.marking import undo
from espalier.workbench.routes.shared import BenchOf, Number, TaskOf, WhoOf
from espalier.workbench.shapes import people
from espalier.workbench.shapes.requests import LARGEST

__all__ = ["router"]

router = APIRouter(tags=["history"])


@router.get("/tasks/{task}/history", response_model=people.HistoryAnswer)
def read_history(
    task: TaskOf,
    bench: BenchOf,
    record: Annotated[int | None, Query(ge=1, le=LARGEST)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> JSONResponse:
    """List the changes of a task or of one record, the newest first."""
    changes = [asdict(change) for change in bench.history.of(task.name, record, limit)]
    return JSONResponse({"changes": changes, "names": bench.history.names(task.name)})


@router.post("/tasks/{task}/history/{change}/undo", response_model=people.HistoryAnswer)
def undo_change(task: TaskOf, change: Number, bench: BenchOf, who: WhoOf) -> JSONResponse:
    """Take a change back, whoever made it, if nothing came after it."""
    found = bench.history.get(task.name, change)
    try:
        undo(bench, task, found, who)
    except Stale as stale:
        if found.record is not None:
            with suppress(Failure):  # the record may be gone
                stale.current = bench.record_dicts(task, [bench.records.get(task.name, found.record)], 1)[0]
        raise
    return read_history(task, bench, found.record)

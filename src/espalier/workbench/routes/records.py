"""Records: add, list, correct, forget; what to correct next; export."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Response

from espalier.document import Span
from espalier.server.history import Stale
from espalier.server.reading import read_text
from espalier.server.shapes import LARGEST
from espalier.workbench.bench import listed, queued, record_answer
from espalier.workbench.exporting import export
from espalier.workbench.given_labels import add
from espalier.workbench.routes.shared import (
    UPLOAD,
    BenchOf,
    ExportFormat,
    Number,
    Routes,
    TaskOf,
    Uploaded,
    WhoOf,
    download,
    numbers,
)
from espalier.workbench.searching import RecordFilter, matching
from espalier.workbench.shapes.records import Added, Deleted, Queue, RecordAnswer, RecordsAnswer
from espalier.workbench.shapes.requests import Corrections, Pasted, VersionRead

__all__ = ["router"]

router = Routes(tags=["records"])

Best = Annotated[int, Query(ge=1, le=20)]
Which = Literal["any", "yes", "no"]


@router.post("/tasks/{task}/records", status_code=201)
def add_records(asked: Pasted, task: TaskOf, bench: BenchOf, who: WhoOf) -> Added:
    """Add pasted text."""
    return add(bench, task, read_text(bench, task, asked.text, asked.layout), who)


@router.post("/tasks/{task}/records/upload", status_code=201, openapi_extra=UPLOAD)
def upload_records(read: Uploaded, task: TaskOf, bench: BenchOf, who: WhoOf) -> Added:
    """Add the records of a file; labelled ones count as corrected."""
    return add(bench, task, read, who)


@router.get("/tasks/{task}/records")
def list_records(
    task: TaskOf,
    bench: BenchOf,
    order: Literal["position", "confidence", "uncertainty"] = "position",
    corrected: Which = "any",
    offset: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 100,
    k: Best = 1,
    text: Annotated[str, Query(max_length=200)] = "",
    label: Annotated[str, Query(max_length=200)] = "",
    rule: Annotated[str, Query(max_length=200)] = "",
    low: Annotated[float, Query(ge=0, le=1)] = 0.0,
    high: Annotated[float, Query(ge=0, le=1)] = 1.0,
    who: Annotated[str, Query(max_length=200)] = "",
    state: Literal["any", "open", "corrected", "skipped", "flagged", "commented"] = "any",
) -> RecordsAnswer:
    """List records with what the active model says: all, or those that fit."""
    wanted = RecordFilter(text, label, rule, low, high, who, state)
    found = None if wanted == RecordFilter() else matching(bench, task, wanted)
    return listed(bench, task, order, corrected, offset, limit, k, found)


@router.delete("/tasks/{task}/records")
def delete_records(task: TaskOf, bench: BenchOf, corrected: Literal["no", "any"] = "no") -> Deleted:
    """Forget the records that nobody corrected, or all."""
    return Deleted(deleted=bench.records.delete_all(task.name, corrected=corrected == "any"))


@router.get("/tasks/{task}/records/{record}")
def read_record(task: TaskOf, record: Number, bench: BenchOf, k: Best = 1) -> RecordAnswer:
    """Read one record."""
    return bench.written(task, [bench.records.get(task.name, record)], k)[0]


@router.delete("/tasks/{task}/records/{record}", status_code=204, response_class=Response)
def delete_record(task: TaskOf, record: Number, bench: BenchOf, who: WhoOf) -> Response:
    """Forget a record."""
    bench.records.delete(task.name, record, who)
    return Response(status_code=204)


def _given(
    bench: BenchOf, task: TaskOf, record: int, spans: list[Span] | None, who: str, version: VersionRead
) -> RecordAnswer:  # fmt: skip
    """Give a record fields; where somebody was faster, show what he said."""
    answer = bench.answer(task, bench.records.get(task.name, record))
    try:
        stored = bench.records.correct(task, record, spans, who, version)
    except Stale as stale:
        stale.current = record_answer(bench.records.get(task.name, record), answer)
        raise
    return record_answer(stored, answer)


@router.put("/tasks/{task}/records/{record}/fields")
def correct_record(asked: Corrections, task: TaskOf, record: Number, bench: BenchOf, who: WhoOf) -> RecordAnswer:
    """Confirm the fields of a record; it is on the disk when the answer comes."""
    spans = [Span(place.start, place.end, place.label) for place in asked.fields]
    return _given(bench, task, record, spans, who, asked.version)


@router.delete("/tasks/{task}/records/{record}/fields")
def clear_record(
    task: TaskOf,
    record: Number,
    bench: BenchOf,
    who: WhoOf,
    version: Annotated[int | None, Query(ge=1, le=LARGEST)] = None,
) -> RecordAnswer:
    """Take a correction back."""
    return _given(bench, task, record, None, who, version)


@router.get("/tasks/{task}/queue")
def read_queue(
    task: TaskOf,
    bench: BenchOf,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1,
    skip: Annotated[str, Query(max_length=100_000)] = "",
    k: Best = 1,
) -> Queue:
    """Return what to correct next, the least confident first."""
    return queued(bench, task, limit, numbers(skip) or [], k)


@router.get("/tasks/{task}/export", response_class=Response)
def export_records(
    task: TaskOf,
    bench: BenchOf,
    format: ExportFormat,
    which: Literal["all", "corrected", "texts"] = "all",
    records: Annotated[str | None, Query(max_length=1_000_000)] = None,
    lossy: bool = False,
) -> Response:
    """Download records in a format."""
    return download(*export(bench, task, format.value, which, numbers(records), lossy=lossy))

"""Marks of records: flags, skipping, comments; splitting and merging; confirming many at once."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from espalier.workbench.bench import record_dict
from espalier.workbench.marking import add_comment, comments, flag, merge, skip, split
from espalier.workbench.routes.shared import BenchOf, Number, TaskOf, WhoOf
from espalier.workbench.searching import confirm_sure
from espalier.workbench.shapes import people
from espalier.workbench.shapes.records import RecordAnswer

__all__ = ["router"]

router = APIRouter(tags=["records"])


@router.patch("/tasks/{task}/records/{record}", response_model=RecordAnswer)
def mark_record(asked: people.MarkOrder, task: TaskOf, record: Number, bench: BenchOf, who: WhoOf) -> JSONResponse:
    """Flag a record, or put it off."""
    answer = bench.answer(task, bench.records.get(task.name, record))
    if "flag" in asked.model_fields_set:
        flag(bench, task, record, asked.flag, who)
    if asked.skipped is not None:
        skip(bench, task, record, asked.skipped)
    return JSONResponse(record_dict(bench.records.get(task.name, record), answer))


@router.get("/tasks/{task}/records/{record}/comments", response_model=people.CommentsAnswer)
def read_comments(task: TaskOf, record: Number, bench: BenchOf) -> JSONResponse:
    """Read the comments of a record."""
    return JSONResponse({"said": comments(bench, task, record)})


@router.post("/tasks/{task}/records/{record}/comments", response_model=people.CommentsAnswer)
def comment_record(asked: people.NewComment, task: TaskOf, record: Number, bench: BenchOf, who: WhoOf) -> JSONResponse:
    """Say something about a record."""
    add_comment(bench, task, record, who, asked.text)
    return read_comments(task, record, bench)


@router.post("/tasks/{task}/records/{record}/split", response_model=people.PartedAnswer)
def split_record(asked: people.SplitOrder, task: TaskOf, record: Number, bench: BenchOf, who: WhoOf) -> JSONResponse:
    """Make two records of one."""
    return JSONResponse({"made": split(bench, task, record, asked.at, who)})


@router.post("/tasks/{task}/records/{record}/merge", response_model=people.PartedAnswer)
def merge_records(asked: people.MergeOrder, task: TaskOf, record: Number, bench: BenchOf, who: WhoOf) -> JSONResponse:
    """Make one record of two."""
    return JSONResponse({"made": [merge(bench, task, record, asked.other, who)]})


@router.post("/tasks/{task}/sure", response_model=people.SureAnswer)
def confirm_sure_records(asked: people.SureOrder, task: TaskOf, bench: BenchOf, who: WhoOf) -> JSONResponse:
    """Confirm what the model is sure of, or look at a sample first."""
    return JSONResponse(confirm_sure(bench, task, asked.above, who, sample=asked.sample, really=asked.really))

"""Marks of records: flags, skipping, comments; splitting and merging; confirming many at once."""

from __future__ import annotations

from espalier.workbench.bench import record_answer
from espalier.workbench.marking import merge, split
from espalier.workbench.routes.shared import BenchOf, Number, Routes, TaskOf, WhoOf
from espalier.workbench.searching import confirm_sure
from espalier.workbench.shapes.records import CommentsAnswer, PartedAnswer, RecordAnswer, SureAnswer
from espalier.workbench.shapes.requests import MarkOrder, MergeOrder, NewComment, SplitOrder, SureOrder

__all__ = ["router"]

router = Routes(tags=["records"])


@router.patch("/tasks/{task}/records/{record}")
def mark_record(asked: MarkOrder, task: TaskOf, record: Number, bench: BenchOf, who: WhoOf) -> RecordAnswer:
    """Flag a record, or put it off."""
    answer = bench.answer(task, bench.records.get(task.name, record))
    if "flag" in asked.model_fields_set:
        bench.records.flag(task.name, record, asked.flag, who)
    if asked.skipped is not None:
        bench.records.skip(task.name, record, asked.skipped)
    return record_answer(bench.records.get(task.name, record), answer)


@router.get("/tasks/{task}/records/{record}/comments")
def read_comments(task: TaskOf, record: Number, bench: BenchOf) -> CommentsAnswer:
    """Read the comments of a record."""
    return CommentsAnswer(said=bench.records.comments(task.name, record))


@router.post("/tasks/{task}/records/{record}/comments")
def comment_record(asked: NewComment, task: TaskOf, record: Number, bench: BenchOf, who: WhoOf) -> CommentsAnswer:
    """Say something about a record."""
    bench.records.comment(task.name, record, who, asked.text)
    return read_comments(task, record, bench)


@router.post("/tasks/{task}/records/{record}/split")
def split_record(asked: SplitOrder, task: TaskOf, record: Number, bench: BenchOf, who: WhoOf) -> PartedAnswer:
    """Make two records of one."""
    return PartedAnswer(made=split(bench, task, record, asked.at, who))


@router.post("/tasks/{task}/records/{record}/merge")
def merge_records(asked: MergeOrder, task: TaskOf, record: Number, bench: BenchOf, who: WhoOf) -> PartedAnswer:
    """Make one record of two."""
    return PartedAnswer(made=merge(bench, task, record, asked.other, who))


@router.post("/tasks/{task}/sure")
def confirm_sure_records(asked: SureOrder, task: TaskOf, bench: BenchOf, who: WhoOf) -> SureAnswer:
    """Confirm what the model is sure of, or look at a sample first."""
    return confirm_sure(bench, task, asked, who)

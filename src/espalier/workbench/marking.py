"""Records are split and merged, and changes taken back."""

from __future__ import annotations

from espalier.document import Document, Span
from espalier.server.failures import Failure
from espalier.server.history import HistoryChange
from espalier.server.tasks import ProjectTask, RuleState
from espalier.workbench.bench import Bench

__all__ = ["merge", "split", "undo"]


def split(bench: Bench, task: ProjectTask, record: int, at: int, who: str) -> list[int]:
    """Make two records of one, and return their numbers; fields stay confirmed unless the cut goes through one."""
    old = bench.records.get(task.name, record)
    text = old.document.text
    left, right = text[:at].rstrip(), text[at:].lstrip()
    if not left.strip() or not right.strip():
        raise Failure(400, f"a cut at {at} leaves an empty record", f"the text has {len(text)} characters")
    start = len(text) - len(right)
    spans = old.document.spans
    sides: tuple[list[Span] | None, list[Span] | None] = (None, None)
    if spans is not None and not any(span.start < at < span.end for span in spans):
        moved = [Span(span.start - start, span.end - start, span.label) for span in spans if span.start >= at]
        sides = [span for span in spans if span.end <= at], moved
    parts = [Document.from_text(part, side) for part, side in zip((left, right), sides, strict=True)]
    return bench.records.replace(task.name, [old], parts, who, "split")


def merge(bench: Bench, task: ProjectTask, record: int, other: int, who: str) -> list[int]:
    """Make one record of two, the texts with a space between, and return its number."""
    if record == other:
        raise Failure(400, "a record cannot be merged with itself", "name another one")
    first, second = bench.records.several(task.name, [record, other])
    shift = len(first.document.text) + 1
    spans = None
    if first.document.spans is not None and second.document.spans is not None:
        moved = [Span(span.start + shift, span.end + shift, span.label) for span in second.document.spans]
        spans = [*first.document.spans, *moved]
    whole = Document.from_text(f"{first.document.text} {second.document.text}", spans)
    bench.check_length(whole.text, f"records {record} and {other} together")
    return bench.records.replace(task.name, [first, second], [whole], who, "merged")


def undo(bench: Bench, task: ProjectTask, change: HistoryChange, who: str) -> None:
    """Take a change back; `Stale` if it is not the latest of its record or of the rules."""
    if change.what == "rules":
        bench.tasks.set_rules(task.name, RuleState.from_dict(change.before), who, change.version)
    else:
        bench.records.undo(task, change, who)

"""What people do to records besides correcting them: flag, put off, comment, split, merge; and taking back a change.

Whoever made it, what was there before is there again, and the history has one row more. Only the latest change of a
thing can be taken back: what came after it would be lost otherwise. Taking back what was taken back is doing it again.
"""

from __future__ import annotations

import json
from sqlite3 import Connection
from typing import Any

from espalier.document import Document, Span
from espalier.workbench.bench import Bench
from espalier.workbench.database import now
from espalier.workbench.failures import Failure
from espalier.workbench.history import HistoryChange, note
from espalier.workbench.records import (
    Stored,
    bring_back,
    check_restored,
    fields_json,
    give_fields,
    insert_new,
    row_of,
    said_of,
    stale,
)
from espalier.workbench.tasks import ProjectTask, RuleState

__all__ = ["add_comment", "comments", "flag", "merge", "skip", "split", "undo"]

_FIELDS = ("confirmed", "confirmed with others", "taken back", "loaded from a file", "undone")


def comments(bench: Bench, task: ProjectTask, record: int) -> list[dict[str, Any]]:
    """Return the comments of a record as the API writes them, the oldest first."""
    bench.records.get(task.name, record)
    rows = bench.database.rows("SELECT id, at, who, text FROM comment WHERE record = ? ORDER BY id", record)
    return [dict(row) for row in rows]


def add_comment(bench: Bench, task: ProjectTask, record: int, who: str, text: str) -> None:
    """Store a comment."""
    bench.records.get(task.name, record)
    with bench.database.write() as write:
        write.execute("INSERT INTO comment (record, at, who, text) VALUES (?, ?, ?, ?)", (record, now(), who, text))


def flag(bench: Bench, task: ProjectTask, record: int, why: str | None, who: str) -> None:
    """Mark a record, with the reason, or take the mark away."""
    before = bench.records.get(task.name, record)
    with bench.database.write() as write:
        write.execute("UPDATE record SET flag = ? WHERE id = ?", (why, record))
        what = "flagged" if why is not None else "flag taken away"
        note(write, task.name, record, before.version, who, what, before.flag, why)


def skip(bench: Bench, task: ProjectTask, record: int, off: bool) -> None:
    """Put a record off, or back into the queue."""
    bench.records.get(task.name, record)
    with bench.database.write() as write:
        write.execute("UPDATE record SET skipped = ? WHERE id = ?", (now() if off else None, record))


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
    return _put_in_place(bench, task, [old], parts, who, "split")


def merge(bench: Bench, task: ProjectTask, record: int, other: int, who: str) -> int:
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
    return _put_in_place(bench, task, [first, second], [whole], who, "merged")[0]


def _put_in_place(
    bench: Bench, task: ProjectTask, old: list[Stored], new: list[Document], who: str, what: str
) -> list[int]:  # fmt: skip
    """Put records in the place of others; the history keeps those, so that it can be taken back."""
    sources = [one.source for one in old]
    ready = [None if document.spans is None else fields_json(document.spans) for document in new]
    with bench.database.write() as write:
        rows = [row_of(write, task.name, one.id) for one in old]
        for row in rows:
            write.execute("DELETE FROM record WHERE id = ?", (row["id"],))
        made: list[int] = []
        for document, labels in zip(new, ready, strict=True):
            id = insert_new(write, task.name, document, labels, sources[0], who)
            if id is None:
                raise Failure(409, "a record with such a text is there already", "remove that one first")
            made.append(id)
        for id, version in [*((row["id"], row["version"] + 1) for row in rows), *((id, 1) for id in made)]:
            note(write, task.name, id, version, who, what, rows, made)
    return made


def _parted_back(write: Connection, task: ProjectTask, rows: list[dict[str, Any]], made: list[int], who: str) -> None:
    """Take a split or a merge back: the records before are there again; the first gets the comments of since."""
    since: list[list[str]] = []
    for id in made:
        row = write.execute("SELECT version FROM record WHERE task = ? AND id = ?", (task.name, id)).fetchone()
        if row is None or row["version"] != 1:
            raise Failure(409, f"record {id} has been changed since", "take that back first")
        since += said_of(write, id)
        write.execute("DELETE FROM record WHERE id = ?", (id,))
    first, *others = rows
    for row in ({**first, "said": [*first.get("said", ()), *since]}, *others):
        bring_back(write, task, row, row["version"] + 2, who)


def undo(bench: Bench, task: ProjectTask, change: HistoryChange, who: str) -> None:
    """Take a change back; `Stale` if it is not the latest of its record or of the rules."""
    if change.what == "rules":
        bench.tasks.set_rules(task.name, RuleState.from_dict(change.before), who, change.version)
        return
    with bench.database.write() as write:
        if change.what in _FIELDS:
            _fields_back(write, task, change, who)
        elif change.what in ("split", "merged"):
            _parted_back(write, task, change.before, change.after, who)
        elif change.what == "removed":
            _record_back(write, task, change, who)
        else:
            raise Failure(409, f"{change.what!r} cannot be taken back", "do the opposite by hand")


def _fields_back(write: Connection, task: ProjectTask, change: HistoryChange, who: str) -> None:
    row = write.execute("SELECT * FROM record WHERE id = ?", (change.record,)).fetchone()
    if row is None:
        raise Failure(409, f"record {change.record} was removed", "take that back first")
    if row["version"] != change.version:
        raise stale(write, row)
    check_restored(task, change.before)
    give_fields(write, row, None if change.before is None else json.dumps(change.before), who, "undone")


def _record_back(write: Connection, task: ProjectTask, change: HistoryChange, who: str) -> None:
    row: dict[str, Any] = change.before
    query = "SELECT max(version) FROM history WHERE task = ? AND record = ?"
    if write.execute(query, (task.name, row["id"])).fetchone()[0] != change.version:
        raise stale(write, row)
    bring_back(write, task, row, change.version + 1, who)

"""The tables of records: texts of a task, their confirmed fields, what people say about them, and taking it back.

A text is stored once a task, and never changes; what was confirmed about it does. Tokens are stored where they are not
the default ones, as in files that bring their own.

Whoever made a change, taking it back brings what was there before, and the history has one row more. Only the latest
change of a thing can be taken back: what came after it would be lost otherwise. Taking back what was taken back is
doing it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from sqlite3 import Connection, Row
from typing import Any

from espalier.document import Document, Span, tokenise
from espalier.server.database import Database, as_stored, now
from espalier.server.failures import Failure
from espalier.server.history import HistoryChange, Stale, note, stale
from espalier.server.memory import Kept
from espalier.server.shapes import Trouble
from espalier.server.tasks import ProjectTask
from espalier.workbench.fields import checked_spans
from espalier.workbench.shapes.records import Added, CommentAnswer

__all__ = ["RecordStore", "Stored"]

_KEPT = 20_000  # records in memory
_COMMENTS = "(SELECT count(*) FROM comment WHERE comment.record = record.id) AS comments"
_SELECT = f"SELECT record.*, place.source, {_COMMENTS} FROM record LEFT JOIN place ON place.record = record.id"
_OF_FIELDS = ("confirmed", "confirmed with others", "taken back", "loaded from a file", "undone")


@dataclass(frozen=True, slots=True)
class Stored:
    """A record: its number, the document (with spans where it is corrected) and when it was corrected.

    source : where it stood in the document that it was found in, as JSON values; None of other records. version :
    raised by every change of its fields. who : corrected it. flag : why somebody marked it. skipped : when it was put
    off. comments : how many it has.
    """

    id: int
    document: Document
    corrected_at: str | None
    source: dict[str, Any] | None = None
    version: int = 1
    who: str = ""
    flag: str | None = None
    skipped: str | None = None
    comments: int = 0

    @property
    def corrected(self) -> bool:
        """Has somebody confirmed its fields?"""
        return self.document.spans is not None


class RecordStore:
    """The table of records."""

    def __init__(self, database: Database) -> None:
        """Take the project's file."""
        self._db = database
        self._kept: Kept[Stored] = Kept(_KEPT)

    def add(
        self,
        task: ProjectTask,
        documents: Sequence[Document],
        sources: Sequence[dict[str, Any] | None] = (),
        who: str = "",
        problems: Sequence[Trouble] = (),
    ) -> Added:
        """Store documents; labels that come along count as confirmed, also for a text that was there unlabelled.

        sources : where each was found, if it was found in a larger document; problems : to be reported.
        """
        ids: list[int] = []
        known = corrected = 0
        ready = [(document, _key(document.text), _labels(task, document)) for document in documents]
        with self._db.write() as write:
            for (document, key, labels), source in zip_longest(ready, sources):
                made = _insert(write, task.name, document, labels, source, who)
                if made is not None:
                    ids.append(made)
                    corrected += labels is not None
                    continue
                known += 1
                if labels is not None:
                    found = write.execute(
                        "SELECT * FROM record WHERE task = ? AND key = ? AND corrected IS NULL", (task.name, key)
                    ).fetchone()
                    if found is not None:
                        _give_fields(write, found, labels, who, "loaded from a file")
                        corrected += 1
        return Added(added=ids, known=known, corrected=corrected, problems=list(problems))

    def get(self, task: str, record: int) -> Stored:
        """Return one record."""
        row = self._db.row(f"{_SELECT} WHERE task = ? AND id = ?", task, record)
        if row is None:
            raise _missing(task, record)
        return self._stored(row)

    def several(self, task: str, ids: Sequence[int]) -> list[Stored]:
        """Return records by their numbers, in that order; one that is not there is an error."""
        listed = "SELECT value FROM json_each(?)"
        rows = self._db.rows(f"{_SELECT} WHERE task = ? AND id IN ({listed})", task, json.dumps(list(ids)))
        found = {row["id"]: self._stored(row) for row in rows}
        missing = next((i for i in ids if i not in found), None)
        if missing is not None:
            raise _missing(task, missing)
        return [found[i] for i in ids]

    def all(self, task: str, corrected: bool | None = None, offset: int = 0, limit: int = -1) -> list[Stored]:
        """Return the records of a task in the order they came: all, the corrected ones, or the others; or a page."""
        only = {None: "", True: " AND corrected IS NOT NULL", False: " AND corrected IS NULL"}[corrected]
        query = f"{_SELECT} WHERE task = ?{only} ORDER BY id LIMIT ? OFFSET ?"
        return [self._stored(row) for row in self._db.rows(query, task, limit, offset)]

    def _stored(self, row: Row) -> Stored:
        """Return a row as a record; a text never changes, so cutting it into tokens is done once."""
        key = tuple(row[name] for name in ("id", "corrected", "corrected_at", "version", "flag", "skipped", "comments"))
        return self._kept.made(key, lambda: _stored(row))

    def counts(self, task: str) -> tuple[int, int]:
        """Return how many records there are, and how many of them are corrected."""
        row = self._db.row("SELECT count(*) AS n, count(corrected) AS c FROM record WHERE task = ?", task)
        assert row is not None
        return row["n"], row["c"]

    def delete(self, task: str, record: int, who: str = "") -> None:
        """Forget a record; its history keeps it."""
        with self._db.write() as write:
            row = _row_of(write, task, record)
            write.execute("DELETE FROM record WHERE id = ?", (record,))
            note(write, task, record, row["version"] + 1, who, "removed", before=row)

    def delete_all(self, task: str, *, corrected: bool) -> int:
        """Forget the records of a task that nobody corrected, or all of them; return how many."""
        only = "" if corrected else " AND corrected IS NULL"
        with self._db.write() as write:
            return write.execute(f"DELETE FROM record WHERE task = ?{only}", (task,)).rowcount

    def correct(
        self,
        task: ProjectTask,
        record: int,
        spans: Sequence[Span] | None,
        who: str = "",
        version: int | None = None,
        what: str = "",
    ) -> Stored:
        """Confirm the fields of a record, or with None take that back; it is on the disk when this returns.

        version : the one that was read; if the record has a later one with other fields, this is refused (`Stale`).
        """
        document = self.get(task.name, record).document
        labels = None if spans is None else _fields_json(checked_spans(task, document, spans))
        with self._db.write() as write:
            row = write.execute("SELECT * FROM record WHERE task = ? AND id = ?", (task.name, record)).fetchone()
            if row is None:
                raise _missing(task.name, record)
            if version is not None and row["version"] != version and row["corrected"] != labels:
                raise _stale(write, row)
            if row["corrected"] != labels or labels is not None:
                _give_fields(write, row, labels, who, what or ("taken back" if labels is None else "confirmed"))
        return self.get(task.name, record)

    def comments(self, task: str, record: int) -> list[CommentAnswer]:
        """Return the comments of a record, the oldest first."""
        self.get(task, record)
        rows = self._db.rows("SELECT id, at, who, text FROM comment WHERE record = ? ORDER BY id", record)
        return [CommentAnswer(**dict(row)) for row in rows]

    def comment(self, task: str, record: int, who: str, text: str) -> None:
        """Store a comment."""
        self.get(task, record)
        with self._db.write() as write:
            write.execute("INSERT INTO comment (record, at, who, text) VALUES (?, ?, ?, ?)", (record, now(), who, text))

    def flag(self, task: str, record: int, why: str | None, who: str) -> None:
        """Mark a record, with the reason, or take the mark away."""
        before = self.get(task, record)
        with self._db.write() as write:
            write.execute("UPDATE record SET flag = ? WHERE id = ?", (why, record))
            what = "flagged" if why is not None else "flag taken away"
            note(write, task, record, before.version, who, what, before.flag, why)

    def skip(self, task: str, record: int, off: bool) -> None:
        """Put a record off, or back into the queue."""
        self.get(task, record)
        with self._db.write() as write:
            write.execute("UPDATE record SET skipped = ? WHERE id = ?", (now() if off else None, record))

    def replace(
        self, task: str, old: Sequence[Stored], new: Sequence[Document], who: str, what: str
    ) -> list[int]:  # fmt: skip
        """Put records in the place of others, and return their numbers; the history keeps those that were there."""
        made: list[int] = []
        with self._db.write() as write:
            rows = [_row_of(write, task, one.id) for one in old]
            for row in rows:
                write.execute("DELETE FROM record WHERE id = ?", (row["id"],))
            for document in new:
                labels = None if document.spans is None else _fields_json(document.spans)
                id = _insert(write, task, document, labels, old[0].source, who)
                if id is None:
                    raise Failure(409, "a record with such a text is there already", "remove that one first")
                made.append(id)
            for id, version in [*((row["id"], row["version"] + 1) for row in rows), *((id, 1) for id in made)]:
                note(write, task, id, version, who, what, rows, made)
        return made

    def confirmed(self, task: str) -> list[str]:
        """Return the confirmed fields of all records, as they are stored."""
        rows = self._db.rows("SELECT corrected FROM record WHERE task = ? AND corrected IS NOT NULL", task)
        return [row["corrected"] for row in rows]

    def refit(self, write: Connection, task: str, fit: Callable[[str], str | None], who: str) -> None:
        """Change the confirmed fields of all records, because the labels of the task change.

        fit : from fields as they are stored to the new ones; None if they are no longer confirmed.
        """
        for row in write.execute("SELECT * FROM record WHERE task = ? AND corrected IS NOT NULL", (task,)).fetchall():
            fields = fit(row["corrected"])
            if fields != row["corrected"]:
                _give_fields(write, row, fields, who, "labels changed")

    def undo(self, task: ProjectTask, change: HistoryChange, who: str) -> None:
        """Take a change of a record back; `Stale` if it is not the latest."""
        with self._db.write() as write:
            if change.what in _OF_FIELDS:
                _fields_back(write, task, change, who)
            elif change.what in ("split", "merged"):
                _parted_back(write, task, change.before, change.after, who)
            elif change.what == "removed":
                _record_back(write, task, change, who)
            else:
                raise Failure(409, f"{change.what!r} cannot be taken back", "do the opposite by hand")


def _give_fields(write: Connection, row: Row, labels: str | None, who: str, what: str) -> None:
    """Give a record other fields, and note it."""
    stamp = None if labels is None else now()
    values = (labels, stamp, "" if labels is None else who, row["version"] + 1, row["id"])
    write.execute("UPDATE record SET corrected = ?, corrected_at = ?, who = ?, version = ? WHERE id = ?", values)
    if labels is not None:
        write.execute("UPDATE record SET skipped = NULL WHERE id = ?", (row["id"],))
    before, after = (None if text is None else json.loads(text) for text in (row["corrected"], labels))
    note(write, row["task"], row["id"], row["version"] + 1, who, what, before, after)


def _stale(write: Connection, row: Row | Mapping[str, Any]) -> Stale:
    return stale(write, f"record {row['id']}", row["task"], row["id"])


def _insert(
    write: Connection, task: str, document: Document, labels: str | None, source: dict[str, Any] | None, who: str
) -> int | None:
    """Put a new record into the table, and return its number; None if the task has such a text already."""
    stamp = None if labels is None else now()
    values = (task, document.text, _own_tokens(document), _key(document.text), labels, stamp, who if stamp else "")
    into = "INSERT OR IGNORE INTO record (task, text, tokens, key, corrected, corrected_at, who)"
    done = write.execute(f"{into} VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    if not done.rowcount:
        return None
    made = int(done.lastrowid or 0)
    if source is not None:
        write.execute("INSERT INTO place VALUES (?, ?)", (made, json.dumps(source)))
    return made


def _row_of(write: Connection, task: str, record: int) -> dict[str, Any]:
    """Return a record as its row, with its place and comments (`said`), so that it can be put back."""
    row = write.execute(f"{_SELECT} WHERE task = ? AND id = ?", (task, record)).fetchone()
    if row is None:
        raise _missing(task, record)
    return {**dict(row), "said": _said_of(write, record)}


def _said_of(write: Connection, record: int) -> list[list[str]]:
    """Return the comments of a record, the oldest first: when, who, what."""
    rows = write.execute("SELECT at, who, text FROM comment WHERE record = ? ORDER BY id", (record,))
    return [list(row) for row in rows]


def _bring_back(write: Connection, task: ProjectTask, row: Mapping[str, Any], version: int, who: str) -> None:
    """Bring a record back that was removed, and note it; `Stale` if its text has been added again."""
    if write.execute("SELECT 1 FROM record WHERE task = ? AND key = ?", (task.name, row["key"])).fetchone():
        raise Stale(f"record {row['id']}: its text is there again", "", None)
    _check_restored(task, None if row["corrected"] is None else json.loads(row["corrected"]))
    _insert_row(write, {**row, "version": version})
    note(write, task.name, row["id"], version, who, "brought back")


def _parted_back(write: Connection, task: ProjectTask, rows: list[dict[str, Any]], made: list[int], who: str) -> None:
    """Take a split or a merge back: the records before are there again; the first gets the comments of since."""
    since: list[list[str]] = []
    for id in made:
        row = write.execute("SELECT version FROM record WHERE task = ? AND id = ?", (task.name, id)).fetchone()
        if row is None or row["version"] != 1:
            raise Failure(409, f"record {id} has been changed since", "take that back first")
        since += _said_of(write, id)
        write.execute("DELETE FROM record WHERE id = ?", (id,))
    first, *others = rows
    for row in ({**first, "said": [*first.get("said", ()), *since]}, *others):
        _bring_back(write, task, row, row["version"] + 2, who)


def _fields_back(write: Connection, task: ProjectTask, change: HistoryChange, who: str) -> None:
    row = write.execute("SELECT * FROM record WHERE id = ?", (change.record,)).fetchone()
    if row is None:
        raise Failure(409, f"record {change.record} was removed", "take that back first")
    if row["version"] != change.version:
        raise _stale(write, row)
    _check_restored(task, change.before)
    _give_fields(write, row, None if change.before is None else json.dumps(change.before), who, "undone")


def _record_back(write: Connection, task: ProjectTask, change: HistoryChange, who: str) -> None:
    row: dict[str, Any] = change.before
    query = "SELECT max(version) FROM history WHERE task = ? AND record = ?"
    if write.execute(query, (task.name, row["id"])).fetchone()[0] != change.version:
        raise _stale(write, row)
    _bring_back(write, task, row, change.version + 1, who)


def _check_restored(task: ProjectTask, spans: Sequence[Sequence[Any]] | None) -> None:
    """Refuse fields of before, as they are stored, that have labels of before."""
    gone = sorted({str(label) for _, _, label in spans or ()} - set(task.fields))
    if gone:
        hint = f"add {', '.join(gone)} to the labels first"
        raise Failure(409, "it has labels that the task no longer has", hint)


def _insert_row(write: Connection, row: Mapping[str, Any]) -> None:
    """Put a record into its table again, with its number, its place and its comments."""
    names = [name for name in row if name not in ("source", "comments", "said")]
    into = f"INSERT INTO record ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    write.execute(into, [row[name] for name in names])
    if row.get("source") is not None:
        write.execute("INSERT INTO place VALUES (?, ?)", (row["id"], row["source"]))
    said = [(row["id"], *one) for one in row.get("said", ())]  # histories of before have none
    write.executemany("INSERT INTO comment (record, at, who, text) VALUES (?, ?, ?, ?)", said)


def _labels(task: ProjectTask, document: Document) -> str | None:
    """Return the labels that a document brings, as stored; partly unknown ones do not count as confirmed."""
    if document.spans is None or document.unknown:
        return None
    return _fields_json(checked_spans(task, document, document.spans))


def _fields_json(spans: Iterable[Span]) -> str:
    """Return fields as they are stored."""
    return json.dumps([[span.start, span.end, span.label] for span in spans])


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _own_tokens(document: Document) -> str | None:
    """Return tokens that are not the default ones: start, end, start, end ..."""
    return (
        None if document.tokens == tokenise(document.text) else json.dumps(list(chain.from_iterable(document.tokens)))
    )


@as_stored
def _stored(row: Row) -> Stored:
    text = row["text"]
    flat = None if row["tokens"] is None else json.loads(row["tokens"])
    tokens = tokenise(text) if flat is None else tuple(zip(flat[::2], flat[1::2], strict=True))
    spans = None if row["corrected"] is None else tuple(Span(*span) for span in json.loads(row["corrected"]))
    source = None if row["source"] is None else json.loads(row["source"])
    rest = {name: row[name] for name in ("version", "who", "flag", "skipped", "comments")}
    return Stored(row["id"], Document(text, tokens, spans), row["corrected_at"], source, **rest)


def _missing(task: str, record: int) -> Failure:
    return Failure(404, f"the task {task} has no record {record}", "it may have been deleted; read the list again")

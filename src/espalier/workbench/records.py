"""Texts of a task and their confirmed fields.

A text is stored once a task, and never changes; what was confirmed about it does. Tokens are stored where they are not
the default ones, as in files that bring their own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from sqlite3 import Connection, Row
from typing import Any

from espalier.document import Document, Span, tokenise
from espalier.errors import nearest
from espalier.workbench.database import Database, as_stored, now
from espalier.workbench.failures import Failure
from espalier.workbench.history import Stale, note
from espalier.workbench.memory import Kept
from espalier.workbench.tasks import ProjectTask

__all__ = [
    "OTHER",
    "AddedRecords",
    "RecordStore",
    "Stored",
    "bring_back",
    "check_restored",
    "checked_spans",
    "fields_json",
    "give_fields",
    "insert_new",
    "outside_words",
    "row_of",
    "said_of",
    "stale",
]

OTHER = "other"
"""The label of words that have no home, where a task has it."""

_KEPT = 20_000  # records in memory
_COMMENTS = "(SELECT count(*) FROM comment WHERE comment.record = record.id) AS comments"
_SELECT = f"SELECT record.*, place.source, {_COMMENTS} FROM record LEFT JOIN place ON place.record = record.id"


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


@dataclass(frozen=True, slots=True)
class AddedRecords:
    """What came of adding texts: numbers of new records, how many were there already, how many came with labels."""

    ids: list[int]
    known: int
    corrected: int


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
    ) -> AddedRecords:
        """Store documents; labels that come along count as confirmed, also for a text that was there unlabelled.

        sources : where each was found, if it was found in a larger document.
        """
        ids: list[int] = []
        known = corrected = 0
        ready = [(document, _key(document.text), _labels(task, document, i)) for i, document in enumerate(documents, 1)]
        with self._db.write() as write:
            for (document, key, labels), source in zip_longest(ready, sources):
                made = insert_new(write, task.name, document, labels, source, who)
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
                        give_fields(write, found, labels, who, "loaded from a file")
                        corrected += 1
        return AddedRecords(ids, known, corrected)

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
            row = row_of(write, task, record)
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
        labels = None if spans is None else fields_json(checked_spans(task, document, spans))
        with self._db.write() as write:
            row = write.execute("SELECT * FROM record WHERE task = ? AND id = ?", (task.name, record)).fetchone()
            if row is None:
                raise _missing(task.name, record)
            if version is not None and row["version"] != version and row["corrected"] != labels:
                raise stale(write, row)
            if row["corrected"] != labels or labels is not None:
                give_fields(write, row, labels, who, what or ("taken back" if labels is None else "confirmed"))
        return self.get(task.name, record)


def give_fields(write: Connection, row: Row, labels: str | None, who: str, what: str) -> None:
    """Give a record other fields, and note it."""
    stamp = None if labels is None else now()
    values = (labels, stamp, "" if labels is None else who, row["version"] + 1, row["id"])
    write.execute("UPDATE record SET corrected = ?, corrected_at = ?, who = ?, version = ? WHERE id = ?", values)
    if labels is not None:
        write.execute("UPDATE record SET skipped = NULL WHERE id = ?", (row["id"],))
    before, after = (None if text is None else json.loads(text) for text in (row["corrected"], labels))
    note(write, row["task"], row["id"], row["version"] + 1, who, what, before, after)


def stale(write: Connection, row: Row | Mapping[str, Any]) -> Stale:
    """Return the refusal of a write on an old version of a record: who was faster."""
    query = "SELECT who, at FROM history WHERE record = ? ORDER BY id DESC LIMIT 1"
    last = write.execute(query, (row["id"],)).fetchone()
    who, at = ("", None) if last is None else (last["who"], last["at"])
    return Stale(f"record {row['id']}", who, at)


def insert_new(
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


def row_of(write: Connection, task: str, record: int) -> dict[str, Any]:
    """Return a record as its row, with its place and comments (`said`), so that it can be put back."""
    row = write.execute(f"{_SELECT} WHERE task = ? AND id = ?", (task, record)).fetchone()
    if row is None:
        raise _missing(task, record)
    return {**dict(row), "said": said_of(write, record)}


def said_of(write: Connection, record: int) -> list[list[str]]:
    """Return the comments of a record, the oldest first: when, who, what."""
    rows = write.execute("SELECT at, who, text FROM comment WHERE record = ? ORDER BY id", (record,))
    return [list(row) for row in rows]


def bring_back(write: Connection, task: ProjectTask, row: Mapping[str, Any], version: int, who: str) -> None:
    """Bring a record back that was removed, and note it; `Stale` if its text has been added again."""
    if write.execute("SELECT 1 FROM record WHERE task = ? AND key = ?", (task.name, row["key"])).fetchone():
        raise Stale(f"record {row['id']}: its text is there again", "", None)
    check_restored(task, None if row["corrected"] is None else json.loads(row["corrected"]))
    _insert_row(write, {**row, "version": version})
    note(write, task.name, row["id"], version, who, "brought back")


def check_restored(task: ProjectTask, spans: Sequence[Sequence[Any]] | None) -> None:
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


def checked_spans(task: ProjectTask, document: Document, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return fields at borders of tokens; where the task has no outside, gaps are filled.

    Marks go to the field before them; words are `other`, or go there, too, where the task has no such label.
    A token is in the field that has its first character.
    Fields that overlap, lie outside the text, hold no token or have a label that the task does not know are refused.
    """
    for span in spans:
        if span.label not in task.fields:
            hint = nearest(span.label, task.fields, f"labels: {', '.join(task.fields)}")
            raise Failure(400, f"the task {task.name} has no label {span.label!r}", hint)
    owner: list[int | None] = [None] * len(document.tokens)
    for k, span in enumerate(spans):
        inside = [t for t, (start, _) in enumerate(document.tokens) if span.start <= start < span.end]
        if not 0 <= span.start < span.end <= len(document.text) or not inside:
            hint = "a token is in the field that has its first character"
            raise Failure(400, f"field {k} is at {span.start}..{span.end}, where no token begins", hint)
        taken = next((t for t in inside if owner[t] is not None), None)
        if taken is not None:
            raise Failure(400, f"fields {owner[taken]} and {k} overlap at token {taken}", "a token is in one field")
        owner[inside[0] : inside[-1] + 1] = [k] * len(inside)
    if not task.outside and document.tokens:
        _fill(owner, task, [] if OTHER not in task.fields else _words(document), len(spans))
        spans = [*spans, Span(0, 0, OTHER)]
    return _runs(document, owner, spans)


def _words(document: Document) -> list[int]:
    """Return the tokens that are words or numbers, not marks."""
    return [t for t, word in enumerate(document.words) if any(map(str.isalnum, word))]


def outside_words(document: Document) -> bool:
    """Are there words outside of the fields of a document?"""
    starts = (document.tokens[t][0] for t in _words(document))
    return not all(any(span.start <= start < span.end for span in document.spans or ()) for start in starts)


def _fill(owner: list[int | None], task: ProjectTask, words: Sequence[int], other: int) -> None:
    """Give gaps to the field before them, the first to the field after it; words among them to a field of their own."""
    before = next((k for k in owner if k is not None), None)
    if before is None:
        raise Failure(400, f"in the task {task.name} all text is in a field", f"labels: {', '.join(task.fields)}")
    homeless = frozenset(words)
    for t, k in enumerate(owner):
        before = owner[t] = k if k is not None else other if t in homeless else before


def _runs(document: Document, owner: Sequence[int | None], spans: Sequence[Span]) -> tuple[Span, ...]:
    found: list[Span] = []
    last: int | None = None
    for k, (start, end) in zip(owner, document.tokens, strict=True):
        if k is not None and k == last:
            found[-1] = Span(found[-1].start, end, found[-1].label)
        elif k is not None:
            found.append(Span(start, end, spans[k].label))
        last = k
    return tuple(found)


def _labels(task: ProjectTask, document: Document, number: int) -> str | None:
    """Return the labels that a document brings, as stored; partly unknown ones do not count as confirmed."""
    if document.spans is None or document.unknown:
        return None
    try:
        return fields_json(checked_spans(task, document, document.spans))
    except Failure as failure:
        raise Failure(failure.status, failure.what, failure.hint, f"record {number} of the file") from None


def fields_json(spans: Iterable[Span]) -> str:
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

"""The project's file: SQLite in WAL mode, opened by one server at a time.

A write is a transaction that is on the disk when it returns (`synchronous=FULL`), so what was answered outlives a kill
of the server or of the machine. The file is locked for as long as it is open; the operating system takes the lock
back from a process that died. One connection serves all threads, one after the other: statements take microseconds.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from espalier.errors import InputError

__all__ = ["FILE", "VERSION", "Database", "now"]

FILE = "workbench.sqlite"
VERSION = 2
"""The schema that this library reads and writes; projects of earlier ones are brought to it when they are opened."""

_APPLICATION = 0x45737061  # "Espa", so that another program's database is not mistaken for a project

_FIRST = """
CREATE TABLE task (
  name TEXT PRIMARY KEY, definition TEXT, rules TEXT NOT NULL, penalties TEXT NOT NULL DEFAULT '{}',
  off TEXT NOT NULL DEFAULT '[]', active INTEGER
);
CREATE TABLE record (
  id INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL REFERENCES task ON DELETE CASCADE, text TEXT NOT NULL,
  tokens TEXT, key TEXT NOT NULL, corrected TEXT, corrected_at TEXT, UNIQUE (task, key)
);
CREATE TABLE model (
  id INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL REFERENCES task ON DELETE CASCADE, name TEXT NOT NULL,
  parent INTEGER, created TEXT NOT NULL, source TEXT NOT NULL, method TEXT, kind TEXT NOT NULL,
  corrected INTEGER NOT NULL, pool INTEGER NOT NULL, scores TEXT, seen TEXT NOT NULL, file BLOB NOT NULL
);
CREATE TABLE job (
  id INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL REFERENCES task ON DELETE CASCADE, method TEXT NOT NULL,
  name TEXT NOT NULL, activate INTEGER NOT NULL, state TEXT NOT NULL, created TEXT NOT NULL, started TEXT,
  finished TEXT, message TEXT NOT NULL DEFAULT '', progress REAL, curve TEXT NOT NULL DEFAULT '[]',
  held_out INTEGER NOT NULL DEFAULT 0, model INTEGER, error TEXT
);
CREATE INDEX record_of_task ON record (task, id);
CREATE INDEX model_of_task ON model (task, id);
"""

# A project from before documents were read has no table of places.
_SECOND = """
CREATE TABLE IF NOT EXISTS place (
  record INTEGER PRIMARY KEY REFERENCES record ON DELETE CASCADE, source TEXT NOT NULL
);
ALTER TABLE task ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE task ADD COLUMN rules_version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE record ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE record ADD COLUMN who TEXT NOT NULL DEFAULT '';
ALTER TABLE record ADD COLUMN flag TEXT;
ALTER TABLE record ADD COLUMN skipped TEXT;
ALTER TABLE model ADD COLUMN labels TEXT;
ALTER TABLE job ADD COLUMN verdict TEXT;
CREATE TABLE comment (
  id INTEGER PRIMARY KEY AUTOINCREMENT, record INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
  at TEXT NOT NULL, who TEXT NOT NULL, text TEXT NOT NULL
);
CREATE TABLE history (
  id INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL REFERENCES task ON DELETE CASCADE, record INTEGER,
  version INTEGER NOT NULL, at TEXT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, before TEXT, after TEXT
);
CREATE TABLE session (key TEXT PRIMARY KEY, created TEXT NOT NULL, seen TEXT NOT NULL);
CREATE TABLE wrong_login (address TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX comment_of_record ON comment (record);
CREATE INDEX history_of_task ON history (task, record, id);
"""

_STEPS = (_FIRST, _SECOND)
"""What brings a project from each version to the next; version 0 is an empty file."""


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Database:
    """An open project file. Close it, or use it as a context."""

    def __init__(self, directory: Path) -> None:
        """Open the file of a project directory, and make both if they are not there."""
        self.path = directory / FILE
        self._lock = threading.RLock()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=0.5, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{directory}: cannot be a project: {error}") from None
        self._connection.row_factory = sqlite3.Row
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        execute = self._connection.execute
        try:
            execute("PRAGMA locking_mode = EXCLUSIVE")
            execute("PRAGMA journal_mode = WAL")
            execute("PRAGMA synchronous = FULL")
            execute("PRAGMA foreign_keys = ON")
            with self.write() as write:
                self._check_schema(write)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise InputError(f"{self.path}: {error}") from None
            raise InputError(
                f"{self.path} is in use by another server", hint="use that one, stop it, or choose another --project"
            ) from None
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path} is not a project of the workbench: {error}") from None

    def _check_schema(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if (not owner and not empty) or owner not in (0, _APPLICATION):
            raise InputError(f"{self.path} is not a project of the workbench", hint="choose another --project")
        if version > VERSION:
            what = f"{self.path} has version {version}, this library reads {VERSION}"
            raise InputError(what, hint="update espalier")
        if version < VERSION:
            for statement in "".join(_STEPS[version:]).split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give the connection inside a transaction: all of it is on the disk afterwards, or nothing is."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Return the rows of a query."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> sqlite3.Row | None:
        """Return the first row of a query, None if there is none."""
        with self._lock:
            found: sqlite3.Row | None = self._connection.execute(sql, values).fetchone()
            return found

    def close(self) -> None:
        """Let another server have the file."""
        with self._lock:
            self._connection.close()

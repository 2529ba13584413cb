"""The project's file: SQLite in WAL mode, opened by one server at a time, in one or several processes.

A write is a transaction that is on the disk when it returns (`synchronous=FULL`), so what was answered outlives a kill
of the server or of the machine. A lock (`ProjectLock`) keeps a second server out; the operating system takes it back
from a process that died. One connection serves all threads of a process, one after the other: statements take
microseconds. A full disk and a damaged file are answers of their own (`storage_failure`).
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timezone
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from espalier.errors import EspalierError, InputError
from espalier.server.failures import Failure

__all__ = [
    "FILE", "LOCK", "VERSION", "Database", "ProjectLock", "as_stored", "check_file", "copy_file",
    "now", "storage_failure",
]  # fmt: skip

Value = TypeVar("Value")

FILE, LOCK = "workbench.sqlite", "workbench.lock"
VERSION = 2
"""The schema that this library reads and writes; projects of earlier ones are brought to it when they are opened."""

_PATIENCE = 10_000  # milliseconds to wait for a write of another process of the same server
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


def check_file(path: Path) -> None:
    """Refuse a file that is no project, or a damaged one, or one of a later version."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=10)) as connection:
            version = _check_marks(path, connection)
            if not version:
                raise InputError(f"{path} is empty", hint="choose another file")
            _check_sound(path, connection, version)
    except sqlite3.Error as error:
        raise _unusable(path, error) from None


def copy_file(source: Path, target: Path) -> None:
    """Copy a project as it is at this moment, while others may work on it."""
    try:
        with closing(sqlite3.connect(source, timeout=10)) as connection:
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        raise _unusable(source, error) from None
    check_file(target)


def _check_marks(path: Path, connection: sqlite3.Connection) -> int:
    """Return the version of a file; raise if it is another program's, or later than this library."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if (not owner and not empty) or owner not in (0, _APPLICATION):
        raise InputError(f"{path} is not a project of the workbench", hint="choose another --project")
    if version > VERSION:
        raise InputError(f"{path} has version {version}, this library reads {VERSION}", hint="update espalier")
    return version


def _check_sound(path: Path, connection: sqlite3.Connection, version: int) -> None:
    """Refuse a file whose pages do not fit together, or whose tables are not those that this library makes."""
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise _unusable(path, sqlite3.DatabaseError("malformed"))
    if not version:
        return
    own, wanted = _schema(connection), _made(version)
    if version == 1:  # which has a table of places or has none
        own.pop("place", None)
    for name in sorted(own.keys() | wanted.keys()):
        if own.get(name) != wanted.get(name):
            how = "is missing" if name not in own else "is not of this program" if name not in wanted else "is another"
            what = f"{path} is not a sound project: {(own.get(name) or wanted[name])[0]} {name!r} {how}"
            raise InputError(what, hint=_RESTORE)


def _schema(connection: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    """Return tables, indices, views and triggers by name: what each is, and how it was made."""
    rows = connection.execute("SELECT name, type, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite@_%' ESCAPE '@'")
    return {name: (kind, " ".join(str(sql).split())) for name, kind, sql in rows}


def _made(version: int) -> dict[str, tuple[str, str]]:
    """Return the schema of a version, as `_schema` does."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript("".join(_STEPS[:version]))
        return _schema(fresh)


class ProjectLock:
    """The right to serve a project, until it is given back, or its process ends, however that does.

    The lock is SQLite's own, on an empty file beside the project's: it works on every system, and while a server has
    it, others may still read the project's file, to copy it.
    """

    def __init__(self, directory: Path) -> None:
        """Take the lock of a project directory; somebody else's is an InputError."""
        try:
            self._held = sqlite3.connect(directory / LOCK, timeout=0.5, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise _unwritten(directory, error) from None
        try:
            self._held.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            self._held.close()
            if "locked" not in str(error):
                raise _unwritten(directory, error) from None
            hint = "use that one, stop it, or choose another --project"
            raise InputError(f"{directory} is in use by another server", hint=hint) from None

    def release(self) -> None:
        """Let another server have the project."""
        self._held.close()


def _unwritten(directory: Path, error: sqlite3.Error) -> InputError:
    hint = "give yourself the right to write it, or choose another --project"
    return InputError(f"{directory}: cannot be written: {error}", hint=hint)


class Database:
    """An open project file. Close it, or use it as a context."""

    def __init__(self, directory: Path, *, member: bool = False) -> None:
        """Open the file of a project directory, and make both if they are not there.

        member : of a server that has the project already.
        """
        self.path = directory / FILE
        self._lock = threading.RLock()
        self._project: ProjectLock | None = None
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            hint = "choose another --project, or give yourself the right to write there"
            raise InputError(f"{directory}: cannot be a project: {error.strerror}", hint=hint) from None
        if not member:
            self._project = ProjectLock(directory)
        try:
            self._connection = self._connected()
        except sqlite3.Error as error:
            self._release()
            raise _unusable(self.path, error) from None
        except BaseException:
            self._release()
            raise

    def _connected(self) -> sqlite3.Connection:
        found = sqlite3.connect(self.path, timeout=0.5, isolation_level=None, check_same_thread=False)
        try:
            found.row_factory = sqlite3.Row
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                found.execute(f"PRAGMA {pragma}")
            version = _check_marks(self.path, found)
            if self._project is not None:
                _check_sound(self.path, found, version)
            if version < VERSION:
                self._bring_on(found)
            found.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
        except BaseException:
            found.close()
            raise
        return found

    def _bring_on(self, connection: sqlite3.Connection) -> None:
        """Bring an empty or an older file to this version, in one transaction."""
        with _transaction(connection):
            version = _check_marks(self.path, connection)  # somebody may have been faster
            for statement in "".join(_STEPS[version:]).split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give the connection inside a transaction: all of it is on the disk afterwards, or nothing is."""
        with self._lock, _explained(), _transaction(self._connection):
            yield self._connection

    def rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Return the rows of a query."""
        with self._lock, _explained():
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> sqlite3.Row | None:
        """Return the first row of a query, None if there is none."""
        with self._lock, _explained():
            found: sqlite3.Row | None = self._connection.execute(sql, values).fetchone()
            return found

    def close(self) -> None:
        """Let another server have the file."""
        with self._lock:
            self._connection.close()
            self._release()

    def _release(self) -> None:
        if self._project is not None:
            self._project.release()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what is done inside, or undo it; a full disk has undone it already."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _explained() -> Iterator[None]:
    """Say in words what is wrong with the file; a broken constraint is a mistake of the caller."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise
    except sqlite3.DatabaseError as error:
        raise storage_failure(error) from error


# What SQLite says when a disk is full or a file is damaged, in words that say what to do.

_RESTORE = "put a backup in its place: espalier serve --project DIR --restore FILE"

_RIGHTS = "give yourself the right to write there, or choose another --project"

_KNOWN = (  # what SQLite says, the status of an answer, what is wrong, and what to do
    ("disk is full", 507, "the disk is full", "make room on it; what was confirmed before is stored"),
    ("disk i/o error", 507, "the disk cannot be written or read", "look at the disk; what was confirmed is stored"),
    ("readonly", 507, "the project cannot be written", _RIGHTS),
    ("unable to open", 507, "the project cannot be opened", _RIGHTS),
    ("malformed", 507, "the project is damaged", _RESTORE),
    ("could not decode", 507, "the project is damaged", _RESTORE),
    ("not a database", 500, "this is not a project of the workbench", "choose another --project"),
    ("locked", 503, "the project is in use by another server", "use that one, stop it, or choose another --project"),
)  # fmt: skip


def as_stored(read: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Return a reader of rows that says that the project is damaged where a row is not what was stored."""

    @wraps(read)
    def checked(row: Any) -> Value:
        try:
            return read(row)
        except Failure:
            raise
        except (ValueError, TypeError, LookupError, RecursionError, EspalierError) as error:
            where = ", ".join(f"{key} {row[key]}" for key in ("task", "id", "name") if key in tuple(row.keys()))
            raise Failure(507, "the project is damaged", _RESTORE, where[:200]) from error

    return checked


def _said(error: sqlite3.Error) -> tuple[int, str, str]:
    text = str(error)
    for sign, status, what, hint in _KNOWN:
        if sign in text.lower():
            return status, what, hint
    return 500, f"the project's file: {text}", "its server's messages say more"


def storage_failure(error: sqlite3.Error) -> Failure:
    """Return the answer of a request that met this."""
    return Failure(*_said(error))


def _unusable(path: Path, error: sqlite3.Error) -> InputError:
    """Return why a server cannot start on a file."""
    _, what, hint = _said(error)
    return InputError(f"{path}: {what}", hint=hint)

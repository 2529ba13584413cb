"""Full disks, damaged files, other versions, a second server; and copies of a project."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from espalier.cli.app import run
from espalier.errors import InputError
from espalier.server.backup import back_up, restore
from espalier.server.database import FILE, VERSION, Database, check_file, storage_failure
from workbench_server import Running

OLD = Path(__file__).parent / "projects" / "schema-1.sql"


def refused(project: Path, *options: str) -> str:
    """Return what `espalier serve` says when it does not start: one line, and what to do."""
    with pytest.raises(InputError) as said:
        Database(project).close()
    assert said.value.hint
    assert "\n" not in str(said.value)
    return str(said.value)


def filled(project: Path, tasks: int = 200) -> Path:
    """Make a project with many rows."""
    database = Database(project)
    with database.write() as write:
        rows = [(f"task-{i}", "x" * 3000) for i in range(tasks)]
        write.executemany("INSERT INTO task (name, rules) VALUES (?, ?)", rows)
    database.close()
    return project / FILE


def count(project: Path) -> int:
    database = Database(project)
    row = database.row("SELECT count(*) AS n FROM task")
    database.close()
    assert row is not None
    return int(row["n"])


def test_a_full_disk_is_said_and_nothing_is_lost(start: Callable[..., Running]) -> None:
    server = start()
    api, database = server.client, server.app.state.core.database
    ids = api.post("/tasks/ads/records", json={"text": "a lamp"}).json()["added"]
    pages = database.row("PRAGMA page_count")[0]
    database.row(f"PRAGMA max_page_count = {pages}")
    full = api.post("/tasks/ads/records", json={"text": "\n".join(f"{i} " + "x" * 9000 for i in range(50))})
    assert full.status_code == 507, full.text
    assert full.json()["error"]["what"] == "the disk is full"
    assert "make room" in full.json()["error"]["hint"]
    assert api.get("/tasks/ads").json()["records"] == 1  # nothing of it is there, and reading goes on
    database.row("PRAGMA max_page_count = 1000000")
    assert api.post("/tasks/ads/records", json={"text": "a chair"}).status_code == 201
    assert api.delete(f"/tasks/ads/records/{ids[0]}").status_code == 204


def test_a_damaged_project(tmp_path: Path) -> None:
    file = filled(tmp_path)
    data = bytearray(file.read_bytes())
    data[8192 : len(data) // 2] = os.urandom(len(data) // 2 - 8192)
    file.write_bytes(data)
    assert "is damaged" in refused(tmp_path)
    with pytest.raises(InputError, match="--restore"):
        check_file(file)
    assert run(["serve", "--project", str(tmp_path), "--port", "0"]) == 2


def test_damage_that_is_met_while_it_runs(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with pytest.raises(match="damaged") as found, database.write():
        raise sqlite3.DatabaseError("database disk image is malformed")
    assert found.value.status == 507
    assert "--restore" in found.value.hint
    with database.write() as write:  # it goes on
        write.execute("INSERT INTO task (name, rules) VALUES ('a', '')")
    database.close()


@pytest.mark.parametrize(
    ("said", "status", "what"),
    [
        ("database or disk is full", 507, "full"),
        ("disk I/O error", 507, "written or read"),
        ("attempt to write a readonly database", 507, "cannot be written"),
        ("unable to open database file", 507, "cannot be opened"),
        ("something new", 500, "something new"),
    ],
)
def test_what_sqlite_says(said: str, status: int, what: str) -> None:
    failure = storage_failure(sqlite3.OperationalError(said))
    assert (failure.status, what in failure.what, bool(failure.hint)) == (status, True, True)


@pytest.mark.skipif(not Path("/sys/kernel").exists(), reason="no place here that nobody can write")
def test_a_folder_that_cannot_be_written() -> None:
    assert "/sys/kernel" in refused(Path("/sys/kernel"))
    assert "/sys/kernel/project" in refused(Path("/sys/kernel/project"))


def test_other_versions(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as old:
        old.executescript(OLD.read_text(encoding="utf-8"))
    old.close()
    Database(tmp_path).close()  # one of 0.1.0 is brought on
    later = sqlite3.connect(tmp_path / FILE)
    assert later.execute("PRAGMA user_version").fetchone()[0] == VERSION
    later.execute(f"PRAGMA user_version = {VERSION + 1}")
    later.close()
    assert "update espalier" in refused(tmp_path)


def test_a_second_server_of_this_version_and_of_the_first(tmp_path: Path) -> None:
    first = Database(tmp_path)
    assert "in use by another server" in refused(tmp_path)
    Database(tmp_path, member=True).close()  # another process of the same server
    first.close()
    older = sqlite3.connect(tmp_path / FILE, isolation_level=None)  # as 0.1.0 opens it
    for statement in ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN IMMEDIATE", "COMMIT"):
        older.execute(statement)
    assert "in use by another server" in refused(tmp_path)
    older.close()
    Database(tmp_path).close()


def test_a_copy_while_a_server_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project, copy = tmp_path / "project", tmp_path / "copy.sqlite"
    filled(project, 3)
    server = Database(project)
    assert run(["serve", "--project", str(project), "--backup", str(copy)]) == 0
    assert capsys.readouterr().out == f"{project} is copied to {copy}\n"
    with server.write() as write:
        write.execute("INSERT INTO task (name, rules) VALUES ('later', '')")
    assert run(["serve", "--project", str(project), "--restore", str(copy)]) == 2  # not under its feet
    assert "in use" in capsys.readouterr().err
    server.close()
    assert count(project) == 4
    assert run(["serve", "--project", str(project), "--restore", str(copy)]) == 0
    assert count(project) == 3
    (aside,) = project.glob("before-restore-*")
    assert capsys.readouterr().out == f"{copy} is in place of {project}; what was there is in {aside}\n"
    assert count(aside) == 4
    assert run(["serve", "--project", str(tmp_path / "new"), "--restore", str(copy)]) == 0
    assert count(tmp_path / "new") == 3


@pytest.mark.parametrize(
    ("bend", "what"),
    [
        ("DROP TABLE session", "table 'session' is missing"),
        ("DROP INDEX record_of_task", "index 'record_of_task' is missing"),
        ("CREATE TRIGGER more AFTER INSERT ON record BEGIN DELETE FROM record; END", "trigger 'more' is not of this"),
        ("CREATE VIEW seen AS SELECT * FROM task", "view 'seen' is not of this"),
        ("CREATE TABLE notes (text TEXT)", "table 'notes' is not of this"),
        ("ALTER TABLE task ADD COLUMN colour TEXT", "table 'task' is another"),
        ("DROP TABLE place; CREATE VIEW place AS SELECT 1 AS record, '' AS source", "view 'place' is another"),
    ],
)
def test_a_copy_with_other_tables(tmp_path: Path, bend: str, what: str) -> None:
    copy = filled(tmp_path / "copy", 1)
    with closing(sqlite3.connect(copy)) as connection:
        connection.executescript(bend)
    project = tmp_path / "project"
    filled(project, 1)
    with pytest.raises(InputError, match=what):
        restore(project, copy)
    assert count(project) == 1
    assert not list(project.glob("before-*"))
    assert what in refused(tmp_path / "copy")


@pytest.mark.parametrize(
    "bend",
    [
        "UPDATE record SET corrected = '[[0, 3'",
        "UPDATE record SET corrected = '[[0, 9999, \"title\"]]'",
        "UPDATE record SET tokens = '{}'",
        "UPDATE record SET text = CAST(x'ff41fe' AS TEXT)",
        "UPDATE record SET text = x'0041', tokens = 7",
        "UPDATE task SET penalties = '[', off = 'x'",
        "UPDATE task SET definition = '[1]'",
    ],
)
def test_damage_within_rows(start: Callable[..., Running], bend: str) -> None:
    """Pages that fit together may still hold what nobody stored: that is said, in the words of the API."""
    server = start()
    api = server.client
    assert api.post("/tasks/ads/records", json={"text": "a nice lamp"}).status_code == 201
    with server.app.state.core.database.write() as write:
        write.execute(bend)
    for path in ("records", "export?format=jsonl", "queue"):
        answer = api.get(f"/tasks/ads/{path}")
        if path == "queue" and "corrected" in bend:  # which has those that nobody corrected
            continue
        assert (answer.status_code, answer.json()["error"]["what"]) == (507, "the project is damaged"), answer.text
        assert "--restore" in answer.json()["error"]["hint"]


def test_copies_that_are_refused(tmp_path: Path) -> None:
    filled(tmp_path / "project", 1)
    (tmp_path / "text").write_text("not a database, but long enough to be looked at " * 40)
    (tmp_path / "empty").touch()
    for name in ("text", "empty"):
        with pytest.raises(InputError, match=f"{name}.* is ") as error:
            restore(tmp_path / "project", tmp_path / name)
        assert "--backup" in error.value.hint  # the file is to blame, not the project
    with pytest.raises(InputError, match="no such file"):
        restore(tmp_path / "project", tmp_path / "none")
    with pytest.raises(InputError, match="there already"):
        back_up(tmp_path / "project", tmp_path / "text")
    with pytest.raises(InputError, match="not a project"):
        back_up(tmp_path / "nowhere", tmp_path / "x")
    with pytest.raises(InputError):
        back_up(tmp_path / "project", tmp_path / "none" / "x")
    assert run(["serve", "--backup", "a", "--restore", "b"]) == 2
    assert count(tmp_path / "project") == 1

"""Two writers leave one whole file, or the second is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from trust_files import FILES, THREADS, at_once

import espalier as es
from espalier.cli.app import run
from espalier.cluster.stores import Store, alone
from espalier.document import Document
from espalier.errors import InputError
from espalier.server.database import Database
from espalier.text_files import write_chunks
from espalier.workbench.bench import Bench

SAVER = """
import sys, espalier as es
model = es.load(sys.argv[1]).model
print("ready", flush=True)
sys.stdin.readline()
for _ in range(60):
    model.save(sys.argv[2])
"""


def test_two_save_to_one_path(tmp_path: Path) -> None:
    """Whoever reads meanwhile finds one of the two, whole; and no fragment stays."""
    target = tmp_path / "model.espalier"
    sources = [tmp_path / "first", tmp_path / "second"]
    for path, name in zip(sources, ("crf", "hmm"), strict=True):
        es.load(FILES / f"{name}.espalier").save(path)
    savers = [
        subprocess.Popen([sys.executable, "-c", SAVER, path, target], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for path in sources
    ]
    wholes = {path.read_bytes() for path in sources}
    for saver in savers:
        assert saver.stdout is not None
        saver.stdout.readline()
    for saver in savers:
        assert saver.stdin is not None
        saver.stdin.write(b"go\n")
        saver.stdin.close()
    seen = set()
    while any(saver.poll() is None for saver in savers):
        if target.exists():
            seen.add(target.read_bytes())
    for saver in savers:
        assert saver.stdout is not None
        saver.stdout.close()
        assert saver.wait() == 0
    assert seen | {target.read_bytes()} <= wholes
    assert {path.name for path in tmp_path.iterdir()} == {"first", "second", "model.espalier"}


def test_two_threads_write_one_file(tmp_path: Path) -> None:
    """Both are in the middle of it at the same time; the file is the one or the other."""
    gate = threading.Barrier(2)

    def chunks(k: int) -> Iterator[str]:
        for n in range(3):
            gate.wait()
            yield f"{k} {n}\n"

    at_once(lambda k: write_chunks(tmp_path / "out.txt", chunks(k), "utf-8"), 2)
    assert (tmp_path / "out.txt").read_text() in ["0 0\n0 1\n0 2\n", "1 0\n1 1\n1 2\n"]
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


OPENER = """
import sys, pathlib
from espalier.errors import InputError
from espalier.server.database import Database
print("ready", flush=True)
sys.stdin.readline()
try:
    database = Database(pathlib.Path(sys.argv[1]))
except InputError as refused:
    print(refused)
else:
    with database.write() as write:
        write.execute("INSERT INTO task (name, rules) VALUES (?, '')", (sys.argv[2],))
    print("written", flush=True)
    sys.stdin.readline()
"""


def test_two_servers_open_a_new_project_at_once(tmp_path: Path) -> None:
    """One has it until it ends; the others are told so. What the one wrote is there, and the file is sound."""
    command = [sys.executable, "-c", OPENER, str(tmp_path / "project")]
    openers = [
        subprocess.Popen([*command, f"task{k}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        for k in range(3)
    ]
    pipes = [(opener.stdin, opener.stdout) for opener in openers if opener.stdin and opener.stdout]
    for _, out in pipes:
        out.readline()
    for into, _ in pipes:
        into.write("go\n")
    lines = [out.readline() for _, out in pipes]
    for opener in openers:
        opener.communicate("end\n")
    written = [f"task{k}" for k, line in enumerate(lines) if line == "written\n"]
    assert len(written) == 1
    assert all("is in use by another server" in line for line in lines if line != "written\n")
    database = Database(tmp_path / "project")
    assert [row["name"] for row in database.rows("SELECT name FROM task")] == written
    assert database.rows("PRAGMA integrity_check")[0][0] == "ok"
    database.close()


def make_job(directory: Path) -> Path:
    """Write a job of one record into `out`, and its input."""
    (directory / "in.txt").write_text("Ann in Ulm\n", encoding="utf-8")
    settings = {"input": "in.txt", "output": "out", "model": str(FILES / "crf.espalier")}
    path = directory / "job.toml"
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
    return path


HOLDER = """
import sys, time
from espalier.cluster.stores import alone
from espalier.cluster.stores import Store
with alone(Store(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_two_runs_into_one_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second is refused and changes nothing; the lock of one that was killed is gone with it."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        held = holder.stdout.readline()
        try:
            code = run(["run", str(make_job(tmp_path)), "--replace"])
            left = list((tmp_path / "out").iterdir())
        finally:
            holder.kill()
    said = " ".join(capsys.readouterr().err.split())
    assert (held, code, left) == (b"held\n", 2, [])
    assert "another run is writing there; wait until it has ended, or name another output" in said
    store = Store(str(tmp_path / "out"))
    with alone(store), pytest.raises(InputError, match="another run"), alone(store):
        pass


def test_results_of_a_later_version_are_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "job.json").write_text('{"version": 99, "job": "", "identity": {}}')
    assert run(["run", str(make_job(tmp_path))]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "was written by a later espalier (format 99); update this one" in said
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["job.json"]


def test_many_threads_write_one_project(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.tasks.create("people", ["name"], True, None, "")
    task = bench.tasks.get("people")

    def work(k: int) -> list[int]:
        return [bench.records.add(task, [Document.from_text(f"Ann {k} {n}")]).added[0] for n in range(10)]

    ids = at_once(work)
    assert sorted(chain.from_iterable(ids)) == [one.id for one in bench.records.all("people")]
    texts = {one.id: one.document.text for one in bench.records.all("people")}
    assert [[texts[i] for i in some] for some in ids] == [[f"Ann {k} {n}" for n in range(10)] for k in range(THREADS)]
    bench.close()

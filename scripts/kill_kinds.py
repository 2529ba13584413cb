"""Things to kill with SIGKILL, and how to see that nothing was lost; `kill_hundred.py` kills them, and lists them.

New files are known from an undisturbed run, since training and parsing are deterministic.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

__all__ = ["KINDS", "Damage", "Kind"]

ESPALIER = [sys.executable, "-m", "espalier"]
SAVER = """
import sys
from espalier.estimators.persist import load
models = [load(path) for path in sys.argv[1:3]]
print("ready", flush=True)
while True:
    for model in models:
        model.save(sys.argv[3])
"""
PAIRS = (("Ann 12 $", 3), ("Bob 7 $", 3), ("oak 40 $", 3), ("lamp 15 $", 4))


class Damage(Exception):
    """What was confirmed is lost, or a file is neither the old nor the new one."""


class Kind(Protocol):
    """Something to kill. `strike` kills it once, and tells whether the new state was reached before."""

    def strike(self, rng: random.Random) -> bool:
        """Start, kill at a random moment, and look; raise Damage if something is wrong."""

    def finish(self) -> None:
        """Look at the whole once more, and stop what runs."""


def started(command: Sequence[Any], **options: Any) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, quietly."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([str(part) for part in command], start_new_session=True, **quiet | options)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started, at once; it may be over already."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def undisturbed(command: Sequence[Any], **options: Any) -> float:
    """Run a command to its end, and return how long that took."""
    begin = time.perf_counter()
    process = started(command, stderr=subprocess.PIPE, **options)
    _, errors = process.communicate()
    if process.returncode:
        raise SystemExit(f"this should work: {' '.join(map(str, command))}\n{errors.decode()}")
    return time.perf_counter() - begin


def sequences(n: int, kinds: int = 40) -> list[dict[str, Any]]:
    """Return n labelled records as Espalier's JSON lines."""
    rows = []
    for i in range(n):
        text, cut = PAIRS[i % len(PAIRS)]
        text = f"{text[:cut]}{i % kinds} {text[cut + 1 :]}"
        end = text.index(" ", cut)
        spans = [[0, end, "item"], [end + 1, len(text), "price"]]
        rows.append({"text": text, "spans": [{"start": a, "end": b, "label": label} for a, b, label in spans]})
    return rows


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Replaced:
    """A command that replaces one file: the old bytes or the new ones are there, nothing else."""

    def __init__(self, target: Path, command: Sequence[Any], old: bytes) -> None:
        """Run the command once, undisturbed, for the new bytes and for how long it takes."""
        self.target, self.command, self.old = target, command, old
        target.write_bytes(old)
        self.seconds = undisturbed(command)
        self.new = target.read_bytes()
        if self.new == old:
            raise SystemExit(f"{target}: the old and the new file are the same; nothing could be seen")

    def strike(self, rng: random.Random) -> bool:
        """Kill the command somewhere between its start and a little after its end."""
        self.target.write_bytes(self.old)
        process = started(self.command)
        time.sleep(rng.uniform(0.2, 1.1) * self.seconds)
        kill(process)
        found = self.target.read_bytes()
        if found not in (self.old, self.new):
            raise Damage(f"{self.target.name} has {len(found)} bytes and is neither the old nor the new file")
        return found == self.new

    def finish(self) -> None:
        """Nothing runs."""


def training(directory: Path) -> Kind:
    """Train over the file of another model."""
    labelled = write_rows(directory / "labelled.jsonl", sequences(400))
    target = directory / "model.espalier"
    command = [*ESPALIER, "train", "-l", labelled, "-o", target, "--model", "crf"]
    undisturbed([*command[:-1], "hmm"])
    return Replaced(target, command, target.read_bytes())


def references(directory: Path, n: int) -> Path:
    """Write a file of references."""
    path = directory / "refs.txt"
    line = "A. Author and B. Writer. A title of number {0}. Journal of Things {0}, pp. {0}-99, 1990."
    path.write_text("".join(line.format(i % 90) + "\n" for i in range(n)), encoding="utf-8")
    return path


def parsing(directory: Path) -> Kind:
    """Parse over an older file."""
    target = directory / "out.jsonl"
    return Replaced(target, [*ESPALIER, "parse", references(directory, 500), "-o", target], b'{"old": true}\n')


class Streamed:
    """Parsing to standard output: what has come out is a beginning of the whole."""

    def __init__(self, directory: Path) -> None:
        """Take the whole from an undisturbed run."""
        self.out = directory / "stream.jsonl"
        self.command = [*ESPALIER, "parse", references(directory, 500), "--format", "jsonl"]
        with open(self.out, "wb") as stream:
            self.seconds = undisturbed(self.command, stdout=stream)
        self.whole = self.out.read_bytes()

    def strike(self, rng: random.Random) -> bool:
        """Kill it, and compare every byte."""
        with open(self.out, "wb") as stream:
            process = started(self.command, stdout=stream)
            time.sleep(rng.uniform(0.4, 1.1) * self.seconds)
            kill(process)
        found = self.out.read_bytes()
        if not self.whole.startswith(found):
            raise Damage("the output is not a beginning of the whole output")
        for line in found.split(b"\n")[:-1]:  # what ends with a line feed is a whole record
            json.loads(line)
        return found == self.whole

    def finish(self) -> None:
        """Nothing runs."""


class Saved:
    """Two models saved under one name in turns; both are large enough that most kills come while bytes are written."""

    def __init__(self, directory: Path, words: int = 30_000) -> None:
        """Make the two models."""
        import espalier as es

        self.target, self.sources = directory / "saved.espalier", [directory / "a.espalier", directory / "b.espalier"]
        for k, path in enumerate(self.sources):
            tokens = [[f"{k}word{i + j}" for j in range(10)] for i in range(0, words, 10)]
            es.HMM().fit(tokens, [["A", "B"] * 5 for _ in tokens]).save(path)
        self.wholes = [path.read_bytes() for path in self.sources]

    def strike(self, rng: random.Random) -> bool:
        """Kill the saver within half a second of its first save."""
        process = started([sys.executable, "-c", SAVER, *self.sources, self.target], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.5))
        kill(process)
        process.stdout.close()
        if not self.target.exists():  # killed before the first save was over
            return False
        found = self.target.read_bytes()
        if found not in self.wholes:
            raise Damage(f"{self.target.name} has {len(found)} bytes and is neither of the two models")
        return found == self.wholes[1]

    def finish(self) -> None:
        """Nothing runs."""


class Served:
    """A server, and clients that correct records: what was answered is in the project, after any number of kills."""

    def __init__(self, directory: Path, records: int = 60) -> None:
        """Make a project with a task and records."""
        self.project = directory / "project"
        self.texts = [row["text"] for row in sequences(records, records)]
        self.confirmed: dict[int, Any] = {}  # by record: the fields of the last answer
        self.asked: dict[int, Any] = {}  # ... and those of the last request
        server = self._start()
        self._ask("POST", "/tasks", {"name": "wares", "labels": ["item", "price"]})
        self.ids: list[int] = self._ask("POST", "/tasks/wares/records", {"text": "\n".join(self.texts)})["added"]
        kill(server)

    def _start(self) -> subprocess.Popen[bytes]:
        server = started([*ESPALIER, "serve", "--project", self.project, "--port", 0], stdout=subprocess.PIPE)
        assert server.stdout is not None
        address = server.stdout.readline().decode()
        if not address:
            raise Damage("the server does not start on what the last one left")
        self.port = int(address.rstrip("/\n").rpartition(":")[2])
        server.stdout.close()
        return server

    def _ask(self, method: str, path: str, body: Any) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            headers = {"X-Espalier": "1", "Content-Type": "application/json"}
            connection.request(method, f"/api/v1{path}", json.dumps(body), headers)
            answer = connection.getresponse()
            found = json.loads(answer.read())
            if answer.status >= 400:
                raise Damage(f"{method} {path}: {found}")
            return found
        finally:
            connection.close()

    def _correct(self, ids: Sequence[int], turn: int, stop: threading.Event) -> None:
        """Correct records over and over, always otherwise, until the server is gone."""
        while not stop.is_set():
            for id in ids:
                turn += 1
                text = self.texts[self.ids.index(id)]
                fields = [{"label": ("item", "price")[turn % 2], "start": 0, "end": text.index(" ")}]
                self.asked[id] = fields
                try:
                    self._ask("PUT", f"/tasks/wares/records/{id}/fields", {"fields": fields})
                except (OSError, http.client.HTTPException, ValueError):
                    return
                self.confirmed[id] = fields

    def strike(self, rng: random.Random) -> bool:
        """Kill the server while two clients are at it, and read what it left."""
        server, stop = self._start(), threading.Event()
        clients = [
            threading.Thread(target=self._correct, args=(self.ids[k::2], rng.randrange(2), stop)) for k in (0, 1)
        ]
        for client in clients:
            client.start()
        time.sleep(rng.uniform(0.1, 1.5))
        kill(server)
        stop.set()
        for client in clients:
            client.join()
        self._look()
        return True

    def _look(self) -> None:
        from espalier.server.database import Database

        database = Database(self.project)
        rows = {row["id"]: row["corrected"] for row in database.rows("SELECT id, corrected FROM record")}
        sound = database.rows("PRAGMA integrity_check")[0][0]
        database.close()
        if sound != "ok" or sorted(rows) != sorted(self.ids):
            raise Damage(f"the project is not sound ({sound}), or lacks records")
        for id, fields in self.confirmed.items():
            allowed = [_stored(fields), _stored(self.asked[id])]  # the last request may have been done, not answered
            if rows[id] is None or json.loads(rows[id]) not in allowed:
                raise Damage(f"record {id} was confirmed as {allowed[0]}, and is {rows[id]}")

    def finish(self) -> None:
        """A server can be started once more, and says the same."""
        server = self._start()
        found = self._ask("GET", "/tasks/wares/records?limit=1000", None)["records"]
        kill(server)
        if sum(record["corrected"] is not None for record in found) < len(self.confirmed):
            raise Damage("the server lost corrections that are in its file")


def _stored(fields: Sequence[dict[str, Any]]) -> list[list[Any]]:
    return [[field["start"], field["end"], field["label"]] for field in fields]


class Ran:
    """A job of many partitions, killed with all its workers; the next run goes on with what the last one left."""

    def __init__(self, directory: Path) -> None:
        """Run the job once, undisturbed."""
        import espalier as es

        self.directory, self.number = directory, 0
        rows = sequences(120)
        (directory / "in.txt").write_text("".join(row["text"] + "\n" for row in rows), encoding="utf-8")
        es.HMM().fit([row["text"].split() for row in rows], [["item", "price", "price"]] * len(rows)).save(
            directory / "run.espalier"
        )
        settings = {"input": "in.txt", "output": "out", "model": "run.espalier", "partition_bytes": 80}
        (directory / "job.toml").write_text("".join(f"{k} = {json.dumps(v)}\n" for k, v in settings.items()))
        self.seconds = undisturbed(self._command("whole"))
        self.checksum = self._manifest("whole")["checksum"]

    def _command(self, output: str) -> list[Any]:
        return [*ESPALIER, "run", self.directory / "job.toml", "--workers", 2, "-o", self.directory / output]

    def _manifest(self, output: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.directory / output / "manifest.json").read_text(encoding="utf-8"))
        return found

    def strike(self, rng: random.Random) -> bool:
        """Kill a run; if it was over, compare its rows and begin with a new output."""
        output = f"out{self.number}"
        process = started(self._command(output))
        time.sleep(rng.uniform(0.3, 1.0) * self.seconds)
        kill(process)
        self._read_parts(output)
        if not (self.directory / output / "manifest.json").exists():
            return False
        self._compare(output)
        self.number += 1
        return True

    def _read_parts(self, output: str) -> None:
        """Every partition that has its name can be read to the end."""
        import pyarrow.parquet as pq

        for path in (self.directory / output).glob("parts/*.parquet"):
            if path.name.startswith("."):
                continue
            try:
                pq.read_table(path)
            except Exception as error:
                raise Damage(f"{path.name}: {error}") from error

    def _compare(self, output: str) -> None:
        if self._manifest(output)["checksum"] != self.checksum:
            raise Damage(f"{output}: the rows are not those of an undisturbed run")

    def finish(self) -> None:
        """Let the last run come to its end."""
        output = f"out{self.number}"
        undisturbed(self._command(output))
        self._compare(output)
        undisturbed([*self._command(output), "--check"])


KINDS = {"save": Saved, "train": training, "parse": parsing, "stream": Streamed, "serve": Served, "run": Ran}

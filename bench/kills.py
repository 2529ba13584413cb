"""SIGKILL for the server at random moments, in the middle of all kinds of writes: nothing confirmed may be lost.

    python bench/kills.py [--kills 200] [--seed 0]

Ten clients write at once, each what nobody else writes: fields of records, new and deleted records, rules, tasks,
model files, which model is in use, flags, comments, records that are split, merged and put together again by undoing
it, and labels that are renamed with the fields that have them. After each kill the project is opened and looked at:
it is sound, and everything is as it was confirmed last, or as it was asked for when the kill came. The next server
starts on what the last one left. The servers are forked from one process that has loaded the library, so a kill takes
a second; every other kill is of two processes on one project. `scripts/kill_hundred.py` kills whole commands. Ends
with 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from espalier.server.database import Database
from espalier.server.transport import can_share, configured, listening
from espalier.workbench.app import create_app

HEADERS = {"X-Espalier": "1", "Content-Type": "application/json"}
TASKS = ("fields", "texts", "rules", "models", "marks", "parts", "labels")
GONE = (OSError, http.client.HTTPException, ValueError)

WHOLE, HALVES = ["lamp 12 $"], ["12 $", "lamp"]
"""The texts of the task `parts`, in one record and in two."""

BEFORE = {
    "fields": None, "text": False, "rules": "", "task": False, "model": False, "active": 0,
    "flag": None, "comment": False, "parts": WHOLE, "labels": ["item", "item"],
}  # fmt: skip
"""What is there before anybody writes, by the kind of key."""

Key = tuple[str, Any]


class Loss(Exception):
    """Something that was confirmed is not there."""


class Ledger:
    """What was confirmed, and what was asked for and not answered yet, by key."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.confirmed: dict[Key, Any] = {}
        self.asked: dict[Key, Any] = {}
        self.writes = 0

    def write(self, key: Key, value: Any, ask: Callable[[], Any]) -> Any:
        """Ask for a change, and note it once it is confirmed."""
        self.asked[key] = value
        answer = ask()
        self.confirmed[key] = value
        del self.asked[key]
        self.writes += 1
        return answer

    def compare(self, found: Callable[[Key], Any]) -> None:
        """Look whether all is as it was confirmed, or as asked for; go on from what is there."""
        for key in {**self.confirmed, **self.asked}:
            there = found(key)
            allowed = [self.confirmed.get(key, BEFORE[key[0]]), *([self.asked[key]] if key in self.asked else [])]
            if there not in allowed:
                raise Loss(f"{key} is {there!r}, and was confirmed as {allowed[0]!r}")
            self.confirmed[key] = there
        self.asked.clear()


def ask(port: int, method: str, path: str, body: Any) -> Any:
    """Send a request; an answer that is no success is a loss, too."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, f"/api/v1{path}", data, HEADERS)
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    if answer.status >= 400:
        raise Loss(f"{method} {path}: {answer.status} {text[:200]!r}")
    return json.loads(text) if text else None


class Killed:
    """A project, and servers for it that are killed."""

    def __init__(self, project: Path) -> None:
        """Make tasks and records, and a model file, with a server that ends in peace."""
        self.project, self.ledger, self.number = project, Ledger(), 0
        self.model = self._model_file(project.parent / "m.espalier")
        self.ids: list[int] = []
        self.problems: list[str] = []
        children, port = self.start(1)
        for task in TASKS:
            ask(port, "POST", "/tasks", {"name": task, "labels": ["item", "price"]})
        text = "\n".join(f"lamp {i} 12 $" for i in range(20))
        self.ids = ask(port, "POST", "/tasks/fields/records", {"text": text})["added"]
        self.marked = ask(port, "POST", "/tasks/marks/records", {"text": text})["added"]
        ask(port, "POST", "/tasks/parts/records", {"text": WHOLE[0]})
        (one,) = ask(port, "POST", "/tasks/labels/records", {"text": "lamp 12 $"})["added"]
        ask(port, "PUT", f"/tasks/labels/records/{one}/fields", {"fields": [{"label": "item", "start": 0, "end": 4}]})
        self.kill(children)

    @staticmethod
    def _model_file(path: Path) -> bytes:
        import espalier as es

        es.HMM().fit([["lamp", "12", "$"]], [["item", "price", "price"]]).save(path)
        return path.read_bytes()

    def start(self, workers: int) -> tuple[list[int], int]:
        """Fork servers, and return their numbers and the port; nothing else runs in this process now."""
        import uvicorn

        first = listening("127.0.0.1", 0, shared=can_share())
        port = first.getsockname()[1]
        children = []
        for worker in range(workers):
            ready, said = os.pipe()
            child = os.fork()
            if not child:
                try:
                    listener = first if not worker else listening("127.0.0.1", port, shared=True)
                    app = create_app(self.project, trainer=["true"], worker=worker, shared=workers > 1)
                    os.write(said, b"1")
                    uvicorn.Server(configured(app, log_level="critical")).run(sockets=[listener])
                finally:
                    os._exit(0)
            os.close(said)
            children.append(child)
            if os.read(ready, 1) != b"1":
                raise Loss("the server does not start on what the last one left")
            os.close(ready)
        first.close()
        return children, port

    @staticmethod
    def kill(children: list[int]) -> None:
        """Kill all processes of a server at once."""
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)

    def strike(self, chance: random.Random, workers: int) -> None:
        """Kill a server while clients write, and look at what it left."""
        children, port = self.start(workers)
        works = (
            self._correct, self._add, self._rule, self._make_tasks, self._bring_models, self._activate,
            self._flag, self._comment, self._part, self._rename,
        )  # fmt: skip
        seeds = [chance.random() for _ in works]
        threads = [
            threading.Thread(target=self._until_gone, args=(work, port, random.Random(seed)))
            for work, seed in zip(works, seeds, strict=True)
        ]
        for thread in threads:
            thread.start()
        before, end = self.ledger.writes, time.monotonic() + 30
        while self.ledger.writes == before and time.monotonic() < end and not self.problems:
            time.sleep(0.005)
        time.sleep(chance.uniform(0.0, 0.8))
        self.kill(children)
        for thread in threads:
            thread.join()
        self.look()

    def _until_gone(self, work: Callable[[int, random.Random], None], port: int, chance: random.Random) -> None:
        try:
            while True:
                work(port, chance)
        except GONE:
            return
        except Loss as loss:
            self.problems.append(str(loss))

    def _correct(self, port: int, chance: random.Random) -> None:
        id, path = chance.choice(self.ids), "/tasks/fields/records"
        if chance.random() < 0.2:
            self.ledger.write(("fields", id), None, lambda: ask(port, "DELETE", f"{path}/{id}/fields", None))
            return
        label = chance.choice(["item", "price"])
        fields = [{"label": label, "start": 0, "end": 4}]
        body = {"fields": fields}
        self.ledger.write(("fields", id), [[0, 4, label]], lambda: ask(port, "PUT", f"{path}/{id}/fields", body))

    def _add(self, port: int, chance: random.Random) -> None:
        text, path = f"vase {chance.random()} $", "/tasks/texts/records"
        added = self.ledger.write(("text", text), True, lambda: ask(port, "POST", path, {"text": text}))["added"]
        if chance.random() < 0.3:
            self.ledger.write(("text", text), False, lambda: ask(port, "DELETE", f"{path}/{added[0]}", None))

    def _rule(self, port: int, chance: random.Random) -> None:
        text = f"Price: price once [penalty {chance.uniform(0, 9):.3f}]\n"
        self.ledger.write(("rules", "rules"), text, lambda: ask(port, "PUT", "/tasks/rules/rules", {"text": text}))

    def _make_tasks(self, port: int, chance: random.Random) -> None:
        name = f"own-{chance.randrange(10**9)}"
        body = {"name": name, "labels": ["item"]}
        self.ledger.write(("task", name), True, lambda: ask(port, "POST", "/tasks", body))
        if chance.random() < 0.7:
            self.ledger.write(("task", name), False, lambda: ask(port, "DELETE", f"/tasks/{name}", None))

    def _bring_models(self, port: int, chance: random.Random) -> None:
        name, path = f"m{chance.randrange(10**9)}", "/tasks/models/models"
        made = self.ledger.write(
            ("model", name), True, lambda: ask(port, "POST", f"{path}?name={name}&activate=false", self.model)
        )
        if chance.random() < 0.6:
            self.ledger.write(("model", name), False, lambda: ask(port, "DELETE", f"{path}/{made['id']}", None))

    def _activate(self, port: int, chance: random.Random) -> None:
        chosen = chance.choice([0, None])
        self.ledger.write(
            ("active", "citations"), chosen, lambda: ask(port, "PUT", "/tasks/citations/model", {"id": chosen})
        )

    def _flag(self, port: int, chance: random.Random) -> None:
        id, why = chance.choice(self.marked), chance.choice([None, f"look again {chance.random()}"])
        path = f"/tasks/marks/records/{id}"
        self.ledger.write(("flag", id), why, lambda: ask(port, "PATCH", path, {"flag": why}))

    def _comment(self, port: int, chance: random.Random) -> None:
        text, path = f"see {chance.random()}", f"/tasks/marks/records/{chance.choice(self.marked)}/comments"
        self.ledger.write(("comment", text), True, lambda: ask(port, "POST", path, {"text": text}))

    def _part(self, port: int, chance: random.Random) -> None:
        """Split the one record, or put the two together: by merging them, or by taking the split back."""
        path, key = "/tasks/parts", ("parts", "parts")
        ids = {record["text"]: record["id"] for record in ask(port, "GET", f"{path}/records", None)["records"]}
        if len(ids) == 1:
            split = f"{path}/records/{ids[WHOLE[0]]}/split"
            self.ledger.write(key, HALVES, lambda: ask(port, "POST", split, {"at": 5}))
            return
        last = ask(port, "GET", f"{path}/history?limit=1", None)["changes"][0]
        if last["what"] == "split" and chance.random() < 0.5:
            self.ledger.write(key, WHOLE, lambda: ask(port, "POST", f"{path}/history/{last['id']}/undo", None))
        else:
            merge, other = f"{path}/records/{ids['lamp']}/merge", {"other": ids["12 $"]}
            self.ledger.write(key, WHOLE, lambda: ask(port, "POST", merge, other))

    def _rename(self, port: int, chance: random.Random) -> None:
        """Rename a label; the label of the task and that of its confirmed field change together, or neither."""
        before, after = ask(port, "GET", "/tasks/labels", None)["labels"][0], f"item{chance.randrange(10**6)}"
        body = {"rename": {before: after}, "really": True}
        self.ledger.write(("labels", "labels"), [after, after], lambda: ask(port, "PUT", "/tasks/labels/labels", body))

    def look(self) -> None:
        """Open the project as the next server would, and compare."""
        database = Database(self.project)
        try:
            sound = database.rows("PRAGMA integrity_check")[0][0]
            if sound != "ok":
                raise Loss(f"the project is not sound: {sound}")
            self.ledger.compare(_reader(database))
        finally:
            database.close()
        if self.problems:
            raise Loss(self.problems.pop())


def _reader(database: Database) -> Callable[[Key], Any]:
    """Return what reads the value of a key from a project."""
    rows = database.rows("SELECT * FROM task")
    tasks = {row["name"]: row for row in rows}
    fields = {row["id"]: row["corrected"] for row in database.rows("SELECT id, corrected FROM record")}
    texts = {row["text"] for row in database.rows("SELECT text FROM record WHERE task = 'texts'")}
    models = {row["name"] for row in database.rows("SELECT name FROM model")}
    flags = {row["id"]: row["flag"] for row in database.rows("SELECT id, flag FROM record WHERE task = 'marks'")}
    comments = {row["text"] for row in database.rows("SELECT text FROM comment")}
    parts = sorted(row["text"] for row in database.rows("SELECT text FROM record WHERE task = 'parts'"))
    (labelled,) = database.rows("SELECT corrected FROM record WHERE task = 'labels'")
    kinds: dict[str, Callable[[Any], Any]] = {
        "fields": lambda id: None if fields[id] is None else json.loads(fields[id]),
        "text": lambda text: text in texts,
        "rules": lambda task: tasks[task]["rules"],
        "task": lambda name: name in tasks,
        "model": lambda name: name in models,
        "active": lambda task: tasks[task]["active"],
        "flag": lambda id: flags[id],
        "comment": lambda text: text in comments,
        "parts": lambda _: parts,
        "labels": lambda task: [
            json.loads(tasks[task]["definition"])["labels"][0],
            json.loads(labelled["corrected"])[0][2],
        ],
    }
    return lambda key: kinds[key[0]](key[1])


def main() -> int:
    """Kill, look, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    options = parser.parse_args()
    chance, lost = random.Random(options.seed), []
    with tempfile.TemporaryDirectory() as directory:
        target = Killed(Path(directory) / "project")
        for n in range(options.kills):
            try:
                target.strike(chance, 1 + n % 2 if can_share() else 1)
            except Loss as loss:
                lost.append(f"kill {n + 1}: {loss}")
    kinds = sorted({key[0] for key in target.ledger.confirmed})
    print(f"{options.kills} kills, {target.ledger.writes:,} confirmed writes of {', '.join(kinds)}: {len(lost)} losses")
    print(*lost, sep="\n")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())

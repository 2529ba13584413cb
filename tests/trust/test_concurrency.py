"""One model in many threads and processes says what it says alone, and two writers leave one whole file."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from trust_files import EXPECTED, FILES, TOKENS

import espalier as es
from espalier.citations.parser import Parser
from espalier.corpus import Corpus
from espalier.document import Document
from espalier.errors import InputError
from espalier.io.files import write_chunks
from espalier.workbench.bench import Bench
from espalier.workbench.database import Database

THREADS = 4
BATCHES = [TOKENS, TOKENS[::-1], TOKENS[2:] * 3, [[word.upper() for word in words] for words in TOKENS]]
REFERENCES = EXPECTED["references"]
RULES = es.RuleSet.from_text("Year: token ~ /\\d+/ -> year [penalty 3]\nOnce: each field once [penalty 1]")
KINDS = ["crf", "crf-classes", "hmm", "hmm-classes", "perceptron", "semicrf", "experts", "ccm-count", "ccm-segments",
         "two-stage", "codl", "samplerank", "pr", "ge"]  # fmt: skip


@pytest.fixture(autouse=True)
def _switching() -> Iterator[None]:
    """Let threads take turns a hundred times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


def said(model: Any, tokens: list[list[str]]) -> tuple[Any, ...]:
    """All that a model says of a batch, to the last bit."""
    found: list[Any] = [model.predict(tokens)]
    try:
        found += [table.tobytes() for table in model.predict_marginals(tokens)]
        found.append(model.predict_k(tokens, 2))
    except InputError as refused:
        found.append(str(refused))
    return tuple(found)


def decoded(model: Any) -> list[Any]:
    """What `decode` says under rules that the model does not know."""
    batch = model.potentials(Corpus.from_tokens(TOKENS))
    several = [es.decode(batch[i], RULES, tokens=words, labels=model.labels_) for i, words in enumerate(TOKENS)]
    return [(answer.names(), answer.score, answer.violations) for answer in several]


def at_once(work: Callable[[int], Any], n: int = THREADS) -> list[Any]:
    """Call work(0), work(1), ... in threads that begin together."""
    gate = threading.Barrier(n)

    def begin(k: int) -> Any:
        gate.wait()
        return work(k)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(begin, range(n)))


@pytest.mark.parametrize("name", KINDS)
def test_a_model_in_many_threads(name: str) -> None:
    """Each round loads the file anew, so that whatever is built on first use is built by several threads at a time."""
    alone = [said(es.load(FILES / f"{name}.espalier"), batch) for batch in BATCHES]
    assert alone[0][0] == EXPECTED["models"][name]["labels"]
    for _ in range(3):
        model = es.load(FILES / f"{name}.espalier")

        def work(k: int, model: Any = model) -> list[Any]:
            order = [*range(k % len(BATCHES), len(BATCHES)), *range(k % len(BATCHES))]
            found = {b: said(model, BATCHES[b]) for b in order}
            return [found[b] for b in range(len(BATCHES))]

        assert all(found == alone for found in at_once(work))


def test_decoding_in_many_threads() -> None:
    alone = decoded(es.load(FILES / "crf.espalier"))
    model = es.load(FILES / "crf.espalier")
    assert all(found == alone for found in at_once(lambda _: decoded(model)))


def test_a_parser_in_many_threads() -> None:
    texts = [f"{text} {n}" for n in range(20) for text in REFERENCES]

    def records(parser: Parser) -> list[Any]:
        return [record.to_dict() for record in parser.parse_many(texts, k=2, batch=7)]

    alone = records(Parser.from_file(FILES / "parser.espalier"))
    parser = Parser.from_file(FILES / "parser.espalier", threads=2)
    assert all(found == alone for found in at_once(lambda _: records(parser)))


def answers_of(model: Any) -> list[Any]:
    return [said(model, batch) for batch in BATCHES]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_model_in_many_processes(method: str) -> None:
    """The models have worked before, on two threads, so there is everything to inherit that could do harm."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    models = [es.load(FILES / f"{name}.espalier") for name in ("crf", "ccm-count", "semicrf")]
    alone = [answers_of(model.set_params(threads=2)) for model in models]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(answers_of, models * 2).get(timeout=60) == alone * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of fork among threads, which is the point
def test_a_fork_while_another_thread_predicts() -> None:
    model = es.load(FILES / "crf.espalier")
    model.predict(TOKENS)  # so that the kernels are there: compiling holds locks that are not ours
    stop = threading.Event()

    def busy() -> None:
        n = 0
        while not stop.is_set():
            model.predict([[f"word{n}-{i}" for i in range(200)]])
            n += 1

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(20):
            assert _in_child(lambda: model.predict(TOKENS) == EXPECTED["models"]["crf"]["labels"]) == 0
    finally:
        stop.set()
        thread.join()


def _in_child(true: Callable[[], bool], seconds: float = 20.0) -> int:
    """Return 0 if something is true in a forked child; a child that hangs is killed."""
    child = os.fork()
    if not child:
        os._exit(0 if true() else 1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child of a fork hangs")


SAVER = """
import sys, espalier as es
model = es.load(sys.argv[1])
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
from espalier.workbench.database import Database
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


def test_many_threads_write_one_project(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.tasks.create("people", ["name"], True, None, "")
    task = bench.tasks.get("people")

    def work(k: int) -> list[int]:
        return [bench.records.add(task, [Document.from_text(f"Ann {k} {n}")]).ids[0] for n in range(10)]

    ids = at_once(work)
    assert sorted(chain.from_iterable(ids)) == [one.id for one in bench.records.all("people")]
    texts = {one.id: one.document.text for one in bench.records.all("people")}
    assert [[texts[i] for i in some] for some in ids] == [[f"Ann {k} {n}" for n in range(10)] for k in range(THREADS)]
    bench.close()

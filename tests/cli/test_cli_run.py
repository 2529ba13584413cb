"""`espalier run`, and `--jobs` of parse and label: the same results on any number of processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest
from cli_runs import TAGGED, Espalier

from citation_models import pieces, reference, tiny_model
from espalier.citations.parser import Parser
from espalier.cli.console import Pace
from espalier.cli.files import reference_files


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("references") / "tiny.espalier"
    tiny_model().save(path)
    return path


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as local:
        yield str(local.scheduler_address)


def write_job(directory: Path, trained: Path, **settings: Any) -> Path:
    usual: dict[str, Any] = {"input": "*.txt", "output": "out", "model": str(trained), "partition_bytes": 500}
    path = directory / "job.toml"
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in (usual | settings).items()))
    return path


def rows(output: Path) -> list[dict[str, Any]]:
    found = [row for path in sorted((output / "parts").iterdir()) for row in pq.read_table(path).to_pylist()]
    return sorted(found, key=lambda row: (row["input"], row["position"]))


def test_references_to_parquet(espalier: Espalier, references: Path, tmp_path: Path, cluster: str) -> None:
    texts = [reference(n) for n in range(30)]
    (tmp_path / "refs.txt").write_text("\n".join(texts), encoding="utf-8")
    job = write_job(tmp_path, references, rows="references")
    done = espalier("run", job, "--cluster", cluster)
    assert (done.code, done.err) == (0, "")
    assert [line.split()[:3] for line in done.out.splitlines()[:3]] == [
        ["records", "in", "30"],
        ["records", "out", "30"],
        ["records", "set", "aside"],
    ]
    found = rows(tmp_path / "out")
    assert [row["text"] for row in found] == texts
    for n, row in enumerate(found):
        assert [(field["label"], field["text"]) for field in row["fields"]] == pieces(n)
    alone = [json.loads(line) for line in espalier("parse", tmp_path / "refs.txt", "-m", references).out.splitlines()]
    for row, record in zip(found, alone, strict=True):
        assert {name: row[name] for name in ("fields", "confidence", "certificate", "violations")} == {
            name: record[name] for name in ("fields", "confidence", "certificate", "violations")
        }
        csl = json.loads(row["csl"])
        assert csl == record["csl"] | {"id": csl["id"]}  # keys are unique only where one process gives them
    assert espalier("run", job, "--check").code == 0


def test_entries_of_references(espalier: Espalier, references: Path, tmp_path: Path, cluster: str) -> None:
    (tmp_path / "refs.txt").write_text("\n".join(map(reference, range(5))), encoding="utf-8")
    job = write_job(tmp_path, references, rows="references", entries=["bibtex", "endnote"])
    done = espalier("run", job, "--cluster", cluster)
    assert (done.code, done.err) == (0, "")
    records = list(Parser.from_file(references).parse_many(map(reference, range(5))))
    for row, record in zip(rows(tmp_path / "out"), records, strict=True):
        assert (row["bibtex"], row["endnote"]) == (record.to_bibtex(), record.to("endnote"))
    assert espalier("run", job, "--check").code == 0
    without = espalier("run", write_job(tmp_path, references, rows="references"), "--cluster", cluster)
    assert "partitions done again" in without.err  # it is another job


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": "references", "entries": ["bibtx"]}, "did you mean 'bibtex'"),
        ({"rows": "references", "entries": ["csl"]}, "has a column 'csl'"),
        ({"rows": "references", "entries": ["ris"], "keep": ["ris"]}, "keep and entries name a column twice"),
        ({"rows": "spans", "entries": ["ris"]}, "entries are written of references"),
    ],
)
def test_wrong_entries(espalier: Espalier, references: Path, tmp_path: Path, options: Any, message: str) -> None:
    (tmp_path / "refs.txt").write_text("x", encoding="utf-8")
    done = espalier("run", write_job(tmp_path, references, **options))
    assert (done.code, message in done.err) == (2, True)


def test_spans_of_any_model(espalier: Espalier, model: Path, tmp_path: Path, cluster: str) -> None:
    texts = ["plum at £ 3 in Ely", "pear for £ 9 near Wye", "", "a fig"]
    lines = [json.dumps({"text": text, "shop": n}) for n, text in enumerate(texts)]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, '{"text": 7}']), encoding="utf-8")
    job = write_job(tmp_path, model, input="a.jsonl", keep=["shop"])
    done = espalier("run", job, "--cluster", cluster, "--json")
    report = json.loads(done.out)
    assert (done.code, done.err) == (1, "")
    assert report["records"] == {"in": 5, "out": 4, "rejected": 1, "failed": 0}
    found = rows(tmp_path / "out")
    assert [(row["text"], row["shop"]) for row in found] == [(text, str(n)) for n, text in enumerate(texts)]
    assert found[0]["spans"] == [
        {"label": "fruit", "text": "plum", "start": 0, "end": 4},
        {"label": "price", "text": "£ 3", "start": 8, "end": 11},
        {"label": "place", "text": "Ely", "start": 15, "end": 18},
    ]
    assert found[2]["spans"] == []


def test_what_is_set_aside_is_told(espalier: Espalier, model: Path, tmp_path: Path, cluster: str) -> None:
    (tmp_path / "good.txt").write_text("plum\n" * 3, encoding="utf-8")
    (tmp_path / "bad.txt").write_bytes(b"\x1f\x8b\x08 no gzip at all")
    (tmp_path / "long.txt").write_text("pear\n" + "x" * 30_000 + "\n", encoding="utf-8")
    done = espalier("run", write_job(tmp_path, model, retries=0), "--cluster", cluster)
    assert done.code == 1
    assert [line.split() for line in done.out.splitlines()] == [
        ["records", "in", "5"],
        ["records", "out", "4", f"{tmp_path}/out/parts"],
        ["records", "set", "aside", "1", f"{tmp_path}/out/rejected"],
        ["partitions", "finished", "62"],
        ["partitions", "set", "aside", "1", f"{tmp_path}/out/failed;", "how", "many", "records", "is", "unknown"],
    ]
    assert "the gzip data is truncated or damaged" in done.err


@pytest.mark.parametrize(
    ("settings", "options", "what"),
    [
        ({"rows": "refs"}, [], "rows is 'refs'"),
        ({"rows": "references"}, [], "the model has the label"),
        ({"model": "none.espalier"}, [], "none.espalier': No such file"),
        ({"input": "*.jsonl"}, [], "no file matches"),
        ({"inptu": "x"}, [], "did you mean 'input'?"),
        ({}, ["--cluster", "tcp://127.0.0.1:1", "--workers", 2], "--workers is for processes here"),
        ({}, ["--wait", 1], "--wait is for a --cluster"),
        ({}, ["--workers", 0], "--workers"),
    ],
)
def test_wrong_use(
    espalier: Espalier, model: Path, tmp_path: Path, settings: dict[str, str], options: list[object], what: str
) -> None:
    (tmp_path / "a.txt").write_text("plum\n", encoding="utf-8")
    done = espalier("run", write_job(tmp_path, model, **settings), *options)
    assert (done.code, done.out) == (2, "")
    assert what in done.err
    assert not (tmp_path / "out").exists()


def test_input_that_is_gone(espalier: Espalier, model: Path, tmp_path: Path, cluster: str) -> None:
    (tmp_path / "a.txt").write_text("plum\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"text": "pear"}\n', encoding="utf-8")
    espalier("run", write_job(tmp_path, model, input=["*.txt", "*.jsonl"]), "--cluster", cluster)
    job = write_job(tmp_path, model, input="*.txt")
    refused = espalier("run", job, "--cluster", cluster)
    assert (refused.code, refused.out) == (2, "")
    assert "b.jsonl (1 part); put the input back, name another output, or remove these parts" in refused.err
    assert [row["text"] for row in rows(tmp_path / "out")] == ["plum", "pear"]
    forgot = espalier("run", job, "--cluster", cluster, "--forget-missing")
    assert forgot.code == 0
    assert forgot.err == "espalier: parts removed, because their input has fewer partitions now or is gone: 1\n"
    assert [row["text"] for row in rows(tmp_path / "out")] == ["plum"]


def test_the_client_is_killed(espalier: Espalier, model: Path, tmp_path: Path, cluster: str) -> None:
    """SIGKILL in the middle of a run; the next one goes on, and nothing is left behind or done twice."""
    texts = [f"plum number {n} at £ {n}" for n in range(40)]
    (tmp_path / "a.txt").write_text("\n".join(texts), encoding="utf-8")
    job = write_job(tmp_path, model, partition_bytes=30)
    command = [sys.executable, "-m", "espalier", "run", str(job), "--workers", "2"]
    client = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    parts = tmp_path / "out" / "parts"
    _wait(lambda: parts.is_dir() and len(list(parts.glob("*.parquet"))) >= 3)
    workers = psutil.Process(client.pid).children(recursive=True)
    os.kill(client.pid, signal.SIGKILL)
    client.wait()
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive
    finished = len(list(parts.glob("*.parquet")))
    done = espalier("run", job, "--cluster", cluster, "--json")
    report = json.loads(done.out)
    assert (done.code, report["records"]) == (0, {"in": 40, "out": 40, "rejected": 0, "failed": 0})
    assert report["partitions"]["skipped"] == finished < report["partitions"]["finished"]
    assert [row["text"] for row in rows(tmp_path / "out")] == texts
    undisturbed = json.loads(espalier("run", job, "--cluster", cluster, "--json", "-o", tmp_path / "other").out)
    assert undisturbed["checksum"] == report["checksum"]
    assert list(parts.glob(".*")) == []


def _wait(happened: Any, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


@pytest.mark.parametrize("format", ["bibtex", "csl", "ris", "tei", "jsonl", "csv", "table"])
def test_parse_is_the_same_on_two_processes(espalier: Espalier, references: Path, tmp_path: Path, format: str) -> None:
    """Two batches, with keys that repeat from batch to batch, and a review."""
    path, review = tmp_path / "refs.txt", tmp_path / "review.jsonl"
    path.write_text("\n".join([*map(reference, range(600)), "Ada (1950) pp 7, 8 pp"]), encoding="utf-8")
    found = []
    for jobs in (1, 2):
        command = ("parse", path, "-m", references, "--input", "lines", "-f", format, "--jobs", jobs)
        done = espalier(*command, "--min-confidence", 0.5, "--review", review)
        found.append((done, review.read_text(encoding="utf-8")))
    assert found[0] == found[1]
    assert found[0][0].code == 0
    assert found[0][1].count("\n") >= 1


@pytest.mark.parametrize("format", ["csl", "bibtex", "jsonl"])
def test_nothing_is_sure_enough(espalier: Espalier, references: Path, format: str) -> None:
    done = espalier("parse", "-", "-m", references, "-f", format, "--min-confidence", 1, stdin="Ada (1950) pp 7, 8 pp")
    assert (done.code, done.out) == (0, "[]\n" if format == "csl" else "")


def test_label_is_the_same_on_two_processes(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text(TAGGED * 800, encoding="utf-8")
    one, two = (espalier("label", path, "-m", model, "--jobs", jobs) for jobs in (1, 2))
    assert one == two
    assert (one.code, one.out.count("\n")) == (0, 2400)


def test_how_much_is_done(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("A reference, 1999.\n" * 50, encoding="utf-8")
    inputs = reference_files([tmp_path / "a", tmp_path / "b"], "lines")
    assert inputs.share_of(0) is None
    for _ in inputs.references():
        pass
    assert inputs.share_of(50) == pytest.approx(0.5)
    inputs = reference_files([Path("-")])
    inputs.read = 7
    assert inputs.share_of(5) is None


def test_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 110.0, 110.0])
    monkeypatch.setattr("espalier.cli.console.monotonic", lambda: next(clock))
    pace = Pace("records")
    assert pace.news(20_000) == "20,000 records, 2,000 a second"
    assert pace.news(20_000, 0.1) == "20,000 records, 2,000 a second, 0:01:30 left"

"""`run_job` in peace: rows, manifest, what is skipped, redone, refused and swept away."""

from __future__ import annotations

import json
import os
import pickle
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pyarrow.parquet as pq
import pytest
from cluster_jobs import Upper, make_job, rejects_of, rows_of, write_input

import espalier.cluster.engine as engine
import espalier.cluster.labeller as labellers
from espalier.cluster import Job, RunReport, check_job, plan, run_job
from espalier.cluster.labeller import LabellerSpec
from espalier.cluster.partition import run_partition
from espalier.cluster.stores import Store, whole
from espalier.errors import EspalierError, FormatError, InputError

TEXTS = [f"record number {n}" for n in range(60)]
Run = Callable[..., RunReport]


@pytest.fixture
def run(scheduler: str) -> Run:
    def go(job: Job, **options: Any) -> RunReport:
        return run_job(job, cluster=scheduler, **options)

    return go


def counts(report: RunReport) -> tuple[int, int, int]:
    return tuple(report.records(what) for what in ("in", "out", "rejected"))  # type: ignore[return-value]


def test_all_formats(run: Run, tmp_path: Path) -> None:
    for name in ("a.txt", "b.jsonl", "c.jsonl.gz", "d.parquet"):
        write_input(tmp_path / name, TEXTS)
    heard: list[tuple[int, int, int]] = []
    job = make_job(tmp_path, tmp_path / "*.jsonl*", tmp_path / "d.parquet", keep=("id",))
    report = run(job, news=lambda *news: heard.append(news))
    assert (counts(report), report.clean, report.failures) == ((180, 180, 0), True, ())
    rows = rows_of(job.settings.output)
    assert [row["text"] for row in rows] == TEXTS * 3
    assert [row["id"] for row in rows] == [*map(str, range(60))] * 2 + [*range(60)]
    assert all(row["upper"] == row["text"].upper() and row["length"] == len(row["text"]) for row in rows)
    assert rows[0]["words"] == [{"word": word} for word in TEXTS[0].split()]
    assert heard[-1] == (len(plan(job.settings)), len(plan(job.settings)), 180)
    assert check_job(job) == []


def test_the_manifest(run: Run, tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", [*TEXTS, "poison"])
    job = make_job(tmp_path, tmp_path / "a.txt")
    report = run(job)
    out = Path(job.settings.output)
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["version"], manifest["job"], manifest["checksum"]) == (1, job.digest, report.checksum)
    assert manifest["records"] == {"in": 61, "out": 60, "rejected": 1, "failed": 0}
    assert manifest["identity"]["model"] == job.labeller.digest
    assert [part["partition"]["name"] for part in manifest["partitions"]] == [p.name for p in plan(job.settings)]
    for part in manifest["partitions"]:
        table = pq.read_table(out / "parts" / f"{part['partition']['name']}.parquet")
        assert part["records"]["out"] == table.num_rows
        assert part["records"]["in"] == table.num_rows + part["records"]["rejected"]
    assert sorted(path.name for path in out.iterdir()) == ["failed", "job.json", "manifest.json", "parts", "rejected"]


def test_the_cut_does_not_change_the_rows(run: Run, tmp_path: Path) -> None:
    write_input(tmp_path / "a.jsonl", TEXTS)
    found = []
    for size, batch in ((50, 1), (333, 7), (10**6, 512)):
        job = make_job(tmp_path, tmp_path / "a.jsonl", partition_bytes=size, batch=batch, output=f"{tmp_path}/{size}")
        run(job)
        found.append(rows_of(job.settings.output))
    assert found[0] == found[1] == found[2]


def test_what_is_finished_is_skipped(run: Run, tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    job = make_job(tmp_path, tmp_path / "a.txt")
    first = run(job)
    times = {path: path.stat().st_mtime_ns for path in Path(job.settings.output, "parts").iterdir()}
    again = run_job(job, cluster="tcp://127.0.0.1:1")  # there is nobody there, and nobody is needed
    assert (again.kept, again.redone, again.checksum) == (len(first.entries), 0, first.checksum)
    assert {path: path.stat().st_mtime_ns for path in times} == times
    # Settings that no row depends on do not matter.
    assert run(replace(job, settings=replace(job.settings, batch=3, retries=0))).kept == len(first.entries)


def test_changed_input_is_done_again(run: Run, tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    write_input(tmp_path / "b.txt", [*TEXTS, "poison"])
    job = make_job(tmp_path, tmp_path / "*.txt")
    first = run(job)
    parts = len(plan(job.settings)) // 2
    assert counts(first) == (121, 120, 1)
    write_input(tmp_path / "b.txt", TEXTS[:20])
    second = run(job)
    assert (counts(second), second.kept, second.stale) == ((80, 80, 0), parts, parts - 2)
    assert second.redone == 2
    assert [row["text"] for row in rows_of(job.settings.output)] == TEXTS + TEXTS[:20]
    assert rejects_of(job.settings.output) == []
    (tmp_path / "b.txt").unlink()
    third = run(job, forget_missing=True)
    assert (counts(third), third.stale) == ((60, 60, 0), 2)
    assert check_job(job) == []


def test_damaged_output_is_done_again(run: Run, tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", [*TEXTS, "poison"])
    job = make_job(tmp_path, tmp_path / "a.txt")
    first = run(job)
    out = Path(job.settings.output)
    parts = sorted((out / "parts").iterdir())
    parts[0].unlink()
    parts[1].write_bytes(parts[1].read_bytes()[:-9])
    next((out / "rejected").iterdir()).unlink()
    (out / "parts" / ".a-0-0.parquet.0.part").write_bytes(b"half")
    assert len(check_job(job)) == 3
    second = run(job)
    assert (second.kept, second.redone, second.checksum) == (len(parts) - 3, 2, first.checksum)
    assert sorted((out / "parts").iterdir()) == parts
    assert len(rejects_of(out)) == 1
    assert check_job(job) == []


def everything(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


def test_what_was_made_of_input_that_is_gone_is_not_removed_unasked(run: Run, tmp_path: Path) -> None:
    """A narrower pattern, a file or a disk that is away: refused before anything is touched."""
    for name in ("a.txt", "b.jsonl", "c.txt"):
        write_input(tmp_path / name, [*TEXTS[:20], "poison"])
    job = make_job(tmp_path, tmp_path / "*.txt", tmp_path / "*.jsonl")
    first = run(job)
    out = Path(job.settings.output)
    before = everything(out)
    narrow = replace(job, settings=replace(job.settings, input=(f"{tmp_path}/a.txt",)))
    here = f"file://{tmp_path}"
    parts = sum(partition.input != f"{here}/a.txt" for partition in plan(job.settings))
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            run(narrow)
        assert str(caught.value) == (
            f"{out} has finished parts of what is no input of the job any more: {here}/b.jsonl, {here}/c.txt "
            f"({parts} parts); put the input back, name another output, or remove these parts with --forget-missing"
        )
        assert everything(out) == before
    with pytest.raises(InputError, match="no input of the job any more"):
        run(narrow, replace=True)  # it is no other job that would be replaced
    found = check_job(narrow)
    assert len(found) == parts
    assert all("is no input of the job" in what for what in found)
    assert run(job).checksum == first.checksum  # the input is back
    forgot = run(narrow, forget_missing=True)
    assert (counts(forgot), forgot.stale) == ((21, 20, 1), parts)
    assert [row["text"] for row in rows_of(out)] == TEXTS[:20]
    assert len(rejects_of(out)) == 1
    assert check_job(narrow) == []


def test_files_among_the_parts_that_nobody_knows_are_not_removed_unasked(run: Run, tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    job = make_job(tmp_path, tmp_path / "a.txt")
    run(job)
    notes, damaged = (Path(job.settings.output, "parts", name) for name in ("notes.md", "z-0-0.parquet"))
    notes.write_text("mine")
    damaged.write_bytes(b"no Parquet")
    with pytest.raises(InputError, match=r"parts/notes\.md, .*/parts/z-0-0\.parquet \(2 parts\)"):
        run(job)
    assert run(job, forget_missing=True).stale == 2
    assert not notes.exists()


def test_parts_of_another_job_may_be_replaced_whatever_their_input(run: Run, tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    write_input(tmp_path / "b.txt", TEXTS)
    run(make_job(tmp_path, tmp_path / "*.txt"))
    other = make_job(tmp_path, tmp_path / "a.txt", longest=15)
    assert counts(run(other, replace=True)) == (60, 10, 50)
    assert len(rows_of(other.settings.output)) == 10


def test_rows_that_were_tampered_with_are_found(run: Run, tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    job = make_job(tmp_path, tmp_path / "a.txt")
    run(job)
    path = min(Path(job.settings.output, "parts").iterdir())
    table = pq.read_table(path)
    kept = pq.ParquetFile(path).metadata.metadata
    changed = table.set_column(0, "input", [["elsewhere"] * table.num_rows])
    pq.write_table(changed.replace_schema_metadata({b"espalier": kept[b"espalier"]}), path)
    assert check_job(job) == [f"{path.stem}: its rows are not those that were written"]


def test_the_directory_of_another_job_is_refused(run: Run, tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    job = make_job(tmp_path, tmp_path / "a.txt")
    run(job)
    other = replace(job, settings=replace(job.settings, longest=15))
    with pytest.raises(InputError, match=r"another job wrote \(other longest\); name another output, or .* --replace"):
        run(other)
    assert counts(run(other, replace=True)) == (60, 10, 50)
    Path(job.settings.output, "job.json").write_text("{}")
    with pytest.raises(FormatError, match="not written by espalier run"):
        run(job)


def test_a_directory_of_somebody_else_is_refused(run: Run, tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("dear")
    with pytest.raises(InputError, match="is not empty, and no job wrote it"):
        run(make_job(tmp_path, tmp_path / "a.txt"), replace=True)
    assert os.listdir(tmp_path / "out") == ["thesis.tex"]


def test_few_in_flight(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "IN_FLIGHT", 2)
    write_input(tmp_path / "a.txt", TEXTS)
    report = run(make_job(tmp_path, tmp_path / "a.txt", partition_bytes=50))
    assert counts(report) == (60, 60, 0)
    assert len(report.entries) > 10


def loaded() -> int:
    return labellers._kept.cache_info().misses


def test_a_worker_loads_the_model_once(run: Run, scheduler: str, tmp_path: Path) -> None:
    from distributed import Client

    (tmp_path / "hello.model").write_bytes(os.urandom(50_000).hex().encode())
    write_input(tmp_path / "a.txt", TEXTS)
    job = make_job(tmp_path, tmp_path / "a.txt", partition_bytes=50)
    assert len(pickle.dumps((job, plan(job.settings)[0]))) < 2_000  # what a task carries
    with Client(scheduler) as client:
        before = client.run(loaded)
        assert len(run(job).entries) > 10
        after = client.run(loaded)
    assert 1 <= sum(after[worker] - before[worker] for worker in before) <= 2


@pytest.mark.parametrize("wait", [None, 1.0])
def test_no_cluster(tmp_path: Path, wait: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "FOR_SCHEDULER", 2.0)
    write_input(tmp_path / "a.txt", TEXTS)
    job = make_job(tmp_path, tmp_path / "a.txt")
    begin = time.monotonic()
    asked = f"answers at tcp://127.0.0.1:1 within {wait or 2:g} seconds; is the address right? --wait SECONDS"
    with pytest.raises(InputError, match=re.escape(asked)):
        run_job(job, cluster="tcp://127.0.0.1:1", wait=wait)
    assert time.monotonic() - begin < 10
    with pytest.raises(InputError, match="nonsense://x is no address of a Dask scheduler"):
        run_job(job, cluster="nonsense://x")


def test_a_cluster_without_workers(tmp_path: Path) -> None:
    from distributed import LocalCluster

    write_input(tmp_path / "a.txt", TEXTS)
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None, silence_logs=50) as empty,
        pytest.raises(EspalierError, match=r"no worker has joined .* in 0\.5 seconds; --wait SECONDS waits longer"),
    ):
        run_job(make_job(tmp_path, tmp_path / "a.txt"), cluster=empty.scheduler_address, wait=0.5)


def test_other_stores(tmp_path: Path) -> None:
    """A store without rename: the worker's part, and what a client finds."""
    from espalier.cluster.manifest import check_owner, check_rows, claim, finished, strays, sweep

    write_input(tmp_path / "a.txt", [*TEXTS, "poison"])
    job = make_job(tmp_path, tmp_path / "a.txt", output="memory://run-test/out", partition_bytes=10**6)
    store = Store(job.settings.output)
    check_owner(store, job, replace=False)
    claim(store, job)
    (partition,) = plan(job.settings)
    entry = run_partition(job, partition)
    assert store.names("parts") == {f"{partition.name}.parquet"}
    assert entry["records"] == {"in": 61, "out": 60, "rejected": 1}
    assert finished(store, job, [partition]) == {partition.name: entry}
    assert check_rows(store, entry) == ""
    assert sweep(store, [partition]) == 0
    assert strays(store, job, [partition]) == {}
    assert strays(store, job, []) == {f"{partition.name}.parquet": partition.input}
    assert sweep(store, []) == 1
    assert store.names("parts") == store.names("rejected") == set()
    fsspec.filesystem("memory").rm("/run-test", recursive=True)


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with whole(store, "a") as file:
        file.write(b"old")
        assert not (tmp_path / "a").exists()
    assert (tmp_path / "a").read_bytes() == b"old"
    with pytest.raises(ZeroDivisionError), whole(store, "a") as file:  # noqa: PT012
        file.write(b"new")
        raise ZeroDivisionError
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


class Short(Upper):
    def __call__(self, texts: Any) -> Any:
        return {name: column[1:] for name, column in super().__call__(texts).items()}


def test_a_labeller_that_loses_records_is_caught(tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    job = make_job(tmp_path, tmp_path / "a.txt", partition_bytes=10**6)
    Path(job.settings.output, "parts").mkdir(parents=True)
    broken = Job(job.settings, LabellerSpec.of(Short, tmp_path / "hello.model"))
    with pytest.raises(EspalierError, match="gave 6 values of 'upper' for 7 texts"):
        run_partition(broken, plan(job.settings)[0])
    assert os.listdir(Path(job.settings.output, "parts")) == []

"""Whatever goes wrong, no record is lost and none doubled: the rows are those of a run in which nothing did.

A full disk is a file system that raises ENOSPC (`small://`), a limit on the size of files, and, where the tests may
mount one, a small tmpfs.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_jobs import make_job, rejects_of, rows_of, wait_for, write_input

from espalier.cluster import Job, RunReport, check_job, plan, run_job
from espalier.cluster.partition import run_partition
from espalier.errors import EspalierError

TEXTS = [f"record number {n}" for n in range(60)]


def undisturbed(directory: Path, job: Job, scheduler: str) -> RunReport:
    """The same job into another directory, in peace."""
    output = str(directory / "undisturbed")
    settings = {name: getattr(job.settings, name) for name in ("keep", "partition_bytes", "batch")}
    return run_job(make_job(directory, *job.settings.input, output=output, **settings), cluster=scheduler)


def test_a_worker_is_killed(tmp_path: Path, scheduler: str) -> None:
    gate = tmp_path / "gate"
    write_input(tmp_path / "a.txt", [*TEXTS[:30], f"one that waits for {gate}", *TEXTS[30:]])
    job = make_job(tmp_path, tmp_path / "a.txt")

    def kill() -> None:
        wait_for(gate.with_suffix(".pid"))
        os.kill(int(gate.with_suffix(".pid").read_text()), signal.SIGKILL)
        gate.touch()

    killer = threading.Thread(target=kill)
    killer.start()
    report = run_job(job, cluster=scheduler)
    killer.join()
    assert (report.records("in"), report.records("out"), report.clean) == (61, 61, True)
    assert report.checksum == undisturbed(tmp_path, job, scheduler).checksum
    assert len(rows_of(job.settings.output)) == 61
    assert check_job(job) == []


def test_a_record_that_kills_workers(tmp_path: Path, scheduler: str) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    write_input(tmp_path / "b.txt", ["a deadly one", "", "and another"])
    job = make_job(tmp_path, tmp_path / "*.txt")
    report = run_job(job, cluster=scheduler)
    (failure,) = report.failures
    assert failure.partition.input.endswith("b.txt")
    assert "KilledWorker" in failure.error
    assert (failure.records, report.records("in"), report.records("failed"), report.uncounted) == (2, 62, 2, 0)
    assert [row["text"] for row in rows_of(job.settings.output)] == TEXTS


def test_poisoned_records(tmp_path: Path, scheduler: str) -> None:
    records = [*TEXTS[:20], "poison A", None, *TEXTS[20:40], "x" * 20_001, 7, "\ud800", *TEXTS[40:], "poison B"]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": record}) + "\n" for record in records), encoding="utf-8")
    job = make_job(tmp_path, path, partition_bytes=10**6, batch=64)
    report = run_job(job, cluster=scheduler)
    assert [report.records(what) for what in ("in", "out", "rejected")] == [66, 60, 6]
    assert (report.clean, report.failures) == (False, ())
    rejects = rejects_of(job.settings.output)
    assert [reject["value"] for reject in rejects] == [records[i] for i in (20, 21, 42, 43, 44, 65)]
    reasons = [
        *("ValueError: cannot label 'poison A'", "null, not a string", "20,001 characters; at most 20,000"),
        *("a int, not a string", "half of a surrogate pair", "ValueError: cannot label 'poison B'"),
    ]
    assert all(reason in reject["reason"] for reject, reason in zip(rejects, reasons, strict=True))
    lines = path.read_bytes()
    for reject in rejects:
        assert json.loads(lines[reject["position"] :].split(b"\n")[0])["text"] == reject["value"]
    assert [row["text"] for row in rows_of(job.settings.output)] == TEXTS


def test_corrupt_input(tmp_path: Path, scheduler: str) -> None:
    good = [write_input(tmp_path / name, TEXTS) for name in ("a.jsonl", "b.parquet", "c.jsonl.gz", "d.parquet")]
    raw = {path: path.read_bytes() for path in good}
    for path in good[2:]:
        path.write_bytes(raw[path][: len(raw[path]) // 2])
    job = make_job(tmp_path, *good)
    report = run_job(job, cluster=scheduler)
    assert (report.records("in"), report.records("out"), report.clean) == (120, 120, False)
    assert [failure.partition.input.rpartition("/")[2] for failure in report.failures] == ["c.jsonl.gz", "d.parquet"]
    assert (report.records("failed"), report.uncounted) == (0, 2)  # neither unpacks, so nobody can count
    assert "the gzip data is truncated" in report.failures[0].error
    assert "the Parquet data is truncated" in report.failures[1].error
    told = sorted(Path(job.settings.output, "failed").iterdir())
    assert [json.loads(path.read_text())["error"] for path in told] == [failure.error for failure in report.failures]
    for path in good[2:]:
        path.write_bytes(raw[path])
    mended = run_job(job, cluster=scheduler)
    assert (mended.records("out"), mended.clean, mended.kept) == (240, True, len(report.entries))
    assert list(Path(job.settings.output, "failed").iterdir()) == []
    assert mended.checksum == undisturbed(tmp_path, job, scheduler).checksum


def test_records_of_partitions_that_were_set_aside_are_counted(tmp_path: Path, scheduler: str) -> None:
    """Damaged pages leave the footer, which says it; of half a gzipped file nobody can."""
    pages = write_input(tmp_path / "b.parquet", TEXTS)
    raw = bytearray(pages.read_bytes())
    raw[4:200] = bytes(196)
    pages.write_bytes(raw)
    write_input(tmp_path / "c.txt", TEXTS)
    gone = write_input(tmp_path / "d.txt.gz", TEXTS)
    gone.write_bytes(gone.read_bytes()[:-20])
    job = make_job(tmp_path, *sorted(tmp_path.glob("[b-d].*")), partition_bytes=10**6)
    report = run_job(job, cluster=scheduler)
    assert [failure.records for failure in report.failures] == [60, None]
    assert [report.records(what) for what in ("in", "out", "rejected", "failed")] == [120, 60, 0, 60]
    assert (report.uncounted, report.clean) == (1, False)
    manifest = json.loads(Path(job.settings.output, "manifest.json").read_text())
    assert manifest["records"] == {"in": 120, "out": 60, "rejected": 0, "failed": 60}
    assert [failure["records"] for failure in manifest["failed"]] == [60, None]


def test_a_full_disk(tmp_path: Path, scheduler: str) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    job = make_job(tmp_path, tmp_path / "a.txt", output=f"small://{tmp_path}/out")
    out = tmp_path / "out"
    out.mkdir()
    run_job(job, cluster=scheduler)  # in peace, to know what is right
    truth = rows_of(out)
    parts = sorted((out / "parts").iterdir())
    for path in parts[2:]:
        path.unlink()
    (out / "full").touch()
    with pytest.raises(EspalierError, match=r"no room left; 2 of .* make room and run the same command again"):
        run_job(job, cluster=scheduler)
    assert sorted((out / "parts").iterdir()) == parts[:2]  # and nothing half-written
    (out / "full").unlink()
    report = run_job(job, cluster=scheduler)
    assert (report.kept, report.records("out")) == (2, 60)
    assert rows_of(out) == truth


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kilobytes."""
    directory = tmp_path / "disk"
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(directory)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a tmpfs needs rights that this process does not have")
    yield directory
    subprocess.run(["umount", str(directory)], check=True)


def test_a_full_tmpfs(tmp_path: Path, tiny_disk: Path, scheduler: str) -> None:
    write_input(tmp_path / "a.txt", TEXTS)
    job = make_job(tmp_path, tmp_path / "a.txt", output=str(tiny_disk / "out"), partition_bytes=60)
    with pytest.raises(EspalierError, match="no room left"):
        run_job(job, cluster=scheduler)
    kept = sorted((tiny_disk / "out" / "parts").iterdir())
    assert 0 < len(kept) < len(plan(job.settings))
    subprocess.run(["mount", "-o", "remount,size=4m", str(tiny_disk)], check=True)
    report = run_job(job, cluster=scheduler)
    assert (report.kept, report.records("out")) == (len(kept), 60)
    assert report.checksum == undisturbed(tmp_path, job, scheduler).checksum


def test_a_file_may_grow_no_further(tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", [f"{text} {os.urandom(200).hex()}" for text in TEXTS])
    job = make_job(tmp_path, tmp_path / "a.txt", partition_bytes=10**6)
    parts = Path(job.settings.output, "parts")
    parts.mkdir(parents=True)
    (partition,) = plan(job.settings)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            run_partition(job, partition)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(parts.iterdir()) == []
    assert run_partition(job, partition)["records"]["out"] == 60

"""`run_job`: all partitions of a job on the workers of a Dask cluster, and an account of every record.

A partition that keeps failing is set aside, with its error in `failed/`, and the others go on. If there is no room left
to write, nothing new is begun, since all would fail: what is finished stays, and the next run goes on from there.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import espalier.cluster.manifest as kept
from espalier.cluster.engine import connected, outcomes
from espalier.cluster.job import Job
from espalier.cluster.partition import Entry
from espalier.cluster.plan import Partition, plan
from espalier.cluster.reading import count_records
from espalier.cluster.stores import NO_ROOM, Store, alone
from espalier.errors import EspalierError

__all__ = ["RECORDS", "FailedPartition", "RunReport", "check_job", "run_job"]


RECORDS = ("in", "out", "rejected", "failed")
"""What records are counted as: in = out + rejected + failed."""


@dataclass(frozen=True, slots=True)
class FailedPartition:
    """A partition that was set aside: what its last error said, where it was raised, and how many records it has.

    records : None where nobody can tell.
    """

    partition: Partition
    error: str
    trace: str = ""
    records: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "partition": self.partition.to_dict(),
            "records": self.records,
            "error": self.error,
            "trace": self.trace,
        }


@dataclass(frozen=True, slots=True)
class RunReport:
    """What came of a run.

    entries : of all finished partitions, in the order of the input; `kept` of them are from an earlier run, `redone`
    were there, but of another input or not whole; stale : parts that belonged to no partition, and were removed.
    """

    entries: tuple[Entry, ...]
    failures: tuple[FailedPartition, ...]
    kept: int = 0
    redone: int = 0
    stale: int = 0

    def records(self, what: str) -> int:
        """Return how many records went "in", came "out", were "rejected", or are of partitions that "failed".

        Records that nobody can count (see `uncounted`) are in none of these.
        """
        failed = sum(failure.records or 0 for failure in self.failures)
        if what == "failed":
            return failed
        return sum(int(entry["records"][what]) for entry in self.entries) + (failed if what == "in" else 0)

    @property
    def uncounted(self) -> int:
        """Partitions that were set aside and whose records nobody can count."""
        return sum(failure.records is None for failure in self.failures)

    @property
    def clean(self) -> bool:
        """Was nothing set aside?"""
        return not self.failures and not self.records("rejected")

    @property
    def checksum(self) -> str:
        """One checksum of all rows, in order."""
        return kept.total_checksum(self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values: records and partitions by what became of them, and what failed."""
        return {
            "records": {what: self.records(what) for what in RECORDS},
            "partitions": {
                "finished": len(self.entries),
                "failed": len(self.failures),
                "uncounted": self.uncounted,
                "skipped": self.kept,
                "redone": self.redone,
                "removed": self.stale,
            },
            "failed": [
                {"input": f.partition.input, "name": f.partition.name, "records": f.records, "error": f.error}
                for f in self.failures
            ],
            "checksum": self.checksum,
        }


News = Callable[[int, int, int], None]
"""Hears, after each partition: finished and set aside, of how many, records that came out in this run."""


def run_job(
    job: Job,
    *,
    cluster: str | None = None,
    workers: int | None = None,
    wait: float | None = None,
    replace: bool = False,
    forget_missing: bool = False,
    news: News = lambda done, total, records: None,
) -> RunReport:
    """Do what of a job is not done yet, and return an account of all of it; the same is in the manifest.

    cluster : the address of a Dask scheduler; None starts `workers` processes here (by default one a core). wait :
    seconds to wait for the scheduler, and then for a first worker (None: 5, then 60). replace : begin anew where
    another job has written. forget_missing : remove finished parts whose input is no longer there, instead of refusing.
    """
    partitions = plan(job.settings)
    store = Store(job.settings.output)
    with alone(store):
        kept.check_owner(store, job, replace=replace)
        if not forget_missing:
            kept.check_strays(store, job, partitions)
        kept.claim(store, job)
        return _do_the_rest(job, partitions, store, partial(connected, cluster, workers, wait), news)


def _do_the_rest(
    job: Job,
    partitions: list[Partition],
    store: Store,
    connect: Callable[[int], AbstractContextManager[Any]],
    news: News,
) -> RunReport:
    """Do the partitions that are not there, in a directory that is the job's own, and write the manifest.

    connect : from the most workers that there is work for to a client.
    """
    stale = kept.sweep(store, partitions)
    kept.forget_failures(store)
    found = kept.finished(store, job, partitions)
    entries = {name: entry for name, entry in found.items() if entry is not None}
    todo = [partition for partition in partitions if partition.name not in entries]
    before, made, full = len(entries), 0, False
    failures: list[FailedPartition] = []
    if todo:
        with connect(len(todo)) as client:
            for partition, outcome in outcomes(client, job, todo):
                if isinstance(outcome, BaseException):
                    # A worker that died with the answer may have written the part: the entry in its footer says so.
                    outcome = kept.finished(store, job, [partition]).get(partition.name) or outcome
                if isinstance(outcome, BaseException):
                    full |= isinstance(outcome, OSError) and outcome.errno in NO_ROOM
                    # Without room there is no report, and the partition is tried again.
                    failures.append(_set_aside(store, partition, outcome, None if full else count_records(partition)))
                else:
                    entries[partition.name] = outcome
                    made += outcome["records"]["out"]
                news(len(entries) - before + len(failures), len(todo), made)
        kept.sweep(store, partitions)  # what lost workers left half-written
    ordered = tuple(entries[partition.name] for partition in partitions if partition.name in entries)
    place = {partition.name: number for number, partition in enumerate(partitions)}
    failures.sort(key=lambda failure: place[failure.partition.name])
    if full:
        raise EspalierError(
            f"{store.address}: no room left",
            hint=(
                f"{len(ordered)} of {len(partitions)} partitions are written and stay: "
                f"make room and run the same command again"
            ),
        )
    report = RunReport(ordered, tuple(failures), before, len(found) - before, stale)
    records = {what: report.records(what) for what in RECORDS}
    if records["in"] != records["out"] + records["rejected"] + records["failed"]:
        raise EspalierError(
            "the records that came out and were set aside are not those that went in", hint="please report it"
        )
    told = [failure.to_dict() for failure in failures]
    kept.write_json(store, kept.manifest(job, records, ordered, told), "manifest.json")
    return report


def check_job(job: Job) -> list[str]:
    """Read everything again that a finished job has written, and return what is wrong with it."""
    partitions, store = plan(job.settings), Store(job.settings.output)
    found = kept.finished(store, job, partitions)
    wrong = [kept.check_rows(store, entry) for entry in found.values() if entry is not None]
    missing = [f"{p.name}: not there, or of another job or input" for p in partitions if found.get(p.name) is None]
    strays = kept.strays(store, job, partitions)
    extra = [f"{file}: {where or 'what it was made of'} is no input of the job" for file, where in strays.items()]
    return [*missing, *extra, *filter(None, wrong)]


def _set_aside(store: Store, partition: Partition, error: BaseException, records: int | None) -> FailedPartition:
    what = str(error) if isinstance(error, EspalierError) else f"{type(error).__name__}: {error}"
    failure = FailedPartition(partition, what, "".join(traceback.format_exception(error)), records)
    try:
        kept.write_json(store, failure.to_dict(), "failed", f"{partition.name}.json")
    except OSError as second:  # it is in the report, at least
        return replace(failure, error=f"{what} (and this could not be written down: {second})")
    return failure

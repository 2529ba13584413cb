"""`run_job`: all partitions of a job on the workers of a Dask cluster, and an account of every record.

A partition that keeps failing is set aside, with its error in `failed/`, and the others go on. If there is no room left
to write, nothing new is begun, since all would fail: what is finished stays, and the next run goes on from there.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import espalier.cluster.manifest as kept
from espalier.cluster.engine import connected, outcomes
from espalier.cluster.job import Job
from espalier.cluster.lock import alone
from espalier.cluster.partition import Entry
from espalier.cluster.plan import Partition, plan
from espalier.cluster.stores import NO_ROOM, Store
from espalier.errors import EspalierError

__all__ = ["Failure", "Report", "check_job", "run_job"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A partition that was set aside: what its last error said, and where it was raised."""

    partition: Partition
    error: str
    trace: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"partition": self.partition.to_dict(), "error": self.error, "trace": self.trace}


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a run. The records of partitions that were set aside are not counted: nobody could count them.

    entries : of all finished partitions, in the order of the input; `kept` of them are from an earlier run, `redone`
    were there, but of another input or not whole; stale : parts that belonged to no partition, and were removed.
    """

    entries: tuple[Entry, ...]
    failures: tuple[Failure, ...]
    kept: int = 0
    redone: int = 0
    stale: int = 0

    def records(self, what: str) -> int:
        """Return how many records went "in", came "out" or were "rejected"."""
        return sum(int(entry["records"][what]) for entry in self.entries)

    @property
    def clean(self) -> bool:
        """Was nothing set aside?"""
        return not self.failures and not self.records("rejected")

    @property
    def checksum(self) -> str:
        """One checksum of all rows, in order."""
        return kept.total_checksum(self.entries)


News = Callable[[int, int, int], None]
"""Hears, after each partition: finished and set aside, of how many, records that came out in this run."""


def run_job(
    job: Job,
    *,
    cluster: str | None = None,
    workers: int | None = None,
    replace: bool = False,
    news: News = lambda done, total, records: None,
) -> Report:
    """Do what of a job is not done yet, and return an account of all of it; the same is in the manifest.

    cluster : the address of a Dask scheduler; None starts `workers` processes here (by default one a core). replace :
    begin anew where another job has written.
    """
    partitions = plan(job.settings)
    store = Store(job.settings.output)
    with alone(store):
        kept.claim(store, job, replace=replace)
        return _do_the_rest(job, partitions, store, cluster, workers, news)


def _do_the_rest(
    job: Job, partitions: list[Partition], store: Store, cluster: str | None, workers: int | None, news: News
) -> Report:
    """Do the partitions that are not there, in a directory that is the job's own, and write the manifest."""
    stale = kept.sweep(store, partitions)
    kept.forget_failures(store)
    found = kept.finished(store, job, partitions)
    entries = {name: entry for name, entry in found.items() if entry is not None}
    todo = [partition for partition in partitions if partition.name not in entries]
    before, made, full = len(entries), 0, False
    failures: list[Failure] = []
    if todo:
        with connected(cluster, workers, len(todo)) as client:
            for partition, outcome in outcomes(client, job, todo):
                if isinstance(outcome, BaseException):
                    full |= isinstance(outcome, OSError) and outcome.errno in NO_ROOM
                    failures.append(_set_aside(store, partition, outcome))
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
            f"{store.address}: no room left; {len(ordered)} of {len(partitions)} partitions are written and stay: "
            f"make room and run the same command again"
        )
    report = Report(ordered, tuple(failures), before, len(found) - before, stale)
    if report.records("in") != report.records("out") + report.records("rejected"):
        raise EspalierError("the records that came out and were set aside are not those that went in; please report it")
    kept.write_json(store, kept.manifest(job, ordered, [failure.to_dict() for failure in failures]), "manifest.json")
    return report


def check_job(job: Job) -> list[str]:
    """Read everything again that a finished job has written, and return what is wrong with it."""
    partitions, store = plan(job.settings), Store(job.settings.output)
    found = kept.finished(store, job, partitions)
    wrong = [kept.check_rows(store, entry) for entry in found.values() if entry is not None]
    missing = [f"{p.name}: not there, or of another job or input" for p in partitions if found.get(p.name) is None]
    return [*missing, *filter(None, wrong)]


def _set_aside(store: Store, partition: Partition, error: BaseException) -> Failure:
    what = str(error) if isinstance(error, EspalierError) else f"{type(error).__name__}: {error}"
    failure = Failure(partition, what, "".join(traceback.format_exception(error)))
    try:
        kept.write_json(store, failure.to_dict(), "failed", f"{partition.name}.json")
    except OSError as second:  # it is in the report, at least
        return Failure(partition, f"{what} (and this could not be written down: {second})", failure.trace)
    return failure

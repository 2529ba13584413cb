"""`espalier run`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from espalier.cli.console import Pace, Stopped, complain, progress, say_json
from espalier.cli.options import Json

if TYPE_CHECKING:
    from espalier.cluster import RunReport

__all__ = ["run"]

_MOST = 10


def run(
    job: Annotated[Path, typer.Argument(metavar="JOB.toml", help="What to read, where to write, which model.")],
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="A Dask scheduler, as tcp://host:8786; else processes here."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            "-w",
            "--jobs",
            "-j",
            metavar="N",
            min=1,
            help="Processes; what comes out does not depend on them.",
        ),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DIR", help="Where to write, instead of the job's output.")
    ] = None,
    wait: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=0.0, help="How long to wait for the --cluster, then for a worker; else 5, then 60."
        ),
    ] = None,
    replace_all: Annotated[
        bool, typer.Option("--replace", help="Begin anew where another job has written, instead of refusing to.")
    ] = False,
    forget_missing: Annotated[
        bool, typer.Option("--forget-missing", help="Remove finished parts of input that is gone, not refuse to go on.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Label nothing: read again what was written, and compare checksums.")
    ] = False,
    json: Json = False,
) -> None:
    """Label files of any size on many processes or machines, into Parquet files and a manifest.

    What an earlier run has finished is skipped, so a run that was
    interrupted goes on where it was. If some of that is of input which
    is gone, the run is refused: nothing finished is removed unasked.
    Records that cannot be labelled are in OUTPUT/rejected, partitions
    that cannot be read or written in OUTPUT/failed; the exit code is
    then 1. See docs/capacity.md.

    Examples:
        espalier run job.toml
        espalier run job.toml --jobs 4 --output records
    """
    from espalier.cluster import check_job, read_settings, run_job
    from espalier.cluster.rows import job_of
    from espalier.errors import InputError

    if cluster is not None and workers is not None:
        raise InputError("--workers is for processes here", hint="the workers of a --cluster are started with it")
    if cluster is None and wait is not None:
        raise InputError("--wait is for a --cluster", hint="processes here are started at once")
    settings = read_settings(job)
    if output is not None:
        settings = replace(settings, output=output if "://" in output else str(Path(output).resolve()))
    chosen = job_of(settings, job.resolve().parent)
    if check:
        _tell_check(check_job(chosen), settings.output)
        return
    pace = Pace("records")
    try:
        with progress("running") as news:
            report = run_job(
                chosen, cluster=cluster, workers=workers, wait=wait, replace=replace_all, forget_missing=forget_missing,
                news=lambda done, total, n: news(f"{done} of {total} partitions, {pace.news(n, done / total)}"),
            )  # fmt: skip
    except KeyboardInterrupt:
        kept = f"stopped; finished parts are kept in {settings.output}"
        raise Stopped(f"{kept}. To go on, run the same command again") from None
    if json:
        say_json({"output": settings.output, **report.to_dict()})
    else:
        _tell(report, settings.output)
    if not report.clean:
        raise typer.Exit(1)


def _tell(report: RunReport, output: str) -> None:
    """Say what came of it, and on stderr what did not."""
    rejected = report.records("rejected")
    rows = [
        ("records in", report.records("in"), ""),
        ("records out", report.records("out"), f"{output}/parts"),
        ("records set aside", rejected, f"{output}/rejected" if rejected else ""),
        ("partitions finished", len(report.entries), f"{report.kept} of them before this run" if report.kept else ""),
    ]
    if report.failures:
        rows.append(("partitions set aside", len(report.failures), f"{output}/failed; {_lost(report)}"))
    for what, count, where in rows:
        typer.echo(f"{what:<21}{count:>15,}   {where}".rstrip())
    if report.redone:
        complain(f"partitions done again, because their input or what was written had changed: {report.redone}")
    if report.stale:
        complain(f"parts removed, because their input has fewer partitions now or is gone: {report.stale}")
    for failure in report.failures[:_MOST]:
        complain(f"{failure.partition.name} set aside: {failure.error}")
    if len(report.failures) > _MOST:
        complain(f"and {len(report.failures) - _MOST} more partitions; see {output}/failed")


def _lost(report: RunReport) -> str:
    """Say how many records are in partitions that were set aside."""
    if report.uncounted == len(report.failures):
        return "how many records is unknown"
    rest = f", and unknown how many in {report.uncounted} of them" if report.uncounted else ""
    return f"{report.records('failed'):,} records{rest}"


def _tell_check(wrong: list[str], output: str) -> None:
    for what in wrong[:_MOST]:
        complain(what)
    if len(wrong) > _MOST:
        complain(f"and {len(wrong) - _MOST} more like these")
    if wrong:
        raise typer.Exit(1)
    typer.echo(f"{output}: all rows are as they were written")

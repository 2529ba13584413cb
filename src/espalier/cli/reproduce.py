"""`espalier reproduce`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.console import complain, counted, note, progress, say
from espalier.cli.files import STANDARD, keep_apart, refuse_stdout
from espalier.errors import InputError

__all__ = ["reproduce"]


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TABLE...]", help="Tables by name, or all; if none, those of the papers."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="The directory of the data sets.", envvar="ESPALIER_DATA"),
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the figures as JSON; - is stdout.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="PAGE.HTML", help="Write a page with tables and pictures.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE.MD", help="Write the tables as Markdown, pictures into images/FILE."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option("--runs", metavar="N", help="Training subsets for each figure, by default 5.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Processes, by default 1.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="The quick columns only, and one subset each.")] = False,
    cache: Annotated[
        Path | None, typer.Option("--cache", metavar="DIR", help="Where finished cells are kept, to go on from there.")
    ] = None,
    stale: Annotated[bool, typer.Option("--stale", help="Also take kept cells that other code computed.")] = False,
    kept_only: Annotated[bool, typer.Option("--kept", help="Show what is kept, and compute nothing.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the tables with the time they take, and stop.")] = False,
) -> None:
    """Compute published tables anew, and show both figures side by side.

    Finished cells are kept, so an interrupted run goes on where it stopped, and gives the same figures.
    """
    from espalier.cli.results import list_table, result_tables, results_page, write_markdown, write_results
    from espalier.papers.tables import cache as cells
    from espalier.papers.tables.data import Data
    from espalier.papers.tables.registry import TABLES, find_tables
    from espalier.papers.tables.runner import expected_minutes
    from espalier.papers.tables.runner import reproduce as run_tables
    from espalier.text_files import write_chunks

    refuse_stdout({"--html": html, "--markdown": markdown})
    keep_apart([], {"--json": json, "--html": html, "--markdown": markdown})
    kept = cells.Cache(cache or _default_cache(), stale)
    if listing:
        tables = find_tables(names or TABLES)
        known = {table.name: table.minutes for table in tables}
        say(list_table(tables, known if data is None else expected_minutes(tables, Data(data), kept)))
        return
    tables = find_tables(names or ())
    if data is None:
        raise InputError("name the directory of the data sets: --data DIR, or set ESPALIER_DATA")
    chosen = runs if runs is not None else 1 if quick else 5
    with progress("reproducing") as news:
        found = run_tables(
            tables, Data(data), runs=chosen, jobs=jobs, quick=quick, cache=kept, kept_only=kept_only, news=news
        )
    for notice in (*found.notices, *(f"{cell} failed: {what}" for cell, what in found.failures)):
        complain(notice)
    if json != STANDARD:
        say(*result_tables(tables, found.results))
    if json is not None:
        write_results(json, found.results)
    if html is not None:
        write_chunks(html, [results_page(tables, found.results, found.seconds)], "utf-8")
    if markdown is not None:
        write_markdown(markdown, tables, found)
    figures, seconds = counted(len(found.results), "figure"), sum(found.seconds.values())
    note(f"{figures}; {seconds:.0f} s of work, kept in {kept.directory}")
    if found.failures:
        raise typer.Exit(1)


def _default_cache() -> Path:
    """Return where programs keep what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "espalier" / "reproduce"

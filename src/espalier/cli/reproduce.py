"""`espalier reproduce`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from espalier.cli.console import complain, counted, note, progress, say
from espalier.cli.files import STANDARD, keep_apart, refuse_stdout
from espalier.errors import InputError

if TYPE_CHECKING:
    from espalier.papers.tables.cache import Cache
    from espalier.papers.tables.protocol import Cell, Table
    from espalier.papers.tables.runner import Reproduction

__all__ = ["reproduce"]

SAMPLE = 6
"""How many figures of all `--check --quick` computes again."""


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
    claims: Annotated[
        Path | None,
        typer.Option("--claims", metavar="PAGE.MD", help="Write the page of claims, its figures into PAGE.json."),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option("--check", metavar="PAGE.JSON", help="Compute figures again whose code or data have changed."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option("--runs", metavar="N", help="Training subsets for each figure, by default 5.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Processes, by default 1.")] = 1,
    quick: Annotated[
        bool, typer.Option("--quick", help="The quick columns only, one subset; with --check a sample.")
    ] = False,
    cache: Annotated[
        Path | None, typer.Option("--cache", metavar="DIR", help="Where finished cells are kept, to go on from there.")
    ] = None,
    stale: Annotated[bool, typer.Option("--stale", help="Also take kept cells that other code computed.")] = False,
    kept_only: Annotated[bool, typer.Option("--kept", help="Show what is kept, and compute nothing.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the tables with the time they take, and stop.")] = False,
) -> None:
    """Compute published tables anew, and show both figures side by side.

    Finished cells are kept, so an interrupted run goes on where it stopped, and gives the same figures.

    Examples:
        espalier reproduce --list
        espalier reproduce codl07 --quick --data data
    """
    from espalier.papers.claims.page import write_claims
    from espalier.papers.tables.cache import Cache
    from espalier.papers.tables.data import Data
    from espalier.papers.tables.runner import reproduce as run_tables

    pages = {"--html": html, "--markdown": markdown, "--claims": claims}
    refuse_stdout(pages)
    keep_apart([], {"--json": json, **pages})
    kept = Cache(cache or _default_cache(), stale)
    if listing:
        _list(names, data, kept)
        return
    tables, chosen = _asked(names, claims)
    if data is None:
        raise InputError("name the directory of the data sets: --data DIR, or set ESPALIER_DATA")
    if check is not None:
        _check(check, data, SAMPLE if quick else None, jobs)
        return
    how: dict[str, Any] = {"runs": runs if runs is not None else 1 if quick else 5, "jobs": jobs, "quick": quick}
    with progress("reproducing") as news:
        found = run_tables(tables, Data(data), cache=kept, kept_only=kept_only, chosen=chosen, news=news, **how)
    _write(tables, found, json, pages)
    if claims is not None:
        write_claims(claims, tables, found, Data(data))
    note(f"{_work(found)}, kept in {kept.directory}")
    if found.failures:
        raise typer.Exit(1)


def _list(names: Sequence[str] | None, data: Path | None, kept: Cache) -> None:
    """Say which tables there are, and what they take."""
    from espalier.cli.results import list_table
    from espalier.papers.tables.data import Data
    from espalier.papers.tables.registry import TABLES, find_tables
    from espalier.papers.tables.runner import expected_minutes

    tables = find_tables(names or TABLES)
    known = {table.name: table.minutes for table in tables}
    say(list_table(tables, known if data is None else expected_minutes(tables, Data(data), kept)))


def _asked(names: Sequence[str] | None, claims: Path | None) -> tuple[list[Table], Callable[[Cell], bool]]:
    """Return the tables to compute, and which of their cells: for the page of claims those alone that it needs."""
    from espalier.papers.tables.registry import find_tables

    if claims is None:
        return find_tables(names or ()), lambda cell: True
    from espalier.papers.claims.claim import read_claims
    from espalier.papers.claims.kept import cells_for
    from espalier.papers.claims.page import spots_of, tables_of

    tables = find_tables(names) if names else tables_of(read_claims())
    wanted = cells_for(tables, spots_of(read_claims()))
    return tables, lambda cell: (cell.table, cell.row, cell.column) in wanted


def _write(tables: Sequence[Table], found: Reproduction, json: Path | None, pages: Mapping[str, Path | None]) -> None:
    """Show the figures, and write them where they are asked for."""
    from espalier.cli.results import result_tables, write_results
    from espalier.papers.tables.reporting import results_page, write_markdown
    from espalier.text_files import write_chunks

    for notice in (*found.notices, *(f"{cell} failed: {what}" for cell, what in found.failures)):
        complain(notice)
    if json != STANDARD:
        say(*result_tables(tables, found.results))
    if json is not None:
        write_results(json, found.results)
    html, markdown = pages["--html"], pages["--markdown"]
    if html is not None:
        write_chunks(html, [results_page(tables, found.results, found.seconds)], "utf-8")
    if markdown is not None:
        write_markdown(markdown, tables, found)


def _work(found: Reproduction) -> str:
    return f"{counted(len(found.results), 'figure')}; {sum(found.seconds.values()):.0f} s of work"


def _check(path: Path, data: Path, sample: int | None, jobs: int) -> None:
    """Compute kept figures again, say which differ, and note what they come from now."""
    from espalier.papers.claims.checking import check
    from espalier.papers.claims.kept import read_places, write_places
    from espalier.papers.tables.data import Data

    places = read_places(path)
    with progress("checking") as news:
        found = check(places, Data(data), sample=sample, jobs=jobs, news=news)
    for different in (*found.differences, *(f"{cell} failed: {what}" for cell, what in found.failures)):
        complain(str(different))
    note(f"{counted(found.computed, 'figure')} of {len(places)} computed again, {len(found.differences)} differ")
    if sample is None:
        write_places(path, found.places)
    if found.differences or found.failures:
        raise typer.Exit(1)


def _default_cache() -> Path:
    """Return where programs keep what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "espalier" / "reproduce"

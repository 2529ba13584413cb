"""Reproduced figures: tables for people, JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from espalier.cli.console import plain_table
from espalier.papers.tables.reporting import figure, ours

if TYPE_CHECKING:
    from espalier.papers.tables import protocol

__all__ = ["list_table", "result_tables", "write_results"]


def list_table(tables: Sequence[protocol.Table], minutes: Mapping[str, float]) -> RenderableType:
    """Lay out the names of the tables, the time they take on one core, by name, and what they are."""
    laid = plain_table("table", ">about", "what it is", whole=True)
    laid.columns[0].no_wrap = True
    for one in tables:
        laid.add_row(one.name, _time(minutes[one.name]), f"{one.title} ({one.source})")
    if len(tables) > 1:
        laid.add_row("all of these", _time(sum(minutes.values())), "on one core, five runs; --jobs 2 takes half of it")
    return laid


def _time(minutes: float) -> str:
    return f"{60 * minutes:.0f} s" if minutes < 1.5 else f"{minutes:.0f} min"


def result_tables(tables: Sequence[protocol.Table], results: Sequence[protocol.Result]) -> list[RenderableType]:
    """Lay out every table that has results: a line a place, the paper's figure, ours, and the difference."""
    laid: list[RenderableType] = []
    for one in tables:
        own = [result for result in results if result.table == one.name]
        if own:
            laid += [Text.assemble((one.name, "bold"), f"  {one.title}; {one.metric}"), _laid_out(own), ""]
    return laid


def _laid_out(results: Sequence[protocol.Result]) -> Table:
    laid = plain_table("", "", ">paper", ">ours", ">difference", ">sd", ">runs", whole=True)
    before = None
    for result in results:
        if before not in (None, result.row):
            laid.add_section()
        gain = None if result.paper is None else result.ours - result.paper
        colour = "" if gain is None else "green" if gain >= 0 else "red"
        laid.add_row(
            result.row if result.row != before else "", result.column, figure(result.paper), ours(result),
            Text("" if gain is None else f"{gain:+.2f}", colour), figure(result.sd), str(result.runs),
        )  # fmt: skip
        before = result.row
    return laid


def write_results(path: Path, results: Sequence[protocol.Result]) -> None:
    """Write the figures as a list of objects, to a file (replaced only when all is written) or to stdout (`-`)."""
    from espalier.cli.console import say_json
    from espalier.cli.files import STANDARD
    from espalier.text_files import write_chunks

    records = [result._asdict() for result in results]
    if path == STANDARD:
        say_json(records)
    else:
        write_chunks(path, [json.dumps(records, indent=1) + "\n"], "utf-8")

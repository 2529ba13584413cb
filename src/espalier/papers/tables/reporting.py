"""Reproduced figures for those who were not there: a page with pictures, Markdown for the documentation."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from espalier.pages import page, paragraph, section, table

if TYPE_CHECKING:
    from espalier.papers.tables import protocol, runner

__all__ = ["figure", "ours", "results_images", "results_markdown", "results_page", "write_markdown"]

_HOW_TO_READ = (
    "Each cell: ours ± standard deviation over runs, and the paper's figure in brackets. A table whose name ends in "
    "-inputs has the inputs of its paper, so that figures can be compared; the one without has ours."
)
_LIBRARIES = ("numpy", "numba", "scipy")


def figure(value: float | None) -> str:
    """Write a figure with two decimals, and nothing for none."""
    return "" if value is None else f"{value:.2f}"


def ours(result: protocol.Result) -> str:
    """Write our figure; a p has three decimals, a small one its power of ten."""
    if result.column.split(",")[0] not in ("p", "corrected p"):
        return figure(result.ours)
    return f"{result.ours:.3f}" if result.ours >= 0.001 else f"{result.ours:.0e}"


def results_page(
    tables: Sequence[protocol.Table], results: Sequence[protocol.Result], seconds: Mapping[str, float]
) -> str:
    """Return a page with every table that has results: figures side by side, and pictures.

    Pictures are those that a table declares, and curves wherever columns are numbers.
    """
    from espalier.papers.tables.pictures import pictures

    body = [f'<p class="note">{_where_and_when(sum(seconds.values()))}</p>']
    for one in tables:
        own = [result for result in results if result.table == one.name]
        if own:
            note = f"{one.source}; {one.metric}; {seconds.get(one.name, 0.0):.0f} s of work"
            drawn = pictures(one, own, {"curves": "", **one.charts})
            parts = [*(drawing.figure() for _, drawing in drawn), _figures(own)]
            parts += [paragraph(text) for text in (_departures(one), one.remark) if text]
            body.append(section(f"{one.name}: {one.title}", parts, note))
    return page("Published tables, computed anew", body)


def _figures(results: Sequence[protocol.Result]) -> str:
    rows, classes = [], []
    for result in results:
        gain = None if result.paper is None else result.ours - result.paper
        rows.append([result.row, result.column, *_numbers(result), str(result.runs)])
        shade = "" if gain is None else "good" if gain >= 0 else "bad"
        classes.append(["", "", "", "", shade, "", ""])
    return table(["row", "column", "paper", "ours", "difference", "sd", "runs"], rows, classes)


def _numbers(result: protocol.Result) -> list[str]:
    """Paper, ours, difference, standard deviation; empty where there is none."""
    gain = "" if result.paper is None else f"{result.ours - result.paper:+.2f}"
    return [figure(result.paper), ours(result), gain, figure(result.sd)]


def _where_and_when(seconds: float) -> str:
    day = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    versions = ", ".join([f"espalier {version('espalier-nlp')}", *(f"{name} {version(name)}" for name in _LIBRARIES)])
    machine = f"{platform.system()} {platform.machine()}, Python {sys.version.split()[0]}"
    return f"Computed on {day}: {machine}; {versions}; {seconds / 60:.1f} minutes of work."


def results_markdown(
    tables: Sequence[protocol.Table],
    results: Sequence[protocol.Result],
    seconds: Mapping[str, float],
    images: str | None = None,
    title: str = "Results",
) -> str:
    """Return the tables as Markdown: a row for each row of a table, "ours ± sd (paper)" in its columns.

    images : where `results_images` are, as seen from the file; None leaves them out.
    """
    from espalier.papers.tables.pictures import pictures

    lines = [f"# {title}", "", *wrap(_where_and_when(sum(seconds.values())), 120), ""]
    lines += [*wrap(_HOW_TO_READ, 120), ""]
    for one in tables:
        own = [result for result in results if result.table == one.name]
        if not own:
            continue
        columns = list(dict.fromkeys(result.column for result in own))
        places = {(result.row, result.column): result for result in own}
        about = f"{one.title}. {one.source}; {one.metric}; {_runs(own)}, {seconds.get(one.name, 0):.0f} s of work."
        lines += [f"## {one.name}", "", *wrap(about, 120), ""]
        lines += [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
        for row in dict.fromkeys(result.row for result in own):
            cells = [_cell(places.get((row, column))) for column in columns]
            lines.append(f"| {row} | {' | '.join(cells)} |")
        lines += [""]
        for text in (_departures(one), one.remark):
            lines += [*wrap(text, 120), ""] if text else []
        for name, drawing in [] if images is None else pictures(one, own):
            lines += [f"![{drawing.title}]({images}/{name}.svg)", ""]
    return "\n".join(lines)


def _departures(one: protocol.Table) -> str:
    """Say what differs from the paper."""
    return f"What differs from the paper: {'; '.join(one.departures)}." if one.departures else ""


def results_images(tables: Sequence[protocol.Table], results: Sequence[protocol.Result]) -> dict[str, str]:
    """Return the pictures that the tables declare, as SVG files by name."""
    from espalier.papers.tables.pictures import pictures

    return {f"{name}.svg": drawing.file() for one in tables for name, drawing in pictures(one, results)}


def write_markdown(path: Path, tables: Sequence[protocol.Table], found: runner.Reproduction) -> None:
    """Write a Markdown file, and its pictures into images/<its name> beside it."""
    from espalier.text_files import write_chunks

    folder = Path("images") / path.stem
    drawn = results_images(tables, found.results)
    if drawn:
        (path.parent / folder).mkdir(parents=True, exist_ok=True)
    for name, text in drawn.items():
        write_chunks(path.parent / folder / name, [text], "utf-8")
    title = path.stem.replace("-", " ").capitalize()
    write_chunks(path, [results_markdown(tables, found.results, found.seconds, folder.as_posix(), title)], "utf-8")


def _runs(results: Sequence[protocol.Result]) -> str:
    least, most = min(result.runs for result in results), max(result.runs for result in results)
    if most == 1:
        return "one run"
    return f"{most} runs" if least == most else f"{least} to {most} runs"


def _cell(result: protocol.Result | None) -> str:
    if result is None:
        return ""
    spread = "" if result.sd is None else f" ± {result.sd:.1f}"
    paper = "" if result.paper is None else f" ({result.paper:.2f})"
    return f"{ours(result)}{spread}{paper}"

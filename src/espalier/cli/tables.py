"""Reports and model files as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from espalier.cli.console import counted, plain_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from espalier.metrics import Report, Score
    from espalier.recipes.judging import Wrong

__all__ = ["mistake_table", "model_table", "report_table"]

_BAR = 20


def report_table(report: Report, beside: Mapping[str, float] | None = None) -> list[RenderableType]:
    """Lay out a report: three headline figures, then precision, recall and F1 of each field, in percent.

    beside : token accuracies to compare with, by name.
    """
    headline = Text()
    for name, value in (
        ("token accuracy", report.token_accuracy),
        ("field F1", report.field_f1),
        ("exact", report.exact),
    ):
        headline.append(f"{name} ").append(f"{100 * value:.1f}", f"bold {_colour(value)}").append("    ")
    headline.append(f"{counted(report.n_sequences, 'record')}, {counted(report.n_tokens, 'token')}", "dim")
    for name, value in (beside or {}).items():
        headline.append(f"\n{name}: token accuracy ", "dim").append(f"{100 * value:.1f}", _colour(value))
    table = plain_table("field", ">precision", ">recall", ">F1")
    table.add_column("", width=_BAR)
    table.add_column("support", justify="right", style="dim")
    for name, score in report.segments.per_field.items():
        table.add_row(*_row(name, score))
    table.add_section()
    table.add_row(*_row("all (micro)", report.segments.micro), style="bold")
    return [headline, "", table]


def mistake_table(wrong: Sequence[Wrong], most: int) -> list[RenderableType]:
    """Lay out so many records with mistakes; below a headline that says how many there are."""
    if not wrong:
        return ["", "no record has a mistake"]
    table = plain_table(">record", ">wrong tokens", "text, with [words: given → found]")
    for i, tokens, text in wrong[:most]:
        table.add_row(str(i + 1), str(tokens), Text(text))
    shown = f"; here are {most}" if len(wrong) > most else ""
    return ["", f"{counted(len(wrong), 'record')} with mistakes{shown}", "", table]


def _row(name: str, score: Score) -> list[RenderableType]:
    figures = [f"{100 * value:.1f}" for value in (score.precision, score.recall)]
    f1 = Text(f"{100 * score.f1:.1f}", _colour(score.f1))
    return [name, *figures, f1, Text("━" * round(_BAR * score.f1), _colour(score.f1)), str(score.support)]


def _colour(share: float) -> str:
    return "green" if share >= 0.9 else "yellow" if share >= 0.7 else "red"


def model_table(path: Path, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> RenderableType:
    """Lay out the header of a model file and the sizes of its arrays; models inside a model follow it."""
    from espalier.recipes.model_files import contents, levels, sizes, title

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    table.add_row("file", f"{path} ({path.stat().st_size:,} bytes)")
    table.add_row("kind", Text(title(header), "bold"))
    labels = header.get("labels", [])
    table.add_row("labels", Text(f"{len(labels)}: {', '.join(labels)}"))
    for prefix, level in levels("", header):
        if prefix:
            table.add_row()
            table.add_row(prefix.rstrip("/"), Text(title(level), "bold"))
        for name, lines in contents(level, arrays.get(f"{prefix}penalties")):
            table.add_row(name, Text(lines))
    table.add_row()
    table.add_row("arrays", Text("\n".join(sizes(arrays))))
    table.add_row("training data", Text(str(header.get("training_data", "?"))))
    return table

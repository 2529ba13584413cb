"""`espalier train`."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from espalier.cli.console import note, progress, say, say_json
from espalier.cli.files import UTF_8, Encoding, read_all
from espalier.cli.settings import Kind, make_estimator

__all__ = ["train"]


def train(
    labelled: Annotated[
        list[Path], typer.Option("--labelled", "-l", metavar="FILE", help="Labelled records; may be given repeatedly.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The model file to write.")],
    dev: Annotated[Path | None, typer.Option(metavar="FILE", help="Labelled records to judge the model by.")] = None,
    model: Annotated[Kind, typer.Option("--model", "-m", help="What to train.")] = Kind.crf,
    features: Annotated[
        Path | None, typer.Option(metavar="TASK.TOML", help="A file with a \\[features] table; else the default set.")
    ] = None,
    tags: Annotated[
        bool, typer.Option("--tags/--plain", help="Learn where fields begin, or one plain label a field.")
    ] = True,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the model, as l2=0.5.")
    ] = None,
    format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format of the records, if the guess is wrong.")
    ] = None,
    encoding: Encoding = UTF_8,
    json: Annotated[bool, typer.Option("--json", help="Write a summary as JSON.")] = False,
) -> None:
    """Learn a model from labelled records."""
    from espalier.cli.labelling import judge
    from espalier.cli.tables import report_table
    from espalier.cli.training import check_output, fit

    check_output(output)
    estimator = make_estimator(model, features, settings or [])
    documents = read_all(labelled, format, encoding)
    judges = [] if dev is None else read_all([dev], format, encoding)
    started = perf_counter()
    with progress(f"training {model.value}") as news:
        summary = fit(estimator, documents, marks=tags, news=news)
    estimator.save(output)
    seconds = perf_counter() - started
    report = judge(estimator, judges, str(dev)) if dev is not None else None
    note(f"{model.value} from {summary['records']} records, {summary['tokens']} tokens in {seconds:.1f} s → {output}")
    if json:
        dev_figures = {} if report is None else {"dev": report.to_dict()}
        say_json({"model": str(output), "kind": model.value, "seconds": seconds, **summary, **dev_figures})
    elif report is not None:
        say(*report_table(report))

"""`espalier train`."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from espalier.cli.console import note, progress, say, say_json
from espalier.cli.files import UTF_8, Encoding, read_all
from espalier.cli.settings import Kind, Method

__all__ = ["train"]


Unlabelled = Annotated[
    list[Path] | None,
    typer.Option(
        "--unlabelled", "-u", metavar="FILE", help="Raw text, a record a line, or records; labels are unread."
    ),
]
UnlabelledFrom = Annotated[
    str | None, typer.Option("--unlabelled-from", metavar="FORMAT", help="The same for unlabelled records.")
]
Dev = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Labelled records to choose a model and to judge it by.")
]
Task = Annotated[
    str | None,
    typer.Option("--task", "-t", metavar="TASK", help="A task file or its name: labels, features, rules, model."),
]
Model = Annotated[Kind | None, typer.Option("--model", "-m", help="What to train; else the task's, or crf.")]
How = Annotated[Method | None, typer.Option(help="How; else supervised, or codl where there is unlabelled text.")]
Rules = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="More rules, some in place of the task's; 'none' leaves all of those out."),
]
Penalties = Annotated[
    str | None,
    typer.Option(metavar="HOW", help="What rules cost: count (learned), svm, perceptron, hard, fixed or a number."),
]
Features = Annotated[
    Path | None, typer.Option(metavar="TASK.TOML", help="A file with a \\[features] table, instead of the task's.")
]
Tags = Annotated[
    bool | None,
    typer.Option("--tags/--plain", help="Learn where fields begin, or one plain label a field; else as the task."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter, as l2=0.5; of rules and method, as method.gamma=0.8."
    ),
]


def train(
    labelled: Annotated[
        list[Path], typer.Option("--labelled", "-l", metavar="FILE", help="Labelled records; may be given repeatedly.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The model file to write.")],
    unlabelled: Unlabelled = None,
    dev: Dev = None,
    task: Task = None,
    model: Model = None,
    method: How = None,
    rules: Rules = None,
    penalties: Penalties = None,
    features: Features = None,
    tags: Tags = None,
    settings: Settings = None,
    format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format of the records, if the guess is wrong.")
    ] = None,
    raw_format: UnlabelledFrom = None,
    encoding: Encoding = UTF_8,
    json: Annotated[bool, typer.Option("--json", help="Write a summary as JSON.")] = False,
) -> None:
    """Learn a model from labelled records, and from rules and unlabelled text if there are any.

    Rules add to the task's; one that has the name of a task's rule replaces it. With --dev the best model of a method
    is kept, the supervised one included; without it the last. The task references begins from the bundled model.
    """
    from espalier.cli.labelling import judge, labelled_only
    from espalier.cli.recipe import make_recipe
    from espalier.cli.tables import report_table
    from espalier.cli.training import Learning, as_declared, check_output, fit, save

    check_output(output)
    recipe = make_recipe(
        task=task, kind=model, method=method, features=features, rules=rules or [], penalties=penalties,
        settings=settings or [], tags=tags, pool=bool(unlabelled),
    )  # fmt: skip
    documents = as_declared(recipe, read_all(labelled, format, encoding))
    judges = [] if dev is None else labelled_only(as_declared(recipe, read_all([dev], format, encoding)), str(dev))
    pool = read_all(unlabelled, raw_format, encoding) if unlabelled else None
    started = perf_counter()
    with progress(f"training {recipe.kind}") as news:
        summary = fit(recipe, documents, pool=pool, dev=judges, news=news)
    save(recipe, output)
    seconds = perf_counter() - started
    report = judge(recipe.estimator, judges, str(dev)).report if dev is not None else None
    learning = Learning.of(recipe, judges)
    begun = "" if recipe.start is None else f", begun from {recipe.start.name}"
    learned = f"{recipe.kind} from {summary['records']} records, {summary['tokens']} tokens"
    note(f"{learned} in {seconds:.1f} s{begun} → {output}")
    if json:
        dev_figures = {} if report is None else {"dev": report.to_dict()}
        how = {"kind": recipe.kind, "method": recipe.method.value, "rules": recipe.rules.K}
        how |= {} if recipe.start is None else {"prior": recipe.start.name}
        say_json({"model": str(output), **how, "seconds": seconds, **summary, **learning.to_dict(), **dev_figures})
        return
    for line in learning.lines():
        note(line)
    if report is not None:
        say(*report_table(report, learning.beside))

"""`espalier train`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from espalier.cli.console import complain, note, progress, say, say_json
from espalier.cli.files import UTF_8, Encoding, read_all
from espalier.cli.places import keep_apart
from espalier.cli.settings import Kind, Method, parse_settings
from espalier.cli.wording import counted

__all__ = ["train"]


Unlabelled = Annotated[
    list[Path] | None,
    typer.Option(
        "--unlabelled",
        "-u",
        metavar="FILE",
        help="Raw text with one record per line, or records, whose labels are not read.",
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
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="MODEL",
        help="The model file to write; by default a new file here, named after the task.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter, as l2=0.5; of rules and method, as method.gamma=0.8."
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N", min=1, help="Processes that hold parts of the data; else threads. For crf and hmm."
    ),
]


def train(
    labelled: Annotated[
        list[Path], typer.Option("--labelled", "-l", metavar="FILE", help="Labelled records; may be given repeatedly.")
    ],
    output: Output = None,
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
    jobs: Jobs = None,
    json: Annotated[bool, typer.Option("--json", help="Write a summary as JSON.")] = False,
) -> None:
    """Learn a model from labelled records, and from rules and unlabelled text if there are any.

    Rules add to the task's; one that has the name of a task's rule replaces it. With --dev the best model of a method
    is kept, the supervised one included; without it the last. The task citations begins from the bundled model.
    """
    from espalier.cli.labelling import judge, labelled_only
    from espalier.cli.recipe import make_recipe
    from espalier.cli.tables import report_table
    from espalier.cli.training import Learning, as_declared, as_learned, fit, model_output, save

    path, prior = model_output(output, task), parse_settings(settings or [])[""].get("prior")
    reads = [*labelled, *(unlabelled or ()), dev, task, features, *(rules or ())]
    keep_apart([*reads, prior if isinstance(prior, str) else None], {"--output": path})
    recipe = make_recipe(
        task=task, kind=model, method=method, features=features, rules=rules or [], penalties=penalties,
        settings=settings or [], tags=tags, pool=bool(unlabelled), jobs=jobs,
    )  # fmt: skip
    documents = read_all(labelled, format, encoding, each=partial(as_learned, recipe))
    held = read_all([dev], format, encoding, each=partial(as_declared, recipe)) if dev is not None else []
    judges = labelled_only(held, str(dev)) if held else []
    pool = read_all(unlabelled, raw_format, encoding) if unlabelled else None
    started = perf_counter()
    with progress(f"training {recipe.kind}") as news:
        summary = fit(recipe, documents, pool=pool, dev=judges, news=news)
    save(recipe, path)
    seconds = perf_counter() - started
    report = judge(recipe.estimator, judges, str(dev)).report if dev is not None else None
    learning = Learning.of(recipe, judges)
    begun = "" if recipe.start is None else f", begun from {recipe.start.name}"
    learned = f"{recipe.kind} from {counted(summary['records'], 'record')}, {counted(summary['tokens'], 'token')}"
    note(f"{learned} in {seconds:.1f} s{begun} → {path}")
    if output is None:
        complain(f"the model is in {path}; --output names another file")
    if json:
        dev_figures = {} if report is None else {"dev": report.to_dict()}
        say_json(
            {"model": str(path), **recipe.to_dict(), "seconds": seconds, **summary, **learning.to_dict(), **dev_figures}
        )
        return
    for line in learning.lines():
        note(line)
    if report is not None:
        say(*report_table(report, learning.beside))

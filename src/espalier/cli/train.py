"""`espalier train`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from espalier.cli.console import complain, counted, note, progress, say, say_json
from espalier.cli.files import keep_apart, labelled_records, read_all
from espalier.cli.options import UTF_8, Encoding, From, Json
from espalier.registry import ours

if TYPE_CHECKING:
    from espalier.document import Document
    from espalier.metrics import Report
    from espalier.recipes import Recipe, Trained

__all__ = ["train"]


REFERENCES = "citations"
"""The task that has a model to begin from, and schemes of labels that are understood."""


def _word(name: str | None) -> str | None:
    """Return a name as it is registered, however it is written; a place, `module:object`, stays as it is."""
    return name if name is None or ":" in name else name.lower()


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
_KINDS, _WAYS = (", ".join(ours(what)) for what in ("models", "methods"))
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="KIND", help=f"What to train: {_KINDS}; else the task's, or crf."),
]
How = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"How: {_WAYS}; else supervised, or where there is unlabelled text words (for some models codl).",
    ),
]
Rules = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="More rules, some in place of the task's; 'none' leaves all of those out."),
]
Penalties = Annotated[
    str | None,
    typer.Option(
        metavar="HOW", help="What rules cost: chosen (by folds), count, svm, perceptron, hard, fixed or a number."
    ),
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
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Has no effect; will go with the next release.",
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
    format: From = None,
    raw_format: UnlabelledFrom = None,
    encoding: Encoding = UTF_8,
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Learn a model from labelled records, and from rules and unlabelled text if there are any.

    Rules add to the task's; one that has the name of a task's rule replaces
    it. With --dev the best model of a method is kept, the supervised one
    included; without it the last. The task citations begins from the bundled
    model.

    Examples:
        espalier train --labelled mine.xml --task citations --output mine.espalier
        espalier train -l train.txt -u new.txt --rules orchard.rules -o orchard.espalier
    """
    from espalier.recipes import fit, plan
    from espalier.recipes.rule_files import gather_rules, widened
    from espalier.recipes.settings import model_output, parse_penalties, parse_settings
    from espalier.tasks.task import load_features, load_task

    if jobs is not None:
        complain("--jobs has no effect any more, and goes with the next release: training runs in threads")
    path, chosen = model_output(output, task), parse_settings(settings or [])
    begins, prior = _begins(task, chosen), chosen.pop("prior", None)
    reads = [*labelled, *(unlabelled or ()), dev, task, features, *(rules or ())]
    keep_apart([*reads, prior if isinstance(prior, str) else None], {"--output": path})
    declared = None if task is None else load_task(task)
    recipe = plan(
        task=declared, model=_word(model), method=_word(method),
        rules=gather_rules(declared, rules or []), penalties=None if penalties is None else parse_penalties(penalties),
        features=None if features is None else load_features(features), tags=tags, unlabelled=bool(unlabelled),
        **begins, settings=chosen,
    )  # fmt: skip
    documents = read_all(labelled, format, encoding, each=partial(_as_declared, recipe, task, check=True))
    held = read_all([dev], format, encoding, each=partial(_as_declared, recipe, task)) if dev is not None else []
    judges = labelled_records(held, str(dev)) if held else []
    pool = read_all(unlabelled, raw_format, encoding) if unlabelled else None
    recipe = replace(recipe, labels=widened(recipe, documents, rules or []))
    started = perf_counter()
    with progress(f"training {recipe.kind}") as news:
        trained = fit(recipe, documents, unlabelled=pool, dev=judges, progress=news)
    trained.save(path)
    seconds = perf_counter() - started
    report = _judged(trained, judges) if dev is not None else None
    _tell(trained, path, seconds, judged=bool(judges), always=not json)
    if output is None:
        complain(f"the model is in {path}; --output names another file")
    if json:
        figures = {} if report is None else {"dev": report.to_dict()}
        say_json({"model": str(path), **recipe.to_dict(), "seconds": seconds, **trained.to_dict(), **figures})
    elif report is not None:
        from espalier.cli.tables import report_table

        say(*report_table(report, trained.beside))


def _begins(task: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    """Return where learning begins: at the model that the settings name, else at that of the task."""
    from espalier.loading import model_file
    from espalier.recipes.adapting import named_start

    if "prior" in settings:
        return {"start": named_start(settings["prior"], model_file)}
    if task != REFERENCES:
        return {}
    from espalier.citations.adapting import usual_start

    return {"usual_start": usual_start(settings)}


def _as_declared(recipe: Recipe, task: str | None, documents: list[Document], check: bool = False) -> list[Document]:
    """Return documents with the labels that the task declares; those of other schemes of references are understood.

    check : is a label that the task does not declare an error?
    """
    from espalier.recipes.training import check_labels

    if task == REFERENCES and recipe.labels is not None:
        from espalier.citations.adapting import converted

        documents = converted(documents, recipe.labels.names)
    if check:
        check_labels(recipe, documents)
    return documents


def _judged(trained: Trained, documents: Sequence[Document]) -> Report:
    from espalier.recipes.judging import judge

    return judge(trained.estimator, documents).report


def _tell(trained: Trained, path: Path, seconds: float, *, judged: bool, always: bool) -> None:
    """Say what was learned, and which of several models was kept.

    always : also where nobody sits at a terminal, since training takes long, and its log should have an end.
    """
    recipe, sizes = trained.recipe, trained.sizes
    begun = "" if recipe.start is None else f", begun from {recipe.start.name}"
    kinds = " and ".join(_kinds(trained.estimator)) or recipe.kind
    learned = f"{kinds} from {counted(sizes['records'], 'record')}, {counted(sizes['tokens'], 'token')}"
    note(f"{learned} in {seconds:.1f} s{begun} → {path}", always=always)
    if not recipe.marks:
        note(f"plain labels, one a field{_because(recipe)}: neighbours of one kind are one field", always=always)
    if trained.kept is not None and trained.history:
        which = "the model of the labels alone"
        if trained.kept:
            which = f"the model of round {trained.kept}{'' if judged else ', the last,'}"
        why = "is the best on the --dev records" if judged else "is kept; whether it is better, --dev FILE would tell"
        note(f"{recipe.method}: {which} {why}", always=always)


def _because(recipe: Recipe) -> str:
    """Say who decided for plain labels, and what else could be asked for."""
    listed = recipe.labels is not None and recipe.task is not None
    return (
        f", as the task {recipe.task} lists them or --plain asks (--tags learns where fields begin)" if listed else ""
    )


def _kinds(model: Any) -> list[str]:
    """Return what was trained: the kinds of several models that answer as one; none where it is one alone."""
    while model is not None and not hasattr(model, "experts_"):
        model = getattr(model, "model_", getattr(model, "base_", None))
    return [] if model is None else [expert.kind for expert in model.experts_]

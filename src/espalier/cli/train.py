"""`espalier train`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from espalier.cli.console import complain, counted, note, progress, say, say_json
from espalier.cli.files import STANDARD, UTF_8, Encoding, From, keep_apart, labelled_records, read_all
from espalier.errors import InputError
from espalier.registry import ours

if TYPE_CHECKING:
    from espalier.document import Document
    from espalier.metrics import Report
    from espalier.recipes import Recipe, Trained

__all__ = ["parse_penalties", "parse_settings", "train"]


_ELSEWHERE = {
    "features": "use --features",
    "rules": "use --rules",
    "penalties": "use --penalties",
    "base": "use --model",
    "model": "use --model",
    "progress": "",
    "map": "train from Python",
    "word_classes": "train from Python",
}
"""Parameters that are objects, and the option that gives them."""


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Read `l2=0.5 rules.folds=3 method.gamma=0.9` into names and values.

    Values are as in JSON (numbers, true, false, null, lists, objects); anything else is a string.
    """
    chosen: dict[str, Any] = {}
    for setting in settings:
        name, sign, text = setting.partition("=")
        key = name.rpartition(".")[2]
        if not key or not sign:
            raise InputError(f"--set {setting}: expected NAME=VALUE, for example l2=0.5")
        if key in _ELSEWHERE:
            raise InputError(f"--set {setting}: {key} cannot be set here", hint=_ELSEWHERE[key])
        try:
            chosen[name] = json.loads(text)
        except (ValueError, RecursionError):
            chosen[name] = text
    return chosen


def parse_penalties(text: str) -> str | float:
    """Read `--penalties`: a number, or a word."""
    try:
        return float(text)
    except ValueError:
        return text


def _word(name: str | None) -> str | None:
    """Return a name as it is registered, however it is written; a place, `module:object`, stays as it is."""
    return name if name is None or ":" in name else name.lower()


REFERENCES = "citations"
"""The task that has a model to begin from, and schemes of labels that are understood."""


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
    json: Annotated[bool, typer.Option("--json", help="Write a summary as JSON.")] = False,
) -> None:
    """Learn a model from labelled records, and from rules and unlabelled text if there are any.

    Rules add to the task's; one that has the name of a task's rule replaces
    it. With --dev the best model of a method is kept, the supervised one
    included; without it the last. The task citations begins from the bundled
    model.
    """
    from espalier.recipes import fit, plan
    from espalier.recipes.rule_files import gather_rules, widened
    from espalier.tasks.task import load_features, load_task

    if jobs is not None:
        complain("--jobs has no effect any more, and goes with the next release: training runs in threads")
    path, chosen = model_output(output, task), parse_settings(settings or [])
    prior = chosen.get("prior")
    reads = [*labelled, *(unlabelled or ()), dev, task, features, *(rules or ())]
    keep_apart([*reads, prior if isinstance(prior, str) else None], {"--output": path})
    declared = None if task is None else load_task(task)
    recipe = plan(
        task=declared, model=_word(model), method=_word(method),
        rules=gather_rules(declared, rules or []), penalties=None if penalties is None else parse_penalties(penalties),
        features=None if features is None else load_features(features), tags=tags, unlabelled=bool(unlabelled),
        **_starts(task, chosen), settings=chosen,
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


def model_output(path: Path | None, task: str | None) -> Path:
    """Return where to write the model: the file that was named, else one with the name of the task.

    A place where no model can be written is refused before the time for training is spent, and so is a file that is
    there but that nobody named.
    """
    if path is None:
        path = Path(f"{Path(task or 'model').stem}.espalier")
        if os.path.lexists(path):
            raise InputError(f"{path} is there already", hint=f"name the file to write: --output {path} replaces it")
    if path == STANDARD:
        raise InputError("a model cannot be written to stdout", hint="name a file, such as -o my.espalier")
    if path.is_dir():
        raise InputError(f"{path} is a directory", hint=f"name a file in it, such as -o {path / 'my.espalier'}")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"{path}: the directory {str(path.parent)!r} does not exist or cannot be written")
    return path


def _starts(task: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    """Return where learning begins and take it out of the settings: what they name, else the task's own model."""
    if "prior" not in settings:
        if task != REFERENCES:
            return {}
        from espalier.citations.adapting import bundled_start

        replaying = settings.pop("replay", False)
        if not isinstance(replaying, bool):
            raise InputError(f"--set replay={replaying}: expected true or false")
        return {"usual_start": partial(bundled_start, replaying)}
    source = settings.pop("prior")
    if source is None:
        return {}
    if not isinstance(source, str):
        raise InputError(f"--set prior={source}: expected a model file, or null to begin from nothing")
    from espalier.loading import model_file
    from espalier.recipes.adapting import begin

    return {"start": lambda: begin(model_file(source), source)}


def _as_declared(recipe: Recipe, task: str | None, documents: list[Document], check: bool = False) -> list[Document]:
    """Return documents with the labels that the task declares; those of other schemes of references are understood.

    check : is a label that the task does not declare an error?
    """
    if task == REFERENCES and recipe.labels is not None:
        from espalier.citations.adapting import converted

        documents = converted(documents, recipe.labels.names)
    if check:
        from espalier.recipes.training import check_labels

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
    if trained.kept is not None and trained.history:
        which = "the model of the labels alone"
        if trained.kept:
            which = f"the model of round {trained.kept}{'' if judged else ', the last,'}"
        why = "is the best on the --dev records" if judged else "is kept; whether it is better, --dev FILE would tell"
        note(f"{recipe.method}: {which} {why}", always=always)


def _kinds(model: Any) -> list[str]:
    """Return what was trained: the kinds of several models that answer as one; none where it is one alone."""
    while model is not None and not hasattr(model, "experts_"):
        model = getattr(model, "model_", getattr(model, "base_", None))
    return [] if model is None else [expert.kind for expert in model.experts_]

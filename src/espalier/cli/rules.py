"""`espalier rules check`, `rules show` and `rules discover`."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from espalier.cli.console import complain, counted, note, plain_table, progress, say, say_json
from espalier.cli.files import STANDARD, keep_apart, labelled_records, read_all
from espalier.cli.options import UTF_8, AnyData, Data, Encoding, From, Json
from espalier.errors import InputError

if TYPE_CHECKING:
    from espalier.corpus import Corpus
    from espalier.learning.discovery_report import Discovery
    from espalier.recipes.rule_files import Checked
    from espalier.rules.ruleset import RuleSet

__all__ = ["ABOUT", "check", "discover", "show"]

ABOUT = "Rules: check a file of them, show those of a task, find some in labelled data."


def check(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file of rules, a task file, or a task's name.")],
    labels: Annotated[
        str | None, typer.Option(metavar="NAMES", help="The labels of the data, with commas; for a file of rules.")
    ] = None,
    data: AnyData = None,
    format: From = None,
    encoding: Encoding = UTF_8,
    json: Json = False,
) -> None:
    """Parse rules, name every mistake with its line, and show what each rule compiles to.

    A field that is in neither --labels nor --data is a mistake. With --data
    the table also says how often a rule applies to the labels, how often
    they keep and break it, and which record is the first to break it.

    Examples:
        espalier rules check orchard.rules --data train.txt
        espalier rules check citations
    """
    corpus = None if not data else _labelled(data, format, encoding, source, labels)
    checked, known = _checked(source, labels, corpus)
    mistakes = [f"{source}: {mistake}" for mistake in checked.mistakes]
    for mistake in mistakes:
        complain(mistake)
    # A file of rules without labels is taken at its word: the fields it names are the labels.
    rows = described(checked.rules, checked.fields if known is None else known)
    if corpus is not None:
        _add_counts(rows, checked.rules, corpus)
    if json:
        say_json({"rules": rows, "mistakes": mistakes})
    elif rows:
        say(rule_table(rows))
    if mistakes:
        raise typer.Exit(2)
    if known is None:
        note("names of fields are not checked; --data FILE or --labels NAMES says which there are", always=True)
    note(f"{counted(len(rows), 'rule')} read, all fine")


def show(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task file, or the name of a task.")],
    json: Json = False,
) -> None:
    """Show the rules of a task with their penalties, and the form each compiles to.

    Examples:
        espalier rules show citations
        espalier rules show citations --json
    """
    from espalier.tasks.task import load_task

    found = load_task(task)
    rows = described(found.rules, found.labels)
    if json:
        say_json({"task": found.name, "labels": list(found.labels), "rules": rows})
    else:
        say(rule_table(rows) if rows else f"{found.name} has no rules")


def discover(
    data: Data,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="A model that did not learn from them; by default CRFs that each leave out a fold.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="TASK.TOML", help="The task file to write; - is stdout.")
    ] = None,
    templates: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Kinds of rules to try, with commas; else all but followed.")
    ] = None,
    importance: Annotated[
        float,
        typer.Option(metavar="X", help="How many times as often predictions must break a rule as the right labels do."),
    ] = 2.75,
    most: Annotated[int | None, typer.Option("--max", metavar="N", help="The most rules to keep.")] = None,
    cover: Annotated[
        int, typer.Option(metavar="N", help="How many rules should object to each wrong answer; 0 keeps all.")
    ] = 1,
    format: From = None,
    encoding: Encoding = UTF_8,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", min=1, help="Has no effect; will go with the next release."),
    ] = None,
    json: Json = False,
) -> None:
    """Find rules that right labels keep and a model's answers break.

    Of each rule the table says how often the labels keep it (support), and
    in what share of the cases to which it applies (holds); how many
    labellings (gold) and answers break it, and how many times as many the
    answers are (importance); what it would cost (penalty). With --model it
    also says how many answers the rule alone makes better and worse (±).

    Examples:
        espalier rules discover --data train.txt
        espalier rules discover --data dev.txt --model orchard.espalier --output orchard.toml
    """
    from espalier.learning.discovery import TEMPLATES
    from espalier.loading import open_extractor
    from espalier.recipes.rule_files import find_rules
    from espalier.text_files import write_chunks

    if jobs is not None:
        complain("--jobs has no effect any more, and goes with the next release: leave it out")
    keep_apart([*data, model], {"--output": output})
    if output is not None:
        check_task_output(output)
    documents = read_all(data, format, encoding)
    with progress("looking for rules") as news:
        found = find_rules(
            documents, None if model is None else open_extractor(model).model,
            progress=news, importance=importance,
            max_rules=most, cover=cover or None,
            templates=TEMPLATES if templates is None else tuple(name.strip() for name in templates.split(",")),
        )  # fmt: skip
    if output == STANDARD:
        typer.echo(found.to_task(), nl=False)
        return
    if output is not None:
        write_chunks(output, [found.to_task()], "utf-8")
    candidates = counted(found.candidates, "candidate")
    note(f"{counted(found.rules.K, 'rule')} from {candidates}, {found.important} of them important")
    if json:
        say_json(found.to_dict())
    else:
        say(*finding_table(found))


def _labelled(data: Sequence[Path], format: str | None, encoding: str, source: str, labels: str | None) -> Corpus:
    """Return labelled records; their labels are those that occur, those that are given, and those of the task."""
    from espalier.recipes.rule_counts import labelled_corpus
    from espalier.recipes.rule_files import task_of

    task = task_of(source)
    documents = labelled_records(read_all(data, format, encoding), ", ".join(map(str, data)))
    return labelled_corpus(documents, (_names(labels) or ()) if task is None else task.labels)


def _add_counts(rows: Sequence[dict[str, Any]], rules: RuleSet, corpus: Corpus) -> None:
    """Put into the row of each rule how often it applies; name those that never do."""
    from espalier.recipes.rule_counts import count_rules

    for row, found in zip(rows, count_rules(rules, corpus), strict=True):
        row |= {"applies": found.applies, "kept": found.kept, "broken": found.broken}
        row["first_broken"] = None if found.first is None else found.first + 1
    if idle := [row["name"] for row in rows if not row["applies"]]:
        complain(f"rules that never apply to these records: {', '.join(idle)}")


def _names(labels: str | None) -> list[str] | None:
    """Return the names of --labels."""
    known = None if labels is None else [name.strip() for name in labels.split(",") if name.strip()]
    if known == []:
        raise InputError("--labels is empty", hint="give names with commas, such as title,price")
    return known


def _checked(source: str, labels: str | None, corpus: Corpus | None) -> tuple[Checked, Sequence[str] | None]:
    """Return the rules of a file or a task, and the labels they are for; None where nobody says which there are."""
    from espalier.recipes.rule_files import Checked, check_rules, read_text, task_of

    task = task_of(source)
    if task is not None:
        if labels is not None:
            raise InputError(f"{source}: a task has its own labels", hint="--labels is for files of rules")
        return Checked(task.rules, (), ()), task.labels
    text = read_text(Path(source))
    known = list(corpus.labels.names) if corpus is not None and corpus.labels is not None else _names(labels)
    checked = check_rules(text, known, directory=Path(source).parent)
    return checked, known


def described(rules: RuleSet, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return name, text, penalty ("hard" if infinite) and compiled form of every rule."""
    from espalier.rules.compile import compile_rules
    from espalier.rules.text import print_node

    forms = compile_rules(rules, labels).form
    return [
        {
            "name": rule.name,
            "rule": print_node(rule.node),
            "penalty": "hard" if rule.hard else rule.penalty,
            "once": rule.once,
            "form": form,
        }
        for rule, form in zip(rules, forms, strict=True)
    ]


def rule_table(rows: Iterable[Mapping[str, Any]]) -> RenderableType:
    """Lay out what `described` returned, with counts where there are some."""
    rows = list(rows)
    counts = [name for name in ("applies", "kept", "broken") if name in rows[0]]
    table = plain_table(
        "name", "rule", ">penalty", "form", *(f">{name}" for name in counts), *["first broken"][: len(counts)]
    )
    for row in rows:
        penalty = row["penalty"]
        price = "to learn" if penalty is None else penalty if penalty == "hard" else f"{penalty:.3g}"
        first = row.get("first_broken")
        told = [*(str(row[name]) for name in counts), "" if first is None else f"record {first}"]
        price += ", once" if row["once"] else ""
        table.add_row(Text(row["name"]), Text(row["rule"]), price, row["form"], *told[: len(counts) + bool(counts)])
    return table


def check_task_output(path: Path) -> None:
    """Refuse a place where no task file can be written, before the time is spent."""
    if path == STANDARD:
        return
    if path.suffix != ".toml":
        raise InputError(f"{path}: a task file's name ends in .toml")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"{path}: the directory {str(path.parent)!r} does not exist or cannot be written")


def finding_table(found: Discovery) -> list[RenderableType]:
    """Lay out a discovery: a headline, then one line a rule."""
    head = Text(f"{counted(found.rules.K, 'rule')} ", "bold")
    of = f"of {counted(found.candidates, 'candidate')}, {found.important} important"
    head.append(f"{of}; {counted(found.sequences, 'record')}", "dim")
    tried = any(row.fixes is not None for row in found.rows)  # only a model, not its answers, can be asked again
    table = plain_table(
        "rule", "template", ">support", ">holds", ">gold", ">answers", ">importance", ">penalty", *[">±"] * tried
    )
    for row in found.rows:
        effect = "" if row.fixes is None or row.breaks is None else f"+{len(row.fixes)} -{len(row.breaks)}"
        table.add_row(
            Text(row.text),
            row.template,
            str(row.support),
            f"{100 * row.confidence:.1f}%",
            str(row.gold),
            str(row.predicted),
            f"{row.predicted} : 0" if row.importance == math.inf else f"{row.importance:.2f}",
            "" if row.penalty is None else f"{row.penalty:.2f}",
            *[effect] * tried,
        )
    return [head, "", table]

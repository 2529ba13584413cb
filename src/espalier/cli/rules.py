"""`espalier rules check`, `rules show` and `rules discover`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.console import complain, note, progress, say, say_json
from espalier.cli.files import STANDARD, UTF_8, Encoding, read_all
from espalier.cli.places import keep_apart
from espalier.cli.wording import counted

__all__ = ["ABOUT", "check", "discover", "show"]

ABOUT = "Rules: check a file of them, show those of a task, find some in labelled data."


def check(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file of rules, a task file, or a task's name.")],
    labels: Annotated[
        str | None, typer.Option(metavar="NAMES", help="The labels of the data, with commas; for a file of rules.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write the rules as JSON.")] = False,
) -> None:
    """Parse rules, name every mistake with its line, and show what each rule compiles to."""
    from espalier.cli.rule_files import described, read_rules, rule_table

    rules, known, mistakes = read_rules(source, labels)
    for mistake in mistakes:
        complain(mistake)
    rows = described(rules, known)
    if json:
        say_json({"rules": rows, "mistakes": mistakes})
    elif rows:
        say(rule_table(rows))
    if mistakes:
        raise typer.Exit(2)
    note(f"{counted(len(rows), 'rule')} read, all fine")


def show(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task file, or the name of a task.")],
    json: Annotated[bool, typer.Option("--json", help="Write the rules as JSON.")] = False,
) -> None:
    """Show the rules of a task with their penalties, and the form each compiles to."""
    from espalier.cli.rule_files import described, rule_table
    from espalier.tasks.task import load_task

    found = load_task(task)
    rows = described(found.rules, found.labels)
    if json:
        say_json({"task": found.name, "labels": list(found.labels), "rules": rows})
    else:
        say(rule_table(rows) if rows else f"{found.name} has no rules")


def discover(
    data: Annotated[list[Path], typer.Option("--data", "-d", metavar="FILE", help="Labelled records; - is stdin.")],
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
    format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format of the records, if the guess is wrong.")
    ] = None,
    encoding: Encoding = UTF_8,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", metavar="N", min=1, help="Processes to score candidates on; the rules are the same."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write the findings as JSON.")] = False,
) -> None:
    """Find rules that right labels keep and a model's answers break."""
    from espalier.cli.rule_files import check_task_output, finding_table, search
    from espalier.io.files import write_chunks

    keep_apart([*data, model], {"--output": output})
    if output is not None:
        check_task_output(output)
    documents = read_all(data, format, encoding)
    with progress("looking for rules") as news:
        found = search(documents, model, templates, importance, most, cover, jobs, news)
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

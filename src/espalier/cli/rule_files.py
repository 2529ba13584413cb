"""What the `rules` commands do with files of rules and with labelled records."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from espalier.cli.files import STANDARD
from espalier.cli.wording import counted
from espalier.document import Document
from espalier.errors import InputError, RuleError

if TYPE_CHECKING:
    from espalier.corpus import Corpus
    from espalier.learning.discovery_report import Discovery
    from espalier.rules.ruleset import RuleSet

__all__ = ["check_task_output", "described", "finding_table", "read_rules", "rule_table", "search"]

_FOLDS = 5


def read_rules(source: str, labels: str | None) -> tuple[RuleSet, Sequence[str], list[str]]:
    """Return the rules of a file or a task, the labels they are for, and what is wrong with lines of the file.

    A file of rules without labels is taken at its word: the fields it names are the labels.
    """
    from espalier.rules.nodes import fields_of
    from espalier.rules.ruleset import RuleSet
    from espalier.tasks.task import load_task, names

    path = Path(source)
    if path.suffix == ".toml" or (source in names() and not path.exists()):
        if labels is not None:
            raise InputError(f"{source}: a task has its own labels; --labels is for files of rules")
        task = load_task(source)
        return task.rules, task.labels, []
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: not UTF-8 text: {error}") from None
    known = None if labels is None else [name.strip() for name in labels.split(",") if name.strip()]
    if known == []:
        raise InputError("--labels is empty; give names with commas, such as title,price")
    good, mistakes = _good_lines(text, known, path)
    rules = RuleSet.from_text(good, labels=known, directory=path.parent)
    if known is None:
        known = sorted({name for rule in rules for fields in fields_of(rule.node) for name in fields.names} | {"O"})
    return rules, known, mistakes


def _good_lines(text: str, labels: Sequence[str] | None, path: Path) -> tuple[str, list[str]]:
    """Return the text with the rules that can be read, and what is wrong with the others.

    Every rule is read by itself, with all other lines blank, so that one mistake does not hide the next.
    """
    from espalier.rules.reader import logical_lines
    from espalier.rules.ruleset import RuleSet

    lines = text.split("\n")
    good, mistakes, seen = [""] * len(lines), [], set()
    for numbers in logical_lines(lines):
        alone = [line if t in numbers else "" for t, line in enumerate(lines)]
        try:
            [rule] = RuleSet.from_text("\n".join(alone), labels=labels, directory=path.parent)
        except RuleError as error:
            mistakes.append(f"{path}: {error}")
            continue
        if rule.name in seen:
            mistakes.append(f"{path}: line {numbers[0] + 1}: a second rule named {rule.name!r}; names must differ")
            continue
        seen.add(rule.name)
        for t in numbers:
            good[t] = lines[t]
    return "\n".join(good), mistakes


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
    """Lay out what `described` returned."""
    table = _table("name", "rule", ">penalty", "form")
    for row in rows:
        penalty = row["penalty"]
        price = "to learn" if penalty is None else penalty if penalty == "hard" else f"{penalty:.3g}"
        table.add_row(Text(row["name"]), Text(row["rule"]), price + (", once" if row["once"] else ""), row["form"])
    return table


def check_task_output(path: Path) -> None:
    """Refuse a place where no task file can be written, before the time is spent."""
    if path == STANDARD:
        return
    if path.suffix != ".toml":
        raise InputError(f"{path}: a task file's name ends in .toml")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"{path}: the directory {str(path.parent)!r} does not exist or cannot be written")


def search(
    documents: Sequence[Document],
    model: Path | None,
    templates: str | None,
    importance: float,
    most: int | None,
    cover: int,
    jobs: int | None,
    news: Callable[[str], None],
) -> Discovery:
    """Find rules in labelled documents with a model's answers, or with those of CRFs that have not seen them.

    jobs : in how many processes candidates are scored; None scores them here.
    """
    from espalier.cli.labelling import load_model
    from espalier.corpus import Corpus
    from espalier.learning.discovery import TEMPLATES
    from espalier.learning.discovery import discover as found_rules
    from espalier.tags import is_tag

    labelled = [document for document in documents if document.spans is not None]
    if not labelled:
        raise InputError("no record is labelled; rules are found by comparing answers with labels")
    labeller = None if model is None else load_model(model)
    marks = labeller is None or all(is_tag(name) for name in labeller.labels_)
    corpus = Corpus.from_documents(labelled, marks=marks)
    answers = crossed(corpus, news) if labeller is None else labeller
    kinds = TEMPLATES if templates is None else tuple(name.strip() for name in templates.split(","))
    return found_rules(
        corpus, answers, kinds, importance=importance, max_rules=most, cover=cover or None, jobs=jobs, progress=news
    )


def crossed(corpus: Corpus, news: Callable[[str], None]) -> list[list[str]]:
    """Return the answers of CRFs, each fitted to all folds but the one that it labels."""
    import numpy as np

    from espalier.estimators.crf import CRF

    if len(corpus) < 2:
        raise InputError("one record is too few to learn from and to judge by; give --model or more records")
    assert corpus.labels is not None
    answers: list[list[str]] = [[]] * len(corpus)
    fold = np.arange(len(corpus)) % min(_FOLDS, len(corpus))
    for f in range(int(fold.max()) + 1):
        news(f"CRF {f + 1} of {int(fold.max()) + 1}")
        crf = CRF().fit(corpus[fold != f], labels=corpus.labels.names)
        for i, y in zip(np.flatnonzero(fold == f), crf.predict(corpus[fold == f]), strict=True):
            answers[i] = y
    return answers


def finding_table(found: Discovery) -> list[RenderableType]:
    """Lay out a discovery: a headline, then one line a rule."""
    head = Text(f"{counted(found.rules.K, 'rule')} ", "bold")
    of = f"of {counted(found.candidates, 'candidate')}, {found.important} important"
    head.append(f"{of}; {counted(found.sequences, 'record')}", "dim")
    table = _table("rule", "template", ">support", ">holds", ">gold", ">answers", ">importance", ">penalty", ">±")
    for row in found.rows:
        effect = "" if row.fixes is None or row.breaks is None else f"+{len(row.fixes)} -{len(row.breaks)}"
        table.add_row(
            Text(row.text),
            row.template,
            str(row.support),
            f"{100 * row.confidence:.1f}%",
            str(row.gold),
            str(row.predicted),
            "∞" if row.importance == math.inf else f"{row.importance:.2f}",
            "" if row.penalty is None else f"{row.penalty:.2f}",
            effect,
        )
    return [head, "", table]


def _table(*columns: str) -> Table:
    """Return a table without lines; `>` in front of a name moves its column to the right."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in columns:
        table.add_column(name.removeprefix(">"), justify="right" if name[0] == ">" else "left")
    return table

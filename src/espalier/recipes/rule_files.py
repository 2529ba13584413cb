"""Rules from files and tasks, every mistake with its line; and rules that are found in labelled records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.errors import Argument, Hint, InputError, RuleError
from espalier.rules.nodes import fields_of, known_fields
from espalier.rules.reader import Scope, logical_lines
from espalier.rules.ruleset import Rule, RuleSet
from espalier.rules.text import parse_rules
from espalier.tags import OUTSIDE

if TYPE_CHECKING:
    from espalier.corpus import Corpus, Labels
    from espalier.document import Document
    from espalier.learning.discovery_report import Discovery
    from espalier.recipes.plan import Recipe
    from espalier.tasks.task import Task

__all__ = [
    "FOLDS",
    "NO_RULES",
    "Checked",
    "check_rules",
    "find_rules",
    "gather_rules",
    "read_text",
    "task_of",
    "widened",
]

NO_RULES = "none"
"""The source of rules that leaves the task's out."""

FOLDS = 5
"""So many CRFs, each fitted to the other folds, label the records that rules are found in."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The rules of a text that can be read, the first and last line of each (from 1), and what is wrong with others."""

    rules: RuleSet
    lines: tuple[tuple[int, int], ...]
    mistakes: tuple[RuleError, ...]

    @property
    def fields(self) -> list[str]:
        """The fields that the rules name, and `O`: the labels of a file that comes without any."""
        return sorted(
            {name for rule in self.rules for fields in fields_of(rule.node) for name in fields.names} | {OUTSIDE}
        )


def check_rules(
    text: str, labels: Iterable[str] | None = None, *, directory: Path | None = None, most: int | None = None
) -> Checked:
    """Read every rule of a text by itself, so that one mistake does not hide the next.

    Parameters
    ----------
    text : rules, one on a line.
    labels : a rule that names a field of no label is a mistake; None knows no labels.
    directory : where word lists are read from; None reads none.
    most : how many rules a text may have, those that are wrong with the others; None for any number.

    Returns
    -------
    Checked
    """
    scope = Scope(None if labels is None else known_fields(labels), directory=directory)
    lines = text.removeprefix("\ufeff").split("\n")
    found: dict[str, tuple[Rule, tuple[int, int]]] = {}
    mistakes: list[RuleError] = []
    for numbers in logical_lines(lines):
        first, last, own = numbers[0], numbers[-1], set(numbers)
        if most is not None and len(found) + len(mistakes) >= most:
            mistakes.append(RuleError(f"more than {most} rules", line=first + 1, column=1, hint="leave some out"))
            break
        alone = "\n" + "\n".join(lines[t] if t in own else "" for t in range(first, last + 1))
        try:
            [rule] = (Rule(*parsed) for parsed in parse_rules(alone, scope))
            if rule.name in found:
                raise RuleError(f"a second rule named {rule.name!r}", line=2, column=1, hint="names must differ")
        except RuleError as error:
            place = {"line": first + error.line - 1, "column": error.column} if error.line else {}
            mistakes.append(RuleError(*error.args, **place, shown=error.shown, hint=error.ways))
            continue
        found[rule.name] = rule, (first + 1, last + 1)
    return Checked(
        RuleSet(rule for rule, _ in found.values()), tuple(place for _, place in found.values()), tuple(mistakes)
    )


def read_text(path: Path) -> str:
    """Return the text of a file of rules."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error}") from None


def task_of(source: str) -> Task | None:
    """Return the task that a source of rules names: a task file, or a task of the library; None for a file of rules."""
    from espalier.tasks.task import load_task, names

    path = Path(source)
    return load_task(source) if path.suffix == ".toml" or (source in names() and not path.exists()) else None


def gather_rules(task: Task | None, sources: Sequence[str]) -> RuleSet:
    """Return the task's rules and those of the sources; a later rule takes the place of one with the same name.

    Parameters
    ----------
    task : whose rules come first, unless a source is NO_RULES; its labels are those that rules may name.
    sources : files of rules, task files, or names of tasks.

    Returns
    -------
    RuleSet
    """
    found: dict[str, Rule] = {}
    if task is not None and NO_RULES not in sources:
        found |= {rule.name: rule for rule in task.rules}
    for source in sources:
        if source != NO_RULES:
            found |= {rule.name: rule for rule in _rules_of(source, task)}
    return RuleSet(found.values())


def _rules_of(source: str, task: Task | None) -> RuleSet:
    other = task_of(source)
    if other is not None:
        return other.rules
    path, labels = Path(source), None if task is None else task.labels
    try:
        return RuleSet.from_text(read_text(path), labels=labels, directory=path.parent)
    except RuleError as error:
        raise error.within(source) from None


def widened(recipe: Recipe, documents: Sequence[Document], sources: Sequence[str]) -> Labels | None:
    """Return the labels to train with: those of the task, else of the data and of the task files that rules are from.

    A small part of a data set may lack a field that rules name. Where the file of the rules lists it, it is no slip.
    """
    from espalier.corpus import Corpus, Labels
    from espalier.tags import is_tag

    tasks = [] if recipe.labels is not None else [task_of(source) for source in sources if source != NO_RULES]
    listed = {name for task in tasks if task is not None for name in task.labels.names}
    if not listed or all(map(is_tag, listed)) != recipe.marks:
        return recipe.labels
    found = Corpus.from_documents(documents, marks=recipe.marks).labels
    return Labels(sorted(listed | {*(() if found is None else found.names)}))


def find_rules(
    documents: Sequence[Document], model: Any = None, *, progress: Callable[[str], None], **options: Any
) -> Discovery:
    """Find rules that right labels keep and a model's answers break.

    Parameters
    ----------
    documents : some of them labelled.
    model : a fitted estimator that has not seen them; by default CRFs, each fitted to all folds but the one it labels.
    progress : hears in words how it goes.
    **options : of `espalier.discover`: templates, importance, max_rules, cover.

    Returns
    -------
    Discovery
    """
    from espalier.corpus import Corpus
    from espalier.learning.discovery import discover
    from espalier.tags import is_tag

    labelled = [document for document in documents if document.spans is not None]
    if not labelled:
        raise InputError("no record is labelled", hint="rules are found by comparing answers with labels")
    marks = model is None or all(is_tag(name) for name in model.labels_)
    corpus = Corpus.from_documents(labelled, marks=marks)
    answers = _crossed(corpus, progress) if model is None else model
    return discover(corpus, answers, progress=progress, **options)


def _crossed(corpus: Corpus, news: Callable[[str], None]) -> list[list[str]]:
    """Return the answers of CRFs, each fitted to all folds but the one that it labels."""
    from espalier.estimators.crf import CRF
    from espalier.estimators.held_out import fitted, folds_of

    if len(corpus) < 2:
        ways: list[Hint] = [("give ", Argument("discover", "model")), "more records"]
        raise InputError("one record is too few to learn from and to judge by", hint=ways)
    answers: list[list[str]] = [[]] * len(corpus)
    folds = min(FOLDS, len(corpus))
    for f, (rest, _, own) in enumerate(folds_of(corpus, None, folds)):
        news(f"CRF {f + 1} of {folds}")
        answers[f::folds] = fitted(CRF(), rest, None).predict(own)
    return answers

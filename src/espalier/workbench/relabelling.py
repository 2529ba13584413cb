"""Labels of a task are added, renamed, merged (renamed to one that is there), removed; what happens is shown first.

Confirmed fields follow. A removed label takes its fields along; where all text of a task is in fields, such records are
not confirmed any more. In the rules names are exchanged, and rules that cannot be read then become comments. Models
have learned the old labels, so none is in use afterwards: train a new one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from espalier.corpus import Labels
from espalier.errors import nearest
from espalier.server.failures import Failure
from espalier.server.rule_texts import check_text, pruned
from espalier.server.tasks import MOST_LABELS, ProjectTask, RuleState, own_labels
from espalier.workbench.bench import Bench
from espalier.workbench.shapes.requests import LabelsOrder
from espalier.workbench.shapes.rules import LabelsAnswer, RuleLine

__all__ = ["change_labels", "renamed_rules"]

_LEXEMES = re.compile(r'"(?:[^"\\]|\\.)*"|/(?:[^/\\\n]|\\.)*/|#[^\n]*|[^\W\d]\w*(?:-\w+)*\s*:(?!:)|[^\W\d]\w*(?:-\w+)*')
_MOST = 1000  # rules that become comments


def change_labels(bench: Bench, task: ProjectTask, asked: LabelsOrder, who: str) -> LabelsAnswer:
    """Return what a change of labels does, and do it if it is really wanted."""
    names = _names(task, asked)
    state, rules = _rules(task, asked, own_labels(names, task.outside))

    def fit(stored: str) -> str | None:
        return _new_fields(stored, asked, task.outside)

    fields = [(stored, fit(stored)) for stored in bench.records.confirmed(task.name)]
    if asked.really:
        with bench.database.write() as write:
            bench.tasks.set_labels(write, task, names, state, who, asked.version)
            bench.records.refit(write, task.name, fit, who)
    return LabelsAnswer(
        labels=names,
        records=sum(new != old for old, new in fields),
        reopened=sum(new is None for _, new in fields),
        rules=rules,
        model=task.active is not None,
        done=asked.really,
    )


def _names(task: ProjectTask, asked: LabelsOrder) -> list[str]:
    """Return the labels after a change, in order; what cannot be done is refused."""
    if task.builtin:
        what = f"the labels of {task.name} come with the library"
        raise Failure(409, what, "make a task of your own, and load the corrected records there")
    for label in (*asked.rename, *asked.remove):
        if label not in task.fields:
            hint = nearest(label, task.fields, f"labels: {', '.join(task.fields)}")
            raise Failure(400, f"the task {task.name} has no label {label!r}", hint)
    kept = [asked.rename.get(label, label) for label in task.fields if label not in asked.remove]
    names = list(dict.fromkeys(kept))
    twice = next((label for label in asked.add if label in names), None)
    if twice is not None:
        raise Failure(400, f"there is a label {twice!r} already", "to merge two labels, rename one to the other")
    if not names and not asked.add:
        raise Failure(400, "no label would be left", "keep one, or delete the task")
    names += dict.fromkeys(asked.add)
    if len(names) > max(MOST_LABELS, len(task.fields)):
        raise Failure(400, f"a task has at most {MOST_LABELS} labels", "remove or merge some")
    return names


def _new_fields(stored: str, asked: LabelsOrder, outside: bool) -> str | None:
    """Return the fields of a record after a change, None if they are no longer confirmed."""
    spans = json.loads(stored)
    kept = [[start, end, asked.rename.get(label, label)] for start, end, label in spans if label not in asked.remove]
    if len(kept) < len(spans) and not outside:
        return None
    return stored if kept == spans else json.dumps(kept)


def renamed_rules(text: str, rename: Mapping[str, str]) -> str:
    """Exchange names of labels in a text of rules; names of rules, strings, patterns and comments stay."""
    return _LEXEMES.sub(lambda found: rename.get(found.group(), found.group()), text)


def _rules(task: ProjectTask, asked: LabelsOrder, labels: Labels) -> tuple[RuleState, list[RuleLine]]:
    """Return the rules after a change, and each line that differs."""
    text = renamed_rules(task.rules.text, asked.rename)
    for _ in range(_MOST):
        mistakes = check_text(text, labels).mistakes
        if not mistakes:
            break
        lines = text.split("\n")
        lines[mistakes[0].line - 1] = f"# {lines[mistakes[0].line - 1]}"
        text = "\n".join(lines)
    pairs = zip(task.rules.text.split("\n"), text.split("\n"), strict=True)
    rows = [RuleLine(before=old, after=new) for old, new in pairs if old != new]
    state = RuleState(text, task.rules.penalties, task.rules.off)
    return pruned(state, check_text(text, labels).rules.names), rows

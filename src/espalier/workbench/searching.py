"""Finding records: by text, label, broken rule, confidence, person and state; and confirming many that are sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from espalier.extract.extraction import Extraction
from espalier.server.failures import Failure
from espalier.server.tasks import ProjectTask
from espalier.workbench.bench import Bench
from espalier.workbench.records import Stored
from espalier.workbench.shapes.records import SureAnswer
from espalier.workbench.shapes.requests import SureOrder

__all__ = ["RecordFilter", "confirm_sure", "matching"]


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """What records must have: all of it. rule : is broken; low, high : bounds of the confidence; who : corrected it."""

    text: str = ""
    label: str = ""
    rule: str = ""
    low: float = 0.0
    high: float = 1.0
    who: str = ""
    state: str = "any"

    @property
    def asks_model(self) -> bool:
        """Does it need answers of the model?"""
        return bool(self.label or self.rule or self.low > 0 or self.high < 1)

    def keeps(self, one: Stored) -> bool:
        """Does a record fit, as far as can be said without the model?"""
        states = {
            "open": not one.corrected and one.skipped is None,
            "corrected": one.corrected,
            "skipped": one.skipped is not None,
            "flagged": one.flag is not None,
            "commented": one.comments > 0,
        }
        wanted = self.text.casefold()
        found = not wanted or wanted in one.document.text.casefold()
        return states.get(self.state, True) and found and (not self.who or one.who == self.who)

    def keeps_answer(self, one: Stored, answer: Extraction) -> bool:
        """Does it fit by what the model says? What was confirmed has the last word about labels."""
        fields = answer.fields if one.document.spans is None else one.document.spans
        labelled = not self.label or any(field.label == self.label for field in fields)
        broken = not self.rule or any(violated[0] == self.rule for violated in answer.violations)
        return labelled and broken and self.low <= answer.confidence <= self.high


def matching(bench: Bench, task: ProjectTask, wanted: RecordFilter) -> list[Stored]:
    """Return the records of a task that fit, in the order they came."""
    found = [one for one in bench.records.all(task.name) if wanted.keeps(one)]
    if not wanted.asks_model or not found:
        return found
    answers = bench.said(task, found, task.active)
    return [one for one, answer in zip(found, answers, strict=True) if wanted.keeps_answer(one, answer)]


def confirm_sure(bench: Bench, task: ProjectTask, asked: SureOrder, who: str) -> SureAnswer:
    """Confirm what the model says about open records that it is sure of, or only show some of them.

    The sample has the least sure of them, which are most likely wrong, and some from all over.
    """
    if task.active is None:
        raise Failure(409, "the task has no model yet", "rules alone are never sure; train one first")
    stored = matching(bench, task, RecordFilter(low=asked.above, state="open"))
    if not asked.really:
        shown = bench.written(task, _sample(bench, task, stored, asked.sample), 1)
        return SureAnswer(matching=len(stored), confirmed=0, records=shown)
    for one, answer in zip(stored, bench.said(task, stored, task.active), strict=True):
        bench.records.correct(task, one.id, answer.spans, who, one.version, "confirmed with others")
    return SureAnswer(matching=len(stored), confirmed=len(stored), records=[])


def _sample(bench: Bench, task: ProjectTask, stored: Sequence[Stored], most: int) -> list[Stored]:
    sure = bench.confidences(task, stored) if stored else []
    ranked = [one for _, one in sorted(zip(sure, stored, strict=True), key=lambda pair: pair[0])]
    half = ranked[: (most + 1) // 2]
    rest = ranked[len(half) :]
    step = max(1, len(rest) // max(1, most - len(half)))
    return half + rest[::step][: most - len(half)]

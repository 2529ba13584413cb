"""Rules: read, check while they are written, store, find new ones, and see what others would change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from espalier.server.history import Stale
from espalier.server.rule_texts import applied, pruned
from espalier.server.tasks import ProjectTask, RuleState
from espalier.workbench.bench import Bench
from espalier.workbench.routes.shared import BenchOf, RedecoderOf, Routes, TaskOf, WhoOf
from espalier.workbench.rule_rows import described
from espalier.workbench.shapes.requests import RedecodeQuestion, RulesText, SuggestQuestion
from espalier.workbench.shapes.rules import Redecoded, Rules, Suggestions
from espalier.workbench.suggesting import suggest

__all__ = ["router"]

router = Routes(tags=["rules"])


def _prices(given: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: None if value == "hard" else float(value) for name, value in given.items()}


def _state(asked: RulesText) -> RuleState:
    return RuleState(asked.text, _prices(asked.penalties), tuple(asked.off))


def _described(bench: Bench, task: ProjectTask, state: RuleState) -> Rules:
    with bench.computing():
        return described(state, bench.labeller(task, task.active), task.rules_version)


@router.get("/tasks/{task}/rules")
def read_rules(task: TaskOf, bench: BenchOf) -> Rules:
    """Read the rules of a task."""
    return _described(bench, task, task.rules)


@router.post("/tasks/{task}/rules/check")
def check_rules(asked: RulesText, task: TaskOf, bench: BenchOf) -> Rules:
    """Check rules without storing them."""
    return _described(bench, task, _state(asked))


@router.put("/tasks/{task}/rules")
def save_rules(asked: RulesText, task: TaskOf, bench: BenchOf, who: WhoOf) -> Rules:
    """Store rules that have no mistake; where somebody was faster, show his."""
    with bench.computing():
        labeller = bench.labeller(task, task.active)
        state = pruned(_state(asked), applied(_state(asked), labeller).rules.names)
    try:
        bench.tasks.set_rules(task.name, state, who, asked.version)
    except Stale as stale:
        now = bench.tasks.get(task.name)
        stale.current = _described(bench, now, now.rules)
        raise
    return described(state, labeller, bench.tasks.get(task.name).rules_version)


@router.post("/tasks/{task}/rules/suggest")
def suggest_rules(asked: SuggestQuestion, task: TaskOf, bench: BenchOf) -> Suggestions:
    """Find rules that corrections keep and answers break."""
    return suggest(bench, task, asked.most)


@router.post("/tasks/{task}/redecode")
def redecode(asked: RedecodeQuestion, task: TaskOf, bench: BenchOf, redecoder: RedecoderOf) -> Redecoded:
    """Say what other rules would change."""
    stored = task.rules
    state = RuleState(
        stored.text if asked.text is None else asked.text,
        stored.penalties if asked.penalties is None else _prices(asked.penalties),
        stored.off if asked.off is None else tuple(asked.off),
    )
    return redecoder.redecode(task, asked.records, state, asked.model)

"""Rules: read, check while they are written, store, find new ones, and see what others would change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from espalier.workbench.bench import Bench
from espalier.workbench.history import Stale
from espalier.workbench.routes.shared import BenchOf, RedecoderOf, TaskOf, WhoOf
from espalier.workbench.rule_texts import applied, described, pruned
from espalier.workbench.shapes.requests import RedecodeQuestion, RulesText, SuggestQuestion
from espalier.workbench.shapes.rules import Redecoded, Rules, Suggestions
from espalier.workbench.suggesting import suggest
from espalier.workbench.tasks import ProjectTask, RuleState

__all__ = ["router"]

router = APIRouter(tags=["rules"])


def _prices(given: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: None if value == "hard" else float(value) for name, value in given.items()}


def _state(asked: RulesText) -> RuleState:
    return RuleState(asked.text, _prices(asked.penalties), tuple(asked.off))


def _described(bench: Bench, task: ProjectTask, state: RuleState) -> dict[str, Any]:
    with bench.computing():
        return {**described(state, bench.labeller(task, task.active)), "version": task.rules_version}


@router.get("/tasks/{task}/rules", response_model=Rules)
def read_rules(task: TaskOf, bench: BenchOf) -> JSONResponse:
    """Read the rules of a task."""
    return JSONResponse(_described(bench, task, task.rules))


@router.post("/tasks/{task}/rules/check", response_model=Rules)
def check_rules(asked: RulesText, task: TaskOf, bench: BenchOf) -> JSONResponse:
    """Check rules without storing them."""
    return JSONResponse(_described(bench, task, _state(asked)))


@router.put("/tasks/{task}/rules", response_model=Rules)
def save_rules(asked: RulesText, task: TaskOf, bench: BenchOf, who: WhoOf) -> JSONResponse:
    """Store rules that have no mistake; where somebody was faster, show his."""
    with bench.computing():
        labeller = bench.labeller(task, task.active)
        compiled = applied(_state(asked), labeller)
    state = pruned(_state(asked), compiled.rules.names)
    try:
        bench.tasks.set_rules(task.name, state, who, asked.version)
    except Stale as stale:
        now = bench.tasks.get(task.name)
        stale.current = _described(bench, now, now.rules)
        raise
    return JSONResponse({**described(state, labeller), "version": bench.tasks.get(task.name).rules_version})


@router.post("/tasks/{task}/rules/suggest", response_model=Suggestions)
def suggest_rules(asked: SuggestQuestion, task: TaskOf, bench: BenchOf) -> JSONResponse:
    """Find rules that corrections keep and answers break."""
    return JSONResponse(suggest(bench, task, asked.most))


@router.post("/tasks/{task}/redecode", response_model=Redecoded)
def redecode(asked: RedecodeQuestion, task: TaskOf, bench: BenchOf, redecoder: RedecoderOf) -> JSONResponse:
    """Say what other rules would change."""
    stored = task.rules
    state = RuleState(
        stored.text if asked.text is None else asked.text,
        stored.penalties if asked.penalties is None else _prices(asked.penalties),
        stored.off if asked.off is None else tuple(asked.off),
    )
    model = task.active if asked.model is None else bench.models.get(task.name, asked.model).id
    return JSONResponse(redecoder.redecode(task, asked.records, state, model))

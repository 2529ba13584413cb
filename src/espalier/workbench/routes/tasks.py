"""Tasks: list, make, read, forget; the server's state; texts to begin with."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from espalier.recipes import METHODS
from espalier.workbench.bench import Bench
from espalier.workbench.examples import examples
from espalier.workbench.exporting import formats
from espalier.workbench.relabelling import LabelChange, change_labels
from espalier.workbench.routes.shared import BenchOf, JobsOf, TaskOf, WhoOf
from espalier.workbench.rule_texts import check_text, sound
from espalier.workbench.shapes import people
from espalier.workbench.shapes.requests import NewTask
from espalier.workbench.shapes.server import StatusAnswer
from espalier.workbench.shapes.tasks import Examples, TaskAnswer, Tasks
from espalier.workbench.tasks import ProjectTask, own_labels

__all__ = ["router", "task_dict"]

router = APIRouter(tags=["tasks"])


def task_dict(bench: Bench, task: ProjectTask) -> dict[str, Any]:
    """Return a task as the API writes it."""
    records, corrected = bench.records.counts(task.name)
    return {
        "name": task.name,
        "version": task.version,
        "builtin": task.builtin,
        "labels": list(task.fields),
        "outside": task.outside,
        "features": list(task.templates),
        "model": task.active,
        "records": records,
        "corrected": corrected,
        "rules": check_text(task.rules.text, task.labels).rules.K,
        "examples": len(examples(task.name)),
        "methods": [{"name": name, "pool": way.pool, "summary": way.summary} for name, way in METHODS.items()],
        "formats": formats(task),
    }


@router.get("/status", response_model=StatusAnswer)
def status(request: Request, bench: BenchOf, jobs: JobsOf) -> JSONResponse:
    """Say that the server is there, and what it takes."""
    limits = {name: getattr(bench.limits, name) for name in ("body", "records", "length", "tokens", "seconds")}
    login = request.app.state.gate.token is not None
    about = {"version": request.app.version, "project": bench.directory.name, "login": login}
    return JSONResponse({**about, "limits": limits, "jobs": jobs.status()})


@router.get("/tasks", response_model=Tasks)
def list_tasks(bench: BenchOf) -> JSONResponse:
    """List the tasks."""
    return JSONResponse({"tasks": [task_dict(bench, task) for task in bench.tasks.all()]})


@router.post("/tasks", status_code=201, response_model=TaskAnswer)
def create_task(asked: NewTask, bench: BenchOf) -> JSONResponse:
    """Make a task."""
    sound(asked.rules, own_labels(asked.labels, asked.outside))
    task = bench.tasks.create(asked.name, asked.labels, asked.outside, asked.features, asked.rules)
    return JSONResponse(task_dict(bench, task), 201)


@router.get("/tasks/{task}", response_model=TaskAnswer)
def read_task(task: TaskOf, bench: BenchOf) -> JSONResponse:
    """Read a task."""
    return JSONResponse(task_dict(bench, task))


@router.put("/tasks/{task}/labels", response_model=people.LabelsAnswer)
def edit_labels(asked: people.LabelsOrder, task: TaskOf, bench: BenchOf, jobs: JobsOf, who: WhoOf) -> JSONResponse:
    """Change the labels of a task of your own, or only say what would happen."""
    if asked.really:
        jobs.cancel_all(task.name)
    change = LabelChange(asked.add, asked.rename, asked.remove)
    return JSONResponse(change_labels(bench, task, change, who, really=asked.really, version=asked.version))


@router.delete("/tasks/{task}", status_code=204, response_class=Response)
def delete_task(task: TaskOf, bench: BenchOf, jobs: JobsOf) -> Response:
    """Forget a task with its records and models; one of the library's begins anew."""
    jobs.cancel_all(task.name)
    bench.tasks.delete(task.name)
    return Response(status_code=204)


@router.get("/tasks/{task}/examples", response_model=Examples)
def read_examples(task: TaskOf) -> JSONResponse:
    """Return texts to begin with."""
    return JSONResponse({"texts": list(examples(task.name))})

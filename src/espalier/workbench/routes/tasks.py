"""Tasks: list, make, read, forget; the server's state; texts to begin with."""

from __future__ import annotations

from fastapi import Request, Response

from espalier.recipes import METHODS
from espalier.server.rule_texts import check_text, sound
from espalier.server.tasks import ProjectTask, own_labels
from espalier.workbench.bench import Bench
from espalier.workbench.examples import examples
from espalier.workbench.exporting import formats
from espalier.workbench.relabelling import change_labels
from espalier.workbench.routes.shared import BenchOf, JobsOf, Routes, TaskOf, WhoOf
from espalier.workbench.shapes.requests import LabelsOrder, NewTask
from espalier.workbench.shapes.rules import LabelsAnswer
from espalier.workbench.shapes.tasks import Examples, LimitsShape, MethodAnswer, StatusAnswer, TaskAnswer, Tasks

__all__ = ["router", "task_answer"]

router = Routes(tags=["tasks"])


def task_answer(bench: Bench, task: ProjectTask) -> TaskAnswer:
    """Return a task as the API writes it."""
    records, corrected = bench.records.counts(task.name)
    return TaskAnswer(
        name=task.name,
        version=task.version,
        builtin=task.builtin,
        labels=list(task.fields),
        outside=task.outside,
        features=list(task.templates),
        model=task.active,
        records=records,
        corrected=corrected,
        rules=check_text(task.rules.text, task.labels).rules.K,
        examples=len(examples(task.name)),
        methods=[MethodAnswer(name=name, pool=way.pool, summary=way.summary) for name, way in METHODS.items()],
        formats=formats(task),
    )


@router.get("/status")
def status(request: Request, bench: BenchOf, jobs: JobsOf) -> StatusAnswer:
    """Say that the server is there, and what it takes."""
    return StatusAnswer(
        version=request.app.version,
        project=bench.directory.name,
        login=request.app.state.gate.token is not None,
        limits=LimitsShape(**{name: getattr(bench.limits, name) for name in LimitsShape.model_fields}),
        jobs=jobs.status(),
    )


@router.get("/tasks")
def list_tasks(bench: BenchOf) -> Tasks:
    """List the tasks."""
    return Tasks(tasks=[task_answer(bench, task) for task in bench.tasks.all()])


@router.post("/tasks", status_code=201)
def create_task(asked: NewTask, bench: BenchOf) -> TaskAnswer:
    """Make a task."""
    sound(asked.rules, own_labels(asked.labels, asked.outside))
    task = bench.tasks.create(asked.name, asked.labels, asked.outside, asked.features, asked.rules)
    return task_answer(bench, task)


@router.get("/tasks/{task}")
def read_task(task: TaskOf, bench: BenchOf) -> TaskAnswer:
    """Read a task."""
    return task_answer(bench, task)


@router.put("/tasks/{task}/labels")
def edit_labels(asked: LabelsOrder, task: TaskOf, bench: BenchOf, jobs: JobsOf, who: WhoOf) -> LabelsAnswer:
    """Change the labels of a task of your own, or only say what would happen."""
    if asked.really:
        jobs.cancel_all(task.name)
    return change_labels(bench, task, asked, who)


@router.delete("/tasks/{task}", status_code=204, response_class=Response)
def delete_task(task: TaskOf, bench: BenchOf, jobs: JobsOf) -> Response:
    """Forget a task with its records and models; one of the library's begins anew."""
    jobs.cancel_all(task.name)
    bench.tasks.delete(task.name)
    return Response(status_code=204)


@router.get("/tasks/{task}/examples")
def read_examples(task: TaskOf) -> Examples:
    """Return texts to begin with."""
    return Examples(texts=list(examples(task.name)))

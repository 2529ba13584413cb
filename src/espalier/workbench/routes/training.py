"""Training jobs, and the versions of a model that come of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import Query, Response

from espalier.citations.parser import bundled_file
from espalier.server.database import now
from espalier.server.labellers import check_file
from espalier.server.models import Version
from espalier.server.tasks import NAME, ProjectTask
from espalier.workbench.routes.shared import (
    UPLOAD,
    BenchOf,
    Body,
    JobsOf,
    ModelNumber,
    Number,
    Routes,
    TaskOf,
    download,
)
from espalier.workbench.routes.tasks import task_answer
from espalier.workbench.shapes.requests import Chosen, JobOrder, NewName
from espalier.workbench.shapes.tasks import JobAnswer, JobsAnswer, Model, Models, TaskAnswer

__all__ = ["router"]

router = Routes(tags=["training"])


def _model(task: ProjectTask, version: Version) -> Model:
    about = asdict(version)
    del about["seen"]
    return Model(**about, active=version.id == task.active)


@router.post("/tasks/{task}/jobs", status_code=202)
def start_job(asked: JobOrder, task: TaskOf, jobs: JobsOf) -> JobAnswer:
    """Train a model, when the jobs before it are done."""
    return jobs.start(task, asked.method, asked.name.strip() or f"{asked.method}, {now()}", asked.activate)


@router.get("/jobs")
def list_jobs(
    jobs: JobsOf,
    task: Annotated[str | None, Query(pattern=f"^{NAME}$")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 20,
) -> JobsAnswer:
    """List jobs, the newest first."""
    return JobsAnswer(jobs=jobs.all(task, limit))


@router.get("/jobs/{job}")
def read_job(job: Number, jobs: JobsOf) -> JobAnswer:
    """Read a job with its latest news."""
    return jobs.get(job)


@router.post("/jobs/{job}/cancel")
def cancel_job(job: Number, jobs: JobsOf) -> JobAnswer:
    """End a job at once."""
    return jobs.cancel(job)


@router.get("/tasks/{task}/models")
def list_models(task: TaskOf, bench: BenchOf) -> Models:
    """List the versions of a task's model, the newest first."""
    return Models(active=task.active, models=[_model(task, version) for version in bench.models.all(task.name)])


@router.put("/tasks/{task}/model")
def activate_model(asked: Chosen, task: TaskOf, bench: BenchOf) -> TaskAnswer:
    """Make a version the active one."""
    if asked.id is not None:
        bench.models.check_labels(task, bench.models.get(task.name, asked.id).id)
    bench.tasks.set_active(task.name, asked.id, asked.version)
    return task_answer(bench, bench.tasks.get(task.name))


@router.post("/tasks/{task}/models", status_code=201, openapi_extra=UPLOAD)
def upload_model(
    body: Body,
    task: TaskOf,
    bench: BenchOf,
    name: Annotated[str, Query(max_length=80)] = "",
    activate: bool = True,
) -> Model:
    """Add a model file of your own."""
    file = body.take()
    with bench.computing():
        kind = check_file(task, file).kind
    version = bench.models.add(
        task.name, file, name=name.strip() or f"uploaded, {now()}", kind=kind, source="uploaded", parent=None,
        activate=activate,
    )  # fmt: skip
    return _model(bench.tasks.get(task.name), version)


@router.patch("/tasks/{task}/models/{model}")
def rename_model(asked: NewName, task: TaskOf, model: ModelNumber, bench: BenchOf) -> Model:
    """Give a version another name."""
    return _model(task, bench.models.rename(task.name, model, asked.name))


@router.delete("/tasks/{task}/models/{model}", status_code=204, response_class=Response)
def delete_model(task: TaskOf, model: ModelNumber, bench: BenchOf) -> Response:
    """Forget a version that is not in use."""
    bench.models.delete(task.name, model)
    return Response(status_code=204)


@router.get("/tasks/{task}/models/{model}/file", response_class=Response)
def read_model(task: TaskOf, model: ModelNumber, bench: BenchOf) -> Response:
    """Download a model file."""
    version = bench.models.get(task.name, model)
    data = bundled_file().read_bytes() if version.source == "bundled" else bench.models.file(task.name, model)
    return download(f"{task.name}-{model}.espalier", "application/octet-stream", data)

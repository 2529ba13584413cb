"""Training jobs, and the versions of a model that come of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from espalier.citations.parser import bundled_file
from espalier.workbench.database import now
from espalier.workbench.labellers import check_file
from espalier.workbench.models import Version
from espalier.workbench.routes.shared import UPLOAD, BenchOf, Body, JobsOf, ModelNumber, Number, TaskOf, download
from espalier.workbench.routes.tasks import task_dict
from espalier.workbench.shapes.requests import Chosen, JobOrder, NewName
from espalier.workbench.shapes.tasks import JobAnswer, JobsAnswer, Model, Models, TaskAnswer
from espalier.workbench.tasks import NAME, ProjectTask

__all__ = ["router"]

router = APIRouter(tags=["training"])


def _model_dict(task: ProjectTask, version: Version) -> dict[str, Any]:
    found = asdict(version)
    del found["seen"]
    return found | {"active": version.id == task.active}


@router.post("/tasks/{task}/jobs", status_code=202, response_model=JobAnswer)
def start_job(asked: JobOrder, task: TaskOf, jobs: JobsOf) -> JSONResponse:
    """Train a model, when the jobs before it are done."""
    name = asked.name.strip() or f"{asked.method}, {now()}"
    return JSONResponse(jobs.start(task, asked.method, name, asked.activate), 202)


@router.get("/jobs", response_model=JobsAnswer)
def list_jobs(
    jobs: JobsOf,
    task: Annotated[str | None, Query(pattern=f"^{NAME}$")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 20,
) -> JSONResponse:
    """List jobs, the newest first."""
    return JSONResponse({"jobs": jobs.all(task, limit)})


@router.get("/jobs/{job}", response_model=JobAnswer)
def read_job(job: Number, jobs: JobsOf) -> JSONResponse:
    """Read a job with its latest news."""
    return JSONResponse(jobs.get(job))


@router.post("/jobs/{job}/cancel", response_model=JobAnswer)
def cancel_job(job: Number, jobs: JobsOf) -> JSONResponse:
    """End a job at once."""
    return JSONResponse(jobs.cancel(job))


@router.get("/tasks/{task}/models", response_model=Models)
def list_models(task: TaskOf, bench: BenchOf) -> JSONResponse:
    """List the versions of a task's model, the newest first."""
    found = [_model_dict(task, version) for version in bench.models.all(task.name)]
    return JSONResponse({"active": task.active, "models": found})


@router.put("/tasks/{task}/model", response_model=TaskAnswer)
def activate_model(asked: Chosen, task: TaskOf, bench: BenchOf) -> JSONResponse:
    """Make a version the active one."""
    chosen = None if asked.id is None else bench.models.get(task.name, asked.id).id
    if chosen is not None:
        bench.models.check_labels(task, chosen)
    bench.tasks.set_active(task.name, chosen, asked.version)
    return JSONResponse(task_dict(bench, bench.tasks.get(task.name)))


@router.post("/tasks/{task}/models", status_code=201, response_model=Model, openapi_extra=UPLOAD)
def upload_model(
    body: Body,
    task: TaskOf,
    bench: BenchOf,
    name: Annotated[str, Query(max_length=80)] = "",
    activate: bool = True,
) -> JSONResponse:
    """Add a model file of your own."""
    file = body.take()
    with bench.computing():
        kind = check_file(task, file).kind
    version = bench.models.add(
        task.name, file, name=name.strip() or f"uploaded, {now()}", kind=kind, source="uploaded", parent=None,
        activate=activate,
    )  # fmt: skip
    return JSONResponse(_model_dict(bench.tasks.get(task.name), version), 201)


@router.patch("/tasks/{task}/models/{model}", response_model=Model)
def rename_model(asked: NewName, task: TaskOf, model: ModelNumber, bench: BenchOf) -> JSONResponse:
    """Give a version another name."""
    return JSONResponse(_model_dict(task, bench.models.rename(task.name, model, asked.name)))


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

"""Measuring: a model on corrected records or on a labelled file, and two models side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from espalier.workbench.measuring import compare, corrected, labelled, measure
from espalier.workbench.routes.shared import UPLOAD, BenchOf, TaskOf, Uploaded
from espalier.workbench.shapes.requests import LARGEST, ComparisonQuestion, EvaluationQuestion
from espalier.workbench.shapes.tasks import Comparison, ReportAnswer

__all__ = ["router"]

router = APIRouter(tags=["measuring"])

Chosen = Annotated[int, Query(ge=0, le=LARGEST)]


@router.post("/tasks/{task}/evaluate", response_model=ReportAnswer)
def evaluate(asked: EvaluationQuestion, task: TaskOf, bench: BenchOf) -> JSONResponse:
    """Measure a model on the corrected records."""
    model = task.active if asked.model is None else bench.models.get(task.name, asked.model).id
    return JSONResponse(measure(bench, task, corrected(bench, task), model, asked.errors))


@router.post("/tasks/{task}/evaluate/upload", response_model=ReportAnswer, openapi_extra=UPLOAD)
def evaluate_upload(
    read: Uploaded,
    task: TaskOf,
    bench: BenchOf,
    model: Chosen | None = None,
    errors: Annotated[int, Query(ge=0, le=1000)] = 50,
) -> JSONResponse:
    """Measure a model on a labelled file."""
    chosen = task.active if model is None else bench.models.get(task.name, model).id
    return JSONResponse(measure(bench, task, labelled(bench, task, read.documents), chosen, errors))


@router.post("/tasks/{task}/compare", response_model=Comparison)
def compare_models(asked: ComparisonQuestion, task: TaskOf, bench: BenchOf) -> JSONResponse:
    """Compare two models on the corrected records."""
    a, b = (bench.models.get(task.name, model).id for model in (asked.a, asked.b))
    return JSONResponse(compare(bench, task, corrected(bench, task), a, b))


@router.post("/tasks/{task}/compare/upload", response_model=Comparison, openapi_extra=UPLOAD)
def compare_upload(read: Uploaded, task: TaskOf, bench: BenchOf, a: Chosen, b: Chosen) -> JSONResponse:
    """Compare two models on a labelled file."""
    first, second = (bench.models.get(task.name, model).id for model in (a, b))
    return JSONResponse(compare(bench, task, labelled(bench, task, read.documents), first, second))

"""Measuring: a model on corrected records or on a labelled file, and two models side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from espalier.server.shapes import LARGEST
from espalier.workbench.measuring import compare, corrected, labelled, measure
from espalier.workbench.routes.shared import UPLOAD, BenchOf, Routes, TaskOf, Uploaded
from espalier.workbench.shapes.requests import ComparisonQuestion, EvaluationQuestion
from espalier.workbench.shapes.tasks import Comparison, ReportAnswer

__all__ = ["router"]

router = Routes(tags=["measuring"])

Chosen = Annotated[int, Query(ge=0, le=LARGEST)]


@router.post("/tasks/{task}/evaluate")
def evaluate(asked: EvaluationQuestion, task: TaskOf, bench: BenchOf) -> ReportAnswer:
    """Measure a model on the corrected records."""
    return measure(bench, task, bench.models.chosen(task, asked.model), corrected(bench, task), asked.errors)


@router.post("/tasks/{task}/evaluate/upload", openapi_extra=UPLOAD)
def evaluate_upload(
    read: Uploaded,
    task: TaskOf,
    bench: BenchOf,
    model: Chosen | None = None,
    errors: Annotated[int, Query(ge=0, le=1000)] = 50,
) -> ReportAnswer:
    """Measure a model on a labelled file."""
    return measure(bench, task, bench.models.chosen(task, model), labelled(bench, task, read.documents), errors)


@router.post("/tasks/{task}/compare")
def compare_models(asked: ComparisonQuestion, task: TaskOf, bench: BenchOf) -> Comparison:
    """Compare two models on the corrected records."""
    a, b = (bench.models.get(task.name, model).id for model in (asked.a, asked.b))
    return compare(bench, task, a, b, corrected(bench, task))


@router.post("/tasks/{task}/compare/upload", openapi_extra=UPLOAD)
def compare_upload(read: Uploaded, task: TaskOf, bench: BenchOf, a: Chosen, b: Chosen) -> Comparison:
    """Compare two models on a labelled file."""
    first, second = (bench.models.get(task.name, model).id for model in (a, b))
    return compare(bench, task, first, second, labelled(bench, task, read.documents))

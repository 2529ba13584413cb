"""Texts and documents of any task are parsed, and nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from espalier.document import Document
from espalier.extract.extraction import Extraction
from espalier.workbench.answers import text_dict
from espalier.workbench.bench import Bench
from espalier.workbench.gathering import is_small
from espalier.workbench.reading import read_upload
from espalier.workbench.routes.shared import UPLOAD, BenchOf, Body, TaskName, TaskOf
from espalier.workbench.shapes.records import Parsed, ParsedFile
from espalier.workbench.shapes.requests import ParseQuestion
from espalier.workbench.tasks import ProjectTask

__all__ = ["router"]

router = APIRouter(tags=["records"])


@router.post("/tasks/{task}/parse", response_model=Parsed)
async def parse(asked: ParseQuestion, task: TaskName, request: Request) -> JSONResponse:
    """Parse texts without keeping them."""
    state = request.app.state  # this route is asked most, and every dependency would cost it
    if is_small(asked.texts, asked.k):
        found: JSONResponse = await state.gatherer.parsed(task, asked.model, asked.texts, _answered)
        return found
    return await run_in_threadpool(_parsed, state.bench, task, asked)


def _parsed(bench: Bench, task: str, asked: ParseQuestion) -> JSONResponse:
    chosen = bench.tasks.get(task)
    model = chosen.active if asked.model is None else bench.models.get(task, asked.model).id
    return _written(model, bench.parse(chosen, asked.texts, asked.k, model))


def _answered(
    _: ProjectTask, model: int | None, documents: Sequence[Document], found: Sequence[Extraction]
) -> JSONResponse:
    return _written(model, [text_dict(*pair) for pair in zip(documents, found, strict=True)])


def _written(model: int | None, records: list[dict[str, Any]]) -> JSONResponse:
    return JSONResponse({"model": model, "records": records})


@router.post("/tasks/{task}/parse/upload", response_model=ParsedFile, openapi_extra=UPLOAD)
def parse_file(
    body: Body,
    task: TaskOf,
    bench: BenchOf,
    name: Annotated[str, Query(max_length=200)] = "",
    k: Annotated[int, Query(ge=1, le=20)] = 1,
) -> JSONResponse:
    """Find and parse the references of a document without keeping them: PDF, DOCX, HTML, LaTeX or text."""
    read = read_upload(bench, task, body.take(), name, None, "utf-8")
    problems = [{"where": where, "what": what} for where, what in read.problems]
    texts = [document.text for document in read.documents]
    records = bench.parse(task, texts, k, task.active)
    placed = [{**record, "source": source} for record, source in zip(records, read.sources, strict=True)]
    return JSONResponse({"model": task.active, "records": placed, "problems": problems})

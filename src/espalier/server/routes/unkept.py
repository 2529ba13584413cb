"""Texts and documents of any task are parsed, and nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query, Request
from fastapi.concurrency import run_in_threadpool

from espalier.document import Document
from espalier.extract.extraction import Extraction
from espalier.server.answers import parsed_text
from espalier.server.core import Core
from espalier.server.gathering import is_small
from espalier.server.reading import read_upload
from espalier.server.routes.shared import UPLOAD, Body, CoreOf, Routes, TaskName, TaskOf
from espalier.server.shapes import FoundText, Parsed, ParsedFile, ParsedText, ParseQuestion
from espalier.server.tasks import ProjectTask

__all__ = ["router"]

router = Routes(tags=["records"])


@router.post("/tasks/{task}/parse")
async def parse(asked: ParseQuestion, task: TaskName, request: Request) -> Parsed:
    """Parse texts without keeping them."""
    state = request.app.state  # this route is asked most, and every dependency would cost it
    if is_small(asked.texts, asked.k):
        found: Parsed = await state.gatherer.parsed(task, asked.model, asked.texts, _answered)
        return found
    return await run_in_threadpool(_parsed, state.core, task, asked)


def _parsed(core: Core, task: str, asked: ParseQuestion) -> Parsed:
    chosen = core.tasks.get(task)
    model = core.models.chosen(chosen, asked.model)
    return Parsed(model=model, records=core.parse(chosen, asked.texts, asked.k, model))


def _answered(_: ProjectTask, model: int | None, documents: Sequence[Document], found: Sequence[Extraction]) -> Parsed:
    records = [parsed_text(one, answer, ParsedText) for one, answer in zip(documents, found, strict=True)]
    return Parsed(model=model, records=records)


@router.post("/tasks/{task}/parse/upload", openapi_extra=UPLOAD)
def parse_file(
    body: Body,
    task: TaskOf,
    core: CoreOf,
    name: Annotated[str, Query(max_length=200)] = "",
    k: Annotated[int, Query(ge=1, le=20)] = 1,
) -> ParsedFile:
    """Find and parse the references of a document without keeping them: PDF, DOCX, HTML, LaTeX or text."""
    read = read_upload(core, task, body.take(), name, None, "utf-8")
    core.check_texts([document.text for document in read.documents])
    answers = core.of_documents(task, read.documents, task.active, k)
    records = [
        parsed_text(document, answer, FoundText, source=source)
        for document, answer, source in zip(read.documents, answers, read.sources, strict=True)
    ]
    return ParsedFile(model=task.active, records=records, problems=read.problems)

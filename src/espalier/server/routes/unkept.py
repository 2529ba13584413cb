"""Texts and documents of any task are parsed, and nothing is kept."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from espalier.server.answers import parsed_text
from espalier.server.core import Answered
from espalier.server.reading import read_upload
from espalier.server.routes.shared import UPLOAD, Body, CoreOf, Routes, TaskName, TaskOf
from espalier.server.shapes import FoundText, Parsed, ParsedFile, ParsedText, ParseQuestion

__all__ = ["router"]

router = Routes(tags=["records"])


@router.post("/tasks/{task}/parse")
async def parse(asked: ParseQuestion, task: TaskName, request: Request) -> Parsed:
    """Parse texts without keeping them."""
    gatherer = request.app.state.gatherer  # this route is asked most, and every dependency would cost it
    found: Parsed = await gatherer.parsed(task, asked.model, asked.texts, asked.k, _parsed)
    return found


def _parsed(said: Answered) -> Parsed:
    _, model, documents, answers = said
    records = [parsed_text(one, answer, ParsedText) for one, answer in zip(documents, answers, strict=True)]
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
    read = read_upload(core, task, body.take(), name, None, "utf-8", core.limits.records)
    answers = core.of_documents(task, read.documents, task.active, k)
    records = [
        parsed_text(document, answer, FoundText, source=source)
        for document, answer, source in zip(read.documents, answers, read.sources, strict=True)
    ]
    return ParsedFile(model=task.active, records=records, problems=read.problems)

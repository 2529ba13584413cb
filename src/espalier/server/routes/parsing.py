"""References for other programs: JSON, plain text or a document in; JSON or any format of references out."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

from fastapi import Header, Query, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import ValidationError

from espalier.citations.formats import FORMATS
from espalier.server.core import Answered
from espalier.server.failures import Failure, misshapen
from espalier.server.forms import media_type, read_form
from espalier.server.gathering import SHORT
from espalier.server.reading import decoded
from espalier.server.references import (
    MEDIA_TYPES,
    ParsedReferences,
    chosen_format,
    parse_documents,
    references_of,
    written,
)
from espalier.server.routes.shared import Body, CoreOf, GathererOf, Routes, Sent
from espalier.server.shapes import ErrorAnswer, ParsedReferencesAnswer, ReferencesQuestion
from espalier.server.tasks import REFERENCES

__all__ = ["router"]

router = Routes(tags=["references"])

ReferenceFormat = Enum("ReferenceFormat", {name: name for name in ("json", *FORMATS)}, type=str)  # type: ignore[misc]

_DOCUMENTS = (
    "application/pdf", "application/octet-stream", "text/html", "application/xhtml+xml", "application/x-latex",
    "text/x-tex", "application/x-tex", "application/gzip",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
)  # fmt: skip
_HOW = (
    "say what it is: curl -H 'Content-Type: text/plain' --data-binary @references.txt, or application/pdf for a PDF, "
    'or application/json for {"texts": ["..."]}'
)
_CHARSETS = ("utf-8", "cp1252", "utf-16")  # as web pages do, latin-1 is taken for its superset
_SHAPE = 'send {"texts": ["one reference", "..."]}, or {"text": "a list of them"}'
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_QUESTION: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/ReferencesQuestion"}},
            "text/plain": {"schema": {"type": "string"}},
            "application/pdf": _BINARY,
            "application/octet-stream": _BINARY,
        },
    }
}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind: {"schema": {"type": "string"}} for kind in MEDIA_TYPES if kind != "application/json"}},
    406: {"model": ErrorAnswer, "description": "references cannot be written so"},
    415: {"model": ErrorAnswer, "description": "bodies of this type are not read"},
}


@router.post(
    "/parse", response_model=ParsedReferencesAnswer, openapi_extra=_QUESTION, responses=_ANSWERS,
)  # fmt: skip
async def parse_references(
    body: Body,
    core: CoreOf,
    gatherer: GathererOf,
    content_type: Annotated[str, Header(include_in_schema=False)] = "",
    accept: Annotated[str, Header(include_in_schema=False)] = "*/*",
    format: ReferenceFormat | None = None,
    name: Annotated[str, Query(max_length=200)] = "",
    k: Annotated[int, Query(ge=1, le=20)] = 1,
) -> Response:
    """Parse references; nothing is kept."""
    chosen = chosen_format(accept, format and format.value)
    if len(body) <= SHORT and _is_json(media_type(content_type)[0]):
        data = body.take()
        asked = _question(data)
        if asked.texts is not None:

            def finish(said: Answered) -> Response:
                return _written(references_of(said), chosen)

            answer: Response = await gatherer.parsed(REFERENCES, None, asked.texts, asked.k or k, finish)
            return answer
        body = Sent(data)
    return await run_in_threadpool(lambda: _written(_parsed(core, body, content_type, name, k), chosen))


def _written(parsed: ParsedReferences, format: str) -> Response:
    text, type = written(parsed, format)
    kind = f"{type}; charset=utf-8" if type != "application/json" else type
    # Most formats have no place for what was wrong, so that all say how often something was.
    headers = {"X-Espalier-Problems": str(len(parsed.problems))} if parsed.problems else {}
    return Response(text.encode("utf-8", "replace"), media_type=kind, headers=headers)


def _parsed(core: CoreOf, body: Sent, content_type: str, name: str, k: int) -> ParsedReferences:
    """Read a request by its type."""
    kind, about = media_type(content_type)
    if _is_json(kind):
        asked = _question(body.take())
        if asked.texts is not None:
            return references_of(core.answered(REFERENCES, None, asked.texts, asked.k or k))
        return parse_documents(core, asked.text or "", k=asked.k or k)
    if kind == "text/plain":
        return parse_documents(core, _decoded(body.take(), about.get("charset", "utf-8")), k=k)
    if kind in _DOCUMENTS:
        return parse_documents(core, body.take(), name, k)
    if kind == "multipart/form-data":
        file = next((part for part in read_form(content_type, body.take()) if part.filename), None)
        if file is None:
            raise Failure(400, "no part of the form is a file", "send one: curl -F file=@paper.pdf")
        return parse_documents(core, file.value, name or file.filename, k)
    if kind == "application/x-www-form-urlencoded":
        raise Failure(415, "the body has the type of a web form, which curl sends if nobody says otherwise", _HOW)
    raise Failure(415, f"bodies of the type {kind!r} are not read" if kind else "the body has no type", _HOW)


def _is_json(kind: str) -> bool:
    return kind == "application/json" or kind.endswith("+json")


def _question(body: bytes) -> ReferencesQuestion:
    """Read a request in JSON."""
    try:
        asked = ReferencesQuestion.model_validate_json(body.removeprefix(b"\xef\xbb\xbf"))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, ("body", *first["loc"])))
        raise Failure(
            422, misshapen(first), 'send {"texts": ["one reference", "..."]}, or {"text": "a list"}', where
        ) from None
    if (asked.texts is None) == (asked.text is None):
        raise Failure(422, "either texts or text is needed", _SHAPE, "body")
    return asked


def _decoded(body: bytes, charset: str) -> str:
    """Return a body as text, in the encoding that its type names."""
    name = {"ascii": "utf-8", "us-ascii": "utf-8", "iso-8859-1": "cp1252", "latin-1": "cp1252"}.get(charset.lower())
    wanted = (name or charset).lower()
    if wanted not in _CHARSETS:
        raise Failure(415, f"texts in {charset[:40]!r} are not read", f"convert it to one of {', '.join(_CHARSETS)}")
    return decoded(
        body, wanted.upper(), "convert it, as with iconv -t utf-8, or name its encoding: text/plain; charset=iso-8859-1"
    )

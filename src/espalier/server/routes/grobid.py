"""GROBID's routes for citations, with its parameters and answers, so that a pipeline changes one address.

    POST /api/processCitation        citations=...             a biblStruct, or BibTeX
    POST /api/processCitationList    citations=... (several)   a TEI document with a listBibl, or BibTeX
    POST /api/processReferences      input=the file            the same, for the references of a document
    GET  /api/isalive, /api/version

`includeRawCitations` puts the reference into the answer. `consolidateCitations` is accepted and does nothing: this
server asks no other one. `Accept: application/x-bibtex` asks for BibTeX. Where nothing is found, the status is 204.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse

from espalier.citations.formats import write
from espalier.citations.formats.tei import NAMESPACE, entry
from espalier.citations.record import Record
from espalier.server.core import Answered
from espalier.server.failures import Failure
from espalier.server.forms import FormPart, read_form
from espalier.server.gathering import SHORT
from espalier.server.reading import NothingFound
from espalier.server.references import parse_documents, references_of
from espalier.server.routes.shared import Body, CoreOf, GathererOf, Routes
from espalier.server.security import ABSENT
from espalier.server.shapes import ErrorAnswer
from espalier.server.tasks import REFERENCES

__all__ = ["router"]

router = Routes(tags=["as GROBID does"])

_HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<TEI xml:space="preserve" xmlns="{NAMESPACE}">\n\t<teiHeader/>\n'
_OPEN = "\t<text>\n\t\t<front/>\n\t\t<body/>\n\t\t<back>\n\t\t\t<div>\n\t\t\t\t<listBibl>\n"
_CLOSE = "\t\t\t\t</listBibl>\n\t\t\t</div>\n\t\t</back>\n\t</text>\n</TEI>\n"
_SWITCH = {"type": "string", "enum": ["0", "1", "2"]}
_SWITCHES = {"consolidateCitations": _SWITCH, "includeRawCitations": _SWITCH}

ContentType = Annotated[str, Header(include_in_schema=False)]
Accept = Annotated[str, Header(include_in_schema=False)]


def _described(kind: str, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a form with one value that is needed, and two switches."""
    form = {"type": "object", "required": [name], "properties": {name: schema, **_SWITCHES}}
    return {"requestBody": {"required": True, "content": {kind: {"schema": form}}}}


_URLENCODED = "application/x-www-form-urlencoded"
_FORM_OF_ONE = _described(_URLENCODED, "citations", {"type": "string"})
_SEVERAL = _described(_URLENCODED, "citations", {"type": "array", "items": {"type": "string"}})
_FILE = _described("multipart/form-data", "input", {"type": "string", "format": "binary"})
_STRING = {"schema": {"type": "string"}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/xml": _STRING, "application/x-bibtex": _STRING}},
    204: {"description": "nothing was found"},
    415: {"model": ErrorAnswer, "description": "the body is no form"},
}


@router.head("/isalive", include_in_schema=False)
@router.get("/isalive", response_class=PlainTextResponse)
async def is_alive() -> PlainTextResponse:
    """Say that the server is there."""
    return PlainTextResponse("true")


@router.get("/version")
async def version(request: Request) -> dict[str, str]:
    """Say which version this is; it is Espalier's, not GROBID's."""
    return {"version": request.app.version, "software": "espalier"}


@router.put("/processCitation", include_in_schema=False)
@router.post("/processCitation", response_class=Response, responses=_ANSWERS, openapi_extra=_FORM_OF_ONE)
async def process_citation(
    body: Body, gatherer: GathererOf, content_type: ContentType = "", accept: Accept = ""
) -> Response:
    """Parse one reference."""
    if len(body) > SHORT:
        form = await run_in_threadpool(lambda: read_form(content_type, body.take()))
    else:
        form = read_form(content_type, body.take())
    text = " ".join(_citations(form)).strip()
    if not text:
        return Response(status_code=204)

    def finish(said: Answered) -> Response:
        return _one(references_of(said).records, form, accept)

    answer: Response = await gatherer.parsed(REFERENCES, None, [text], 1, finish)
    return answer


def _one(records: Sequence[Record], form: Sequence[FormPart], accept: str) -> Response:
    if _wants_bibtex(accept):
        return _bibtex(records)
    xml = entry(records[0].work, "b0", records[0].text if _on(form, "includeRawCitations") else "", NAMESPACE)
    return Response(xml, media_type="application/xml")


@router.put("/processCitationList", include_in_schema=False)
@router.post("/processCitationList", response_class=Response, responses=_ANSWERS, openapi_extra=_SEVERAL)
def process_citation_list(body: Body, core: CoreOf, content_type: ContentType = "", accept: Accept = "") -> Response:
    """Parse several references, each a value of `citations`; an empty one keeps its place."""
    form = read_form(content_type, body.take())
    texts = _citations(form)
    given = [text for text in texts if text]
    records = iter(references_of(core.answered(REFERENCES, None, given, 1)).records if given else [])
    return _answer([next(records) if text else None for text in texts], form, accept)


@router.put("/processReferences", include_in_schema=False)
@router.post("/processReferences", response_class=Response, responses=_ANSWERS, openapi_extra=_FILE)
def process_references(body: Body, core: CoreOf, content_type: ContentType = "", accept: Accept = "") -> Response:
    """Find and parse the references of a document: the part `input`."""
    form = read_form(content_type, body.take())
    file = next((part for part in form if part.name == "input"), None)
    if file is None:
        raise Failure(400, "the form has no part 'input'", "send the file so: curl -F input=@paper.pdf")
    try:
        return _answer(parse_documents(core, file.value, file.filename).records, form, accept)
    except NothingFound:
        return Response(status_code=204)


async def not_here(request: Request) -> Response:
    """Say that this server has no such route of GROBID's."""
    what = f"{request.url.path.rpartition('/')[2]} is not here: whole articles are not parsed; references are"
    raise Failure(501, what, "send the file to /api/processReferences, or references to /api/processCitation")


for path in ABSENT:
    methods = ["GET", "POST", "PUT"]
    router.add_api_route(path.removeprefix("/api"), not_here, methods=methods, include_in_schema=False)


def _citations(form: Sequence[FormPart]) -> list[str]:
    """Return the references of a form."""
    given = [part.text for part in form if part.name == "citations"]
    if not given:
        raise Failure(400, "the form has no value 'citations'", "send it so: curl --data-urlencode 'citations=...'")
    return [" ".join(text.split()) for text in given]


def _on(form: Sequence[FormPart], name: str) -> bool:
    return any(part.name == name and part.value.strip() not in (b"", b"0", b"false") for part in form)


def _wants_bibtex(accept: str) -> bool:
    return "bibtex" in accept.lower()


def _bibtex(records: Sequence[Record]) -> Response:
    return Response("".join(write(records, "bibtex")), media_type="application/x-bibtex")


def _answer(places: Sequence[Record | None], form: Sequence[FormPart], accept: str) -> Response:
    """Return references in their places; one that was empty is so in TEI, and is not in BibTeX."""
    records = [record for record in places if record is not None]
    if not records:
        return Response(status_code=204)
    if _wants_bibtex(accept):
        return _bibtex(records)
    raw = _on(form, "includeRawCitations")
    entries = [
        f'<biblStruct xml:id="b{i}"/>\n' if record is None else entry(record.work, f"b{i}", record.text if raw else "")
        for i, record in enumerate(places)
    ]
    return Response("".join([_HEAD, _OPEN, *entries, _CLOSE]), media_type="application/xml")

"""What routes share: the workbench behind the application, the task in the path, numbers, and the body of an upload."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, Header, Path, Query, Request
from fastapi.responses import Response

from espalier.io import FORMATS
from espalier.workbench.bench import Bench
from espalier.workbench.exporting import ALL_FORMATS
from espalier.workbench.failures import Failure
from espalier.workbench.gathering import Gatherer
from espalier.workbench.jobs import Jobs
from espalier.workbench.reading import UploadReading, read_upload
from espalier.workbench.redecoding import Redecoder
from espalier.workbench.shapes.people import ConflictAnswer
from espalier.workbench.shapes.requests import LARGEST
from espalier.workbench.shapes.server import ErrorAnswer
from espalier.workbench.tasks import NAME, ProjectTask

__all__ = [
    "ERRORS",
    "UPLOAD",
    "BenchOf",
    "Body",
    "ExportFormat",
    "GathererOf",
    "JobsOf",
    "ModelNumber",
    "Number",
    "RedecoderOf",
    "Sent",
    "TaskName",
    "TaskOf",
    "Uploaded",
    "WhoOf",
    "download",
    "numbers",
]

ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorAnswer, "description": "the content is wrong"},
    401: {"model": ErrorAnswer, "description": "the token is missing or wrong"},
    403: {"model": ErrorAnswer, "description": "the header X-Espalier, the host or the origin is wrong"},
    404: {"model": ErrorAnswer, "description": "there is no such thing"},
    408: {"model": ErrorAnswer, "description": "the body came too slowly"},
    409: {"model": ConflictAnswer, "description": "it cannot be done now"},
    413: {"model": ErrorAnswer, "description": "it is too large"},
    414: {"model": ErrorAnswer, "description": "the address is too long"},
    422: {"model": ErrorAnswer, "description": "the request has another shape"},
    429: {"model": ErrorAnswer, "description": "too many wrong tokens came from this address"},
    431: {"model": ErrorAnswer, "description": "the head of the request is too long"},
    503: {"model": ErrorAnswer, "description": "too many requests wait"},
    504: {"model": ErrorAnswer, "description": "it took too long"},
    507: {"model": ErrorAnswer, "description": "the disk is full, cannot be written, or the project is damaged"},
}
"""What any route may answer."""

UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""The description of a body that is a file."""


def _state(name: str) -> Callable[[Request], Awaitable[Any]]:
    """Return a dependency that gives a part of the application's state."""

    async def found(request: Request) -> Any:
        return getattr(request.app.state, name)

    return found


class Sent:
    """The body of a request that is a file: `take` hands it over, so that it is not held twice."""

    def __init__(self, data: bytes) -> None:
        """Hold it."""
        self._data = data

    def __len__(self) -> int:
        """Return its bytes."""
        return len(self._data)

    def take(self) -> bytes:
        """Return it, once."""
        data, self._data = self._data, b""
        return data


async def _body(request: Request) -> Sent:
    file = io.BytesIO()  # whose value is no copy
    async for piece in request.stream():
        file.write(piece)
    return Sent(file.getvalue())


_NAME_LENGTH = 60


async def _who(name: Annotated[str, Header(alias="X-Espalier-Name", max_length=400)] = "") -> str:
    """Return who sends a request, as the page says it: percent-encoded UTF-8, because a header is ASCII."""
    plain = "".join(sign for sign in unquote(name, errors="replace") if sign.isprintable())
    return " ".join(plain.split())[:_NAME_LENGTH]


WhoOf = Annotated[str, Depends(_who)]
"""The name of the person who sends a request; empty if nobody said one."""

BenchOf = Annotated[Bench, Depends(_state("bench"))]
JobsOf = Annotated[Jobs, Depends(_state("jobs"))]
GathererOf = Annotated[Gatherer, Depends(_state("gatherer"))]
RedecoderOf = Annotated[Redecoder, Depends(_state("redecoder"))]
Body = Annotated[Sent, Depends(_body)]


TaskName = Annotated[str, Path(pattern=f"^{NAME}$")]
"""The task of a route that reads it itself, which saves a change of threads."""


def _task(task: TaskName, bench: BenchOf) -> ProjectTask:
    return bench.tasks.get(task)


TaskOf = Annotated[ProjectTask, Depends(_task)]
Number = Annotated[int, Path(ge=1, le=LARGEST)]
ModelNumber = Annotated[int, Path(ge=0, le=LARGEST)]


class Encoding(str, Enum):
    """The encodings that a file may have."""

    utf_8 = "utf-8"
    latin_1 = "latin-1"
    cp1252 = "cp1252"
    utf_16 = "utf-16"


FileFormat = Enum("FileFormat", {name: name for name in FORMATS}, type=str)  # type: ignore[misc]
ExportFormat = Enum("ExportFormat", {name: name for name in ALL_FORMATS}, type=str)  # type: ignore[misc]


def _uploaded(
    body: Body,
    task: TaskOf,
    bench: BenchOf,
    name: Annotated[str, Query(max_length=200)] = "",
    format: FileFormat | None = None,
    encoding: Encoding = Encoding.utf_8,
) -> UploadReading:
    return read_upload(bench, task, body.take(), name, None if format is None else format.value, encoding.value)


Uploaded = Annotated[UploadReading, Depends(_uploaded)]
"""What is in the file that a request sends."""


def numbers(given: str | None) -> list[int] | None:
    """Read numbers with commas between them; None stays None."""
    if given is None:
        return None
    parts = [part.strip() for part in given.split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() and len(part) <= 15 for part in parts):
        raise Failure(400, f"{given[:40]!r} is not a list of numbers", "write numbers with commas, as in 17,18")
    return [int(part) for part in parts]


def download(name: str, type: str, data: bytes) -> Response:
    """Return a file to be saved, not shown."""
    return Response(data, media_type=type, headers={"content-disposition": f'attachment; filename="{name}"'})

"""What the routes of the page share: its parts of the application, who asks, numbers, and what an upload holds."""

from __future__ import annotations

from enum import Enum
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Header, Path, Query
from fastapi.responses import Response

from espalier.io import FORMATS
from espalier.server.failures import Failure
from espalier.server.reading import UploadReading, read_upload
from espalier.server.routes.shared import UPLOAD, Body, Routes, TaskOf, part
from espalier.server.shapes import LARGEST
from espalier.workbench.bench import Bench
from espalier.workbench.exporting import ALL_FORMATS
from espalier.workbench.jobs import Jobs
from espalier.workbench.redecoding import Redecoder

__all__ = [
    "UPLOAD", "BenchOf", "Body", "ExportFormat", "JobsOf", "ModelNumber", "Number", "RedecoderOf", "Routes", "TaskOf",
    "Uploaded", "WhoOf", "download", "numbers",
]  # fmt: skip

_NAME_LENGTH = 60


async def _who(name: Annotated[str, Header(alias="X-Espalier-Name", max_length=400)] = "") -> str:
    """Return who sends a request, as the page says it: percent-encoded UTF-8, because a header is ASCII."""
    plain = "".join(sign for sign in unquote(name, errors="replace") if sign.isprintable())
    return " ".join(plain.split())[:_NAME_LENGTH]


WhoOf = Annotated[str, Depends(_who)]
"""The name of the person who sends a request; empty if nobody said one."""

BenchOf = Annotated[Bench, Depends(part("core"))]
JobsOf = Annotated[Jobs, Depends(part("jobs"))]
RedecoderOf = Annotated[Redecoder, Depends(part("redecoder"))]
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

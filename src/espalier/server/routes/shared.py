"""What routes share: the parts of the application, the task in the path, and the body of an upload."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request

from espalier.server.core import Core
from espalier.server.gathering import Gatherer
from espalier.server.shapes import ConflictAnswer, ErrorAnswer
from espalier.server.tasks import NAME, ProjectTask

__all__ = ["ERRORS", "UPLOAD", "Body", "CoreOf", "GathererOf", "Routes", "Sent", "TaskName", "TaskOf", "part"]

_ERRORS = {
    400: "the content is wrong",
    401: "the token is missing or wrong",
    403: "the header X-Espalier, the host or the origin is wrong",
    404: "there is no such thing",
    408: "the body came too slowly",
    409: "it cannot be done now",
    413: "it is too large",
    414: "the address is too long",
    422: "the request has another shape",
    429: "too many wrong tokens came from this address",
    431: "the head of the request is too long",
    503: "too many requests wait",
    504: "it took too long",
    507: "the disk is full, cannot be written, or the project is damaged",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ConflictAnswer if status == 409 else ErrorAnswer, "description": why}
    for status, why in _ERRORS.items()
}
"""What any route may answer."""

UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""The description of a body that is a file."""


class Routes(APIRouter):
    """Routes whose answers are the shapes that they return; what nobody has said about an answer is left out of it."""

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Add a route."""
        super().add_api_route(path, endpoint, **{**options, "response_model_exclude_unset": True})


def part(name: str) -> Callable[[Request], Awaitable[Any]]:
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


CoreOf = Annotated[Core, Depends(part("core"))]
GathererOf = Annotated[Gatherer, Depends(part("gatherer"))]
Body = Annotated[Sent, Depends(_body)]

TaskName = Annotated[str, Path(pattern=f"^{NAME}$")]
"""The task of a route that reads it itself, which saves a change of threads."""


def _task(task: TaskName, core: CoreOf) -> ProjectTask:
    return core.tasks.get(task)


TaskOf = Annotated[ProjectTask, Depends(_task)]

"""What those ask who run the server: is it there, can it answer, what has it done?"""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

from espalier.server.failures import Failure
from espalier.server.metrics import MEDIA_TYPE, ServerMetrics
from espalier.server.routes.shared import CoreOf, GathererOf, Routes
from espalier.server.shapes import ServiceState

__all__ = ["router"]

router = Routes(tags=["service"])


@router.head("/health", include_in_schema=False)
@router.get("/health")
async def health(request: Request) -> ServiceState:
    """Say that the server is there; needs no token."""
    return ServiceState(status="ok", version=request.app.version)


@router.head("/ready", include_in_schema=False)
@router.get("/ready")
def ready(request: Request, core: CoreOf, response: Response) -> ServiceState:
    """Say whether the server can answer at once: its model is in memory, its project can be read; needs no token."""
    core.tasks.all()
    state = core.start.state
    if state != "ok":
        response.status_code = 503
        response.headers.update(Failure(503, "not ready").headers)
    trouble = {"what": core.start.trouble} if core.start.trouble else {}
    return ServiceState(status=state, version=request.app.version, **trouble)


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request, core: CoreOf, gatherer: GathererOf) -> PlainTextResponse:
    """Say what this worker has done, as Prometheus reads it."""
    found: ServerMetrics = request.app.state.metrics
    return PlainTextResponse(found.text(core.turns.waiting + gatherer.waiting), media_type=MEDIA_TYPE)

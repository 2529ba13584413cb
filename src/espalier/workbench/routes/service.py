"""What those ask who run the server: is it there, can it answer, what has it done?"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from espalier.workbench.failures import Failure
from espalier.workbench.metrics import MEDIA_TYPE, ServerMetrics
from espalier.workbench.routes.shared import BenchOf, GathererOf
from espalier.workbench.shapes.records import ServiceState

__all__ = ["router"]

router = APIRouter(tags=["service"])


@router.head("/health", include_in_schema=False)
@router.get("/health", response_model=ServiceState)
async def health(request: Request) -> JSONResponse:
    """Say that the server is there; needs no token."""
    return JSONResponse({"status": "ok", "version": request.app.version})


@router.head("/ready", include_in_schema=False)
@router.get("/ready", response_model=ServiceState)
def ready(request: Request, bench: BenchOf) -> JSONResponse:
    """Say whether the server can answer at once: its model is in memory, its project can be read; needs no token."""
    bench.tasks.all()
    state = {"status": bench.start.state, "version": request.app.version}
    if bench.start.state == "ok":
        return JSONResponse(state)
    trouble = {"what": bench.start.trouble} if bench.start.trouble else {}
    return JSONResponse({**state, **trouble}, 503, Failure(503, "not ready").headers)


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request, bench: BenchOf, gatherer: GathererOf) -> PlainTextResponse:
    """Say what this worker has done, as Prometheus reads it."""
    found: ServerMetrics = request.app.state.metrics
    return PlainTextResponse(found.text(bench.turns.waiting + gatherer.waiting), media_type=MEDIA_TYPE)

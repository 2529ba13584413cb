"""The application: routes, errors, the page, and the guard before all of it.

    app = create_app(Path("my-project"))

Routes are plain functions, which the framework runs in threads: what computes does not hold up the others. The page is
the files of `static/`; nothing is loaded from elsewhere, the description of the API (`/api`) included.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from espalier.errors import EspalierError
from espalier.workbench import login
from espalier.workbench.bench import Bench, Limits
from espalier.workbench.callers import CallerWatch
from espalier.workbench.description import api_page, completed
from espalier.workbench.failures import Failure, explained, misshapen
from espalier.workbench.gathering import Gatherer
from espalier.workbench.jobs import Jobs
from espalier.workbench.metrics import MetricsWatch, ServerMetrics
from espalier.workbench.redecoding import Redecoder
from espalier.workbench.routes import (
    grobid,
    history,
    marks,
    measuring,
    parsing,
    records,
    rules,
    service,
    tasks,
    training,
    unkept,
)
from espalier.workbench.routes.shared import ERRORS
from espalier.workbench.security import Gate, RequestGuard
from espalier.workbench.sessions import Door

__all__ = ["PREFIX", "create_app"]

PREFIX = "/api/v1"
THREADS = 128  # more than may wait for their turn to compute, so that some are left for what computes nothing
STATIC = Path(__file__).parent / "static"
_HINTS = {
    400: "send JSON in UTF-8; /api describes the requests",
    404: "the API is under /api/v1; /api describes it",
    408: "send it in smaller parts",
    413: "send it in parts",
}
_JSON = "send Content-Type: application/json, and an object as /api describes it"
TRAINER = (sys.executable, "-m", "espalier.workbench.teaching")


def create_app(
    project: Path,
    *,
    trainer: Sequence[str] = TRAINER,
    gate: Gate | None = None,
    limits: Limits | None = None,
    worker: int = 0,
    shared: bool = False,
) -> FastAPI:
    """Open a project and return the application that serves it; it is closed when the application shuts down.

    trainer : the command of a training process (`workbench.jobs`); gate : whom to let in, by default this machine.
    worker : its number among the processes of a server (`workbench.workers`); shared : there are others.
    """
    gate = Gate() if gate is None else gate
    bench = Bench(project, limits, member=worker > 0)
    app = FastAPI(
        title="Espalier workbench", version=import_module("espalier").__version__, docs_url=None, redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json", lifespan=_lifespan,
        generate_unique_id_function=lambda route: route.name,  # what a generated client calls its functions
    )  # fmt: skip
    app.state.bench, app.state.jobs, app.state.redecoder = (
        bench,
        Jobs(bench, trainer, leads=worker == 0, shared=shared),
        Redecoder(bench),
    )
    app.state.gate, app.state.door = gate, Door(gate.token, bench.database)
    app.state.metrics, app.state.gatherer = ServerMetrics(worker), Gatherer(bench)
    for part in (unkept, parsing):  # first what is asked for most: the framework looks at one route after the other
        app.include_router(part.router, prefix=PREFIX, responses=ERRORS)
    app.include_router(grobid.router, prefix="/api", responses=ERRORS)
    for part in (tasks, records, marks, history, rules, training, measuring, login):
        app.include_router(part.router, prefix=PREFIX, responses=ERRORS)
    app.include_router(service.router, responses=ERRORS)
    _add_errors(app)
    _add_pages(app)
    app.add_middleware(CallerWatch)
    app.add_middleware(RequestGuard, gate=gate, door=app.state.door, limits=bench.limits)
    app.add_middleware(MetricsWatch, metrics=app.state.metrics)
    plain = app.openapi
    app.openapi = lambda: app.openapi_schema or completed(plain())  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    current_default_thread_limiter().total_tokens = THREADS
    yield
    app.state.gatherer.close()
    app.state.jobs.close()
    app.state.bench.close()


def _answer(failure: Failure) -> JSONResponse:
    return JSONResponse(failure.body(), failure.status, failure.headers)


def _add_errors(app: FastAPI) -> None:
    """Answer every error in one form."""

    @app.exception_handler(EspalierError)
    async def on_purpose(_: Request, error: EspalierError) -> Response:
        return _answer(explained(error))

    @app.exception_handler(RequestValidationError)
    async def wrong_shape(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] == "json_invalid":
            return _answer(Failure(422, f"the body is no JSON: {first['ctx']['error']}", _JSON, where))
        if where == "body" and first["type"] == "model_attributes_type":
            return _answer(Failure(422, "the body is no JSON object, or its type does not say so", _JSON, where))
        return _answer(Failure(422, misshapen(first), "docs/server-api.md and /api describe the requests", where))

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        return _answer(Failure(error.status_code, str(error.detail), _HINTS.get(error.status_code, "")))


def _add_pages(app: FastAPI) -> None:
    """Serve the page, the description of the API, and the login form."""
    app.include_router(login.pages)

    @app.get("/api", include_in_schema=False)
    async def description() -> Response:
        # The only page with a style of its own inside.
        policy = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
        described: dict[str, Any] = app.openapi()
        return HTMLResponse(api_page(described), headers=policy)

    app.mount("/", StaticFiles(directory=STATIC, html=True, check_dir=False))

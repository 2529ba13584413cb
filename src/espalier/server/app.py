"""The application: routes, errors, and the guard before all of it.

    app = create_api(Path("my-project"))          the public API alone
    app = assembled(core, ...)                    the same with routes of others (`workbench.app`)

Routes are plain functions, which the framework runs in threads: what computes does not hold up the others. Nothing is
loaded from elsewhere, the description of the API (`/api`) included.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from espalier.errors import EspalierError
from espalier.server import login
from espalier.server.callers import CallerWatch
from espalier.server.core import Core, Limits
from espalier.server.description import api_page, completed
from espalier.server.failures import Failure, explained, misshapen
from espalier.server.gathering import Gatherer
from espalier.server.metrics import MetricsWatch, ServerMetrics
from espalier.server.routes import grobid, parsing, service, unkept
from espalier.server.routes.shared import ERRORS
from espalier.server.security import Gate, RequestGuard
from espalier.server.sessions import Door
from espalier.server.workers import work

__all__ = ["PREFIX", "assembled", "create_api"]

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


def create_api(
    project: Path,
    *,
    gate: Gate | None = None,
    limits: Limits | None = None,
    worker: int = 0,
    shared: bool = False,
) -> FastAPI:
    """Open a project and return the application that serves what it can parse; no page, and nothing is kept.

    gate : whom to let in, by default this machine. worker : its number among the processes of a server (`workers`);
    shared : there are others, which are no concern here.
    """
    core = Core(project, limits, member=worker > 0)
    app = assembled(core, "Espalier server", (), gate=gate, worker=worker, close=core.close)

    @app.get("/", include_in_schema=False)
    async def begin() -> Response:
        return RedirectResponse("/api", 303)

    app.mount("/", StaticFiles(directory=STATIC, check_dir=False))
    return app


def assembled(
    core: Core,
    title: str,
    more: Sequence[APIRouter],
    *,
    gate: Gate | None,
    worker: int,
    close: Callable[[], None],
) -> FastAPI:
    """Return the application of an open project. more : other routes; close : is called at its end."""
    app = FastAPI(
        title=title, version=import_module("espalier").__version__, docs_url=None, redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json", lifespan=_lifespan,
        generate_unique_id_function=lambda route: route.name,  # what a generated client calls its functions
    )  # fmt: skip
    gate = Gate() if gate is None else gate
    app.state.core, app.state.close, app.state.gate = core, close, gate
    app.state.door = Door(gate.token, core.database)
    app.state.metrics, app.state.gatherer = ServerMetrics(worker), Gatherer(core)
    for part in (unkept, parsing):  # what is asked for most: routes are looked at one after the other
        app.include_router(part.router, prefix=PREFIX, responses=ERRORS)
    app.include_router(grobid.router, prefix="/api", responses=ERRORS)
    for router in (*more, login.router):
        app.include_router(router, prefix=PREFIX, responses=ERRORS)
    app.include_router(service.router, responses=ERRORS)
    app.include_router(login.pages)
    _add_errors(app)
    _add_description(app)
    app.add_middleware(CallerWatch)
    app.add_middleware(RequestGuard, gate=gate, door=app.state.door, limits=core.limits)
    app.add_middleware(MetricsWatch, metrics=app.state.metrics)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    current_default_thread_limiter().total_tokens = THREADS
    yield
    app.state.gatherer.close()
    app.state.close()


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


def _add_description(app: FastAPI) -> None:
    """Describe the API, for machines and for people."""
    plain = app.openapi
    app.openapi = lambda: app.openapi_schema or completed(plain())  # type: ignore[method-assign]

    @app.get("/api", include_in_schema=False)
    async def description() -> Response:
        # The only page with a style of its own inside.
        policy = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
        described: dict[str, Any] = app.openapi()
        return HTMLResponse(api_page(described), headers=policy)


if __name__ == "__main__":
    work(create_api)

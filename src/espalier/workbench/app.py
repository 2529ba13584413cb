"""The application: routes, errors, the page, and the guard before all of it.

    app = create_app(Path("my-project"))

Routes are plain functions, which the framework runs in threads: what computes does not hold up the others. The page is
the files of `static/`; nothing is loaded from elsewhere, the description of the API (`/api`) included.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
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
from espalier.pages.page import page, paragraph, section, table
from espalier.workbench import login
from espalier.workbench.bench import Bench, Limits
from espalier.workbench.callers import CallerWatch
from espalier.workbench.failures import Failure, explained
from espalier.workbench.jobs import Jobs
from espalier.workbench.redecoding import Redecoder
from espalier.workbench.routes import history, measuring, records, rules, tasks, training
from espalier.workbench.routes.shared import ERRORS
from espalier.workbench.security import Gate, RequestGuard
from espalier.workbench.sessions import Door

__all__ = ["PREFIX", "api_page", "create_app"]

PREFIX = "/api/v1"
THREADS = 128  # more than may wait for their turn to compute, so that some are left for what computes nothing
STATIC = Path(__file__).parent / "static"
_HINTS = {
    404: "the API is under /api/v1; /api describes it",
    408: "send it in smaller parts",
    413: "send it in parts",
}
TRAINER = (sys.executable, "-m", "espalier.workbench.teaching")


def create_app(
    project: Path,
    *,
    trainer: Sequence[str] = TRAINER,
    gate: Gate | None = None,
    limits: Limits | None = None,
) -> FastAPI:
    """Open a project and return the application that serves it; it is closed when the application shuts down.

    trainer : the command of a training process (`workbench.jobs`); gate : whom to let in, by default this machine.
    """
    gate = Gate() if gate is None else gate
    bench = Bench(project, limits)
    app = FastAPI(
        title="Espalier workbench", version=import_module("espalier").__version__, docs_url=None, redoc_url=None,
        openapi_url=f"{PREFIX}/openapi.json", lifespan=_lifespan,
    )  # fmt: skip
    app.state.bench, app.state.jobs, app.state.redecoder = bench, Jobs(bench, trainer), Redecoder(bench)
    app.state.gate, app.state.door = gate, Door(gate.token, bench.database)
    for part in (tasks, records, history, rules, training, measuring, login):
        app.include_router(part.router, prefix=PREFIX, responses=ERRORS)
    _add_errors(app)
    _add_pages(app)
    app.add_middleware(CallerWatch)
    most = {"most": bench.limits.body, "most_of_file": bench.limits.file}
    app.add_middleware(RequestGuard, gate=gate, door=app.state.door, **most)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    current_default_thread_limiter().total_tokens = THREADS
    yield
    app.state.jobs.close()
    app.state.bench.close()


def _answer(failure: Failure) -> JSONResponse:
    return JSONResponse(failure.body(), failure.status)


def _add_errors(app: FastAPI) -> None:
    """Answer every error in one form."""

    @app.exception_handler(EspalierError)
    async def on_purpose(_: Request, error: EspalierError) -> Response:
        return _answer(explained(error))

    @app.exception_handler(RequestValidationError)
    async def misshapen(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return _answer(Failure(422, str(first["msg"]), "docs/server-api.md and /api describe the requests", where))

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


def api_page(description: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI description."""
    body = [paragraph("The same for machines: /api/v1/openapi.json. With examples: docs/server-api.md.")]
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            body.append(section(f"{method.upper()} {path}", _route(route), route.get("description", "")))
    shapes = description.get("components", {}).get("schemas", {})
    body += [section(name, [_properties(shape)], shape.get("description", "")) for name, shape in shapes.items()]
    return page("The workbench's API", body)


def _route(route: Mapping[str, Any]) -> list[str]:
    rows = [
        [p["name"], p["in"], _type(p["schema"]), "yes" if p.get("required") else "", _usual(p["schema"])]
        for p in route.get("parameters", ())
    ]
    parts = [table(["parameter", "in", "type", "required", "default"], rows)] if rows else []
    for kind, content in route.get("requestBody", {}).get("content", {}).items():
        parts.append(paragraph(f"Body: {_type(content['schema'])} ({kind})"))
    for status, answer in route["responses"].items():
        shapes = [_type(content.get("schema", {})) for content in answer.get("content", {}).values()]
        if status < "4":
            parts.append(paragraph(f"Answer {status}: {', '.join(shapes) or 'nothing'}"))
    return parts


def _properties(shape: Mapping[str, Any]) -> str:
    needed = shape.get("required", ())
    rows = [
        [name, _type(about), "yes" if name in needed else "", _usual(about)]
        for name, about in shape.get("properties", {}).items()
    ]
    return table(["name", "type", "required", "default"], rows)


def _usual(schema: Mapping[str, Any]) -> str:
    return str(schema["default"]) if "default" in schema else ""


def _type(schema: Mapping[str, Any]) -> str:
    """Return a type in words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(_type(part) for part in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return ", ".join(map(repr, schema.get("enum", [schema.get("const")])))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object":
        return f"table of {_type(schema.get('additionalProperties') or {})}"
    return str(schema.get("type", "anything"))

"""The application of a team: the page, its routes, and those of the public server beside them.

    app = create_app(Path("my-project"))

The page is the files of `static/`, and those that the login form needs, too, of `server/static/`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from espalier.server.app import PREFIX, assembled
from espalier.server.core import Limits
from espalier.server.security import Gate
from espalier.server.workers import work
from espalier.workbench.bench import Bench
from espalier.workbench.jobs import Jobs
from espalier.workbench.redecoding import Redecoder
from espalier.workbench.routes import history, marks, measuring, records, rules, tasks, training

__all__ = ["PREFIX", "create_app"]

STATIC = Path(__file__).parent / "static"
TRAINER = (sys.executable, "-m", "espalier.workbench.teaching")
_ROUTES = tuple(part.router for part in (tasks, records, marks, history, rules, training, measuring))


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
    worker : its number among the processes of a server (`server.workers`); shared : there are others.
    """
    bench = Bench(project, limits, member=worker > 0)
    jobs = Jobs(bench, trainer, leads=worker == 0, shared=shared)

    def close() -> None:
        jobs.close()
        bench.close()

    app = assembled(bench, "Espalier workbench", _ROUTES, gate=gate, worker=worker, close=close)
    app.state.jobs, app.state.redecoder = jobs, Redecoder(bench)
    app.mount("/", StaticFiles(directory=STATIC, packages=[("espalier.server", "static")], html=True, check_dir=False))
    return app


if __name__ == "__main__":
    work(create_app)

"""`espalier api`: the server without the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from espalier.cli.serve import AllowHost, Host, Port, Project, Proxy, Token, Workers, listen_and_serve

__all__ = ["api"]


def api(
    project: Project = Path("espalier-project"),
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token: Token = None,
    allow_host: AllowHost = None,
    proxy: Proxy = None,
    workers: Workers = 1,
) -> None:
    """Parse references for other programs, over HTTP: the server of `serve` without its page.

    It answers with the model and the rules of the project; a new project
    has those of the library. Nothing that is sent is kept. The address is
    printed at the start, and /api there describes the requests.

    Examples:
        espalier api
        espalier api --host 0.0.0.0 --workers 4
    """

    def create(**options: Any) -> Any:
        from espalier.server.app import create_api  # which takes a second or two

        return create_api(project, **options)

    listen_and_serve(create, "espalier.server.app", host, port, token, allow_host, proxy, workers)

"""`espalier serve`, and what `espalier api` shares with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import gethostname, socket
from typing import Annotated, Any

import typer

from espalier.cli.console import complain, note
from espalier.errors import InputError, MissingExtraError

__all__ = ["AllowHost", "Host", "Port", "Project", "Proxy", "Token", "Workers", "listen_and_serve", "serve"]

Project = Annotated[
    Path, typer.Option("--project", "-p", metavar="DIR", help="Where records, corrections and models are kept.")
]
Host = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on; others than your own need a token.")
]
Port = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 takes a free one.")]
Token = Annotated[
    str | None,
    typer.Option("--token", metavar="TEXT", envvar="ESPALIER_TOKEN", help="The token to ask for, else a new one."),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="A further name that this machine is called by."),
]
Proxy = Annotated[
    list[str] | None,
    typer.Option("--proxy", metavar="ADDRESS", help="A proxy, or a network of them, that says for whom it asks."),
]
Workers = Annotated[int, typer.Option("--workers", metavar="N", min=1, max=64, help="Processes that answer requests.")]


def serve(
    project: Project = Path("espalier-project"),
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token: Token = None,
    allow_host: AllowHost = None,
    proxy: Proxy = None,
    workers: Workers = 1,
    backup: Annotated[
        Path | None,
        typer.Option("--backup", metavar="FILE", help="Copy the project to a file, and end; a server may be at work."),
    ] = None,
    restore: Annotated[
        Path | None,
        typer.Option("--restore", metavar="FILE", help="Put such a copy in place of the project, and end."),
    ] = None,
) -> None:
    """Open the workbench: see fields and what rules do, correct, teach, measure, in a browser.

    Everything is kept in one file of the project directory, and what was
    confirmed outlives any crash. The address is printed at the start.
    Addresses that others can reach ask for a token, which is printed, too.

    Examples:
        espalier serve
        espalier serve --project team --host 0.0.0.0 --port 8080
    """
    _check_extra()
    if backup is not None or restore is not None:
        _copy(project, backup, restore)
        return

    def create(**options: Any) -> Any:
        from espalier.workbench.app import create_app  # which takes a second or two

        return create_app(project, **options)

    listen_and_serve(create, "espalier.workbench.app", host, port, token, allow_host, proxy, workers)


def listen_and_serve(
    create: Callable[..., Any],
    module: str,
    host: str,
    port: int,
    token: str | None,
    allow_host: list[str] | None,
    proxy: list[str] | None,
    workers: int,
) -> None:
    """Serve until interrupted what `create` makes; module : does the same in further processes."""
    _check_extra()
    from espalier.server.security import Gate, is_local

    if token is None and not is_local(host):
        import secrets

        token = secrets.token_urlsafe(24)
    if token is not None and len(token) < 12:
        raise InputError("--token: a token has at least 12 characters", hint="leave it out to get a good one")
    gate = Gate.of(host, token, allow_host or (), proxy or ())
    with _listening(host, port, workers) as listener:
        _run(create(gate=gate, shared=workers > 1), module, listener, token, workers)


def _copy(project: Path, backup: Path | None, source: Path | None) -> None:
    """Write a copy of a project, or put one in its place."""
    from espalier.server.backup import back_up, restore

    if backup is not None and source is not None:
        raise InputError("--backup and --restore were both given", hint="do one after the other")
    if backup is not None:
        typer.echo(f"{project} is copied to {back_up(project, backup)}")
    elif source is not None:
        aside = restore(project, source)
        typer.echo(f"{source} is in place of {project}" + ("" if aside is None else f"; what was there is in {aside}"))


def _check_extra() -> None:
    for package in ("fastapi", "uvicorn"):
        try:
            __import__(package)
        except ImportError:
            raise MissingExtraError(
                f"serve needs the package {package!r}", hint="run: pip install 'espalier-nlp[serve]'"
            ) from None


@contextmanager
def _listening(host: str, port: int, workers: int) -> Iterator[socket]:
    """Give a socket that listens: who comes before the server is up waits in line."""
    from espalier.server.transport import can_share, listening

    if workers > 1 and not can_share():
        raise InputError("--workers: this system has no way to share an address", hint="leave it out")
    try:
        listener = listening(host, port)
        if workers > 1:  # a first look made sure that nobody else is there
            address = listener.getsockname()
            listener.close()
            listener = listening(host, address[1], shared=True)
    except OSError as error:
        hint = "choose another --port or --host"
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror}", hint=hint) from None
    with listener:
        yield listener


def _run(app: Any, module: str, listener: socket, token: str | None, workers: int) -> None:
    """Say where the server is, and serve until interrupted."""
    from espalier.server.workers import Crew, serve_app

    address = _address(listener)
    sys.stdout.write(f"{address}login?token={token}\n" if token else f"{address}\n")
    sys.stdout.flush()
    if token is not None:
        complain("others can reach this server, and nothing is encrypted; give the address to those you trust only")
    note("interrupt with Ctrl-C; what was confirmed is stored")
    host, port = listener.getsockname()[:2]
    where = app.state.core.directory, (host, port), app.state.gate
    crew = Crew(workers - 1, module, *where) if workers > 1 else None
    try:
        with suppress(KeyboardInterrupt):  # before it listens to signals itself
            serve_app(app, listener)
        complain("stopped; everything confirmed is stored")
    finally:
        if crew is not None:
            crew.close()


def _address(listener: socket) -> str:
    """Return the address to open; a server on all addresses is called by the machine's name."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = gethostname()
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

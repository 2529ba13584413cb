"""The server below the application: connections, their timeouts, and how many files a process may open.

A connection that has not sent the head of a request in time is closed: a thousand half-sent requests cost nothing after
some seconds. So is one whose head has no end. How long a body may take is the application's concern (`callers`).
"""

from __future__ import annotations

import asyncio
import socket as socket_module
from importlib import import_module
from socket import AF_INET, AF_INET6, IPPROTO_TCP, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket
from typing import Any

import uvicorn

__all__ = ["HEAD_BYTES", "HEAD_SECONDS", "can_share", "configured", "listening", "many_files"]

HEAD_SECONDS = 10.0
"""The time in which the head of a request has to come."""
HEAD_BYTES = 1 << 20
"""The size that the head of a request may have; one packet may be larger."""
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_BACKLOG = 1024
_REUSE_PORT: int = getattr(socket_module, "SO_REUSEPORT", 0)  # Windows has none
_FILES = 16_384


def listening(host: str, port: int, *, shared: bool = False) -> socket:
    """Return a socket that listens: who comes before the server is up waits in line.

    shared : other processes listen on the same address, and the system shares connections out.

    It says that it speaks TCP, for only then asyncio sends every answer at once (TCP_NODELAY); else the system holds
    back the second half of an answer until the client has confirmed the first, 40 ms later.
    """
    listener = socket(AF_INET6 if ":" in host else AF_INET, SOCK_STREAM, IPPROTO_TCP)
    try:
        listener.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(SOL_SOCKET, _REUSE_PORT, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def can_share() -> bool:
    """Can several processes listen on one address?"""
    return bool(_REUSE_PORT)


def configured(app: Any, head_seconds: float = HEAD_SECONDS, **options: Any) -> uvicorn.Config:
    """Return how uvicorn is to serve the application."""
    usual: dict[str, Any] = {
        "log_level": "warning", "access_log": False, "server_header": False, "date_header": False,
        "timeout_graceful_shutdown": 5, "timeout_keep_alive": 30, "ws": "none",
        "proxy_headers": False,  # whom to believe is the gate's concern; uvicorn believes everybody on this machine
    }  # fmt: skip
    return uvicorn.Config(app, http=_connection_class(head_seconds), **usual | options)


def many_files() -> None:
    """Let this process have as many connections as the system allows it, within reason."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _connection_class(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's connections with a timeout for the head of a request; quicker ones where httptools is there."""
    try:
        base: Any = import_module("uvicorn.protocols.http.httptools_impl").HttpToolsProtocol
    except ImportError:
        base = import_module("uvicorn.protocols.http.h11_impl").H11Protocol

    class Connection(base):  # type: ignore[misc]
        """A connection that does not wait for ever."""

        _head: asyncio.TimerHandle | None = None
        _in_head, _came = False, 0  # is a head half there, and how many bytes of it?

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._came += len(data)
            if self._in_head and self._came > HEAD_BYTES and not self.transport.is_closing():
                self.transport.write(_TOO_LONG)
                self.transport.close()
            elif self.cycle is not None and not self.cycle.response_complete:
                self._head_came()
            else:
                self._expect_head()

        def on_message_begin(self) -> None:  # httptools calls it; h11 has a limit of its own
            self._in_head, self._came = True, 0
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._in_head = False
            super().on_headers_complete()

        def on_response_complete(self) -> None:
            self._head_came()
            super().on_response_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._head_came()
            super().connection_lost(exc)

        def _expect_head(self) -> None:
            if self._head is None:
                self._head = self.loop.call_later(seconds, self.transport.close)

        def _head_came(self) -> None:
            if self._head is not None:
                self._head.cancel()
                self._head = None

    return Connection

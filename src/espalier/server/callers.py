"""Who waits for an answer: a client that sends too slowly is told so, and one that is gone stops its work."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from espalier.server.turns import CALLER, Caller

__all__ = ["BODY_SECONDS", "CallerWatch"]

BODY_SECONDS = 30.0
"""The time in which the body of a request has to come."""
_PATIENCE = 0.05  # seconds after which it is worth looking whether the client is still there


class CallerWatch:
    """Stands before the routes: notes when a client hangs up, and bounds the time that its body may take."""

    def __init__(self, app: ASGIApp, seconds: float = BODY_SECONDS) -> None:
        """Watch the callers of an application; seconds : for the body of a request."""
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request while its caller is there."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = Caller()
        CALLER.set(caller)
        inbox = _Inbox(receive, caller, self._seconds)
        if not _has_body(Headers(scope=scope)):
            await inbox.open()
        try:
            await self._app(scope, inbox.receive, send)
        finally:
            inbox.close()


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


class _Inbox:
    """What a client sends: first its body, and then nothing until it hangs up."""

    def __init__(self, receive: Receive, caller: Caller, seconds: float) -> None:
        self._receive, self._caller, self._seconds = receive, caller, seconds
        self._loop = asyncio.get_running_loop()
        self._end, self._first = self._loop.time() + seconds, list[Message]()
        self._soon: asyncio.TimerHandle | None = None
        self._hung_up: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Read ahead where there is no body, because nobody else will read."""
        self._first.append(await self._next())

    async def receive(self) -> Message:
        if self._first:
            return self._first.pop()
        if self._soon is not None:
            await self._watch()
            return {"type": "http.disconnect"}
        return await self._next()

    async def _next(self) -> Message:
        task, late = asyncio.current_task(), False
        assert task is not None

        def stop() -> None:
            nonlocal late
            late = True
            task.cancel()

        # `wait_for` would begin a task for every message, though nearly all of them are there already.
        timer = self._loop.call_at(self._end, stop)
        try:
            message = await self._receive()
        except asyncio.CancelledError:
            if not late:
                raise
            if hasattr(task, "uncancel"):  # from Python 3.11 on
                task.uncancel()
            raise HTTPException(408, f"the body did not come within {self._seconds:g} seconds") from None
        finally:
            timer.cancel()
        if message["type"] == "http.disconnect":
            self._caller.gone = True
        elif not message.get("more_body", False):
            self._soon = self._loop.call_later(_PATIENCE, self._watch)
        return message

    def _watch(self) -> asyncio.Task[None]:
        """Wait for the end of the connection."""
        if self._hung_up is None:
            self._hung_up = self._loop.create_task(self._wait())
        return self._hung_up

    async def _wait(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._caller.gone = True

    def close(self) -> None:
        for begun in (self._soon, self._hung_up):
            if begun is not None:
                begun.cancel()

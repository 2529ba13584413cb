"""Who may talk to the server, and how much: hosts, tokens, origins, sizes; and the headers of every answer.

Host              must be a name of the address that the server was started for: a page of another site that makes
                  its own name point here (DNS rebinding) sends its own name
token             needed on any address but this machine's own: a header, or a session (`sessions`)
X-Espalier        needed on all that is not GET: other sites' pages cannot send it without asking, and are told no
Origin            if sent, must be the host's
size              counted while it comes, whatever the length that was announced
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from espalier.workbench.failures import Failure
from espalier.workbench.sessions import Door

__all__ = ["ABSENT", "HEADER", "OPEN", "UNMARKED", "Gate", "RequestGuard", "is_local"]

HEADER = "x-espalier"

_LOCAL = ("127.0.0.1", "localhost", "::1")
_READING = ("GET", "HEAD", "OPTIONS")
_LOGIN = "/login"  # where a token is brought, by a form, which cannot send headers
OPEN = (_LOGIN, "/icon.svg", "/base.css", "/layout.css", "/health", "/ready", "/api/isalive")
"""What needs no token: where one is brought, and whether somebody is there."""
ABSENT = tuple(
    f"/api/{name}"
    for name in (
        "processFulltextDocument", "processFulltextDocumentBlank", "processFulltextAssetDocument",
        "processHeaderDocument", "processHeaderFundingDocument", "processHeaderNames", "processCitationNames",
        "processDate", "processAffiliations", "processFundingAcknowledgement", "processCitationPatentST36",
        "processCitationPatentPDF", "processCitationPatentTEI", "processCitationPatentTXT",
        "citationPatentAnnotations", "referenceAnnotations", "annotatePDF",
    )
)  # fmt: skip
"""GROBID's routes that this server has not: it says so."""
UNMARKED = ("/api/v1/parse", "/api/processCitation", "/api/processCitationList", "/api/processReferences", *ABSENT)
"""What needs no X-Espalier: nothing is written there, and other programs' clients do not know it."""

_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-cache",
}
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]

_LOG = logging.getLogger("espalier.workbench")
_MISTAKE = Failure(500, "the server made a mistake", "its messages say more; what was confirmed is stored")
_GONE = Failure(499, "the client went away before its request was there", "send it again")


def is_local(host: str) -> bool:
    """Is this an address that only this machine can reach?"""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Gate:
    """Whom to let in. token : None if none is needed; hosts : names that requests may use, None for any."""

    token: str | None = None
    hosts: frozenset[str] | None = frozenset(_LOCAL)

    @classmethod
    def of(cls, host: str, token: str | None, also: Collection[str] = ()) -> Gate:
        """Return the gate of a server that listens on an address; `also` are further names of it."""
        if not is_local(host) and token is None:
            raise ValueError("a server that others can reach needs a token")
        if host in ("0.0.0.0", "::", "") and not also:
            return cls(token, None)  # it has names that only its users know; the token stands guard
        return cls(token, frozenset({*_LOCAL, host, *(name.lower() for name in also)}))

    def check(self, scope: Scope, headers: Headers) -> None:
        """Raise if a request is not to be answered."""
        host = _name(headers.get("host", ""))
        if self.hosts is not None and host not in self.hosts:
            raise Failure(403, f"this server does not answer to the name {host!r}", "start it with --allow-host NAME")
        if scope["method"] not in _READING:
            _check_origin(headers)
            if HEADER not in headers and scope["path"] not in (_LOGIN, *UNMARKED):
                hint = "send 'X-Espalier: 1' with every request that is not GET"
                raise Failure(403, "the header X-Espalier is missing", hint)


def _check_origin(headers: Headers) -> None:
    origin = headers.get("origin")
    if origin is not None and origin.lower().partition("://")[2] != headers.get("host", "").lower():
        raise Failure(403, f"the request comes from a page of {origin}", "use the page of this server")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Failure(403, "the request comes from a page of another site", "use the page of this server")


def _name(host: str) -> str:
    """Return a host without its port and brackets, in lower case."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


class RequestGuard:
    """Stands before the application: checks requests, counts their bytes, and puts headers on answers."""

    def __init__(self, app: ASGIApp, gate: Gate, door: Door, most: int, most_of_file: int) -> None:
        """Guard an application; most : bytes of a request; most_of_file : of one whose body is a file."""
        self._app, self._gate, self._door, self._most, self._most_of_file = app, gate, door, most, most_of_file

    def _limit(self, scope: Scope) -> int:
        path = scope["path"]
        return self._most_of_file if path.endswith("/upload") or path in UNMARKED else self._most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        if scope["path"].startswith("/api/") and len(scope["path"]) > 5:  # with a slash at its end it is the same
            scope["path"] = scope["path"].rstrip("/")
        try:
            self._check(scope)
            await self._app(scope, self._counted(scope, receive), answer.send)
        except Failure as failure:
            await _refusal(scope, failure)(scope, receive, answer.send)
        except ClientDisconnect:
            if not answer.begun:
                await JSONResponse(_GONE.body(), _GONE.status)(scope, receive, answer.send)
        except Exception as mistake:
            _LOG.error("%s %s", scope["method"], scope["path"], exc_info=mistake)
            if answer.begun:
                raise
            await JSONResponse(_MISTAKE.body(), _MISTAKE.status)(scope, receive, answer.send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        self._gate.check(scope, headers)
        if scope["path"] not in OPEN:
            self._door.check(headers, (scope.get("client") or ("",))[0])
        announced = headers.get("content-length", "0")
        if announced.isascii() and announced.isdigit() and (len(announced) > 18 or int(announced) > self._limit(scope)):
            raise self._too_large(scope)

    def _too_large(self, scope: Scope) -> Failure:
        return Failure(413, f"the request has more than {self._limit(scope):,} bytes", "send it in parts")

    def _counted(self, scope: Scope, receive: Receive) -> Receive:
        total, most = 0, self._limit(scope)

        async def counted() -> Message:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > most:
                raise HTTPException(413, self._too_large(scope).what)
            return message

        return counted


def _refusal(scope: Scope, failure: Failure) -> Response:
    """Return a refusal; a browser that has to come in first is shown the way."""
    if failure.status == 401 and scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", ""):
        return RedirectResponse(_LOGIN, 303)
    return JSONResponse(failure.body(), failure.status, failure.headers)


class _Answer:
    """An answer on its way: gets the headers that all have, and remembers that it has begun."""

    def __init__(self, send: Send) -> None:
        self._send, self.begun = send, False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            own = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in _RAW_HEADERS if pair[0] not in own)]
        await self._send(message)

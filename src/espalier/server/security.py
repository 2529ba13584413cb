"""Who may talk to the server, and how much: hosts, tokens, origins, sizes; and the headers of every answer.

Host              one, and a name of the address that the server was started for: a page of another site that makes
                  its own name point here (DNS rebinding) sends its own name
address, scheme   those of the connection; what X-Forwarded-For and X-Forwarded-Proto say is believed only if they
                  come from a proxy that the server was told of, and only as far as such proxies have written it
token             needed on any address but this machine's own: a header, or a session (`sessions`)
X-Espalier        needed on all that is not GET: other sites' pages cannot send it without asking, and are told no
Origin            if sent, must be the host's
size              counted while it comes, whatever the length that was announced (`arriving`)
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from espalier.errors import InputError
from espalier.server.arriving import Arrivals
from espalier.server.failures import Failure
from espalier.server.sessions import Door

if TYPE_CHECKING:
    from espalier.server.core import Limits

__all__ = ["ABSENT", "HEADER", "OPEN", "UNMARKED", "Gate", "Network", "RequestGuard", "is_local", "networks"]

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

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

_MOST_HEADERS, _LONGEST_HEAD, _COOKIES, _LONGEST_PATH = 200, 32_000, 16_000, 2000
_TOKEN = 4000  # bytes of the form that brings a token
_PATIENCE = 5.0  # seconds in which the rest of a request that is refused may come, so that its sender hears why
_LATE = (408, 504)  # nobody waits for the rest of these
_HOPS = 20  # proxies behind one another that are looked at

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

_LOG = logging.getLogger("espalier.server")
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
    """Whom to let in. token : None if none is needed; hosts : names that requests may use, None for any.

    proxies : networks of the proxies that stand before the server and say for whom they ask.
    """

    token: str | None = None
    hosts: frozenset[str] | None = frozenset(_LOCAL)
    proxies: tuple[Network, ...] = ()

    @classmethod
    def of(cls, host: str, token: str | None, also: Collection[str] = (), proxies: Collection[str] = ()) -> Gate:
        """Return the gate of a server that listens on an address; `also` are further names of it.

        proxies : addresses or networks, as in `10.0.0.0/8`.
        """
        if not is_local(host) and token is None:
            raise ValueError("a server that others can reach needs a token")
        if host in ("0.0.0.0", "::", "") and not also:
            return cls(token, None, networks(proxies))  # its names only its users know; the token stands guard
        return cls(token, frozenset({*_LOCAL, host, *(name.lower() for name in also)}), networks(proxies))

    def check(self, scope: Scope, headers: Headers) -> None:
        """Raise if a request is not to be answered."""
        if len(headers.getlist("host")) > 1:  # a proxy may have believed the other one
            raise Failure(400, "the request has more than one header Host", "send one")
        host = _name(headers.get("host", ""))
        if self.hosts is not None and host not in self.hosts:
            raise Failure(403, f"this server does not answer to the name {host!r}", "start it with --allow-host NAME")
        if scope["method"] not in _READING:
            _check_origin(headers)
            if HEADER not in headers and scope["path"] not in (_LOGIN, *UNMARKED):
                hint = "send 'X-Espalier: 1' with every request that is not GET"
                raise Failure(403, "the header X-Espalier is missing", hint)

    def told(self, peer: str, headers: Headers) -> tuple[str, str]:
        """Return the address and the scheme that a client has used; peer : who has sent the request.

        Every proxy writes behind what it was sent, so that only the end of the list is sure: the last address that is
        no proxy's has asked. What stands before it anybody may have written.
        """
        if not self._is_proxy(peer):
            return peer, ""
        for hop in reversed(",".join(headers.getlist("x-forwarded-for")).rsplit(",", _HOPS)[-_HOPS:]):
            address = _address(hop)
            if not address:
                break
            peer = address
            if not self._is_proxy(address):
                break
        return peer, ",".join(headers.getlist("x-forwarded-proto")).rpartition(",")[2].strip().lower()

    def _is_proxy(self, address: str) -> bool:
        if not self.proxies:
            return False
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self.proxies)


def _check_head(scope: Scope) -> None:
    """Refuse a head with far too many parts: each has to be looked at several times, while everybody waits."""
    headers = scope["headers"]
    if len(headers) > _MOST_HEADERS or sum(len(v) for k, v in headers if k == b"cookie") > _COOKIES:
        raise Failure(431, f"the request has more than {_MOST_HEADERS} headers, or long cookies", "send fewer")
    if sum(len(key) + len(value) for key, value in headers) > _LONGEST_HEAD:
        raise Failure(431, f"the headers of the request have more than {_LONGEST_HEAD:,} bytes", "send fewer")
    if len(scope["path"]) > _LONGEST_PATH or scope["query_string"].count(b"&") > _MOST_HEADERS:
        raise Failure(414, "the address of the request is too long", "docs/server-api.md describes the requests")


def networks(given: Collection[str]) -> tuple[Network, ...]:
    """Return networks by their names; a single address is a small one."""
    try:
        return tuple(ipaddress.ip_network(name.strip(), strict=False) for name in given)
    except ValueError as error:
        hint = "give an address or a network, as in 10.0.0.7 or 10.0.0.0/8"
        raise InputError(f"--proxy: {error}", hint=hint) from None


def _address(hop: str) -> str:
    """Return an address of X-Forwarded-For without its port; "" if it is none."""
    plain = hop.strip().strip('"')
    if plain.startswith("["):
        plain = plain[1:].partition("]")[0]
    elif plain.count(":") == 1:
        plain = plain.partition(":")[0]
    try:
        return str(ipaddress.ip_address(plain))
    except ValueError:
        return ""


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
    """Stands before the application: checks requests, watches their bodies, and puts headers on answers."""

    def __init__(self, app: ASGIApp, gate: Gate, door: Door, limits: Limits) -> None:
        """Guard an application."""
        self._app, self._gate, self._door, self._arrivals = app, gate, door, Arrivals(limits)
        self._wondered = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        incoming, body = _Incoming(receive), None
        answer = _Answer(send, incoming)
        if scope["path"].startswith("/api/") and len(scope["path"]) > 5:  # with a slash at its end it is the same
            scope["path"] = scope["path"].rstrip("/")
        try:
            _check_head(scope)
            headers = Headers(scope=scope)
            self._check(scope, headers)
            most, is_file = self._expected(scope["path"])
            body = self._arrivals.body(headers, incoming.receive, most, is_file=is_file)
            await self._app(scope, body.receive, answer.send)
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
        finally:
            if body is not None:
                body.close()

    def _expected(self, path: str) -> tuple[int, bool]:
        """Return how many bytes the body of a request may have, and whether it is a file in any case."""
        limits = self._arrivals.limits
        if path == _LOGIN:  # where anybody may write
            return _TOKEN, False
        if path.endswith("/upload"):
            return limits.file, True
        return limits.file if path in UNMARKED else limits.body, path.endswith("/models")

    def _check(self, scope: Scope, headers: Headers) -> None:
        peer = (scope.get("client") or ("",))[0]
        address, scheme = self._gate.told(peer, headers)
        if address != peer:
            scope["client"] = (address, 0)
        elif not scheme and "x-forwarded-for" in headers and not self._wondered:
            self._wondered = True
            _LOG.warning("%s says for whom it asks, which is not believed; if it is a proxy: --proxy %s", peer, peer)
        if scheme in ("http", "https"):
            scope["scheme"] = scheme
        self._gate.check(scope, headers)
        if scope["path"] not in OPEN:
            self._door.check(headers, address)


def _refusal(scope: Scope, failure: Failure) -> Response:
    """Return a refusal; a browser that has to come in first is shown the way."""
    if failure.status == 401 and scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", ""):
        return RedirectResponse(_LOGIN, 303)
    return JSONResponse(failure.body(), failure.status, failure.headers)


class _Incoming:
    """What a client sends, and whether there is more of it."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._ended = receive, False

    async def receive(self) -> Message:
        message = await self._receive()
        self._ended = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message

    async def discard(self) -> None:
        """Read to the end, for a while: a connection that is closed while its client writes loses the answer."""

        async def rest() -> None:
            while not self._ended:
                await self.receive()

        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(rest(), _PATIENCE)


class _Answer:
    """An answer on its way: gets the headers that all have, and remembers that it has begun."""

    def __init__(self, send: Send, incoming: _Incoming) -> None:
        self._send, self._incoming, self.begun = send, incoming, False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            if message["status"] >= 400 and message["status"] not in _LATE:
                await self._incoming.discard()
            own = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in _RAW_HEADERS if pair[0] not in own)]
        await self._send(message)

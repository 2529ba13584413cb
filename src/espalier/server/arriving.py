"""Bodies of requests while they come: what is too large, too deep or too many is refused before anything is made of it.

A list of a million empty lists is two megabytes that become hundreds in memory, so that the size of a body says little.
Of JSON its values, its depth and its words are counted, with a few passes over each piece that the connection gives: 10
microseconds for a reference, less than a tenth of a second for ten megabytes. It is not checked for being JSON; who
reads it does that.

All bodies together may hold so much memory (`Limits.held`). Memory is given back to the system after requests that were
large or long: the allocator would keep it.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
from itertools import accumulate
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

from espalier.server.failures import Failure

if TYPE_CHECKING:
    from espalier.server.core import Limits

__all__ = ["DEPTH", "Arrivals", "ArrivingBody", "JsonCount", "TextCount", "give_memory_back"]

DEPTH = 32
"""How deep lists and objects of a request may lie in one another; ours need five."""
_SMALL = 1 << 16  # bytes of a body that has always room
_LARGE, _LONG = 1 << 20, 2.0  # bytes and seconds of a request after which memory is given back
_SOON = 1.0  # seconds after its end; once for all that end in them
_WORDS = 2  # words for each token that is allowed: who sends a few too many gets better advice later
_FEW, _SHORT = 100, 1000  # brackets and bytes for which arrays are not worth their making
_STEPS = np.zeros(256, np.int32)  # what each bracket does to the depth
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class TextCount:
    """Counts the words of a text, piece by piece. values, deepest : stay 0; only JSON has any."""

    def __init__(self) -> None:
        """Nothing has come."""
        self.values = self.words = self.deepest = 0

    def add(self, piece: bytes) -> None:
        """Count a piece."""
        self.words += words(piece)


class JsonCount(TextCount):
    """Counts what a text in JSON holds. values : about as many as it has; words : those of its strings."""

    def __init__(self) -> None:
        """Nothing has come."""
        super().__init__()
        self._depth, self._in_string, self._escape = 0, False, b""

    def add(self, piece: bytes) -> None:
        """Count a piece; a string, or a sign with a backslash, may go on in the next one."""
        plain = piece
        if self._escape or b"\\" in piece:  # only strings have any; pairs go first, so that the one left is no pair's
            plain = (self._escape + piece).replace(b"\\\\", b"").replace(b'\\"', b"")
            self._escape = b"\\" if plain.endswith(b"\\") else b""
            plain = plain.removesuffix(b"\\")
        parts = plain.split(b'"')
        first = int(self._in_string)
        outside = b"".join(parts[first::2])
        self.words += words(b"".join(parts[1 - first :: 2]))
        self._in_string ^= len(parts) % 2 == 0
        opened = outside.count(b"[") + outside.count(b"{")
        self.values += opened + outside.count(b",") + outside.count(b":")
        if opened:
            brackets = outside.translate(None, _NOT_BRACKETS)
            if len(brackets) < _FEW:
                depths = list(accumulate((1 if sign in b"[{" else -1 for sign in brackets), initial=self._depth))
            else:
                depths = (self._depth + np.cumsum(_STEPS[np.frombuffer(brackets, np.uint8)])).tolist()
            self.deepest, self._depth = max(self.deepest, max(depths)), depths[-1]
        else:
            self._depth -= outside.count(b"]") + outside.count(b"}")


def words(text: bytes) -> int:
    """Return how many words are surely there: how often a blank stands behind one, or a word behind a blank."""
    if len(text) < _SHORT:
        return max(0, len(text.split()) - 1)
    signs = np.frombuffer(text, np.uint8)
    blank = (signs == 32) | (signs == 10)
    return int(np.count_nonzero(blank[1:] & ~blank[:-1]))


class Arrivals:
    """All bodies that a process holds."""

    def __init__(self, limits: Limits) -> None:
        """Take what a request may send."""
        self.limits, self.held = limits, 0
        self._soon: asyncio.TimerHandle | None = None

    def body(self, headers: Headers, receive: Receive, most: int, *, is_file: bool) -> ArrivingBody:
        """Return the body of a request, to be received from now on; one that announces too much is refused.

        most : bytes; is_file : whatever its type says, it is what a file holds, and not a question.
        """
        kind = headers.get("content-type", "")[:200].partition(";")[0].strip().lower()
        is_text = kind == "text/plain" and not is_file
        is_json = (kind == "application/json" or kind.endswith("+json") or not kind) and not is_file
        if is_text or is_json:
            most = min(most, self.limits.body)
        announced = headers.get("content-length", "0")
        if announced.isascii() and announced.isdigit() and (len(announced) > 18 or int(announced) > most):
            raise Failure(413, too_large(most), "send it in parts")
        count = JsonCount() if is_json else TextCount() if is_text else None
        return ArrivingBody(self, receive, most, count)

    def close_one(self, body: ArrivingBody, seconds: float) -> None:
        """Forget a body whose request is answered."""
        self.held -= body.size
        if (body.size > _LARGE or seconds > _LONG) and self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(_SOON, self._give_back)

    def _give_back(self) -> None:
        self._soon = None
        asyncio.get_running_loop().run_in_executor(None, give_memory_back)


class ArrivingBody:
    """The body of one request. size : the bytes that have come."""

    def __init__(self, arrivals: Arrivals, receive: Receive, most: int, count: TextCount | None) -> None:
        """Nothing has come; most : bytes; count : None for a file."""
        self._arrivals, self._receive, self._most, self._count = arrivals, receive, most, count
        self.size, self._began = 0, monotonic()

    async def receive(self) -> Message:
        """Return what comes next, counted; the framework lets refusals of this type through."""
        message = await self._receive()
        piece: bytes = message.get("body", b"")
        if piece:
            self._take(piece)
        return message

    def _take(self, piece: bytes) -> None:
        limits = self._arrivals.limits
        self.size += len(piece)
        self._arrivals.held += len(piece)
        if self.size > self._most:
            raise HTTPException(413, too_large(self._most))
        if self.size > _SMALL and self._arrivals.held > limits.held:
            raise HTTPException(503, f"other requests hold {limits.held:,} bytes already")
        if self._count is None:
            return
        self._count.add(piece)
        if self._count.deepest > DEPTH:
            raise HTTPException(413, f"its lists and objects lie more than {DEPTH} deep in one another")
        if self._count.values > limits.values:
            raise HTTPException(413, f"the request has more than {limits.values:,} values")
        if self._count.words > _WORDS * limits.tokens:
            raise HTTPException(413, f"the request has more than {_WORDS * limits.tokens:,} words")

    def close(self) -> None:
        """Say that the request is answered."""
        self._arrivals.close_one(self, monotonic() - self._began)


def too_large(most: int) -> str:
    """Return what is wrong with a body of more bytes."""
    return f"the request has more than {most:,} bytes"


def give_memory_back() -> None:
    """Let the system have what is free; only glibc can be asked to."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)

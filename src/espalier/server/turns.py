"""Whose turn it is to compute, and for how long: who has had little goes before who has had much.

One request computes at a time. It does so in pieces of some tokens (`Turn.pieces`), and between two of them lets those
go first that have waited longer or computed less: a second of computing counts as four of waiting. So a small request
waits for one piece of a large one, never for all of it, and a large one gets its share however many small ones come.

A turn ends with its request: when its time is over, or when nobody is there any more to read the answer.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from heapq import heappop, heappush
from itertools import count
from time import monotonic, thread_time

from espalier.document import Document
from espalier.server.failures import Deadline, Failure

__all__ = ["CALLER", "LONG", "Caller", "Turn", "Turns"]

LONG = 512
"""A text of more tokens is a piece by itself."""

_FIRST, _LEAST, _MOST = 1024, 128, 4096  # tokens of a piece: of the first one, and how small and large it may become
_QUICK, _SLOW = 0.04, 0.1  # processor seconds of a piece after which the next one is larger, or smaller
_FEW = 4  # so few texts are quicker one by one than together
_WEIGHT = 4.0  # seconds of waiting that a second of computing is worth
_WAITING = 64  # requests that may wait at a time


class Caller:
    """Who waits for an answer. deadline : the end of the request's time, once it has begun to ask for a turn."""

    def __init__(self) -> None:
        """Somebody is there."""
        self.gone = False
        self.deadline: Deadline | None = None


CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""The caller of the request that is being answered."""


class Turn:
    """The right to compute, for now."""

    def __init__(self, turns: Turns, deadline: Deadline, caller: Caller | None) -> None:
        """Ask for a turn with `take`."""
        self.deadline, self._turns, self._caller = deadline, turns, caller
        self._used, self._called = 0.0, threading.Event()
        self._since: float | None = None  # when it began to compute; None while it waits

    @property
    def used(self) -> float:
        """The seconds that it has computed."""
        return self._used + (0.0 if self._since is None else monotonic() - self._since)

    def check(self) -> None:
        """Let others go first if it is their turn; raise if the time is over or the caller is gone."""
        self._look()
        if self._turns.others_first(self):
            self.give()
            self.take()

    def pieces(self, documents: Sequence[Document], fixed: int = 0) -> Iterator[tuple[int, int]]:
        """Yield where pieces of documents begin and end; others may have their turn before each.

        Long texts are alone, and a few texts go one by one. How large pieces are depends on how long the last one took,
        because some texts and some rules cost a hundred times more than others. Processor time is counted: on a busy
        machine small pieces would only cost more.
        fixed : tokens of every piece instead, for who keeps what was made of a piece.
        """
        begin, tokens = 0, fixed or _FIRST
        while begin < len(documents):
            end = begin + 1 if len(documents) <= _FEW else _end(documents, begin, tokens)
            self.check()
            before = thread_time()
            yield begin, end
            took = thread_time() - before
            if not fixed and took < _QUICK:
                tokens = min(2 * tokens, _MOST)
            elif not fixed and took > _SLOW:
                tokens = max(tokens // 2, _LEAST)
            begin = end

    def _look(self) -> None:
        if self._caller is not None and self._caller.gone:
            raise Failure(499, "the client is gone")
        self.deadline.check()

    def take(self) -> None:
        """Wait for the turn."""
        self._called.clear()
        self._turns.queue(self)
        while not self._called.wait(min(self.deadline.left, 0.5)):
            try:
                self._look()
            except Failure:
                if self._turns.leave(self):
                    raise
        self._since = monotonic()

    def give(self) -> None:
        """Let the next one compute."""
        if self._since is not None:
            self._used, self._since = self.used, None
            self._turns.next()

    def call(self) -> None:
        """Say that it is this one's turn."""
        self._called.set()


class Turns:
    """All that wait for a turn, in their order."""

    def __init__(self) -> None:
        """Nobody computes."""
        self._lock = threading.Lock()
        self._waiting: list[tuple[float, int, Turn]] = []
        self._numbers, self._busy = count(), False

    @contextmanager
    def turn(self, seconds: float) -> Iterator[Turn]:
        """Wait for a turn, and give it back in the end. seconds : of the whole request, all its turns together."""
        caller = CALLER.get()
        deadline = Deadline(seconds) if caller is None or caller.deadline is None else caller.deadline
        if caller is not None:
            caller.deadline = deadline
        mine = Turn(self, deadline, caller)
        mine.take()
        try:
            yield mine
        finally:
            mine.give()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def queue(self, turn: Turn) -> None:
        """Put a turn where it belongs; call it at once if nobody computes."""
        with self._lock:
            if not self._busy:
                self._busy = True
                turn.call()
                return
            if len(self._waiting) >= _WAITING and not turn.used:
                raise Failure(503, f"{_WAITING} requests wait already", "ask again in some seconds")
            heappush(self._waiting, (_place(turn), next(self._numbers), turn))

    def others_first(self, turn: Turn) -> bool:
        """Has somebody waited longer, or computed less?"""
        with self._lock:
            return bool(self._waiting) and self._waiting[0][0] < _place(turn)

    def leave(self, turn: Turn) -> bool:
        """Wait no longer; False if it is this one's turn by now."""
        with self._lock:
            kept = [entry for entry in self._waiting if entry[2] is not turn]
            if len(kept) == len(self._waiting):
                return False
            self._waiting = sorted(kept)
            return True

    def next(self) -> None:
        """Call whose turn it is."""
        with self._lock:
            self._busy = bool(self._waiting)
            if self._waiting:
                heappop(self._waiting)[2].call()


def _place(turn: Turn) -> float:
    return monotonic() + _WEIGHT * turn.used


def _end(documents: Sequence[Document], begin: int, tokens: int) -> int:
    """Return where a piece ends that begins here: before it has too many tokens, and before or after a long text."""
    held = len(documents[begin].tokens)
    if held > LONG:
        return begin + 1
    for end in range(begin + 1, len(documents)):
        n = len(documents[end].tokens)
        held += n
        if n > LONG or held > tokens:
            return end
    return len(documents)

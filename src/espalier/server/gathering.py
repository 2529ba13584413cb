"""Small requests that wait are parsed together: ten references in one batch cost little more than four one by one.

A request with few short texts asks for no turn of its own. It waits in a list; one thread takes a turn for all that
wait by then, parses their texts as one batch, and hands every answer back. While it computes, the next ones gather.
An answer does not depend on the texts beside it, and a request that fails fails alone.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi.concurrency import run_in_threadpool

from espalier.document import Document
from espalier.server.core import Answered, Core
from espalier.server.failures import Deadline, Failure
from espalier.server.tasks import document_of
from espalier.server.turns import CALLER, Caller, Turn

__all__ = ["SHORT", "Finish", "Gatherer", "is_small"]

SHORT = 20_000
"""Bytes of a body that may be looked at before it has a thread: reading a larger one would hold up the others."""

Finish = Callable[[Answered], Any]
"""What a request makes of what was said."""

_TEXTS, _SIGNS = 4, 4000  # texts and characters of a small request
_TOGETHER = 16_000  # characters that are parsed at a time, about 80 references
_MOST = 512  # requests that may wait


def is_small(texts: Sequence[str], k: int) -> bool:
    """Is a request small enough to be parsed with others?"""
    return k == 1 and 0 < len(texts) <= _TEXTS and sum(map(len, texts)) <= _SIGNS


@dataclass(eq=False, slots=True)
class _Small:
    """A request that waits. task : its name; model : a number, None for the one in use."""

    task: str
    model: int | None
    texts: Sequence[str]
    finish: Finish
    caller: Caller | None
    deadline: Deadline
    future: Future[Any] = field(default_factory=Future)
    documents: list[Document] = field(default_factory=list)

    def check(self, core: Core) -> None:
        """Raise if it is not to be answered."""
        if self.caller is not None and self.caller.gone:
            raise Failure(499, "the client is gone")
        self.deadline.check()
        core.check_texts(self.texts)
        self.documents = [document_of(self.task, text) for text in self.texts]
        core.check_work(self.documents, 1)


class Gatherer:
    """Takes small requests, and parses those together that wait together."""

    def __init__(self, core: Core) -> None:
        """Nobody waits."""
        self._core, self._lock = core, threading.Lock()
        self._waiting: list[_Small] = []
        self._thread, self._running = ThreadPoolExecutor(1, "espalier-gatherer"), False

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def close(self) -> None:
        """Answer those that wait, and end."""
        self._thread.shutdown()

    async def parsed(self, task: str, model: int | None, texts: Sequence[str], k: int, finish: Finish) -> Any:
        """Parse the texts of a request, with others if it is small; return what `finish` makes of the answers."""
        if not is_small(texts, k):
            return await run_in_threadpool(lambda: finish(self._core.answered(task, model, texts, k)))
        one = _Small(task, model, texts, finish, CALLER.get(), Deadline(self._core.limits.seconds))
        with self._lock:
            if len(self._waiting) >= _MOST:
                raise Failure(503, f"{_MOST} requests wait already", "ask again in some seconds")
            self._waiting.append(one)
            if not self._running:
                self._running = True
                self._thread.submit(self._run)
        return await asyncio.wrap_future(one.future)

    def _run(self) -> None:
        """Parse until nobody waits."""
        while True:
            taken: list[_Small] = []
            try:
                with self._core.computing() as turn:
                    taken = self._take()
                    self._answer(taken, turn)
            except Exception as error:  # the turn did not come in time, or the time of all of them is over
                _fail(taken or self._take(), error)
            with self._lock:
                if not self._waiting:
                    self._running = False
                    return

    def _take(self) -> list[_Small]:
        """Return those whose turn it is: the first one, and all others for the same model that fit beside it."""
        with self._lock:
            first, room, taken, left = self._waiting[0], _TOGETHER, list[_Small](), list[_Small]()
            for one in self._waiting:
                size = sum(map(len, one.texts))
                if (one.task, one.model) == (first.task, first.model) and (size <= room or not taken):
                    taken.append(one)
                    room -= size
                else:
                    left.append(one)
            self._waiting = left
            return [one for one in taken if one.future.set_running_or_notify_cancel()]  # others have gone

    def _answer(self, taken: Sequence[_Small], turn: Turn) -> None:
        """Give every request its result or its error."""
        able: list[_Small] = []
        for one in taken:
            with _failing(one):
                one.check(self._core)
                able.append(one)
        if not able:
            return
        task = self._core.tasks.get(able[0].task)
        model = self._core.models.chosen(task, able[0].model)
        try:
            documents = [document for one in able for document in one.documents]
            answers = iter(self._core.of_pieces(turn, task, model, documents, 1))
            own = [[next(answers) for _ in one.documents] for one in able]
        except Exception as error:
            if len(able) == 1:
                _fail(able, error)
            for one in able if len(able) > 1 else ():
                self._answer([one], turn)
            return
        for one, found in zip(able, own, strict=True):
            with _failing(one):
                one.future.set_result(one.finish((task, model, one.documents, found)))


def _fail(some: Sequence[_Small], error: Exception) -> None:
    """Give an error to those that have no result yet."""
    for one in some:
        if not one.future.done():
            one.future.set_exception(error)


@contextmanager
def _failing(one: _Small) -> Iterator[None]:
    """Let what goes wrong be the answer of a request."""
    try:
        yield
    except Exception as error:
        _fail([one], error)

"""What a server does first: its models are loaded and its kernels compiled, before somebody waits for them.

That takes a few seconds, and on a fresh installation a minute: the loops are compiled, once (`espalier warm` does it
beforehand). Who asks in the first seconds waits; who asks later, while it lasts, is told to come again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from math import inf

from espalier.errors import EspalierError
from espalier.server.failures import Deadline, Failure
from espalier.server.turns import CALLER, Caller

__all__ = ["ServerStart"]

_PATIENCE = 30.0  # seconds from the start in which a request waits instead of being told to come again
_AGAIN = 30.0  # seconds after which work that failed is tried again


class ServerStart:
    """How far a server is. trouble : why its first work failed, "" if it did not."""

    def __init__(self) -> None:
        """There is nothing to wait for."""
        self._over, self._thread, self._ended = threading.Event(), 0, threading.Event()
        self._over.set()
        self._patience = Deadline(0.0)
        self.trouble = ""

    @property
    def state(self) -> str:
        """Return `ok`, `starting`, or `failed`: then it is tried again, and requests are answered if they can be."""
        if self.trouble:
            return "failed"
        return "ok" if self._over.is_set() else "starting"

    def begin(self, work: Callable[[], None], patience: float = _PATIENCE, again: float = _AGAIN) -> threading.Thread:
        """Do the first work, in a thread of its own. patience, again : seconds, as above."""
        self._over.clear()
        self._patience = Deadline(patience)
        thread = threading.Thread(target=self._run, args=(work, again), name="espalier-start", daemon=True)
        thread.start()
        return thread

    def end(self) -> None:
        """The server stops: work that fails from now on is no trouble, and is not tried again."""
        self._ended.set()

    def wait(self) -> None:
        """Wait until the first work is done; raise if that takes too long. The work itself waits for nobody."""
        if threading.get_ident() != self._thread and not self._over.wait(self._patience.left):
            hint = "ask again in some seconds; 'espalier warm' compiles beforehand"
            raise Failure(503, "the server is starting: it compiles what it needs, once", hint)

    def _run(self, work: Callable[[], None], again: float) -> None:
        """Work until it is done; no request's time limit holds for it."""
        self._thread = threading.get_ident()
        caller = Caller()
        caller.deadline = Deadline(inf)
        CALLER.set(caller)
        while not self._done(work):
            self._ended.wait(again)

    def _done(self, work: Callable[[], None]) -> bool:
        try:
            work()
            self.trouble = ""
        except Exception as error:  # whatever it is, the server answers what it can
            if self._ended.is_set():
                return True
            said = str(error) if isinstance(error, EspalierError) else f"{type(error).__name__}: {error}"
            trouble = " ".join(said.split())
            if trouble != self.trouble:
                sys.stderr.write(f"espalier: the server could not make itself ready: {trouble}\n")
            self.trouble = trouble
        self._over.set()
        return not self.trouble

"""What a worker remembers between two requests: the parts it has met, loaded and prepared.

Nothing is lost with a worker that dies or a request that goes to another one: whatever is missing is loaded again.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["prepared", "request"]

RUNS = 2
"""Parts of the few runs last used are kept; a worker that serves one learner after the other does not fill up."""

# Module state, on purpose: it is the memory of a process between calls that know nothing of each other.
_runs: dict[str, dict[Any, Any]] = {}
_lock = threading.Lock()


def prepared(run: str, number: int, common: Callable[[], bytes], data: Callable[[], bytes]) -> Any:
    """Return a part of a run, ready for functions; common, data : fetch what is not known yet.

    common : pickles `prepare` and what all parts share.
    """
    known = _memory(run)
    if "common" not in known:
        known["common"] = pickle.loads(common())
    if number not in known:
        prepare, shared = known["common"]
        known[number] = prepare(shared, pickle.loads(data()))
    return known[number]


def request(run: str, turn: int, fetch: Callable[[], bytes]) -> Any:
    """Return the request of a turn; the one before is forgotten."""
    known = _memory(run)
    held: tuple[int, Any] = known.get("request", (-1, None))
    if held[0] != turn:
        held = known["request"] = (turn, pickle.loads(fetch()))
    return held[1]


def _memory(run: str) -> dict[Any, Any]:
    with _lock:
        known = _runs[run] = _runs.pop(run, {})
        for old in list(_runs)[:-RUNS]:
            del _runs[old]
        return known

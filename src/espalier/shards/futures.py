"""Parts on the workers of a Dask cluster, as futures: scattered once, with states that never leave the cluster.

A turn sends the request once to every worker and fetches the replies, in order. Dask repeats what was lost with a
worker where it can; parts themselves are held once, and where one is lost with its worker there is an error and no sum.
"""

from __future__ import annotations

import operator
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, TypeVar

from espalier.errors import EspalierError
from espalier.shards.base import NO_STATE, Shards, answered, packed
from espalier.shards.memory import prepared, request

__all__ = ["ShardsInFutures"]

Part = TypeVar("Part")


class ShardsInFutures(Shards[Part]):
    """Parts that Dask's workers hold. backend : joblib's, whose client leads to the cluster."""

    def __init__(
        self, data: Sequence[Any], prepare: Callable[[Any, Any], Part], common: Any, first: Sequence[int], backend: Any
    ) -> None:
        """Scatter the parts."""
        self._client, self._waiting = backend.client, backend.retrieval_context
        self._run, self._first, self._turn = uuid.uuid4().hex, first, 0
        self._common = self._client.scatter(packed((prepare, common)), broadcast=True, hash=False)
        self._parts = self._client.scatter([packed(part) for part in data], hash=False)
        self._states: list[Any] = [NO_STATE] * len(self._parts)

    def _ask(self, request: bytes) -> Iterator[bytes]:
        self._turn += 1
        waiting: AbstractContextManager[None] = self._waiting()
        with _no_worker_lost(), waiting:
            replies, states = self._sent(request)
            while replies:
                yield replies.popleft().result()
        self._states = states

    def _sent(self, request: bytes) -> tuple[deque[Any], list[Any]]:
        """Send a request; return the replies and the states to come."""
        client = self._client
        sent = client.scatter(request, broadcast=True, hash=False)
        answers = [
            client.submit(_answer, self._run, k, self._turn, first, self._common, part, state, sent, pure=False)
            for k, (first, part, state) in enumerate(zip(self._first, self._parts, self._states, strict=True))
        ]
        replies, states = (client.map(operator.itemgetter(k), answers, pure=False) for k in (0, 1))
        return deque(replies), states

    def close(self) -> None:
        """Let go of the futures; the cluster then frees what they hold."""
        self._common, self._parts, self._states = None, [], []


@contextmanager
def _no_worker_lost() -> Iterator[None]:
    """Turn what Dask says where a worker is lost into an EspalierError."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except (KilledWorker, CancelledError, CommClosedError) as error:
        raise EspalierError(
            "a worker of the cluster died with its part of the data, so there is no sum; fit again, and if it happens "
            "again give workers more memory"
        ) from error


def _answer(
    run: str, part: int, turn: int, first: int, common: bytes, data: bytes, state: bytes, asked: bytes
) -> tuple[bytes, bytes]:
    """Answer the request of a turn for one part; this is what workers do."""
    ready = prepared(run, part, partial(bytes, common), partial(bytes, data))
    return answered(request(run, turn, partial(bytes, asked)), ready, state, first)

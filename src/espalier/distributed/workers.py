"""Parts with workers of other processes: joblib's, which read files, and Dask's, which hold futures.

`ShardsInFolder` writes the parts to a temporary directory once; they are read once a process. A request is written once
a turn. Nothing ties a part to a process, so in time each may come to hold all of them. Workers write their answers and
the new states to files of that turn, which get their names when they are complete; so a worker that dies leaves nothing
behind that could be taken for an answer, and the turn can be repeated. Workers must see the directory: on several
machines that is TMPDIR on a disk that they share.

`ShardsInFutures` scatters the parts over a Dask cluster once; states never leave it. A turn sends the request once to
every worker and fetches the replies, in order. Dask repeats what was lost with a worker where it can; parts themselves
are held once, and where one is lost with its worker there is an error and no sum.

A worker remembers the parts it has met, loaded and prepared. Nothing is lost with a worker that dies or a request that
goes to another one: whatever is missing is loaded again.
"""

from __future__ import annotations

import operator
import os
import pickle
import tempfile
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from espalier.distributed.shards import NO_STATE, Shards, answered, packed
from espalier.errors import EspalierError

__all__ = ["ShardsInFolder", "ShardsInFutures", "prepared", "request"]

Part = TypeVar("Part")
_TRIES, _PAUSE = 3, 0.5  # to hand out data; seconds behind one, in which a cluster sees that a worker is gone

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


class ShardsInFolder(Shards[Part]):
    """Parts that joblib's workers read from files."""

    def __init__(
        self, data: Sequence[Any], prepare: Callable[[Any, Any], Part], common: Any, first: Sequence[int], jobs: int
    ) -> None:
        """Write the parts."""
        self._directory = tempfile.TemporaryDirectory(prefix="espalier-", ignore_cleanup_errors=True)
        self._folder, self._first, self._jobs = Path(self._directory.name), first, jobs
        self._turn, self._states_of = 0, 0  # the turn that is on, and the last one that all parts have done
        try:
            (self._folder / "common").write_bytes(packed((prepare, common)))
            for k, part in enumerate(data):
                (self._folder / f"part{k}").write_bytes(packed(part))
                _path(self._folder, "state", k, 0).write_bytes(NO_STATE)
        except BaseException:
            self.close()
            raise

    def _ask(self, request: bytes) -> Iterator[bytes]:
        self._turn += 1
        (self._folder / "request").write_bytes(request)
        try:
            self._work()
        except BrokenExecutor:  # all that the turn needs is still there, so it is repeated, but not forever
            try:
                self._work()
            except BrokenExecutor as error:
                raise EspalierError(
                    "a worker process died, twice, perhaps for want of memory, so there is no sum",
                    hint=("fit again, with fewer jobs"),
                ) from error
        before, self._states_of = self._states_of, self._turn
        for k in range(len(self._first)):
            _path(self._folder, "state", k, before).unlink()
            reply = _path(self._folder, "reply", k, self._turn)
            yield reply.read_bytes()
            reply.unlink()

    def _work(self) -> None:
        """Have every part answer the request of this turn."""
        from joblib import Parallel, delayed

        with warnings.catch_warnings():
            # Workers keep their parts, and loky replaces one that has grown: nothing to worry about.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
            Parallel(n_jobs=self._jobs)(
                delayed(_answer_from_folder)(str(self._folder), k, self._turn, self._states_of, first)
                for k, first in enumerate(self._first)
            )

    def close(self) -> None:
        """Delete the directory."""
        self._directory.cleanup()


def _path(folder: Path, what: str, part: int, turn: int) -> Path:
    return folder / f"{what}{part}.{turn}"


def _answer_from_folder(directory: str, part: int, turn: int, before: int, first: int) -> None:
    """Answer the request of a turn for one part; this is what workers do. before : the turn that its state is of."""
    folder = Path(directory)
    if not folder.is_dir():
        raise EspalierError(
            f"a worker cannot see {folder}, which holds its part",
            hint="set TMPDIR to a directory that all machines share",
        )

    def read(name: str) -> bytes:
        return (folder / name).read_bytes()

    ready = prepared(directory, part, partial(read, "common"), partial(read, f"part{part}"))
    asked = request(directory, turn, partial(read, "request"))
    reply, state = answered(asked, ready, _path(folder, "state", part, before).read_bytes(), first)
    _write(_path(folder, "state", part, turn), state)
    _write(_path(folder, "reply", part, turn), reply)


def _write(path: Path, content: bytes) -> None:
    """Write a file that has its name only once it is complete."""
    draft = path.with_name(f"{path.name}-{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(path)


class ShardsInFutures(Shards[Part]):
    """Parts that Dask's workers hold. backend : joblib's, whose client leads to the cluster."""

    def __init__(
        self, data: Sequence[Any], prepare: Callable[[Any, Any], Part], common: Any, first: Sequence[int], backend: Any
    ) -> None:
        """Scatter the parts."""
        self._client, self._waiting = backend.client, backend.retrieval_context
        self._run, self._first, self._turn = uuid.uuid4().hex, first, 0
        self._common = _scattered(self._client, packed((prepare, common)), broadcast=True)
        self._parts = _scattered(self._client, [packed(part) for part in data])
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
        sent = _scattered(client, request, broadcast=True)
        answers = [
            client.submit(
                _answer_from_futures, self._run, k, self._turn, first, self._common, part, state, sent, pure=False
            )
            for k, (first, part, state) in enumerate(zip(self._first, self._parts, self._states, strict=True))
        ]
        replies, states = (client.map(operator.itemgetter(k), answers, pure=False) for k in (0, 1))
        return deque(replies), states

    def close(self) -> None:
        """Let go of the futures; the cluster then frees what they hold."""
        self._common, self._parts, self._states = None, [], []


def _scattered(client: Any, what: Any, *, broadcast: bool = False) -> Any:
    """Hand data to the workers; again where one of them dies meanwhile.

    Dask's scheduler then looks for a worker that it no longer has. Nothing is lost: the data are still here.
    """
    for _ in range(_TRIES):
        try:
            return client.scatter(what, broadcast=broadcast, hash=False)
        except (KeyError, OSError) as error:  # a worker that is gone, and a connection to one
            lost = error
            time.sleep(_PAUSE)
    raise EspalierError(
        f"data could not be handed to the cluster in {_TRIES} tries: its workers die or do not answer",
        hint="see what its scheduler and workers print, give workers more memory, and fit again",
    ) from lost


@contextmanager
def _no_worker_lost() -> Iterator[None]:
    """Turn what Dask says where a worker is lost into an EspalierError."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except (KilledWorker, CancelledError, CommClosedError) as error:
        raise EspalierError(
            "a worker of the cluster died with its part of the data, so there is no sum",
            hint=("fit again, and if it happens again give workers more memory"),
        ) from error


def _answer_from_futures(
    run: str, part: int, turn: int, first: int, common: bytes, data: bytes, state: bytes, asked: bytes
) -> tuple[bytes, bytes]:
    """Answer the request of a turn for one part; this is what workers do."""
    ready = prepared(run, part, partial(bytes, common), partial(bytes, data))
    return answered(request(run, turn, partial(bytes, asked)), ready, state, first)

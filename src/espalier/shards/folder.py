"""Parts in a temporary directory, and joblib's workers on them: loky, threads, or whatever backend is in force.

Parts are written once and read once a process; a request is written once a turn. Nothing ties a part to a process, so
in time each may come to hold all of them. Workers write their answers and the new states to files of that turn, which
get their names when they are complete; so a worker that dies leaves nothing behind that could be taken for an answer,
and the turn can be repeated. Workers must see the directory: on several machines that is TMPDIR on a disk that they
share.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from espalier.errors import EspalierError
from espalier.shards.base import NO_STATE, Shards, answered, packed
from espalier.shards.memory import prepared, request

__all__ = ["ShardsInFolder"]

Part = TypeVar("Part")


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
                    "a worker process died, twice, perhaps for want of memory, so there is no sum; fit again, with "
                    "fewer jobs"
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
                delayed(_answer)(str(self._folder), k, self._turn, self._states_of, first)
                for k, first in enumerate(self._first)
            )

    def close(self) -> None:
        """Delete the directory."""
        self._directory.cleanup()


def _path(folder: Path, what: str, part: int, turn: int) -> Path:
    return folder / f"{what}{part}.{turn}"


def _answer(directory: str, part: int, turn: int, before: int, first: int) -> None:
    """Answer the request of a turn for one part; this is what workers do. before : the turn that its state is of."""
    folder = Path(directory)
    if not folder.is_dir():
        raise EspalierError(
            f"a worker cannot see {folder}, which holds its part; set TMPDIR to a directory that all machines share"
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

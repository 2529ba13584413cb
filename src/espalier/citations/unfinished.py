"""`parse --resume`: batches that were finished are kept beside the output until all of it is written.

The file `OUT.unfinished` has a line that says what was asked for, and a line for each finished batch. It is removed
when OUT is written. A line that was cut off by a crash counts as not there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from espalier.citations.batches import Order, Slotted, Written
from espalier.errors import InputError
from espalier.text_files import blaming

__all__ = ["Unfinished", "asked_for"]


def asked_for(
    version: str, files: Sequence[Path], model: Path, order: Order, layout: str, encoding: str
) -> dict[str, Any]:
    """Return everything that the batches depend on, as JSON values. version : of the library."""
    found = [(str(path), path.stat()) for path in files if os.path.exists(path)]
    states = [(name, state.st_size, state.st_mtime_ns) for name, state in found]
    wanted = {name: value for name, value in asdict(order).items() if name != "slot"}
    return {
        "version": version,
        "files": [list(state) for state in states],
        "model": hashlib.sha256(model.read_bytes()).hexdigest(),
        "layout": layout,
        "encoding": encoding,
        **wanted,
    }


class Unfinished:
    """The finished batches of a run, in a file beside its output; count : references in them."""

    def __init__(self, output: Path, asked: dict[str, Any]) -> None:
        """Name the file; nothing is read or written yet."""
        self.path = output.with_name(f"{output.name}.unfinished")
        self.count = 0
        self._asked = asked
        self._first: Written | None = None  # most runs have one batch, and need no file
        self._stream: IO[str] | None = None

    def before(self) -> list[Written]:
        """Return the batches of the run that was stopped; one that was asked for something else is refused."""
        if not self.path.exists():
            return []
        whole = self.path.read_bytes().split(b"\n")[:-1]
        try:
            asked, *batches = map(json.loads, whole or [b"{}"])
            found = [_written(batch) for batch in batches]
            other = [name for name in self._asked if asked.get(name) != self._asked[name]]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{self.path} is damaged", hint="run without --resume to begin anew") from None
        if asked != self._asked:
            what = f"{self.path} is of a run that was asked for something else ({', '.join(other)})"
            raise InputError(what, hint="give the same files and options, or run without --resume to begin anew")
        self.count = sum(batch.count for batch in found)
        return found

    def keep(self, batches: Iterator[Written], before: Sequence[Written]) -> Iterator[Written]:
        """Yield the batches of the run that was stopped, then these; each of these is kept before it is yielded."""
        yield from before
        for batch in batches:
            self.count += batch.count
            if not before and self._first is None:
                self._first = batch
            else:
                self._line(_packed(batch), anew=not before)
            yield batch

    def _line(self, value: Any, *, anew: bool) -> None:
        """Add a line; a file that is begun anew has what was asked for and the first batch before it."""
        with blaming(str(self.path)):
            if self._stream is None:
                if not anew:
                    _mend(self.path)
                self._stream = open(self.path, "w" if anew else "a", encoding="utf-8")  # noqa: SIM115
                if anew and self._first is not None:
                    self._stream.write(f"{json.dumps(self._asked)}\n{_json(_packed(self._first))}\n")
            self._stream.write(_json(value) + "\n" if value is not None else "")
            self._stream.flush()

    def close(self, *, finished: bool) -> None:
        """Let the file go; when everything is written it is not needed any more."""
        if not finished and self._stream is None and self._first is not None:
            self._line(None, anew=True)
        if self._stream is not None:
            self._stream.close()
        if finished:
            self.path.unlink(missing_ok=True)


def _mend(path: Path) -> None:
    """Cut off a last line that a crash has left without its end."""
    data = path.read_bytes()
    path.write_bytes(data[: data.rfind(b"\n") + 1])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _packed(batch: Written) -> dict[str, Any]:
    pieces = {name: [[piece.stem, *piece.parts] for piece in getattr(batch, name)] for name in ("entries", "review")}
    return {"count": batch.count, "low": batch.low, **pieces}


def _written(batch: dict[str, Any]) -> Written:
    entries, review = ([Slotted(stem, tuple(parts)) for stem, *parts in batch[name]] for name in ("entries", "review"))
    return Written(int(batch["count"]), int(batch["low"]), [], entries, review)

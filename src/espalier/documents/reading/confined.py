"""Documents of people are read in a process of their own, bounded in time, memory and output, whatever is in them.

    read_confined          asks a reader, looks at the clock while it works (`pace`), and kills it when it is too much
    one of `_Readers`      a process that imports what reads documents and nothing else, kept for the next document

The process gets a document over a pipe, puts limits on itself (`inside`), and answers with rows (`rows`), so that
nothing which it sends can be executed. It ends with its input, so it does not outlive who asks. Seconds and memory are
in proportion to the size of the file: that is what makes every reader linear. A reader that ends, for whatever reason,
is replaced; the first document of a process waits a tenth of a second for one, the others a millisecond or two.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import IO, Any, NamedTuple

from espalier.documents.lines import PrintedText
from espalier.documents.pace import look
from espalier.documents.reading.rows import from_rows
from espalier.errors import EspalierError, InputError, MissingExtraError

__all__ = [
    "AT_ONCE",
    "BEGIN",
    "CHARACTERS",
    "LINES",
    "MEGABYTES",
    "MEGABYTES_EACH",
    "NO_MEMORY",
    "SECONDS",
    "SECONDS_EACH",
    "TAKEN",
    "ReadingLimits",
    "close",
    "prepare",
    "read_confined",
]

SECONDS, SECONDS_EACH = 8.0, 10.0
"""How long a document may be read, and how much longer for each megabyte of the file; `ESPALIER_DOCUMENT_SECONDS`."""

MEGABYTES, MEGABYTES_EACH = 256.0, 8.0
"""Memory of a reader, and how much more for each megabyte of the file; `ESPALIER_DOCUMENT_MEGABYTES`."""

LINES, CHARACTERS = 120_000, 12_000_000
"""What is made of a document: a book of 2,000 pages."""

AT_ONCE = max(2, min(4, os.cpu_count() or 1))
"""Documents that a process lets be read at a time; others wait."""

TAKEN = b"+"
"""What a reader says when it has a document."""

NO_MEMORY = 70
"""How a reader ends that needs more memory than it may have."""

_PACE = 0.02  # seconds between two looks at the clock
_START = 60.0  # seconds that a reader may take to begin
_ENDING = 1.0  # seconds that a reader which has closed its pipe may take to end
_MEGABYTE = 1 << 20
_BYTES_OUT = 8 * CHARACTERS + 120 * LINES  # of an answer: six bytes for a letter, and the figures of a line

BEGIN = "import sys; sys.path[:] = sys.argv[1:]; from espalier.documents.reading.inside import serve; serve()"
"""What a reader runs; its arguments are the path of this process, where the same modules are found."""


class ReadingLimits(NamedTuple):
    """What the reading of one file may cost: seconds, bytes of memory, lines and characters."""

    seconds: float
    memory: int
    lines: int
    characters: int

    @classmethod
    def of(cls, size: int) -> ReadingLimits:
        """Return the limits for a file of so many bytes."""
        seconds = _setting("ESPALIER_DOCUMENT_SECONDS", SECONDS) + SECONDS_EACH * size / _MEGABYTE
        megabytes = _setting("ESPALIER_DOCUMENT_MEGABYTES", MEGABYTES) + MEGABYTES_EACH * size / _MEGABYTE
        return cls(seconds, int(megabytes * _MEGABYTE), LINES, CHARACTERS)


def _setting(name: str, otherwise: float) -> float:
    """Return a number from the environment."""
    said = os.environ.get(name, "")
    try:
        found = float(said or otherwise)
    except ValueError:
        found = -1.0
    if not 0 < found < 1e6:
        raise InputError(f"{name} is {said!r}", hint="set it to a number above 0")
    return found


def read_confined(data: bytes, name: str) -> PrintedText:
    """Return the lines of a file, read in a process of its own.

    Raises InputError for what cannot be read, and for what takes more time or memory than a file of its size may take;
    while the reader works, whoever watches (`pace`) is asked, and what that raises ends the reading.
    """
    limits = ReadingLimits.of(len(data))
    with _READERS.turn():
        answer = _answered(data, name, limits)
    try:
        found = json.loads(answer)
        if "error" in found:
            kind = MissingExtraError if found["error"] == "MissingExtraError" else InputError
            raise kind(str(found["what"]), hint=str(found["hint"]))
        return from_rows(found, name)
    except EspalierError:
        raise
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError):
        raise InputError(f"{name or 'the file'} cannot be read: its reader gave no answer", hint=_DAMAGED) from None


def prepare() -> None:
    """Start a reader, which is ready by the time that it is needed."""
    with suppress(EspalierError):
        _READERS.keep(_Reader())


def close() -> None:
    """End the readers that wait for a document; the next one begins with a new one."""
    _READERS.close()


_DAMAGED = "get the file again, or save its references as text"


def _answered(data: bytes, name: str, limits: ReadingLimits) -> bytes:
    """Return the answer of a reader; one that ended before it had the document is replaced."""
    order = {"name": name, "size": len(data), **limits._asdict()}
    for reader in (_READERS.take(), None):
        reader = reader or _Reader()
        try:
            answer = reader.ask(order, data, limits.seconds)
        except _TimeOver:
            reader.end()
            raise _too_long(name or "the file", limits) from None
        except BaseException:
            reader.end()
            raise
        if answer:
            _READERS.keep(reader)
            return answer
        code = reader.end(_ENDING)
        if reader.took:
            raise _died(code, name or "the file", limits)
    raise _not_started(f"{sys.executable} ended with {code}")


def _not_started(why: str) -> EspalierError:
    what = f"no process to read documents in could be started: {why}"
    return EspalierError(what, hint="who trusts a document can read it in place: read_document(..., trusted=True)")


def _died(code: int, called: str, limits: ReadingLimits) -> InputError:
    """Say why a reader ended."""
    if code == NO_MEMORY:
        what = f"{called} needs more than {limits.memory >> 20} MB of memory, the most for a file of its size"
        return InputError(what, hint=_larger("MEGABYTES", MEGABYTES))
    if hasattr(signal, "SIGXCPU") and code == -signal.SIGXCPU:
        return _too_long(called, limits)
    what = f"{called} cannot be read: its reader broke off ({f'signal {-code}' if code < 0 else f'code {code}'})"
    return InputError(what, hint=_DAMAGED)


def _too_long(called: str, limits: ReadingLimits) -> InputError:
    what = f"{called} takes more than {limits.seconds:.0f} seconds to read, the most for a file of its size"
    return InputError(what, hint=_larger("SECONDS", SECONDS))


def _larger(what: str, now: float) -> str:
    return f"save its references as text; if you trust it, set ESPALIER_DOCUMENT_{what} to more than {now:.0f}"


class _TimeOver(Exception):
    """A reader has not answered in time."""


class _Reader:
    """A process that reads documents, one at a time. took : it has got the whole of the last one."""

    def __init__(self) -> None:
        # What is on the path here is on the path there, and nothing else: not the folder that somebody stands in.
        command = [sys.executable, "-c", BEGIN, *sys.path]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        try:
            # Without buffers, a fork has nothing of it that could be written twice.
            self._process = subprocess.Popen(
                command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env=environment,
            )  # fmt: skip
        except OSError as error:
            raise _not_started(str(error)) from None
        self._thread = threading.Thread()
        self.took = False

    @property
    def alive(self) -> bool:
        """Has it not ended?"""
        return self._process.poll() is None

    def ask(self, order: dict[str, Any], data: bytes, seconds: float) -> bytes:
        """Return the answer, empty if the process ended; raises _TimeOver when its time is over."""
        self.took = False
        news: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._exchange, args=(order, data, news), daemon=True)
        self._thread.start()
        end, answer = monotonic() + _START, b""
        while True:
            try:
                answer = news.get(timeout=_PACE)
            except queue.Empty:
                if monotonic() > end:
                    raise _TimeOver from None
                look()
                continue
            if answer != TAKEN:
                return answer
            self.took, end = True, monotonic() + seconds

    def _exchange(self, order: dict[str, Any], data: bytes, news: queue.SimpleQueue[bytes]) -> None:
        """Send a document and receive the answer, in a thread, which may wait as long as the process lives."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        answer = b""
        with suppress(OSError, ValueError):  # it ended, or was ended
            _send(self._process.stdin, json.dumps(order).encode() + b"\n")
            _send(self._process.stdin, data)
            if _receive(self._process.stdout, 1) == TAKEN:
                news.put(TAKEN)
                size = int.from_bytes(_receive(self._process.stdout, 8), "big")
                answer = _receive(self._process.stdout, size) if size <= _BYTES_OUT else b""
        news.put(answer)

    def end(self, patience: float = 0.0) -> int:
        """Kill the process if it does not end by itself in so many seconds; return how it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self._process.kill()
        code = self._process.wait()
        if self._thread.ident is not None:
            self._thread.join()  # its pipes are at their end
        self.close()
        return code

    def close(self) -> None:
        """Let go of the pipes."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()


def _send(stream: IO[bytes], data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]


def _receive(stream: IO[bytes], size: int) -> bytes:
    """Return so many bytes, fewer where the stream ends."""
    parts, missing = [], size
    while missing and (part := stream.read(min(missing, _MEGABYTE))):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


class _Readers:
    """The readers of this process that wait for a document, and how many may work."""

    def __init__(self) -> None:
        self._waiting: list[_Reader] = []
        self._lock, self._places = threading.Lock(), threading.BoundedSemaphore(AT_ONCE)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until there is a place for one more."""
        look()
        while not self._places.acquire(timeout=_PACE):
            look()
        try:
            yield
        finally:
            self._places.release()

    def take(self) -> _Reader | None:
        """Return a reader that waits, None if there is none."""
        with self._lock:
            while self._waiting:
                reader = self._waiting.pop()
                if reader.alive:
                    return reader
                reader.end()
        return None

    def keep(self, reader: _Reader) -> None:
        """Let a reader wait for the next document."""
        with self._lock:
            self._waiting.append(reader)

    def close(self) -> None:
        """End all that wait."""
        while (reader := self.take()) is not None:
            reader.end()

    def leave(self) -> None:
        """In a forked child: these are the readers of its parent."""
        for reader in self._waiting:
            reader.close()
        _LEFT.extend(self._waiting)
        self.__init__()  # type: ignore[misc]


# Module state, on purpose: processes outlive the call that started them, and a forked child must not take its parent's.
_READERS = _Readers()
_LEFT: list[_Reader] = []  # of the parent of a fork; they are its to end
atexit.register(close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_READERS.leave)

"""`serve`: what runs in the process that documents are read in; it imports readers, and no model.

It puts limits on itself before it reads: what it takes of memory is looked at fifty times a second, and where the
system can, it bounds the address space, the processor's seconds and the files written, too (`resource`). It ends when
its input does, with whoever asked.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from espalier.documents.reading import KINDS, read_document
from espalier.documents.reading.confined import NO_MEMORY, TAKEN
from espalier.documents.reading.rows import to_rows
from espalier.errors import InputError, MissingExtraError

__all__ = ["resident_memory", "serve"]

_PAUSE = 0.02  # seconds between two looks at the memory
_GROWN = 1 << 27  # bytes of memory after which a reader ends with its document, so that they are given back
_SPARE = 1 << 27  # bytes of address space beyond the memory, for libraries and threads


def _of_system() -> Any:
    """Return the module `resource`, None on a system without it."""
    try:
        import resource
    except ImportError:
        return None
    return resource


_RESOURCE = _of_system()


def serve() -> None:
    """Read documents until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asks
    given, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _silence()
    resident = resident_memory()
    _load()
    orders: queue.SimpleQueue[tuple[dict[str, Any], bytes]] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(given, orders), daemon=True).start()
    while True:
        order, data = orders.get()
        answers.write(TAKEN)
        answers.flush()
        _limit(order)
        with _Watch(resident, order["memory"]):
            answer = _answer(data, order)
        del data
        answers.write(len(answer).to_bytes(8, "big") + answer)
        answers.flush()
        if resident() > _GROWN:
            os._exit(0)


def _silence() -> None:
    """Let nothing that a library prints become an answer, or wait for one."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)


def _load() -> None:
    """Import what reads, before anybody waits for it."""
    with suppress(ImportError):
        import pypdfium2  # noqa: F401
    for kind in KINDS:
        __import__(f"espalier.documents.reading.{kind.module}")


def _take(given: Any, orders: queue.SimpleQueue[tuple[dict[str, Any], bytes]]) -> None:
    """Take orders as they come; with the end of the input the process ends, whatever it does."""
    while line := given.readline():
        order = json.loads(line)
        data = given.read(order["size"])
        if len(data) < order["size"]:
            break
        orders.put((order, data))
        del data
    os._exit(3)


def _answer(data: bytes, order: dict[str, Any]) -> bytes:
    """Return the rows of a document, or why there are none."""
    called = order["name"] or "the file"
    try:
        printed = read_document(data, order["name"], trusted=True)
        held = {"lines": len(printed.lines), "characters": printed.lines[-1].end if printed.lines else 0}
        for noun, count in held.items():
            if count > order[noun]:
                raise InputError(f"{called} has more than {order[noun]:,} {noun}", hint="cut it into several files")
        return to_rows(printed)
    except MemoryError:
        os._exit(NO_MEMORY)
    except (InputError, MissingExtraError) as error:
        kind, what, hint = type(error).__name__, "".join(map(str, error.parts)), error.hint
    except RecursionError:
        kind, what, hint = "InputError", f"{called} is nested too deeply", "save it anew, or as text"
    except Exception as error:  # a reader's own fault, which must not become that of the server
        kind, what = "InputError", f"{called} cannot be read: {type(error).__name__}: {str(error)[:200]}"
        hint = "get the file again, or save its references as text"
    return json.dumps({"error": kind, "what": what, "hint": hint}).encode()


def _limit(order: dict[str, Any]) -> None:
    """Bound what the system can bound; the watch has the exact limit of memory, this one holds where it is too slow."""
    if _RESOURCE is None:
        return
    used = _RESOURCE.getrusage(_RESOURCE.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + order["seconds"]) + 2
    bounds = {"RLIMIT_CPU": seconds, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0}
    if (mapped := _mapped()) is not None:
        bounds["RLIMIT_AS"] = mapped + order["memory"] + _SPARE
    for name, most in bounds.items():
        with suppress(ValueError, OSError, AttributeError):  # above what is allowed already, or not on this system
            kind = getattr(_RESOURCE, name)
            hard = _RESOURCE.getrlimit(kind)[1]
            _RESOURCE.setrlimit(kind, (most if hard == _RESOURCE.RLIM_INFINITY else min(most, hard), hard))


def _mapped() -> int | None:
    """Return the address space that is in use, None where the system does not say."""
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return None


class _Watch:
    """Ends the process when it needs more memory than it may have, while the block runs."""

    def __init__(self, resident: Callable[[], int], most: int) -> None:
        self._resident, self._most, self._over = resident, most, threading.Event()

    def __enter__(self) -> None:
        threading.Thread(target=self._look, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _look(self) -> None:
        while not self._over.wait(_PAUSE):
            if self._resident() > self._most:
                os._exit(NO_MEMORY)


def resident_memory() -> Callable[[], int]:
    """Return a function that says how many bytes of memory this process has; on macOS, the most that it had."""
    if os.path.exists("/proc/self/statm"):
        page = os.sysconf("SC_PAGE_SIZE")

        def from_system() -> int:
            with open("/proc/self/statm", "rb", 0) as file:
                return int(file.read().split()[1]) * page

        return from_system
    if _RESOURCE is not None:
        unit = 1 if sys.platform == "darwin" else 1024
        return lambda: _RESOURCE.getrusage(_RESOURCE.RUSAGE_SELF).ru_maxrss * unit
    return _of_windows


def _of_windows() -> int:
    """Return the memory of this process as Windows tells it."""
    sizes = ("peak", "resident", "peak_paged", "paged", "peak_other", "other", "pagefile", "peak_pagefile")

    class Counters(ctypes.Structure):
        _fields_ = [
            ("size", ctypes.c_uint32), ("faults", ctypes.c_uint32), *((name, ctypes.c_size_t) for name in sizes),
        ]  # fmt: skip

    counters = Counters(size=ctypes.sizeof(Counters))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 (there on Windows only)
    kernel.K32GetProcessMemoryInfo(ctypes.c_void_p(-1), ctypes.byref(counters), counters.size)
    return int(counters.pagefile)

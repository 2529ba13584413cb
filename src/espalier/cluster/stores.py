"""Files wherever fsspec finds them: local paths, `file://`, `s3://`, `memory://` ...

`whole` writes a file that appears under its name at once and complete, or not at all. On a local disk that is a rename,
which is atomic, of a file whose bytes have reached the disk. Object stores have no rename: there the copy makes the
object appear, and stores show an object only when all of it has arrived; what can be left behind is a hidden `.part`
file, which the next run removes. A writer has a hidden file of its own, so two that write the same name do not mix.

One run at a time writes to a directory of results (`alone`). A run begins with removing what earlier ones left
half-written, which it cannot tell from what another one is writing at this moment. So on a local disk it locks
the directory for as long as it lives; the operating system takes the lock back from a process that died. Object stores
have no such lock. Two runs at a time do no damage there, since each writes under hidden names of its own, but they may
have to do partitions again, or set them aside.
"""

from __future__ import annotations

import errno
import io
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import IO, Any

from espalier.errors import InputError, MissingExtraError

__all__ = ["NO_ROOM", "Store", "alone", "locate", "need", "stamp", "whole"]

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors that say: nothing more can be written here."""

_STAMPS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "updated", "created")
"""What file systems call the mark that changes with a file, best first."""


def locate(address: str) -> tuple[Any, str]:
    """Return the file system of an address and the path on it, with nothing remembered of earlier looks."""
    try:
        fs, path = need("fsspec").core.url_to_fs(address)
    except (ValueError, ImportError) as error:  # a protocol that nobody knows, or whose package is not installed
        raise InputError(f"cannot reach {address}: {error}") from None
    fs.invalidate_cache()
    return fs, str(path)


class Store:
    """A directory: an address and the file system it is on."""

    def __init__(self, address: str) -> None:
        """Find the file system of an address."""
        self.address = address
        self.fs, self.root = locate(address)

    def path(self, *parts: str) -> str:
        """Return a path below the directory, as the file system knows it."""
        return "/".join([self.root.rstrip("/"), *parts])

    def names(self, *parts: str) -> set[str]:
        """Return the names of what is in a directory below; none if there is no such directory."""
        # A listing that somebody remembered may be older than what workers wrote.
        self.fs.invalidate_cache()
        try:
            found = self.fs.ls(self.path(*parts), detail=False)
        except FileNotFoundError:
            return set()
        return {str(path).rstrip("/").rpartition("/")[2] for path in found}

    def make(self, *parts: str) -> None:
        """Make a directory, and those above it; object stores have none and need none."""
        self.fs.makedirs(self.path(*parts), exist_ok=True)

    def read(self, *parts: str) -> bytes:
        """Return the bytes of a file."""
        return bytes(self.fs.cat_file(self.path(*parts)))

    def remove(self, *parts: str) -> None:
        """Remove a file; it is well if there is none."""
        with suppress(FileNotFoundError):
            self.fs.rm_file(self.path(*parts))


@contextmanager
def whole(store: Store, *parts: str) -> Iterator[IO[bytes]]:
    """Open a file for writing that is there, complete, when the block ends well, and else is as it was."""
    *above, name = parts
    hidden = store.path(*above, f".{name}.{uuid.uuid4().hex}.part")
    try:
        with store.fs.open(hidden, "wb") as file:
            yield file
            _to_disk(file)
        store.fs.mv(hidden, store.path(*parts))
    except BaseException:
        with suppress(Exception):  # what went wrong is told already
            store.fs.rm_file(hidden)
        raise


def _to_disk(file: Any) -> None:
    """See that the bytes survive a power cut, where there is a disk to speak of."""
    with suppress(AttributeError, io.UnsupportedOperation):
        number = file.fileno()
        file.flush()
        os.fsync(number)


def stamp(info: dict[str, Any]) -> str:
    """Return the mark of a file's state: its version where the store has one, else its time of change."""
    return str(next((info[name] for name in _STAMPS if info.get(name) is not None), ""))


def need(module: str) -> Any:
    """Return a module by its dotted name; if its package is not installed, say how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).partition(".")[0]
        raise MissingExtraError(
            f"work over several processes needs the package {missing!r}",
            hint="run: pip install 'espalier-nlp[cluster]'",
        ) from error


try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]


@contextmanager
def alone(store: Store) -> Iterator[None]:
    """Have a directory for oneself, which is made if it is not there; one that another run has is refused."""
    if fcntl is None or not isinstance(store.fs, need("fsspec.implementations.local").LocalFileSystem):
        yield
        return
    try:
        store.make()
        directory = os.open(store.root, os.O_RDONLY)
    except OSError as error:
        raise InputError(f"{store.address} cannot be a directory of results: {error.strerror}") from None
    try:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{store.address}: another run is writing there", hint="wait until it has ended, or name another output"
            ) from None
        except OSError:  # a network disk without locks
            pass
        yield
    finally:
        os.close(directory)

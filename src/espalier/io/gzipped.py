"""Gzipped files are measured while they are unpacked: a bomb is refused long before memory is full."""

from __future__ import annotations

import gzip
import io
from typing import IO, Any

from espalier.errors import FormatError

__all__ = ["FREE", "unpacked"]

FREE = 1 << 26
"""Bytes that any gzipped file may hold."""


def unpacked(stream: IO[bytes], expansion: float, name: str) -> IO[bytes]:
    """Return what a gzipped file holds; expansion : see `files.open_lines`."""
    packed = _Counted(stream)
    inside = gzip.GzipFile(fileobj=packed, mode="rb")  # type: ignore[call-overload]
    return io.BufferedReader(_Measured(inside, packed, expansion, name))


class _Counted:
    """A binary file that counts the bytes read from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.count = stream, 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        return data


class _Measured(io.RawIOBase):
    """What a gzipped file holds, as far as it is believed."""

    def __init__(self, unpacked: gzip.GzipFile, packed: _Counted, expansion: float, name: str) -> None:
        self._unpacked, self._packed, self._expansion, self._name = unpacked, packed, expansion, name
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._unpacked.read1(len(buffer))
        buffer[: len(data)] = data
        self._count += len(data)
        if self._count > FREE and self._count > self._expansion * self._packed.count:
            raise FormatError(
                f"the gzip data unpacks to more than {self._expansion:g} times its size",
                path=self._name,
                hint=("if you trust it, unpack it first, or pass expansion=inf"),
            )
        return len(data)

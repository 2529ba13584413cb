"""Files that are read one after the other: what is bad is told and counted, and what follows it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from espalier.errors import EspalierError, FormatError, InputError, unopened

__all__ = ["STANDARD", "Several", "Tell", "source_name"]

STANDARD = "-"
"""The name of what is not a file but given as a stream."""

Tell = Callable[[EspalierError, str], None]
"""Hears what is wrong, and what that means for the rest of the file."""


def source_name(path: Path) -> str:
    """Return what messages call a file that is read."""
    return "<stdin>" if str(path) == STANDARD else str(path)


@dataclass(slots=True)
class Several:
    """Files, how many records were `read`, and how many of them and of their files were bad.

    tell : hears what is wrong; thing : a record is called. A file is bad if it has no record, or was not read to its
    end. If nothing but bad ones come, that is an error, so that a file that was to be written stays as it was.
    """

    files: Sequence[Path]
    tell: Tell
    thing: str = "record"
    read: int = 0
    bad_records: int = 0
    bad_files: int = 0

    @property
    def bad(self) -> bool:
        """Was anything bad?"""
        return bool(self.bad_records or self.bad_files)

    def items(self, of: Callable[[Path, list[FormatError]], Iterator[Any]]) -> Iterator[Any]:
        """Yield the records of all files. of : gives those of one; what is bad among them goes to its list."""
        for path in self.files:
            try:
                yield from self._of(path, of)
            except (EspalierError, OSError) as error:
                self.bad_files += 1
                told = unopened(error, str(path)) if isinstance(error, OSError) else error
                if len(self.files) == 1 and not self.read:
                    raise told from None
                broken = isinstance(told, FormatError) and told.line
                self.tell(told, f"; the rest of {path} was not read" if broken else "")
        if self.bad and not self.read:
            raise InputError(f"no {self.thing} could be read")

    def _of(self, path: Path, of: Callable[[Path, list[FormatError]], Iterator[Any]]) -> Iterator[Any]:
        refused: list[FormatError] = []
        before = self.read + self.bad_records
        try:
            for item in of(path, refused):
                self._drain(refused)
                self.read += 1
                yield item
        finally:
            self._drain(refused)
        if self.read + self.bad_records == before:
            raise InputError(f"{source_name(path)}: there is no {self.thing} in it")

    def _drain(self, refused: list[FormatError]) -> None:
        """Tell and count records that could not be read."""
        for error in refused:
            self.tell(error, "")
        self.bad_records += len(refused)
        refused.clear()

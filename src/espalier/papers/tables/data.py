"""The data sets that the tables need: `DIR/<set>/normalised/<split>.jsonl`, or the same gzipped.

One JSON object on each line, with `tokens` and, unless unlabelled, `labels` (plain), `bio` or `bio_paths` (tags). What
is read is kept for the life of the process, by the file's name, size and time of change.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from espalier.corpus import Corpus
from espalier.errors import FormatError, InputError

__all__ = ["Data"]


@dataclass(frozen=True, slots=True)
class Data:
    """A directory of data sets."""

    directory: Path

    def check(self, splits: Iterable[str]) -> None:
        """Raise InputError if the directory or a split is missing; the message names every missing file."""
        if not self.directory.is_dir():
            raise InputError(
                f"{self.directory}: there is no such directory",
                hint=(
                    "pass --data the directory of the data sets, which has <set>/normalised/<split>.jsonl for each set"
                ),
            )
        missing = [str(self._plain(split)) for split in dict.fromkeys(splits) if self._find(split) is None]
        if missing:
            raise InputError(
                f"missing data: {', '.join(missing)} (or the same with .gz): one object a line with tokens"
            )

    def corpus(self, split: str, tags: str | None = "labels") -> Corpus:
        """Return a split, as "cora/train", with its labels from the field `tags`; unlabelled if None."""
        path = self.path(split)
        status = path.stat()
        return _corpus(path, status.st_size, status.st_mtime_ns, tags)

    def records(self, split: str, tags: str | None = "labels") -> list[dict[str, Any]]:
        """Return the objects of a split, with all their fields."""
        return _records(self.path(split), tags)

    def digest(self, split: str) -> str:
        """Return a SHA-256 of a split's file."""
        path = self.path(split)
        status = path.stat()
        return _digest(path, status.st_size, status.st_mtime_ns)

    def path(self, split: str) -> Path:
        """Return the file of a split."""
        self.check([split])
        found = self._find(split)
        assert found is not None
        return found

    def _plain(self, split: str) -> Path:
        name, _, part = split.partition("/")
        return self.directory / name / "normalised" / f"{part}.jsonl"

    def _find(self, split: str) -> Path | None:
        plain = self._plain(split)
        packed = plain.with_name(plain.name + ".gz")
        return next((path for path in (plain, packed) if path.is_file()), None)


@lru_cache(maxsize=64)
def _digest(path: Path, _size: int, _changed: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@lru_cache(maxsize=32)
def _corpus(path: Path, _size: int, _changed: int, tags: str | None) -> Corpus:
    records = _records(path, tags)
    return Corpus.from_tokens([r["tokens"] for r in records], None if tags is None else [r[tags] for r in records])


def _records(path: Path, tags: str | None) -> list[dict[str, Any]]:
    """Read a file."""
    raw = path.read_bytes()
    try:
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise FormatError(f"cannot be read as UTF-8 text: {error}", path=str(path)) from None
    records = [_record(path, i, line, tags) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not records:
        raise FormatError("there is no record in it", path=str(path))
    return records


def _record(path: Path, number: int, line: str, tags: str | None) -> dict[str, Any]:
    """Read one line; it must have tokens, and as many labels where they are wanted."""
    try:
        record: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise FormatError(f"not JSON: {error}", path=str(path), line=number) from None
    wanted = ["tokens"] if tags is None else ["tokens", tags]
    for name in wanted:
        if not isinstance(record, dict) or not isinstance(record.get(name), list):
            raise FormatError(f"the record has no list {name!r}", path=str(path), line=number)
    if len({len(record[name]) for name in wanted}) > 1:
        raise FormatError(f"'tokens' and {tags!r} are not equally long", path=str(path), line=number)
    return record

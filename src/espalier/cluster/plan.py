"""The input of a job, cut into partitions by a rule that looks at names and sizes alone.

    text, JSON Lines    the lines that begin in bytes [k n, (k + 1) n) of the file; n is `partition_bytes`
    gzipped             the whole file, since nobody can begin in the middle
    Parquet             row groups in a row, until they have n bytes
    documents           the whole file: PDF, DOCX, HTML or LaTeX, whose references are found first

So nothing is read to plan a job but the footers of Parquet files and the first two bytes of others; the same input is
cut in the same way on every run; and a partition that is to be done again is found by its name, which comes from the
file's address and the number of the cut. A Parquet file whose footer cannot be read is one partition, and whoever reads
it will say what is wrong.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from espalier.cluster.job import Settings
from espalier.cluster.stores import locate, need, stamp
from espalier.errors import InputError, nearest, shortened

__all__ = ["PLACES", "WHOLE", "Partition", "plan"]

WHOLE = -1
"""The end of a range that goes on to the end of the file."""

PLACES = ("page", "line", "start", "end", "box", "confidence", "mark", "filled")
"""What can be kept of a reference that was found in a document."""

_READERS = 16
_ENDINGS = {
    ".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".txt": "text",
    ".text": "text", ".pdf": "document", ".docx": "document", ".html": "document", ".htm": "document",
    ".xhtml": "document", ".tex": "document", ".bbl": "document",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Partition:
    """A range of a file: bytes of text, or row groups of Parquet; `size` and `stamp` are those of the file.

    name : of the output, without ending; format : parquet, jsonl, text or document.
    """

    name: str
    input: str
    format: str
    start: int
    stop: int
    size: int
    stamp: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def plan(settings: Settings) -> list[Partition]:
    """Return the partitions of all input files, in order; a pattern that matches nothing is an error."""
    files: dict[str, tuple[Any, dict[str, Any]]] = {}
    for pattern in settings.input:
        try:
            found = _matches(pattern)
        except ValueError as error:  # a name that no system takes, or a pattern that no file system knows
            if isinstance(error, InputError):
                raise
            raise InputError(f"input: {shortened(pattern)!r} names no file: {error}") from None
        for fs, info in found:
            files.setdefault(fs.unstrip_protocol(info["name"]), (fs, info))  # two patterns may match one file

    def cut(address: str) -> list[Partition]:
        fs, info = files[address]
        return list(_cut(fs, info, address, settings))

    with ThreadPoolExecutor(_READERS) as readers:
        return [partition for several in readers.map(cut, files) for partition in several]


def _matches(pattern: str) -> list[tuple[Any, dict[str, Any]]]:
    """Return the file system of a pattern and what it says of every file that matches, by name."""
    fs, path = locate(pattern)
    if any(sign in path for sign in "*?["):
        found = fs.glob(path, detail=True)
        infos = [found[name] for name in sorted(found) if found[name]["type"] == "file"]
        if not infos:
            raise InputError(f"input: no file matches {shortened(pattern)}")
        return [(fs, info) for info in infos]
    try:
        info = fs.info(path)
    except FileNotFoundError:
        raise InputError(f"input: {shortened(pattern)} is not there") from None
    if info["type"] == "directory":
        raise InputError(
            f"input: {pattern} is a directory", hint=f"name the files in it, as in {pattern.rstrip('/')}/*"
        )
    return [(fs, info)]


def _cut(fs: Any, info: dict[str, Any], address: str, settings: Settings) -> Iterator[Partition]:
    path, size, mark = str(info["name"]), int(info["size"]), stamp(info)
    format = _format(path, settings.format)
    if format == "text" and settings.keep:
        raise InputError(f"keep: {path} is plain text and has no {settings.keep[0]!r} to keep")
    if format == "document":
        _check_kept(settings.keep)
        ranges = [(0, WHOLE)]
    elif format == "parquet":
        ranges = _row_groups(fs, path, settings.partition_bytes)
    elif _zipped(fs, path):
        ranges = [(0, WHOLE)]
    else:
        step = settings.partition_bytes
        ranges = [(at, min(at + step, size)) for at in range(0, size, step)] or [(0, 0)]
    stem = re.sub(r"[^\w-]+", "_", path.rsplit("/", 1)[-1].split(".")[0])[:40]
    own = hashlib.sha256(address.encode()).hexdigest()[:10]
    for number, (start, stop) in enumerate(ranges):
        yield Partition(f"{stem}-{own}-{number:05d}", address, format, start, stop, size, mark)


def _format(path: str, asked: str) -> str:
    if asked != "auto":
        return asked
    name = path.lower().removesuffix(".gz")
    ending = name[name.rfind(".") :] if "." in name else ""
    if ending not in _ENDINGS:
        raise InputError(
            f"input: the name {path} does not say what it holds", hint="set format to parquet, jsonl, text or document"
        )
    return _ENDINGS[ending]


def _check_kept(keep: Sequence[str]) -> None:
    """Refuse what no reference of a document has."""
    for name in keep:
        if name not in PLACES:
            hint = nearest(name, PLACES, f"there are {', '.join(PLACES)}")
            raise InputError(f"keep: a reference of a document has no {name!r}", hint=hint)


def _zipped(fs: Any, path: str) -> bool:
    with fs.open(path, "rb") as file:
        return bool(file.read(2) == b"\x1f\x8b")


def _row_groups(fs: Any, path: str, step: int) -> list[tuple[int, int]]:
    """Return ranges of row groups of at least `step` bytes each, but for the last."""
    pa = need("pyarrow")
    try:
        with fs.open(path, "rb") as file:
            footer = need("pyarrow.parquet").ParquetFile(file).metadata
            sizes = [footer.row_group(i).total_byte_size for i in range(footer.num_row_groups)]
    except (pa.ArrowException, OSError):
        return [(0, WHOLE)]
    ranges, start, held = [], 0, 0
    for i, size in enumerate(sizes):
        held += size
        if held >= step:
            ranges.append((start, i + 1))
            start, held = i + 1, 0
    return [*ranges, (start, len(sizes))] if start < len(sizes) or not ranges else ranges

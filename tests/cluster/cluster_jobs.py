"""What the tests of clusters share: labellers that need no model, inputs, and jobs."""

from __future__ import annotations

import errno
import gzip
import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from espalier.cluster import Job, LabellerSpec, Settings

Row = dict[str, Any]


class Upper:
    """A labeller whose answers are known without it: the text in capitals, its length, and its words."""

    schema = pa.schema(
        {"upper": pa.string(), "length": pa.int32(), "words": pa.list_(pa.struct({"word": pa.string()}))}
    )

    def __init__(self, path: str) -> None:
        self.greeting = Path(path).read_text(encoding="utf-8")

    def __call__(self, texts: Sequence[str]) -> Mapping[str, Sequence[Any]]:
        return {
            "upper": [answer(text) for text in texts],
            "length": [len(text) for text in texts],
            "words": [[{"word": word} for word in text.split()] for text in texts],
        }


def answer(text: str) -> str:
    """What `Upper` says of a text: a file named in it is waited for, `poison` cannot be labelled, `deadly` kills."""
    if "poison" in text:
        raise ValueError(f"cannot label {text!r}")
    if "deadly" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "waits for " in text:
        path = Path(text.partition("waits for ")[2])
        path.with_suffix(".pid").write_text(str(os.getpid()))
        wait_for(path)
    return text.upper()


def wait_for(path: Path, seconds: float = 60.0) -> None:
    """Return when a file is there."""
    end = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > end:
            raise TimeoutError(f"{path} did not appear")
        time.sleep(0.01)


class SmallDisk(LocalFileSystem):
    """Local files under `small://`; while the directory has a file `full`, a write of more than 500 bytes fails."""

    protocol = "small"

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        file = super()._open(path, mode, **options)
        if "w" in mode and Path(path).parents[1].joinpath("full").exists():
            return _Quota(file)
        return file


class _Quota:
    def __init__(self, file: Any) -> None:
        self._file, self._left = file, 500

    def write(self, data: Any) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(self._file.write(data))

    def __enter__(self) -> _Quota:
        return self

    def __exit__(self, *error: Any) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


fsspec.register_implementation("small", SmallDisk, clobber=True)


def write_input(path: Path, records: Sequence[Any]) -> Path:
    """Write records as the name says: Parquet, JSON Lines or text, gzipped or not."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        table = pa.table({"text": records, "id": range(len(records))})
        pq.write_table(table, path, row_group_size=10)
        return path
    lines = [json.dumps({"text": r, "id": i}) for i, r in enumerate(records)] if name.endswith(".jsonl") else records
    raw = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(raw, mtime=0) if path.name.endswith(".gz") else raw)
    return path


def make_job(directory: Path, *inputs: Path | str, **settings: Any) -> Job:
    """A job of the labeller `Upper` on some input, with output beside it and small partitions."""
    model = directory / "hello.model"
    if not model.exists():
        model.write_text("hello", encoding="utf-8")
    usual: dict[str, Any] = {"output": str(directory / "out"), "partition_bytes": 200, "batch": 7, "retries": 1}
    return Job(
        Settings(input=tuple(map(str, inputs)), model=str(model), **usual | settings), LabellerSpec.of(Upper, model)
    )


def rows_of(output: Path | str) -> list[Row]:
    """All rows of a directory of results, by input and position."""
    rows = [row for path in sorted(Path(output, "parts").iterdir()) for row in pq.read_table(path).to_pylist()]
    return sorted(rows, key=lambda row: (row["input"], row["position"]))


def rejects_of(output: Path | str) -> list[Row]:
    """All records that were set aside."""
    lines = [line for path in sorted(Path(output, "rejected").iterdir()) for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines]

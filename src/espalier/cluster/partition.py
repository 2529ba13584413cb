"""One partition, from input to output: what a worker does.

    parts/NAME.parquet        a row for every record that was labelled, in order
    rejected/NAME.jsonl       a line for every other one: input, position, reason, value; absent if there is none

The footer of the Parquet file holds the partition's entry: job, input, counts, checksum. Rows and entry so appear
together, in one rename, or not at all; and the rejected records appear before them. Doing a partition twice gives the
same rows. Memory: a chunk of records, and a row group of output; what is freed goes back to the system after each
partition.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from contextlib import ExitStack
from typing import Any

from espalier.cluster.checksum import RowChecksum
from espalier.cluster.extras import need
from espalier.cluster.job import Job
from espalier.cluster.labeller import RowLabeller, labeller_of
from espalier.cluster.plan import Partition
from espalier.cluster.reading import Chunk, open_records
from espalier.cluster.sieve import label_chunk
from espalier.cluster.stores import Store, whole
from espalier.errors import EspalierError

__all__ = ["ENTRY", "VERSION", "Entry", "run_partition"]

VERSION = 1
ENTRY = b"espalier"
"""The key of the entry in a footer."""

ROW_GROUP = 10_000

Entry = dict[str, Any]
"""JSON values: version, job, partition, records (in, out, rejected), checksum, seconds."""


def run_partition(job: Job, partition: Partition) -> Entry:
    """Label the records of a partition, write them, and return the entry that says so."""
    try:
        return _run(job, partition)
    finally:
        _give_back()


def _give_back() -> None:
    """Return freed memory to the system, where the C library can: it keeps scattered pieces, more with every part."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _run(job: Job, partition: Partition) -> Entry:
    begin = time.perf_counter()
    labeller: RowLabeller = labeller_of(job.labeller)
    store = Store(job.settings.output)
    with ExitStack() as files:
        file = files.enter_context(whole(store, "parts", f"{partition.name}.parquet"))
        records = files.enter_context(open_records(partition, job.settings))
        output = _Output(files, store, partition, labeller, records.kept, file)
        for chunk in records.chunks:
            output.add(chunk, *label_chunk(labeller, chunk, job.settings.longest))
        return output.finish(job.digest, begin)


class _Output:
    """The two files of a partition while they are written, and the counts."""

    def __init__(
        self, files: ExitStack, store: Store, partition: Partition, labeller: RowLabeller, kept: Any, file: Any
    ) -> None:
        pa = need("pyarrow")
        self._files, self._store, self._partition = files, store, partition
        head = [pa.field("input", pa.string()), pa.field("position", pa.int64()), *kept, pa.field("text", pa.string())]
        self._schema = pa.schema([*head, *labeller.schema])
        self._writer = need("pyarrow.parquet").ParquetWriter(file, self._schema, compression="zstd")
        files.push(self._abandon)
        self._waiting: list[Any] = []
        self._checksum = RowChecksum()
        self._rejects: Any = None
        self._rejected = self._read = 0

    def _abandon(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """After an error the file is thrown away, so a footer, for which there may be no room, is not to be written."""
        if error is not None:
            self._writer.is_open = False

    def add(self, chunk: Chunk, good: list[int], columns: dict[str, list[Any]], bad: dict[int, str]) -> None:
        pa = need("pyarrow")
        self._read += len(chunk.values)
        for i in sorted(bad):
            self._reject(chunk.positions[i], bad[i], chunk.values[i])
        if not good:
            return
        arrays = [
            pa.repeat(self._partition.input, len(good)),
            pa.array([chunk.positions[i] for i in good], pa.int64()),
            *(column.take(pa.array(good, pa.int64())) if bad else column for column in chunk.kept),
            pa.array([chunk.values[i] for i in good], pa.string()),
        ]
        own = self._schema.names[len(arrays) :]
        arrays += [pa.array(columns[name], self._schema.field(name).type) for name in own]
        self._waiting.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self._checksum.update(self._waiting[-1])
        if sum(batch.num_rows for batch in self._waiting) >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            table = need("pyarrow").Table.from_batches(self._waiting)
            self._writer.write_table(table, row_group_size=table.num_rows)
        self._waiting = []

    def _reject(self, position: int, reason: str, value: Any) -> None:
        if self._rejects is None:
            # Entered last, so closed first: these records are in their place before the others are.
            self._rejects = self._files.enter_context(whole(self._store, "rejected", f"{self._partition.name}.jsonl"))
        row = {"input": self._partition.input, "position": position, "reason": reason, "value": value}
        self._rejects.write((json.dumps(row, default=repr) + "\n").encode())
        self._rejected += 1

    def finish(self, job: str, begin: float) -> Entry:
        """Write what is left, with the entry in the footer."""
        self._flush()
        if self._read != self._checksum.rows + self._rejected:
            raise EspalierError(
                f"{self._partition.name}: {self._read} records were read, but {self._checksum.rows} came out "
                f"and {self._rejected} were set aside; this is a fault of espalier, please report it"
            )
        entry: Entry = {
            "version": VERSION,
            "job": job,
            "partition": self._partition.to_dict(),
            "records": {"in": self._read, "out": self._checksum.rows, "rejected": self._rejected},
            "checksum": self._checksum.hexdigest(),
            "seconds": round(time.perf_counter() - begin, 3),
        }
        self._writer.add_key_value_metadata({ENTRY: json.dumps(entry).encode()})
        self._writer.close()
        if self._rejects is None:  # of a run before the input was mended
            self._store.remove("rejected", f"{self._partition.name}.jsonl")
        return entry

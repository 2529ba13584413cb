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
import hashlib
import json
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from espalier.cluster.job import Job
from espalier.cluster.labeller import RowLabeller, labeller_of
from espalier.cluster.plan import Partition
from espalier.cluster.reading import Chunk, open_records
from espalier.cluster.stores import Store, need, whole
from espalier.errors import EspalierError
from espalier.text_files import encodable

__all__ = ["ENTRY", "VERSION", "Entry", "RowChecksum", "label_chunk", "run_partition"]

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
                f"and {self._rejected} were set aside",
                hint="this is a fault of espalier, please report it",
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


Columns = dict[str, list[Any]]


def label_chunk(labeller: RowLabeller, chunk: Chunk, longest: int) -> tuple[list[int], Columns, dict[int, str]]:
    """Return which records of a chunk were labelled, the columns of these, and why each other one was not.

    The labeller gets all good texts at once. If it raises, the halves are tried, and their halves, until the texts that
    it cannot label stand alone: about 2 log2(n) more calls for each. Want of memory and errors of files are not the
    fault of a record and are raised.
    """
    bad: dict[int, str] = {}
    for i, (value, reason) in enumerate(zip(chunk.values, chunk.reasons, strict=True)):
        problem = reason or _problem(value, longest)
        if problem:
            bad[i] = problem
    columns: Columns = {name: [] for name in labeller.schema.names}
    _label(labeller, chunk.values, [i for i in range(len(chunk.values)) if i not in bad], columns, bad)
    return [i for i in range(len(chunk.values)) if i not in bad], columns, bad


def _label(
    labeller: RowLabeller, values: Sequence[Any], chosen: list[int], columns: Columns, bad: dict[int, str]
) -> None:
    """Append the labels of the chosen texts to the columns; note those that cannot be labelled."""
    if not chosen:
        return
    try:
        found = labeller([values[i] for i in chosen])
    except (MemoryError, OSError):
        raise
    except Exception as error:  # whatever it is, it concerns a record
        if len(chosen) == 1:
            bad[chosen[0]] = str(error) if isinstance(error, EspalierError) else f"{type(error).__name__}: {error}"
            return
        half = len(chosen) // 2
        _label(labeller, values, chosen[:half], columns, bad)
        _label(labeller, values, chosen[half:], columns, bad)
        return
    for name, column in columns.items():
        if len(found[name]) != len(chosen):
            raise EspalierError(f"the labeller gave {len(found[name])} values of {name!r} for {len(chosen)} texts")
        column.extend(found[name])


def _problem(value: Any, longest: int) -> str:
    """Say why a value is no text to label, if it is none."""
    if value is None:
        return "null, not a string"
    if not isinstance(value, str):
        return f"a {type(value).__name__}, not a string"
    if len(value) > longest:
        return f"{len(value):,} characters; at most {longest:,} are read as one record"
    return "" if encodable(value) else "holds half of a surrogate pair, which is no character"


Place = tuple[str, ...]


class RowChecksum:
    """The checksum of the rows of a table, in order: the same however they are cut into batches, packed or encoded.

    Every leaf of the schema has hashes of its own: which values are there, how long each is, and their bytes. A stream
    of batches feeds them, and the checksum is a hash of the hashes. So equal rows have equal checksums, and rows that
    differ in a value, a null, a border between two values or their order do not (but for a collision of SHA-256).
    Cost: array operations, a few microseconds for each row.
    """

    def __init__(self) -> None:
        """Start with no rows."""
        self._hashes: dict[Place, Any] = {}
        self.rows = 0

    def update(self, batch: Any) -> None:
        """Go on with the rows of a RecordBatch."""
        self.rows += batch.num_rows
        for field, column in zip(batch.schema, batch.columns, strict=True):
            self._array((field.name,), column)

    def hexdigest(self) -> str:
        """Return the checksum: 64 hexadecimal digits."""
        total = hashlib.sha256(str(self.rows).encode())
        for place, found in sorted(self._hashes.items()):
            total.update(repr(place).encode() + found.digest())
        return total.hexdigest()

    def _feed(self, place: Place, data: Any) -> None:
        if len(data):  # a leaf that never had a value is not there, however often it was asked
            self._hashes.setdefault(place, hashlib.sha256()).update(data)

    def _array(self, place: Place, array: Any) -> None:
        """Feed which values there are, and then those that are."""
        pa, pc = need("pyarrow"), need("pyarrow.compute")
        kind = pa.types
        if kind.is_dictionary(array.type):
            array = array.dictionary_decode()
        self._feed((*place, "?"), np.asarray(array.is_valid().to_numpy(zero_copy_only=False), np.uint8))
        array = array.drop_null()
        if kind.is_struct(array.type):
            for field, child in zip(array.type, array.flatten(), strict=True):
                self._array((*place, ".", field.name), child)
        elif kind.is_list(array.type) or kind.is_large_list(array.type):
            self._feed((*place, "#"), _bytes(pc.list_value_length(array), np.int64))
            self._array((*place, "[]"), array.flatten())
        elif kind.is_string(array.type) or kind.is_large_string(array.type):
            self._strings(place, array.cast(pa.large_string()))
        elif kind.is_integer(array.type):
            self._feed(place, _bytes(array, np.uint64 if kind.is_unsigned_integer(array.type) else np.int64))
        elif kind.is_floating(array.type):
            self._feed(place, _bytes(array, np.float64))
        else:  # times, decimals, binary, maps ...: kept columns, seldom
            self._feed(place, "".join(f"{value!r}\0" for value in array.to_pylist()).encode())

    def _strings(self, place: Place, array: Any) -> None:
        """Feed lengths and characters of large strings, none of them null."""
        _, offsets, data = array.buffers()
        if offsets is None:
            return
        ends = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        self._feed((*place, "#"), np.diff(ends))
        if data is not None:
            self._feed(place, memoryview(data)[int(ends[0]) : int(ends[-1])])


def _bytes(array: Any, dtype: Any) -> Any:
    return np.ascontiguousarray(array.to_numpy(zero_copy_only=False), dtype)

"""A checksum of the rows of a table, in order: the same however they are cut into batches, packed or encoded.

Every leaf of the schema has hashes of its own: which values are there, how long each is, and their bytes. A stream of
batches feeds them, and the checksum is a hash of the hashes. So equal rows have equal checksums, and rows that differ
in a value, a null, a border between two values or their order do not (but for a collision of SHA-256). Cost: array
operations, a few microseconds a row.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from espalier.cluster.extras import need

__all__ = ["RowChecksum"]

Place = tuple[str, ...]


class RowChecksum:
    """The checksum of the batches seen so far."""

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

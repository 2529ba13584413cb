"""The checksum of rows: the same for equal rows however they are cut, another one for other rows."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.cluster.partition import RowChecksum

SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "n": pa.int64(),
        "p": pa.float64(),
        "sure": pa.bool_(),
        "parts": pa.list_(pa.struct({"label": pa.string(), "end": pa.int32()})),
    }
)
part = st.none() | st.fixed_dictionaries({"label": st.none() | st.text("ab", max_size=2), "end": st.integers(0, 2)})
row = st.fixed_dictionaries(
    {
        "text": st.none() | st.text("abé", max_size=3),
        "n": st.none() | st.integers(-2, 2),
        "p": st.none() | st.sampled_from([0.0, 0.5, -1.0]),
        "sure": st.none() | st.booleans(),
        "parts": st.none() | st.lists(part, max_size=2),
    }
)
rows = st.lists(row, max_size=5)


def checksum(*batches: list[dict[str, Any]], schema: pa.Schema = SCHEMA) -> str:
    found = RowChecksum()
    for batch in batches:
        found.update(pa.RecordBatch.from_pylist(batch, schema))
    return found.hexdigest()


@settings(deadline=None, derandomize=True, max_examples=200)
@given(rows, rows)
def test_equal_rows_and_only_those_are_equal(first: list[Any], second: list[Any]) -> None:
    assert (checksum(first) == checksum(second)) is (first == second)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(rows, st.integers(0, 5))
def test_cuts_do_not_matter(all_rows: list[Any], cut: int) -> None:
    assert checksum(all_rows) == checksum(all_rows[:cut], all_rows[cut:]) == checksum([], all_rows, [])


@settings(deadline=None, derandomize=True, max_examples=100)
@given(rows, st.integers(0, 5), st.integers(0, 5))
def test_slices_of_a_larger_batch(all_rows: list[Any], a: int, b: int) -> None:
    found = RowChecksum()
    found.update(pa.RecordBatch.from_pylist(all_rows, SCHEMA).slice(a, b))
    assert found.hexdigest() == checksum(all_rows[a : a + b])


def test_borders_count() -> None:
    def strings(*texts: str) -> str:
        return checksum([{"text": text} for text in texts], schema=pa.schema({"text": pa.string()}))

    assert len({strings("ab", "c"), strings("a", "bc"), strings("abc"), strings("c", "ab"), strings("abc", "")}) == 5


def test_names_count() -> None:
    dotted = checksum([{"a.b": 1}], schema=pa.schema({"a.b": pa.int64()}))
    nested = checksum([{"a": {"b": 1}}], schema=pa.schema({"a": pa.struct({"b": pa.int64()})}))
    assert dotted != nested


def test_other_types() -> None:
    def of(value: Any, kind: pa.DataType) -> str:
        return checksum([{"x": value}, {"x": None}], schema=pa.schema({"x": kind}))

    days = [of(date(2001, 1, day), pa.date32()) for day in (1, 2)]
    prices = [of(Decimal(f"1.{tail}"), pa.decimal128(4, 2)) for tail in ("10", "20")]
    names = [of(name, pa.dictionary(pa.int8(), pa.string())) for name in ("a", "b")]
    large = [of(2**64 - 1, pa.uint64()), of(2**63, pa.uint64()), of("a", pa.large_string()), of(b"a", pa.binary())]
    assert len({*days, *prices, *names, *large}) == 9  # a word is itself, dictionary or not

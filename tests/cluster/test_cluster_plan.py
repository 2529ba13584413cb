"""Job files, and how input is cut into partitions and read: every record once, wherever the cuts are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cluster_jobs import make_job, write_input
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.cluster import Settings, plan, read_settings
from espalier.cluster.reading import LONGEST_LINE, count_records, open_records
from espalier.errors import FormatError, InputError

GOOD = 'input = "a.txt"\noutput = "out"\nmodel = "m"\n'


def write_job(directory: Path, text: str) -> Path:
    path = directory / "job.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_job_file(tmp_path: Path) -> None:
    found = read_settings(write_job(tmp_path, GOOD + 'keep = ["id"]\nretries = 0\n'))
    assert found == Settings((f"{tmp_path}/a.txt",), f"{tmp_path}/out", "m", keep=("id",), retries=0)
    far = read_settings(
        write_job(tmp_path, GOOD.replace('"out"', '"s3://b/out"').replace("a.txt", "memory://x/*.jsonl"))
    )
    assert (far.input, far.output) == (("memory://x/*.jsonl",), "s3://b/out")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("input = ", "job.toml: not a TOML file"),
        ("", "there is no input; a job needs input, output and model"),
        (GOOD.replace("model", "modle"), "unknown key 'modle'; did you mean 'model'?"),
        (GOOD + "colour = 1", "unknown key 'colour'; there are input, output"),
        (GOOD + "retries = true", "retries is True; expected a whole number"),
        (GOOD + "retries = -1", "retries is -1; expected a whole number of at least 0"),
        (GOOD + "batch = 0", "batch is 0"),
        (GOOD + 'batch = "7"', "batch is '7'; expected a whole number"),
        (GOOD + 'format = "jsnol"', "unknown format 'jsnol'; did you mean 'jsonl'?"),
        (GOOD + 'keep = ["text"]', "every output has a column 'text' of its own"),
        (GOOD + 'keep = ["a", "a"]', "keep names a column twice: a, a"),
        (GOOD + "keep = [1]", "expected a list of strings"),
        ('input = []\noutput = "o"\nmodel = "m"', "there is no input"),
        ('input = [""]\noutput = "o"\nmodel = "m"', "input is empty"),
    ],
)
def test_wrong_job_files(tmp_path: Path, text: str, what: str) -> None:
    path = write_job(tmp_path, text)
    with pytest.raises(FormatError) as caught:
        read_settings(path)
    assert what in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_no_job_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"job\.toml: No such file"):
        read_settings(tmp_path / "job.toml")


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        ("*.jsonl", "no file matches"),
        ("none.txt", "is not there"),
        (".", "is a directory; name the files in it"),
        ("nowhere://a.txt", "cannot reach nowhere://a.txt: Protocol not known"),
        ("a.odd", "does not say what it holds; set format"),
    ],
)
def test_input_that_is_not_there(tmp_path: Path, pattern: str, what: str) -> None:
    (tmp_path / "a.odd").write_text("x\n")
    with pytest.raises(InputError, match=what):
        plan(make_job(tmp_path, pattern if "://" in pattern else tmp_path / pattern).settings)


def test_text_has_no_columns(tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", ["x"])
    with pytest.raises(InputError, match="plain text and has no 'id' to keep"):
        plan(make_job(tmp_path, tmp_path / "a.txt", keep=("id",)).settings)


def test_cuts_by_hand(tmp_path: Path) -> None:
    write_input(tmp_path / "a.txt", ["x" * 99] * 5)  # 500 bytes
    write_input(tmp_path / "b.txt.gz", ["x" * 99] * 5)
    write_input(tmp_path / "c.parquet", [f"record {n}" for n in range(35)])  # 4 row groups
    (tmp_path / "d.jsonl").write_bytes(b"")
    (tmp_path / "e.parquet").write_bytes(b"no Parquet at all")
    job = make_job(tmp_path, tmp_path / "[b-e].*", tmp_path / "a.txt", tmp_path / "*.txt")
    cuts = [(p.input.rpartition("/")[2], p.format, p.start, p.stop) for p in plan(job.settings)]
    assert cuts == [
        ("b.txt.gz", "text", 0, -1),
        ("c.parquet", "parquet", 0, 1),
        ("c.parquet", "parquet", 1, 2),
        ("c.parquet", "parquet", 2, 3),
        ("c.parquet", "parquet", 3, 4),
        ("d.jsonl", "jsonl", 0, 0),
        ("e.parquet", "parquet", 0, -1),
        ("a.txt", "text", 0, 200),
        ("a.txt", "text", 200, 400),
        ("a.txt", "text", 400, 500),
    ]
    names = [partition.name for partition in plan(job.settings)]
    assert len(set(names)) == len(names)
    assert names == [partition.name for partition in plan(job.settings)]
    (whole,) = plan(make_job(tmp_path, tmp_path / "c.parquet", partition_bytes=10**6).settings)
    assert (whole.start, whole.stop) == (0, 4)


def read_all(job: Any) -> list[tuple[int, Any, str]]:
    found = []
    for partition in plan(job.settings):
        with open_records(partition, job.settings) as records:
            for chunk in records.chunks:
                found += list(zip(chunk.positions, chunk.values, chunk.reasons, strict=True))
    return found


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.lists(st.text("aé\r ", max_size=6), max_size=12),
    st.integers(1, 30),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_every_line_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, end: str, ended: bool
) -> None:
    """Whatever the size of partitions, what is read is what splitting the whole file gives."""
    directory = tmp_path_factory.mktemp("lines")
    raw = (end.join(lines) + (end if ended else "")).encode()
    (directory / "a.txt").write_bytes(raw)
    expected, at = [], 0
    for line in raw.split(b"\n"):
        if line.strip():
            expected.append((at, line.removesuffix(b"\r").decode(), ""))
        at += len(line) + 1
    job = make_job(directory, directory / "a.txt", partition_bytes=size)
    assert read_all(job) == expected
    assert sum(count_records(partition) or 0 for partition in plan(job.settings)) == len(expected)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
@pytest.mark.parametrize("size", [1, 100, 10**6])
def test_every_record_once(tmp_path: Path, name: str, size: int) -> None:
    texts = [f"record {n} " + "é" * (n % 7) for n in range(53)]
    write_input(tmp_path / name, texts)
    found = read_all(make_job(tmp_path, tmp_path / name, partition_bytes=size))
    assert [value for _, value, _ in found] == texts
    job = make_job(tmp_path, tmp_path / name, partition_bytes=size)
    assert sum(count_records(partition) or 0 for partition in plan(job.settings)) == 53
    if name == "a.parquet":
        assert [position for position, _, _ in found] == list(range(53))


def test_bad_lines_have_reasons(tmp_path: Path) -> None:
    lines = [
        b"\xef\xbb\xbf" + b'{"text": "fine", "id": 7}',
        b'{"text": "caf\xe9"}',
        b'{"text": "fi',
        b"[1]",
        b'{"txet": "fine"}',
        b'{"text": null}',
        b'{"text": 7, "id": {"a": [1]}}',
        b'{"text": "fine", "id": "\\ud800"}',
        b"[" * 100_000,
        b'{"text": "last", "id": "a7"}',
    ]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    job = make_job(tmp_path, tmp_path / "a.jsonl", keep=("id",), partition_bytes=10**6, batch=100)
    (partition,) = plan(job.settings)
    with open_records(partition, job.settings) as records:
        (chunk,) = records.chunks
    assert [len(lines[0]) + 1, 0] == [chunk.positions[1], chunk.positions[0]]
    assert chunk.kept[0].to_pylist() == ["7", None, None, None, None, None, '{"a": [1]}', None, None, "a7"]
    expected = [
        "",
        "byte 0xe9, number 14",
        "not JSON",
        "no object",
        "without a key 'text'",
        "",
        "",
        "surrogate",
        "not JSON",
        "",
    ]
    for reason, what in zip(chunk.reasons, expected, strict=True):
        assert (what in reason) if what else reason == ""


def test_a_line_without_an_end_in_sight(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.txt.gz", "wb", compresslevel=1) as file:
        file.write(b"first\n" + b"x" * (2 * LONGEST_LINE + 3) + b"\nlast\n")
    (first, long, last) = read_all(make_job(tmp_path, tmp_path / "a.txt.gz"))
    assert (first, last) == ((0, "first", ""), (2 * LONGEST_LINE + 10, "last", ""))
    assert (long[0], len(long[1]), long[2]) == (6, LONGEST_LINE, "a line of more than 16,000,000 bytes")


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.parquet"])
@pytest.mark.parametrize("left", [0.1, 0.6, 0.95])
def test_damaged_files_are_told(tmp_path: Path, name: str, left: float) -> None:
    path = write_input(tmp_path / name, [f"record {n} {hash(str(n))}" for n in range(200)])
    raw = path.read_bytes()
    path.write_bytes(raw[: int(left * len(raw))])
    with pytest.raises(FormatError, match="truncated or damaged"):
        read_all(make_job(tmp_path, path))


def test_bad_pages_are_told(tmp_path: Path) -> None:
    path = write_input(tmp_path / "a.parquet", [f"record {n}" for n in range(200)])
    raw = bytearray(path.read_bytes())
    raw[4:2000] = bytes(1996)
    path.write_bytes(raw)
    with pytest.raises(FormatError, match="Parquet data is truncated or damaged"):
        read_all(make_job(tmp_path, path))


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    write_input(tmp_path / "a.parquet", ["x"])
    with pytest.raises(FormatError, match="has no column 'txt'; it has text, id"):
        read_all(make_job(tmp_path, tmp_path / "a.parquet", text="txt"))


def test_any_address(tmp_path: Path) -> None:
    files = fsspec.filesystem("memory")
    files.pipe("/plan-test/a.jsonl", b"".join(json.dumps({"text": f"r{n}"}).encode() + b"\n" for n in range(9)))
    with files.open("/plan-test/b.parquet", "wb") as file:
        pq.write_table(pa.table({"text": ["p", "q"]}), file)
    job = make_job(tmp_path, "memory://plan-test/*", partition_bytes=30)
    assert [value for _, value, _ in read_all(job)] == [*(f"r{n}" for n in range(9)), "p", "q"]
    assert len(plan(job.settings)) == 6  # 135 bytes of lines, and one row group
    files.rm("/plan-test", recursive=True)

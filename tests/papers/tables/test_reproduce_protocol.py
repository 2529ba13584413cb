"""Tables, cells, subsets, results and the data they read."""

from __future__ import annotations

import gzip
import pickle
import random
import statistics
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproduce_tables import table, write_split

from espalier.errors import FormatError, InputError
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import results_of, subset
from espalier.papers.tables.registry import BY_NAME_ONLY, TABLES, find_tables


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(1, 40).flatmap(lambda N: st.tuples(st.just(N), st.integers(1, N), st.integers(0, 9))))
def test_subsets_are_those_of_the_protocol(drawn: tuple[int, int, int]) -> None:
    N, n, run = drawn
    assert subset(N, n, run).tolist() == sorted(random.Random(run).sample(range(N), n))


@pytest.mark.parametrize("n", [0, 4])
def test_a_subset_of_impossible_size(n: int) -> None:
    with pytest.raises(InputError, match=f"{n} labelled sequences are asked for, but the training split has 3"):
        subset(3, n, 0)


def test_cells_of_a_table() -> None:
    cells = list(table().to_run(2))
    assert [(c.row, c.column, c.run) for c in cells] == [
        ("half", "1", 0), ("half", "3", 0), ("half", "3", 1), ("twice", "1", 0), ("twice", "3", 0), ("twice", "3", 1),
    ]  # fmt: skip
    assert [(c.row, c.column, c.run) for c in table().to_run(1, quick=True)] == [("half", "3", 0), ("twice", "3", 0)]
    assert str(cells[2]) == "toy, half, 3, run 1"


def test_results_are_means_and_deviations_over_runs() -> None:
    values = [0.5, 2.0, 4.5]
    figures = {("half", "3"): dict(enumerate(values)), ("half", "extra"): {0: 7.0}, ("elsewhere", "1"): {0: 1.0}}
    first, second = results_of(table(), figures)
    assert first.ours == pytest.approx(7 / 3)
    assert first.sd == pytest.approx(statistics.stdev(values))
    assert (first.table, first.row, first.column, first.paper, first.runs) == ("toy", "half", "3", 2.5, 3)
    assert (second.column, second.paper, second.ours, second.sd, second.runs) == ("extra", None, 7.0, None, 1)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_sound(name: str) -> None:
    """Names fit, cells are places, settings are JSON that the hash can hold, and workers can be sent the table."""
    (found,) = find_tables([name])
    assert found.name == name
    assert found.places
    assert set(found.cells) <= set(found.places)
    assert all(found.published[row][column] is None or row for row, column in found.places)
    assert {column for _, column in found.places} >= {*found.once, *found.quick}
    assert pickle.loads(pickle.dumps(found)).name == name
    assert all(split.count("/") == 1 for split in found.needs)
    assert found.minutes > 0
    assert found.departures or name in BY_NAME_ONLY


def test_tables_by_name() -> None:
    assert [t.name for t in find_tables()] == [name for name in TABLES if name not in BY_NAME_ONLY]
    assert [t.name for t in find_tables(TABLES)] == [t.name for t in find_tables(["all"])] == list(TABLES)
    assert [t.name for t in find_tables(["ilp14", "ccm12-table3", "ilp14"])] == ["ccm12-table3", "ilp14"]
    with pytest.raises(InputError, match="did you mean 'ccm12-table3'"):
        find_tables(["ccm12-tabel3"])
    with pytest.raises(InputError, match="tables: ccm12-table3"):
        find_tables(["zzz"])


RECORDS = [{"tokens": ["a", "b"], "labels": ["x", "y"], "bio": ["B-x", "B-y"]}, {"tokens": ["c"], "labels": ["x"]}]


def test_data_are_read_plain_or_packed(tmp_path: Path) -> None:
    path = write_split(tmp_path, "toy/train", RECORDS)
    data = Data(tmp_path)
    corpus = data.corpus("toy/train")
    assert [list(tokens) for tokens in corpus] == [["a", "b"], ["c"]]
    assert corpus.all_labels() == [["x", "y"], ["x"]]
    assert data.corpus("toy/train", None).y is None
    assert data.corpus("toy/train") is corpus
    raw = path.read_bytes()
    path.unlink()
    path.with_name("train.jsonl.gz").write_bytes(gzip.compress(raw))
    assert data.corpus("toy/train").all_labels() == corpus.all_labels()


def test_changed_data_are_read_anew(tmp_path: Path) -> None:
    data = Data(tmp_path)
    write_split(tmp_path, "toy/train", RECORDS)
    before, digest = data.corpus("toy/train"), data.digest("toy/train")
    write_split(tmp_path, "toy/train", RECORDS[:1])
    assert len(data.corpus("toy/train")) == 1 < len(before)
    assert data.digest("toy/train") != digest


def test_missing_data_are_named_with_their_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: there is no such directory; pass --data"):
        Data(tmp_path / "nowhere").check(["toy/train"])
    write_split(tmp_path, "toy/train", RECORDS)
    with pytest.raises(InputError) as raised:
        Data(tmp_path).check(["toy/train", "toy/dev", "other/test"])
    message = str(raised.value)
    assert str(tmp_path / "toy" / "normalised" / "dev.jsonl") in message
    assert str(tmp_path / "other" / "normalised" / "test.jsonl") in message
    assert "train.jsonl" not in message


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"tokens": ["a"], "labels": ["x"]}\n{"tokens"', "train.jsonl:2: not JSON"),
        ('{"labels": ["x"]}\n', "train.jsonl:1: the record has no list 'tokens'"),
        ('{"tokens": ["a"]}\n', "train.jsonl:1: the record has no list 'labels'"),
        ('["a"]\n', "train.jsonl:1: the record has no list 'tokens'"),
        ('{"tokens": ["a", "b"], "labels": ["x"]}\n', "train.jsonl:1: 'tokens' and 'labels' are not equally long"),
        ("\n", "there is no record in it"),
        ("\udcff", "cannot be read as UTF-8"),
    ],
)
def test_bad_files_are_named_with_their_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = write_split(tmp_path, "toy/train", [])
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(FormatError, match=complaint):
        Data(tmp_path).corpus("toy/train")


def test_a_damaged_archive_is_an_error(tmp_path: Path) -> None:
    path = write_split(tmp_path, "toy/train", RECORDS)
    packed = gzip.compress(path.read_bytes())
    path.unlink()
    path.with_name("train.jsonl.gz").write_bytes(packed[:-12])
    with pytest.raises(FormatError, match=r"train\.jsonl\.gz: cannot be read"):
        Data(tmp_path).corpus("toy/train")

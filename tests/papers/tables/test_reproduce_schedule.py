"""Cells that learn the same go together, the longest bundle first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from reproduce_tables import table, write_split

from espalier.papers.tables.cache import Cache, Outcome, configuration
from espalier.papers.tables.data import Data
from espalier.papers.tables.registry import find_tables
from espalier.papers.tables.runner import bundles, expected_seconds, reproduce


@pytest.fixture
def data(tmp_path: Path) -> Data:
    write_split(tmp_path / "data", "toy/train", [{"tokens": ["a", "b"]}, {"tokens": ["c"]}])
    return Data(tmp_path / "data")


def test_equal_settings_and_runs_go_together(data: Data) -> None:
    two = [replace(table(), minutes=minutes, name=name) for name, minutes in (("short", 1.0), ("long", 9.0))]
    found = bundles([(one, cell, data, None) for one in two for cell in one.to_run(2)])
    assert [{(cell.row, cell.run) for _, cell, _, _ in bundle} for bundle in found] == [
        {("half", 0)}, {("twice", 0)}, {("half", 1)}, {("twice", 1)},
    ]  # fmt: skip
    assert [len(bundle) for bundle in found] == [4, 4, 2, 2]


def test_tables_of_one_name_are_one_bundle(data: Data) -> None:
    one = replace(table(), together="all")
    (found,) = bundles([(one, cell, data, None) for cell in one.to_run(3)])
    assert len(found) == 8


def test_what_a_cell_took_before_is_expected_again(data: Data, tmp_path: Path) -> None:
    toy, kept = table(), Cache(tmp_path / "cache")
    first, *_, last = toy.to_run(2)
    kept.store(configuration(toy, last, data), Outcome({}, 99.0))
    # 0.01 minutes for all ten cells of five runs and those that run once: 2 + 2 * 5.
    assert expected_seconds((toy, first, data, kept)) == pytest.approx(0.6 / 12)
    assert expected_seconds((toy, last, data, kept)) == 99.0
    assert bundles([(toy, cell, data, kept) for cell in toy.to_run(2)])[0][-1][1] == last


def test_every_cell_is_computed_once_whatever_the_bundles(data: Data) -> None:
    pytest.importorskip("joblib")
    one, two = table(), replace(table(), name="other", together="all")
    results = [reproduce([one, two], data, runs=2, jobs=jobs).results for jobs in (1, 2)]
    assert results[0] == results[1]
    assert len(results[0]) == 12


def test_tables_of_one_study_share_a_process() -> None:
    assert {one.together for one in find_tables(["sdd14-table1", "sdd14-table2", "sdd14-table3"])} == {"sdd14"}

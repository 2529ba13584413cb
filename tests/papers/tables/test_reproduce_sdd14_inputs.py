"""The tables of soft constraints as published, on a few short references: two of three segments right without rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reproduce_tables import write_split

from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Table
from espalier.papers.tables.registry import find_tables
from espalier.papers.tables.runner import reproduce

TITLE, DATE, MARK = "B-title", "B-date/B-year", "B-marker"


@pytest.fixture
def data(tmp_path: Path) -> Data:
    def references(labels: list[str], tokens: list[str], n: int) -> list[dict[str, Any]]:
        return [{"tokens": tokens, "bio_paths": labels}] * n

    train = references([TITLE, DATE, DATE], ["w", "q", "q"], 6) + references([TITLE, DATE, MARK], ["w", "q", "r"], 6)
    write_split(tmp_path, "umass/train", train)
    write_split(tmp_path, "umass/dev", references([TITLE, DATE, MARK], ["w", "q", "q"], 20))
    write_split(tmp_path, "umass/test", references([TITLE, DATE, MARK], ["w", "q", "q"], 3))
    return Data(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Callable[[str], Table]:
    """Return a table whose members know nothing but the word."""
    task = tmp_path / "words.toml"
    task.write_text('labels = ["O"]\n[features]\ntemplates = ["lower"]\n', encoding="utf-8")

    def shrunk(name: str) -> Table:
        (table,) = find_tables([name])

        def settings(row: str, column: str) -> dict[str, Any]:
            given = dict(table.settings(row, column))
            members = [member | {"task": str(task)} for member in given["study"]["members"]]
            return given | {"study": given["study"] | {"members": members}}

        return replace(table, settings=settings)

    return shrunk


def figures(table: Table, data: Data, runs: int = 1) -> dict[tuple[str, str], float]:
    found = reproduce([table], data, runs=runs)
    assert found.failures == ()
    return {(r.row, r.column): r.ours for r in found.results}


def test_families_as_published(data: Data, small: Callable[[str], Table]) -> None:
    """F1 is of all levels: a date has a year inside, so there are more segments than leaves."""
    table = small("sdd14-inputs")
    found = figures(table, data)
    assert set(found) == set(table.places)
    assert found["CRF", "F1"] == pytest.approx(100 * 2 * 3 / (5 + 4))
    for row in ("only-one", "all", "all, hard", "all, mean of penalties"):
        assert found[row, "F1"] == 100


def test_orders_are_runs(data: Data, small: Callable[[str], Table]) -> None:
    table = small("sdd14-orders")
    found = reproduce([table], data, runs=3)
    assert {(r.row, r.column): r.runs for r in found.results} == dict.fromkeys(table.places, 3)
    assert {r.ours for r in found.results if r.column == "F1"} == {100.0}


def test_step_rules_round_by_round(data: Data, small: Callable[[str], Table]) -> None:
    table = small("sdd14-soft-dd")
    found = figures(table, data)
    assert set(found) == set(table.places)
    assert (found["rate / t, 1 rounds", "converged"], found["rate / t, 1 rounds", "left"]) == (0, 100)
    for step in ("rate / t, 200 rounds", "Polyak, 200 rounds", "cutting planes, 200 rounds"):
        assert (found[step, "converged"], found[step, "F1"]) == (100, 100)
        assert found[step, "repaired"] + found[step, "left"] == 100
        assert 1 < found[step, "rounds"] == found[step, "rounds where needed"] <= found[step, "most rounds"]
    assert found["cutting planes, 200 rounds", "true gap"] == 0


def test_nothing_open_has_no_gap(data: Data, small: Callable[[str], Table]) -> None:
    found = figures(small("sdd14-gaps"), data)
    assert set(found.values()) == {0.0}


def test_fields_by_reference(data: Data, small: Callable[[str], Table]) -> None:
    """Fields that the references do not have are not found."""
    assert set(figures(small("sdd14-table3-inputs"), data).values()) == {0.0}


def test_the_two_examples_are_found_by_their_words(data: Data, small: Callable[[str], Table]) -> None:
    more = [["Sivia", "Skilling", "q"], ["Sobol'", "Matematicheskoe", "q"]]
    rows = [{"tokens": tokens, "bio_paths": [TITLE, TITLE, DATE]} for tokens in more]
    write_split(data.directory, "umass/test", rows)
    found = figures(small("sdd14-figure2"), data)
    assert {row for row, _ in found} == {"a book, 1 round", "in Russian, 7 rounds"}
    assert all(1 <= found[row, "rounds"] <= 41 for row, _ in found)


def test_references_that_were_seen_in_training(data: Data, small: Callable[[str], Table]) -> None:
    rows = [
        {"tokens": tokens, "bio_paths": [TITLE, DATE, MARK]}
        for tokens in (["w", "q", "r"], ["w", "q", "q"], ["a", "q", "r"])
    ]
    write_split(data.directory, "umass/test", rows)
    found = figures(small("sdd14-repeated"), data)
    assert [found["references", column] for column in ("all", "not in training", "in training")] == [3, 1, 2]
    assert found["CRF", "in training"] == pytest.approx(100 * 2 * (4 + 3) / (8 + 9))

"""Running cells: figures, kept ones, interrupted runs, spoilt files, failing cells, several processes."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reproduce_tables import measure, table, write_split

from espalier.errors import EspalierError, InputError
from espalier.papers.tables import cache as cache_module
from espalier.papers.tables.cache import Cache, Outcome, configuration
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell
from espalier.papers.tables.registry import find_tables
from espalier.papers.tables.runner import compute, reproduce

TOKENS = 3


@pytest.fixture
def data(tmp_path: Path) -> Data:
    write_split(tmp_path / "data", "toy/train", [{"tokens": ["a", "b"]}, {"tokens": ["c"]}])
    return Data(tmp_path / "data")


def figures(found: Any) -> dict[tuple[str, str], tuple[float, int]]:
    return {(r.row, r.column): (r.ours, r.runs) for r in found.results}


def test_figures_of_all_places(data: Data) -> None:
    heard: list[str] = []
    found = reproduce([table()], data, runs=3, news=heard.append)
    # factor * tokens * column + run, runs 0 to 2; column 1 is computed once, `extra` along with 3.
    assert figures(found) == {
        ("half", "1"): (0.5 * TOKENS, 1),
        ("half", "3"): (1.5 * TOKENS + 1, 3),
        ("half", "extra"): (-1.5 * TOKENS - 1, 3),
        ("twice", "1"): (2.0 * TOKENS, 1),
        ("twice", "3"): (6.0 * TOKENS + 1, 3),
        ("twice", "extra"): (-6.0 * TOKENS - 1, 3),
    }
    assert (found.failures, found.notices) == ((), ())
    assert heard[-1].startswith("8 of 8 cells")


def spied(seen: list[Cell]):
    def wrapped(data: Data, cell: Cell) -> Any:
        seen.append(cell)
        return measure(data, cell)

    return replace(table(), measure=wrapped)


def test_an_interrupted_run_goes_on_with_the_same_figures(data: Data, tmp_path: Path) -> None:
    whole = reproduce([table()], data, runs=2)
    kept, seen = Cache(tmp_path / "cache"), []
    toy = spied(seen)

    def stopping(data: Data, cell: Cell) -> Any:
        if len(seen) == 3:
            raise KeyboardInterrupt
        seen.append(cell)
        return measure(data, cell)

    with pytest.raises(KeyboardInterrupt):
        reproduce([replace(toy, measure=stopping)], data, runs=2, cache=kept)
    assert len(list((tmp_path / "cache").iterdir())) == 3
    first = list(seen)
    again = reproduce([toy], data, runs=2, cache=kept)
    assert again.results == whole.results
    assert len(seen) == 6
    assert not set(map(str, first)) & set(map(str, seen[3:]))
    assert reproduce([toy], data, runs=2, cache=kept).results == whole.results
    assert len(seen) == 6


@pytest.mark.parametrize("spoilt", ["", '{"configuration": {', "[]", '{"figures": [["half", "1", NaN]]}', "\x00\x01"])
def test_a_spoilt_file_is_computed_anew_and_said_so(data: Data, tmp_path: Path, spoilt: str) -> None:
    kept, seen = Cache(tmp_path / "cache"), []
    toy = spied(seen)
    whole = reproduce([toy], data, runs=1, cache=kept)
    one = sorted((tmp_path / "cache").iterdir())[0]
    good = one.read_text()
    one.write_text(spoilt)
    found = reproduce([toy], data, runs=1, cache=kept)
    assert found.results == whole.results
    assert len(seen) == 5
    assert len(found.notices) == 1
    assert str(one) in found.notices[0]
    assert json.loads(one.read_text())["figures"] == json.loads(good)["figures"]


def test_a_result_of_something_else_is_not_taken(data: Data, tmp_path: Path) -> None:
    kept = Cache(tmp_path / "cache")
    whole = reproduce([table()], data, runs=1, cache=kept)
    first, second = sorted((tmp_path / "cache").iterdir())[:2]
    first.write_text(second.read_text())
    found = reproduce([table()], data, runs=1, cache=kept)
    assert found.results == whole.results
    assert "the result of something else" in found.notices[0]


def test_other_data_settings_or_runs_are_other_cells(data: Data) -> None:
    toy = table()
    cell = next(iter(toy.to_run(1)))
    here = configuration(toy, cell, data)
    assert here == configuration(toy, replace(cell, settings=dict(cell.settings)), data)
    assert here != configuration(toy, replace(cell, settings={"factor": 3}), data)
    assert here != configuration(toy, replace(cell, run=1), data)
    write_split(data.directory, "toy/train", [{"tokens": ["a"]}])
    assert here != configuration(toy, cell, data)


def test_figures_of_other_code_are_stale(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Cell] = []
    toy, directory = spied(seen), tmp_path / "cache"
    reproduce([toy], data, runs=1, cache=Cache(directory))
    monkeypatch.setattr(cache_module, "code_digest", lambda: "another")
    reproduce([toy], data, runs=1, cache=Cache(directory, stale=True))
    assert len(seen) == 4
    reproduce([toy], data, runs=1, cache=Cache(directory))
    assert len(seen) == 8


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    kept, settings = Cache(tmp_path / "deep" / "cache"), {"row": "é", "n": [1, None, 0.1]}
    assert kept.load(settings) == (None, "")
    outcome = Outcome({("a", "b"): 0.1 + 0.2, ("a", "c"): -1e-300}, 2.5, ("noted",))
    kept.store(settings, outcome)
    assert kept.load(settings) == (outcome, "")
    assert [path.suffix for path in (tmp_path / "deep" / "cache").iterdir()] == [".json"]


def test_a_failing_cell_fails_alone(data: Data, tmp_path: Path) -> None:
    kept = Cache(tmp_path / "cache")
    found = reproduce([table("broken", "half")], data, runs=1, cache=kept)
    assert {(failure.cell.row, failure.what) for failure in found.failures} == {("broken", "ValueError: no factor")}
    assert set(figures(found)) == {("half", "1"), ("half", "3"), ("half", "extra")}
    assert len(list((tmp_path / "cache").iterdir())) == 2


@pytest.mark.parametrize("wrong", [float("nan"), {("half", "elsewhere"): 1.0}])
def test_what_is_no_figure_of_the_table_is_a_failure(data: Data, wrong: Any) -> None:
    toy = replace(table(), measure=lambda data, cell: wrong)
    cell, what = compute((toy, next(iter(toy.to_run(1))), data, None))
    assert cell.row == "half"
    assert "not finite figures of places of the table" in what


def test_warnings_of_a_cell_are_notices(data: Data, tmp_path: Path) -> None:
    def doubtful(data: Data, cell: Cell) -> float:
        for _ in range(2):
            warnings.warn("only a guess", UserWarning, stacklevel=1)
        return 1.0

    toy = replace(table("half"), measure=doubtful)
    for _ in range(2):  # computed, and kept
        found = reproduce([toy], data, runs=1, cache=Cache(tmp_path / "cache"))
        assert found.notices == ("toy: only a guess (2 cells)",)


@pytest.mark.parametrize("options", [{"runs": 0}, {"jobs": 0}, {"runs": True}, {"jobs": 1.5}])
def test_wrong_numbers(data: Data, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected a whole number of at least 1"):
        reproduce([table()], data, **options)


def test_missing_data_stop_before_anything_is_computed(tmp_path: Path) -> None:
    seen: list[Cell] = []
    with pytest.raises(InputError, match="no such directory"):
        reproduce([spied(seen)], Data(tmp_path / "nowhere"))
    assert seen == []


@pytest.mark.parametrize("with_joblib", [True, False])
def test_processes_give_the_figures_of_one(
    data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_joblib: bool
) -> None:
    if with_joblib:
        pytest.importorskip("joblib")
    else:
        monkeypatch.setattr("espalier.papers.tables.runner.find_spec", lambda name: None)
    toy, kept = table("half", "broken"), Cache(tmp_path / "cache")
    one, two = (reproduce([toy], data, runs=2, jobs=jobs, cache=kept if jobs == 2 else None) for jobs in (1, 2))
    assert one.results == two.results
    assert sorted(map(str, one.failures)) == sorted(map(str, two.failures))
    assert len(list((tmp_path / "cache").iterdir())) == 3  # each process keeps what it computed


@pytest.mark.parametrize("with_joblib", [True, False])
def test_a_process_that_dies_is_an_error_in_words(
    data: Data, monkeypatch: pytest.MonkeyPatch, with_joblib: bool
) -> None:
    if with_joblib:
        pytest.importorskip("joblib")
    else:
        monkeypatch.setattr("espalier.papers.tables.runner.find_spec", lambda name: None)
    with pytest.raises(EspalierError, match=r"a process died, .*: run again with fewer jobs"):
        reproduce([table("fatal")], data, runs=1, jobs=2)


def test_the_quickest_real_cells(data_dir: Path, tmp_path: Path) -> None:
    """A supervised HMM learns references from all 300: above the published 86.69, and under rules better still."""
    (real,) = find_tables(["ccm12-table3"])
    rows = {row: {"300": real.published[row]["300"]} for row in ("citations, HMM", "citations, HMM-CCM")}
    found = reproduce([replace(real, published=rows)], Data(data_dir), cache=Cache(tmp_path / "cache"))
    plain, ruled = found.results
    assert plain.paper is not None
    assert plain.paper < plain.ours < ruled.ours < 100

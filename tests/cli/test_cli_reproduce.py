"""`espalier reproduce`: lists, tables for people, JSON for machines, and what may go wrong."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Espalier

from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell, Table
from espalier.papers.tables.registry import TABLES


def settings(row: str, column: str) -> dict[str, Any]:
    return {"plus": float(column)}


def measure(data: Data, cell: Cell) -> float:
    if cell.row == "spoilt":
        raise RuntimeError("out of paint")
    return data.corpus("toy/train", None).n_tokens + cell.settings["plus"] + cell.run


TOY = Table(
    name="toy", title="A toy", source="nobody", metric="points", minutes=0.5, needs=("toy/train",),
    published={"right": {"1": 4.0, "20": None}}, settings=settings, measure=measure, quick=("20",),
)  # fmt: skip


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One table about a split of two tokens; returns the data directory."""
    path = tmp_path / "data" / "toy" / "normalised" / "train.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"tokens": ["a", "b"]}\n', encoding="utf-8")
    monkeypatch.setattr("espalier.papers.tables.registry.find_tables", lambda names=(): [TOY])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ESPALIER_DATA", raising=False)
    return tmp_path / "data"


def test_list_names_every_table_with_its_time(espalier: Espalier) -> None:
    code, out, err = espalier("reproduce", "--list")
    assert (code, err) == (0, "")
    assert all(name in out for name in TABLES)
    assert "min" in out
    assert "all of these" in out
    code, out, _ = espalier("reproduce", "--list", "ilp14")
    assert "ilp14" in out
    assert "ccm12" not in out
    assert "all of these" not in out


def test_list_knows_what_kept_cells_took(espalier: Espalier, toy: Path, tmp_path: Path) -> None:
    """Half a minute for ten cells by the table; one of them took two hours in fact."""
    code, out, _ = espalier("reproduce", "--list", "--data", toy)
    assert "30 s" in out
    assert espalier("reproduce", "--data", toy, "--quick", "--cache", tmp_path / "mine").code == 0
    (kept,) = (tmp_path / "mine").iterdir()
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"seconds": 7200.0}))
    code, out, _ = espalier("reproduce", "--list", "--data", toy, "--cache", tmp_path / "mine")
    assert code == 0
    assert "120 min" in out


def test_markdown_links_pictures_that_are_there(
    espalier: Espalier, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = replace(TOY, charts={"curves": "size"})
    monkeypatch.setattr("espalier.papers.tables.registry.find_tables", lambda names=(): [drawn])
    page = tmp_path / "docs" / "figures.md"
    page.parent.mkdir()
    assert espalier("reproduce", "--data", toy, "--markdown", page).code == 0
    assert "![toy](images/figures/toy.svg)" in page.read_text(encoding="utf-8")
    picture = (page.parent / "images" / "figures" / "toy.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg xmlns")
    assert "right" in picture


def test_figures_side_by_side(espalier: Espalier, toy: Path, tmp_path: Path) -> None:
    code, out, err = espalier("reproduce", "--data", toy, "--json", tmp_path / "out.json")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()[1:4]] == [
        ["paper", "ours", "difference", "sd", "runs"],
        # two tokens + column + run; runs 0 to 4 have the mean 2 and the deviation sqrt(2.5)
        ["right", "1", "4.00", "5.00", "+1.00", "1.58", "5"],
        ["20", "24.00", "1.58", "5"],
    ]
    written = json.loads((tmp_path / "out.json").read_text())
    assert [list(record) for record in written] == [["table", "row", "column", "paper", "ours", "sd", "runs"]] * 2
    assert list(written[0].values()) == ["toy", "right", "1", 4.0, 5.0, pytest.approx(2.5**0.5), 5]
    assert written[1]["paper"] is None
    assert len(list((tmp_path / "cache" / "espalier" / "reproduce").iterdir())) == 10


def test_quick_runs_and_json_on_stdout(espalier: Espalier, toy: Path) -> None:
    code, out, err = espalier("reproduce", "--data", toy, "--quick", "--json", "-")
    assert (code, err) == (0, "")
    assert json.loads(out) == [
        {"table": "toy", "row": "right", "column": "20", "paper": None, "ours": 22.0, "sd": None, "runs": 1}
    ]
    _, out, _ = espalier("reproduce", "--data", toy, "--runs", "2", "--json", "-")
    assert [record["runs"] for record in json.loads(out)] == [2, 2]


def test_the_data_directory_may_come_from_the_environment(
    espalier: Espalier, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESPALIER_DATA", str(toy))
    assert espalier("reproduce", "--quick").code == 0


def test_cached_cells_are_found_where_they_are_kept(espalier: Espalier, toy: Path, tmp_path: Path) -> None:
    arguments = ("reproduce", "--data", toy, "--quick", "--cache", tmp_path / "mine", "--json", "-")
    first = espalier(*arguments)
    (kept,) = (tmp_path / "mine").iterdir()
    assert espalier(*arguments) == first
    kept.write_text("half of it")
    code, out, err = espalier(*arguments)
    assert (code, out) == (0, first.out)
    assert str(kept) in err
    assert "computed anew" in err


def test_a_failed_cell_is_named_and_the_exit_code_is_1(
    espalier: Espalier, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = replace(TOY, published={"spoilt": {"1": 4.0}, "right": {"1": 4.0}})
    monkeypatch.setattr("espalier.papers.tables.registry.find_tables", lambda names=(): [both])
    code, out, err = espalier("reproduce", "--data", toy, "--runs", "1")
    assert code == 1
    assert "toy, spoilt, 1, run 0 failed: RuntimeError: out of paint" in err
    assert "right" in out


def test_progress_is_for_terminals(espalier: Espalier, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, _, err = espalier("reproduce", "--data", toy, "--quick")
    assert code == 0
    assert "1 figure;" in err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nothing"], "no table is named 'nothing'"),
        (["ccm12-table3"], "--data DIR"),
        (["ccm12-table3", "--data", "nowhere"], "nowhere: there is no such directory"),
        (["ccm12-table3", "--data", "."], "cora/normalised/train.jsonl"),
        (["ccm12-table3", "--data", ".", "--runs", "0"], "runs is 0"),
        (["ccm12-table3", "--data", ".", "--jobs", "0"], "jobs is 0"),
    ],
)
def test_wrong_use(
    espalier: Espalier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ESPALIER_DATA", raising=False)
    code, out, err = espalier("reproduce", *arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1


def test_what_is_kept_is_shown_without_computing(espalier: Espalier, toy: Path, tmp_path: Path) -> None:
    assert espalier("reproduce", "--data", toy, "--runs", "2").code == 0
    code, _, err = espalier("reproduce", "--data", toy, "--kept", "--json", tmp_path / "out.json")
    assert (code, err) == (0, "")
    assert {row["runs"] for row in json.loads((tmp_path / "out.json").read_text())} == {2}
    code, out, _ = espalier("reproduce", "--data", toy, "--kept", "--cache", tmp_path / "empty")
    assert code == 0
    assert "right" not in out

"""The list of claims, the page that is made from it, and whether its figures can be stale."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from espalier.errors import FormatError
from espalier.papers.claims import checking
from espalier.papers.claims.checking import check
from espalier.papers.claims.claim import PAPERS, PaperClaim, Spot, awaited_tables, read_claims
from espalier.papers.claims.judging import ClaimVerdict
from espalier.papers.claims.kept import KeptPlace, cells_for, kept_places, read_places, write_places
from espalier.papers.claims.page import claims_markdown, lines_of, spots_of, tables_of
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell, Ratio, Table
from espalier.papers.tables.runner import reproduce

PAGE = Path(__file__).parents[3] / "docs" / "papers" / "claims.md"
KEPT = PAGE.with_suffix(".json")
CLAIMS = read_claims()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.says)
def test_every_claim_is_sound(claim: PaperClaim) -> None:
    """Its places exist, its words end well, and what cannot be tested has a reason."""
    tables = {table.name: table for table in tables_of([claim])} if claim.all_spots else {}
    assert all((spot.row, spot.column) in tables[spot.table].places for spot in claim.all_spots)
    assert claim.paper in PAPERS
    assert claim.where
    assert not claim.says.endswith(".")
    assert (claim.because or claim.untestable or "x.").endswith(".")
    assert claim.within is None or claim.within >= 0


def test_claims_are_of_all_papers_and_none_twice() -> None:
    assert {claim.paper for claim in CLAIMS} == set(PAPERS)
    assert max(Counter(claim.says for claim in CLAIMS).values()) == 1


def test_the_page_is_what_its_figures_make() -> None:
    assert PAGE.read_text(encoding="utf-8") == claims_markdown(CLAIMS, read_places(KEPT))


def test_what_is_not_computed_yet_is_said() -> None:
    """A table may lack figures only if the file says so, and may be on that list only while it lacks some."""
    missing = set(spots_of(CLAIMS)) - set(read_places(KEPT))
    assert sorted({spot.table for spot in missing}) == sorted(awaited_tables())


def test_what_fails_comes_first() -> None:
    found = [list(ClaimVerdict).index(line.verdict) for line in lines_of(CLAIMS, read_places(KEPT))]
    assert found == sorted(found)
    assert len(found) == len(CLAIMS)


def test_without_figures_nothing_is_judged() -> None:
    found = {line.verdict for line in lines_of(CLAIMS, {})}
    assert found == {ClaimVerdict.AWAITED, ClaimVerdict.UNTESTABLE}
    assert "not computed yet" in claims_markdown(CLAIMS, {})


def test_cells_that_measure_places() -> None:
    """A place of its own cell is measured by that; one that is filled along by cells of its row or column."""
    claims = [claim for claim in CLAIMS if claim.spots]
    tables = tables_of(claims)
    cells = cells_for(tables, spots_of(claims))
    run = {Spot(table.name, cell.row, cell.column) for table in tables for cell in table.to_run(1)}
    assert cells <= run
    assert {spot.table for spot in cells} == {table.name for table in tables}
    assert {spot for spot in spots_of(claims) if spot in run} <= cells


# A toy: two rows that are measured by one cell, over three sequences.


def settings(row: str, column: str) -> dict[str, float]:
    return {"scale": 100.0}


def measure(data: Data, cell: Cell) -> dict[tuple[str, str], float | Ratio]:
    n = data.corpus("toy/train", None).n_tokens
    counted = Ratio((1, 2, n), (4, 4, 4), cell.settings["scale"])
    return {("a", "1"): counted, ("b", "1"): 1.0 + cell.run, ("b", "seconds"): float(id(counted) % 97)}


TOY = Table(
    name="toy", title="A toy", source="nobody", metric="points", minutes=0.01, needs=("toy/train",),
    published={"a": {"1": None}, "b": {"1": None, "seconds": None}}, settings=settings, measure=measure,
    cells=(("a", "1"),),
)  # fmt: skip
WANTED = [Spot("toy", "a", "1"), Spot("toy", "b", "1"), Spot("toy", "b", "seconds")]


@pytest.fixture
def data(tmp_path: Path) -> Data:
    path = tmp_path / "data" / "toy" / "normalised" / "train.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"tokens": ["x", "y", "z"]}\n', encoding="utf-8")
    return Data(tmp_path / "data")


@pytest.fixture
def kept(data: Data, monkeypatch: pytest.MonkeyPatch) -> dict[Spot, KeptPlace]:
    monkeypatch.setattr(checking, "find_tables", lambda names: [TOY])
    return kept_places([TOY], reproduce([TOY], data, runs=5).done, data, WANTED)


def test_kept_places_come_back(kept: dict[Spot, KeptPlace], tmp_path: Path) -> None:
    first = kept[WANTED[0]]
    assert first.figures == (50.0,) * 5
    assert (first.up, first.down) == ((5, 10, 15), (20, 20, 20))
    assert kept[WANTED[1]].figures == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert (kept[WANTED[1]].up, first.by, first.code) == ((), ("a", "1"), TOY.code)
    write_places(tmp_path / "kept.json", kept)
    assert read_places(tmp_path / "kept.json") == kept


def test_a_place_is_kept_when_all_its_runs_are_there(data: Data) -> None:
    done = reproduce([TOY], data, runs=5).done
    assert set(kept_places([TOY], done, data, WANTED)) == set(WANTED)
    assert kept_places([TOY], done[:4], data, WANTED) == {}


@pytest.mark.parametrize("text", ["", "[]", '{"shared": [], "places": [["t"]]}', '{"shared": {}, "places": [[]]}'])
def test_what_are_no_kept_places(tmp_path: Path, text: str) -> None:
    (tmp_path / "kept.json").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=r"kept\.json: these are no cells of claims"):
        read_places(tmp_path / "kept.json")


def test_nothing_changed_nothing_is_computed(kept: dict[Spot, KeptPlace], data: Data) -> None:
    found = check(kept, data)
    assert (found.computed, found.differences, found.places) == (0, [], kept)


def test_other_code_with_the_same_figures_moves_the_digests_on(kept: dict[Spot, KeptPlace], data: Data) -> None:
    old = {spot: replace(one, code="of yesterday") for spot, one in kept.items()}
    found = check(old, data)
    assert found.differences == []
    assert found.computed == 2  # seconds are no figure that comes out twice
    assert found.places[WANTED[0]] == kept[WANTED[0]]


def test_other_data_with_other_figures_are_a_difference(kept: dict[Spot, KeptPlace], data: Data) -> None:
    path = data.path("toy/train")
    path.write_text('{"tokens": ["x", "y", "z", "z"]}\n', encoding="utf-8")
    found = check(kept, data)
    [different] = found.differences
    assert str(different).startswith("toy, a, 1: kept 50.000, ")
    assert different.now == (pytest.approx(100 * 7 / 12, abs=1e-5),) * 5
    assert found.places[WANTED[0]].figures == different.now
    assert found.places[WANTED[1]].data == {"toy/train": data.digest("toy/train")}


def test_a_sample_is_computed_whatever_has_changed(kept: dict[Spot, KeptPlace], data: Data) -> None:
    spoilt = kept | {WANTED[0]: replace(kept[WANTED[0]], figures=(51.0,) * 5)}
    found = check(spoilt, data, sample=1)
    assert [one.spot for one in found.differences] == [WANTED[0]]


def test_some_real_figures_come_out_again(data_dir: Path) -> None:
    """Three places that take a second each: an HMM, under one rule, under all."""
    names = ("citations, HMM", "citations, HMM-CCM")
    real = {
        spot: one
        for spot, one in read_places(KEPT).items()
        if spot.table == "ccm12-table3-inputs" and spot.row in names and spot.column == "300"
    }
    found = check(real, Data(data_dir), sample=2)
    assert found.computed == 2
    assert found.differences == []

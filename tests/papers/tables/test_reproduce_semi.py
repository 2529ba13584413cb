"""The semi-supervised tables: sound protocols, figures that agree with each other, and a small run of each."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reproduce_tables import write_split

from espalier.estimators.ccm import CCM
from espalier.estimators.codl import CoDL
from espalier.estimators.hmm import HMM
from espalier.papers.tables import ccm12
from espalier.papers.tables.ccm12 import HARD, NONE, PENALTIES, SETS, Accuracies, build, labelled, plan, scores
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell, Table
from espalier.papers.tables.registry import TABLES, find_tables
from espalier.papers.tables.runner import compute
from espalier.tasks.task import load_task

CURVES = tuple(f"ccm12-figure{number}" for number in range(2, 6))
SEMI = (
    "ccm12-table3", "ccm12-table5", "ccm12-table6", "ccm12-table7", "ccm12-table8", "ccm12-table10", *CURVES, "codl07",
    "codl07-curves", "sr10-table1", "ccm12-table3-inputs", "ccm12-table5-inputs", "ccm12-table6-inputs",
    "ccm12-table10-inputs", *(f"{name}-inputs" for name in CURVES),
)  # fmt: skip
DOMAINS = tuple(SETS)
TRAIN = {"citations": 20, "ads": 100}
"""Synthetic training sets: large enough for every cell that is run here."""


def test_every_table_is_registered() -> None:
    assert set(SEMI) <= set(TABLES)
    tables = [name.removeprefix("ccm12-table") for name in TABLES if name.startswith("ccm12-table")]
    assert [int(number) for number in tables if number.isdigit()] == [*range(3, 11)]
    assert [name for name in TABLES if name.startswith("ccm12-figure") and not name.endswith("-inputs")] == [*CURVES]


def test_every_table_has_one_with_the_papers_inputs() -> None:
    """It has the rows, the columns and the figures of its own, other settings, and says what still differs."""
    for name in TABLES:
        if not name.startswith(("ccm12-table", "ccm12-figure")) or name.endswith("-inputs"):
            continue
        ours, theirs = table(name), table(f"{name}-inputs")
        assert theirs.published == ours.published
        assert theirs.departures
        assert theirs.departures != ours.departures
        for mine, papers in zip(ours.to_run(1), theirs.to_run(1), strict=True):
            assert place(mine) == place(papers)
            assert mine.settings != papers.settings


def table(name: str) -> Table:
    (found,) = find_tables([name])
    return found


@pytest.mark.parametrize("name", SEMI)
def test_protocols_are_sound(name: str) -> None:
    """Settings are JSON, name data that the table needs, and differ between all cells of a table."""
    found = table(name)
    seen = []
    for cell in found.to_run(1):
        settings = json.loads(json.dumps(cell.settings, allow_nan=False))
        assert settings == cell.settings
        splits = ("train", "test") if settings["pool"] is None else ("train", "test", "unlabelled")
        assert {f"{SETS[settings['domain']]}/{split}" for split in splits} <= set(found.needs)
        assert settings["labelled"] > 0
        seen.append(json.dumps(settings, sort_keys=True))
    assert len(set(seen)) == len(seen)
    quick = list(found.to_run(1, quick=True))
    assert {cell.row for cell in quick} <= {row for row, _ in found.places}
    assert quick


def test_rows_are_the_rules_of_the_task() -> None:
    for name, domain in (("ccm12-table7", "citations"), ("ccm12-table8", "ads")):
        assert set(table(name).published) == {"None", *load_task(SETS[domain]).rules.names, "all"}


def figures(name: str, row: str) -> Mapping[str, float | None]:
    return table(name).published[row]


@pytest.mark.parametrize("domain", DOMAINS)
def test_published_figures_agree_with_each_other(domain: str) -> None:
    """The papers print many figures more than once; table 10 has two of them otherwise than table 3."""
    rows = ("HMM", "HMM-CCM", "semi HMM", "semi HMM-CCM")
    plain, ruled, semi, taught = (figures("ccm12-table3", f"{domain}, {row}") for row in rows)
    assert figures("ccm12-table6", f"{domain}, soft") == taught
    for row, known in ((f"{domain}, semi HMM", semi), (f"{domain}, semi HMM-CCM", taught)):
        assert {size: figures("ccm12-figure2", row)[size] for size in known} == known
    assert {size: figures("ccm12-figure3", f"{domain}, HMM")[size] for size in plain} == plain
    rules = "ccm12-table7" if domain == "citations" else "ccm12-table8"
    assert list(figures(rules, "None").values()) == [plain["5"], semi["5"]]
    assert list(figures(rules, "all").values()) == [ruled["5"], taught["5"]]
    curve = figures("ccm12-figure4", f"{domain}, semi HMM-CCM")
    assert (curve["0"], curve["5"], curve["10"]) == (ruled["5"], taught["5"], None)
    curve = figures("ccm12-figure4", f"{domain}, hard EM")
    assert (curve["0"], curve["5"]) == (plain["5"], semi["5"])
    for row, known in (("HMM-CCM", ruled), ("semi HMM-CCM", taught)):
        for size, figure in figures("ccm12-table10", f"{domain}, {row}").items():
            assert figure == pytest.approx(known[size], abs=0.05)
    assert figures("ccm12-table10", f"{domain}, SP-CCM") == figures("ccm12-table9", f"{domain}, JIBT")


def test_published_figures_of_references() -> None:
    taught = figures("ccm12-table3", "citations, semi HMM-CCM")
    assert figures("ccm12-table5", "semi HMM-CCM") == {size: taught[size] for size in ("5", "20", "300")}
    for size, figure in taught.items():
        assert figures("ccm12-figure5", f"{size} labelled") == {
            gamma: figure if gamma == "0.9" else None for gamma in ("0.0", "0.1", "0.3", "0.5", "0.7", "0.9", "1.0")
        }
    assert figures("codl07", "sup")["citations, 20"] == figures("sr10-table1", "supervised")["20"]
    assert figures("codl07", "top-k H&W&C")["citations, 20"] == figures("sr10-table1", "CODL")["20"]


def sequence(domain: str, draw: random.Random) -> dict[str, list[str]]:
    """A record of a few fields in a random order, each of some of its own words and a full stop."""
    task = load_task(SETS[domain])
    fields = [task.labels.names[0], *draw.sample(task.labels.names[1:], 3)]
    tokens, labels = [], []
    for field in fields:
        words = [f"{field[:4]}{draw.randrange(6)}" for _ in range(draw.randrange(2, 4))]
        tokens += [*words, "."]
        labels += [field] * (len(words) + 1)
    return {"tokens": tokens, "labels": labels}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    directory = tmp_path_factory.mktemp("synthetic")
    for domain, name in SETS.items():
        draw = random.Random(domain)
        for split, n in (("train", TRAIN[domain]), ("test", 6), ("unlabelled", 8)):
            records = [sequence(domain, draw) for _ in range(n)]
            if split == "train":  # every label is there
                first = {"tokens": [f"{x[:4]}0" for x in load_task(SETS[domain]).labels.names]}
                records[0] = first | {"labels": list(load_task(SETS[domain]).labels.names)}
            write_split(directory, f"{name}/{split}", records)
    return Data(directory)


def place(cell: Cell) -> tuple[str, str]:
    return cell.row, cell.column


@pytest.mark.parametrize("name", SEMI)
def test_a_small_run_of_each_table(name: str, data: Data) -> None:
    """Every row has figures: its own cells or those that come along with another row's."""
    found = table(name)
    cells: dict[str, Cell] = {}
    for cell in found.to_run(1):
        if cell.settings["labelled"] <= TRAIN[cell.settings["domain"]]:
            cells.setdefault(cell.row, cell)
    rows = set()
    for cell in cells.values():
        _, outcome = compute((found, cell, data, None))
        assert not isinstance(outcome, str), outcome
        assert place(cell) in outcome.figures
        assert all(0 <= value <= 100 for (row, _), value in outcome.figures.items() if "seconds" not in row)
        rows |= {row for row, _ in outcome.figures}
    large = {row for row in found.published if row.startswith("300")}
    assert rows == set(found.published) - large


def cell_of(settings: dict[str, Any], run: int = 0) -> Cell:
    return Cell("toy", "row", "column", run, settings)


def test_scores_are_those_of_the_model_that_the_plan_names(data: Data) -> None:
    train, test = data.corpus("cora/train"), data.corpus("cora/test")
    part = train[sorted(random.Random(3).sample(range(len(train)), 7))]
    rules = load_task("cora").rules
    model: Any = HMM().fit(part)
    assert scores(data, cell_of(plan("citations", 7, rules=NONE, codl=None), 3)) == Accuracies(
        *[100 * model.score(test)] * 2
    )
    model = CCM(HMM(), rules.only("Punctuation"), "hard").fit(part)
    settings = plan("citations", 7, rules="Punctuation", penalties=HARD, codl=None)
    assert scores(data, cell_of(settings, 3)) == Accuracies(100 * model.score(test), 100 * model.base_.score(test))
    raw = data.corpus("cora/unlabelled", None)
    learner = CoDL(CCM(HMM(transition_classes="punctuation"), rules, **PENALTIES), gamma=0.5, cycles=2)
    learner.fit(part, unlabelled=raw)
    settings = plan("citations", 7, codl={"gamma": 0.5, "cycles": 2}, hmm={"transition_classes": "punctuation"})
    found = scores(data, cell_of(settings, 3))
    assert found == Accuracies(100 * learner.score(test), 100 * learner.model_.base_.score(test))


def test_equal_plans_are_learned_once_and_all_runs_of_everything_are_one(
    data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Any] = []
    monkeypatch.setattr(ccm12, "build", lambda settings: built.append(settings) or build(settings))
    settings = plan("citations", 6, rules="Date", penalties=HARD, codl=None)
    first = scores(data, cell_of(settings))
    assert scores(data, replace(cell_of(settings), table="another")) == first
    assert len(built) == 1
    scores(data, cell_of(settings, 1))
    assert len(built) == 2
    settings = plan("citations", TRAIN["citations"], rules="Date", penalties=HARD, codl=None)
    assert len({scores(data, cell_of(settings, run)) for run in range(3)}) == 1
    assert len(built) == 3


def test_changed_data_are_learned_anew(data: Data, tmp_path: Path) -> None:
    other = Data(tmp_path)
    draw = random.Random(0)
    for split in ("train", "test"):
        write_split(tmp_path, f"ads/{split}", [sequence("ads", draw) for _ in range(5)])
    cell = cell_of(plan("ads", 5, rules=NONE, codl=None))
    before = scores(other, cell)
    wrong = [{"tokens": ["address0"], "labels": ["photos"]}]
    write_split(tmp_path, "ads/test", wrong)
    assert scores(other, cell) == Accuracies(0.0, 0.0) != before


def figure(name: str, row: str, column: str, data: Data) -> float:
    """Return a figure of run 0; it may come along with another column's."""
    found = table(name)
    cells = [cell for cell in found.to_run(1) if cell.row == row]
    cell = next((cell for cell in cells if cell.column == column), cells[0])
    _, outcome = compute((found, cell, data, None))
    assert not isinstance(outcome, str), outcome
    return outcome.figures[row, column]


@pytest.mark.parametrize("domain", DOMAINS)
def test_curves_with_the_papers_inputs_meet_its_table(domain: str) -> None:
    """They are of the models of table 3, so that a process learns these once; figure 4 has more iterations."""

    def chosen(name: str, row: str, column: str) -> dict[str, Any]:
        return json.loads(json.dumps(table(name).settings(row, column)))

    for row in ("semi HMM", "semi HMM-CCM"):
        expected = chosen("ccm12-table3-inputs", f"{domain}, {row}", "5")
        assert chosen("ccm12-figure2-inputs", f"{domain}, {row}", "5") == expected
    assert chosen("ccm12-figure3-inputs", f"{domain}, semi HMM-CCM", "5") == expected
    assert chosen("ccm12-table10-inputs", f"{domain}, semi HMM-CCM", "5") == expected
    longer = chosen("ccm12-figure4-inputs", f"{domain}, semi HMM-CCM", "10")
    assert longer == expected | {"codl": {"gamma": 0.9, "cycles": 10}, "method": "semi HMM-CCM"}
    if domain == "citations":
        assert chosen("ccm12-figure5-inputs", "5 labelled", "0.9") == expected
        assert chosen("ccm12-table5-inputs", "semi HMM-CCM", "5") == expected


@pytest.mark.parametrize("domain", DOMAINS)
def test_curves_meet_the_tables(domain: str, data: Data) -> None:
    """After five iterations CoDL is that of the tables, and hard EM the semi-supervised HMM without rules."""
    taught, hard = (
        {column: figure("ccm12-figure4", f"{domain}, {row}", column, data) for column in ("0", "5")}
        for row in ("semi HMM-CCM", "hard EM")
    )
    codl = {"gamma": 0.9, "cycles": 5}
    assert taught["5"] == scores(data, cell_of(plan(domain, 5, codl=codl))).ruled
    assert hard["5"] == scores(data, cell_of(plan(domain, 5, rules=NONE, codl=codl))).ruled
    assert hard["0"] == figure("ccm12-figure4", f"{domain}, EM", "0", data)
    # All the weight on the supervised model, and no cycle at all, are the same.
    still = plan(domain, 5, codl={"gamma": 1.0, "cycles": 5})
    assert taught["0"] == scores(data, cell_of(still)).ruled


def test_training_subsets_keep_all_label_names(data: Data) -> None:
    part = labelled(data, "citations", 2, 0)
    assert len(part) == 2
    assert part.labels is not None
    assert set(part.labels.names) == set(load_task("cora").labels.names)

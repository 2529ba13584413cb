"""The tables of several layers at once, on tiny invented sets."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproduce_tables import write_split

from espalier.papers.tables import conll04, names
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell

PEOPLE, TOWNS = ["Ann", "Bob", "Eve", "Max", "Ida"], ["Ulm", "Bonn", "Jena", "Kiel", "Trier"]


def sentence(i: int, rng: random.Random) -> dict[str, Any]:
    """`Ann lives in Ulm .`, or `Ann shot Bob .`; in every seventh one a town is nobody's."""
    person, other, town = rng.choice(PEOPLE), rng.choice(PEOPLE), rng.choice(TOWNS)
    if i % 3 == 0:
        tokens, kinds, label = [person, "shot", other, "."], {0: "person", 2: "person"}, "kill"
    elif i % 7 == 1:
        tokens, kinds, label = [person, "likes", town, "."], {0: "person", 2: "location"}, None
    else:
        tokens, kinds, label = [person, "lives", "in", town, "."], {0: "person", 3: "location"}, "live-in"
    entities = [[t, t + 1, kind] for t, kind in kinds.items()]
    bio = [f"B-{kinds[t]}" if t in kinds else "O" for t in range(len(tokens))]
    return {
        "tokens": tokens,
        "bio": bio,
        "entities": entities,
        "relations": [[0, label, 1]] if label else [],
        "doc": i // 5,
    }


@pytest.fixture
def data(tmp_path: Path) -> Data:
    rng = random.Random(1)
    for split in ("train", "test"):
        records = [sentence(i, rng) for i in range(60 if split == "train" else 20)]
        for name in ("conll04", "wikigold", "wnut17", "btc"):
            write_split(tmp_path, f"{name}/{split}", records)
    return Data(tmp_path)


def test_entities_and_relations(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [line for line in conll04.RULES.split("\n") if "kill" in line or "live-in" in line]
    monkeypatch.setattr(conll04, "RULES", "\n".join(said))  # the others' labels do not occur
    table = conll04.TABLE
    cell, folded = table.to_run(1)
    settings = {
        **cell.settings,
        "clusters": [4],
        "dimensions": 4,
        "folds": 2,
        "pair_l2": 0.1,
        "bias": {"apart": 0.0, "pipeline": 0.0, "joint": 0.0},
    }
    found = conll04.measure(data, Cell(cell.table, cell.row, cell.column, 0, settings))
    by_folds = conll04.measure(data, Cell(folded.table, folded.row, folded.column, 0, settings))
    assert set(found) | set(by_folds) == set(table.places)
    assert not set(found) & set(by_folds)
    assert by_folds["joint", "relations, folds"] > 60
    assert found["joint", "proven"] == 100.0
    assert found["joint", "entities"] > 80
    assert found["joint", "relations"] > 60
    less = "joint minus pipeline"
    assert found[f"{less}, from", "relations"] <= found[less, "relations"] <= found[f"{less}, to", "relations"]
    models = conll04.fitted(conll04.sentences(data, "train"), None, settings)
    nodes = [str(rule.node) for rule in models.learned]
    assert nodes == ["kill joins person and person", "live-in joins person and location"]


def test_one_name_one_label(data: Data) -> None:
    table = names.TABLE
    for cell in table.to_run(1):
        found = names.measure(data, cell)
        assert set(found) == {place for place in table.places if place[1] == cell.column}
        assert found["documents proven, %", cell.column] == 100.0
    assert [len(lines) for lines in names.documents(data, "wikigold/test")] == [5, 5, 5, 5]


def test_the_interval_is_that_of_resampled_sentences() -> None:
    """Against a bootstrap written out sentence by sentence."""
    rng = np.random.default_rng(3)
    a, b = (np.column_stack([rng.integers(0, 3, 25), np.full(25, 2), np.full(25, 2)]).astype(float) for _ in range(2))
    drawn = []
    for _ in range(4000):
        chosen = rng.integers(25, size=25)
        one, two = (sum(rows[i] for i in chosen) for rows in (a, b))
        drawn.append(200 * two[0] / (two[1] + two[2]) - 200 * one[0] / (one[1] + one[2]))
    assert conll04.interval(a, b) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=2.5)

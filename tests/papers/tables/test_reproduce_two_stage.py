"""The tables of two-stage inference on a set of a few records: every figure is there, and counts what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from reproduce_tables import write_split

from espalier.estimators.crf import CRF
from espalier.papers.tables import ilp14
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell

BOOK = {"tokens": ["ann", ".", "on", "ships", ".", "1999"], "labels": ["who"] * 2 + ["what"] * 3 + ["when"]}
PAPER = {"tokens": ["bob", ".", "of", "1999", "."], "labels": ["who"] * 2 + ["what"] * 3}


@pytest.fixture
def data(tmp_path: Path) -> Data:
    for part in ("train", "dev", "test"):
        write_split(tmp_path, f"cora/{part}", [BOOK, PAPER] * 6)
    tagged = [{"tokens": r["tokens"], "bio": [f"B-{y}" for y in r["labels"]]} for r in (BOOK, PAPER)]
    write_split(tmp_path, "seminars/all", tagged * 10)
    return Data(tmp_path)


def cell(column: str, taus: list[float], **more: object) -> Cell:
    settings = ilp14.WORD_SETS[column] | {"taus": taus} | more
    return Cell("ilp14-inputs", ilp14.VITERBI, column, 0, settings)


def test_a_column_has_every_row_and_starts_from_viterbi(data: Data) -> None:
    found = ilp14.measure(data, cell("CORA, 20", list(ilp14.TAUS), labelled=8))
    assert {place for place in ilp14.WORDS_TABLE.places if place[1] == "CORA, 20"} == set(found)
    train = ilp14.split(data, {"set": "cora", "tags": "labels", "labelled": 8}, 0).train
    plain = CRF(ilp14.WORD_START_END, l2=0.1, threads=1).fit(train).score(data.corpus("cora/test"))
    assert found["Viterbi", "CORA, 20"] == pytest.approx(100 * plain)


def test_what_stage_two_mends_and_spoils_is_the_difference(data: Data) -> None:
    found = ilp14.measure(data, cell("CORA, 20", [], labelled=4))
    tokens = data.corpus("cora/test").n_tokens
    gained = found[ilp14.MENDED, "CORA, 20"] - found[ilp14.SPOILED, "CORA, 20"]
    assert found[ilp14.ALL, "CORA, 20"] - found["Viterbi", "CORA, 20"] == pytest.approx(100 * gained / tokens)


def test_the_parts_of_the_seminars_share_nothing_and_leave_nothing_out(data: Data) -> None:
    parts = ilp14.split(data, ilp14.SETS["seminars"], 0)
    assert [len(part) for part in parts] == [10, 3, 7]

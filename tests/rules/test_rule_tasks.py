"""The rule files of the bundled tasks parse, and the labelled data obey them nearly everywhere."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from espalier.rules import RuleSet, degrees, rules

FIELDS = {
    "cora": "author title booktitle date journal pages editor volume location institution publisher tech note",
    "ads": "features neighborhood contact size rent restrictions address utilities available photos roommates",
}


def load(task: str) -> RuleSet:
    text = (files("espalier") / "tasks" / f"{task}.rules").read_text(encoding="utf-8")
    return rules(text, labels=FIELDS[task].split())


@pytest.mark.parametrize(("task", "K"), [("cora", 12), ("ads", 13)])
def test_rule_files_parse_and_print(task: str, K: int) -> None:
    found = load(task)
    assert found.K == K
    assert rules(str(found)) == found
    assert RuleSet.from_dict(found.to_dict()) == found


def test_citation_rules_by_hand() -> None:
    x = ["Lee", ".", '"', "A", "Journal", "note", '"', ",", "1994", ",", "pp", ".", "3", "."]
    y = ["author"] * 2 + ["title"] * 6 + ["date"] * 2 + ["pages"] * 4
    expected = {"BookJournal": 1, "Journal": 1, "Note": 1}
    assert dict(zip(load("cora").names, degrees(load("cora"), x, y).tolist(), strict=True)) == {
        name: expected.get(name, 0) for name in load("cora").names
    }


# Violations a token in the gold labels of the training split; measured 0.0077 and 0.0244.
@pytest.mark.parametrize(("task", "folder", "bound"), [("cora", "cora", 0.01), ("ads", "ads", 0.03)])
def test_gold_labels_obey_the_rules(data_dir: Path, task: str, folder: str, bound: float) -> None:
    found = load(task)
    path = data_dir / folder / "normalised" / "train.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    total = sum(degrees(found, record["tokens"], record["labels"]) for record in records)
    tokens = sum(len(record["tokens"]) for record in records)
    shares = {name: int(d) for name, d in zip(found.names, total, strict=True)}
    assert total.sum() <= bound * tokens, f"violations in {tokens} tokens: {shares}"

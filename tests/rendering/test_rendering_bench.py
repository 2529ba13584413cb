"""`bench/styles.py`: its counts against counts by hand, and what it prints."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FILE = Path(__file__).parents[2] / "bench" / "styles.py"


@pytest.fixture(scope="module")
def styles() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_styles", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_styles"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def row(style: str = "a", **changes: Any) -> dict[str, Any]:
    tokens = ["7", "DOE", ",", "J", ".", "On", "things", ".", "Press", ",", "2001", "."]
    labels = ["citation-number", *["author"] * 4, *["title"] * 3, *["publisher"] * 2, *["date"] * 2]
    tags = [("I-" if k and labels[k - 1] == label else "B-") + label for k, label in enumerate(labels)]
    found = {"text": "7 DOE, J. On things. Press, 2001.", "tokens": tokens, "bio": tags, "style": style, "kind": "book"}
    return {**found, "locale": "de-DE", **changes}


def reading(styles: ModuleType, tags: list[str], **changes: Any) -> Any:
    one = row(**changes)
    right = styles.fields_of(one["tokens"], [tag[2:] for tag in one["bio"]])
    return styles.Reading(one, frozenset(right), frozenset(styles.fields_of(one["tokens"], tags)), tags)


def test_counts(styles: ModuleType) -> None:
    right = [tag[2:] for tag in row()["bio"]]
    wrong = ["author" if tag == "citation-number" else tag for tag in right]
    tally = styles.tallies([reading(styles, right), reading(styles, wrong)], lambda _: "")[""]
    # 5 fields right of 5, and 3 right of 4 said (the author has a number at its front) where there are 5
    assert (tally.hits, tally.said, tally.there) == (8, 9, 10)
    assert tally.f1 == pytest.approx(200 * 8 / 19)
    assert (tally.references, tally.whole) == (2, 1)
    assert tally.mistaken == {("citation-number", "author"): 1, ("author", "another border"): 1}


def test_traits(styles: ModuleType) -> None:
    one = reading(styles, [tag[2:] for tag in row()["bio"]])
    found = {name for name, trait in styles.TRAITS.items() if trait(one)}
    assert found == {"a bare number in front", "date last", "names in capitals"}


def test_what_is_printed(styles: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row("good"), row("good"), row("noisy", noise=["dashed"])]
    file = tmp_path / "rows.jsonl.gz"
    file.write_bytes(gzip.compress("".join(json.dumps(one) + "\n" for one in rows).encode()))
    styles.main([str(file), "--clean", "--picture", str(tmp_path / "styles.svg")])
    text = capsys.readouterr().out
    assert text.startswith("2 references in 1 styles: field F1 ")
    for line in ("| book | 2 |", "| de | 2 |", "| names in capitals | 2 |", "| good | 2 |"):
        assert line in text
    assert (tmp_path / "styles.svg").read_text(encoding="utf-8").startswith("<svg")

"""`bench/wild.py`: the truth that it finds, its counts against counts by hand, and what it prints."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from espalier.citations.record import Field, Record

BENCH = Path(__file__).parents[2] / "bench"
LINES = {
    "mla": "Lee, Ann. “On Pears.” Fruit 48.178 (1987): 833. Crossref. Web.",
    "acm-sig-proceedings": "[1]Lee, A. 1987. On Pears. Fruit. 48, 178 (Apr. 1987), 833.",
    "american-chemical-society": "(1) Lee, A. Fruit 1987, 48, 833.",
    "apa": "Lee, A. (1987). On Pears. Fruit, 48(178), 833. doi:10.2307/2007848",
    "chicago-author-date": "Lee, Ann. 1987. “On Pears.” Fruit 48 (178) (April): 833. doi:10.2307/1. http://x.org/1.",
    "harvard3": "Lee, A., 1987. On Pears. Fruit, 48(178), p.833. Available at: http://dx.doi.org/10.2307/1.",
    "ieee": "[1]A. Lee, “On Pears,” Fruit, vol. 48, no. 178, p. 833, Apr. 1987.",
}


@pytest.fixture(scope="module")
def wild() -> ModuleType:
    sys.path.insert(0, str(BENCH))
    spec = importlib.util.spec_from_file_location("bench_wild", BENCH / "wild.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_wild"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("style", LINES)
def test_truth_is_read_off_the_end_of_a_line(wild: ModuleType, style: str) -> None:
    issue = "" if style == "american-chemical-society" else "178"
    assert wild.truth_of(LINES[style], style) == ("48", issue, "833", "1987")
    assert wild.truth_of("Lee, Ann. “On Pears.” Fruit.", style) is None


def test_an_issue_that_is_not_printed_is_not_asked_for(wild: ModuleType) -> None:
    text = "Fruit 1987 48 178 833"
    labels = ("container-title", "date", "volume", "issue", "pages")
    starts = [text.index(word) for word in text.split()]
    spans = zip(starts, text.split(), labels, strict=True)
    record = Record(text, tuple(Field(label, word, a, a + len(word), 1.0) for a, word, label in spans), 1.0, None)
    assert wild.answer_of(record, ("48", "178", "833", "1987")) == ("48", "178", "833", "1987")
    assert wild.answer_of(record, ("48", "", "833", "1987")) == ("48", "", "833", "1987")


def test_titles_are_put_together_and_cue_words_left_out(wild: ModuleType) -> None:
    words = ["Rossi", ",", "Prezzi", ",", "in", "«", "Il", "libro", "»,", "1912"]
    theirs = wild.merged(words, ["author"] * 2 + ["title"] * 2 + [""] + ["title"] * 4 + ["date"])
    assert theirs == [("author", 0, 1), ("title", 2, 3), ("title", 6, 8), ("date", 9, 10)]
    text = " ".join(words)
    cuts = [("author", "Rossi ,"), ("title", "Prezzi ,"), ("container-title", "in « Il libro »,"), ("date", "1912")]
    fields = []
    for label, piece in cuts:
        a = text.index(piece)
        fields.append(Field(label, piece, a, a + len(piece), 1.0))
    labels = wild.our_labels(words, Record(text, tuple(fields), 1.0, None))
    assert wild.merged(words, labels) == theirs


def test_a_date_inside_a_number_of_theirs_does_not_count(wild: ModuleType) -> None:
    row = {"labels": ["title", "publicationnumber-year", "publicationnumber-year", "year"]}
    assert wild.in_number(row, ("date", 1, 3))
    assert not wild.in_number(row, ("date", 2, 4))
    assert not wild.in_number(row, ("volume", 1, 2))


def test_what_is_printed(wild: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def put(name: str, text: str, packed: bool = False) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())

    words = ["Rossi", ",", "Storia", "di", "Venezia", ",", "Milano", "1912"]
    labels = ["author"] * 2 + ["title"] * 4 + ["publicationplace", "year"]
    row: dict[str, Any] = {"tokens": words, "labels": labels}
    put("linkedbooks/normalised/dev.jsonl", json.dumps(row) + "\n")
    for style, line in LINES.items():
        put(f"unlabelled_refs/original/jstor_{style}.txt.gz", line + "\nno record of the others\n", packed=True)
    tokens = ["Meier", ",", "Ernte", ".", "2001", "."]
    tags = ["B-author", "I-author", "B-title", "I-title", "B-date", "I-date"]
    made = {
        "text": "Meier, Ernte. 2001.",
        "tokens": tokens,
        "bio": tags,
        "style": "a",
        "locale": "de-DE",
        "kind": "book",
    }
    put("unseen.jsonl.gz", json.dumps(made) + "\n", packed=True)
    wild.main(["--data", str(tmp_path), "--rendered", str(tmp_path / "unseen.jsonl.gz"), "--quick"])
    printed = capsys.readouterr().out
    assert "| LinkedBooks, 1 references |" in printed
    assert all(f"| {style} | 1 |" in printed for style in LINES)
    assert "| de | 1 |" in printed
    wild.main(["--data", str(tmp_path), "--rendered", str(tmp_path / "none.gz"), "--quick"])
    assert "make rendered" in capsys.readouterr().out

"""The training process from the inside: every method, what it tells, and how it ends."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import espalier as es
from espalier.document import Document, Span
from espalier.io import write
from espalier.recipes import METHODS
from espalier.workbench import teaching
from espalier.workbench.judgement import Judging, folds, is_worse, verdict
from workbench_server import RULES, wares

TASK = 'labels = ["O", "item", "price"]\n[features]\ntemplates = ["lower[-1,0,1]", "shape"]\n'


def orders(directory: Path, method: str, labelled: int, pool: int = 0) -> dict[str, Any]:
    documents = [
        Document.from_text(text, [Span(f["start"], f["end"], f["label"]) for f in fields])
        for text, fields in wares(labelled + pool)
    ]
    write(documents[:labelled], directory / "labelled.jsonl")
    write([Document(d.text, d.tokens) for d in documents[labelled:]], directory / "pool.jsonl")
    (directory / "wares.toml").write_text(TASK)
    (directory / "wares.rules").write_text(RULES)
    return {
        "task": str(directory / "wares.toml"),
        "rules": str(directory / "wares.rules"),
        "method": method,
        "labelled": str(directory / "labelled.jsonl"),
        "pool": str(directory / "pool.jsonl") if pool else None,
        "output": str(directory / "model.espalier"),
        "memory": 1 << 40,
    }


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method: str, tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    pool = 60 if METHODS[method].pool else 0
    teaching.teach(orders(tmp_path, method, 6, pool), told.append)
    kinds = [next(iter(news)) for news in told]
    assert kinds.index("model") < kinds.index("scores") < kinds.index("verdict")  # the model comes first
    assert "point" not in kinds  # six records draw no curve
    [scores] = [news["scores"] for news in told if "scores" in news]
    assert scores["held_out"] == 6  # each judged by a model that has not seen it
    assert told[-1] == {"news": "done", "progress": 1.0, "held_out": 6}
    assert set(es.load(tmp_path / "model.espalier").model.labels_) == {"O", "item", "price"}


def test_a_curve_has_intervals_and_enough_judges(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    teaching.teach(orders(tmp_path, "supervised", 100), told.append)
    points = [news["point"] for news in told if "point" in news]
    assert [point["records"] for point in points] == [20, 40, 80]
    for point in points:
        assert point["token_low"] <= point["token_accuracy"] <= point["token_high"]
        assert point["field_low"] <= point["field_f1"] <= point["field_high"]
    [scores] = [news["scores"] for news in told if "scores" in news]
    assert scores["held_out"] == 20


def test_one_record_judges_nobody(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    teaching.teach(orders(tmp_path, "supervised", 1), told.append)
    assert not any("point" in news or "scores" in news for news in told)
    assert any("model" in news for news in told)


@pytest.mark.parametrize(
    ("n", "parts", "judges"), [(0, 1, 0), (1, 1, 0), (2, 2, 2), (7, 3, 7), (99, 3, 99), (100, 1, 20)]
)
def test_folds(n: int, parts: int, judges: int) -> None:
    found = folds(n)
    assert len(found) == parts
    together = [i for part in found for i in part]
    assert len(together) == len(set(together)) == judges


def documents_of(n: int) -> list[Document]:
    return [Document.from_text(t, [Span(f["start"], f["end"], f["label"]) for f in fields]) for t, fields in wares(n)]


def fitted(some: list[Document], names: dict[str, str] | None = None) -> Any:
    """A model that has learned plain labels, under other names perhaps."""
    labels = [[tag[2:] or tag for tag in document.tags or []] for document in some]
    return es.CRF().fit([d.words for d in some], [[(names or {}).get(label, label) for label in y] for y in labels])


def judged_against(directory: Path, gold: list[str], told: list[dict[str, Any]], n: int = 8) -> dict[str, Any]:
    """Train on wares whose labels are these, with a good model in use, and return the verdict."""
    first = directory / "first"
    first.mkdir()
    teaching.teach(orders(first, "supervised", 30), [].append)
    documents = [
        Document.from_text(text, [Span(f["start"], f["end"], label) for f, label in zip(fields, gold, strict=True)])
        for text, fields in wares(n)
    ]
    given = orders(directory, "supervised", n)
    write(documents, directory / "labelled.jsonl")
    given["active"] = {"file": str(first / "model.espalier"), "method": None, "seen": []}
    teaching.teach(given, told.append)
    [found] = [news["verdict"] for news in told if "verdict" in news]
    return found


def test_a_model_that_is_not_worse_is_used(tmp_path: Path) -> None:
    found = judged_against(tmp_path, ["item", "price"], [])
    assert (found["used"], found["held_out"], found["before"]) == (True, 8, 1.0)


def test_a_worse_model_is_not_used(tmp_path: Path) -> None:
    """It has learned that items are prices; the model in use is right about all of them."""
    teaching.teach(orders(tmp_path, "supervised", 30), [].append)
    documents = documents_of(8)
    swapped = {"item": "price", "price": "item", "O": "O"}

    def learn(method: str, some: list[Document], step: int) -> Any:
        return fitted(some, swapped)

    active = {"file": str(tmp_path / "model.espalier"), "method": None, "seen": []}
    judged = Judging(documents, active, learn, lambda step: None).run(folds(8), "supervised")
    found = verdict(judged, active, 8)
    assert (found["used"], found["why"], found["metric"], found["before"], found["after"]) == (
        False, "worse", "field_f1", 1.0, 0.0,
    )  # fmt: skip
    assert verdict(None, active, 0)["why"] == "too few records"


def row(difference: float, p: float) -> dict[str, Any]:
    return {"metric": "exact", "difference": difference, "p_bootstrap": p}


@pytest.mark.parametrize(
    ("difference", "p", "judges", "worse"),
    [
        (-0.06, 0.048, 100, True),
        (-0.06, 0.3, 100, False),
        (-0.06, 0.3, 19, True),  # too few to speak of chance
        (0.0, 1.0, 2, False),
        (0.06, 0.01, 100, False),
    ],
)
def test_what_worse_means(difference: float, p: float, judges: int, worse: bool) -> None:
    assert is_worse(row(difference, p), judges) is worse


def test_a_model_in_use_is_judged_without_what_it_has_seen(tmp_path: Path) -> None:
    """A model that knows the judging records by heart must not win by that: another is trained in its place."""
    documents = documents_of(10)
    asked: list[tuple[str, int]] = []

    def learn(method: str, some: Any, step: int) -> Any:
        asked.append((method, len(some)))
        return fitted(some)

    active = {"file": "not there", "method": "codl", "seen": list(range(10))}
    judged = Judging(documents, active, learn, lambda step: None).run(folds(10), "supervised")
    assert judged is not None
    assert asked == [(method, n) for n in (6, 7, 7) for method in ("supervised", "codl")]
    asked.clear()
    Judging(documents, active | {"method": "supervised"}, learn, lambda step: None).run(folds(10), "supervised")
    assert asked == [("supervised", n) for n in (6, 7, 7)]  # the same way from the same records


def test_errors_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    monkeypatch.setattr(teaching, "_end_with_input", lambda: None)
    monkeypatch.setattr(teaching, "_limit", lambda memory: None)
    wrong = orders(tmp_path, "supervised", 2)
    (tmp_path / "labelled.jsonl").write_text('{"text": "no labels"}\n')
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(wrong) + "\n"))
    assert teaching.main() == 1
    last = json.loads(capsys.readouterr().out.strip().split("\n")[-1])
    assert "none of the 1 training records is labelled" in last["error"]["what"]

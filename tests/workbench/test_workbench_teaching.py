"""The training process from the inside: every method, what it tells, and how it ends."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from workbench_server import RULES, wares

import espalier as es
from espalier.document import Document, Span
from espalier.io import write
from espalier.recipes import METHODS
from espalier.workbench import teaching

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
    pool = 6 if METHODS[method].pool else 0
    teaching.teach(orders(tmp_path, method, 10, pool), told.append)
    kinds = [next(iter(news)) for news in told]
    assert kinds.index("model") < kinds.index("point")  # the model comes first
    points = [news["point"] for news in told if "point" in news]
    assert [point["records"] for point in points] == ([8] if pool else [2, 4, 8])
    [scores] = [news["scores"] for news in told if "scores" in news]
    assert scores == {k: v for k, v in points[-1].items() if k != "records"} | {"held_out": 2}
    assert told[-1] == {"news": "done", "progress": 1.0, "held_out": 2}
    assert set(es.load(tmp_path / "model.espalier").model.labels_) == {"O", "item", "price"}


def test_too_few_to_hold_any_out(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    teaching.teach(orders(tmp_path, "supervised", 4), told.append)
    assert not any("point" in news or "scores" in news for news in told)
    assert any("model" in news for news in told)


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

"""Many clients at once: the short version of bench/serve.py."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from serve import load, references


def test_fifty_clients_without_an_error(api: httpx.Client, tmp_path: Path) -> None:
    texts = references(tmp_path / "no data here", 40)
    body = {"text": "\n".join(texts), "layout": "lines"}
    ids = api.post("/tasks/citations/records", json=body).json()["added"]
    assert len(ids) > 20
    times, errors, _ = load(str(api.base_url).rstrip("/"), ids, clients=50, seconds=2)
    assert errors == []
    assert len(times) >= 50


def test_numbers_of_references(tmp_path: Path) -> None:
    texts = references(tmp_path, 30)
    assert len(set(texts)) == len(texts) == 30


def test_the_bench_counts_errors(api: httpx.Client) -> None:
    _, errors, _ = load(f"{api.base_url}nowhere", list(range(1, 50)), clients=1, seconds=0.3)
    assert errors
    assert errors[0].endswith((": 404", ": 405"))

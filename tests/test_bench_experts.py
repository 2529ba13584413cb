"""The tables of `bench/experts.py`: intervals equal those of SciPy and of the library's own bootstrap."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from espalier.metrics import paired_bootstrap
from espalier.metrics.scores import paired, segment_counts, token_counts

BENCH = Path(__file__).resolve().parents[1] / "bench"


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCH))
    import experts_tables  # type: ignore[import-not-found]

    yield experts_tables
    sys.modules.pop("experts_tables", None)


def test_interval_over_draws_is_students(tables: Any) -> None:
    a, b = tables.Place("x", "20", "crf", ""), tables.Place("x", "20", "net", "")
    before, after = [70.1, 72.0, 68.5, 71.3, 70.9], [71.0, 74.2, 68.0, 73.3, 71.1]
    figures = {place: {i: {"f1": v} for i, v in enumerate(vs)} for place, vs in ((a, before), (b, after))}
    found = tables.difference(figures, a, b, "f1")
    expected = stats.ttest_rel(after, before).confidence_interval(0.95)
    assert found.value == pytest.approx(np.mean(after) - np.mean(before))
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-3)


def test_only_runs_that_both_have_are_compared(tables: Any) -> None:
    a, b = tables.Place("x", "20", "crf", ""), tables.Place("x", "20", "net", "")
    figures = {a: {0: {"f1": 50.0}, 1: {"f1": 60.0}}, b: {1: {"f1": 63.0}, 2: {"f1": 90.0}}}
    assert tables.difference(figures, a, b, "f1") == (3.0, None, None)
    assert tables.difference(figures, b, tables.Place("y", "20", "net", ""), "f1") is None


def test_interval_over_test_sequences_is_the_librarys_bootstrap(tables: Any) -> None:
    rng = np.random.default_rng(3)
    gold = [rng.choice(["a", "b", "O"], 9).tolist() for _ in range(80)]
    first, second = (
        [[y if rng.random() < p else "b" for y in labels] for labels in gold] for p in (0.7, 0.85)
    )  # fmt: skip
    a, b = tables.Place("x", "all", "crf", ""), tables.Place("x", "all", "net", "")
    figures = {}
    for place, labels in ((a, first), (b, second)):
        pairs = paired(gold, labels)
        counts = np.concatenate([segment_counts(pairs), token_counts(pairs)], axis=1)
        right, found, there = counts.sum(axis=0)[:3]
        figures[place] = {0: {"f1": 200 * right / (found + there), "counts": counts.tolist()}}
    ours = tables.difference(figures, a, b, "f1")
    expected = paired_bootstrap(gold, first, second, metric="field_f1")
    assert ours.value == pytest.approx(100 * expected.difference)
    assert (ours.low, ours.high) == pytest.approx((100 * expected.low, 100 * expected.high), abs=1.0)

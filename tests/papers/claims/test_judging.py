"""Gains, their intervals and verdicts, against the rule and against independent arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from espalier.papers.claims.claim import PaperClaim, Spot
from espalier.papers.claims.judging import ClaimVerdict, Estimate, estimate, verdict
from espalier.papers.claims.kept import KeptPlace

few = settings(deadline=None, derandomize=True, max_examples=40)
A, B = Spot("t", "a", "1"), Spot("t", "b", "1")


def claim(**more: object) -> PaperClaim:
    given = {
        "says": "a is better",
        "paper": "CCM12",
        "where": "",
        "table": "t",
        "more": ("a",),
        "less": ("b",),
        "at": ("1",),
    }
    return PaperClaim(**{**given, **more})  # type: ignore[arg-type]


def place(*figures: float, up: tuple[float, ...] = (), down: tuple[float, ...] = ()) -> KeptPlace:
    return KeptPlace(figures, up, down, 100.0, ("a", "1"), "code", {})


@pytest.mark.parametrize(
    ("there", "gain", "low", "high", "expected"),
    [
        (4.0, 2.0, 0.1, 3.9, ClaimVerdict.HOLDS),  # half the gain, above 0
        (4.0, 1.9, 0.1, 3.7, ClaimVerdict.OPEN),  # less than half
        (4.0, 3.0, -0.1, 6.1, ClaimVerdict.OPEN),  # perhaps nothing
        (4.0, 1.0, 0.1, 1.9, ClaimVerdict.FAILS),  # something, but surely less than half
        (4.0, 0.0, 0.0, 0.0, ClaimVerdict.FAILS),
        (None, 1.0, 0.1, 1.9, ClaimVerdict.HOLDS),  # words alone
        (None, 0.0, 0.0, 0.0, ClaimVerdict.FAILS),
        (None, 0.5, -0.5, 1.5, ClaimVerdict.OPEN),
    ],
)
def test_the_rule(there: float | None, gain: float, low: float, high: float, expected: ClaimVerdict) -> None:
    assert verdict(claim(), there, Estimate(gain, low, high, 5, 100)) is expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-1.0, 3.0, ClaimVerdict.HOLDS),
        (-3.0, 1.0, ClaimVerdict.OPEN),
        (-5.0, -2.1, ClaimVerdict.FAILS),
        (-2.0, -2.0, ClaimVerdict.HOLDS),
    ],
)
def test_the_rule_of_likeness(low: float, high: float, expected: ClaimVerdict) -> None:
    assert verdict(claim(within=2.0), -1.0, Estimate((low + high) / 2, low, high, 1, 100)) is expected


@few
@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=3, max_size=6))
def test_over_subsets_it_is_students_interval_of_pairs(pairs: list[tuple[float, float]]) -> None:
    first, second = (place(*values) for values in zip(*pairs, strict=True))
    found = estimate(claim(), {A: first, B: second})
    differences = [a - b for a, b in pairs]
    assert found.gain == pytest.approx(np.mean(differences))
    assert found.runs == len(pairs)
    assert found.sequences is None
    if np.ptp(differences) > 1e-6:
        low, high = stats.t.interval(0.95, len(pairs) - 1, np.mean(differences), stats.sem(differences))
        assert (found.low, found.high) == pytest.approx((low, high))


@few
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=30))
def test_over_sequences_of_one_length_it_is_that_of_their_differences(counts: list[tuple[int, int]]) -> None:
    """Where all sequences have ten tokens the jackknife is the variance of a mean."""
    ups = [tuple(map(float, column)) for column in zip(*counts, strict=True)]
    tens = (10.0,) * len(counts)
    figures = [100.0 * sum(up) / sum(tens) for up in ups]
    found = estimate(
        claim(), {spot: place(f, up=up, down=tens) for spot, f, up in zip((A, B), figures, ups, strict=True)}
    )
    differences = [10.0 * (a - b) for a, b in counts]
    assert (found.runs, found.sequences) == (1, len(counts))
    if np.ptp(differences):
        low, high = stats.t.interval(0.95, len(counts) - 1, np.mean(differences), stats.sem(differences))
        assert (found.low, found.high) == pytest.approx((low, high))
    else:
        assert found.low == found.high


def test_subsets_and_sequences_add_up() -> None:
    up, down = (3.0, 9.0, 4.0, 7.0), (10.0,) * 4
    apart = estimate(claim(), {A: place(60.0, 50.0, 58.0), B: place(40.0)})
    other = estimate(claim(), {A: place(57.5, up=up, down=down), B: place(50.0, up=(5.0,) * 4, down=down)})
    both = estimate(claim(), {A: place(60.0, 50.0, 58.0, up=up, down=down), B: place(40.0, up=(5.0,) * 4, down=down)})
    assert both.runs == 3
    assert both.sequences == 4
    parts = [(e.high - e.gain) / stats.t.ppf(0.975, n) for e, n in ((apart, 2), (other, 3))]
    freedom = sum(p**2 for p in parts) ** 2 / (parts[0] ** 4 / 2 + parts[1] ** 4 / 3)
    assert both.high - both.gain == pytest.approx(np.sqrt(sum(p**2 for p in parts)) * stats.t.ppf(0.975, freedom))


def test_gains_of_several_places() -> None:
    values = {Spot("t", row, column): figure for row, column, figure in (
        ("a", "1", 5.0), ("a", "2", 7.0), ("b", "1", 1.0), ("b", "2", 5.0), ("c", "9", 50.0),
    )} | {Spot("u", "c", "9"): 2.0}  # fmt: skip
    assert claim(at=("1", "2")).gain(values) == 3.0
    assert claim(less=("b @ 1",), at=("1", "2")).gain(values) == 5.0
    assert claim(less=("u | c @ 9",)).gain(values) == 3.0
    assert claim(more=(), plus=2.0).gain(values) == 1.0
    assert claim(more=("a", "c @ 9")).gain(values) == 54.0
    reduced = claim(more=(), less=(), reduction=("c @ 9", "a", "b", "c @ 9"))
    assert reduced.gain(values) == pytest.approx(100 * 45 / 95 - 100 * (-49) / 50)

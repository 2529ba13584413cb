"""Bootstrap against enumeration of every resample; Wilcoxon against scipy and against all sign patterns."""

from __future__ import annotations

import json
import math
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from espalier.errors import InputError
from espalier.metrics import evaluate, paired_bootstrap, sequence_scores, wilcoxon

LAW = settings(deadline=None, derandomize=True, max_examples=80)

GOLD = [["B-x", "I-x"], ["B-x"], ["B-x", "O", "B-y"], ["O", "B-y"]]
A = [["B-x", "O"], ["O"], ["B-x", "O", "O"], ["O", "B-y"]]
B = [["B-x", "I-x"], ["B-x"], ["O", "O", "B-y"], ["O", "B-x"]]


def value(metric: str, chosen: tuple[int, ...], predicted: list[list[str]]) -> float:
    report = evaluate([GOLD[i] for i in chosen], [predicted[i] for i in chosen])
    return float(getattr(report, metric))


@pytest.mark.parametrize("metric", ["token_accuracy", "field_f1", "exact"])
def test_bootstrap_against_every_resample(metric: str) -> None:
    n = 40_000
    found = paired_bootstrap(GOLD, A, B, metric=metric, n_resamples=n, level=0.8, seed=1)
    everything = (0, 1, 2, 3)
    d = value(metric, everything, B) - value(metric, everything, A)
    assert found.difference == pytest.approx(d)
    assert (found.a, found.b) == pytest.approx((value(metric, everything, A), value(metric, everything, B)))
    # 4^4 resamples, equally likely, each measured from scratch.
    all_d = np.array([value(metric, r, B) - value(metric, r, A) for r in product(range(4), repeat=4)])
    p = np.mean(np.abs(all_d - d) >= abs(d) - 1e-12)
    assert found.p_value == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / n) + 1 / n)
    # The quantile of a discrete distribution: its share below is at most, and up to it at least, what was asked.
    for bound, share in ((found.low, 0.1), (found.high, 0.9)):
        slack = 5 * np.sqrt(share * (1 - share) / n)
        assert np.mean(all_d < bound - 1e-9) <= share + slack
        assert np.mean(all_d <= bound + 1e-9) >= share - slack


def test_bootstrap_is_repeatable_and_antisymmetric() -> None:
    one = paired_bootstrap(GOLD, A, B, n_resamples=500, seed=7)
    assert one == paired_bootstrap(GOLD, A, B, n_resamples=500, seed=7)
    assert one == paired_bootstrap(GOLD, A, B, n_resamples=500, seed=np.random.default_rng(7))
    other = paired_bootstrap(GOLD, B, A, n_resamples=500, seed=7)
    assert other.difference == -one.difference
    assert other.p_value == one.p_value
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))
    assert json.loads(json.dumps(one.to_dict()))["n_resamples"] == 500


def test_bootstrap_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = paired_bootstrap(GOLD, A, B, n_resamples=101, seed=3)
    monkeypatch.setattr("espalier.metrics.significance._CHUNK", 40)  # ten resamples at a time
    assert paired_bootstrap(GOLD, A, B, n_resamples=101, seed=3) == whole


def test_equal_systems_do_not_differ() -> None:
    same = paired_bootstrap(GOLD, A, A, n_resamples=200)
    assert (same.difference, same.p_value, same.low, same.high) == (0.0, 1.0, 0.0, 0.0)


def test_a_clear_difference_is_found() -> None:
    gold = [["B-x"]] * 200
    found = paired_bootstrap(gold, [["O"]] * 200, gold, n_resamples=999)
    # Every resample differs by one, so |d* - d| = 0 < |d| in all of them.
    assert (found.difference, found.p_value, found.low, found.high) == (1.0, 1 / 1000, 1.0, 1.0)


def test_readings_reach_the_bootstrap() -> None:
    gold = [["I-x"], ["B-x"]]
    assert paired_bootstrap(gold, [["O"], ["O"]], gold, n_resamples=10).b == 1.0
    strict = paired_bootstrap(gold, [["O"], ["O"]], [["I-x"], ["O"]], n_resamples=10, strict=True)
    assert strict.b == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "bleu"}, "unknown metric 'bleu'; choose one of token_accuracy, field_f1, exact"),
        ({"n_resamples": 0}, "n_resamples is 0"),
        ({"level": 95}, "level is 95"),
    ],
)
def test_wrong_bootstrap(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        paired_bootstrap(GOLD, A, B, **options)


def test_sequence_scores_by_hand() -> None:
    gold = [["B-x", "B-y"], ["O"], ["O"], [None]]
    predicted = [["B-x", "O"], ["O"], ["B-x"], ["B-x"]]
    np.testing.assert_array_equal(sequence_scores(gold, predicted), [2 / 3, 1.0, 0.0, np.nan])
    np.testing.assert_array_equal(sequence_scores(gold, predicted, metric="token_accuracy"), [0.5, 1, 0, np.nan])
    np.testing.assert_array_equal(sequence_scores(gold, predicted, metric="exact"), [0, 1, 0, np.nan])


def scipy_p(a: Any, b: Any, method: Any) -> tuple[float, float]:
    found = stats.wilcoxon(a, b, zero_method="wilcox", correction=False, method=method)
    return float(found.statistic), float(found.pvalue)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 25, 50])
def test_wilcoxon_without_ties_is_scipys_exact_one(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=n), rng.normal(0.3, size=n)
    found = wilcoxon(a, b)
    assert found.exact
    assert (found.statistic, found.p_value) == pytest.approx(scipy_p(a, b, "exact"), rel=1e-12)


def normal_p(difference: Any, smaller: float) -> float:
    """The textbook's normal tail, with its correction for ties."""
    _, ties = np.unique(np.abs(difference[difference != 0]), return_counts=True)
    n = int(ties.sum())
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48
    return math.erfc(abs(smaller - n * (n + 1) / 4) / math.sqrt(2 * variance))


@pytest.mark.parametrize("n", [51, 80, 400])
@pytest.mark.parametrize("rounded", [False, True])
def test_wilcoxon_of_many_is_scipys_normal_one(n: int, rounded: bool) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=n), rng.normal(0.1, size=n)
    if rounded:  # many ties and zeros
        a, b = np.round(a * 2), np.round(b * 2)
    found = wilcoxon(a, b)
    assert found.n_zero == int((a == b).sum())
    assert found.n == n - found.n_zero
    if found.n > 50:
        assert not found.exact
        assert (found.statistic, found.p_value) == pytest.approx(scipy_p(a, b, "asymptotic"), rel=1e-10)
        assert found.p_value == pytest.approx(normal_p(b - a, found.statistic), rel=1e-10)


@LAW
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9))
def test_wilcoxon_with_ties_against_all_signs(pairs: list[tuple[int, int]]) -> None:
    a, b = zip(*pairs, strict=True)
    d = np.array([y - x for x, y in pairs if x != y])
    found = wilcoxon(a, b)
    assert (found.n, found.n_zero) == (len(d), len(pairs) - len(d))
    if not len(d):
        assert (found.statistic, found.p_value) == (0.0, 1.0)
        return
    ranks = stats.rankdata(np.abs(d))
    total = ranks.sum()
    observed = min(ranks[d > 0].sum(), ranks[d < 0].sum())
    sums = [np.dot(signs, ranks) for signs in product((0, 1), repeat=len(d))]
    assert found.statistic == observed
    assert found.p_value == pytest.approx(min(1.0, 2 * np.mean(np.array(sums) <= observed + 1e-9)))
    assert observed <= total / 2


def test_wilcoxon_with_ties_is_scipys_permutation_test() -> None:
    a, b = np.array([1, 2, 3, 4, 5, 6, 7, 8]), np.array([2, 4, 4, 4, 7, 5, 9, 9])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # scipy keeps zeros out of the ranks; the permutation of all 2^7 signs is exact.
        expected = scipy_p(a[a != b], b[a != b], stats.PermutationMethod(n_resamples=10_000))
    found = wilcoxon(a, b)
    assert (found.statistic, found.p_value) == pytest.approx(expected)
    assert (found.n, found.n_zero, found.exact) == (7, 1, True)


def test_wilcoxon_is_symmetric_and_goes_to_json() -> None:
    a, b = [0.1, 0.5, 0.3, 0.9], [0.2, 0.4, 0.6, 0.8]
    assert wilcoxon(a, b) == wilcoxon(b, a)
    assert json.loads(json.dumps(wilcoxon(a, b).to_dict()))["n"] == 4


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([], [], "nothing to test"),
        ([1], [1, 2], r"shapes \(1,\) and \(2,\)"),
        ([[1]], [[1]], r"both must be \[n\]"),
        ([1, np.nan], [1, 2], "score 1 of a is nan"),
        ([1, 2], [np.inf, 2], "score 0 of b is inf"),
    ],
)
def test_wrong_wilcoxon(a: Any, b: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        wilcoxon(a, b)

"""Expected calibration error and the reliability table."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from espalier.errors import InputError
from espalier.metrics import Bin, calibration


def test_by_hand() -> None:
    found = calibration([0.0, 0.5, 0.6, 0.8, 1.0], [False, True, True, False, True], n_bins=2)
    # (0, 0.5] holds 0 and 0.5: mean 0.25, half right. (0.5, 1] holds the rest: mean 0.8, two of three right.
    assert found.bins == (Bin(0.0, 0.5, 2, 0.25, 0.5), Bin(0.5, 1.0, 3, pytest.approx(0.8), pytest.approx(2 / 3)))
    assert found.error == pytest.approx(2 / 5 * 0.25 + 3 / 5 * (0.8 - 2 / 3))
    assert found.worst == pytest.approx(0.25)


@pytest.mark.parametrize("n_bins", [1, 5, 10, 15])
def test_against_scikit_learn(n_bins: int) -> None:
    rng = np.random.default_rng(n_bins)
    sure = np.round(rng.random(400), 2)  # some fall on the edges
    right = rng.random(400) < sure**2
    found = calibration(sure, right, n_bins=n_bins)
    accuracy, confidence = calibration_curve(right, sure, n_bins=n_bins)
    filled = [b for b in found.bins if b.count]
    assert [b.accuracy for b in filled] == pytest.approx(accuracy.tolist())
    assert [b.confidence for b in filled] == pytest.approx(confidence.tolist())
    gaps = np.abs(accuracy - confidence)
    assert found.error == pytest.approx(np.dot(gaps, [b.count for b in filled]) / 400)
    assert found.worst == pytest.approx(gaps.max())
    assert sum(b.count for b in found.bins) == found.n == 400


def test_empty_bins_have_no_means() -> None:
    found = calibration([0.95], [1], n_bins=10)
    assert found.bins[0] == Bin(0.0, pytest.approx(0.1), 0, None, None)
    assert json.loads(json.dumps(found.to_dict()))["bins"][0]["accuracy"] is None
    assert str(found).splitlines()[0] == "calibration error 0.0500, worst bin 0.0500 (1 answers)"
    assert str(found).splitlines()[3].split() == ["0.000..0.100", "0", "-", "-"]
    assert str(found).splitlines()[-1].split() == ["0.900..1.000", "1", "0.9500", "1.0000"]


@pytest.mark.parametrize(
    ("sure", "right", "options", "message"),
    [
        ([], [], {}, "nothing to measure"),
        ([0.5], [True, False], {}, "shape"),
        ([[0.5]], [[True]], {}, "shape"),
        ([0.5, 1.5], [True, True], {}, "confidence 1 is 1.5"),
        ([np.nan], [True], {}, "confidence 0 is nan"),
        ([0.5], [2], {}, "other than True and False"),
        ([0.5], [True], {"n_bins": 0}, "n_bins is 0"),
    ],
)
def test_wrong_input(sure: Any, right: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        calibration(sure, right, **options)

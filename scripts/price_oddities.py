"""Print what each oddity of `citations/oddities.py` is worth: the prices of its table.

    python scripts/price_oddities.py --data DIR

DIR holds `publishers`, whose part `train` says which records are right. A price is the weight of an oddity in a
logistic regression of 'all seven values are right' on oddities, beside the log odds that the labels alone promise; a
ridge keeps what was seldom seen near `PRIOR`. Printed with how often each was seen, and how many of those were right.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from espalier.citations.oddities import ODDITIES, oddities
from espalier.citations.parser import bundled_parser
from works import Expected, publishers
from works_values import is_right, said

RIDGE = 1.0
PRIOR = 1.5
"""Nats that an oddity is thought to cost before any is seen."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse, compare, fit, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of publishers")
    options = parser.parse_args(arguments)
    sure, right, seen = measured(publishers(options.data, None, "train"))
    offset = np.log(sure / (1 - sure))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        odds = offset - seen @ weights
        promised = 1 / (1 + np.exp(-odds))
        value = np.sum(np.logaddexp(0, odds) - right * odds) + RIDGE / 2 * np.sum((weights - PRIOR) ** 2)
        return float(value), -seen.T @ (promised - right) + RIDGE * (weights - PRIOR)

    found = minimize(loss, np.full(len(ODDITIES), PRIOR), jac=True, bounds=[(0.0, None)] * len(ODDITIES))
    for row, price, column in zip(ODDITIES, found.x, seen.T, strict=True):
        hits = column > 0
        share = (
            f"{100 * right[hits].mean():.0f} % right, {100 * sure[hits].mean():.0f} % promised" if hits.any() else ""
        )
        print(f"{row.name:16} {price:4.1f}   {hits.sum():5.0f} seen  {share}")


def measured(rows: Sequence[Expected]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the labels of each record promise, whether its values are right, and what is odd in it."""
    sure, right, seen = [], [], []
    for one, record in zip(rows, bundled_parser().parse_many(row.text for row in rows), strict=True):
        odd = oddities(record.work)
        told = min(max(record.confidence, 1e-6), 1 - 1e-6)
        odds = np.log(told / (1 - told)) + sum(row.price for row in ODDITIES if row.name in record.odd)
        values = said(json.loads(record.to("csl")))
        sure.append(min(max(1 / (1 + np.exp(-odds)), 1e-3), 1 - 1e-3))
        right.append(all(is_right(name, one.values[name], values) for name in one.judged))
        seen.append([float(row.name in odd) for row in ODDITIES])
    return np.array(sure), np.array(right, float), np.array(seen)


if __name__ == "__main__":
    main()

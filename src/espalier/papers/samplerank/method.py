"""SampleRank as a method of `train`: a model of its own, which rules teach on unlabelled text."""

from __future__ import annotations

import math
from typing import Any

from espalier.recipes.methods import Ingredients, Method

__all__ = ["METHOD"]


def _taught(parts: Ingredients) -> Any:
    """Give the model its rules; those without a penalty get one, since it takes them from the rules."""
    rules, price = parts.rules, parts.price
    if rules.K and price is not None and price != "fixed":
        rules = rules.with_penalties(dict.fromkeys(rules.unset, math.inf if price == "hard" else float(price)))
    return parts.base.set_params(rules=rules) if rules.K else parts.base


METHOD = Method(
    "ranking in a random walk, taught by rules on the other records",
    None, ("hard", "fixed", "number"), _taught, alone=True, rules="own", model="samplerank",
)  # fmt: skip

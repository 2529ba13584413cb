"""AdamW: steps along gradients that are scaled by their own recent size, and weights drawn to where they should stay.

    m ← β₁ m + (1 - β₁) g          v ← β₂ v + (1 - β₂) g²
    w ← w - rate · ( m̂ / (√v̂ + ε) + decay · (w - w₀) )

Loshchilov and Hutter (2019). w₀ is 0, or the weights of another net. Gradients of a few rows (`SomeRows`) move those
rows alone, moments and decay included; all gradients together are cut to a length of at most 1 first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from espalier.models.conv import Floats, Parameters
from espalier.models.conv_gradients import SomeRows

__all__ = ["AdamW", "added", "schedule"]

BETAS = (0.9, 0.999)
EPSILON = 1e-8
LONGEST = 1.0
"""Of all gradients together."""

WARM_UP, MOST_WARM_UP = 0.05, 500
"""Share of the steps in which the rate rises, and their largest number."""

LAST = 0.02
"""What the rate falls to."""


class AdamW:
    """The state of the search: steps taken, and both moments of every parameter."""

    def __init__(self, weights: Parameters, decay: float, centre: Mapping[str, Floats] | None = None) -> None:
        """Begin at these weights, which the steps change; centre : where the decay draws them, by name, else to 0."""
        self.weights, self.decay, self.centre = weights, decay, centre or {}
        self.steps = 0
        self.m = {name: np.zeros_like(w) for name, w in weights.items()}
        self.v = {name: np.zeros_like(w) for name, w in weights.items()}

    def anew(self) -> AdamW:
        """Return a search that begins at the same weights, without moments."""
        return AdamW(self.weights, self.decay, self.centre)

    def step(self, gradients: Mapping[str, Floats | SomeRows], rate: float) -> float:
        """Take a step; return the length of the gradients before they were cut."""
        values = {name: g.values if isinstance(g, SomeRows) else g for name, g in gradients.items()}
        length = float(np.sqrt(sum(float(np.vdot(g, g)) for g in values.values())))
        if not np.isfinite(length):
            return length  # a step along nan would end everything; the caller counts them
        cut = min(1.0, LONGEST / (length + 1e-12))
        self.steps += 1
        grown = [1.0 - beta**self.steps for beta in BETAS]
        for name, g in gradients.items():
            places = g.places if isinstance(g, SomeRows) else slice(None)
            self._move(name, places, values[name] * values[name].dtype.type(cut), rate, grown)
        return length

    def _move(self, name: str, places: Any, g: Floats, rate: float, grown: list[float]) -> None:
        w, m, v = (table[name][places] for table in (self.weights, self.m, self.v))  # copies, of rows
        number = g.dtype.type
        m *= number(BETAS[0])
        m += number(1.0 - BETAS[0]) * g
        v *= number(BETAS[1])
        g *= g
        g *= number(1.0 - BETAS[1])
        v += g
        move = np.sqrt(v)
        move *= number(1.0 / np.sqrt(grown[1]))
        move += number(EPSILON)
        np.divide(m, move, out=move)
        move *= number(rate / grown[0])
        centre = self.centre.get(name)
        if centre is None:
            w *= number(1.0 - rate * self.decay)
        else:
            w += number(rate * self.decay) * (centre[places] - w)
        w -= move
        if not isinstance(places, slice):
            self.weights[name][places], self.m[name][places], self.v[name][places] = w, m, v


def schedule(step: int, steps: int) -> float:
    """Return the share of the rate at a step (from 0 on) of so many: it rises at first, then falls in a line."""
    rising = max(1, min(MOST_WARM_UP, int(WARM_UP * steps)))
    return min(1.0, (step + 1) / rising) * max(LAST, 1.0 - step / max(1, steps))


def added(parts: list[dict[str, Floats | SomeRows]]) -> dict[str, Floats | SomeRows]:
    """Return the sums of gradients, always added in the order of the parts."""
    found: dict[str, Floats | SomeRows] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        several = [part[name] for part in parts if name in part]
        rows = [g for g in several if isinstance(g, SomeRows)]
        if rows:
            together = [np.concatenate([getattr(g, what) for g in rows]) for what in ("places", "values")]
            found[name] = SomeRows.summed(together[0], together[1])
        else:
            total = np.array(several[0])
            for g in several[1:]:
                total += g
            found[name] = total
    return found

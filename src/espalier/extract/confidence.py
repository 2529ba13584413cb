"""How sure the model is of an answer: probabilities under the chain and its local rules, calibrated where it says how.

    p(y) ∝ exp( s(x, y) - Σ ρ d(x, y) )           over the rules that one token or one pair of neighbours can break

    token     p(y_t = ŷ_t)                         (`decoders.probabilities`)
    field     min over its tokens                  a bound on p(all tokens of the field are right)
    record    p(ŷ)                                 of the whole labelling

Rules that count or look far are left out: with them the sums run over a product automaton. What that and the model's
own optimism distort is set right by a monotone map g, fitted on held-out texts and kept in the model file's header:

    {"calibration": {"field": [[raw, ...], [calibrated, ...]], "record": [[raw, ...], [calibrated, ...]]}}

    minimise  Σ_i (g(p_i) - right_i)²   over functions g that never fall          (isotonic regression)

The map is a few points, each a block of answers with its mean confidence and its share of right ones, drawn towards the
share of all by one answer, so that nothing is certain. Between two points it is linear; before the first and after the
last it is constant. Cost of the probabilities: O(T L + T E) for E transitions with a weight of their own.

Readings of one text exclude each other, so one map for all would promise too much. The best has g(p_1), as if it were
alone. The others share what it leaves in proportion to their own probabilities: if the best is wrong, the model is
believed about the rest.

    q_1 = g(p_1)        q_i = min( q_{i-1}, (1 - q_1) p_i / (1 - p_1) )        so that Σ q <= 1, over any number of them

A field that only a later reading has is right only if the best reading is wrong: it gets 1 - q_1 at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.decoders.counts import Conditions, CountForm
from espalier.errors import InputError, ModelFileError
from espalier.potentials import ChainBatch

__all__ = ["Calibration", "Curve", "Verdicts", "isotonic", "with_local_rules"]

Float = NDArray[np.float64]
Int16 = NDArray[np.int16]


LEAST = 25
"""The fewest answers behind a point of a fitted map."""


class Verdicts(NamedTuple):
    """Confidences, float64[n], and whether they came true, bool[n]."""

    sure: Float
    right: NDArray[np.bool_]

    @classmethod
    def of(cls, answers: Sequence[tuple[float, bool]]) -> Verdicts:
        """Gather pairs of a confidence and whether it came true."""
        sure, right = zip(*answers, strict=True) if answers else ((), ())
        return cls(np.array(sure, np.float64), np.array(right, bool))


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A monotone map of 0..1 into itself: points raw and calibrated, float64[n] both, linear between them."""

    raw: Float
    calibrated: Float

    @classmethod
    def of(cls, points: Any, name: str) -> Curve:
        """Check what a model file holds."""
        try:
            raw, calibrated = (np.asarray(values, np.float64) for values in points)
        except (TypeError, ValueError):
            raise ModelFileError(f"the calibration of {name!r} is not a pair of lists of numbers") from None
        if raw.ndim != 1 or raw.shape != calibrated.shape or not len(raw):
            raise ModelFileError(f"the calibration of {name!r} has {raw.shape} points and {calibrated.shape} values")
        inside = all(((values >= 0) & (values <= 1)).all() for values in (raw, calibrated))
        if not inside or (np.diff(raw) <= 0).any() or (np.diff(calibrated) < 0).any():
            raise ModelFileError(f"the calibration of {name!r} must rise, from points to values within 0..1")
        return cls(raw, calibrated)

    def __call__(self, p: ArrayLike) -> Float:
        """Return the calibrated probabilities."""
        return np.asarray(np.interp(np.asarray(p, np.float64), self.raw, self.calibrated), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """What a model file says about its own confidences; None leaves them as they are."""

    field: Curve | None = None
    record: Curve | None = None

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Calibration:
        """Return the calibration in the header of a model file, or one that changes nothing."""
        given = header.get("calibration", {})
        if not isinstance(given, Mapping):
            raise ModelFileError("the calibration of the model is not a table")
        curves = {name: Curve.of(given[name], name) for name in ("field", "record") if name in given}
        return cls(**curves)

    def to_header(self) -> dict[str, Any]:
        """Return what `from_header` reads."""
        curves = {"field": self.field, "record": self.record}
        return {name: [c.raw.tolist(), c.calibrated.tolist()] for name, c in curves.items() if c is not None}

    def of_fields(self, p: Float) -> Float:
        """Return calibrated confidences of fields."""
        return _six_digits(p if self.field is None else self.field(p))

    def of_records(self, p: Float) -> Float:
        """Return calibrated confidences of records."""
        return _six_digits(p if self.record is None else self.record(p))

    def of_readings(self, p: Float) -> Float:
        """Return calibrated confidences of readings of one text, best first: at most 1 together, and never rising."""
        best, others = self.of_records(p[:1]), p[1:]
        left = max(1.0 - float(p[0]), float(others.sum()), np.finfo(np.float64).tiny)  # 1 - p is rounded near 1
        shares = np.floor(1e6 * (1.0 - best) * (others / left) + 1e-6) / 1e6  # down: their sum must not go beyond
        return np.minimum.accumulate(np.concatenate([best, shares]))


def isotonic(confidences: ArrayLike, right: ArrayLike, *, least: int = LEAST) -> Curve:
    """Return the map from confidences to how often such answers are right.

    Parameters
    ----------
    confidences : float[n] in 0..1.
    right : bool[n].
    least : answers behind each point, where there are so many.

    Raises
    ------
    InputError : without an answer, or with other numbers of both.
    """
    p, hit = np.asarray(confidences, np.float64), np.asarray(right, np.float64)
    if p.ndim != 1 or p.shape != hit.shape or not len(p):
        raise InputError(
            f"{p.shape} confidences and {hit.shape} verdicts", hint="a map needs as many of both, at least one"
        )
    from scipy.optimize import isotonic_regression

    # Equal confidences belong together, whatever their number.
    _, place, n = np.unique(p, return_inverse=True, return_counts=True)
    blocks = isotonic_regression(np.bincount(place, hit) / n, weights=n.astype(np.float64)).blocks
    edges = _wide_enough(np.append(0, np.cumsum(n))[blocks], least)
    order = np.argsort(p, kind="stable")
    size = np.diff(edges)
    shares = (np.add.reduceat(hit[order], edges[:-1]) + hit.mean()) / (size + 1)
    means = np.add.reduceat(p[order], edges[:-1]) / size
    return Curve(np.round(means, 6), np.asarray(np.round(np.maximum.accumulate(shares), 6), np.float64))


def _wide_enough(edges: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Join blocks with fewer answers than `least` to the next ones, the last of them to the one before."""
    kept = [0]
    for edge in edges[1:].tolist():
        if edge - kept[-1] >= least:
            kept.append(edge)
    if kept[-1] != edges[-1]:
        kept = [*(kept[:-1] if len(kept) > 1 else kept), int(edges[-1])]
    return np.array(kept, np.int64)


def _six_digits(p: Float) -> Float:
    """Round: the same text has the same confidence in any company, whatever the order of additions."""
    return np.asarray(_from_0_to_1(p).round(6), np.float64)


def _from_0_to_1(p: Float) -> Float:
    """Return `np.clip(p, 0, 1)`, which takes three times as long for a few values."""
    return np.minimum(np.maximum(p, 0.0), 1.0)


def with_local_rules(batch: ChainBatch, form: CountForm, conditions: Conditions) -> ChainBatch:
    """Return the batch minus what labels and pairs of neighbours pay; a price for any change of label is left out."""
    charged = batch
    if conditions.patterns.any():  # of few tokens
        charges, _ = form.pattern_charges(conditions.patterns, batch.n_labels)
        token = np.flatnonzero(np.any(charges, axis=1)[conditions.pattern])
        unary = batch.unary.copy()
        unary[token] -= charges[conditions.pattern[token]]
        charged = batch.with_unary(unary)
    if not form.steps.any():
        return charged
    return replace(charged, trans=batch.trans - form.steps[:-1], start=batch.start - form.steps[-1])

"""How sure the model is of an answer: probabilities under the chain and its rules, calibrated where it says how.

    p(y) ∝ exp( s(x, y) - Σ ρ d(x, y) )           over local rules, and rules that count (`decoders.counted`)

    token     p(y_t = ŷ_t)                         (`decoders.probabilities`)
    field     min over its tokens                  a bound on p(all tokens of the field are right)
    record    p(ŷ)                                 of the whole labelling

Rules that look far (`a before b`) are left out: with them the sums run over a product automaton. What that and the
model's own optimism distort is set right by a monotone map g, fitted on held-out texts and kept in the model file's
header; `counts` says that it was fitted on probabilities under rules that count, which older files were not:

    {"calibration": {"field": [[raw, ...], [calibrated, ...]], "record": [[raw, ...], [calibrated, ...]],
                     "counts": true}}

    minimise  Σ_i (g(p_i) - right_i)²   over functions g that never fall          (isotonic regression)

Where the model file says what texts are usual (`Familiarity`), p is first corrected by the signs z of the text, so that
one map holds for texts of many kinds:

    p' = σ( a logit(p) + w · z + c )       a > 0         logistic regression on held-out texts, drawn towards p' = p

and the answers to a text that is unfamiliar are no surer than the share of right ones among the unfamiliar texts held
out. The map is a few points, each a block of answers with its mean confidence and its share of right ones, drawn
towards the share of all by one answer, so that nothing is certain. Between two points it is linear; before the first
and after the last it is constant. Fewer than 400 answers are too few for blocks: then g is the correction alone, and
of fewer than 50 texts that without z, so that no two answers change places.

Cost of the probabilities: O(T L + T E) for E transitions with a weight of their own.

Readings of one text exclude each other, so one map for all would promise too much. The best has g(p_1), as if it were
alone. The others share what it leaves in proportion to their own probabilities: if the best is wrong, the model is
believed about the rest.

    q_1 = g(p_1)        q_i = min( q_{i-1}, (1 - q_1) p_i / (1 - p_1) )        so that Σ q <= 1, over any number of them

A field that only a later reading has is right only if the best reading is wrong: it gets 1 - q_1 at most.

Is a text like those that the model was tried on (`Familiarity`)? Four signs need no right answer:

    tokens      log T                                          long or short
    fields      log of the number of fields                    much or little found
    surprise    log( 0.001 + mean over tokens of -log p(ŷ_t) )  how unsure the model is of its tokens
    evidence    mean over tokens of the score of ŷ_t           how much of what it knows it has seen

Every model of chains has them, whatever it is made of. Texts that were held out say what is usual: the mean μ of their
signs, and Σ, how these vary together. A text is as far from usual as

    d² = (z - μ)ᵀ Σ⁻¹ (z - μ)                                  (Mahalanobis 1936)

and *unfamiliar* if d² is beyond the limit that one held-out text in a hundred goes beyond. Text of quite another kind
mostly has few fields for its length, little evidence and much surprise.

Few held-out texts have no hundredth. Then the limit is where one normal text in a hundred lies, whose μ and Σ are only
known from N others, and each sign varies a little more than it was seen to, as if one text were off by 1:

    d² > n (N² - 1) / (N (N - n)) F        F: the 0.99 quantile of F(n, N - n), n = 4 signs        (Hotelling 1931)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.decoders.counts import Conditions, CountForm
from espalier.decoders.probabilities import answer_probabilities
from espalier.errors import ModelFileError
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled
from espalier.rules.lowering import Bits

__all__ = [
    "SIGNS",
    "Calibration",
    "Correction",
    "Curve",
    "Familiarity",
    "Unfamiliar",
    "Verdicts",
    "rated",
    "signs_of",
    "steady_logit",
    "with_local_rules",
]

SIGNS = ("tokens", "fields", "surprise", "evidence")
"""What is looked at, in the order of the columns."""

RARE = 0.01
"""The share of held-out texts that count as unfamiliar."""

FEW = 50
"""With fewer held-out texts the limit is wide, and how sure an answer is does not depend on the signs."""

FEWEST = 10
"""With fewer held-out texts nothing is said about what is usual."""

_WORDS = {
    "tokens": ("short", "long"),
    "fields": ("few fields", "many fields"),
    "surprise": ("too sure", "unsure"),
    "evidence": ("little known", "much known"),
}
_SENTENCES = {
    "short": "it is much shorter than usual",
    "long": "it is much longer than usual",
    "few fields": "fewer fields than usual were found in it",
    "many fields": "more fields than usual were found in it",
    "too sure": "the model is surer of it than usual",
    "unsure": "the model is unsure of all of it",
    "little known": "it has little that the model knows",
    "much known": "it has more than usual that the model knows",
}
_LEAST_P, _LARGEST = 1e-6, 1e3


@dataclass(frozen=True, slots=True)
class Unfamiliar:
    """Why a text is unlike those that the model was tried on.

    distance : d² as a multiple of the limit, above 1. reason : the sign that adds most to it, in words: "few fields",
    "little known", "unsure" ...
    """

    distance: float
    reason: str

    @property
    def sentence(self) -> str:
        """The reason in a sentence, for people: "the model is unsure of all of it"."""
        return _SENTENCES.get(self.reason, self.reason)


def signs_of(lengths: NDArray[np.int64], fields: Float, probability: Float, score: Float) -> Float:
    """Return the signs of N texts of M tokens in all, float64[N, 4].

    lengths : int64[N]; fields : float64[N], how many each has; probability, score : float64[M], of the labels chosen.
    """
    text, tokens = np.repeat(np.arange(len(lengths)), lengths), np.maximum(lengths, 1)
    doubt = np.bincount(text, -np.log(np.maximum(probability, _LEAST_P)), len(lengths)) / tokens
    known = np.bincount(text, np.minimum(np.maximum(score, -_LARGEST), _LARGEST), len(lengths)) / tokens
    return np.stack([np.log(tokens), np.log(np.maximum(fields, 1)), np.log(0.001 + doubt), known], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Familiarity:
    """What is usual: mean, float64[4], inverse, Σ⁻¹, float64[4, 4], and the limit of d²."""

    mean: Float
    inverse: Float
    limit: float

    @classmethod
    def learn(cls, signs: Float, weight: Float, rare: float = RARE) -> Familiarity:
        """Learn what is usual from held-out texts; signs : float64[N, 4]; weight : float64[N], of each text."""
        share = weight / weight.sum()
        mean = share @ signs
        # Signs that never vary are given a small variance, so that Σ has an inverse; of few texts more of it.
        least = 1 / len(signs) if len(signs) < FEW else 1e-6
        variance = (share[:, None] * (signs - mean)).T @ (signs - mean) + least * np.eye(len(SIGNS))
        inverse = np.linalg.inv(variance)
        found = cls(_digits(mean), _digits((inverse + inverse.T) / 2), 1.0)
        if len(signs) < FEW:
            return cls(found.mean, found.inverse, float(_digits(_wide_limit(len(signs), rare))))
        distance = found.distances(signs)
        order = np.argsort(distance)
        last = min(int(np.searchsorted(np.cumsum(share[order]), 1.0 - rare)), len(order) - 1)
        return cls(found.mean, found.inverse, float(_digits(distance[order[last]])))

    @classmethod
    def of(cls, table: Any) -> Familiarity:
        """Check what a model file holds."""
        what = "the calibration of the model does not say what texts are usual"
        try:
            mean, inverse = (np.asarray(table[name], np.float64) for name in ("mean", "inverse"))
            limit = float(table["limit"])
        except (TypeError, ValueError, KeyError):
            raise ModelFileError(what) from None
        n = len(SIGNS)
        finite = all(np.isfinite(values).all() for values in (mean, inverse, limit))
        if mean.shape != (n,) or inverse.shape != (n, n) or not finite or limit < 0 or (np.diag(inverse) <= 0).any():
            raise ModelFileError(what)
        return cls(mean, inverse, limit)

    def to_header(self) -> dict[str, Any]:
        """Return what `of` reads."""
        return {"mean": self.mean.tolist(), "inverse": self.inverse.tolist(), "limit": self.limit}

    def distances(self, signs: Float) -> Float:
        """Return d² of each text, float64[N]."""
        away = signs - self.mean
        return np.asarray(np.maximum(((away @ self.inverse) * away).sum(axis=1), 0.0))

    def standard(self, signs: Float) -> Float:
        """Return the signs as multiples of how much they vary beside the others, within -8..8."""
        away = (signs - self.mean) * np.sqrt(self.inverse.diagonal())
        return np.asarray(np.minimum(np.maximum(away, -8.0), 8.0))  # np.clip is slow for one text

    def judge(self, signs: Float) -> list[Unfamiliar | None]:
        """Return for each text why it is unfamiliar; None for those that are not."""
        distance = self.distances(signs)
        found: list[Unfamiliar | None] = [None] * len(signs)
        for i in np.flatnonzero(distance > self.limit).tolist():
            away = signs[i] - self.mean
            k = int(np.argmax(away * (self.inverse @ away)))
            far = round(float(distance[i] / self.limit), 2) if self.limit else 1.0
            found[i] = Unfamiliar(max(far, 1.0), _WORDS[SIGNS[k]][int(away[k] > 0)])
        return found


def _wide_limit(texts: int, rare: float) -> float:
    """Return the d² that a share `rare` of normal texts goes beyond, if μ and Σ are those of few other texts."""
    from scipy.stats import f

    n = len(SIGNS)
    unbiased = n * (texts**2 - 1) / (texts * (texts - n)) * f.ppf(1.0 - rare, n, texts - n)
    return float(unbiased * texts / (texts - 1))  # Σ here is divided by N, not by N - 1


def _digits(values: Any) -> Any:
    """Return values with nine digits: enough, and the file says the same on every machine."""
    return np.vectorize(lambda x: float(f"{x:.9g}"), otypes=[np.float64])(values)


Float = NDArray[np.float64]
Int16 = NDArray[np.int16]


KINDS = ("field", "record")
"""What confidences are about."""


class Verdicts(NamedTuple):
    """Confidences, float64[n], whether they came true, bool[n], and what each is about: a text's number, a label."""

    sure: Float
    right: NDArray[np.bool_]
    text: NDArray[np.int64]
    label: NDArray[np.str_]

    @classmethod
    def of(cls, answers: Sequence[tuple[float, bool, int, str]]) -> Verdicts:
        """Gather confidences, whether each came true, of which text, and of which label ("": the whole text)."""
        sure, right, text, label = zip(*answers, strict=True) if answers else ((), (), (), ())
        return cls(np.array(sure, np.float64), np.array(right, bool), np.array(text, np.int64), np.array(label, str))


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
class Correction:
    """What the signs of a text say about a probability: slope a > 0, weights w, float64[4], shift c.

    most : no answer to an unfamiliar text is surer.
    """

    slope: float
    weights: Float
    shift: float
    most: float = 1.0

    @classmethod
    def of(cls, table: Any, name: str) -> Correction:
        """Check what a model file holds."""
        try:
            slope, shift, most = (float(table[key]) for key in ("slope", "shift", "most"))
            weights = np.asarray(table["weights"], np.float64)
        except (TypeError, ValueError, KeyError):
            raise ModelFileError(f"the correction of {name!r} is not a table of numbers") from None
        right = weights.shape == (len(SIGNS),) and np.isfinite([slope, shift, *weights.tolist()]).all()
        if not right or slope <= 0 or not 0 <= most <= 1:
            raise ModelFileError(f"the correction of {name!r} must rise, with a weight for each of {', '.join(SIGNS)}")
        return cls(slope, weights, shift, most)

    def to_header(self) -> dict[str, Any]:
        """Return what `of` reads."""
        return {"slope": self.slope, "weights": self.weights.tolist(), "shift": self.shift, "most": self.most}

    def __call__(self, p: Float, z: Float, text: NDArray[np.int64] | None = None) -> Float:
        """Return corrected probabilities; z : float64[n, 4], standard signs of the text of each.

        text : int64[n], the row of z for each p; None: the same as its own.
        """
        added = z @ self.weights + self.shift
        total = self.slope * steady_logit(p) + (added if text is None else added[text])
        return np.asarray(1.0 / (1.0 + np.exp(-total)))


NEAR = 0.002
"""Probabilities nearer to 0 or 1 are hardly told apart: single texts and batches add in another order."""


def steady_logit(p: Float) -> Float:
    """Return log odds that are finite for 0 and 1."""
    return np.asarray(np.log((p + NEAR) / (1.0 - np.minimum(p, 1.0) + NEAR)))


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """What a model file says about its own confidences; None leaves them as they are.

    field, record : maps of corrected probabilities; corrections : by "field" and "record"; without `usual` there are
    none. counted : are they of probabilities under rules that count?
    """

    field: Curve | None = None
    record: Curve | None = None
    usual: Familiarity | None = None
    corrections: Mapping[str, Correction] = dataclass_field(default_factory=dict)
    counted: bool = True

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Calibration:
        """Return the calibration in the header of a model file, or one that changes nothing."""
        given = header.get("calibration", {})
        if not isinstance(given, Mapping):
            raise ModelFileError("the calibration of the model is not a table")
        curves = {name: Curve.of(given[name], name) for name in KINDS if name in given}
        counted = not given or given.get("counts") is True
        if "usual" not in given:
            return cls(curves.get("field"), curves.get("record"), counted=counted)
        usual, corrections = Familiarity.of(given["usual"]), given.get("corrections", {})
        if not isinstance(corrections, Mapping):
            raise ModelFileError("the corrections of the model are not a table")
        known = {name: Correction.of(corrections[name], name) for name in KINDS if name in corrections}
        return cls(curves.get("field"), curves.get("record"), usual, known, counted)

    def to_header(self) -> dict[str, Any]:
        """Return what `from_header` reads."""
        curves = {"field": self.field, "record": self.record}
        header: dict[str, Any] = {
            name: [c.raw.tolist(), c.calibrated.tolist()] for name, c in curves.items() if c is not None
        }
        if self.usual is not None:
            header["usual"] = self.usual.to_header()
            header["corrections"] = {name: one.to_header() for name, one in self.corrections.items()}
        return {**header, "counts": True} if header and self.counted else header

    def of_fields(self, p: Float, signs: Float | None = None, text: NDArray[np.int64] | None = None) -> Float:
        """Return calibrated confidences of fields.

        signs : float64[n, 4], of the text of each; None: not known. text : int64[n], the row of signs that each has,
        if there is not one for each.
        """
        return _six_digits(self._calibrated("field", self.field, p, signs, text))

    def of_records(self, p: Float, signs: Float | None = None) -> Float:
        """Return calibrated confidences of records; signs as of `of_fields`."""
        return _six_digits(self._calibrated("record", self.record, p, signs))

    def _calibrated(
        self, kind: str, curve: Curve | None, p: Float, signs: Float | None, text: NDArray[np.int64] | None = None
    ) -> Float:
        correction = self.corrections.get(kind)
        if self.usual is None or correction is None or signs is None:
            return p if curve is None else curve(p)
        corrected = correction(p, self.usual.standard(signs), text)
        found = corrected if curve is None else curve(corrected)
        far = self.usual.distances(signs) > self.usual.limit
        if not far.any():
            return found
        return np.where(far if text is None else far[text], np.minimum(found, correction.most), found)

    def unfamiliar(self, signs: Float) -> list[Unfamiliar | None]:
        """Return why each text is unfamiliar; None for those that are not, and where nobody knows what is usual."""
        return [None] * len(signs) if self.usual is None else self.usual.judge(signs)

    def of_readings(self, p: Float, signs: Float | None = None) -> Float:
        """Return calibrated confidences of readings of one text, best first: at most 1 together, and never rising.

        signs : float64[1, 4], of the best reading.
        """
        best, others = self.of_records(p[:1], signs), p[1:]
        left = max(1.0 - float(p[0]), float(others.sum()), np.finfo(np.float64).tiny)  # 1 - p is rounded near 1
        shares = np.floor(1e6 * (1.0 - best) * (others / left) + 1e-6) / 1e6  # down: their sum must not go beyond
        return np.minimum.accumulate(np.concatenate([best, shares]))


def _six_digits(p: Float) -> Float:
    """Round: the same text has the same confidence in any company, whatever the order of additions."""
    within = np.minimum(np.maximum(p, 0.0), 1.0)  # np.clip takes three times as long for a few values
    return np.asarray(within.round(6), np.float64)


def rated(chain: ChainBatch, rules: Compiled, bits: Bits, y: Int16, *, counted: bool) -> tuple[Float, Float]:
    """Return p(y_t) of every token's label, float64[M], and p(y) of every labelling, float64[N].

    bits : where the conditions of the rules hold. counted : under rules that count, not only under local ones.
    """
    form, conditions = CountForm.prepared(rules, rules.rules.penalties, chain.trans, chain.start), Conditions.of(bits)
    local = with_local_rules(chain, form, conditions)
    found = answer_probabilities(local, y)
    if not counted or not len(form.price):
        return found
    from espalier.decoders.counted import counted_probabilities

    return counted_probabilities(local, form, conditions, y, *found)


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

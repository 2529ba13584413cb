"""Is a text like those that the model was tried on? Four signs that need no right answer, and how usual they are.

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

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import ModelFileError

__all__ = ["SIGNS", "Familiarity", "Unfamiliar", "signs_of"]

Float = NDArray[np.float64]

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

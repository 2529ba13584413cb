"""The hidden Markov model: counts make probabilities, probabilities make potentials.

    P(x, y) = P(y_1) Π_t P(x_t | y_t) Π_{t≥2} P(y_t | y_{t-1})             the end of a sequence is not modelled

With c(·) the counts, and F(a) the labels that may follow a: valid tags and whatever was observed, others have P = 0:

    P(y_1 = a)   = (c₁(a) + α₁) / Σ                                        over labels that may start
    P(b | a)     = (c(a, b) + α) / Σ_{b' in F(a)}
    P_k(b | a)   = (c_k(a, b) + λ P(b | a)) / (c_k(a) + λ)                 with transition classes k
    P(w | y)     = (c(w, y) + κ B(w | y)) / (c(y) + κ)

Emissions back off to B. *Back-off* smoothing averages G ways of putting words into classes, g (`models.vocabulary`):
the shape, the shape with the last three letters, and the clusters of every size where the vocabulary has word classes.
n(g) words of the vocabulary are in class g, and one more share is for all words outside it:

    B(w | y)     = 1/G Σ_g P(g(w) | y) / (n(g(w)) + 1)
    P(g | y)     = (c(g, y) + μ P(g)) / (c(y) + μ),      P(g) ∝ c(g) + 1   one g stands for every class never met

*Additive* smoothing is the same with one class of all words and κ = α₂ (V + 1): P(w | y) = (c(w, y) + α₂) / Σ.
So Σ_w P(w | y) over the vocabulary, plus the shares for words outside it, is one. Training costs O(M + V L).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError
from espalier.inference import Posterior, viterbi
from espalier.lanes import rows_of_types, tag_rows
from espalier.models.vocabulary import Vocabulary
from espalier.parallel import choose_threads
from espalier.potentials import ChainBatch

__all__ = [
    "HMMCounts",
    "HMMParameters",
    "Smoothing",
    "Vocabulary",
    "check_transition_classes",
    "classes_of_transitions",
    "estimate",
    "interpolate",
    "log_joint",
    "log_prior",
]

Float = NDArray[np.float64]
Tables = TypeVar("Tables", "HMMCounts", "HMMParameters")

_MASK = re.compile(r"\*[^\W\d_]+\*.*", re.DOTALL)


def check_transition_classes(kind: str | None) -> None:
    """Raise if there are no transition classes of this name."""
    if kind not in (None, "punctuation", "sentences"):
        raise InputError(f"transition_classes is {kind!r}", hint="expected None, 'punctuation' or 'sentences'")


def classes_of_transitions(corpus: Corpus, kind: str | None) -> tuple[NDArray[np.int64], int]:
    """Return the class of the transition into every token, int64[M], and the number of classes.

    None: one class. Otherwise by what stands before: 0 a word, 1 a stop, 2 a comma, 3 other punctuation, and as 4
    "punctuation" has a full stop after a single capital, which ends an initial and nothing else;
    "sentences" has a mask such as *PHONE*, and `!` and `?` are stops too.
    """
    check_transition_classes(kind)
    if kind is None:
        return np.zeros(corpus.n_tokens, np.int64), 1
    mark = np.array([_mark(word, kind) for word in corpus.types], np.int64)
    before = np.append(np.zeros(min(corpus.n_tokens, 1), np.int64), mark[corpus.token_ids[:-1]])
    if kind == "punctuation":
        capital = np.array([len(w) == 1 and w.isupper() for w in corpus.types], bool)
        initial = np.zeros(corpus.n_tokens, bool)
        initial[2:] = (before[2:] == 1) & capital[corpus.token_ids[:-2]]
        initial[corpus.indptr[:-1][corpus.lengths > 1] + 1] = False  # the token before is the first of its sequence
        before[initial] = 4
    return before, 5


def _mark(word: str, kind: str) -> int:
    """Return the class of the transition after a word, but for what stands before it."""
    if kind == "sentences" and _MASK.fullmatch(word):
        return 4
    if any(map(str.isalnum, word)):
        return 0
    stops = (".", "!", "?") if kind == "sentences" else (".",)
    return 1 if word in stops else 2 if word == "," else 3


@dataclass(frozen=True, slots=True)
class Smoothing:
    """How counts become probabilities; every number is positive.

    kind : "backoff" or "additive"; start, trans, emission : α₁, α and α₂ (additive only);
    backoff, classes : κ and μ (back-off only); pooled : λ (transition classes only).
    """

    kind: str = "backoff"
    start: float = 0.1
    trans: float = 0.3
    emission: float = 0.3
    backoff: float = 1000.0
    classes: float = 1.0
    pooled: float = 3.0

    def __post_init__(self) -> None:
        """Check the values."""
        if self.kind not in ("backoff", "additive"):
            raise InputError(f"smoothing is {self.kind!r}", hint="expected 'backoff' or 'additive'")
        for name in ("start", "trans", "emission", "backoff", "classes", "pooled"):
            value = getattr(self, name)
            if isinstance(value, (bool, str)) or not 0 < value < np.inf:
                raise InputError(f"the smoothing weight {name!r} is {value!r}", hint="expected a number above 0")


@dataclass(frozen=True, slots=True, eq=False)
class HMMCounts:
    """What the model needs to know of a corpus: sufficient statistics, whole or fractional.

    start : float64[L]; trans : float64[C, L, L] by transition class; emission : float64[V, L] over `vocabulary`.
    Counts of different corpora add up; a number scales them: `labelled + 0.1 * pool`.
    """

    vocabulary: Vocabulary
    start: Float
    trans: Float
    emission: Float
    transition_classes: str | None = None

    @classmethod
    def from_labels(
        cls, corpus: Corpus, vocabulary: Vocabulary, weight: Float | None = None, transition_classes: str | None = None
    ) -> HMMCounts:
        """Count emissions where the label is known, transitions where both are; weight : float64[N], of sequences."""
        if corpus.y is None or corpus.labels is None:
            raise InputError("there is nothing to count: the corpus has no labels")
        L, V, M = len(corpus.labels), len(vocabulary), corpus.n_tokens
        words = _word_ids(corpus, vocabulary)
        classes, C = classes_of_transitions(corpus, transition_classes)
        y = corpus.y.astype(np.int64)
        omega = np.ones(M) if weight is None else np.repeat(weight, corpus.lengths)
        known = y >= 0
        first = corpus.indptr[:-1][corpus.lengths > 0]
        step = known.copy()
        step[1:] &= known[:-1]
        step[first] = False
        m = np.flatnonzero(step)
        pairs = (classes[m] * L + y[m - 1]) * L + y[m]
        begun = first[known[first]]
        return cls(
            vocabulary,
            _totals(y[begun], omega[begun], L),
            _totals(pairs, omega[m], C * L * L).reshape(C, L, L),
            _totals(words[known] * L + y[known], omega[known], V * L).reshape(V, L),
            transition_classes,
        )

    @classmethod
    def from_marginals(
        cls, corpus: Corpus, vocabulary: Vocabulary, posterior: Posterior, transition_classes: str | None = None
    ) -> HMMCounts:
        """Return the expected counts of a corpus under a model's posterior: the E-step of EM."""
        M, C = len(posterior.marginals), len(posterior.transitions)
        if corpus.n_tokens != M or classes_of_transitions(corpus, transition_classes)[1] != C:
            raise InputError(f"a posterior of {M} tokens and {C} transition classes does not belong to this corpus")
        words = _word_ids(corpus, vocabulary)
        start = posterior.marginals[corpus.indptr[:-1][corpus.lengths > 0]].sum(axis=0)
        emission = _grouped(words, posterior.marginals, len(vocabulary))
        return cls(vocabulary, start, posterior.transitions, emission, transition_classes)

    def __add__(self, other: HMMCounts) -> HMMCounts:
        """Return the counts of both corpora together."""
        return _combined(self, 1.0, other, 1.0)

    def __mul__(self, factor: float) -> HMMCounts:
        """Return every count times a factor, which is not negative."""
        if not 0 <= factor < np.inf:
            raise InputError(f"counts are multiplied by {factor!r}", hint="expected a number of at least 0")
        return _combined(self, factor, self, 0.0)

    __rmul__ = __mul__


@dataclass(frozen=True, slots=True, eq=False)
class HMMParameters:
    """The probabilities of a model.

    start : float64[L]; trans : float64[C, L, L] by transition class; emission : float64[V, L] over `vocabulary`;
    unknown : by grouping (see `Vocabulary.groups`), float64[G + 1, L]: what a word outside the vocabulary gets from its
    class, the last row being for classes never met; the groupings add up.
    """

    vocabulary: Vocabulary
    start: Float
    trans: Float
    emission: Float
    unknown: Mapping[str, Float]
    transition_classes: str | None = None

    def emission_rows(self, corpus: Corpus) -> Float:
        """Return P(word | label) of every word type of the corpus, float64[len(types), L]."""
        ids = self.vocabulary.ids(corpus.types)
        outside = np.flatnonzero(ids == len(self.vocabulary))
        rows = np.vstack([self.emission, np.zeros(len(self.start))])[ids]
        groups = self.vocabulary.groups(corpus.types[k] for k in outside.tolist())
        rows[outside] = sum(table[groups[name]] for name, table in self.unknown.items())
        return rows

    def potentials(self, corpus: Corpus) -> ChainBatch:
        """Return log probabilities as potentials: s(x, y) = log P(x, y)."""
        rows = _log(self.emission_rows(corpus))[corpus.token_ids]
        classes = classes_of_transitions(corpus, self.transition_classes)[0].astype(np.int32)
        return ChainBatch(corpus.indptr, rows, _log(self.trans), classes, _log(self.start), np.zeros(len(self.start)))

    def tag(self, corpus: Corpus, threads: int | None = None) -> tuple[NDArray[np.int16], Float]:
        """Return the best labels, int16[M], and each sequence's log probability with them, float64[N]."""
        if self.transition_classes is not None:
            found = viterbi(self.potentials(corpus), threads=threads)
            return found.labels, found.scores
        rows = rows_of_types(_log(self.emission_rows(corpus)), corpus.token_ids)
        threads = choose_threads(corpus.n_tokens, threads)
        end = np.zeros(len(self.start))
        return tag_rows(corpus.indptr, rows, _log(self.trans[0]), _log(self.start), end, threads)


def estimate(counts: HMMCounts, smoothing: Smoothing, labels: Labels) -> HMMParameters:
    """Return the smoothed probabilities of counts (the formulas are in the module's docstring)."""
    if len(labels) != len(counts.start):
        raise InputError(f"{len(labels)} labels, but counts of {len(counts.start)}")
    may_start, may_follow = labels.allowed()
    pooled = counts.trans.sum(axis=0)
    start = _normalised(counts.start + np.where(may_start | (counts.start > 0), smoothing.start, 0.0))
    trans = _normalised(pooled + np.where(may_follow | (pooled > 0), smoothing.trans, 0.0))[None]
    if counts.transition_classes is not None:
        # Divided by its own sum, which is c_k(a) + λ, or 0 for a label that nothing may follow.
        trans = _normalised(counts.trans + smoothing.pooled * trans)
    emission, unknown = _emission(counts, smoothing)
    return HMMParameters(counts.vocabulary, start, trans, emission, unknown, counts.transition_classes)


def interpolate(a: HMMParameters, b: HMMParameters, gamma: float) -> HMMParameters:
    """Return gamma a + (1 - gamma) b: the step of CoDL that holds on to the labels.

    A mixture of probabilities, not of their logarithms: a model again, and what either allows stays possible.
    """
    if not 0 <= gamma <= 1:
        raise InputError(f"gamma is {gamma!r}", hint="expected a number from 0 to 1")
    if a.unknown.keys() != b.unknown.keys():
        raise InputError(
            "the models back off to different word classes, or one of them to none", hint="they do not mix"
        )
    unknown = {name: gamma * table + (1 - gamma) * b.unknown[name] for name, table in a.unknown.items()}
    return replace(_combined(a, gamma, b, 1 - gamma), unknown=unknown)


def log_joint(parameters: HMMParameters, counts: HMMCounts) -> float:
    """Return Σ c log θ: log P(x, y) of the sequences that were counted; -inf if one is impossible."""
    names = ("start", "trans", "emission")
    return sum(_weighted_logs(getattr(counts, name), getattr(parameters, name)) for name in names)


def log_prior(parameters: HMMParameters, smoothing: Smoothing) -> float:
    """Return log of the Dirichlet prior that additive smoothing stands for, but for a constant; 0 for other smoothing.

    The events of a row are those with a probability above zero: valid tags, and whatever the labels did.
    """
    if smoothing.kind != "additive" or parameters.transition_classes is not None:
        return 0.0
    words = np.vstack([parameters.emission, parameters.unknown["any"][:1]])
    events = ((smoothing.start, parameters.start), (smoothing.trans, parameters.trans), (smoothing.emission, words))
    return sum(_weighted_logs(np.where(theta > 0, alpha, 0.0), theta) for alpha, theta in events)


def _weighted_logs(weights: Float, probabilities: Float) -> float:
    """Return Σ weight · log probability, where a weight of 0 counts nothing and an impossible event -inf."""
    used = weights > 0
    p = probabilities[used]
    return float(weights[used] @ np.log(p)) if (p > 0).all() else -np.inf


def _emission(counts: HMMCounts, smoothing: Smoothing) -> tuple[Float, dict[str, Float]]:
    """Return P(w | y) of the vocabulary, float64[V, L], and the shares of words outside it by grouping."""
    vocabulary, c = counts.vocabulary, counts.emission
    total = c.sum(axis=0)
    if smoothing.kind == "additive":
        kappa = smoothing.emission * (len(vocabulary) + 1)
        shares = {"any": np.array([[1.0], [0.0]]) * np.ones(len(total))}
    else:
        kappa = smoothing.backoff
        shares = {
            name: _class_shares(counts, name, smoothing.classes) for name in vocabulary.groupings if name != "any"
        }
    emission, unknown = c / (total + kappa), {}
    for name, share in shares.items():
        grouping = vocabulary.groupings[name]
        each = kappa / (total + kappa) / len(shares) * share / (grouping.sizes + 1)[:, None]
        emission += each[grouping.members]
        unknown[name] = each
    return emission, unknown


def _class_shares(counts: HMMCounts, name: str, mu: float) -> Float:
    """Return P(g | y) of every class and of one never met, float64[G + 1, L]."""
    grouping = counts.vocabulary.groupings[name]
    c = _grouped(grouping.members, counts.emission, len(grouping.sizes))
    prior = _normalised(c.sum(axis=1) + 1)
    return np.asarray((c + mu * prior[:, None]) / (c.sum(axis=0) + mu))


def _totals(index: NDArray[np.int64], weights: Float, n: int) -> Float:
    """Return the total weight of each index below n, float64[n]."""
    return np.bincount(index, weights, n).astype(np.float64)  # of nothing it would be whole numbers


def _grouped(index: NDArray[np.int64], rows: Float, n: int) -> Float:
    """Return the sum of the rows with each index below n, float64[n, L]."""
    return np.stack([_totals(index, column, n) for column in rows.T], axis=1)


def _normalised(weights: Float) -> Float:
    """Divide the last axis by its sum; rows of zeros stay."""
    total = weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0))


def _log(probabilities: Float) -> Float:
    """Return natural logarithms, -inf of zero without a warning."""
    return np.asarray(np.log(probabilities, out=np.full_like(probabilities, -np.inf), where=probabilities > 0))


def _combined(a: Tables, p: float, b: Tables, q: float) -> Tables:
    """Return p a + q b of counts or parameters over the same labels, vocabulary and transition classes."""
    same = a.vocabulary == b.vocabulary and a.start.shape == b.start.shape
    if not same or a.transition_classes != b.transition_classes:
        raise InputError(
            "labels, vocabulary or transition classes differ", hint="bring counts over one vocabulary: `over`"
        )
    parts = {name: p * getattr(a, name) + q * getattr(b, name) for name in ("start", "trans", "emission")}
    return replace(a, **parts)


def _word_ids(corpus: Corpus, vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Return the word of every token, int64[M]; a token outside the vocabulary is an error."""
    ids = vocabulary.ids(corpus.types)[corpus.token_ids]
    outside = np.flatnonzero(ids == len(vocabulary))
    if len(outside):
        word = corpus.types[corpus.token_ids[outside[0]]]
        raise InputError(
            f"{word!r} is not in the vocabulary", hint="make one that covers this text: `vocabulary.extended`"
        )
    return ids

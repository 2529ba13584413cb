"""What passes between a `ConvCRF` and its training: labelled text as arrays, what was learned, and held-out scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, NotFittedError
from espalier.estimators.base import allowed_moves
from espalier.estimators.held_out import gold_ids
from espalier.features.hashed import hashed_words, spaces_before
from espalier.models.conv import Borders, ConvShape, NetInput, Parameters, ScoringNet

if TYPE_CHECKING:  # whoever labels never waits for what only training needs
    from espalier.learning.chain_loss import SoftLabels
    from espalier.learning.net_training import NetData, Score

__all__ = [
    "LearnedNet", "Lessons", "between", "check_prior", "check_teacher", "forbidding", "lessons",
    "scorer_of", "with_pool", "with_soft_labels",
]  # fmt: skip

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearnedNet:
    """What a fitted net has learned, as a value: its shape, its labels and its weights."""

    shape: ConvShape
    labels: Labels
    weights: Parameters

    def over(self, labels: Labels, begin: Parameters) -> Parameters:
        """Return the weights over other labels, by their names; labels that are new have those of `begin`."""
        at = {name: k for k, name in enumerate(self.labels.names)}
        new = np.array([k for k, name in enumerate(labels.names) if name in at], np.int64)
        old = np.array([at[labels.names[k]] for k in new.tolist()], np.int64)
        found = {name: w.copy() for name, w in self.weights.items()}
        for name in ("output", "output_bias", "start", "end", "trans"):
            mine, own = self.weights[name], begin[name].copy()
            if name == "trans":
                own[np.ix_(new, new)] = mine[np.ix_(old, old)]
            else:
                own[..., new] = mine[..., old]
            found[name] = np.where(np.isfinite(own), own, 0.0).astype(own.dtype)  # what is allowed is decided anew
        return found

    def narrowed(self, inner: int, texts: Corpus) -> LearnedNet:
        """Return a net of half the cost, say, that knows most of it: its blocks convolve `inner` numbers.

        Some hundred texts show what is worth keeping. It is a place to begin: pass it on as a prior.
        """
        from espalier.models.conv_narrowing import narrowed

        words = hashed_words(texts.types, self.shape.buckets)
        seen = NetInput(words, texts.token_ids.astype(np.int64), spaces_before(texts), Borders(texts.lengths))
        shape, weights = narrowed(self.shape, self.weights, inner, seen)
        return replace(self, shape=shape, weights=weights)

    def __repr__(self) -> str:
        """Show the size."""
        return f"LearnedNet({self.shape.channels} channels, {len(self.labels)} labels)"


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """All text to learn from: labelled sequences and copies of them, then a pool.

    corpus : its y is -1 where nobody knows the label; weight, soft_weight : float64[N], of labels and of soft labels;
    soft_transitions : float32[N, L, L], where they are known.
    """

    corpus: Corpus
    weight: Float
    soft: SoftLabels | None = None
    soft_weight: Float | None = None
    soft_transitions: NDArray[np.float32] | None = None

    def data(self, buckets: int) -> NetData:
        """Return the text as a net reads it."""
        from espalier.learning.net_training import NetData

        corpus = self.corpus
        assert corpus.y is not None
        start_allowed, allowed, _ = allowed_moves(corpus)
        words, spaces = hashed_words(corpus.types, buckets), spaces_before(corpus)
        return NetData(
            corpus.indptr, words, corpus.token_ids, spaces, corpus.y, self.weight,
            start_allowed, allowed, self.soft, self.soft_weight, self.soft_transitions,
        )  # fmt: skip


def lessons(
    corpus: Corpus, weight: Float | None, copies: int, seed: int, replay: Corpus | None = None
) -> Lessons:  # fmt: skip
    """Return labelled sequences, copies of them with exchanged fields, and sequences that are learned again."""
    from espalier.learning.recombination import more_examples

    own = np.ones(len(corpus)) if weight is None else weight
    found, weights = more_examples(corpus, own, copies, seed, replay)
    assert weights is not None
    return Lessons(found, weights)


def check_prior(prior: object) -> None:
    """Raise for a prior of another kind."""
    if not isinstance(prior, LearnedNet):
        raise InputError(f"prior is a {type(prior).__name__}", hint="expected a fitted ConvCRF, or its learned_")


def check_teacher(teacher: Any) -> None:
    """Raise for a teacher that cannot teach; None is none."""
    if teacher is None:
        return
    if not hasattr(teacher, "predict_marginals"):
        hint = "expected a fitted model; es.load(...).model is that of a file"
        raise InputError(f"teacher is {teacher!r}", hint=hint)
    if not hasattr(teacher, "labels_"):
        raise NotFittedError(f"the teacher, a {type(teacher).__name__}, is not fitted yet", hint="call its fit first")


def with_pool(lessons: Lessons, pool: Corpus, weight: float) -> Lessons:
    """Add sequences without labels, each with this weight."""
    corpus = lessons.corpus
    y = np.append(corpus.y, np.full(pool.n_tokens, -1)).astype(np.int16)  # type: ignore[arg-type]
    everything = replace(corpus + pool, y=y, labels=corpus.labels)
    return Lessons(everything, np.append(lessons.weight, np.full(len(pool), weight)))


def with_soft_labels(lessons: Lessons, first: int, soft: Any, teacher: Any, share: float) -> Lessons:
    """Add soft labels: `soft` of the first sequences, if given, and a teacher's of all others.

    share : of the weight of a sequence that has labels, too; one without any label has soft labels alone.
    """
    from espalier.learning.chain_loss import SoftLabels
    from espalier.learning.distillation import given_probabilities, stacked, taught

    corpus = lessons.corpus
    assert corpus.labels is not None
    assert corpus.y is not None
    N, L, begun = len(corpus), len(corpus.labels), 0 if soft is None else first
    parts = [] if soft is None else [given_probabilities(soft, corpus[:begun], corpus.labels)]
    there = np.arange(N) < begun
    if teacher is not None:
        parts.append(taught(teacher, corpus[begun:], corpus.labels))
        there[:] = True
    else:
        parts.append(SoftLabels.none(int(corpus.lengths[begun:].sum()), L))
    labelled = np.zeros(N, bool)
    labelled[np.repeat(np.arange(N), corpus.lengths)[corpus.y >= 0]] = True
    part = np.where(labelled, share, 1.0) * there
    return Lessons(corpus, lessons.weight * (1.0 - part), stacked(parts, L), lessons.weight * part)


def forbidding(weights: Parameters, data: NetData) -> Parameters:
    """Return the weights, with -inf between labels that may not follow each other."""
    trans = np.where(data.allowed, weights["trans"], -np.inf).astype(np.float32)
    return weights | {
        "trans": trans,
        "start": np.where(data.start_allowed, weights["start"], -np.inf).astype(np.float32),
    }


def between(one: Parameters, other: Parameters, gamma: float) -> Parameters:
    """Return gamma times some weights plus (1 - gamma) times others; what either allows between labels is allowed."""
    found = {}
    for name, w in one.items():
        v = other[name]
        mean = gamma * np.where(np.isfinite(w), w, 0.0) + (1.0 - gamma) * np.where(np.isfinite(v), v, 0.0)
        found[name] = np.where(np.isneginf(w) & np.isneginf(v), w, mean).astype(np.float32)
    return found


def scorer_of(dev: Corpus | None, labels: Labels, shape: ConvShape, data: NetData, threads: int | None) -> Score | None:
    """Return token accuracy on held-out data as a function of weights; None without data."""
    if dev is None:
        return None
    gold = gold_ids(dev, labels)

    def score(weights: Parameters, chains: bool) -> float:
        net = ScoringNet(shape, forbidding(weights, data))
        if chains:
            from espalier.inference import viterbi

            found = viterbi(net.potentials(dev, threads), threads=threads).labels
        else:  # without compiled code
            found = net.scores(dev, threads).argmax(axis=1).astype(np.int16)
        return float((found == gold)[gold != -1].mean())

    return score

"""EM against enumeration: expected counts, estimates and the objective term by term; and what never falls."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError
from espalier.estimators.hmm import HMM
from espalier.learning.em import em
from espalier.models.hmm import HMMCounts, Smoothing, Vocabulary, estimate, log_joint, log_prior

relaxed = settings(deadline=None, derandomize=True, max_examples=40)

ADDITIVE = Smoothing("additive", start=0.2, trans=0.5, emission=0.1)
LABELS = ("x", "y")
WORDS = ("a", "b", "c")
TOKENS = [["a", "b", "b"], ["c", "a"]]
GOLD = [["x", "y", "y"], ["y", "x"]]
POOL = [["a", "c", "b"], ["b"], ["c", "c"]]


class Naive:
    """An HMM of dictionaries: every probability from its formula, every sum over all labellings."""

    def __init__(self, start, trans, emission):
        self.start, self.trans, self.emission = start, trans, emission

    @classmethod
    def of(cls, counts, s=ADDITIVE):
        def normal(row, alpha, events):
            total = sum(row[e] + alpha for e in events)
            return {e: (row[e] + alpha) / total for e in events}

        rows = {part: defaultdict(lambda: defaultdict(float)) for part in ("start", "trans", "emission")}
        for (part, given_, event), value in counts.items():
            rows[part][given_][event] += value
        return cls(
            normal(rows["start"][None], s.start, LABELS),
            {a: normal(rows["trans"][a], s.trans, LABELS) for a in LABELS},
            {a: normal(rows["emission"][a], s.emission, (*WORDS, "<unknown>")) for a in LABELS},
        )

    def joint(self, x, y):
        p = self.start[y[0]] * math.prod(self.emission[b][w] for w, b in zip(x, y, strict=True))
        return p * math.prod(self.trans[a][b] for a, b in itertools.pairwise(y))

    def prior(self, s=ADDITIVE):
        rows = [(s.start, self.start), *((s.trans, self.trans[a]) for a in LABELS)]
        rows += [(s.emission, self.emission[a]) for a in LABELS]
        return sum(alpha * math.log(p) for alpha, row in rows for p in row.values())

    def mixed(self, other, gamma):
        def mix(a, b):
            return {k: mix(a[k], b[k]) if isinstance(a[k], dict) else gamma * a[k] + (1 - gamma) * b[k] for k in a}

        return Naive(*(mix(getattr(self, n), getattr(other, n)) for n in ("start", "trans", "emission")))


def events(x, y):
    yield "start", None, y[0]
    yield from (("trans", a, b) for a, b in itertools.pairwise(y))
    yield from (("emission", label, word) for word, label in zip(x, y, strict=True))


def count(sequences):
    """Sum the events of (x, y, weight)."""
    found: dict = defaultdict(float)
    for x, y, weight in sequences:
        for event in events(x, y):
            found[event] += weight
    return found


def naive_step(model, hard, omega):
    """Return the counts of the pool and Σ log P(x), or log max P(x, y), times the weight."""
    guessed, fit = [], 0.0
    for x in POOL:
        scored = [(model.joint(x, y), y) for y in itertools.product(LABELS, repeat=len(x))]
        if hard:
            best = max(p for p, _ in scored)
            guessed.append((x, next(y for p, y in scored if p == best), omega))
            fit += math.log(best)
        else:
            total = math.fsum(p for p, _ in scored)
            guessed.extend((x, y, omega * p / total) for p, y in scored)
            fit += math.log(total)
    return guessed, omega * fit


def naive_em(iterations, hard, gamma, omega):
    gold = [(x, y, 1.0) for x, y in zip(TOKENS, GOLD, strict=True)]
    first = model = Naive.of(count(gold))
    for _ in range(iterations + 1):
        guessed, fit = naive_step(model, hard, omega)
        yield model, sum(math.log(model.joint(x, y)) for x, y, _ in gold) + fit + model.prior()
        if gamma is None:
            model = Naive.of(count(gold + guessed))
        else:
            model = first.mixed(Naive.of(count([(x, y, w / omega) for x, y, w in guessed])), gamma)


def problem(tokens, gold, pool, names=LABELS, normalise="none"):
    labels = Labels(names)
    corpus, unlabelled = Corpus.from_tokens(tokens, gold, vocabulary=labels), Corpus.from_tokens(pool)
    vocabulary = Vocabulary((), normalise).extended(corpus, unlabelled)
    return HMMCounts.from_labels(corpus, vocabulary), unlabelled, labels


def steps_of(problem, smoothing, *, hard=False, **options):
    """The steps of EM from the model of these counts."""
    counts, pool, labels = problem
    model = HMM(
        smoothing.kind, normalise=counts.vocabulary.normalise, start_alpha=smoothing.start,
        transition_alpha=smoothing.trans, emission_alpha=smoothing.emission,
    )  # fmt: skip
    model.counts_, model.labels_ = counts, labels
    model.parameters_ = estimate(counts, smoothing, labels)
    return em(model, lambda current: current.count(pool, hard=hard), **options)


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize(("gamma", "omega"), [(None, 1.0), (None, 0.3), (0.7, 1.0), (0.0, 1.0)])
def test_every_step_is_that_of_enumeration(hard: bool, gamma: float | None, omega: float) -> None:
    steps = steps_of(problem(TOKENS, GOLD, POOL), ADDITIVE, hard=hard, gamma=gamma, pool_weight=omega)
    for (model, objective), (naive, expected) in zip(islice(steps, 4), naive_em(3, hard, gamma, omega), strict=True):
        parameters = model.parameters_
        words = parameters.vocabulary.words
        assert parameters.start == pytest.approx([naive.start[a] for a in LABELS])
        assert parameters.trans[0] == pytest.approx(np.array([[naive.trans[a][b] for b in LABELS] for a in LABELS]))
        assert parameters.emission == pytest.approx(np.array([[naive.emission[a][w] for a in LABELS] for w in words]))
        assert objective == pytest.approx(expected)


sequences = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5)


@st.composite
def corpora(draw: st.DrawFn, names: tuple[str, ...]):
    tokens = draw(st.lists(sequences, min_size=1, max_size=3))
    gold = [[draw(st.sampled_from((*names, None))) for _ in x] for x in tokens]
    gold[0][0] = names[0]  # at least one label is known
    return tokens, gold, draw(st.lists(sequences, min_size=1, max_size=6))


@relaxed
@given(
    corpora(("B-x", "I-x", "O")) | corpora(("x", "y", "z")),
    st.booleans(),
    st.sampled_from([0.1, 1.0, 4.0]),
    st.sampled_from([0.01, 0.3, 2.0]),
)
def test_the_objective_never_falls(data, hard: bool, omega: float, alpha: float) -> None:
    """Additive smoothing, one transition matrix, no gamma: partial labels and odd tags included."""
    tokens, gold, pool = data
    names = ("B-x", "I-x", "O") if "B-x" in gold[0] else ("x", "y", "z")
    smoothing = Smoothing("additive", start=alpha, trans=alpha, emission=alpha)
    steps = steps_of(problem(tokens, gold, pool, names), smoothing, hard=hard, pool_weight=omega)
    objectives = [objective for _, objective in islice(steps, 9)]
    assert np.isfinite(objectives).all()
    assert (np.diff(objectives) >= -1e-9 * np.abs(objectives[1:])).all()


def test_the_prior_is_that_of_additive_smoothing_alone() -> None:
    counts, pool, labels = problem(TOKENS, GOLD, POOL, normalise="lower")
    backoff = estimate(counts, Smoothing(), labels)
    assert log_prior(backoff, Smoothing()) == 0
    steps = list(islice(steps_of((counts, pool, labels), Smoothing()), 3))
    assert np.isfinite([objective for _, objective in steps]).all()


def test_an_impossible_labelling_has_no_probability() -> None:
    counts, _, labels = problem([["a", "b"]], [["O", "O"]], POOL, ("B-x", "I-x", "O"))
    bad, _, _ = problem([["a", "b"]], [["O", "I-x"]], POOL, ("B-x", "I-x", "O"))
    assert log_joint(estimate(counts, ADDITIVE, labels), bad) == -math.inf


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan")])
def test_gamma_is_a_share(gamma: float) -> None:
    with pytest.raises(InputError, match="gamma"):
        next(steps_of(problem(TOKENS, GOLD, POOL), ADDITIVE, gamma=gamma))

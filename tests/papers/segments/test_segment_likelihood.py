"""The semi-Markov likelihood against enumeration, finite differences and the chain it contains."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus
from espalier.errors import InfeasibleError, InputError, LabelError
from espalier.features.extract import FeatureExtractor
from espalier.learning.likelihood import ChainLikelihood
from espalier.models.linear import Pairs
from espalier.papers.segments.likelihood import KnownSegments, SegmentLikelihood
from espalier.papers.segments.model import SegmentFeatures, SegmentInput
from espalier.papers.segments.semicrf import SemiCRF
from oracles import log_sum, segmentations

NAMES = ("length", "punctuation", "first:lower", "last:lower")
some = settings(max_examples=40, deadline=None, derandomize=True)


def likelihood_of(corpus, known, limit, names=NAMES, learned=None, sample_weight=None, threads=None):
    features, L = SegmentFeatures.of(names), len(known.labels)
    templates = (("lower", "lower@-1"), features.first or ("bias",), features.last or ("bias",))
    matrices = tuple(FeatureExtractor(t).fit_transform(corpus)[1] for t in templates)
    data = SegmentInput(corpus.indptr, matrices, features.marks(corpus))
    pairs = tuple(Pairs.observed(matrix, known.y, L) for matrix in matrices)
    learned = np.ones((L, L), bool) if learned is None else learned
    return SegmentLikelihood(data, known, pairs, features, learned, np.asarray(limit), sample_weight, threads)


def cutting(known, i, pieces):
    """Does a segmentation of sequence i agree with what is known?"""
    a, b = known.indptr[i], known.indptr[i + 1]
    starts = {piece.start for piece in pieces}
    covered = [piece.label for piece in pieces for _ in range(piece.start, piece.end)]
    return all(y < 0 or y == covered[t] for t, y in enumerate(known.y[a:b])) and all(
        cut < 0 or (t in starts) == bool(cut) for t, cut in enumerate(known.cuts[a:b])
    )


def enumerated(likelihood, known, w):
    """Σ ω (log Z - log Z of what agrees), by enumeration."""
    batch = likelihood.model(w).potentials(likelihood.data)
    total = 0.0
    for i in range(len(batch)):
        every = segmentations(batch[i])
        agree = log_sum(score for pieces, score in every.items if cutting(known, i, pieces))
        total += likelihood.sample_weight[i] * (every.log_z - agree)
    return total


def check_gradient(likelihood, w, rng):
    """Compare directional derivatives with central differences."""
    _, gradient = likelihood(w)
    for _ in range(3):
        d, h = rng.normal(size=len(w)), 1e-5
        slope = (likelihood(w + h * d)[0] - likelihood(w - h * d)[0]) / (2 * h)
        assert gradient @ d == pytest.approx(slope, rel=1e-6, abs=1e-6)


def check_every_weight(likelihood, w):
    _, gradient = likelihood(w)
    h = 1e-5
    differences = [(likelihood(w + h * e)[0] - likelihood(w - h * e)[0]) / (2 * h) for e in np.eye(len(w))]
    assert gradient == pytest.approx(differences, abs=1e-7)


@st.composite
def corpora(draw):
    """Up to three sequences of up to five tokens; tags or plain labels of which some are unknown."""
    marked, unknown = draw(st.booleans()), draw(st.booleans())
    names = ["B-p", "I-p", "B-q", "I-q", "O"] if marked else ["p", "q", "O"]
    label = st.sampled_from(names + [None, None] * unknown)
    sentences = draw(st.lists(st.lists(st.sampled_from(["a", "b", ",", "."]), max_size=5), min_size=1, max_size=3))
    y = [[draw(label) for _ in sentence] for sentence in sentences]
    return Corpus.from_tokens([["a", "."], *sentences], [["B-p", "O"] if marked else ["p", "O"], *y])


@some
@given(corpora(), st.integers(0, 1000), st.sampled_from([NAMES, ("punctuation",), ()]), st.sampled_from(["O", None]))
def test_objective_and_gradient(corpus, seed, names, outside):
    known, rng = KnownSegments.of(corpus, outside), np.random.default_rng(seed)
    limit = np.full(len(known.labels), max(int(known.stretches()[1].max()), int(rng.integers(1, 5))))
    if outside in known.labels:
        limit[known.labels.index(outside)] = 1
    weight = rng.uniform(0, 2, len(corpus))
    likelihood = likelihood_of(corpus, known, limit, names, rng.random((len(limit),) * 2) < 0.7, weight)
    w = rng.normal(size=likelihood.n_parameters)
    assert likelihood(w)[0] == pytest.approx(enumerated(likelihood, known, w), abs=1e-9)
    check_gradient(likelihood, w, rng)


TAGGED = Corpus.from_tokens(
    [["a", ",", "b", "a", "."], ["b"], [], ["c", "b", ".", "a"]],
    [["B-p", "I-p", "B-p", "O", "O"], ["B-q"], [], ["O", "B-q", "I-q", "B-p"]],
)
PARTLY = TAGGED.with_labels([["B-p", None, None, "I-q", "O"], [None], [], [None, "B-q", None, "B-p"]])


@pytest.mark.parametrize("corpus", [TAGGED, PARTLY])
def test_every_weight_has_its_derivative(corpus):
    known = KnownSegments.of(corpus, "O")
    likelihood = likelihood_of(corpus, known, np.full(len(known.labels), 3))
    check_every_weight(likelihood, np.random.default_rng(1).normal(size=likelihood.n_parameters))


@pytest.mark.parametrize("unknown", [False, True])
def test_segments_of_one_token_are_a_chain(unknown):
    corpus = Corpus.from_tokens([list("abca"), list("cb"), list("a")], [list("pqqp"), list("qp"), list("q")])
    if unknown:
        corpus = corpus.with_labels([["p", None, "q", None], ["q", "p"], [None]])
    L, cuts = 2, np.ones(corpus.n_tokens, np.int8)
    known = KnownSegments(corpus.labels, False, corpus.indptr, corpus.y, cuts)
    segments = likelihood_of(corpus, known, np.ones(L, np.int64), ())
    matrix, all_pairs = segments.data.matrices[0], np.ones((L, L), bool)
    chain = ChainLikelihood(matrix, corpus.indptr, corpus.y, segments.pairs[0], all_pairs, np.ones(L, bool), all_pairs)
    tokens, first, last = segments.sizes[:3]
    w = np.random.default_rng(3).normal(size=chain.n_parameters)
    wide = np.concatenate([w[:tokens], np.zeros(first + last), w[tokens:]])
    value, gradient = segments(wide)
    expected, slopes = chain(w)
    assert value == pytest.approx(expected, rel=1e-12)
    assert np.delete(gradient, np.s_[tokens : tokens + first + last]) == pytest.approx(slopes, abs=1e-6)


def test_a_weight_of_two_is_the_sequence_twice():
    twice = TAGGED[[0, 0, 1, 3]]
    known, weight = KnownSegments.of(TAGGED, "O"), np.array([2.0, 1.0, 5.0, 1.0])
    one = likelihood_of(TAGGED, known, np.full(3, 3), sample_weight=weight)
    other = likelihood_of(twice, KnownSegments.of(twice, "O"), np.full(3, 3))
    w = np.random.default_rng(4).normal(size=one.n_parameters)
    assert one(w)[0] == pytest.approx(other(w)[0], rel=1e-12)
    assert one(w)[1] == pytest.approx(other(w)[1], abs=1e-12)


@pytest.mark.parametrize("corpus", [TAGGED, PARTLY])
def test_threads_change_nothing(corpus):
    corpus = corpus[np.tile(np.arange(4), 600)]
    known = KnownSegments.of(corpus, "O")
    few, many = (likelihood_of(corpus, known, np.full(3, 3), threads=n) for n in (1, 4))
    assert len(few.chunks) > 2
    w = np.random.default_rng(5).normal(size=few.n_parameters)
    (a, g), (b, h) = few(w), many(w)
    assert a == b
    assert (g == h).all()


def test_far_apart_scores_stay_exact():
    known = KnownSegments.of(TAGGED, "O")
    likelihood = likelihood_of(TAGGED, known, np.full(3, 4))
    w = 400.0 * np.random.default_rng(6).normal(size=likelihood.n_parameters)
    assert likelihood(w)[0] == pytest.approx(enumerated(likelihood, known, w), rel=1e-9)
    assert np.isfinite(likelihood(w)[1]).all()


def test_weights_that_are_not_finite_give_nan():
    likelihood = likelihood_of(TAGGED, KnownSegments.of(TAGGED, "O"), np.full(3, 3))
    w = np.zeros(likelihood.n_parameters)
    w[-1] = np.nan
    value, gradient = likelihood(w)
    assert np.isnan(value)
    assert np.isnan(gradient).all()


def known_of(labels, outside="O"):
    known = KnownSegments.of(Corpus.from_tokens([["x"] * len(y) for y in labels], labels), outside)
    return known.labels.decode(known.y.tolist()), known.cuts.tolist(), known.marked


@pytest.mark.parametrize(
    ("labels", "outside", "fields", "cuts"),
    [
        ([["B-p", "I-p", "B-p", "O", "O"]], "O", "pppOO", [1, 0, 1, 1, 1]),
        ([["B-p", "I-p", "B-p", "O", "O"]], None, "pppOO", [1, 0, 1, 1, 0]),
        ([["I-p", "I-q", "I-q"], ["I-q", "B-q"]], "O", "pqqqq", [1, 1, 0, 1, 1]),
        ([["p", "p", "q"], ["q", "O", "O"]], "O", "ppqqOO", [1, 0, 1, 1, 1, 1]),
        ([["B-p", None, "I-p", None, "B-q", None]], "O", "p?p?q?", [1, -1, 0, -1, 1, -1]),
        ([["p", None, "p", "p"], [None, "O", None]], "O", "p?pp?O?", [1, -1, -1, 0, 1, 1, 1]),
    ],
)
def test_what_labels_say(labels, outside, fields, cuts):
    got, got_cuts, marked = known_of(labels, outside)
    assert "".join(name or "?" for name in got) == fields
    assert got_cuts == cuts
    assert marked == any(name and name.startswith(("B-", "I-")) for y in labels for name in y)


def test_known_steps_and_stretches():
    corpus = Corpus.from_tokens([list("xxxx"), list("xxx"), [], ["x"]], [list("ppqp"), ["q", None, "p"], [], ["q"]])
    known = KnownSegments.of(corpus, "O")
    assert known.steps().tolist() == [[False, True], [True, False]]
    starts, lengths = known.stretches()
    assert list(itertools.chain(starts, lengths)) == [0, 2, 3, 4, 5, 6, 7, 2, 1, 1, 1, 1, 1, 1]


def test_a_segment_that_is_too_long_is_named():
    corpus = Corpus.from_tokens([["x"], list("xxxxx")], [["p"], list("qpppq")])
    with pytest.raises(InputError, match="sequence 1 has a segment of 3 tokens from token 1 on, above the limit of 2"):
        likelihood_of(corpus, KnownSegments.of(corpus, "O"), np.full(2, 2))


def test_labels_that_contradict_the_cuts():
    corpus = Corpus.from_tokens([["x", "x"]], [["p", "q"]])
    known = KnownSegments(corpus.labels, False, corpus.indptr, corpus.y, np.array([1, 0], np.int8))
    with pytest.raises(InfeasibleError, match="sequence 0"):
        likelihood_of(corpus, known, np.full(2, 2))


@pytest.mark.parametrize(
    ("corpus", "error", "message"),
    [
        (Corpus.from_tokens([]), InputError, "the training corpus is empty"),
        (Corpus.from_tokens([[], []], [[], []]), InputError, "the training corpus is empty"),
        (Corpus.from_tokens([["a"]]), InputError, "fit needs labels"),
        (Corpus.from_tokens([["a"]], [[None]]), LabelError, "every label is unknown"),
        (Corpus.from_tokens([["a"]], [["B-p/B-q"]]), LabelError, "several levels"),
    ],
)
def test_labels_that_say_nothing(corpus, error, message):
    with pytest.raises(error, match=message):
        SemiCRF().fit(corpus)

"""Segment potentials against their definition, token by token."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.extract import FeatureExtractor
from espalier.models.linear import Pairs
from espalier.papers.segments import model as segmental
from espalier.papers.segments.model import SegmentalModel, SegmentFeatures, SegmentInput, length_bins, length_names

TEXTS = ["a b , a c .", "b", "", "c , ( a ) b a c", "a ."]
SENTENCES = [text.split() for text in TEXTS]
NAMES = ("length", "punctuation", "first:lower", "last:lower")


def problem(names=NAMES, limit=(4, 1, 7), seed=0):
    """A corpus with random weights for every (attribute, label) pair."""
    corpus, rng, L = Corpus.from_tokens(SENTENCES), np.random.default_rng(seed), len(limit)
    features = SegmentFeatures.of(names)
    templates = [("lower", "lower@1"), features.first or ("bias",), features.last or ("bias",)]
    matrices = tuple(FeatureExtractor(t).fit_transform(corpus)[1] for t in templates)
    data = SegmentInput(corpus.indptr, matrices, features.marks(corpus))
    pairs = tuple(
        Pairs.of(L, np.arange(m.n_attributes + 1) * L, np.tile(np.arange(L, dtype=np.int16), m.n_attributes))
        for m in matrices
    )
    weights = tuple(rng.normal(size=len(p)) for p in pairs)
    lengths = rng.normal(size=(9, L)) if features.length else np.zeros((1, L))
    inside = rng.normal(size=L) if features.punctuation else np.zeros(L)
    trans = rng.normal(size=(L, L))
    return data, SegmentalModel(pairs, weights, lengths, inside, trans, np.array(limit, np.int64))


def definition(data, model, m, d, label):
    """The score of the segment of d + 1 tokens that ends at token m, from the formula in the module."""
    i = int(np.searchsorted(data.indptr, m, side="right")) - 1
    a, words = m - d, [word for sentence in SENTENCES for word in sentence]
    if a < data.indptr[i] or d + 1 > model.limit[label]:
        return -np.inf
    tokens, first, last = (
        (matrix.to_csr() @ pairs.dense(w))[:, label]
        for matrix, pairs, w in zip(data.matrices, model.pairs, model.weights, strict=True)
    )
    score = tokens[a : m + 1].sum() + first[a] + last[m]
    if len(model.lengths) > 1:
        bins = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (7, 9), (10, 14), (15, 20), (21, 10**9)]
        (k,) = (k for k, (low, high) in enumerate(bins) if low <= d + 1 <= high)
        score += model.lengths[k, label]
    if any(not word[-1].isalnum() for word in words[a:m]):
        score += model.inside[label]
    return score


@pytest.mark.parametrize("names", [NAMES, ("length",), ("punctuation",), ()])
def test_scores_follow_the_definition(names):
    data, model = problem(names)
    batch = model.potentials(data)
    assert batch.score.shape == (data.n_tokens, 7, 3)  # no label may be longer than 7
    for m, d, label in np.ndindex(batch.score.shape):
        assert batch.score[m, d, label] == pytest.approx(definition(data, model, m, d, label), abs=1e-12)
    assert (batch.trans == model.trans).all()
    assert not batch.start.any()
    assert not batch.end.any()


def test_segments_are_no_longer_than_sequences():
    data, model = problem(limit=(100, 1, 50))
    assert model.potentials(data).longest == max(map(len, SENTENCES))


@pytest.mark.parametrize("threads", [1, 2])
def test_batches_are_pieces_of_the_whole(monkeypatch, threads):
    data, model = problem()
    whole, seen = model.potentials(data), {}
    monkeypatch.setattr(segmental, "VALUES_A_BATCH", 100)
    model.each_batch(data, seen.__setitem__, threads)
    assert len(seen) > 2
    for lo, batch in seen.items():
        first = data.indptr[lo]
        part = whole.score[first : first + batch.indptr[-1]]
        assert (batch.score == part[:, : batch.longest]).all()
        assert np.isneginf(part[:, batch.longest :]).all()
        assert (batch.indptr + first == data.indptr[lo : lo + len(batch) + 1]).all()
    assert sum(map(len, seen.values())) == len(SENTENCES)


def test_an_empty_corpus_has_no_potentials():
    corpus, (_, model) = Corpus.from_tokens([]), problem()
    matrices = tuple(FeatureExtractor(["lower"]).fit_transform(corpus)[1] for _ in range(3))
    batch = model.potentials(SegmentInput(corpus.indptr, matrices, np.zeros(1, np.int64)))
    assert len(batch) == 0


def test_length_bins():
    assert length_bins(22, declared=True).tolist()[1:] == [
        *(0, 1, 2, 3), *(4, 4), *(5, 5, 5), *(6, 6, 6, 6, 6), *(7, 7, 7, 7, 7, 7), *(8, 8),
    ]  # fmt: skip
    assert not length_bins(22, declared=False).any()
    assert " ".join(length_names()).replace("length=", "") == "1 2 3 4 5-6 7-9 10-14 15-20 21+"


def test_marks_are_counted_before_each_token():
    corpus = Corpus.from_tokens([["A.", "b", ","], ["x_", "3", "(", "é"]])
    assert SegmentFeatures.of(["punctuation"]).marks(corpus).tolist() == [0, 1, 1, 2, 3, 3, 4, 4]
    assert not SegmentFeatures.of(["length"]).marks(corpus).any()


def test_names_are_read():
    features = SegmentFeatures.of(["length", "first:lower[-1,0]", "last:suffix2", "punctuation"])
    assert (features.length, features.punctuation) == (True, True)
    assert [t.text for t in features.first] == ["lower@-1", "lower", "regex:mark@-1"]
    assert [t.text for t in features.last] == ["suffix2", "regex:mark", "regex:mark@1"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["lenght"], "unknown segment feature 'lenght'; did you mean 'length'"),
        (["punctation"], "did you mean 'punctuation'"),
        (["xyz"], "known: length, punctuation, first:TEMPLATE, last:TEMPLATE"),
        (["middle:lower"], "unknown segment feature 'middle:lower'"),
        (["first:lowr"], "did you mean 'lower'"),
        (["length", "length"], "lists a name twice"),
        ("length", "expected a list of names"),
        ([3], "expected a list of names"),
        (None, "expected a list of names"),
    ],
)
def test_wrong_names(names, message):
    with pytest.raises(InputError, match=message):
        SegmentFeatures.of(names)

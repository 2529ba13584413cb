"""`SemiCRF` as an estimator: against enumeration, on data that chains cannot learn, and by scikit-learn's rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from espalier.corpus import Corpus
from espalier.errors import InputError, LabelError, NotFittedError
from espalier.estimators.crf import CRF
from espalier.estimators.persist import load
from espalier.papers.segments import model as segmental
from espalier.papers.segments.semicrf import SemiCRF
from oracles import cover_counts, pieces_backwards, segmentations
from strategies import MOST_STRUCTURES

X = [
    ["j.", "doe", ",", "some", "title", "here", ",", "1999", "."],
    ["a.", "roe", ",", "another", "title", ",", "2001", "."],
    ["some", "title", ",", "1999"],
    ["b.", "doe", ".", "title"],
]
Y = [
    ["n", "n", "n", "t", "t", "t", "t", "d", "d"],
    ["n", "n", "n", "t", "t", "t", "d", "d"],
    ["t", "t", "t", "d"],
    ["n", "n", "n", "t"],
]
NAMES = ("length", "punctuation", "first:lower", "last:lower")


def tagged(y):
    """Plain runs as tags; n is outside."""
    return [
        ["O" if a == "n" else ("I-" if t and sequence[t - 1] == a else "B-") + a for t, a in enumerate(sequence)]
        for sequence in y
    ]


@pytest.fixture(scope="module")
def plain():
    return SemiCRF(["lower", "shape"], segment_features=NAMES, max_iterations=30).fit(X, Y)


@pytest.fixture(scope="module")
def marked():
    return SemiCRF(["lower", "shape"], segment_features=NAMES, max_iterations=30).fit(X, tagged(Y))


SHORT = [["doe", ",", "1999"], ["title"], [], ["some", "1999", "."]]


def shown(pieces, names):
    return [names[p.label] for p in pieces for _ in range(p.start, p.end)]


def shown_tags(pieces, names):
    return [
        "O" if names[p.label] == "O" else ("B-" if t == p.start else "I-") + names[p.label]
        for p in pieces
        for t in range(p.start, p.end)
    ]


@pytest.mark.parametrize(("form", "show"), [("plain", shown), ("marked", shown_tags)])
def test_prediction_is_the_best_of_all(form, show, request):
    model = request.getfixturevalue(form)
    batch, names = model.potentials(SHORT), model.labels_.names
    labels, segments = model.predict(SHORT), model.predict_segments(SHORT)
    probabilities, listed = model.predict_marginals(SHORT), model.predict_k(SHORT, 3)
    for i, potentials in enumerate(batch[i] for i in range(len(batch))):
        every = segmentations(potentials)
        assert len(every.items) <= MOST_STRUCTURES
        (best, _), *_ = ranked = every.ranked(pieces_backwards)
        assert labels[i] == show(best, names)
        expected = [(show(y, names), score) for y, score in ranked[:3]]
        assert [y for y, _ in listed[i]] == [y for y, _ in expected]
        assert [s for _, s in listed[i]] == pytest.approx([s for _, s in expected])
        assert probabilities[i] == pytest.approx(every.expectation(cover_counts(potentials)))
        fields = [p for p in best if names[p.label] != "O"]
        assert [s[:3] for s in segments[i]] == [(p.start, p.end, names[p.label]) for p in fields]
        for piece, segment in zip(fields, segments[i], strict=True):
            share = math.fsum(p for y, p in every.probabilities.items() if piece in y)
            assert segment.probability == pytest.approx(share)


def test_many_batches_give_the_same(plain, monkeypatch):
    sequences = X * 3
    whole = plain.predict(sequences), plain.predict_segments(sequences), plain.predict_k(sequences, 2)
    probabilities = plain.predict_marginals(sequences)
    monkeypatch.setattr(segmental, "VALUES_A_BATCH", 200)
    two = plain.set_params(threads=2)
    assert (two.predict(sequences), two.predict_segments(sequences), two.predict_k(sequences, 2)) == whole
    assert all(np.allclose(a, b) for a, b in zip(two.predict_marginals(sequences), probabilities, strict=True))
    plain.set_params(threads=None)


def test_it_learns_what_it_is_shown(plain, marked):
    assert plain.predict(X) == Y
    assert marked.predict(X) == tagged(Y)
    assert marked.labels_.names == ("d", "t", "O")
    assert plain.score(X, Y) == marked.score(X, tagged(Y)) == 1.0
    assert plain.score(Corpus.from_tokens(X, Y)) == 1.0


def blocks(n, seed):
    """Tokens that all look alike: p comes in threes, q in pairs, in turn; T differs."""
    rng, words, labels = np.random.default_rng(seed), [], []
    for T in rng.integers(5, 20, n):
        y = (list("pppqq") * 4)[: 5 * (T // 5)]
        words.append(["x"] * len(y))
        labels.append(y)
    return words, labels


def test_lengths_that_a_chain_cannot_count():
    (X, Y), (Xt, Yt) = blocks(40, 0), blocks(20, 1)
    options = {"features": ["bias"], "l2": 0.01}
    assert CRF(**options).fit(X, Y).score(Xt, Yt) < 0.8
    assert SemiCRF(segment_features=[], max_length=9, **options).fit(X, Y).score(Xt, Yt) < 0.8
    assert SemiCRF(segment_features=["length"], max_length=9, **options).fit(X, Y).score(Xt, Yt) == 1.0


def test_marks_put_borders_where_they_belong():
    rng = np.random.default_rng(2)

    def draw(n):
        X, Y = [], []
        for _ in range(n):
            a, b = rng.integers(1, 7, 2)
            X.append(["x"] * a + ["."] + ["x"] * b)
            Y.append(["p"] * (a + 1) + ["q"] * b)
        return X, Y

    model = SemiCRF(["bias"], segment_features=["punctuation"], l2=0.01).fit(*draw(30))
    assert model.score(*draw(20)) == 1.0
    assert {"last:regex:mark", "inside:regex:mark", "bias"} <= {name for name, _ in model.weights()}


def test_two_neighbours_of_one_field_are_told_apart():
    X = [["a", "x", "a", "x", "x"], ["a", "a", "x"], ["a", "x", "x", "a"]] * 3
    Y = [["B-p" if word == "a" else "I-p" for word in sequence] for sequence in X]
    model = SemiCRF(["lower"], segment_features=["first:lower"], l2=0.01).fit(X, Y)
    assert model.predict([["a", "x", "x", "a", "a"]]) == [["B-p", "I-p", "I-p", "B-p", "B-p"]]
    assert [s[:3] for s in model.predict_segments([["a", "x", "a"]])[0]] == [(0, 2, "p"), (2, 3, "p")]


def test_weights_have_names_and_values(plain):
    weights, names = plain.weights(), plain.labels_.names
    lengths = [weights.get((f"length={n}", "t"), 0.0) for n in range(1, 5)]
    assert lengths == pytest.approx(plain.weights_.lengths[:4, names.index("t")])
    assert weights["first:lower=some", "t"] > 0
    assert weights["last:lower=some", "t"] < 0


def test_unknown_labels_are_summed_over():
    partly = [[None if t % 3 == 1 else a for t, a in enumerate(y)] for y in Y]
    model = SemiCRF(["lower"], max_length=6, l2=0.1).fit(X, partly)
    assert model.score(X, Y) > 0.9
    assert model.labels_.names == ("d", "n", "t")


def test_sample_weights(plain):
    weighted = clone(plain).fit(X, Y, sample_weight=[2, 1, 1, 1])
    repeated = clone(plain).fit([X[0], *X], [Y[0], *Y])
    assert weighted.minimum_.value == pytest.approx(repeated.minimum_.value, rel=1e-4)
    with pytest.raises(InputError, match="sample_weight has shape"):
        clone(plain).fit(X, Y, sample_weight=[1])


def test_an_l1_penalty_leaves_zeros(plain):
    sparse = clone(plain).set_params(l1=0.5, l2=0.0).fit(X, Y)
    assert len(sparse.weights()) < len(plain.weights()) / 2
    assert sparse.score(X, Y) > 0.9


def test_labels_may_be_fixed_in_advance():
    model = SemiCRF(["lower"]).fit(X, tagged(Y), labels=["O", "B-t", "I-t", "B-d", "I-d", "B-z", "I-z"])
    assert model.labels_.names == ("O", "t", "d", "z")
    assert model.classes_.tolist() == ["O", "t", "d", "z"]
    with pytest.raises(LabelError, match="unknown label"):
        SemiCRF(["lower"]).fit(X, Y, labels=["n", "t"])


def test_max_length_holds():
    assert SemiCRF(["lower"]).fit(X, Y).weights_.limit.tolist() == [4, 4, 4]
    assert SemiCRF(["lower"], max_length=9).fit(X, tagged(Y)).weights_.limit.tolist() == [9, 9, 1]
    runs = SemiCRF(["lower"], max_length=9, outside=None).fit(X, tagged(Y))
    assert runs.weights_.limit.tolist() == [9, 9, 9]
    assert runs.predict(X) == tagged(Y)
    with pytest.raises(InputError, match="sequence 0 has a segment of 4 tokens from token 3 on"):
        SemiCRF(["lower"], max_length=3).fit(X, Y)


def test_a_limit_beyond_any_sequence_costs_nothing():
    near, far = (SemiCRF(["lower"], max_length=n, max_iterations=5).fit(X, Y) for n in (9, 10**9))
    assert far.minimum_.value == near.minimum_.value
    assert far.predict(X) == near.predict(X)


def test_a_field_longer_than_any_seen_is_split():
    model = SemiCRF(["lower"], segment_features=[], l2=0.01).fit([["a", "a"], ["a"]], [["p", "p"], ["p"]])
    assert model.predict([["a"] * 9]) == [["p"] * 9]


def test_scikit_learn(plain):
    model = SemiCRF(["lower"], segment_features=["length"], max_iterations=5, max_length=5)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert "max_length=5" in repr(copy)
    sequences, labels = X * 3, Y * 3
    assert (cross_val_score(copy, sequences, labels, cv=KFold(3)) > 0.5).all()
    assert len(cross_val_score(copy, Corpus.from_tokens(X * 3, Y * 3), cv=KFold(3))) == 3
    search = GridSearchCV(copy, {"l2": [0.1, 1.0], "segment_features": [("length",), ()]}, cv=KFold(2))
    assert search.fit(list(X * 2), list(Y * 2)).best_score_ > 0.5
    pipeline = Pipeline([("same", FunctionTransformer()), ("crf", clone(plain))])
    assert pipeline.fit(list(X), list(Y)).predict(list(X)) == Y


@pytest.mark.parametrize("form", ["plain", "marked"])
def test_saved_and_loaded(form, request, tmp_path):
    model = request.getfixturevalue(form)
    model.save(tmp_path / "model.espalier")
    again = load(tmp_path / "model.espalier")
    assert isinstance(again, SemiCRF)
    assert again.segment_features == NAMES
    assert again.predict(X + SHORT) == model.predict(X + SHORT)
    assert again.predict_segments(X) == model.predict_segments(X)
    assert again.weights() == model.weights()


def test_saved_without_segment_features(tmp_path):
    model = SemiCRF(["lower"], segment_features=(), outside=None).fit(X, Y)
    model.save(tmp_path / "model.espalier")
    again = load(tmp_path / "model.espalier")
    assert again.get_params()["outside"] is None
    assert again.predict(X) == model.predict(X)


def test_small_inputs(plain):
    assert (
        plain.predict([]) == plain.predict_segments([]) == plain.predict_marginals([]) == plain.predict_k([], 2) == []
    )
    assert plain.predict([[]]) == [[]]
    assert plain.predict_segments([[]]) == [[]]
    assert plain.predict_k([[]], 2) == [[([], 0.0)]]
    assert [m.shape for m in plain.predict_marginals([[], ["unseen"]])] == [(0, 3), (1, 3)]
    one = SemiCRF().fit([["a"], ["b"], []], [["p"], ["q"], []])
    assert one.predict([["a"], ["b"]]) == [["p"], ["q"]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l2": float("nan")}, "l2 is nan"),
        ({"l1": -1.0}, "l1 is -1.0"),
        ({"max_length": 0}, "max_length is 0; expected a whole number of at least 1"),
        ({"max_length": 2.5}, "max_length is 2.5"),
        ({"max_length": True}, "max_length is True"),
        ({"transitions": "some"}, "expected 'observed' or 'all'"),
        ({"segment_features": ["lenght"]}, "did you mean 'length'"),
        ({"threads": 0}, "threads is 0"),
        ({"features": []}, "at least one template"),
        ({"features": ()}, "at least one template"),
        ({"outside": 3}, "outside is 3; expected a label name or None"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        SemiCRF(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("sequences", "labels", "error", "message"),
    [
        ([], [], InputError, "the training corpus is empty"),
        ([[]], [[]], InputError, "the training corpus is empty"),
        ([["a"]], None, InputError, "fit needs labels"),
        ([["a"]], [[None]], LabelError, "every label is unknown"),
        ([["a", "b"]], [["p"]], InputError, "sequence 0 has 2 tokens but 1 label$"),
        ([["a"]], [["B-p/B-q"]], LabelError, "several levels"),
        (
            [[{"word": "a"}]],
            [["p"]],
            InputError,
            "SemiCRF knows words alone",
        ),
        ("abc", None, InputError, "expected a Corpus or a list"),
    ],
)
def test_wrong_data(sequences, labels, error, message):
    with pytest.raises(error, match=message):
        SemiCRF().fit(sequences, labels)


def test_used_before_fit():
    for call in (SemiCRF().predict, SemiCRF().predict_segments, SemiCRF().potentials, SemiCRF().predict_marginals):
        with pytest.raises(NotFittedError, match="this SemiCRF is not fitted yet"):
            call(X)
    with pytest.raises(NotFittedError):
        SemiCRF().predict_k(X, 2)

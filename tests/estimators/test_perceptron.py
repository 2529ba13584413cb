"""`Perceptron` as an estimator: scikit-learn's conventions, every form of input, bad input, saving."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline

from espalier import store
from espalier.corpus import Corpus
from espalier.errors import InfeasibleError, InputError, LabelError, NotFittedError
from espalier.estimators.perceptron import Perceptron
from espalier.estimators.persist import load
from oracles import backwards, label_counts, labellings

X = [
    ["Ada", "Lovelace", ".", "Notes", "on", "engines", ".", "1843", "."],
    ["A", ".", "Turing", ".", "Computing", "machines", ",", "1950", "."],
    ["Grace", "Hopper", ".", "Compilers", ".", "1952", "."],
    ["E", ".", "Noether", ".", "Invariants", "of", "forms", ".", "1918", "."],
    ["Emil", "Post", ".", "Recursive", "sets", ".", "1944", "."],
    ["A", ".", "Church", ".", "A", "problem", ",", "1936", "."],
]
Y = [
    ["who"] * 3 + ["what"] * 4 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 3 + ["when"] * 2,
    ["who"] * 3 + ["what"] * 2 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 4 + ["when"] * 2,
    ["who"] * 3 + ["what"] * 3 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 3 + ["when"] * 2,
]
CORPUS = Corpus.from_tokens(X, Y)
MODELS = [Perceptron(), Perceptron(pairs="observed"), Perceptron(["lower", "shape"], boundaries=True, averaged=False)]


@pytest.mark.parametrize("model", MODELS)
def test_learns_and_predicts(model: Perceptron) -> None:
    model = clone(model).fit(CORPUS)
    assert model.mistakes_[0] > 0
    assert model.score(CORPUS) == model.score(X, Y) > 0.9
    assert [len(p) for p in model.predict([["Alan", "Kay"], [], ["1999"]])] == [2, 0, 1]


def test_weights_by_hand() -> None:
    """One token, two labels, no features but the bias: the first guess is the lower label, the update corrects it."""
    model = Perceptron(["bias"], epochs=2, averaged=False).fit([["a"]], [["y"]], labels=["x", "y"])
    assert model.weights() == {("bias", "x"): -1.0, ("bias", "y"): 1.0}
    assert model.mistakes_ == (1, 0)
    # The mean of the weights after step 1 and step 2, which are the same.
    assert Perceptron(["bias"], epochs=2).fit([["a"]], [["y"]], labels=["x", "y"]).weights() == model.weights()


@pytest.mark.parametrize("model", MODELS)
def test_marginals_and_k_best_by_enumeration(model: Perceptron) -> None:
    model = clone(model).fit(X, Y)
    new = [["A", ".", "Kay", ",", "1972"], ["1999"], []]
    batch = model.potentials(new)
    marginals, ranked = model.predict_marginals(new), model.predict_k(new, 3)
    for i in range(2):
        every = labellings(batch[i])
        np.testing.assert_allclose(marginals[i], every.expectation(label_counts(batch[i])), atol=1e-9)
        expected = every.ranked(backwards)[:3]
        assert [score for _, score in ranked[i]] == pytest.approx([score for _, score in expected])
    assert marginals[2].shape == (0, 3)


def test_scikit_learn() -> None:
    model = Perceptron(epochs=3, seed=5)
    assert clone(model).get_params() == model.get_params()
    assert Pipeline([("model", Perceptron())]).fit(X, Y).predict(X) == Perceptron().fit(X, Y).predict(X)
    folds = KFold(3)
    by_list = cross_val_score(Perceptron(), X, Y, cv=folds)
    by_corpus = cross_val_score(Perceptron(), CORPUS, cv=folds)
    np.testing.assert_allclose(by_list, by_corpus)
    assert (by_list > 0.5).all()
    for data in ((X, Y), (CORPUS,)):
        grid = GridSearchCV(Perceptron(), {"epochs": [1, 5]}, cv=folds, error_score="raise").fit(*data)
        assert len(grid.cv_results_["params"]) == 2
        assert grid.best_estimator_.predict(X[:1])[0][0] == "who"


def test_seed_and_second_fit() -> None:
    first = Perceptron(seed=3).fit(X, Y).weights()
    assert Perceptron(seed=3).fit(X[:2], Y[:2]).fit(X, Y).weights() == first
    assert Perceptron(seed=4).fit(X, Y).weights() != first


def test_ready_attributes() -> None:
    attributes = [[{"word": token, "length": len(token) / 10} for token in tokens] for tokens in X]
    model = Perceptron(epochs=30).fit(attributes, Y)
    assert model.score(attributes, Y) > 0.9


def test_weights_scale_updates() -> None:
    """All weights doubled double the model; a sequence of weight zero teaches nothing."""
    once = Perceptron().fit(X, Y).weights()
    twice = Perceptron().fit(X, Y, sample_weight=[2.0] * 6).weights()
    assert twice == pytest.approx({key: 2 * value for key, value in once.items()})
    silent = Perceptron(["lower"], shuffle=False).fit(X, Y, sample_weight=[1, 1, 1, 1, 1, 0])
    assert not any("church" in name for name, _ in silent.weights())
    for wrong in ([1], [1, 1, 1, 1, 1, -1], [1, 1, 1, 1, 1, math.nan]):
        with pytest.raises(InputError, match="sample_weight"):
            Perceptron().fit(X, Y, sample_weight=wrong)


def test_unknown_labels() -> None:
    partial = [[label if t % 3 != 1 else None for t, label in enumerate(y)] for y in Y]
    model = Perceptron(epochs=30).fit(X, partial)
    assert model.score(X, partial) > 0.9
    nothing_known = [*Y[:-1], [None] * len(Y[-1])]
    assert not any("church" in name for name, _ in Perceptron(["lower"]).fit(X, nothing_known).weights())
    with pytest.raises(InfeasibleError, match="sequence 0"):
        Perceptron().fit([["a", "b", "c"]], [["B-x", None, "I-y"]])


def test_a_label_never_seen_and_one_never_heard_of() -> None:
    model = Perceptron().fit(X, Y, labels=["when", "who", "what", "where"])
    assert model.labels_.names == ("when", "who", "what", "where")
    assert model.predict_marginals(X)[0].shape == (9, 4)
    with pytest.raises(LabelError, match="unknown label 'when'"):
        Perceptron().fit(X, Y, labels=["who", "what"])
    assert Perceptron().fit(X, Y).score([["Ada"]], [["never"]]) == 0.0


@pytest.mark.parametrize("model", MODELS)
def test_saving(model: Perceptron, tmp_path: Path) -> None:
    model = clone(model).fit(X, Y)
    model.save(tmp_path / "m")
    assert store.load(tmp_path / "m")[0]["kind"] == "perceptron"
    again = load(tmp_path / "m")
    assert isinstance(again, Perceptron)
    new = [*X, ["Never", "seen", ";", "77", "-"]]
    assert again.predict(new) == model.predict(new)
    assert again.weights() == model.weights()
    for a, b in zip(again.predict_marginals(new), model.predict_marginals(new), strict=True):
        np.testing.assert_array_equal(a, b)


def test_bad_input() -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        Perceptron().predict(X)
    with pytest.raises(InputError, match="empty"):
        Perceptron().fit([], [])
    with pytest.raises(InputError, match="empty"):
        Perceptron().fit([[]], [[]])
    with pytest.raises(LabelError, match="every label is unknown"):
        Perceptron().fit([["a"]], [[None]])
    fitted = Perceptron().fit([[], ["a", "b"], [], ["a"]], [[], ["x", "y"], [], ["x"]])
    assert fitted.predict([[], ["a"]]) == [[], ["x"]]
    assert fitted.predict([]) == fitted.predict_marginals([]) == fitted.predict_k([], 2) == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"epochs": 2.5}, "epochs is 2.5"),
        ({"epochs": math.nan}, "epochs is nan"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": None}, "seed is None"),
        ({"pairs": "some"}, "expected 'all' or 'observed'"),
    ],
)
def test_bad_parameters(parameters: dict, message: str) -> None:
    model = Perceptron(**parameters)  # the constructor only stores
    with pytest.raises(InputError, match=message):
        model.fit(X, Y)

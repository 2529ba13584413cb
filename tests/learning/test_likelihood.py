"""The CRF's objective against enumeration, finite differences and CRFsuite itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.errors import InfeasibleError
from espalier.learning.likelihood import ChainLikelihood
from espalier.models.linear import ChainModel, Pairs
from feature_matrices import random_matrix
from oracles import labellings


def random_problem(seed, L, lengths, *, unknown=0.0, forbid=False, threads=1):
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    matrix = random_matrix(rng, n_tokens=int(indptr[-1]))
    y = rng.integers(0, L, indptr[-1]).astype(np.int16)
    learned = rng.random((L, L)) < 0.6
    allowed, start = np.ones((L, L), bool), np.ones(L, bool)
    if forbid:
        allowed, start = rng.random((L, L)) < 0.7, rng.random(L) < 0.7
        for a, b in pairwise(indptr):
            if b > a:
                start[y[a]] = True
                allowed[y[a : b - 1], y[a + 1 : b]] = True
    y[rng.random(len(y)) < unknown] = -1
    pairs = Pairs.observed(matrix, y, L)
    weight = rng.random(len(lengths)) + 0.1
    f = ChainLikelihood(matrix, indptr, y, pairs, learned, start, allowed, weight, threads)
    return f, matrix, indptr, y, pairs, learned & allowed, start, allowed, weight, rng


def enumerated(w, matrix, indptr, y, pairs, learned, start, allowed, weight):
    """f(w) by adding up all labellings."""
    L = len(start)
    trans = np.where(allowed, 0.0, -np.inf)
    trans[learned] = w[len(pairs) :]
    model = ChainModel(pairs, w[: len(pairs)], trans, np.where(start, 0.0, -np.inf), np.zeros(L))
    batch = model.potentials(matrix, indptr, 1)
    total = 0.0
    for i in range(len(batch)):
        gold = y[indptr[i] : indptr[i + 1]]
        if not len(gold):
            continue
        every = labellings(batch[i])
        kept = labellings(batch[i].clamp({t: int(label) for t, label in enumerate(gold) if label >= 0}))
        total += weight[i] * (every.log_z - kept.log_z)
    return total


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    st.integers(0, 10**6), st.integers(1, 4), st.lists(st.integers(0, 4), min_size=1, max_size=12), st.booleans(),
    st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_value_equals_enumeration_and_gradient_finite_differences(seed, L, lengths, forbid, unknown):
    if not sum(lengths):
        return
    f, *problem, rng = random_problem(seed, L, lengths, unknown=unknown, forbid=forbid)
    w = rng.normal(size=f.n_parameters)
    value, gradient = f(w)
    assert value == pytest.approx(enumerated(w, *problem), abs=1e-8)
    for k in rng.choice(f.n_parameters, min(f.n_parameters, 6), replace=False):
        step = np.zeros(f.n_parameters)
        step[k] = 1e-5
        slope = (f(w + step)[0] - f(w - step)[0]) / 2e-5
        assert gradient[k] == pytest.approx(slope, abs=1e-5)


def test_weights_far_apart_take_the_log_space_kernel():
    f, *problem, rng = random_problem(3, 3, [4, 2, 5, 3], forbid=True)
    for scale in (100.0, 400.0):
        w = scale * rng.normal(size=f.n_parameters)
        value, gradient = f(w)
        assert value == pytest.approx(enumerated(w, *problem), rel=1e-9, abs=1e-6)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("strength", [240.0, 260.0, 800.0, 1e5])
def test_transitions_beyond_the_range_of_exponentials(strength):
    """A trial step of the optimiser may go that far; warnings are errors here."""
    f, *problem, rng = random_problem(11, 3, [4, 3, 1])
    w = rng.normal(size=f.n_parameters)
    w[-f.from_label.size :] = strength * rng.choice([-1.0, 1.0], f.from_label.size)
    value, gradient = f(w)
    assert value == pytest.approx(enumerated(w, *problem), rel=1e-9)
    for k in range(f.n_parameters):
        step = np.zeros(f.n_parameters)
        step[k] = 1e-3
        slope = (enumerated(w + step, *problem) - enumerated(w - step, *problem)) / 2e-3
        assert gradient[k] == pytest.approx(slope, abs=1e-4)


def test_threads_do_not_change_a_digit():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 30, 400)
    f, g = (random_problem(0, 5, lengths, threads=threads)[0] for threads in (1, 3))
    w = rng.normal(size=f.n_parameters)
    one, many = f(w), g(w)
    assert one[0] == many[0]
    assert np.array_equal(one[1], many[1])


def test_forbidden_labels_in_the_data_are_an_error():
    rng = np.random.default_rng(0)
    matrix = random_matrix(rng, n_tokens=3)
    y = np.array([0, 1, 0], np.int16)
    none = np.zeros((2, 2), bool)
    f = ChainLikelihood(
        matrix, np.array([0, 3]), y, Pairs.observed(matrix, y, 2), none, np.ones(2, bool), none, None, threads=1
    )
    with pytest.raises(InfeasibleError, match="sequence 0"):
        f(np.zeros(f.n_parameters))


def test_objective_equals_crfsuite(tmp_path):
    """At CRFsuite's own final weights, our objective is the loss it reports, to 1e-6 relative."""
    import pycrfsuite

    from espalier.corpus import Corpus
    from espalier.estimators.crf import CRF
    from espalier.features.matrix import GivenIndex

    rng = np.random.default_rng(5)
    words = [f"w{k}" for k in range(40)]
    X = [[[f"a={words[rng.integers(40)]}", f"b={rng.integers(7)}", "bias"] for _ in range(rng.integers(1, 12))]
         for _ in range(60)]  # fmt: skip
    y = [[f"L{(int(t[1][2:]) + rng.integers(2)) % 4}" for t in sequence] for sequence in X]
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 0.7, "max_iterations": 60})
    for attributes, labels in zip(X, y, strict=True):
        trainer.append(attributes, labels)
    path = str(tmp_path / "model")
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    info = tagger.info()

    index, matrix = GivenIndex.fit_transform(X)
    corpus = Corpus.from_tokens([[""] * len(s) for s in X], y)
    data = CRF.training_set(corpus, matrix, None)
    pairs = Pairs.observed(matrix, data.y, data.n_labels)
    f = ChainLikelihood(
        matrix, data.indptr, data.y, pairs, data.observed_transitions, data.start_allowed, data.allowed, None, 1
    )
    names, label = index.names(), corpus.labels
    w = np.zeros(f.n_parameters)
    attributes = pairs.attributes()
    for p in range(len(pairs)):
        w[p] = info.state_features.get((names[attributes[p]], label[int(pairs.label[p])]), 0.0)
    for k, (i, j) in enumerate(zip(f.from_label, f.to_label, strict=True)):
        w[len(pairs) + k] = info.transitions.get((label[int(i)], label[int(j)]), 0.0)
    loss = float(trainer.logparser.iterations[-1]["loss"])
    assert f(w)[0] + 0.7 * float(w @ w) == pytest.approx(loss, rel=1e-6)
    assert len(info.state_features) <= len(pairs)


def test_features_hundreds_of_units_strong():
    """The objective stays a likelihood, never below zero, however large the values are."""
    from espalier.estimators.crf import CRF

    rng = np.random.default_rng(16)
    X = [
        [{f"f{k}": float(rng.normal(0, 3000)) for k in range(3)} for _ in range(rng.integers(1, 12))] for _ in range(12)
    ]
    y = [[["O", "B-x", "I-x"][rng.integers(2)] for _ in sequence] for sequence in X]
    model = CRF(l2=0.01, max_iterations=60).fit(X, y)
    assert model.minimum_.value - 0.01 * float(model.minimum_.x @ model.minimum_.x) > -1e-9

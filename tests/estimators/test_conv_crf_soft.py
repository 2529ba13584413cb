"""`ConvCRF` with soft labels, a teacher, raw text, and a run that is interrupted."""

from __future__ import annotations

import numpy as np
import pytest
from test_conv_crf import sentences, small

import espalier as es
from espalier import store
from espalier.errors import InputError
from espalier.learning.net_training import Progress


@pytest.fixture(scope="module")
def teacher():
    return es.CRF(["lower", "lower[-1,1]"]).fit(*sentences(60))


def test_a_teacher_alone_is_enough(teacher) -> None:
    X, y = sentences(60, seed=5)
    model = small().fit(X, teacher=teacher)
    assert model.labels_ == teacher.labels_
    assert model.score(X, y) == 1.0


def test_raw_text_is_labelled_by_the_teacher(teacher) -> None:
    X, y = sentences(2)
    pool, gold = sentences(60, seed=5)
    without = small(epochs=10).fit(X, y)
    model = small(epochs=10).fit(X, y, teacher=teacher, unlabelled=pool)
    assert model.score(pool, gold) > without.score(pool, gold)


def test_probabilities_are_learned_as_they_are() -> None:
    """Of two words that look alike one is A with probability 0.8: so says the net."""
    X = [["spam", "ham"]] * 40
    soft = [np.array([[0.8, 0.2], [0.1, 0.9]], np.float32)] * 40
    model = small(epochs=60, crf_epochs=0).fit(X, soft=soft, labels=["A", "B"])
    np.testing.assert_allclose(model.predict_marginals(X[:1])[0], soft[0], atol=0.06)
    by_sequence = small(epochs=60, crf_epochs=30, crf_rate=0.01).fit(X, soft=soft, labels=["A", "B"])
    np.testing.assert_allclose(by_sequence.predict_marginals(X[:1])[0], soft[0], atol=0.06)
    one_array = small(epochs=60, crf_epochs=0).fit(X, soft=np.concatenate(soft), labels=["A", "B"])
    np.testing.assert_array_equal(one_array.net_.weights["output"], model.net_.weights["output"])


def test_the_share_of_soft_labels() -> None:
    X, y = [["spam"]] * 40, [["A"]] * 40
    soft = [np.array([[0.0, 1.0]], np.float32)] * 40
    options = {"epochs": 60, "crf_epochs": 0}
    for share in (0.0, 0.5, 0.7, 1.0):
        model = small(soft_share=share, **options).fit(X, y, soft=soft, labels=["A", "B"])
        assert model.predict_marginals([["spam"]])[0][0, 1] == pytest.approx(share, abs=0.08)


def test_copies_have_labels_of_their_own() -> None:
    X, y = sentences(8)
    L = 4
    soft = [np.full((5, L), 0.25, np.float32)] * 8
    model = small(copies=2, epochs=30).fit(X, y, soft=soft)
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"unlabelled": [["a"]]}, "from a teacher; pass teacher="),
        ({"soft": [np.zeros((5, 4))]}, "2 sequences but soft labels of 1"),
        ({"soft": [np.zeros((5, 3))] * 2}, "expected \\(5, 4\\)"),
        ({"soft": np.zeros((9, 4))}, "expected floats of the shape"),
        ({"soft": np.full((10, 4), np.nan)}, "finite"),
        ({"soft": -np.ones((10, 4))}, "not negative"),
    ],
)
def test_soft_labels_that_do_not_fit(arguments, what) -> None:
    with pytest.raises(InputError, match=what):
        small().fit(*sentences(2), **arguments)


def test_labels_that_the_teacher_alone_has(teacher) -> None:
    X, _ = sentences(2)
    with pytest.raises(InputError, match="the teacher has the label 'I-who'"):
        small().fit([["Ann"]], [["B-who"]], teacher=teacher, labels=["B-where", "B-who", "O"])
    with pytest.raises(InputError, match="soft labels have no names"):
        small().fit(X, soft=[np.zeros((5, 2))] * 2)


class Stop(Exception):
    """What an interruption raises."""


@pytest.mark.parametrize("options", [{}, {"average": 0.9}, {"patience": 3}])
@pytest.mark.parametrize("after", [1, 3, 5])
def test_an_interrupted_run_ends_as_it_would_have(tmp_path, options, after) -> None:
    X, y = sentences(40)
    dev = sentences(10, seed=3) if "patience" in options else None
    plan = {"epochs": 4, "crf_epochs": 2} | options
    whole = small(**plan).fit(X, y, dev=dev)

    def stop(seen: Progress) -> None:
        if seen.epoch == after + 1:
            raise Stop

    path = tmp_path / "run.espalier"
    try:
        small(progress=stop, **plan).fit(X, y, dev=dev, checkpoint=path)
    except Stop:
        assert store.load(path)[0]["epoch"] == after
    again = small(**plan).fit(X, y, dev=dev, checkpoint=path)
    for name, w in whole.net_.weights.items():
        np.testing.assert_array_equal(again.net_.weights[name], w)
    assert [seen[:5] for seen in again.history_] == [seen[:5] for seen in whole.history_]
    done = small(**plan).fit(X, y, dev=dev, checkpoint=path)  # nothing is left to do
    np.testing.assert_array_equal(done.net_.weights["output"], whole.net_.weights["output"])


def test_the_checkpoint_of_another_run_is_refused(tmp_path) -> None:
    X, y = sentences(10)
    path = tmp_path / "run.espalier"
    small(epochs=1).fit(X, y, checkpoint=path)
    for options, more in (({"seed": 1}, {}), ({"rate": 0.1}, {}), ({}, {"sample_weight": [2.0] * 10})):
        with pytest.raises(InputError, match="other data or parameters"):
            small(epochs=1, **options).fit(X, y, checkpoint=path, **more)

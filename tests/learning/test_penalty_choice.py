"""Folds choose between counted and trained penalties, and none."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier.errors import InputError

WORDS = ["ulm", "rome", "ann", "bob", "eve", "pau"]


def data(n: int, rng: np.random.Generator) -> tuple[list[list[str]], list[list[str]]]:
    X = [[str(word) for word in rng.choice(WORDS, 4)] for _ in range(n)]
    return X, [["where" if word in ("ulm", "rome", "pau") else "who" for word in tokens] for tokens in X]


def test_a_rule_that_is_wrong_is_switched_off() -> None:
    X, Y = data(60, np.random.default_rng(0))
    X = [[word + str(i % 7) for i, word in enumerate(tokens)] for tokens in X]  # the model alone is unsure
    wrong = es.CCM(es.CRF(["lower"]), "Wrong: token ~ /u.*/ -> who", kept_prior=1e6).fit(X, Y)
    assert wrong.choice_ is not None
    assert wrong.choice_.way != "count"
    assert wrong.choice_.mistakes["count"] > wrong.choice_.mistakes["off"]
    assert wrong.score(X, Y) > 0.9


def test_without_a_clear_difference_penalties_are_counted() -> None:
    X, Y = data(40, np.random.default_rng(1))
    model = es.CCM(es.CRF(), 'Right: token in "ulm" -> where').fit(X, Y)
    assert model.choice_ is not None
    assert model.choice_.way == "count"
    assert model.penalties_ == es.CCM(es.CRF(), 'Right: token in "ulm" -> where', "count").fit(X, Y).penalties_


def test_where_nothing_is_to_choose_they_are_counted() -> None:
    X, Y = data(8, np.random.default_rng(2))
    rule = 'R: token in "ulm" -> where'
    for model in (es.CCM(es.CRF(), rule), es.CCM(es.HMM(), rule), es.CCM(es.CRF(), rule + " [penalty 2]")):
        assert model.fit(X, Y).choice_ is None
    more = data(20, np.random.default_rng(3))
    assert es.CCM(es.SemiCRF(), "R: length(who) <= 9").fit(*more).choice_ is None


def test_dev_chooses_too() -> None:
    X, Y = data(30, np.random.default_rng(4))
    model = es.CCM(es.CRF(), 'R: token in "ulm" -> where').fit(X, Y, dev=data(10, np.random.default_rng(5)))
    assert model.choice_ is not None


def test_counting_is_that_of_the_base() -> None:
    assert es.CCM(es.HMM(), "").counting()["over"] == "tokens"
    assert es.CCM(es.Perceptron(), "").counting()["kept_prior"] == 15.0
    assert es.CCM(es.CRF(), "").counting() == {"over": "applicable", "kept_prior": 150.0, "violated_prior": 0.25}
    assert es.CCM(es.CRF(), "", over="tokens", kept_prior=3.0).counting()["kept_prior"] == 3.0


def test_codl_over_a_crf_needs_no_advice() -> None:
    X, Y = data(12, np.random.default_rng(6))
    rule = 'R: token in "ulm" -> where'
    model = es.CoDL(es.CCM(es.CRF(), rule)).fit(X, Y, unlabelled=X)
    assert model.predict([["ulm", "ann"]]) == [["where", "who"]]
    with pytest.raises(InputError, match="update='pool'"):
        es.CoDL(es.CCM(es.CRF(), rule), update="interpolate").fit(X, Y, unlabelled=X)

"""`WordLearner`: what raw text adds, what it must not change, and what is refused."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest

import espalier as es
from espalier import store
from espalier.errors import InputError, ResultWarning
from espalier.estimators.base import fresh

FRUIT = ["plum", "fig", "pear", "quince", "apple", "medlar"]
PLACES = ["Ely", "Wye", "Rye", "Ulm", "Pau", "Bath"]
X = [["plum", "in", "Ely"], ["fig", "near", "Wye"]]
Y = [["what", "O", "where"], ["what", "O", "where"]]
RAW = [[what, word, where.lower()] for what, word, where in itertools.product(FRUIT, ("in", "near"), PLACES)]
TEXT = [["quince", "near", "bath"], ["medlar", "in", "ulm"], ["pau", "near", "apple"]]
RULES = 'Place: previous token in "in", "near" -> where'
SMALL = {"clusters": [4], "dimensions": 2}
BARE = ["word"]  # without classes of words a model with these knows nothing of an unseen word


def test_words_that_are_used_alike_are_labelled_alike() -> None:
    lower = [[token.lower() for token in tokens] for tokens in X]
    alone = es.CRF(BARE).fit(lower, Y)
    [_, _, unseen] = alone.predict_marginals(TEXT)
    assert np.allclose(unseen[0], alone.predict_marginals([["other", "near", "thing"]])[0][0])
    worded = es.WordLearner(es.CRF(BARE), **SMALL).fit(lower, Y, unlabelled=RAW)
    assert worded.predict(TEXT[:2]) == [["what", "O", "where"]] * 2
    assert worded.predict([["bath"], ["medlar"]]) == [["where"], ["what"]]  # by the words, not by their places
    assert [step.step for step in worded.history_] == [1]
    assert worded.history_[0].words == len({*FRUIT, *map(str.lower, PLACES), "in", "near"})
    assert (worded.cycle_, worded.score_, worded.supervised_score_) == (1, None, None)


def test_the_labels_of_the_pool_are_not_looked_at() -> None:
    wrong = es.Corpus.from_tokens(RAW, [["where", "what", "O"]] * len(RAW))
    one = es.WordLearner(es.CRF(), **SMALL).fit(X, Y, unlabelled=RAW)
    other = es.WordLearner(es.CRF(), **SMALL).fit(X, Y, unlabelled=wrong)
    assert all(map(np.array_equal, one.predict_marginals(TEXT), other.predict_marginals(TEXT)))


def test_held_out_data_may_choose_the_model_without_raw_text() -> None:
    """By judges that agree with the model without raw text none is better."""
    model = es.WordLearner(es.CRF(BARE), **SMALL)
    lower = [[token.lower() for token in tokens] for tokens in X]
    plain = es.CRF(BARE).fit(lower, Y)
    kept = fresh(model).fit(lower, Y, unlabelled=RAW, dev=(TEXT, plain.predict(TEXT)))
    assert (kept.cycle_, kept.score_) == (0, 1.0)
    assert kept.predict([["bath"]]) == plain.predict([["bath"]])
    good = fresh(model).fit(lower, Y, unlabelled=RAW, dev=([["medlar"], ["bath"]], [["what"], ["where"]]))
    assert (good.cycle_, good.score_) == (1, 1.0)
    assert good.supervised_score_ == plain.score([["medlar"], ["bath"]], [["what"], ["where"]]) < 1


def test_guesses_are_for_few_labels_under_rules() -> None:
    ruled = es.CCM(es.CRF(), RULES)
    steps = [
        len(es.WordLearner(model, **SMALL, **more).fit(X, Y, unlabelled=RAW).history_)
        for model, more in ((ruled, {}), (ruled, {"guesses": 0}), (ruled, {"few": 1}), (es.CRF(), {}))
    ]
    assert steps == [2, 1, 1, 1]


def test_guesses_are_learned_with_their_weight() -> None:
    """The same by hand: the pool with the labels of the model under its rules, at 5 sequences in all."""
    taught = es.WordLearner(es.CCM(es.CRF(), RULES), **SMALL).fit(X, Y, unlabelled=RAW)
    alone = es.WordLearner(es.CCM(es.CRF(), RULES), guesses=0, **SMALL).fit(X, Y, unlabelled=RAW)
    weight = [1.0] * len(X) + [5 / len(RAW)] * len(RAW)
    by_hand = fresh(alone.model_.base_).fit(X + RAW, Y + alone.predict(RAW), sample_weight=weight)
    for ours, theirs in zip(taught.model_.base_.predict_marginals(TEXT), by_hand.predict_marginals(TEXT), strict=True):
        assert np.allclose(ours, theirs, atol=1e-6)


def test_a_file_answers_the_same_and_can_be_fitted_again(tmp_path: Path) -> None:
    model = es.WordLearner(es.CCM(es.CRF(), RULES), **SMALL).fit(X, Y, unlabelled=RAW)
    model.save(tmp_path / "m.espalier")
    loaded = es.load(tmp_path / "m.espalier").model
    assert loaded.predict(TEXT) == model.predict(TEXT)
    assert loaded.clusters == tuple(SMALL["clusters"])
    assert store.load(tmp_path / "m.espalier")[0]["clusters"] == [4]  # `espalier info` shows it
    again = fresh(loaded).fit(X, Y, unlabelled=RAW)
    assert again.predict(TEXT) == model.predict(TEXT)
    assert str(loaded.explain(TEXT[0])) == str(model.explain(TEXT[0]))


def test_next_to_no_text_teaches_nothing_and_says_so() -> None:
    with pytest.warns(ResultWarning, match="too little raw text"):
        model = es.WordLearner(es.CRF()).fit(X, Y, unlabelled=[["plum"]])
    assert model.cycle_ == 0
    assert model.predict(TEXT) == es.CRF().fit(X, Y).predict(TEXT)
    with pytest.warns(ResultWarning, match=r"216 tokens, beside 240 with labels"):
        assert es.WordLearner(es.CRF(), **SMALL).fit(X * 40, Y * 40, unlabelled=RAW).cycle_ == 0
    with pytest.warns(ResultWarning, match="pool is empty"):
        assert es.WordLearner(es.CRF()).fit(X, Y, unlabelled=[]).cycle_ == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert es.WordLearner(es.CRF()).fit(X, Y, unlabelled=RAW).cycle_ == 1  # fewer classes than the default


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (es.WordLearner(es.HMM()), "HMM has no features"),
        (es.WordLearner(es.CCM(es.HMM(), RULES)), "HMM has no features"),
        (es.WordLearner(es.CRF(), guesses=-1), "guesses is -1"),
        (es.WordLearner(es.CRF(), clusters=[]), "clusters is"),
        (es.WordLearner(es.CRF(prior=es.CRF().fit(X, Y).learned_)), "a model with a prior"),
    ],
)
def test_what_is_refused(model: es.WordLearner, what: str) -> None:
    with pytest.raises(InputError, match=what):
        model.fit(X, Y, unlabelled=RAW)

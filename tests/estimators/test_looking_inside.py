"""What people from sklearn-crfsuite look for: one sequence, weights, transitions, scorers for scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import espalier as es
from espalier.metrics.scorers import exact_records, field_f1, macro_f1, token_accuracy_score

X = [["Plum", "35"], ["Pear", "40"], ["Plum", "in", "Ludlow"], ["Fig", "12"]]
Y = [["B-fruit", "B-price"], ["B-fruit", "B-price"], ["B-fruit", "O", "B-place"], ["B-fruit", "B-price"]]


@pytest.fixture(scope="module")
def model() -> es.CRF:
    return es.CRF(l2=0.1).fit(X, Y)


def test_one_sequence(model: es.CRF) -> None:
    assert model.predict_single(X[2]) == model.predict([X[2]])[0]
    assert model.predict_single([]) == []
    with pytest.raises(es.EspalierError, match="takes a list of tokens, not a string; an Extractor takes texts"):
        model.predict_single("Plum 35")


def test_transitions_and_weights_are_those_of_the_scores(model: es.CRF) -> None:
    """The score of a labelling, added up by hand from what the two say, is the score that decoding gives."""
    transitions, weights = model.transition_weights(), model.weights()
    potentials = model.potentials([X[0]])[0]
    names = list(model.classes_)
    for (first, second), weight in transitions.items():
        assert potentials.trans[names.index(first), names.index(second)] == weight
    assert transitions["B-fruit", "B-price"] > 0
    assert ("O", "I-fruit") not in transitions or transitions["O", "I-fruit"] == -np.inf
    top = model.top_weights("B-price", 3)
    assert top == sorted(top, key=lambda pair: (-pair[1], pair[0]))
    assert len(top) <= 6
    assert all(weights[name, "B-price"] == weight for name, weight in top)
    with pytest.raises(es.EspalierError, match=r"no label 'B-prise'; did you mean 'B-price'\?"):
        model.top_weights("B-prise")


@pytest.mark.parametrize("scorer", [field_f1, macro_f1, exact_records, token_accuracy_score])
def test_scorers_are_what_evaluate_says(model: es.CRF, scorer: object) -> None:
    wrong = [["B-fruit", "B-price"], ["B-fruit", "O"], ["B-fruit", "O", "B-price"], ["B-fruit", "B-price"]]
    report = es.evaluate(wrong, model.predict(X))
    each = [score.f1 for score in report.segments.per_field.values()]
    expected = {
        field_f1: report.field_f1,
        macro_f1: sum(each) / len(each),
        exact_records: 0.5,
        token_accuracy_score: 7 / 9,
    }
    assert scorer(model, X, wrong) == pytest.approx(expected[scorer])  # type: ignore[operator, index]


def test_scikit_learn_takes_them() -> None:
    scores = cross_val_score(es.CRF(l2=0.1), X * 3, Y * 3, scoring=field_f1, cv=2)
    assert np.isfinite(scores).all()
    search = GridSearchCV(es.CRF(), {"l2": [0.1, 1.0]}, scoring=macro_f1, cv=2).fit(X * 3, Y * 3)
    assert np.isfinite(search.best_score_)
    corpus = es.Corpus.from_tokens(X, Y)
    assert field_f1(es.CRF(l2=0.1).fit(corpus), corpus) > 0
    with pytest.raises(es.EspalierError, match="a scorer needs y"):
        field_f1(es.CRF().fit(X, Y), X)

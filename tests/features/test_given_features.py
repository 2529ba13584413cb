"""Features of one's own, mappings and vectors, beside words: under rules, in every learner, and in model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import espalier as es
from espalier.errors import InputError
from espalier.estimators.persist import load
from espalier.features.fields import default_templates
from espalier.features.matrix import FeatureMatrix, side_by_side

WORDS = [["Ann", "left", "Ulm"], ["Bob", "saw", "Rome"], ["Ulm", "saw", "Ann"], ["Eve", "left", "Rome"]]
LABELS = [["who", "O", "where"], ["who", "O", "where"], ["where", "O", "who"], ["who", "O", "where"]]
KINDS = {"who": [1.0, 0.0], "O": [0.0, 0.0], "where": [0.0, 1.0]}
RULE = 'Town: token in "Ulm", "Rome", "Pau" -> where'


def tokens(words: list[list[str]], labels: list[list[str]]) -> list[list[dict[str, Any]]]:
    """Return mappings of which the vector alone says what is what in new text."""
    return [
        [
            {"token": word, "pos": "N" if word.istitle() else "V", "vector": np.array(KINDS[label])}
            for word, label in zip(*both, strict=True)
        ]
        for both in zip(words, labels, strict=True)
    ]


X, NEW = tokens(WORDS, LABELS), tokens([["Zoe", "met", "Kim"]], [["where", "O", "who"]])


def learners() -> list[Any]:
    crf = es.CRF(["lower"], l2=0.01)
    ruled = es.CCM(crf, "Once: each field once")
    return [
        crf,
        es.Perceptron(["lower"]),
        ruled,
        es.CCM(es.Perceptron(["lower"]), "Once: each field once", training="IBT"),
        es.CoDL(ruled),
        es.WordLearner(ruled, clusters=[2], dimensions=2, min_count=1),
    ]


@pytest.mark.parametrize("learner", learners(), ids=lambda one: repr(one)[:40])
def test_every_learner_takes_them_and_files_keep_them(learner: Any, tmp_path: Path) -> None:
    more = {"unlabelled": X * 3} if hasattr(learner, "_models") else {}
    model = learner.fit(X, LABELS, **more)
    assert model.predict(NEW) == [["where", "O", "who"]]
    model.save(tmp_path / "own.espalier")
    again = load(tmp_path / "own.espalier")
    assert again.predict(NEW) == model.predict(NEW)
    assert again.predict(X) == model.predict(X)


def test_rules_see_the_words() -> None:
    model = es.CCM(es.CRF(["shape"]), RULE, "hard").fit(X, LABELS)
    assert model.predict([[{"token": "Pau", "pos": "N"}]]) == [["where"]]


def test_templates_and_what_was_given_are_learned_side_by_side() -> None:
    both = es.CRF(["lower"]).fit(X, LABELS)
    names = {name for name, _ in both.weights()}
    assert {"pos=N", "vector:0", "vector:1"} <= names
    assert any("ulm" in name for name in names)
    alone = es.CRF(["lower"]).fit(WORDS, LABELS)
    assert {name for name, _ in alone.weights()} == {n for n in names if "pos" not in n and "vector" not in n}


def test_vectors_alone() -> None:
    vectors = [np.array([KINDS[y] for y in labels]) for labels in LABELS]
    model = es.CRF(l2=0.01).fit(vectors, LABELS)
    assert model.predict([np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])]) == [["where", "O", "who"]]


def test_the_matrix_of_both_is_the_two_matrices() -> None:
    corpus = es.Corpus.from_tokens(X)
    words, one = es.CRF(default_templates()).extractor().fit_transform(corpus)
    vocabulary: dict[str, int] = {}
    other = FeatureMatrix.from_attributes(corpus.given_lists(), vocabulary, grow=True)
    both = side_by_side(one, other)
    expected = np.hstack([one.to_csr().toarray(), other.to_csr().toarray()])
    assert np.array_equal(both.to_csr().toarray(), expected)
    assert words.n_attributes + len(vocabulary) == both.n_attributes


def test_a_corpus_keeps_them_with_its_tokens() -> None:
    corpus = es.Corpus.from_tokens(X, LABELS)
    assert [token["token"] for token in corpus[1:3].given or ()] == ["Bob", "saw", "Rome", "Ulm", "saw", "Ann"]
    assert (corpus + corpus)[4:].given == corpus.given
    with pytest.raises(InputError, match="only one of two"):
        corpus + es.Corpus.from_tokens(WORDS, LABELS)


@pytest.mark.parametrize(
    ("attempt", "complaint"),
    [
        (lambda: es.CRF().fit([[{"token": "a"}, "b"]], [["x", "x"]]), "a word, 'b', among tokens that are features"),
        (lambda: es.CRF().fit([[{"token": 7}]], [["x"]]), '"token" is int'),
        (lambda: es.HMM().fit(X, LABELS), "HMM knows words alone"),
        (lambda: es.SemiCRF().fit(X, LABELS), "SemiCRF knows words alone"),
        (lambda: es.CRF().fit(X, LABELS).predict(WORDS), "trained on ready attributes"),
        (lambda: es.CRF().fit(WORDS, LABELS).predict([[{"pos": "N"}]]), "trained on words"),
        (lambda: es.CRF().fit([[{"v": np.array([np.nan])}]], [["x"]]), "expected a finite number"),
    ],
)
def test_what_is_refused(attempt: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        attempt()

"""What every estimator keeps to, whatever it learns: label names, scikit-learn's folds, parameters in files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import espalier as es
from espalier.corpus import Corpus
from espalier.errors import InputError, LabelError, ModelFileError
from espalier.estimators.base import fresh
from espalier.estimators.persist import pack, unpack

X = [["a", "b", "c"], ["b", "c", "a"], ["a", "c"], ["b", "a"]]
Y = [["P", "Q", "R"], ["Q", "R", "P"], ["P", None], ["Q", "P"]]
NAMES = ("R", "Z", "Q", "P")  # another order than that of the data, and a label that they lack
RULES = "Once: each field once"

LEARNERS = {
    "hmm": es.HMM(),
    "perceptron": es.Perceptron(),
    "crf": es.CRF(),
    "semicrf": es.SemiCRF(),
    "experts": es.Experts([es.CRF(), es.HMM()]),
    "conv_crf": es.ConvCRF(8, dilations=(1,), embedding=8, buckets=64, min_steps=100),
    "ccm": es.CCM(es.HMM(), RULES),
    "two_stage": es.TwoStage(es.HMM(), RULES, tau=0.9),
}
TAUGHT = {
    "codl": es.CoDL(es.CCM(es.HMM(), RULES), cycles=1),
    "words": es.WordLearner(es.CCM(es.CRF(), RULES), clusters=[2], dimensions=2, min_count=1),
    "em": es.EM(iterations=1),
    "samplerank": es.SampleRank(rules=RULES, epochs=1, pool_epochs=1),
    "pr": es.PosteriorRegularization(es.HMM(), RULES, iterations=1),
    "ge": es.GeneralizedExpectation(es.CRF(), RULES, max_iterations=1),
}


@pytest.mark.parametrize("name", [*LEARNERS, *TAUGHT])
def test_labels_fix_the_names_of_lists_and_of_a_corpus(name) -> None:
    model = (LEARNERS | TAUGHT)[name]
    pool = {"unlabelled": X} if name in TAUGHT else {}
    by_list = fresh(model).fit(X, Y, labels=NAMES, **pool)
    by_corpus = fresh(model).fit(Corpus.from_tokens(X, Y), labels=NAMES, **pool)
    assert by_corpus.labels_.names == by_list.labels_.names
    assert set(NAMES) == set(by_corpus.labels_.names) or name == "semicrf"
    assert by_corpus.predict(X) == by_list.predict(X)


def test_a_rule_may_name_a_label_that_the_corpus_lacks() -> None:
    model = es.CCM(es.HMM(), "Some: Z required").fit(Corpus.from_tokens(X, Y), labels=NAMES)
    assert model.labels_.names == NAMES


def test_labels_of_a_corpus_that_are_not_among_the_names_are_an_error() -> None:
    corpus = Corpus.from_tokens(X, Y)
    with pytest.raises(LabelError, match="unknown label 'R'"):
        es.HMM().fit(corpus, labels=["P", "Q"])
    without_r = corpus[[3]]
    assert without_r.labels == corpus.labels
    assert es.HMM().fit(without_r, labels=["Q", "P"]).labels_.names == ("Q", "P")  # R is not in use


@pytest.mark.parametrize("name", LEARNERS)
def test_a_number_of_folds_will_do(name) -> None:
    assert np.isfinite(cross_val_score(LEARNERS[name], X * 2, Y * 2, cv=2, error_score="raise")).all()


def test_numpy_numbers_are_parameters_like_others(tmp_path) -> None:
    search = GridSearchCV(es.EM(), {"iterations": np.arange(2, 3)}, cv=2, error_score="raise")
    model = search.fit(X * 2, Y * 2, unlabelled=X).best_estimator_
    assert isinstance(model.iterations, np.integer)
    model.hard = np.bool_(True)
    model.save(tmp_path / "em.espalier")
    again = es.load(tmp_path / "em.espalier").model
    assert again.iterations == 2
    assert again.hard is True


def test_lists_among_the_parameters_of_two_stages_are_saved(tmp_path) -> None:
    model = es.TwoStage(es.HMM(), kinds=("precedence",), taus=np.array([1.0, 0.5]), folds=2).fit(X, Y)
    model.save(tmp_path / "two.espalier")
    again = es.load(tmp_path / "two.espalier").model
    assert again.kinds == ("precedence",)
    assert again.taus == (1.0, 0.5)


@pytest.mark.parametrize("change", [{"base__smoothing": "additive"}, {"iterations__x": 1}])
def test_parameters_of_what_has_none(change) -> None:
    with pytest.raises(InputError, match=r"EM has (base=None|iterations=10), which has no parameters (smoothing|x)"):
        es.EM().set_params(**change)


@pytest.mark.parametrize("name", ["start", "trans", "emission"])
def test_an_hmm_of_other_shapes_is_not_loaded(name) -> None:
    header, arrays = pack(es.HMM().fit(X, Y))
    assert unpack(header, arrays).predict(X) == es.HMM().fit(X, Y).predict(X)
    with pytest.raises(ModelFileError, match="not those of 3 labels and 3 words"):
        unpack(header, {**arrays, name: arrays[name][:-1]})

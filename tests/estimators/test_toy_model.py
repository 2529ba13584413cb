"""A model that Espalier does not know: forty lines, and it works with rules, learners, experts and model files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import espalier as es
from espalier.corpus import Corpus
from espalier.errors import InputError, ModelFileError
from espalier.estimators.abilities import FitsSoft, Mixes
from espalier.estimators.base import SequenceLabeller, as_corpus, check_sample_weight, fresh, labelled_corpus
from espalier.estimators.persist import load, pack, unpack
from espalier.potentials import ChainBatch
from espalier.store import pack_strings, unpack_strings


class Toy(SequenceLabeller):
    """Labels each word by itself: log P(label | word) by counting."""

    kind = "toy"

    def __init__(self, alpha: float = 0.5) -> None:
        self.alpha = alpha

    def fit(self, X, y=None, sample_weight=None, labels=None):
        corpus = labelled_corpus(X, y, labels)
        weight = check_sample_weight(sample_weight, len(corpus))
        known = np.flatnonzero(corpus.y >= 0)
        counts = np.full((len(corpus.types), len(corpus.labels)), self.alpha)
        every = np.ones(corpus.n_tokens) if weight is None else np.repeat(weight, corpus.lengths)
        np.add.at(counts, (corpus.token_ids[known], corpus.y[known]), every[known])
        self.scores_ = dict(zip(corpus.types, np.log(counts / counts.sum(axis=1, keepdims=True)), strict=True))
        self.labels_, self.training_digest_ = corpus.labels, corpus.digest()
        return self

    def potentials(self, X) -> ChainBatch:
        corpus, L = as_corpus(X), len(self.labels_)
        unknown = np.full(L, -np.log(L))
        unary = np.array([self.scores_.get(word, unknown) for word in corpus.types]).reshape(-1, L)[corpus.token_ids]
        classes = np.zeros(corpus.n_tokens, np.int32)
        return ChainBatch(corpus.indptr, unary, np.zeros((1, L, L)), classes, np.zeros(L), np.zeros(L))

    def mixed(self, labelled, weight, guessed, guessed_weight, gamma):
        other = fresh(self).fit(guessed, sample_weight=guessed_weight)
        for word, row in self.scores_.items():
            own = other.scores_.get(word, row)
            other.scores_[word] = np.log(gamma * np.exp(row) + (1 - gamma) * np.exp(own))
        return other

    def state(self):
        text, offsets = pack_strings(list(self.scores_))
        return {}, {"words": text, "offsets": offsets, "scores": np.array(list(self.scores_.values()))}

    def restore(self, header, arrays):
        self.scores_ = dict(zip(unpack_strings(arrays["words"], arrays["offsets"]), arrays["scores"], strict=True))


class Plain(Toy):
    """The same without an ability of its own."""

    kind = "plain toy"
    mixed = None


X = [["Ann", ",", "1990"], ["Bob", ".", "2001"], ["Ann", "Bob", ",", "15"]]
Y = [["name", "O", "year"], ["name", "O", "year"], ["name", "name", "O", "year"]]
POOL = [["Cy", ",", "1990"], ["Ann", ".", "1888"], ["Dee", ",", "77"]]
RULES = 'Year: token ~ /\\d+/ -> year\nMark: token in ",", "." -> O\nFirst: first in name'
LABELS = ("O", "name", "year")


def check_saved(model, path: Path) -> None:
    model.save(path)
    for again in (load(path), unpack(*pack(model))):
        assert type(again) is type(model)
        assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
        assert again.predict(POOL) == model.predict(POOL)


def test_by_itself(tmp_path: Path) -> None:
    model = Toy(alpha=0.25).fit(X, Y)
    assert model.predict(X) == Y
    assert model.score(X, Y) == 1
    assert [sum(row) for row in model.predict_marginals(POOL)[0]] == pytest.approx([1, 1, 1])
    assert len(model.predict_k(POOL, 2)[0]) == 2
    check_saved(model, tmp_path / "toy.espalier")
    assert load(tmp_path / "toy.espalier").alpha == 0.25


def test_under_rules(tmp_path: Path) -> None:
    for penalties in ("count", "hard"):
        model = es.CCM(Toy(), RULES, penalties).fit(X, Y)
        assert model.predict(POOL) == [["name", "O", "year"]] * 3
        check_saved(model, tmp_path / "ccm.espalier")
    assert isinstance(load(tmp_path / "ccm.espalier").base_, Toy)
    trained = es.CCM(Toy(), RULES, "svm", folds=3).fit(X, Y)  # on folds that the toy has not seen
    assert trained.penalties_["Year"] > 0


@pytest.mark.parametrize(("base", "update"), [(Toy(), "interpolate"), (Toy(), "pool"), (Plain(), "pool")])
def test_constraint_driven_learning(base, update: str, tmp_path: Path) -> None:
    model = es.CoDL(es.CCM(base, RULES), update=update, cycles=2).fit(X, Y, unlabelled=POOL)
    alone = fresh(base).fit(X, Y)
    assert model.model_.base_.predict([["Cy"]]) == [["name"]]  # a word of the pool alone
    assert "Cy" not in alone.scores_
    assert model.predict(POOL) == [["name", "O", "year"]] * 3
    check_saved(model, tmp_path / "codl.espalier")


@pytest.mark.parametrize("decode", ["model", "projection", "rules"])
def test_posterior_regularisation(decode: str, tmp_path: Path) -> None:
    model = es.PosteriorRegularization(Toy(), RULES, decode=decode, iterations=2).fit(X, Y, unlabelled=POOL)
    assert isinstance(model.model_, Toy)
    assert model.predict(POOL) == [["name", "O", "year"]] * 3
    check_saved(model, tmp_path / "pr.espalier")


def test_experts_and_two_stages(tmp_path: Path) -> None:
    model = es.Experts([Toy(), es.HMM()], weights=[1, 0.5]).fit(X, Y)
    own = Toy().fit(X, Y).potentials(X).unary
    hmm = es.HMM().fit(X, Y).potentials(X).unary
    assert model.potentials(X).unary == pytest.approx(own + 0.5 * hmm)
    check_saved(model, tmp_path / "experts.espalier")
    model = es.TwoStage(Toy(), RULES, tau=0.9).fit(X, Y)
    check_saved(model, tmp_path / "two.espalier")


def test_the_front_door_loads_it(tmp_path: Path) -> None:
    path = tmp_path / "toy.espalier"
    es.CCM(Toy(), RULES).fit(X, Y).save(path)
    found = es.load(path)
    assert isinstance(found.model.base_, Toy)
    assert found.extract("Ann , 1990").fields


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (es.EM(Toy()), r"EM needs a model that is estimated from counts, and a Toy has no `count`"),
        (
            es.GeneralizedExpectation(Toy(), RULES),
            r"GeneralizedExpectation needs a model that can be fitted to soft labels, and a Toy has no `fit_soft`",
        ),
        (
            es.CoDL(Plain()),
            r"needs a model that can mix, and a Plain has no `mixed`; choose .*'pool'",
        ),
    ],
)
def test_what_is_missing_is_named(learner, message: str) -> None:
    with pytest.raises(InputError, match=message):
        learner.fit(X, Y, unlabelled=POOL)


def test_training_under_rules_is_named_too() -> None:
    with pytest.raises(
        InputError, match="training='IBT' needs a model that can learn under rules, and a Toy has no `fit_u"
    ):
        es.CCM(Toy(), RULES, training="IBT").fit(X, Y)


def test_abilities_are_methods() -> None:
    ours = {
        "count": {es.HMM}, "fit_soft": {es.CRF}, "fit_under_rules": {es.Perceptron}, "answers": {es.SemiCRF},
        "mixed": {es.HMM, es.Perceptron, Toy}, "expert_shares": {es.Experts},
    }  # fmt: skip
    models = [es.HMM(), es.CRF(), es.CCM(es.HMM(), RULES), es.Perceptron(), es.SemiCRF(), es.Experts([Toy()]), Toy()]
    for method, having in ours.items():
        assert {type(m) for m in models if hasattr(m, method)} == having
    assert {type(m) for m in models if isinstance(m, Mixes)} == ours["mixed"]
    assert {type(m) for m in models if isinstance(m, FitsSoft)} == ours["fit_soft"]


def test_a_kind_has_one_class() -> None:
    with pytest.raises(InputError, match="a model of kind 'toy' already; give Other another kind"):

        class Other(Toy):
            kind = "toy"

    with pytest.raises(InputError, match="a model of kind 'semicrf' already"):

        class Mine(Toy):
            kind = "semicrf"

    class Heir(Toy):
        """Has the kind of its parent, and is stored as that."""

    assert type(unpack(*pack(Heir().fit(X, Y)))) is Toy


def test_a_process_that_does_not_know_the_kind_refuses_the_file(tmp_path: Path) -> None:
    path = tmp_path / "toy.espalier"
    Toy().fit(X, Y).save(path)
    code = f"import espalier as es; es.load({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "ModelFileError" in done.stderr
    assert "it is your own: then import its class first" in done.stderr


def test_a_file_that_names_no_kind() -> None:
    header, arrays = pack(Toy().fit(X, Y))
    for kind in (None, 3, ["toy"], "tox"):
        with pytest.raises(ModelFileError, match="unknown kind"):
            unpack(header | {"kind": kind}, arrays)


def test_a_corpus_of_documents_will_do() -> None:
    corpus = Corpus.from_tokens(X, Y)
    assert Toy().fit(corpus).predict(corpus) == Y

"""The product of experts against enumeration of all experts' scores, and its weights against a grid."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from espalier.corpus import Corpus
from espalier.errors import InputError, LabelError, ModelFileError, NotFittedError
from espalier.estimators.ccm import CCM
from espalier.estimators.codl import CoDL
from espalier.estimators.crf import CRF
from espalier.estimators.experts import Experts
from espalier.estimators.hmm import HMM
from espalier.estimators.perceptron import Perceptron
from espalier.estimators.persist import load
from espalier.estimators.posterior_regularization import PosteriorRegularization
from espalier.extract.extractor import Extractor
from espalier.papers.segments.semicrf import SemiCRF
from oracles import backwards, labellings

X = [
    ["Ada", "Lovelace", ".", "Notes", "on", "engines", ".", "1843", "."],
    ["A", ".", "Turing", ".", "Computing", "machines", ",", "1950", "."],
    ["Grace", "Hopper", ".", "Compilers", ".", "1952", "."],
    ["E", ".", "Noether", ".", "Invariants", "of", "forms", ".", "1918", "."],
    ["Emil", "Post", ".", "Recursive", "sets", ".", "1944", "."],
]
Y = [
    ["who"] * 3 + ["what"] * 4 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 3 + ["when"] * 2,
    ["who"] * 3 + ["what"] * 2 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 4 + ["when"] * 2,
    ["who"] * 3 + ["what"] * 3 + ["when"] * 2,
]
NEW = [["A", ".", "Kay", ",", "1972"], ["1999"], []]
RULES = "Start: first in who\nLast: last in when [penalty 2]\nDate: count(when) <= 2 [penalty 0.7]"


def two(**parameters: object) -> Experts:
    return Experts([CRF(), HMM(transition_classes="punctuation")], **({"weights": [1, 1]} | parameters))  # type: ignore[arg-type]


def named(model: Experts, y: tuple[int, ...]) -> list[str]:
    return [model.labels_.names[k] for k in y]


def enumerated(model: Experts, tokens: list[str]) -> dict[tuple[int, ...], float]:
    """Return the score of every labelling, from those of each expert alone."""
    parts = [expert.potentials([tokens])[0] for expert in model.experts_]
    every = product(range(len(model.labels_)), repeat=len(tokens))
    return {y: sum(w * p.score(y) for w, p in zip(model.weights_, parts, strict=True) if w) for y in every}


def shares(scores: dict[tuple[int, ...], float], heat: float, L: int) -> np.ndarray:
    """Return the marginals of a distribution by enumeration, float64[T, L]."""
    top = max(scores.values())
    weight = {y: np.exp((score - top) / heat) for y, score in scores.items()}
    found = np.zeros((len(next(iter(scores))), L))
    for y, share in weight.items():
        found[np.arange(len(y)), list(y)] += share
    return found / sum(weight.values())


def test_the_best_labelling_of_both_together() -> None:
    model = two(weights=[1, 0.7]).fit(X, Y)
    crf, hmm = CRF().fit(X, Y), HMM(transition_classes="punctuation").fit(X, Y)
    first, second = crf.potentials(NEW), hmm.potentials(NEW)
    predicted = model.predict(NEW)
    ranked = model.predict_k(NEW, 2)
    for i in range(2):
        scores = {y: s + 0.7 * second[i].score(y) for y, s in labellings(first[i]).ranked(backwards)}
        best = max(scores, key=scores.__getitem__)
        assert named(model, best) == predicted[i]
        assert ranked[i][0][1] == pytest.approx(max(scores.values()))
    assert predicted[2] == []
    assert model.score(X, Y) > 0.9


def test_experts_stay_as_they_are() -> None:
    crf, hmm = CRF(), HMM()
    model = Experts([crf, hmm]).fit(X, Y)
    assert not hasattr(crf, "labels_")
    assert not hasattr(hmm, "labels_")
    assert model.experts_[0].labels_ == model.experts_[1].labels_ == model.labels_


@pytest.mark.parametrize("n", [1, 3])
def test_any_number_of_experts(n: int) -> None:
    kinds, weights = [CRF(), HMM(), Perceptron()][:n], [1, 0.5, 0.25][:n]
    model = Experts(kinds, weights).fit(X, Y)
    parts = [type(kind)().fit(X, Y).potentials(NEW) for kind in kinds]
    expected = sum(w * part.unary for w, part in zip(weights, parts, strict=True))
    np.testing.assert_allclose(model.potentials(NEW).unary, expected)


def test_experts_of_experts() -> None:
    model = Experts([Experts([CRF(), HMM()], [1, 0.5]), Perceptron()], [1, 0.25]).fit(X, Y)
    flat = Experts([CRF(), HMM(), Perceptron()], [1, 0.5, 0.25]).fit(X, Y)
    np.testing.assert_allclose(model.potentials(NEW).unary, flat.potentials(NEW).unary)


@settings(deadline=None, derandomize=True, max_examples=15)
@given(st.floats(0.3, 4.0), st.floats(0.05, 2.0))
def test_probabilities_are_of_the_tempered_product(heat: float, weight: float) -> None:
    model = two(weights=[1, weight], temperature=heat).fit(X, Y)
    for tokens, found in zip(NEW[:2], model.predict_marginals(NEW[:2]), strict=True):
        scores = enumerated(model, tokens)
        np.testing.assert_allclose(found, shares(scores, heat, 3), atol=1e-9)
        # What decoders see is not divided.
        assert model.predict_k([tokens], 1)[0][0][1] == pytest.approx(max(scores.values()))


@pytest.mark.parametrize("heat", [0.5, 1.0, 2.5])
def test_probabilities_under_rules(heat: float) -> None:
    model = CCM(two(weights=[1, 0.6], temperature=heat), RULES, "fixed").fit(X, Y)
    tokens = NEW[0]
    scores = enumerated(model.base_, tokens)
    names = model.labels_.names
    for y in scores:
        dates = sum(1 for a, b in zip((None, *y), y, strict=False) if b == names.index("when") and a != b)
        broken = (names[y[0]] != "who") * 1.0, (names[y[-1]] != "when") * 2.0, 0.7 * max(0, dates - 2)
        scores[y] -= sum(broken)
    np.testing.assert_allclose(model.predict_marginals([tokens])[0], shares(scores, heat, 3), atol=1e-9)
    best = max(scores, key=scores.__getitem__)
    assert named(model.base_, best) == model.predict([tokens])[0]
    assert model.predict_k([tokens], 3)[0][0][1] == pytest.approx(scores[best])


@pytest.mark.parametrize("heat", [0.5, 2.5])
def test_confidences_of_an_extractor_take_the_temperature(heat: float) -> None:
    model = two(weights=[1, 0.6], temperature=heat).fit(X, Y)
    scores = enumerated(model, NEW[0])
    best = max(scores, key=scores.__getitem__)
    total = sum(np.exp((score - scores[best]) / heat) for score in scores.values())
    texts = [" ".join(NEW[0]), "1999"]
    for found in (Extractor(model).extract(texts[0]), next(Extractor(model).extract_many(texts))):
        assert found.confidence == pytest.approx(1 / total, abs=2e-6)
    several = Extractor(model).extract(texts[0], k=3)
    assert several.confidence == pytest.approx(1 / total, abs=2e-6)
    assert several.certificate is not None
    assert several.certificate.bound == pytest.approx(scores[best], abs=1e-6)


def test_labels_and_weights_of_sequences() -> None:
    model = two().fit(X, Y, sample_weight=[1, 1, 1, 0, 2], labels=["when", "who", "what", "where"])
    assert model.classes_.tolist() == ["when", "who", "what", "where"]
    expected = HMM(transition_classes="punctuation").fit(
        X, Y, sample_weight=[1, 1, 1, 0, 2], labels=["when", "who", "what", "where"]
    )
    np.testing.assert_array_equal(model.experts_[1].parameters_.emission, expected.parameters_.emission)
    with pytest.raises(LabelError):
        two().fit(X, Y, labels=["who", "what"])


def test_a_warm_expert_goes_on_and_leaves_the_old_one_alone() -> None:
    model = Experts([CRF(max_iterations=2, warm_start=True), HMM()], [1, 1]).fit(X, Y)
    old, value = model.experts_[0], model.experts_[0].minimum_.value
    before = old.weights()
    model.fit(X, Y)
    assert model.experts_[0].minimum_.value < value
    assert old.weights() == before
    expected = CRF(max_iterations=2, warm_start=True).fit(X, Y).fit(X, Y)
    assert model.experts_[0].weights() == expected.weights()
    # Parameters that were set in between count.
    again = model.set_params(experts__0__max_iterations=0).fit(X, Y)
    assert again.experts_[0].weights() == pytest.approx(expected.weights())


def test_scikit_learn() -> None:
    model = Experts([CRF(l2=0.5), HMM(backoff_weight=50.0)], [1, 0.4])
    params = model.get_params()
    assert params["experts__0__l2"] == 0.5
    assert params["experts__1__backoff_weight"] == 50.0
    copied = clone(model)
    assert copied.get_params()["experts__0__l2"] == 0.5
    assert copied.experts[0] is not model.experts[0]
    grid = {"weights": [[1, 0.1], [1, 1]], "experts__0__l2": [0.1]}
    search = GridSearchCV(two(), grid, cv=KFold(2), error_score="raise").fit(Corpus.from_tokens(X, Y))
    assert search.best_estimator_.predict(X[:1])[0][0] == "who"
    for name in ("experts__2__l2", "experts__0", "experts__l2", "experts__first__l2"):
        with pytest.raises(InputError, match="has no parameter"):
            model.set_params(**{name: 1})


def test_saving(tmp_path: Path) -> None:
    model = Experts([two(temperature=1.5), HMM("additive")], np.array([1, 0.2]), temperature=2.0).fit(X, Y)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert isinstance(again, Experts)
    assert again.weights == [1.0, 0.2]
    assert again.temperature_ == 2.0
    assert again.experts[0].experts[1].transition_classes == "punctuation"
    for a, b in zip(again.predict_marginals(NEW), model.predict_marginals(NEW), strict=True):
        np.testing.assert_array_equal(a, b)
    header, arrays = model.state()
    header["labels"] = ["who", "what", "where"]
    with pytest.raises(ModelFileError, match="its experts differ"):
        Experts(None).restore(header, arrays)
    header["labels"], header["voices"]["weights"] = ["who", "what", "when"], [1.0]
    with pytest.raises(ModelFileError, match="misshaped"):
        Experts(None).restore(header, arrays)


def test_as_the_base_of_rules_and_of_learning() -> None:
    base = Experts([CRF(warm_start=True), HMM()], folds=2)
    rules = "Start: first in who"
    ccm = CCM(base, rules).fit(X, Y)
    assert [y[0] for y in ccm.predict(NEW[:2])] == ["who", "who"]
    taught = CoDL(CCM(base, rules), update="pool", cycles=2).fit(X[:3], Y[:3], unlabelled=[*X[3:], *NEW[:2]])
    assert taught.score(X, Y) > 0.8
    alone = Experts([CRF(warm_start=True), HMM()], folds=2).fit(X[:3], Y[:3])
    assert taught.model_.base_.weights_.tolist() == alone.weights_.tolist()  # guesses do not change them
    for penalties in ("perceptron", "svm"):
        trained = CCM(Experts([CRF(), HMM()], [1, 0.5]), rules, penalties, folds=2).fit(X, Y)
        assert trained.predict(X) == Y
    assert "Start" in str(ccm.explain(NEW[1]))


def test_projections_are_of_the_tempered_product() -> None:
    base = two(weights=[1, 0.6], temperature=2.0)
    model = PosteriorRegularization(base, RULES, decode="projection", scope="corpus", iterations=1)
    model.fit(X, Y, unlabelled=NEW[:2])
    assert model.potentials(NEW).temperature is None
    model.multipliers_ = 0 * model.multipliers_  # a projection onto nothing is the model itself
    for tokens, found in zip(NEW[:2], model.predict_marginals(NEW[:2]), strict=True):
        np.testing.assert_allclose(found, shares(enumerated(model.model_, tokens), 2.0, 3), atol=1e-9)


def test_joining_fitted_models() -> None:
    names = ["when", "what", "who"]
    crf, hmm = CRF().fit(X, Y), HMM().fit(X, Y, labels=names)
    assert crf.labels_.names != hmm.labels_.names
    model = Experts.of([crf, hmm], [1, 0.5])
    assert model.experts_[0] is crf
    same = Experts.of([crf, HMM().fit(X, Y, labels=crf.labels_.names)], [1, 0.5])
    np.testing.assert_allclose(model.potentials(NEW).unary, same.potentials(NEW).unary)
    for a, b in zip(model.predict_marginals(NEW), same.predict_marginals(NEW), strict=True):
        np.testing.assert_allclose(a, b)
    learned = Experts.of([crf, hmm], held_out=(X, Y))
    np.testing.assert_allclose(learned.weights_, Experts.of([crf, hmm], held_out=Corpus.from_tokens(X, Y)).weights_)
    with pytest.raises(
        LabelError, match="expert 1 has other labels than the first: it lacks 'when' and has 'date' too"
    ):
        Experts.of([crf, HMM().fit(X, [[("date" if a == "when" else a) for a in y] for y in Y])], [1, 1])
    with pytest.raises(NotFittedError, match="this HMM is not fitted"):
        Experts.of([crf, HMM()], [1, 1])
    with pytest.raises(InputError, match="nothing says how much"):
        Experts.of([crf, hmm])


def test_a_temperature_alone_is_learned_for_given_weights() -> None:
    crf, hmm = CRF().fit(X[:2], Y[:2]), HMM().fit(X[:2], Y[:2])
    model = Experts.of([crf, hmm], [1, 0.5], held_out=(X[2:], Y[2:]))
    assert model.weights_.tolist() == [1, 0.5]
    assert model.temperature_ != 1
    assert Experts([CRF(), HMM()], [1, 0.5]).fit(X, Y).temperature_ == 1
    fixed = Experts.of([crf, hmm], held_out=(X[2:], Y[2:]), temperature=2.0)
    assert fixed.temperature_ == pytest.approx(2.0)
    assert fixed.weights_[0] == 1


def test_bad_input() -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        two().predict(X)
    for weight in (-1.0, float("nan"), "much"):
        with pytest.raises(InputError, match="weight 1 is"):
            two(weights=[1, weight]).fit(X, Y)
    with pytest.raises(InputError, match="every weight is 0"):
        two(weights=[0, 0]).fit(X, Y)
    with pytest.raises(InputError, match="there are 2 experts; give one weight for each"):
        two(weights=[1]).fit(X, Y)
    for heat in (0, -1, "hot"):
        with pytest.raises(InputError, match="temperature is"):
            two(temperature=heat).fit(X, Y)
    with pytest.raises(InputError, match=r"experts is CRF\(\); give a list of estimators"):
        Experts(CRF(), HMM()).fit(X, Y)
    with pytest.raises(InputError, match="there are no experts"):
        Experts([]).fit(X, Y)
    with pytest.raises(InputError, match="SemiCRF is no model of chains"):
        Experts([CRF(), SemiCRF()], [1, 1]).fit(X, Y).predict(X)
    with pytest.raises(InputError, match="is not an estimator"):
        Experts([CRF(), "hmm"]).fit(X, Y)
    with pytest.raises(InputError, match="empty"):
        two().fit([], [])
    with pytest.raises(InputError, match="from one sequence"):
        two(weights=None).fit(X[:1], Y[:1])
    with pytest.raises(InputError, match="held-out sequences need labels"):
        Experts([CRF(), HMM()]).fit(X, Y, held_out=X)


def test_an_expert_that_does_not_count_is_not_asked() -> None:
    model = Experts([CRF(), HMM()], [1, 0]).fit(X, Y)
    model.experts_[1].potentials = None
    np.testing.assert_array_equal(model.potentials(NEW).unary, CRF().fit(X, Y).potentials(NEW).unary)

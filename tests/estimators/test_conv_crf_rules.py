"""Rules and learners take a `ConvCRF` as they take any model."""

from __future__ import annotations

import numpy as np
import pytest
from test_conv_crf import sentences, small

import espalier as es
from espalier.estimators.abilities import FitsSoft, Mixes
from espalier.learning.expectations import ChainFeatures
from espalier.learning.generalised_expectation import ScoreCriterion
from espalier.rules.compile import compile_rules

RULES = 'Once: each field once\nIn: token in "in", "of" -> O'


def tiny(**options):
    return small(**{"epochs": 4, "crf_epochs": 1} | options)


def test_it_has_abilities() -> None:
    assert isinstance(tiny(), FitsSoft)
    assert isinstance(tiny(), Mixes)


def test_rules_hold(tmp_path) -> None:
    X, y = sentences(20)
    model = es.CCM(small(), "Once: each field once [hard]").fit(X, y)
    assert model.score(X, y) == 1.0
    model.save(tmp_path / "m.espalier")
    extractor = es.load(tmp_path / "m.espalier")
    found = extractor.extract("Ann Lee in Ulm . Bob Lee")
    assert str(found.certificate.status) == "optimal"
    assert [field.label for field in found.fields].count("who") <= 1


@pytest.mark.parametrize("update", ["pool", "interpolate"])
def test_codl(update) -> None:
    X, y = sentences(6)
    pool, gold = sentences(30, seed=4)
    model = es.CoDL(es.CCM(tiny(epochs=20), RULES), update=update, cycles=2).fit(X, y, unlabelled=pool)
    assert model.score(pool, gold) > 0.7


def test_posterior_regularisation() -> None:
    X, y = sentences(10)
    pool, gold = sentences(30, seed=4)
    model = es.PosteriorRegularization(tiny(epochs=20), RULES, iterations=2, slack="none", bounds=0.01)
    model.fit(X, y, unlabelled=pool)
    assert model.score(pool, gold) > 0.7
    assert len(model.history_) == 3
    assert model.history_[0].objective < 0


def test_a_distribution_over_the_pool_is_learned() -> None:
    """Fitted to the posterior of another model, the net has its marginals and its expected transitions."""
    from espalier.inference import posterior

    X, y = sentences(4)
    pool = es.Corpus.from_tokens(sentences(20, seed=4)[0])
    other = es.HMM().fit(*sentences(60)).potentials(pool)
    labelled = es.Corpus.from_tokens(X, y)
    problem = tiny(epochs=40, crf_epochs=20, crf_rate=0.01).fit_soft(labelled, pool, None, 10.0)
    problem.supervised()
    goal = posterior(other)
    model, goodness = problem.refit(other, goal)
    found = posterior(model.potentials(pool))
    assert np.abs(found.marginals - goal.marginals).mean() < 0.02
    assert np.abs(found.transitions[0] - goal.transitions.sum(axis=0)).max() < 2.0
    assert goodness < 0


def test_generalised_expectation_brings_a_rule_home() -> None:
    """Labels that never show a dot: the rule says what it is, and the net learns it."""
    X, y = sentences(20)
    X, y = [x[:4] for x in X], [tags[:4] for tags in y]
    pool = sentences(30, seed=4)[0]
    rule = 'Dot: token in "." -> where'
    model = es.GeneralizedExpectation(tiny(epochs=10, crf_rate=0.01), rule, max_iterations=60, weight=300.0)
    model.fit(X, y, unlabelled=pool)
    before, after = model.expectations_["Dot"]
    assert after < 0.3 * before
    assert len(model.history_) > 1


def test_the_criterion_passes_its_derivatives_to_the_net() -> None:
    """Steps along the gradient of the criterion alone lower the criterion."""
    from espalier.estimators.conv_soft import _pool_term  # the one place that has it

    X, y = sentences(10)
    model = tiny().fit(X, y)
    pool = es.Corpus.from_tokens(sentences(10, seed=4)[0])
    rules = es.rules('Lee: token in "Lee" -> O')
    features = ChainFeatures.of(compile_rules(rules, model.labels_))
    criterion = ScoreCriterion(features.ground(pool), np.zeros(features.J), np.ones(features.J))
    term = _pool_term(criterion, pool, model, 1.0)
    weights = {name: w.astype(np.float32) for name, w in model.net_.weights.items()}
    value = criterion.slopes(model.potentials(pool))[0]
    found = term(weights, 0)
    for name in ("block0", "output", "trans", "start"):
        g = found[name]
        i = int(np.abs(g).argmax())
        step = 1e-3
        moved = {k: w.copy() for k, w in weights.items()}
        moved[name].flat[i] += step
        model.net_ = type(model.net_)(model.net_.shape, moved)
        change = (criterion.slopes(model.potentials(pool))[0] - value) / step
        assert change == pytest.approx(float(g.flat[i]), rel=0.1, abs=1e-4), name


def test_experts_take_it() -> None:
    X, y = sentences(30)
    model = es.Experts([es.CRF(["lower"]), tiny(epochs=10)]).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.isfinite(model.predict_marginals(X[:2])[0]).all()

"""Posterior regularisation and generalised expectation: what they learn, how they are saved, what they refuse."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from sklearn.base import clone

from espalier.corpus import Corpus
from espalier.errors import InfeasibleError, InputError, NotFittedError, ResultWarning, RuleError
from espalier.estimators.crf import CRF
from espalier.estimators.generalized_expectation import GeneralizedExpectation
from espalier.estimators.hmm import HMM
from espalier.estimators.perceptron import Perceptron
from espalier.estimators.persist import load
from espalier.estimators.posterior_regularization import PosteriorRegularization
from espalier.inference import marginals
from espalier.learning.penalties import count_penalties
from espalier.papers.segments.semicrf import SemiCRF
from espalier.rules.ruleset import KEPT_PRIOR, VIOLATED_PRIOR, RuleSet

# Names, then a year or a page: one labelled example of each says little, the rules say what p. and 19.. mean.
X = [["Ann", "Lee", ",", "1990"], ["Bob", ",", "p.", "7"]]
Y = [["name", "name", "name", "year"], ["name", "name", "page", "page"]]
RULES = 'Pages: token in "p.", "pp." -> page\nYears: token ~ /19../ -> year\nOnce: each field once'
LABELS = ("name", "page", "year")


def pool_of(n, seed=0):
    """Sequences with their labels, in the manner of X."""
    rng = random.Random(seed)
    tokens, labels = [], []
    for _ in range(n):
        names = [rng.choice(["Ann", "Bob", "Cy", "Dee", "Lee", "Moe"]) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.5:
            tail, label = [f"19{rng.randint(10, 99)}"], "year"
        else:
            tail, label = [rng.choice(["p.", "pp."]), str(rng.randint(1, 99))], "page"
        tokens.append([*names, ",", *tail])
        labels.append(["name"] * (len(names) + 1) + [label] * len(tail))
    return tokens, labels


POOL, GOLD = pool_of(60)


def additive():
    return HMM("additive", normalise="none")


@pytest.mark.parametrize("scope", ["corpus", "sequence"])
@pytest.mark.parametrize("base", [additive(), CRF(["lower", "shape"], l2=0.3)], ids=["hmm", "crf"])
def test_rules_teach_and_the_objective_climbs(scope, base):
    model = PosteriorRegularization(base, RULES, scope=scope, iterations=4, tolerance=1e-5)
    model.fit(X, Y, unlabelled=POOL)
    supervised = type(base)(**base.get_params()).fit(X, Y)
    assert model.score(POOL, GOLD) > supervised.score(POOL, GOLD)
    values = [cycle.objective for cycle in model.history_]
    assert len(values) == 5
    assert np.diff(values).min() > -1e-3 * abs(values[0])  # exact maximisation on both sides, to the tolerances
    assert values[-1] > values[0]
    assert model.history_[-1].divergence < model.history_[0].divergence
    assert model.cycle_ == 4
    assert model.score_ is None


def test_supervised_model_stays_in_the_race():
    wrong = 'Wrong: token in ",", "Ann", "Bob" -> page [penalty 9]'
    model = PosteriorRegularization(additive(), wrong, iterations=3, pool_weight=5.0)
    model.fit(X, Y, unlabelled=POOL, dev=(POOL, GOLD))
    assert model.cycle_ == 0
    assert model.score_ == model.supervised_score_ == model.history_[0].score
    supervised = additive().fit(X, Y, vocabulary=model.model_.vocabulary_)
    assert model.predict(POOL) == supervised.predict(POOL)
    last = PosteriorRegularization(additive(), wrong, iterations=3, pool_weight=5.0, keep="last")
    assert last.fit(X, Y, unlabelled=POOL, dev=(POOL, GOLD)).score_ < model.score_
    stopped = PosteriorRegularization(additive(), wrong, iterations=9, pool_weight=5.0, patience=1)
    assert len(stopped.fit(X, Y, unlabelled=POOL, dev=(POOL, GOLD)).history_) == 2


def test_a_pool_weight_of_zero_is_the_supervised_model():
    model = PosteriorRegularization(additive(), RULES, iterations=1, pool_weight=0.0).fit(X, Y, unlabelled=POOL)
    words = [words for words in POOL if set(words) <= {"Ann", "Lee", "Bob", ",", "1990", "p.", "7"}]
    assert model.predict(X) == additive().fit(X, Y).predict(X)
    assert model.predict(words) == additive().fit(X, Y).predict(words)


@pytest.mark.parametrize("scope", ["corpus", "sequence"])
def test_ways_to_decode(scope):
    fitted = {
        decode: PosteriorRegularization(additive(), RULES, scope=scope, iterations=1, slack=4.0, decode=decode).fit(
            X, Y, unlabelled=POOL
        )
        for decode in ("model", "projection", "rules")
    }
    broken = {
        decode: sum(w in ("p.", "pp.") and k != "page" for words, labels in zip(POOL, model.predict(POOL), strict=True)
                    for w, k in zip(words, labels, strict=True))
        for decode, model in fitted.items()
    }  # fmt: skip
    assert broken["projection"] <= broken["model"]
    assert broken["rules"] <= broken["model"]
    projected = fitted["projection"]
    together = projected.potentials(POOL[:7])
    np.testing.assert_allclose(np.concatenate(projected.predict_marginals(POOL[:7])), marginals(together), atol=1e-12)
    # Sequences do not depend on each other.
    alone = np.concatenate([projected.predict_marginals([words])[0] for words in POOL[:7]])
    np.testing.assert_allclose(alone, marginals(together), atol=2e-2)
    best = projected.predict_k(POOL[:3], 2)
    assert [answers[0][0] for answers in best] == projected.predict(POOL[:3])


def test_zero_bounds_move_by_the_price_of_the_rules():
    # What is not allowed at all pays the whole price (see test_projection), so with scope "corpus" local rules are
    # penalties: the projection is the model with 2.5 less for a wrong label.
    text = 'Pages: token in "p.", "pp." -> page [penalty 2.5]'
    model = PosteriorRegularization(additive(), text, scope="corpus", iterations=0, decode="projection")
    model.fit(X, Y, unlabelled=POOL)
    plain = additive().fit(X, Y, vocabulary=model.model_.vocabulary_).potentials([["p.", "Ann"]])
    np.testing.assert_allclose(model.potentials([["p.", "Ann"]]).unary - plain.unary, [[-2.5, 0, -2.5], [0, 0, 0]])
    assert model.multipliers_.tolist() == [2.5]


def kept(n):
    """The rate of a rule that was kept on n occasions."""
    return VIOLATED_PRIOR / (n + KEPT_PRIOR + VIOLATED_PRIOR)


def test_bounds_and_slack():
    def fitted(**options):
        return PosteriorRegularization(additive(), RULES, iterations=0, **options).fit(X, Y, unlabelled=POOL)

    assert fitted().rates_.tolist() == [0.0] * 5
    assert fitted(bounds=0.25).rates_.tolist() == [0.25] * 5
    assert fitted(bounds={"Once": 0.5}).rates_.tolist() == [0, 0, 0.5, 0.5, 0.5]
    # One p. and one year, both as the rules have it; two sequences.
    np.testing.assert_allclose(fitted(bounds="labelled").rates_, [kept(n) for n in (1, 1, 2, 2, 2)])
    assert fitted(slack=2.0).penalties_.tolist() == [2.0] * 3
    assert fitted(slack={"Years": 2.0}).penalties_.tolist() == [0.0, 2.0, 0.0]
    counted = fitted()
    labelled = Corpus.from_tokens(X, Y)
    np.testing.assert_array_equal(counted.penalties_, count_penalties(counted.features_.compiled, labelled))
    own = PosteriorRegularization(additive(), RULES + "\nStart: first in name [hard]", iterations=0, slack=2.0)
    assert own.fit(X, Y, unlabelled=POOL).penalties_.tolist() == [2.0, 2.0, 2.0, np.inf]


def test_partly_labelled_sequences_count_where_they_are_whole():
    labels = [Y[0], [None, "name", "page", None]]
    model = PosteriorRegularization(additive(), RULES, bounds="labelled", iterations=1)
    model.fit(X, labels, labels=LABELS, unlabelled=POOL)
    np.testing.assert_allclose(model.rates_, [kept(n) for n in (0, 1, 1, 1, 1)])


def test_contradictory_rules():
    text = 'A: token in "p." -> page\nB: token in "p." -> year'
    with pytest.raises(InfeasibleError, match="no distribution keeps the limits"):
        PosteriorRegularization(additive(), text, slack="none", iterations=1).fit(X, Y, unlabelled=POOL)
    soft = PosteriorRegularization(additive(), text, iterations=1).fit(X, Y, unlabelled=POOL)
    assert soft.history_[0].excess > 0
    hard = text.replace("page", "page [hard]") + " [hard]"
    with pytest.raises(InfeasibleError):
        PosteriorRegularization(additive(), hard, iterations=1).fit(X, Y, unlabelled=POOL)


def test_hard_rules_that_no_labelling_keeps_leave_the_models_own_labels():
    text = 'A: token in "zz" -> page [hard]\nB: token in "zz" -> year [hard]'
    model = PosteriorRegularization(additive(), text, decode="rules", iterations=0).fit(X, Y, unlabelled=POOL)
    with pytest.warns(ResultWarning, match="2 tokens got the model's own labels"):
        assert model.predict([["zz", "Ann"]]) == model.model_.predict([["zz", "Ann"]])


@pytest.mark.parametrize("learner", [PosteriorRegularization, GeneralizedExpectation])
def test_rules_that_teach_nothing(learner):
    order = "Order: name before page\nShort: length(name) >= 2"
    base = additive() if learner is PosteriorRegularization else CRF(["lower"])
    with pytest.raises(InputError, match=r"no rule can be put as an expectation over a chain \(Order, Short cannot\)"):
        learner(base, order).fit(X, Y, unlabelled=POOL)
    with pytest.raises(InputError, match="no rule can be put"):
        learner(base, "").fit(X, Y, unlabelled=POOL)
    with pytest.warns(ResultWarning, match="1 rules are no expectations over a chain and teach nothing: Order"):
        learner(base, RULES + "\nOrder: name before page").fit(X, Y, unlabelled=POOL[:5])


@pytest.mark.parametrize(
    "model",
    [PosteriorRegularization(additive(), RULES), PosteriorRegularization(CRF(["lower"]), RULES, scope="corpus"),
     GeneralizedExpectation(CRF(["lower"]), RULES)],
)  # fmt: skip
@pytest.mark.parametrize("pool", [[], [[]]])
def test_empty_pool_is_the_supervised_model(model, pool):
    with pytest.warns(ResultWarning, match="pool is empty"):
        fitted = clone(model).fit(X, Y, unlabelled=pool)
    assert fitted.predict(POOL) == clone(model.base).fit(X, Y).predict(POOL)
    with pytest.raises(InputError, match="pass unlabelled="):
        clone(model).fit(X, Y)


def test_other_bases_learn_from_best_labellings():
    base = Perceptron(["lower", "shape"], epochs=3)
    model = PosteriorRegularization(base, RULES, iterations=2, slack=5.0).fit(X, Y, unlabelled=POOL)
    assert isinstance(model.model_, Perceptron)
    assert model.score(POOL, GOLD) > 0.9
    with pytest.raises(InputError, match="SemiCRF is no model of chains"):
        PosteriorRegularization(SemiCRF(), RULES).fit(X, Y, unlabelled=POOL)


def test_default_base_and_clone():
    model = PosteriorRegularization(rules=RULES, iterations=1, bounds=0.1, scope="corpus")
    copied = clone(model.fit(X, Y, unlabelled=POOL))
    assert copied.get_params() == model.get_params()
    assert isinstance(model.model_, HMM)
    with pytest.raises(NotFittedError):
        copied.predict(POOL)
    nested = clone(PosteriorRegularization(CRF(l2=0.3), RULES)).set_params(base__l2=0.7)
    assert nested.base.l2 == 0.7


@pytest.mark.parametrize("scope", ["corpus", "sequence"])
@pytest.mark.parametrize("slack", [3.0, "none", {"Pages": 2.0, "Once": 1.0}, "count"])
def test_save_and_load(tmp_path, scope, slack):
    model = PosteriorRegularization(
        additive(), RuleSet.from_text(RULES), bounds={"Years": 0.1, "Pages": 0.3, "Once": 0.4}, slack=slack,
        scope=scope, iterations=1, decode="projection",
    ).fit(X, Y, unlabelled=POOL)  # fmt: skip
    model.save(tmp_path / "m.espalier")
    other = load(tmp_path / "m.espalier")
    assert isinstance(other, PosteriorRegularization)
    assert other.predict(POOL) == model.predict(POOL)
    np.testing.assert_array_equal(other.potentials(POOL).unary, model.potentials(POOL).unary)
    assert (other.slack, other.bounds, other.rules, other.scope) == (slack, model.bounds, model.rules, scope)
    refitted = clone(other).fit(X, Y, unlabelled=POOL)
    assert refitted.predict(POOL) == model.predict(POOL)


def test_wrong_parameters():
    for name, value in [("scope", "all"), ("decode", "best"), ("iterations", -1), ("pool_weight", -0.5),
                        ("tolerance", np.nan), ("bounds", "none"), ("bounds", -1.0), ("slack", "hard"),
                        ("slack", -1.0), ("slack", np.inf)]:  # fmt: skip
        with pytest.raises(InputError, match=name):
            PosteriorRegularization(additive(), RULES).set_params(**{name: value}).fit(X, Y, unlabelled=POOL)
    with pytest.raises(RuleError, match="no rule is named 'Page'; did you mean 'Pages'"):
        PosteriorRegularization(additive(), RULES, bounds={"Page": 0.1}).fit(X, Y, unlabelled=POOL)
    with pytest.raises(RuleError, match="pass labels= to fit"):
        PosteriorRegularization(additive(), RULES).fit(X[:1], Y[:1], unlabelled=POOL)
    with pytest.raises(InputError, match="rules are a RuleSet or its text, not int"):
        PosteriorRegularization(additive(), 3).fit(X, Y, unlabelled=POOL)
    with pytest.raises(InputError, match="can be fitted to soft labels, and a HMM has no `fit_soft`; choose a CRF"):
        GeneralizedExpectation(additive(), RULES).fit(X, Y, unlabelled=POOL)
    with pytest.raises(InputError, match="weight is -1"):
        GeneralizedExpectation(CRF(["lower"]), RULES, weight=-1).fit(X, Y, unlabelled=POOL)


def test_progress_sees_every_cycle():
    seen = []
    model = PosteriorRegularization(additive(), RULES, iterations=2, progress=seen.append).fit(X, Y, unlabelled=POOL)
    assert seen == model.history_
    assert [cycle.cycle for cycle in seen] == [0, 1, 2]


@pytest.mark.parametrize("distance", ["squared", "kl"])
def test_expectations_come_down(distance, tmp_path):
    base = CRF(["lower", "shape"], l2=0.3)
    model = GeneralizedExpectation(base, RULES, weight=50.0, distance=distance).fit(X, Y, unlabelled=POOL)
    assert set(model.expectations_) == {"Pages", "Years", "Once"}
    for name in ("Pages", "Years"):
        before, after = model.expectations_[name]
        assert after < 0.5 * before
    assert model.score(POOL, GOLD) > clone(base).fit(X, Y).score(POOL, GOLD)
    assert model.history_[-1] < model.history_[0]
    assert model.cycle_ == 1
    model.save(tmp_path / "ge.espalier")
    other = load(tmp_path / "ge.espalier")
    assert other.predict(POOL) == model.predict(POOL)
    assert clone(other).get_params()["weight"] == 50.0


def test_a_weight_of_zero_teaches_nothing():
    base = CRF(["lower", "shape"], l2=0.3, epsilon=1e-8, delta=1e-12)
    model = GeneralizedExpectation(base, RULES, weight=0.0).fit(X, Y, unlabelled=POOL)
    for before, after in model.expectations_.values():
        assert after == pytest.approx(before, abs=1e-4)


def test_known_targets_are_met_from_below():
    # Half of the pool's last tokens are years: said as a rule of rate 0.5 that is to be met exactly.
    text = "Last: last in name, page"
    base = CRF(["bias"], l2=0.01)
    model = GeneralizedExpectation(base, text, bounds=0.5, exact=True, weight=1e4).fit(X, Y, unlabelled=POOL)
    assert model.expectations_["Last"][1] == pytest.approx(0.5, abs=0.05)


def read(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [row["tokens"] for row in rows], [row.get("labels") for row in rows]


def test_citations(data_dir):
    from espalier.tasks import load_task

    task = load_task("cora")
    (words, labels), (pool, _), (dev, gold) = (
        read(data_dir / "cora" / "normalised" / f"{part}.jsonl") for part in ("train", "unlabelled", "dev")
    )
    chosen = random.Random(0).sample(range(300), 5)
    model = PosteriorRegularization(HMM(), task.rules, scope="corpus", iterations=2)
    corpus = Corpus.from_tokens([words[i] for i in chosen], [labels[i] for i in chosen], vocabulary=task.labels)
    model.fit(corpus, unlabelled=pool[:200])
    assert model.score(dev, gold) > HMM().fit(corpus).score(dev, gold) + 0.02

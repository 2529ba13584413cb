"""Prices of rules across layers, rules found in data, and the classifier of pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from espalier.errors import InputError
from espalier.joint import JointProblem, PairLayer, TextLayer
from espalier.joint.learning import count_joint_penalties, discover_joins, train_joint_penalties
from espalier.joint.pair_model import PairClassifier, PairExample
from espalier.joint.rules import JointRules

RULES = JointRules.from_text(
    "Live: lives joins per and loc\nSame: same token -> same field of names\nHard: lives joins per and loc [hard]"
)


def problem(scores: float = 0.0) -> JointProblem:
    names = TextLayer(np.full((3, 3), scores), labels=["O", "per", "loc"], tokens=["Ann", "Ulm", "Ann"])
    pairs = PairLayer("names", [((0, 1), (1, 2)), ((1, 2), (0, 1))], np.zeros((2, 2)), labels=["none", "lives"])
    return JointProblem({"names": names, "pairs": pairs})


def test_counted_prices_are_log_odds_of_occasions():
    gold = [
        {"names": ["per", "loc", "per"], "pairs": ["lives", "none"]},  # Live kept twice, Same kept once
        {"names": ["loc", "loc", "O"], "pairs": ["lives", "none"]},  # no segment on either side, Same broken
    ]
    answers = [(problem(), problem().assignment(names)) for names in gold]
    priced = count_joint_penalties(RULES, answers, kept_prior=2.0, violated_prior=0.5)
    expected = [math.log(4.0 / 2.5), math.log(3.0 / 1.5), math.inf]
    assert priced.penalties.tolist() == pytest.approx(expected)


def test_training_raises_the_price_of_what_answers_break_and_gold_keeps():
    names = TextLayer([[0, 1.0, 0], [2.0, 0, 0], [0, 0, 0.5]], labels=["O", "per", "loc"], tokens=["Ann", "saw", "Ann"])
    joint = JointProblem({"names": names})
    rules = JointRules.from_text(
        "Same: same token -> same field of names\nFixed: same token -> same per of names [penalty 0]"
    )
    gold = joint.assignment({"names": ["per", "O", "per"]})
    trained = train_joint_penalties(rules.with_penalties({"Same": None}), [(joint, gold)], epochs=4, rate=0.2)
    assert trained.penalties[0] > 0.5  # what it takes
    assert trained.penalties[1] == 0.0
    assert joint.with_rules(trained).decode()["names"] == ["per", "O", "per"]
    with pytest.raises(InputError, match="epochs is 0"):
        train_joint_penalties(rules, [(joint, gold)], epochs=0)


def test_rules_are_found_in_pairs():
    pairs = [("lives", "per", "loc")] * 30 + [("lives", "org", "loc")] + [("kills", "per", "per")] * 12
    pairs += [("rare", "per", "loc")] * 3 + [
        ("none", kind, other) for kind in ["per", "loc", "org"] for other in ("per", "loc")
    ]
    pairs += [("any", kind, other) for kind in ("per", "loc", "org") for other in ("per", "loc")] * 5
    found = discover_joins(pairs)
    assert [str(rule.node) for rule in found] == ["kills joins per and per", "lives joins per and loc"]
    assert found.penalties.tolist() == pytest.approx([math.log((24 + 15) / 0.25), math.log((61 + 15) / 1.25)])
    assert str(discover_joins(pairs, share=1.0).rules[1].node) == "lives joins per, org and loc"


def test_the_classifier_is_at_the_minimum_of_its_loss():
    rng = np.random.default_rng(0)
    words = ["a", "in", "by", "Ulm"]
    texts = [[str(w) for w in rng.choice(words, 5)] for _ in range(30)]
    pairs = [PairExample(text, (0, 1), (4, 5)) for text in texts]
    labels = ["lives" if "in" in text[1:4] else "none" for text in texts]
    model = PairClassifier(l2=0.7, min_count=1, max_iterations=300).fit(pairs, labels)

    def loss() -> float:
        log_p = model.log_probabilities(pairs)
        assert np.exp(log_p).sum(axis=1) == pytest.approx(1.0)
        chosen = [log_p[i, model.labels_.index(label)] for i, label in enumerate(labels)]
        return 0.5 * 0.7 * float((model.weights_**2).sum()) - sum(chosen)

    least = loss()
    for _ in range(6):
        direction = rng.normal(size=model.weights_.shape)
        model.weights_ = model.weights_ + 1e-3 * direction
        above = loss()
        model.weights_ = model.weights_ - 2e-3 * direction
        below = loss()
        model.weights_ = model.weights_ + 1e-3 * direction
        assert abs(above - below) / 2e-3 < 0.05
        assert min(above, below) > least - 1e-6
    assert model.log_probabilities([]).shape == (0, 2)
    with pytest.raises(InputError, match="0 pairs, but 1 labels"):
        PairClassifier().fit([], ["none"])

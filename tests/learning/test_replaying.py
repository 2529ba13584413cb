"""Replayed sequences: what is learned again, what it counts, and that less is forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.corpus import Corpus
from espalier.errors import InputError, LabelError
from espalier.estimators.codl import CoDL
from espalier.estimators.conv_crf import ConvCRF
from espalier.estimators.crf import CRF
from espalier.estimators.generalized_expectation import GeneralizedExpectation
from espalier.learning.recombination import REPLAYED, with_replay

FEATURES = ["lower", "shape", "lower@-1"]
OLD = [["Ada", ",", "Notes"], ["Kay", ",", "Code"], ["Eve", ",", "Wires"]]
OLD_Y = [["who", "who", "what"]] * 3
NEW = [["Notes", ",", "Kay"], ["Wires", ",", "Ada"]]
NEW_Y = [["what", "what", "who"]] * 2


def test_by_hand() -> None:
    corpus = Corpus.from_tokens([["a", "b"]], [["x", "y"]])
    again = Corpus.from_tokens([["c"], ["b", "d"]], [["y"], [None, "x"]])  # its labels have other numbers
    found, weights = with_replay(corpus, None, again)
    assert list(found) == [["a", "b"], ["c"], ["b", "d"]]
    assert found.all_labels() == [["x", "y"], ["y"], [None, "x"]]
    assert found.labels == corpus.labels
    assert weights.tolist() == [1.0, REPLAYED, REPLAYED]
    assert with_replay(corpus, np.array([0.5]), again)[1].tolist() == [0.5, REPLAYED, REPLAYED]
    with pytest.raises(LabelError, match="'z'"):
        with_replay(corpus, None, Corpus.from_tokens([["c"]], [["z"]]))


def joined() -> tuple[Corpus, list[float]]:
    """The new sequences and the old ones in one corpus, and what each counts."""
    return Corpus.from_tokens(NEW + OLD, NEW_Y + OLD_Y), [1.0] * len(NEW) + [REPLAYED] * len(OLD)


def test_it_is_learning_from_both_with_weights() -> None:
    replay = Corpus.from_tokens(OLD, OLD_Y)
    corpus, weights = joined()
    prior = CRF(FEATURES).fit(OLD, OLD_Y).learned_
    one = CRF(prior=prior, replay=replay).fit(NEW, NEW_Y)
    two = CRF(prior=prior).fit(corpus, sample_weight=weights)
    assert one.weights() == pytest.approx(two.weights(), abs=1e-9)
    size = {"channels": 8, "dilations": (1, 2), "buckets": 64, "min_steps": 20}
    net, same = (ConvCRF(**size, **more) for more in ({"replay": replay}, {}))
    net.fit(NEW, NEW_Y, labels=["what", "who"])
    same.fit(corpus, sample_weight=weights, labels=["what", "who"])
    for name, array in net.net_.weights.items():
        np.testing.assert_array_equal(array, same.net_.weights[name])


def test_less_is_forgotten() -> None:
    old = CRF(FEATURES).fit(OLD, OLD_Y)
    replay = Corpus.from_tokens(OLD, OLD_Y)
    plain, kept = (CRF(prior=old.learned_, l2=1e-3, replay=more).fit(NEW, NEW_Y) for more in (None, replay))
    assert plain.predict(NEW) == kept.predict(NEW) == NEW_Y
    assert plain.predict(OLD) != OLD_Y
    assert kept.predict(OLD) == OLD_Y


def test_with_copies_and_with_raw_text() -> None:
    replay = Corpus.from_tokens(OLD, OLD_Y)
    prior = CRF(FEATURES).fit(OLD, OLD_Y).learned_
    model = CoDL(CRF(prior=prior, l2=1e-3, copies=3, replay=replay), update="pool", cycles=1)
    model.fit(NEW, NEW_Y, unlabelled=[["Code", ",", "Eve"]])
    assert model.predict(NEW + OLD) == NEW_Y + OLD_Y


def test_errors() -> None:
    replay = Corpus.from_tokens(OLD, OLD_Y)
    with pytest.raises(InputError, match="replay needs words, and X has ready attributes; leave out replay"):
        CRF(replay=replay).fit([[["a"], ["b"]]], [["who", "what"]])
    with pytest.raises(InputError, match="a CRF with replay learns from labels alone, or in CoDL; leave out replay"):
        GeneralizedExpectation(CRF(replay=replay), "First: first in who").fit(NEW, NEW_Y, unlabelled=OLD)

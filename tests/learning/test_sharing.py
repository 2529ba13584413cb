"""B- and I- of a field share weights: the objective by hand, Σ^½ against a matrix, and what it is good for."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import espalier as es
from espalier.errors import InputError
from espalier.learning.sharing import Sharing, fields_of_labels, with_partners
from espalier.models.linear import Pairs

X = [["new", "york", "is", "big"], ["in", "ulm", "now"], ["old", "york", "and", "ulm"]]
Y = [["B-t", "I-t", "O", "O"], ["O", "B-t", "O"], ["B-t", "I-t", "O", "B-t"]]
TAGS = ["B-t", "I-t", "O"]


def log_likelihood(model: es.CRF) -> float:
    batch, total = model.potentials(X), 0.0
    for i, tags in enumerate(Y):
        one, ids = batch[i], [model.labels_.index(tag) for tag in tags]
        total += float(es.expectations(one, labels=TAGS, valid_tags=False).log_z)
        total -= sum(one.unary[t, j] for t, j in enumerate(ids))
        total -= sum(model.weights_.trans[a, b] for a, b in pairwise(ids))
    return total


def penalty(model: es.CRF, shared: float) -> float:
    """Return w'Σ⁻¹w, group by group."""
    found, groups = 0.0, dict[tuple[int, str], list[float]]()
    table = model.weights_.pairs
    for a, j, w in zip(table.attributes(), table.label, model.weights_.w, strict=True):
        groups.setdefault((int(a), TAGS[int(j)][1:]), []).append(float(w))
    for i, j in zip(*np.nonzero(np.isfinite(model.weights_.trans)), strict=True):
        groups.setdefault((-1 - int(j), TAGS[int(i)][1:]), []).append(float(model.weights_.trans[i, j]))
    for w in groups.values():
        k = len(w)
        covariance = (1 - shared) * np.eye(k) + shared * np.ones((k, k))
        found += float(np.array(w) @ np.linalg.solve(covariance, np.array(w)))
    return found


@pytest.mark.parametrize("shared", [0.3, 0.8])
def test_the_minimum_is_that_of_the_objective(shared: float) -> None:
    model = es.CRF(["lower"], l2=0.3, shared=shared, transitions="all", epsilon=1e-9, delta=1e-12).fit(X, Y)
    value = log_likelihood(model) + 0.3 * penalty(model, shared)
    assert model.minimum_.value == pytest.approx(value, rel=1e-4)
    random, best = np.random.default_rng(0), model.weights_
    for _ in range(20):
        model.weights_ = replace(best, w=best.w + random.normal(0, 0.05, len(best.w)))
        assert log_likelihood(model) + 0.3 * penalty(model, shared) > value - 1e-4


def test_spread_is_the_root_of_a_matrix_and_gathered_its_inverse() -> None:
    fields = fields_of_labels(["B-x", "I-x", "O", "y", "z", "B-a/B-x", "I-a/I-x", "I-a/B-x"])
    assert fields.tolist() == [0, 0, 1, 2, 3, 4, 4, 4]
    pairs = Pairs.of(8, np.array([0, 8, 11]), np.array([*range(8), 0, 1, 5], np.int16))
    source, target = np.array([0, 1, 2]), np.array([2, 2, 2])
    sharing = Sharing.of(pairs, source, target, fields, 0.4)
    team = sharing.team
    expected = 0.6 * np.eye(14) + 0.4 * (team[:, None] == team[None, :])
    root = np.array([sharing.spread(row) for row in np.eye(14)])
    assert np.allclose(root @ root.T, expected)
    x = np.random.default_rng(0).normal(size=14)
    assert np.allclose(sharing.gathered(sharing.spread(x)), x)


def test_partners_of_pairs_and_transitions() -> None:
    fields = fields_of_labels(TAGS)
    pairs = Pairs.of(3, np.array([0, 1, 2]), np.array([0, 2], np.int16))
    learned, allowed = np.zeros((3, 3), bool), np.ones((3, 3), bool)
    learned[0, 2] = True
    allowed[1, 0] = False
    more, moves = with_partners(pairs, learned, allowed, fields)
    assert list(zip(more.attributes().tolist(), more.label.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 2)]
    assert moves.tolist() == [[False, False, True], [False, False, True], [False, False, False]]


def test_a_word_that_began_a_field_may_go_on_in_one() -> None:
    train, tags = [["in", "ulm"], ["old", "york"], ["to", "ulm"]], [["O", "B-t"], ["B-t", "I-t"], ["O", "B-t"]]
    apart = es.CRF(["lower"]).fit(train, tags)
    together = es.CRF(["lower"], shared=0.8).fit(train, tags)
    assert ("lower=ulm", "I-t") not in apart.weights()
    inside = {name: w for (name, label), w in together.weights().items() if label == "I-t" and "ulm" in name}
    assert inside
    assert max(inside.values()) > 0


def test_plain_labels_share_nothing() -> None:
    plain = [["x", "x", "O", "O"], ["O", "x", "O"], ["x", "x", "O", "x"]]
    alone, shared = es.CRF().fit(X, plain).weights(), es.CRF(shared=0.8).fit(X, plain).weights()
    assert shared == pytest.approx(alone)


def test_a_correlation_is_less_than_one() -> None:
    with pytest.raises(InputError, match="shared is 1"):
        es.CRF(shared=1.0).fit(X, Y)

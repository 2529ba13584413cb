"""Confidences against enumeration of all labellings, and the calibration of a model file."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus
from espalier.decoders import probabilities
from espalier.decoders.counts import Conditions, CountForm
from espalier.decoders.probabilities import answer_probabilities, sureness
from espalier.errors import ModelFileError
from espalier.extract.confidence import Calibration, with_local_rules
from espalier.potentials import ChainBatch, Potentials
from espalier.rules import rules as rule_set
from espalier.rules.compile import compile_rules
from espalier.rules.meaning import degrees

LABELS = ("a", "b", "c")


def random_sequences(rng: np.random.Generator, lengths: list[int], scale: float, forbid: bool) -> list[Potentials]:
    L = len(LABELS)
    trans, start, end = rng.normal(size=(L, L)), rng.normal(size=L), rng.normal(size=L)
    if forbid:
        trans[0, 1] = start[2] = -np.inf
    return [Potentials(scale * rng.normal(size=(T, L)), trans, start, end) for T in lengths]


def enumerated(chain: Potentials, y: list[int], charge: Any = lambda y: 0.0) -> tuple[list[float], float]:
    """Return p(y_t) of every token and p(y), summed over all labellings."""
    weight = {x: math.exp(chain.score(x) - charge(x)) for x in product(range(chain.n_labels), repeat=chain.n_tokens)}
    z = sum(weight.values())
    tokens = [sum(w for x, w in weight.items() if x[t] == y[t]) / z for t in range(len(y))]
    return tokens, weight[tuple(y)] / z


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("forbid", [False, True])
@pytest.mark.parametrize("rows", [1, 16, 2048])
def test_probabilities_are_those_of_enumeration(
    seed: int, forbid: bool, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probabilities, "CACHED", rows)  # two groups of eight, one after the other or together
    rng = np.random.default_rng(seed)
    chains = random_sequences(rng, [1, 4, 2, 3, 5, 1, 2, 4, 3, 2], 2.0, forbid)
    batch = ChainBatch.of(chains)
    y = rng.integers(0, 3, len(batch.unary)).astype(np.int16)
    tokens, whole = answer_probabilities(batch, y)
    sure = sureness(batch)
    for i, chain in enumerate(chains):
        part = slice(batch.indptr[i], batch.indptr[i + 1])
        expected_tokens, expected_whole = enumerated(chain, y[part].tolist())
        np.testing.assert_allclose(tokens[part], expected_tokens, atol=1e-6)
        assert whole[i] == pytest.approx(expected_whole, abs=1e-9)
        each = [enumerated(chain, [j] * chain.n_tokens)[0] for j in range(chain.n_labels)]
        assert sure[i] == pytest.approx(np.max(each, axis=0).prod(), abs=1e-6)


def test_scores_far_apart_and_several_transition_matrices() -> None:
    rng = np.random.default_rng(5)
    far = random_sequences(rng, [3, 4], 400.0, False)
    many = [
        Potentials(rng.normal(size=(T, 3)), rng.normal(size=(T - 1, 3, 3)), far[0].start, far[0].end) for T in (3, 4)
    ]
    steep = [Potentials(c.unary / 400, 300 * c.trans, c.start, c.end) for c in far]
    for chains in (far, many, steep):
        batch = ChainBatch.of(chains)
        y = np.array([0, 1, 2, 2, 1, 0, 1], np.int16)
        tokens, whole = answer_probabilities(batch, y)
        for i, chain in enumerate(chains):
            part = slice(batch.indptr[i], batch.indptr[i + 1])
            best = max(chain.score(x) for x in product(range(3), repeat=chain.n_tokens))
            lowered = Potentials(chain.unary - best / chain.n_tokens, chain.trans, chain.start, chain.end)
            expected = enumerated(lowered, y[part].tolist())
            np.testing.assert_allclose(tokens[part], expected[0], atol=1e-6)
            assert whole[i] == pytest.approx(expected[1], abs=1e-9)


def test_a_forbidden_answer_has_no_probability() -> None:
    chain = Potentials(np.zeros((2, 3)), np.where(np.eye(3), -np.inf, 0.0), np.zeros(3), np.zeros(3))
    _, whole = answer_probabilities(ChainBatch.of([chain]), np.array([1, 1], np.int16))
    assert whole.tolist() == [0.0]
    hopeless = Potentials(np.full((2, 3), -np.inf), np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    tokens, whole = answer_probabilities(ChainBatch.of([chain, hopeless]), np.array([0, 1, 0, 0], np.int16))
    assert whole[1] == 0.0
    assert tokens[2:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("seed", range(3))
def test_local_rules_are_paid_for(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = """
        Cue: token in "x" -> a [penalty 1.5]
        Not: token in "y" -> not c [penalty 0.7]
        Hard: token in "z" -> b [hard]
        Away: a excludes c [penalty 9]
    """
    compiled = compile_rules(rule_set(text), LABELS)
    words = [["x", "q", "y"], ["z", "x"], ["q"], ["y", "z", "x", "q"]]
    chains = random_sequences(rng, [len(w) for w in words], 1.0, False)
    batch, corpus = ChainBatch.of(chains), Corpus.from_tokens(words)
    form = CountForm.of(compiled, compiled.rules.penalties, batch.trans, batch.start)
    local = with_local_rules(batch, form, Conditions.of(compiled.ground_bits(corpus)))
    y = rng.integers(0, 2, len(batch.unary)).astype(np.int16)
    tokens, whole = answer_probabilities(local, y)
    for i, chain in enumerate(chains):

        def charge(x: tuple[int, ...], i: int = i) -> float:
            broken = degrees(compiled.rules, words[i], [LABELS[j] for j in x])[:3]  # "Away" looks far: left out
            return float(sum(d * rho for d, rho in zip(broken, compiled.rules.penalties, strict=False) if d))

        part = slice(batch.indptr[i], batch.indptr[i + 1])
        expected_tokens, expected_whole = enumerated(chain, y[part].tolist(), charge)
        np.testing.assert_allclose(tokens[part], expected_tokens, atol=1e-6)
        assert whole[i] == pytest.approx(expected_whole, abs=1e-9)


def test_calibration_is_linear_between_its_points() -> None:
    header = {"calibration": {"field": [[0.2, 0.6], [0.1, 0.9]]}}
    calibration = Calibration.from_header(header)
    assert calibration.of_fields(np.array([0.0, 0.2, 0.4, 0.6, 1.0])).tolist() == [0.1, 0.1, 0.5, 0.9, 0.9]
    assert calibration.of_records(np.array([0.25, 1.0000000002])).tolist() == [0.25, 1.0]
    assert Calibration.from_header({}).of_fields(np.array([0.123456789])).tolist() == [0.123457]


def test_readings_share_what_the_best_leaves() -> None:
    curve = Calibration.from_header({"calibration": {"record": [[0.5, 1.0], [0.25, 0.75]]}})
    # g(0.6) = 0.35 leaves 0.65; of the 0.4 that the model leaves, 0.2 is a half and 0.1 a quarter.
    assert curve.of_readings(np.array([0.6, 0.2, 0.1])).tolist() == [0.35, 0.325, 0.1625]
    # g(0.5) = 0.25 leaves 0.75; 0.3 of 0.5 would be 0.45, more than the best; 0.05 of it is 0.075.
    assert curve.of_readings(np.array([0.5, 0.3, 0.05])).tolist() == [0.25, 0.25, 0.075]
    # Below the first point the best has 0.25; the second is the likelier one, but the rules put it second.
    assert curve.of_readings(np.array([0.2, 0.4, 0.2])).tolist() == [0.25, 0.25, 0.1875]
    plain = Calibration()
    assert plain.of_readings(np.array([0.5, 0.25, 0.125])).tolist() == [0.5, 0.25, 0.125]
    assert plain.of_readings(np.array([0.5])).tolist() == [0.5]
    assert plain.of_readings(np.array([1.0, 0.0, 0.0])).tolist() == [1.0, 0.0, 0.0]
    assert curve.of_readings(np.array([1.0, 3e-300, 1e-300])).tolist() == [0.75, 0.1875, 0.0625]
    assert plain.of_readings(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


points = st.lists(st.floats(0, 1), min_size=1, max_size=6, unique_by=lambda x: round(x, 6))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0, 1), points, st.data())
@settings(deadline=None, derandomize=True, max_examples=200)
def test_readings_never_promise_more_than_one(
    weights: list[float], spread: float, raw: list[float], data: st.DataObject
) -> None:
    values = data.draw(st.lists(st.floats(0, 1), min_size=len(raw), max_size=len(raw)))
    header = {"calibration": {"record": [sorted(raw), sorted(values)]}}
    p = np.array(weights) / max(sum(weights) + spread, 1e-9)  # probabilities of exclusive answers, some left out
    for calibration in (Calibration(), Calibration.from_header(header)):
        q = calibration.of_readings(p)
        millionths = np.rint(1e6 * q)
        np.testing.assert_allclose(q, millionths / 1e6, atol=1e-12)
        assert millionths.sum() <= 1e6
        assert (np.diff(q) <= 0).all()
        assert (q >= 0).all()
        assert q[0] == calibration.of_records(p)[0]
        few = calibration.of_readings(p[:2])
        assert 1 - p[0] < 1e-9 or few.tolist() == pytest.approx(q[:2].tolist(), abs=1e-6)  # however many are asked for


@pytest.mark.parametrize(
    ("calibration", "what"),
    [
        ([], "not a table"),
        ({"field": 3}, "pair of lists"),
        ({"field": [[0.1, 0.2], [0.3]]}, "points"),
        ({"record": [[], []]}, "points"),
        ({"field": [[0.5, 0.5], [0.1, 0.2]]}, "must rise"),
        ({"field": [[0.1, 0.5], [0.3, 0.2]]}, "must rise"),
        ({"field": [[0.1, 0.5], [0.3, 1.2]]}, "must rise"),
        ({"field": [[0.1, 0.5], [0.3, float("nan")]]}, "must rise"),
    ],
)
def test_calibration_of_a_damaged_file(calibration: Any, what: str) -> None:
    with pytest.raises(ModelFileError, match=what):
        Calibration.from_header({"calibration": calibration})

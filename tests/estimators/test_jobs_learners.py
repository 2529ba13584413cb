"""Learning over processes: the same bits on one, on two and on a cluster, and what one process learns as a whole.

The reference is the undisturbed learner (jobs=None), which has its own tests; 40 labelled records and 120 raw ones make
eight parts.
"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import espalier as es
from espalier.errors import InputError, ResultWarning
from espalier.estimators.base import fresh
from espalier.estimators.persist import pack, unpack
from espalier.rules.language import token, when
from espalier.rules.ruleset import Rule, RuleSet
from sharded_learners import FEW, LABELS, LEARNERS, POOL, RULES, USABLE, figures, learn, records, sizes_of_replies


@pytest.fixture(scope="module")
def whole():
    return {name: learn(learner, None) for name, learner in LEARNERS.items()}


@pytest.fixture(scope="module")
def in_parts():
    return {name: learn(learner, 1) for name, learner in LEARNERS.items()}


@pytest.mark.parametrize("name", LEARNERS)
def test_parts_learn_what_the_whole_does(name, whole, in_parts) -> None:
    for ours, theirs in zip(figures(in_parts[name]), figures(whole[name]), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert len(in_parts[name].history_) == len(whole[name].history_)
    for ours, theirs in zip(in_parts[name].history_, whole[name].history_, strict=True):
        assert np.allclose([*_numbers(ours)], [*_numbers(theirs)], rtol=1e-9, atol=1e-9)


def _numbers(record) -> list[float]:
    return [value for value in (getattr(record, field) for field in record.__slots__) if value is not None]


@pytest.mark.parametrize("name", LEARNERS)
def test_two_processes_learn_the_same_bits(name, in_parts) -> None:
    _same(learn(LEARNERS[name], 2), in_parts[name])


def _same(model, other) -> None:
    assert all(map(np.array_equal, figures(model), figures(other)))
    assert model.history_ == other.history_


@pytest.mark.parametrize("name", LEARNERS)
def test_what_workers_send_back_does_not_grow_with_their_text(name, monkeypatch) -> None:
    sizes = sizes_of_replies(monkeypatch)
    learn(LEARNERS[name], 1)
    once, _ = list(sizes), sizes.clear()
    longer = POOL[np.tile(np.arange(len(POOL)), 6)]
    learn(LEARNERS[name], 1, longer)
    assert len(longer) == 6 * len(POOL)
    assert max(sizes) <= max(once) + 64  # numbers of more digits
    assert max(sizes) < len(pickle.dumps(longer)) / 8


def test_rules_and_their_report_are_the_same() -> None:
    dev = records(60, 3)
    model = es.HMM().fit(FEW, labels=LABELS)
    found = es.discover(dev, model)
    assert found.important > 0
    for jobs in (1, 2):
        assert es.discover(dev, model, jobs=jobs) == found


@pytest.mark.parametrize("name", LEARNERS)
def test_a_model_file_does_not_depend_on_jobs(name, whole, in_parts) -> None:
    header, arrays = pack(in_parts[name])
    assert "jobs" not in header["parameters"]
    assert header == pack(whole[name])[0]
    again = unpack(header, arrays)
    assert again.jobs is None
    assert again.predict(POOL) == in_parts[name].predict(POOL)
    old = {**header, "parameters": {k: v for k, v in header["parameters"].items() if k != "threads"}}
    assert unpack(old, arrays).predict(POOL) == in_parts[name].predict(POOL)


def test_jobs_are_a_parameter_like_others() -> None:
    learner = es.CoDL(es.CCM(es.HMM(), RULES), jobs=2)
    assert learner.get_params()["jobs"] == 2
    assert fresh(learner).jobs == 2
    assert repr(es.EM(jobs=2)) == "EM(jobs=2)"


@pytest.mark.parametrize("learner", [es.EM(), es.CoDL(es.HMM()), es.PosteriorRegularization(), es.CRF()])
def test_jobs_that_make_no_sense(learner) -> None:
    with pytest.raises(InputError, match="jobs is 0; expected None"):
        learner.set_params(jobs=0).fit(FEW, **({} if isinstance(learner, es.CRF) else {"unlabelled": POOL}))
    with pytest.raises(InputError, match="jobs is 0"):
        es.discover(FEW, es.HMM().fit(FEW), jobs=0)


@pytest.mark.parametrize(
    ("learner", "what"),
    [
        (es.CoDL(es.CRF(), jobs=1), "a CRF with update='pool', not for a CRF with 'interpolate'"),
        (es.CoDL(es.CCM(es.HMM(), RULES), update="pool", jobs=1), "not for a HMM with 'pool'; without jobs, threads"),
        (es.CoDL(es.Perceptron(), update="pool", jobs=1), "not for a Perceptron with 'pool'; without jobs, threads"),
        (es.PosteriorRegularization(es.Perceptron(), USABLE, jobs=1), "for an HMM or a CRF, not for a Perceptron"),
        (es.PosteriorRegularization(es.CRF(jobs=1), USABLE), "a CRF with jobs learns from labels alone, or in CoDL"),
        (es.GeneralizedExpectation(es.CRF(jobs=1), USABLE), "a CRF with jobs learns from labels alone, or in CoDL"),
    ],
)
def test_what_cannot_be_counted_by_workers(learner, what) -> None:
    with pytest.raises(InputError, match=what):
        learner.fit(FEW, labels=LABELS, unlabelled=POOL)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_pool_of_nothing(name) -> None:
    with pytest.warns(ResultWarning, match="pool is empty"):
        model = learn(LEARNERS[name], 1, [])
    with pytest.warns(ResultWarning, match="pool is empty"):
        assert model.predict(FEW) == learn(LEARNERS[name], None, []).predict(FEW)


def test_sequences_without_a_labelling_are_counted_over_all_parts() -> None:
    rules = 'No: token in "Ulm" -> name [hard]\nNor: token in "Ulm" -> place [hard]'
    learner = es.CoDL(es.CCM(es.HMM(), rules), cycles=2)
    left = sum("Ulm" in tokens for tokens in POOL)
    with pytest.warns(ResultWarning, match=f"no labelling for {left} of {len(POOL)} unlabelled"):
        learn(learner, 1)


def test_projections_that_stop_early_are_counted_over_all_parts() -> None:
    learner = es.PosteriorRegularization(es.HMM(), USABLE, iterations=0, tolerance=1e-16)
    said = []
    for jobs in (None, 1):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            learn(learner, jobs, POOL[:24])
        said.append([str(w.message).split(" in ")[0] for w in caught if "converge" in str(w.message)])
    assert said[0] == said[1] != []


def test_rules_with_functions_that_workers_cannot_import() -> None:
    odd = token.satisfies("odd", lambda word: len(word) % 2 == 1)
    rules = RuleSet([Rule("Odd", when(odd).then("name"))])
    with pytest.raises(InputError, match="cannot be sent to another process"):
        learn(es.CoDL(es.CCM(es.HMM(), rules)), 2)

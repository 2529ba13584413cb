"""A CRF and a pool over processes: workers label or project, keep that, and send back sums.

The reference is the undisturbed learner (jobs=None), which has its own tests. Searches go on to the minimum, which is
one, so that rounding on the way does not matter; gradients are sums of single precision.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.corpus import Corpus
from espalier.distributed.chains import (
    Block,
    ChainPart,
    Layout,
    PartState,
    PoolProblem,
    SeenPairs,
    _value,
    own_rows,
    shard_blocks,
)
from espalier.distributed.guesses import GuessedLabels
from espalier.errors import InputError, ResultWarning
from espalier.estimators.base import fresh
from espalier.estimators.crf import training_set
from espalier.estimators.persist import pack, unpack
from espalier.features.extract import FeatureExtractor
from espalier.learning.codl import guess_of, label_pool
from espalier.learning.likelihood import ChainLikelihood
from espalier.models.linear import Pairs
from sharded_learners import (
    CRF_LEARNERS,
    FEW,
    LABELS,
    POOL,
    RULES,
    TEMPLATES,
    TIGHT,
    base_of,
    crf,
    figures,
    learn,
    records,
    short_of,
    sizes_of_replies,
)


@pytest.fixture(scope="module")
def whole():
    return {name: learn(learner, None) for name, learner in CRF_LEARNERS.items()}


@pytest.fixture(scope="module")
def in_parts():
    return {name: learn(learner, 1) for name, learner in CRF_LEARNERS.items()}


def check_same_learning(ours, theirs) -> None:
    weights, others = base_of(ours).weights(), base_of(theirs).weights()
    for name in weights.keys() | others.keys():
        assert weights.get(name, 0.0) == pytest.approx(others.get(name, 0.0), abs=2e-5), name
    assert base_of(ours).minimum_.value == pytest.approx(base_of(theirs).minimum_.value, rel=1e-6)
    if isinstance(ours.model_, es.CCM):
        np.testing.assert_allclose(ours.model_.rules_.penalties, theirs.model_.rules_.penalties, rtol=1e-6)
    assert ours.predict(POOL) == theirs.predict(POOL)
    assert len(ours.history_) == len(theirs.history_)
    for mine, other in zip(ours.history_, theirs.history_, strict=True):
        for field in set(mine.__slots__) - {"score"}:
            assert getattr(mine, field) == pytest.approx(getattr(other, field), rel=1e-5, abs=1e-5), field


@pytest.mark.parametrize("name", CRF_LEARNERS)
def test_parts_learn_what_the_whole_does(name, whole, in_parts) -> None:
    check_same_learning(in_parts[name], whole[name])
    assert whole[name].predict(POOL) != fresh(base_of(whole[name])).fit(FEW, labels=LABELS).predict(POOL)


def test_weights_of_sequences_and_unknown_labels() -> None:
    y = [[None if (i + t) % 5 == 0 else name for t, name in enumerate(own)] for i, own in enumerate(FEW.all_labels())]
    weight = np.random.default_rng(0).random(len(FEW)) + 0.5
    few = Corpus.from_tokens(list(FEW), y, vocabulary=FEW.labels)
    models = [
        es.CoDL(es.CCM(crf(), RULES), update="pool", cycles=2, jobs=jobs).fit(few, None, weight, unlabelled=POOL)
        for jobs in (1, None)
    ]
    check_same_learning(*models)


def test_a_crf_with_a_prior() -> None:
    prior = crf().fit(records(30, 9), labels=LABELS).learned_
    base = es.CRF(prior=prior, l2=0.5, **TIGHT)
    learner = es.CoDL(es.CCM(base, RULES), update="pool", cycles=2)
    check_same_learning(learn(learner, 1), learn(learner, None))


def test_sequences_without_a_labelling_teach_nothing() -> None:
    rules = 'No: token in "Ulm" -> name [hard]\nNor: token in "Ulm" -> place [hard]'
    learner = es.CoDL(es.CCM(crf(), rules), update="pool", cycles=2)
    left = sum("Ulm" in tokens for tokens in POOL)
    models = []
    for jobs in (1, None):
        with pytest.warns(ResultWarning, match=f"no labelling for {left} of {len(POOL)} unlabelled"):
            models.append(learn(learner, jobs))
        assert models[-1].history_[-1].left_out == left
    ours, theirs = (base_of(model).weights() for model in models)
    assert all(ours.get(k, 0.0) == pytest.approx(theirs.get(k, 0.0), abs=2e-5) for k in ours.keys() | theirs.keys())


@pytest.mark.parametrize("name", ["codl, k best", "pr", "pr, corpus"])
def test_two_processes_learn_the_same_bits(name) -> None:
    short = short_of(name, 4)
    one, two = learn(short, 1), learn(short, 2)
    assert all(map(np.array_equal, figures(one), figures(two)))
    assert one.history_ == two.history_
    assert base_of(one).minimum_.values == base_of(two).minimum_.values


def test_labels_over_processes_too() -> None:
    """The base's own `jobs` are for the likelihood of the labels."""
    learner = es.CoDL(es.CCM(crf(), RULES), update="pool", cycles=1)
    models = [learn(fresh(learner).set_params(model__base__jobs=jobs), 1) for jobs in (1, None)]
    check_same_learning(*models)


@pytest.mark.parametrize("name", CRF_LEARNERS)
def test_what_workers_send_back_does_not_grow_with_their_text(name, monkeypatch) -> None:
    sizes = sizes_of_replies(monkeypatch)
    largest = []
    for copies in (16, 48):  # a part has all sequences twice, or six times
        sizes.clear()
        pool = POOL[np.tile(np.arange(24), copies)]
        learn(short_of(name, 3), 1, pool)
        largest.append(max(sizes))
    assert largest[1] <= 1.1 * largest[0]  # other labels, other weights, but not three times as much
    assert largest[1] < len(pickle.dumps(pool)) / 4


@pytest.mark.parametrize("name", CRF_LEARNERS)
def test_a_model_file_says_nothing_of_jobs(name, in_parts) -> None:
    header, arrays = pack(in_parts[name])
    assert "jobs" not in header["parameters"]
    again = unpack(header, arrays)
    assert again.jobs is None
    assert again.predict(POOL) == in_parts[name].predict(POOL)


@pytest.mark.parametrize("name", ["codl", "pr", "pr, corpus"])
def test_a_pool_of_nothing(name) -> None:
    with pytest.warns(ResultWarning, match="pool is empty"):
        model = learn(CRF_LEARNERS[name], 1, [])
    with pytest.warns(ResultWarning, match="pool is empty"):
        assert model.predict(FEW) == learn(CRF_LEARNERS[name], None, []).predict(FEW)


@pytest.mark.parametrize(
    ("learner", "what"),
    [
        (
            es.CoDL(es.CRF(copies=2), update="pool", jobs=1),
            "copies=2 exchanges words .* set copies=0",
        ),
        (es.PosteriorRegularization(es.CRF(copies=1), RULES, jobs=1), "set copies=0, or leave out jobs"),
        (
            es.PosteriorRegularization(es.CRF(prior=crf().fit(FEW, labels=LABELS).learned_), RULES, jobs=1),
            "with a prior learns from labels alone, or in CoDL",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:1 rules are no expectations")
def test_what_workers_cannot_do(learner, what) -> None:
    with pytest.raises(InputError, match=what):
        learner.fit(FEW, labels=LABELS, unlabelled=POOL)


def test_a_model_of_other_labels_is_refused() -> None:
    problem = PoolProblem(crf(), FEW, None, POOL)
    with pytest.raises(InputError, match="other labels, or in another order"):
        problem.travelling(crf().fit(FEW, labels=tuple(reversed(FEW.labels.names))))


def test_a_model_travels_whole() -> None:
    """Potentials of a part, by the merged attributes that workers know, are those of the model."""
    problem, model = PoolProblem(crf(), FEW, None, POOL), crf().fit(FEW)
    shards, attributes = shard_blocks(POOL, problem.matrix, _Threads(1), 1)
    assert len(attributes) == len(shards._parts) == 8
    batch = model.potentials(POOL)
    travelling = problem.travelling(model)
    found = [part.potentials(travelling) for part in shards._parts]
    np.testing.assert_allclose(np.concatenate([part.unary for part in found]), batch.unary, rtol=1e-12, atol=1e-12)
    assert all(np.array_equal(part.trans, batch.trans) and np.array_equal(part.start, batch.start) for part in found)
    assert len(travelling.w) < len(model.weights_.w)  # twins are one


class _Threads:
    def __init__(self, threads: int) -> None:
        self.threads = threads

    def ground(self, pool) -> None:
        return None


def _plain_part(setting, block) -> ChainPart:
    return ChainPart(block, setting, None, {})


@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 6))
@settings(max_examples=20, derandomize=True, deadline=None)
def test_what_parts_see_is_what_the_whole_shows(seed, n, cut) -> None:
    corpus = records(n, seed)
    matrix = FeatureExtractor(TEMPLATES).fit_transform(corpus)[1]
    data = training_set(corpus, matrix, None)
    L, seen = data.n_labels, []
    for lo, hi in ((0, min(cut, n)), (min(cut, n), n)):
        a, b = corpus.indptr[lo], corpus.indptr[hi]
        rows, attributes = own_rows(matrix, int(a), int(b))
        seen.append(SeenPairs.of(rows, attributes, corpus.indptr[lo : hi + 1] - a, corpus.y[a:b], L))
    total = seen[0] + seen[1]
    pairs, expected = total.as_pairs(matrix.n_attributes), Pairs.observed(matrix, data.y, L)
    assert np.array_equal(pairs.ptr, expected.ptr)
    assert np.array_equal(pairs.label, expected.label)
    assert np.array_equal(total.transitions, data.observed_transitions)
    first = {corpus.all_labels()[i][0] for i in range(n)}
    assert {corpus.labels.names[k] for k in np.flatnonzero(total.starts)} == first


def test_another_process_builds_the_same_terms() -> None:
    """What a process has built is a memory: a part that nobody has laid out gives the same bits from its state."""
    pool = POOL[:20]
    model = crf().fit(FEW)
    matrix = model.index_.transform(pool)
    rows, attributes = own_rows(matrix, 0, pool.n_tokens)
    guess = label_pool(model.potentials(pool), None, pool, k=2, weighting="uniform", threads=1)
    L, block = len(model.labels_), Block(pool, rows, attributes)
    part, other = (_plain_part(_Threads(1), block) for _ in range(2))
    seen = part.seen(guess.labels[0], L) + part.seen(guess.labels[1], L)
    everything = np.ones((L, L), bool)
    layout = Layout(1, seen.as_pairs(matrix.n_attributes), everything, everything[0], everything)
    held = part.lay_out(GuessedLabels(guess, 0.25), layout)
    w = np.random.default_rng(0).normal(size=len(layout.pairs) + L * L)
    (value, gradient), after = _value(part, held, w)
    assert after is held
    (again, slope), _ = _value(other, pickle.loads(pickle.dumps(held)), w)
    assert (again, list(other.built)) == (value, [1])
    assert np.array_equal(slope, gradient)
    # And the value is that of the two labellings as sequences of their own.
    twice = [
        ChainLikelihood(matrix, pool.indptr, y, *layout[1:], np.full(len(pool), 0.125), 1)(w)[0] for y in guess.labels
    ]
    assert value == pytest.approx(sum(twice), rel=1e-12)


def test_a_labelling_that_does_not_exist_counts_nothing() -> None:
    pool = POOL[:3]
    model = crf().fit(FEW)
    matrix = model.index_.transform(pool)
    block = Block(pool, *own_rows(matrix, 0, pool.n_tokens))
    labels = model.potentials(pool).unary.argmax(axis=1).astype(np.int16)[None]
    labels[0, : pool.indptr[1]] = -1
    scores = np.array([[-np.inf], [1.0], [1.0]])
    guess = guess_of(labels, scores, np.ones(3, bool))
    L = len(model.labels_)
    part, everything = _plain_part(_Threads(1), block), np.ones((L, L), bool)
    layout = Layout(1, part.seen(labels[0], L).as_pairs(matrix.n_attributes), everything, everything[0], everything)
    held = PartState(GuessedLabels(guess, 1.0), *layout.own(block.attributes))
    w = np.random.default_rng(1).normal(size=len(layout.pairs) + L * L)
    rest = pool[1:]
    expected = ChainLikelihood(
        model.index_.transform(rest), rest.indptr, labels[0, pool.indptr[1] :], *layout[1:], None, 1
    )(w)
    (value, gradient), _ = _value(part, held, w)
    assert value == pytest.approx(expected[0], rel=1e-12)
    full = np.zeros(len(w))
    full[held.parameters] = gradient
    np.testing.assert_allclose(full, expected[1], rtol=1e-5, atol=1e-5)

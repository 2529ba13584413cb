"""`EM` and `CoDL` as estimators: every update from its parts, the papers' variants, guard rails, bad input, saving."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, LabelError, NotFittedError, ResultWarning, RuleError
from espalier.estimators.ccm import CCM
from espalier.estimators.codl import CoDL
from espalier.estimators.crf import CRF
from espalier.estimators.em import EM
from espalier.estimators.experts import Experts
from espalier.estimators.hmm import HMM
from espalier.estimators.perceptron import Perceptron
from espalier.estimators.persist import load
from espalier.features.extract import FeatureExtractor
from espalier.learning.perceptron import all_pairs, train_perceptron
from espalier.models.hmm import Vocabulary
from espalier.models.linear import Pairs
from espalier.papers.segments.semicrf import SemiCRF
from espalier.tasks.task import load_task
from feature_matrices import random_matrix

X = [
    ["Ada", "Lovelace", ".", "Notes", "on", "engines", ".", "1843", "."],
    ["A", ".", "Turing", ".", "Computing", "machines", ",", "1950", "."],
]
Y = [["who"] * 3 + ["what"] * 4 + ["when"] * 2, ["who"] * 4 + ["what"] * 3 + ["when"] * 2]
POOL = [
    ["Grace", "Hopper", ".", "Compilers", ".", "1952", "."],
    ["E", ".", "Noether", ".", "Invariants", "of", "forms", ".", "1918", "."],
    ["Emil", "Post", ".", "Recursive", "sets", ".", "1944", "."],
    ["A", ".", "Church", ".", "A", "problem", ",", "1936", "."],
]
DEV = (POOL[2:], [["who"] * 3 + ["what"] * 3 + ["when"] * 2, ["who"] * 4 + ["what"] * 3 + ["when"] * 2])
LABELS = ["what", "when", "who"]
RULES = """
    First:   first in who
    Once:    each field once
    Change:  change only after is punctuation
    Year:    token ~ /(18|19)[0-9]{2}/ -> when
"""
TEMPLATES = ["bias", "lower", "shape[-1,0]"]


def same(a: HMM, b: HMM) -> None:
    """Two HMMs have the same words and probabilities."""
    assert sorted(a.vocabulary_.words) == sorted(b.vocabulary_.words)
    order = [a.vocabulary_.words.index(word) for word in b.vocabulary_.words]
    np.testing.assert_allclose(a.parameters_.emission[order], b.parameters_.emission, rtol=1e-12)
    for name in ("start", "trans"):
        np.testing.assert_allclose(getattr(a.parameters_, name), getattr(b.parameters_, name), rtol=1e-12)


def known_words() -> Vocabulary:
    return Vocabulary().extended(Corpus.from_tokens(POOL))


# The updates


def test_interpolation_mixes_probabilities() -> None:
    """One cycle by hand: fit, label, fit the labels, mix."""
    base = HMM().fit(X, Y, vocabulary=known_words())
    ccm = CCM(HMM(), RULES, {"First": 2.0, "Once": 3.0, "Change": 3.0, "Year": 5.0}).fit(X, Y)
    ccm._learned(base, ccm.compiled_, ccm.rules_.penalties)
    pool = HMM().fit(POOL, ccm.predict(POOL), labels=LABELS, vocabulary=base.vocabulary_)
    model = CoDL(clone(ccm), gamma=0.7, cycles=1).fit(X, Y, unlabelled=POOL)
    learned = model.model_.base_.parameters_
    assert learned.vocabulary.words == base.vocabulary_.words
    for name in ("start", "trans", "emission"):
        first, second = getattr(base.parameters_, name), getattr(pool.parameters_, name)
        np.testing.assert_allclose(getattr(learned, name), 0.7 * first + 0.3 * second, rtol=1e-12)
    assert model.model_.penalties_ == ccm.penalties_
    assert not hasattr(model.model_.base_, "counts_")  # nothing was counted to give these probabilities


def test_pooling_is_training_on_both() -> None:
    supervised = HMM().fit(X, Y, sample_weight=[2, 1], vocabulary=known_words())
    guessed = supervised.predict(POOL)
    expected = HMM().fit(X + POOL, Y + guessed, sample_weight=[2, 1, 0.25, 0.25, 0.25, 0.25])
    model = CoDL(HMM(), update="pool", pool_weight=0.25, cycles=1).fit(X, Y, [2, 1], unlabelled=POOL)
    same(model.model_, expected)


def test_pooling_takes_any_base() -> None:
    supervised = CRF(TEMPLATES).fit(X, Y)
    expected = CRF(TEMPLATES).fit(X + POOL, Y + supervised.predict(POOL), sample_weight=[1, 1] + [0.5] * 4)
    model = CoDL(CRF(TEMPLATES), update="pool", pool_weight=0.5, cycles=1).fit(X, Y, unlabelled=POOL)
    assert model.model_.weights() == pytest.approx(expected.weights())


def test_pooling_takes_two_experts() -> None:
    pair = Experts([CRF(TEMPLATES), HMM()], weights=[1, 0.3])
    guessed = clone(pair).fit(X, Y).predict(POOL)
    expected = clone(pair).fit(X + POOL, Y + guessed, sample_weight=[1, 1] + [0.1] * 4)
    model = CoDL(CCM(pair, RULES), update="pool", constrained=False, infer=False, cycles=1)
    model.fit(X, Y, unlabelled=POOL)
    for a, b in zip(model.predict_marginals(X), expected.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_several_labellings_share_a_weight() -> None:
    supervised = HMM().fit(X, Y, vocabulary=known_words())
    best = supervised.predict_k(POOL, 3)
    tokens, labels, weights = zip(
        *((x, y, np.exp(score - first[0][1])) for x, first in zip(POOL, best, strict=True) for y, score in first),
        strict=True,
    )
    totals = np.repeat(np.add.reduceat(weights, np.arange(0, 12, 3)), 3)
    for weighting, belief in (("uniform", np.full(12, 1 / 3)), ("score", np.array(weights) / totals)):
        expected = HMM().fit(X + list(tokens), Y + list(labels), sample_weight=[1, 1, *(0.1 * belief)])
        model = CoDL(HMM(), update="pool", k=3, weighting=weighting, cycles=1).fit(X, Y, unlabelled=POOL)
        same(model.model_, expected)


@pytest.mark.parametrize("pairs", ["all", "observed"])
def test_a_perceptron_goes_on_from_the_pool(pairs: str) -> None:
    """(1 - gamma) times the weights of the pool, then training on the labels, over the attributes of both."""
    supervised = Perceptron(TEMPLATES, pairs=pairs).fit(X, Y)
    guessed = supervised.predict(POOL)
    labels = Labels(LABELS)
    corpus = Corpus.from_tokens(X, Y, vocabulary=labels)
    pool = Corpus.from_tokens(POOL, guessed, vocabulary=labels)
    index, _ = FeatureExtractor(TEMPLATES).fit_transform(Corpus.from_tokens(X + POOL))
    anything = np.ones(3, bool), np.ones((3, 3), bool)

    def train(c: Corpus, initial=None):
        matrix = index.transform(c)
        chosen = all_pairs(matrix.n_attributes, 3) if pairs == "all" else Pairs.observed(matrix, c.y, 3)
        chosen = chosen if initial is None else chosen.union(initial.pairs)
        rng = np.random.default_rng(0)
        return train_perceptron(matrix, c.indptr, c.y, chosen, *anything, rng, initial=initial).model

    first = train(pool)
    quarter = type(first)(first.pairs, first.w / 4, first.trans / 4, first.start / 4, first.end / 4)
    expected = train(corpus, quarter)
    model = CoDL(Perceptron(TEMPLATES, pairs=pairs), gamma=0.75, cycles=1).fit(X, Y, unlabelled=POOL).model_
    np.testing.assert_allclose(
        model.weights_.pairs.dense(model.weights_.w), expected.pairs.dense(expected.w), rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(model.weights_.trans, expected.trans, rtol=1e-12)
    assert model.predict(X) == Y


@pytest.mark.parametrize("boundaries", [False, True])
def test_training_goes_on_where_it_stopped(boundaries: bool) -> None:
    """Two epochs are one and one more from its last weights; the mean of both is the mean of their means."""
    rng = np.random.default_rng(5)
    indptr = np.array([0, 4, 7, 12])
    matrix, y = random_matrix(rng, n_tokens=12), rng.integers(0, 3, 12).astype(np.int16)
    pairs, allowed = all_pairs(matrix.n_attributes, 3), np.ones((3, 3), bool)
    allowed[2, 0] = (y[:-1] == 2)[(y[1:] == 0)].any()

    def train(epochs: int, averaged: bool, initial=None):
        model = train_perceptron(
            matrix, indptr, y, pairs, np.ones(3, bool), allowed, rng, epochs=epochs, averaged=averaged, shuffle=False,
            boundaries=boundaries, initial=initial,
        ).model  # fmt: skip
        return model.pairs.dense(model.w), model.trans, model.start, model.end, model

    model = train(1, False)[-1]
    for got, expected in zip(train(1, False, model)[:4], train(2, False)[:4], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    means = zip(train(1, True)[:4], train(1, True, model)[:4], train(2, True)[:4], strict=True)
    for first, second, both in means:
        np.testing.assert_allclose((first + second) / 2, both, rtol=1e-12, atol=1e-12)
    with pytest.raises(InputError, match="initial model"):
        train_perceptron(matrix, indptr, y, all_pairs(1, 3), np.ones(3, bool), allowed, rng, initial=model)


def test_penalties_are_mixed_like_the_model() -> None:
    """Year is set by the user and stays; log((kept + 15) / (violated + 1)) of labels and of guesses for the rest."""
    text = RULES.replace("-> when", "-> when [penalty 2.5]")
    ccm = CCM(HMM(), text, over="applicable", kept_prior=15, violated_prior=1)
    supervised = clone(ccm).fit(X, Y)
    model = CoDL(ccm, gamma=0.25, cycles=1, relearn_penalties=True).fit(X, Y, unlabelled=POOL)
    before, after = supervised.penalties_, model.model_.penalties_
    assert after["Year"] == before["Year"] == 2.5
    # Nothing is violated: 4 first tokens; 12 segments; 8 borders. The labels have half of that.
    assert model.history_[0].violations == 0
    assert before["First"] == pytest.approx(np.log(15 + 2))
    for name, labelled, guessed in (("First", 2, 4), ("Once", 6, 12), ("Change", 4, 8)):
        mixed = 0.25 * np.log(15 + labelled) + 0.75 * np.log(15 + guessed)
        assert after[name] == pytest.approx(mixed)


# Variants, history, guard


def test_hard_em_is_codl_without_rules() -> None:
    """Variant H: the supervised model only gives the first labels."""
    supervised = HMM().fit(X, Y, vocabulary=known_words())
    once = HMM().fit(POOL, supervised.predict(POOL), labels=LABELS, vocabulary=supervised.vocabulary_)
    model = CoDL(CCM(HMM(), RULES), gamma=0, constrained=False, infer=False, cycles=1).fit(X, Y, unlabelled=POOL)
    base = model.model_.base_
    same(base, once)
    assert model.predict(X) == base.predict(X)
    bare = CoDL(HMM(), gamma=0, cycles=1).fit(X, Y, unlabelled=POOL)
    same(bare.model_, base)


def test_rules_at_test_time() -> None:
    sequence = [["Kurt", "1931", "Goedel", ".", "Ueber", "Saetze", ".", "1931", "."]]
    with_rules = CoDL(CCM(HMM(), RULES, "hard"), cycles=2).fit(X, Y, unlabelled=POOL)
    without = CoDL(CCM(HMM(), RULES, "hard"), cycles=2, infer=False).fit(X, Y, unlabelled=POOL)
    same(with_rules.model_.base_, without.model_.base_)
    assert without.predict(sequence) == without.model_.base_.predict(sequence)
    with pytest.warns(ResultWarning, match="no labelling"):
        assert with_rules.predict(sequence) != without.predict(sequence)
    assert without.labeller_ is without.model_.base_
    assert with_rules.labeller_ is with_rules.model_


def test_history_tells_the_cycles() -> None:
    seen = []
    model = CoDL(CCM(HMM(), RULES), cycles=20, progress=seen.append).fit(X, Y, unlabelled=POOL)
    assert seen == model.history_
    assert [c.cycle for c in seen] == list(range(1, len(seen) + 1))
    assert len(seen) < 20  # a fixed point
    assert seen[0].changed == 1
    assert all(0 < c.changed < 1 for c in seen[1:])
    assert all(c.certified == 1 and c.left_out == 0 and c.score is None for c in seen)
    supervised = CCM(HMM(), RULES).fit(X, Y)
    supervised._learned(HMM().fit(X, Y, vocabulary=known_words()), supervised.compiled_, supervised.rules_.penalties)
    assert seen[0].objective == pytest.approx(supervised.decode(POOL).scores.sum())
    assert (model.cycle_, model.score_, model.supervised_score_) == (len(seen), None, None)


@pytest.mark.parametrize("dev", [DEV, Corpus.from_tokens(*DEV)])
def test_held_out_data_choose_the_model(dev) -> None:
    last = CoDL(CCM(HMM(), RULES), keep="last").fit(X, Y, unlabelled=POOL, dev=dev)
    assert last.score_ == last.history_[-1].score == last.score(*DEV)
    best = CoDL(CCM(HMM(), RULES)).fit(X, Y, unlabelled=POOL, dev=dev)
    scores = [best.supervised_score_, *(c.score for c in best.history_)]
    assert best.score_ == max(scores) == best.score(*DEV)
    assert best.cycle_ == scores.index(max(scores))
    assert best.supervised_score_ == pytest.approx(CCM(HMM(), RULES).fit(X, Y).score(*DEV), abs=0.15)


def test_a_pool_that_misleads_is_refused() -> None:
    """Labels that are never right on held-out data: whatever the pool teaches, the supervised model is no worse."""
    wrong = [["when" if label == "who" else "who" for label in y] for y in Y]
    model = CoDL(HMM(), gamma=0.0, patience=1).fit(X, Y, unlabelled=[x[::-1] for x in X] * 5, dev=(X, Y))
    assert model.score_ >= model.supervised_score_
    assert model.score(X, Y) == model.score_
    assert CoDL(HMM(), patience=1).fit(X, Y, unlabelled=POOL, dev=(X, wrong)).supervised_score_ < 0.5


# Hard cases


def test_an_empty_pool_leaves_the_supervised_model() -> None:
    for pool in ([], [[]]):
        with pytest.warns(ResultWarning, match="pool is empty"):
            model = CoDL(CCM(HMM(), RULES)).fit(X, Y, unlabelled=pool)
        assert model.history_ == []
        same(model.model_.base_, HMM().fit(X, Y))
        with pytest.warns(ResultWarning, match="pool is empty"):
            same(EM().fit(X, Y, unlabelled=pool).model_, HMM().fit(X, Y))


def test_a_pool_of_other_words() -> None:
    pool = [["ξ", "ψ", "."], [], ["ω"] * 4]
    for model in (CoDL(CCM(HMM(), RULES)), CoDL(HMM(), k=2), EM()):
        model.fit(X, Y, unlabelled=pool)
        assert [len(y) for y in model.predict([*X, *pool])] == [9, 9, 3, 0, 4]
        inner = model.labeller_
        words = getattr(inner, "base_", inner).vocabulary_.words
        assert {"ξ", "ω", "ada"} <= set(words)


def test_rules_against_the_labels() -> None:
    """A rule that every label breaks costs nothing when it is counted; as a hard rule it wins over the labels."""
    against = "Never: first in what, when"
    ccm = CCM(HMM(), against, over="applicable", kept_prior=2, violated_prior=1)
    counted = CoDL(ccm).fit(X, Y, unlabelled=POOL)
    assert counted.model_.penalties_["Never"] == 0  # log(2 / 3) is below
    same(counted.model_.base_, CoDL(HMM()).fit(X, Y, unlabelled=POOL).model_)
    hard = CoDL(CCM(HMM(), against, "hard")).fit(X, Y, unlabelled=POOL)
    assert all(y[0] != "who" for y in hard.predict(POOL))
    assert all(c.violations == 0 for c in hard.history_)


def test_hard_rules_that_nothing_satisfies() -> None:
    rules = 'No: token in "Grace" -> what\nNor: token in "Grace" -> when'
    with pytest.warns(ResultWarning, match="1 of 4 unlabelled sequences"):
        model = CoDL(CCM(HMM(), rules, "hard"), cycles=2).fit(X, Y, unlabelled=POOL)
    assert [c.left_out for c in model.history_] == [1] * len(model.history_)
    with pytest.warns(ResultWarning, match="1 of 1 unlabelled sequences"):
        alone = CoDL(CCM(HMM(), rules, "hard"), cycles=2).fit(X, Y, unlabelled=POOL[:1])
    same(alone.model_.base_, HMM().fit(X, Y, vocabulary=Vocabulary().extended(Corpus.from_tokens(POOL[:1]))))


def test_one_example_that_lacks_most_labels() -> None:
    rules = RULES + 'Place: token in "London" -> where\n'
    one = [["Ada", "Lovelace"]], [["who", "who"]]
    with pytest.raises(RuleError, match="labels="):
        CoDL(CCM(HMM(), rules)).fit(*one, unlabelled=POOL)
    for X_, y in (one, (Corpus.from_tokens(*one), None)):
        model = CoDL(CCM(HMM(), rules)).fit(X_, y, unlabelled=POOL, labels=[*LABELS, "where"])
        assert model.labels_.names == (*LABELS, "where")
        assert {label for y in model.predict(POOL) for label in y} >= {"who", "when"}
    with pytest.raises(LabelError, match="who"):
        CoDL(HMM()).fit(Corpus.from_tokens(*one), unlabelled=POOL, labels=["what"])


def test_transition_classes_and_partial_labels() -> None:
    partial = [[None, *y[1:]] for y in Y]
    model = CoDL(CCM(HMM(transition_classes="punctuation"), RULES)).fit(X, partial, unlabelled=POOL, labels=LABELS)
    assert model.history_[0].certified == 1
    em = EM(HMM(transition_classes="punctuation")).fit(X, partial, unlabelled=POOL)
    assert [len(y) for y in em.predict(POOL)] == [len(x) for x in POOL]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CoDL(HMM(), gamma=1.5), "gamma"),
        (CoDL(HMM(), gamma="much"), "gamma"),
        (CoDL(HMM(), cycles=1.5), "cycles"),
        (CoDL(HMM(), k=0), "k is 0"),
        (CoDL(HMM(), pool_weight=-1), "pool_weight"),
        (CoDL(HMM(), update="mix"), "update is 'mix'"),
        (CoDL(HMM(), weighting="rank"), "weighting"),
        (CoDL(HMM(), keep="first"), "keep"),
        (CoDL(HMM(), relearn_penalties=True), "relearn_penalties"),
        (CoDL(CCM(HMM(), RULES, 1.0), relearn_penalties=True), "relearn_penalties"),
        (CoDL(CRF()), "update='pool'"),
        (CoDL(SemiCRF(), update="pool"), "segments"),
        (CoDL("hmm"), "not an estimator"),
        (EM(CRF()), "EM needs a model that is estimated from counts, and a CRF has no `count`"),
        (EM(iterations=-1), "iterations"),
        (EM(gamma=2), "gamma"),
        (EM(gamma="much"), "gamma"),
        (EM(pool_weight=float("inf")), "pool_weight"),
        (EM(patience=0), "patience"),
    ],
)
def test_wrong_parameters(model, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(X, Y, unlabelled=POOL)


@pytest.mark.parametrize("model", [CoDL(HMM()), EM()])
def test_wrong_data(model) -> None:
    with pytest.raises(InputError, match="unlabelled="):
        model.fit(X, Y)
    with pytest.raises(InputError, match="dev has no labels"):
        model.fit(X, Y, unlabelled=POOL, dev=POOL)
    with pytest.raises(InputError, match="needs labels"):
        model.fit(X, unlabelled=POOL)
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    labelled_pool = Corpus.from_tokens(POOL, [["odd"] * len(x) for x in POOL])  # its labels are not looked at
    assert clone(model).fit(X, Y, unlabelled=labelled_pool).labels_.names == tuple(LABELS)


# EM


def test_em_stops_where_the_objective_stands() -> None:
    model = EM(HMM("additive"), iterations=500, tolerance=1e-9).fit(X, Y, unlabelled=POOL)
    objectives = [step.objective for step in model.history_]
    assert len(objectives) < 500
    assert (np.diff(objectives) >= -1e-9).all()
    assert model.cycle_ == len(objectives)
    none = EM(iterations=0).fit(X, Y, unlabelled=POOL)
    same(none.model_, HMM().fit(X, Y, vocabulary=known_words()))


def test_em_takes_held_out_data() -> None:
    seen = []
    model = EM(HMM("additive"), hard=True, gamma=0.5, progress=seen.append).fit(X, Y, unlabelled=POOL, dev=DEV)
    assert seen == model.history_
    assert model.score_ == max(model.supervised_score_, *(step.score for step in seen)) == model.score(*DEV)


# Conventions


@pytest.mark.parametrize(
    "model",
    [
        CoDL(CCM(HMM(), RULES), gamma=0.8, keep="last"),
        CoDL(CCM(HMM(), RULES), infer=False),
        CoDL(CCM(Perceptron(TEMPLATES), RULES), cycles=1),
        CoDL(HMM(), update="pool"),
        EM(HMM(normalise="lower"), hard=True),
    ],
    ids=["ccm", "not inferred", "perceptron", "bare", "em"],
)
def test_saved_and_loaded(model, tmp_path: Path) -> None:
    model = clone(model).fit(X, Y, unlabelled=POOL)
    model.save(tmp_path / "m.espalier")
    again = load(tmp_path / "m.espalier")
    assert again.predict(POOL) == model.predict(POOL)
    assert again.predict_k(X, 2) == model.predict_k(X, 2)
    for a, b in zip(again.predict_marginals(X), model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)
    assert {k: v for k, v in again.get_params(deep=False).items() if k not in ("model", "base")} == {
        k: v for k, v in model.get_params(deep=False).items() if k not in ("model", "base")
    }
    if "HMM" in repr(model):  # features are not among a loaded model's parameters
        assert again.fit(X, Y, unlabelled=POOL).predict(POOL) == model.predict(POOL)


def test_explanations() -> None:
    model = CoDL(CCM(HMM(), RULES)).fit(X, Y, unlabelled=POOL)
    assert model.explain(POOL[0]).after.names() == model.predict(POOL[:1])[0]
    plain = CoDL(HMM()).fit(X, Y, unlabelled=POOL)
    assert str(plain.explain(POOL[0])).endswith("No rules are used in decoding (optimal).")


def test_parameters_reach_inside() -> None:
    model = clone(CoDL(CCM(HMM(), RULES))).set_params(model__base__smoothing="additive", gamma=0.5)
    assert model.get_params()["model__base__smoothing"] == "additive"
    assert not hasattr(model.fit(X, Y, unlabelled=POOL).model, "labels_")  # copied, never fitted


def test_references(data_dir: Path) -> None:
    """The pool helps on held-out references, and every answer is proven."""
    directory = data_dir / "cora" / "normalised"

    def read(name: str) -> list[dict]:
        return [json.loads(line) for line in (directory / f"{name}.jsonl").read_text().splitlines()]

    task = load_task("cora")
    train, dev = read("train"), read("dev")
    chosen = [train[i] for i in sorted(random.Random(0).sample(range(len(train)), 5))]
    model = CoDL(CCM(HMM(transition_classes="punctuation"), task.rules), cycles=2)
    model.fit(
        [r["tokens"] for r in chosen],
        [r["labels"] for r in chosen],
        labels=task.labels.names,
        unlabelled=[r["tokens"] for r in read("unlabelled")[:300]],
        dev=([r["tokens"] for r in dev], [r["labels"] for r in dev]),
    )
    assert model.score_ > model.supervised_score_ + 0.01
    assert all(cycle.certified > 0.99 for cycle in model.history_)

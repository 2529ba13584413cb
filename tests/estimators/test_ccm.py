"""`CCM` as an estimator: answers against enumeration, penalties of every kind, scikit-learn, saving, bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from espalier import store
from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, LabelError, ModelFileError, NotFittedError, ResultWarning, RuleError
from espalier.estimators.base import fresh
from espalier.estimators.ccm import CCM
from espalier.estimators.crf import CRF
from espalier.estimators.hmm import HMM
from espalier.estimators.perceptron import Perceptron
from espalier.estimators.persist import class_of, load, pack, unpack
from espalier.learning.penalties import count_penalties
from espalier.papers.segments.semicrf import SemiCRF
from espalier.potentials import Potentials
from espalier.rules import RuleSet
from espalier.rules.compile import compile_rules
from espalier.rules.meaning import degrees
from oracles import Enumeration, backwards, label_counts, labellings

X = [
    ["Ada", "Lovelace", ".", "Notes", "on", "engines", ".", "1843", "."],
    ["A", ".", "Turing", ".", "Computing", "machines", ",", "1950", "."],
    ["Grace", "Hopper", ".", "Compilers", ".", "1952", "."],
    ["E", ".", "Noether", ".", "Invariants", "of", "forms", ".", "1918", "."],
    ["Emil", "Post", ".", "Recursive", "sets", ".", "1944", "."],
    ["A", ".", "Church", ".", "A", "problem", ",", "1936", "."],
]
Y = [
    ["who"] * 3 + ["what"] * 4 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 3 + ["when"] * 2,
    ["who"] * 3 + ["what"] * 2 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 4 + ["when"] * 2,
    ["who"] * 3 + ["what"] * 3 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 3 + ["when"] * 2,
]
CORPUS = Corpus.from_tokens(X, Y)
TEXT = r"""
Once:   each field once
Year:   token ~ /(18|19|20)\d\d/ -> when
Border: change only after is punctuation
Start:  first in who
"""
RULES = RuleSet.from_text(TEXT)
NEW = [["Church", "1936", "A"], ["A", ".", "1950", ","], ["Alan"], []]
WAYS: list[dict[str, object]] = [
    {"penalties": "count"},
    {"penalties": "count", "over": "applicable"},
    {"penalties": 0.7},
    {"penalties": "fixed"},
    {"penalties": {"Once": 0.3, "Year": math.inf}},
    {"penalties": "perceptron", "folds": 3},
    {"penalties": "svm", "folds": 3},
]


def under_rules(
    potentials: Potentials, tokens: list[str], rules: RuleSet, labels: Labels
) -> Enumeration[tuple[int, ...]]:
    """Every labelling with its penalised score, from the meaning of the rules."""

    def gain(y: tuple[int, ...]) -> float:
        found = degrees(rules, tokens, [labels[i] for i in y])
        return -math.fsum(float(rho) * int(d) for rho, d in zip(rules.penalties, found, strict=True) if d)

    return labellings(potentials).reweighted(gain)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("base", [HMM(), CRF(max_iterations=20)])
def test_answers_by_enumeration(base: HMM | CRF, way: dict[str, object]) -> None:
    model = CCM(base, RULES, **way).fit(CORPUS)
    batch = model.potentials(NEW)
    labels, ranked, marginals = model.predict(NEW), model.predict_k(NEW, 3), model.predict_marginals(NEW)
    decoding = model.decode(NEW)
    assert decoding.settled.all()
    for i, tokens in enumerate(NEW[:3]):
        every = under_rules(batch[i], tokens, model.rules_, model.labels_)
        expected = every.ranked(backwards)[:3]
        assert decoding.scores[i] == pytest.approx(expected[0][1])
        assert labels[i] == [model.labels_[j] for j in expected[0][0]]
        assert [score for _, score in ranked[i]] == pytest.approx([score for _, score in expected])
        np.testing.assert_allclose(marginals[i], every.expectation(label_counts(batch[i])), atol=1e-9)
    assert labels[3] == []
    assert marginals[3].shape == (0, 3)
    assert model.score(CORPUS) == model.score(X, Y) > 0.9


def test_the_base_is_copied_and_potentials_are_its_own() -> None:
    base = HMM()
    model = CCM(base, RULES).fit(X, Y)
    assert not hasattr(base, "labels_")
    np.testing.assert_array_equal(model.potentials(NEW).unary, HMM().fit(X, Y).potentials(NEW).unary)


def test_penalties_of_every_kind() -> None:
    rules = RuleSet.from_text(TEXT + "Own: who required [penalty 2.5]\nHard: count(who) <= 1 [hard]")
    own = {"Own": 2.5, "Hard": math.inf}
    four = ("Once", "Year", "Border", "Start")

    def learned(penalties: object, **options: object) -> dict[str, float]:
        return CCM(HMM(), rules, penalties, **options).fit(CORPUS).penalties_

    assert learned("hard") == dict.fromkeys(four, math.inf) | own
    assert learned(3) == dict.fromkeys(four, 3.0) | own
    assert learned(math.inf) == learned("hard")
    assert learned("fixed") == dict.fromkeys(four, 1.0) | own
    assert learned({"Once": 4, "Own": 0.0}) == dict.fromkeys(four, 1.0) | own | {"Once": 4.0, "Own": 0.0}
    counted = count_penalties(compile_rules(rules, CORPUS.labels), CORPUS, over="applicable", kept_prior=2.0)
    assert list(learned("count", over="applicable", kept_prior=2.0).values()) == counted.tolist()
    # Six sequences of three fields each, all rules kept: log((18 + a) / b) and so on.
    found = learned("count", over="applicable", kept_prior=4.0, violated_prior=0.5)
    assert found["Once"] == pytest.approx(math.log(22 / 0.5))
    assert found["Start"] == pytest.approx(math.log(10 / 0.5))
    for way in ("perceptron", "svm"):
        assert all(found[name] >= 0 for found in [learned(way)] for name in four)
        assert {name: learned(way)[name] for name in own} == own


@pytest.mark.parametrize("way", ["perceptron", "svm"])
def test_a_development_set(way: str) -> None:
    """Gold of dev breaks a rule that the base's answers break too: it costs nothing. Without dev the folds decide."""
    dev = ([["Ada", "1950", "1843"]] * 2, [["who", "what", "what"], ["who", "what", "what"]])
    rules = RuleSet.from_text("Year: token ~ /\\d+/ -> when")
    model = CCM(HMM(), rules, way).fit(X, Y, dev=dev)
    assert model.penalties_ == {"Year": 0.0}
    again = CCM(HMM(), rules, way).fit(X, Y, dev=Corpus.from_tokens(*dev))
    assert again.penalties_ == model.penalties_
    assert CCM(HMM(), rules, way).fit(CORPUS).penalties_ == CCM(HMM(), rules, way).fit(X, Y).penalties_


@pytest.mark.parametrize(
    "options", [{"training": "IBT", "penalties": "hard"}, {"training": "IBT"}, {"training": "JIBT"}]
)
def test_perceptrons_trained_under_rules(options: dict[str, object], tmp_path: Path) -> None:
    base = Perceptron(["lower", "shape"], epochs=5, seed=2)
    model = CCM(base, RULES, **options).fit(CORPUS)
    assert model.score(CORPUS) > 0.9
    assert isinstance(model.base_, Perceptron)
    assert model.base_.get_params() == base.get_params()
    again = CCM(base, RULES, **options).fit(X, Y)
    assert again.penalties_ == model.penalties_
    assert again.base_.weights() == model.base_.weights()
    model.save(tmp_path / "m.espalier")
    assert load(tmp_path / "m.espalier").predict(X) == model.predict(X)


def test_training_under_rules_that_cost_nothing_is_plain_training() -> None:
    model = CCM(Perceptron(), RULES, 0.0, training="IBT").fit(CORPUS)
    assert model.base_.weights() == Perceptron().fit(CORPUS).weights()
    fixed = CCM(Perceptron(), RULES, {"Year": 0.5}, training="JIBT").fit(CORPUS)
    assert fixed.penalties_["Year"] == 0.5


def test_scikit_learn() -> None:
    model = CCM(HMM(transition_alpha=0.7), RULES, penalties=2.0)
    copy = clone(model)
    assert copy.get_params()["base__transition_alpha"] == 0.7
    assert copy.get_params()["rules"] == RULES
    grid = {
        "penalties": ["count", "hard", 1.5, {"Year": 2.0}],
        "base__transition_alpha": [0.1, 1.0],
        "rules": [RULES, RULES.only(["Once", "Year"]), "Year: token ~ /\\d+/ -> when"],
    }
    for data in ((CORPUS,), (X, Y)):
        search = GridSearchCV(CCM(HMM(), RULES), grid, cv=KFold(2), error_score="raise").fit(*data)
        assert search.best_score_ > 0.5
        assert search.best_estimator_.predict(X)


def test_fresh() -> None:
    model = CCM(HMM(transition_alpha=0.7), RULES, penalties=2.0).fit(CORPUS)
    copy = fresh(model)
    assert copy.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert copy.base is not model.base
    assert copy.base.transition_alpha == 0.7
    assert copy.rules is model.rules
    assert not hasattr(copy, "labels_")
    for wrong in (HMM, "hmm", None):
        with pytest.raises(InputError, match="not an estimator"):
            fresh(wrong)


@pytest.mark.parametrize("way", [*WAYS[:5], {"penalties": math.inf}])
def test_saving(way: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    model = CCM(CRF(l2=0.3, max_iterations=10), RULES, **way).fit(CORPUS)
    model.save(path)
    again = load(path)
    assert isinstance(again, CCM)
    safe = NEW[1:]
    assert again.predict(X) == model.predict(X)
    assert again.decode(safe).scores.tolist() == model.decode(safe).scores.tolist()
    assert again.penalties_ == model.penalties_
    assert again.labels_ == model.labels_
    assert again.training_digest_ == model.training_digest_
    assert again.rules == RULES  # as it was given: what was learned is learned anew
    assert again.base.l2 == 0.3
    wanted = "hard" if way["penalties"] == math.inf else way["penalties"]
    assert again.penalties == wanted
    assert again.fit(CORPUS).penalties_ == pytest.approx(model.penalties_)
    again.save(tmp_path / "again.espalier")


def damaged(header: dict[str, object], change: str) -> None:
    base, rules = header["base"], header["rules"]
    assert isinstance(base, dict)
    assert isinstance(rules, dict)
    if change == "no base":
        del header["base"]
    elif change == "odd base":
        header["base"] = ["hmm"]
    elif change == "unknown base":
        base["kind"] = "os.system"
    elif change == "other labels":
        header["labels"] = ["what", "when", "why"]
    elif change == "unknown field":
        rules["rules"][0]["rule"] = "why once"
    elif change == "odd rule":
        rules["rules"][0]["rule"] = "each feild once"
    elif change == "unknown unset":
        header["unset"] = ["nothing"]
    elif change == "no penalties":
        del header["penalties"]
    else:
        header["parameters"] = ["over"]


@pytest.mark.parametrize(
    "change",
    [
        "no base",
        "odd base",
        "unknown base",
        "other labels",
        "unknown field",
        "odd rule",
        "unknown unset",
        "no penalties",
        "",
    ],
)
def test_damaged_files(change: str, tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    CCM(HMM(), RULES).fit(CORPUS).save(path)
    header, arrays = store.load(path)
    header = json.loads(json.dumps(header))
    damaged(header, change)
    store.save(path, header, arrays)
    with pytest.raises(ModelFileError, match=r"m\.espalier"):
        load(path)


def test_missing_arrays_of_the_base(tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    CCM(HMM(), RULES).fit(CORPUS).save(path)
    header, arrays = store.load(path)
    store.save(path, header, {name: a for name, a in arrays.items() if name != "base/trans"})
    with pytest.raises(ModelFileError, match="trans"):
        load(path)


def test_pack_and_unpack() -> None:
    for model in (HMM().fit(CORPUS), CCM(HMM(), RULES).fit(CORPUS)):
        again = unpack(*pack(model))
        assert type(again) is type(model)
        assert again.predict(X) == model.predict(X)
    with pytest.raises(NotFittedError):
        pack(HMM())
    with pytest.raises(InputError, match="cannot be stored"):
        pack(object())  # type: ignore[arg-type]
    assert class_of("ccm") is CCM


def test_rules_with_python_functions_cannot_be_stored(tmp_path: Path) -> None:
    rules = RuleSet.from_text("F: token is odd -> when", predicates={"odd": lambda word: len(word) % 2 == 1})
    model = CCM(HMM(), rules).fit(CORPUS)
    with pytest.raises(RuleError, match="cannot be stored"):
        model.save(tmp_path / "m.espalier")


def test_infeasible_sequences() -> None:
    rules = RuleSet.from_text('A: token in "Ada" -> who\nB: token in "Ada" -> what\nYear: token ~ /\\d+/ -> when')
    model = CCM(HMM(), rules, "hard").fit(CORPUS)
    with pytest.warns(ResultWarning, match=r"no labelling for 2 of 3 sequences \(the first is number 0\)"):
        found = model.predict([["Ada", "1950"], ["1950"], ["Ada"]])
    assert found[0][0] in ("who", "what")  # one of the two rules is broken, the third is kept
    assert found[0][1] == found[1][0] == "when"
    assert model.predict_k([["Ada"]], 2) == [[]]
    with pytest.warns(ResultWarning, match="1 of 2 sequences have the base's marginals"):
        marginals = model.predict_marginals([["Ada"], ["1950"]])
    np.testing.assert_allclose(marginals[0], model.base_.predict_marginals([["Ada"]])[0])
    assert marginals[1][0].tolist() == pytest.approx([0.0, 1.0, 0.0])
    assert model.predict([]) == model.predict_marginals([]) == model.predict_k([], 2) == []


def test_explain() -> None:
    model = CCM(HMM(), RULES, 50.0).fit(CORPUS)
    tokens = ["A", ".", "Church", ",", "machines", ",", "A", "."]
    found = model.explain(tokens)
    assert found.after.names() == model.predict([tokens])[0]
    assert found.before.names() == model.base_.predict([tokens])[0]


def test_degenerate_data() -> None:
    one = CCM(HMM(), 'Once: each field once\nN: token in "n" -> a').fit([["a"]], [["a"]])
    assert one.predict([["a", "b"], []]) == [["a", "a"], []]
    assert one.penalties_["N"] == pytest.approx(math.log((1 + 15) / 0.25))
    never = CCM(HMM(), 'N: token in "n" -> who', over="applicable").fit(CORPUS)
    assert never.penalties_["N"] == pytest.approx(math.log(15 / 0.25))
    broken = CCM(HMM(), "W: token ~ /\\d+/ -> who\nF: first in when", over="applicable", kept_prior=1.0).fit(CORPUS)
    assert broken.penalties_ == {"W": 0.0, "F": 0.0}
    assert broken.predict(X) == broken.base_.predict(X)
    partial = [[None if t % 2 else label for t, label in enumerate(y)] for y in Y]
    for options in ({}, {"penalties": "perceptron"}, {"penalties": "svm"}):
        assert CCM(HMM(), RULES, **options).fit(X, partial).score(X, Y) > 0.5
    for training in ("IBT", "JIBT"):
        assert CCM(Perceptron(), RULES, training=training).fit(X, partial).score(X, Y) > 0.5
    assert CCM(HMM(), RuleSet()).fit(CORPUS).predict(X) == HMM().fit(CORPUS).predict(X)


def test_sample_weight() -> None:
    weight = [1.0, 2.0, 0.0, 1.0, 3.0, 1.0]
    copies = CORPUS[[0, 1, 1, 3, 4, 4, 4, 5]]
    model = CCM(HMM(), RULES).fit(CORPUS, sample_weight=weight)
    assert model.penalties_ == pytest.approx(CCM(HMM(), RULES).fit(copies).penalties_)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"penalties": "counts"}, "penalties is 'counts'"),
        ({"penalties": -1.0}, "penalties is -1.0"),
        ({"penalties": math.nan}, "penalties is nan"),
        ({"penalties": True}, "penalties is True"),
        ({"penalties": None}, "penalties is None"),
        ({"penalties": {"Onec": 1.0}}, "did you mean 'Once'"),
        ({"over": "words"}, "not 'words'"),
        ({"kept_prior": 0.0}, "must be positive"),
        ({"violated_prior": -1.0}, "violated_prior is -1.0"),
        ({"C": math.inf}, "C is inf"),
        ({"folds": 1}, "folds is 1"),
        ({"epochs": 0}, "epochs is 0"),
        ({"training": "L"}, "expected 'L\\+I', 'IBT' or 'JIBT'"),
        ({"training": "JIBT"}, "a HMM has no `fit_under_rules`; choose a Perceptron"),
        ({"base": Perceptron(), "training": "IBT", "penalties": "svm"}, "'svm' needs a trained base"),
        ({"base": Perceptron(), "training": "JIBT", "penalties": "hard"}, "learns the penalties itself"),
        ({"base": SemiCRF(max_iterations=2), "penalties": "svm"}, "SemiCRF is no model of chains"),
        ({"base": HMM}, "not an estimator"),
        ({"rules": ["Once: each field once"]}, "a RuleSet or its text, not list"),
        ({"rules": "Once: each feild once"}, "feild"),
        ({"rules": "Why: why required"}, "pass labels= to fit"),
    ],
)
def test_bad_parameters(arguments: dict[str, object], complaint: str) -> None:
    model = CCM(**({"base": HMM(), "rules": RULES} | arguments))
    with pytest.raises(InputError, match=complaint):
        model.fit(CORPUS).predict(X)


def test_bad_data() -> None:
    trained = CCM(HMM(), RULES, "svm")
    with pytest.raises(InputError, match="dev has no labels to score against"):
        trained.fit(CORPUS, dev=CORPUS[[]])
    with pytest.raises(InputError, match="dev has no labels to score against"):
        trained.fit(CORPUS, dev=X)
    with pytest.raises(LabelError, match="unknown label 'why'"):
        trained.fit(CORPUS, dev=([["a"]], [["why"]]))
    with pytest.raises(InputError, match="one training sequence needs dev"):
        trained.fit(X[:1], Y[:1])
    with pytest.raises(InputError, match="training corpus is empty"):
        CCM(HMM(), RULES).fit([], [])
    with pytest.raises(InputError, match="fit needs labels"):
        CCM(HMM(), RULES).fit(X)
    with pytest.raises(NotFittedError):
        CCM(HMM(), RULES).predict(X)
    with pytest.raises(NotFittedError):
        _ = CCM(HMM(), RULES).penalties_

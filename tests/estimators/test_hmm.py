"""`HMM` as an estimator: scikit-learn's conventions, every form of input, bad input, saving."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline

from espalier import store
from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, LabelError, ModelFileError, NotFittedError
from espalier.estimators.hmm import HMM
from espalier.estimators.persist import load
from espalier.features.word_classes import WordClasses
from espalier.models.hmm import HMMCounts, Smoothing, Vocabulary, estimate
from oracles import backwards, label_counts, labellings

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
CLASSES = WordClasses(
    ("ada", "grace", "notes", "YYYY", "alan"), (2, 3), np.array([[0, 0], [0, 1], [1, 2], [1, 0], [0, 0]]), np.eye(5)
)
MODELS = [
    *(HMM(), HMM("additive"), HMM(transition_classes="punctuation"), HMM(normalise="none")),
    HMM(word_classes=CLASSES, transition_classes="sentences"),
]


def test_the_estimator_is_the_model() -> None:
    model = HMM().fit(X, Y)
    counts = HMMCounts.from_labels(CORPUS, Vocabulary().extended(CORPUS))
    expected = estimate(counts, Smoothing(), Labels(["what", "when", "who"]))
    for name in ("start", "trans", "emission"):
        np.testing.assert_array_equal(getattr(model.parameters_, name), getattr(expected, name))
    assert model.labels_.names == ("what", "when", "who")
    assert model.classes_.tolist() == ["what", "when", "who"]
    assert model.vocabulary_ is model.parameters_.vocabulary


@pytest.mark.parametrize("model", MODELS)
def test_learns_and_predicts(model: HMM) -> None:
    model = clone(model).fit(CORPUS)
    new = [["Alan", "Kay", ".", "Objects", ".", "1972", "."], [], ["1999"]]
    predicted = model.predict(new)
    assert [len(p) for p in predicted] == [7, 0, 1]
    assert predicted[0][0] == "who"
    assert predicted[0][-2:] == ["when", "when"]
    assert model.score(X, Y) > 0.8
    assert model.score(CORPUS) == model.score(X, Y)


@pytest.mark.parametrize("model", MODELS)
def test_marginals_and_k_best_by_enumeration(model: HMM) -> None:
    model = clone(model).fit(X, Y)
    new = [["A", ".", "Kay", ",", "1972"], ["1999"], []]
    batch = model.potentials(new)
    marginals, ranked = model.predict_marginals(new), model.predict_k(new, 3)
    for i in range(2):
        every = labellings(batch[i])
        np.testing.assert_allclose(marginals[i], every.expectation(label_counts(batch[i])), atol=1e-9)
        expected = every.ranked(backwards)[:3]
        assert [score for _, score in ranked[i]] == pytest.approx([score for _, score in expected])
        assert ranked[i][0][0] == model.predict(new)[i]
    assert marginals[2].shape == (0, 3)


def test_scikit_learn() -> None:
    model = HMM(backoff_weight=50.0)
    assert clone(model).get_params() == model.get_params()
    assert Pipeline([("hmm", HMM())]).fit(X, Y).predict(X) == HMM().fit(X, Y).predict(X)
    folds = KFold(3)
    by_list = cross_val_score(HMM(), X, Y, cv=folds)
    by_corpus = cross_val_score(HMM(), CORPUS, cv=folds)
    np.testing.assert_allclose(by_list, by_corpus)
    assert (by_list > 0.5).all()
    grid = {"backoff_weight": [10.0, 1000.0], "smoothing": ["backoff", "additive"]}
    for data in ((X, Y), (CORPUS,)):
        search = GridSearchCV(HMM(), grid, cv=folds, error_score="raise").fit(*data)
        assert len(search.cv_results_["params"]) == 4
        assert search.best_estimator_.predict(X[:1])[0][0] == "who"


def test_a_second_fit_forgets_the_first() -> None:
    model = HMM().fit(X[:2], Y[:2]).fit(X, Y)
    np.testing.assert_array_equal(model.parameters_.emission, HMM().fit(X, Y).parameters_.emission)


def test_weights_are_repetitions() -> None:
    weighted = HMM().fit(X, Y, sample_weight=[2, 1, 0, 1, 1, 1])
    order = [0, 0, 1, 3, 4, 5]
    repeated = HMM().fit([X[i] for i in order], [Y[i] for i in order], vocabulary=weighted.vocabulary_)
    for name in ("start", "trans", "emission"):
        np.testing.assert_allclose(getattr(weighted.parameters_, name), getattr(repeated.parameters_, name))
    for wrong in ([1], [1, 1, 1, 1, 1, -1], [1, 1, 1, 1, 1, math.nan]):
        with pytest.raises(InputError, match="sample_weight"):
            HMM().fit(X, Y, sample_weight=wrong)


def test_unknown_labels() -> None:
    partial = [[None if t == 4 else label for t, label in enumerate(y)] for y in Y]
    model = HMM().fit(X, partial)
    assert model.counts_.emission.sum() == sum(map(len, Y)) - len(Y)
    assert model.score(X, partial) > 0.8


def test_a_label_never_seen() -> None:
    model = HMM().fit(X, Y, labels=["when", "who", "what", "where"])
    assert model.labels_.names == ("when", "who", "what", "where")
    assert model.predict_marginals(X)[0].shape == (9, 4)
    assert np.isfinite(model.potentials(X).unary).all()
    with pytest.raises(LabelError, match="unknown label 'when'"):
        HMM().fit(X, Y, labels=["who", "what"])


def test_a_larger_vocabulary() -> None:
    pool = Corpus.from_tokens([["Quantum", "gravity"]])
    model = HMM().fit(X, Y, vocabulary=Vocabulary().extended(pool))
    assert model.vocabulary_.words[:2] == ("quantum", "gravity")
    assert model.vocabulary_.words[2:] == HMM().fit(X, Y).vocabulary_.words
    with pytest.raises(InputError, match="normalise='none'"):
        HMM().fit(X, Y, vocabulary=Vocabulary(normalise="none"))


def test_word_classes() -> None:
    model = HMM(word_classes=CLASSES).fit(X, Y, vocabulary=Vocabulary().extended(Corpus.from_tokens([["Quantum"]])))
    assert model.vocabulary_.words[:6] == ("quantum", *CLASSES.words)
    assert set(model.parameters_.unknown) == {"shape", "suffix", "cluster2", "cluster3"}
    # "Alan" was never labelled, but is in the clusters of "Ada".
    plain = HMM().fit(X, Y, vocabulary=model.vocabulary_.classified(None))
    who, what = map(plain.labels_.names.index, ("who", "what"))
    alan = Corpus.from_tokens([["Alan"]])
    with_classes, without = (np.log(m.parameters_.emission_rows(alan)[0]) for m in (model, plain))
    assert with_classes[who] - with_classes[what] > without[who] - without[what]
    with pytest.raises(InputError, match="additive smoothing knows no word classes"):
        HMM("additive", word_classes=CLASSES).fit(X, Y)
    with pytest.raises(InputError, match="the word classes have 'classes'"):
        HMM(normalise="lower", word_classes=CLASSES).fit(X, Y)


def test_tags_stay_valid() -> None:
    marked = [[("B-" if t == 0 or y[t - 1] != a else "I-") + a for t, a in enumerate(y)] for y in Y]
    model = HMM().fit(X, marked)
    allowed_start, allowed = model.labels_.allowed()
    for ids in (model.labels_.encode(p) for p in model.predict([["1999", "on", "Ada"], ["engines"] * 4])):
        assert allowed_start[ids[0]]
        assert all(allowed[a, b] for a, b in itertools.pairwise(ids))


def test_sequences_of_one_token() -> None:
    model = HMM().fit([["a"], ["b"]], [["x"], ["y"]])
    assert model.predict([["a"], ["b"], ["a"]]) == [["x"], ["y"], ["x"]]


@pytest.mark.parametrize("model", MODELS)
def test_saving(model: HMM, tmp_path: Path) -> None:
    model = clone(model).fit(X, Y)
    model.save(tmp_path / "m")
    assert store.load(tmp_path / "m")[0]["kind"] == "hmm"
    again = load(tmp_path / "m")
    assert isinstance(again, HMM)
    assert again.get_params() == model.get_params()
    new = [*X, ["Never", "seen", ";", "77", "-"]]
    assert again.predict(new) == model.predict(new)
    for a, b in zip(again.predict_marginals(new), model.predict_marginals(new), strict=True):
        np.testing.assert_array_equal(a, b)
    again.save(tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_a_file_of_another_making(tmp_path: Path) -> None:
    HMM().fit(X, Y).save(tmp_path / "m")
    header, arrays = store.load(tmp_path / "m")
    with pytest.raises(ModelFileError, match="word classes 'shape'"):
        HMM().restore(header, arrays | {"unknown/shape": arrays["unknown/shape"][:-1]})
    _, clustered = HMM(word_classes=CLASSES).fit(X, Y).state()
    with pytest.raises(ModelFileError, match="stored word classes are damaged"):
        HMM().restore(header, clustered | {"classes/members": clustered["classes/members"] + 5})
    without = {name: array for name, array in clustered.items() if not name.startswith("classes/")}
    with pytest.raises(ModelFileError, match="word classes 'cluster2'"):
        HMM().restore(header, without)


def test_bad_input() -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        HMM().predict(X)
    with pytest.raises(NotFittedError):
        _ = HMM().vocabulary_
    with pytest.raises(InputError, match="empty"):
        HMM().fit([], [])
    with pytest.raises(InputError, match="empty"):
        HMM().fit([[]], [[]])
    with pytest.raises(InputError, match="labels"):
        HMM().fit(X)
    with pytest.raises(LabelError, match="every label is unknown"):
        HMM().fit([["a"]], [[None]])
    with pytest.raises(InputError, match="sequence 0 is a string"):
        HMM().fit(["abc"], [["x"]])
    with pytest.raises(InputError, match="sequence 1 has 9 tokens but 2 labels"):
        HMM().fit(X, [Y[0], ["who", "what"], *Y[2:]])
    fitted = HMM().fit([[], ["a", "b"], []], [[], ["x", "y"], []])
    assert fitted.predict([[], ["a"]]) == [[], ["x"]]
    assert fitted.predict([]) == fitted.predict_marginals([]) == fitted.predict_k([], 2) == []
    assert fitted.score([["a", "b"]], [["x", "never"]]) == 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"smoothing": "kneser"}, "expected 'backoff' or 'additive'"),
        ({"normalise": "stem"}, "expected 'none', 'lower' or 'classes'"),
        ({"transition_classes": "commas"}, "expected None, 'punctuation' or 'sentences'"),
        ({"start_alpha": -1.0}, "'start' is -1.0"),
        ({"transition_alpha": math.nan}, "'trans' is nan"),
        ({"emission_alpha": 0.0}, "'emission' is 0.0"),
        ({"backoff_weight": math.inf}, "'backoff' is inf"),
        ({"class_weight": "1"}, "'classes' is '1'"),
        ({"pooling_weight": -3}, "'pooled' is -3"),
    ],
)
def test_bad_parameters(parameters: dict, message: str) -> None:
    model = HMM(**parameters)  # the constructor only stores
    with pytest.raises(InputError, match=message):
        model.fit(X, Y)


def test_accuracy_on_references(data_dir: Path) -> None:
    """Twenty labelled references are enough for 70 of 100 tokens (the published plain HMM has 70.78)."""

    def read(name: str) -> Corpus:
        lines = (data_dir / "cora" / "normalised" / name).read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        return Corpus.from_tokens([r["tokens"] for r in records], [r["labels"] for r in records])

    train, dev = read("train.jsonl"), read("dev.jsonl")
    chosen = np.array(random.Random(0).sample(range(len(train)), 20))
    assert HMM().fit(train[chosen]).score(dev) > 0.70
    assert HMM().fit(train).score(dev) > 0.86
    lines = (data_dir / "cora" / "normalised" / "unlabelled.jsonl").read_text(encoding="utf-8").splitlines()
    classes = WordClasses.learn(Corpus.from_tokens([json.loads(line)["tokens"] for line in lines]))
    model = HMM(word_classes=classes, class_weight=10.0, transition_classes="punctuation")
    assert model.fit(train[chosen]).score(dev) > 0.85


def test_explain_works_on_a_model_without_rules():
    model = HMM().fit([["a", "b"], ["b", "c"]], [["x", "y"], ["x", "y"]])
    explanation = model.explain(["a", "c"])
    assert not explanation.changed
    assert explanation.after.names() == model.predict([["a", "c"]])[0]
    assert str(explanation).endswith("No rules are used in decoding (optimal).")

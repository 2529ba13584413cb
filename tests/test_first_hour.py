"""The first hour with a library: nothing of it may go wrong in silence, or end in words of Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import espalier as es
from espalier.bridges import frames
from espalier.errors import (
    EspalierError,
    InfeasibleError,
    InputError,
    LabelError,
    NotFittedError,
    ResultWarning,
    RuleError,
)
from espalier.estimators.base import fresh

X = [["2", "cups", "flour"], ["1", "cup", "milk"], ["3", "eggs"]]
Y: list[list[str | None]] = [["B-qty", "B-unit", "B-name"], ["B-qty", "B-unit", "B-name"], ["B-qty", "B-name"]]
ATTRIBUTES = [[{"word": word} for word in words] for words in X]
CORPUS = es.Corpus.from_tokens(X, Y)
ONCE = "Once: each field once"


@pytest.fixture(scope="module")
def model() -> es.CRF:
    return es.CRF().fit(X, Y)


@pytest.fixture(scope="module")
def net() -> es.ConvCRF:
    return tiny_net().fit(X, Y)


def tiny_net(**more: Any) -> es.ConvCRF:
    return es.ConvCRF(channels=8, dilations=(1,), buckets=64, embedding=4, crf_epochs=1, min_steps=3, **more)


# What went wrong in silence.


def test_a_table_with_a_number_at_first_tokens_only() -> None:
    table = {"Sentence #": ["1", float("nan"), "2"], "Word": ["Ada", "calls", "Bob"]}
    what = r"column 'Sentence #' has no value in row 1, .*: df\['Sentence #'\] = df\['Sentence #'\]\.ffill\(\)"
    with pytest.raises(InputError, match=what):
        frames.corpus_from_table(table, sequence="Sentence #", token="Word")


@pytest.mark.parametrize("kind", [es.CRF, es.Perceptron])
def test_templates_beside_ready_attributes(kind: Any) -> None:
    with pytest.warns(ResultWarning, match="ready attributes, so the features of this model have no effect"):
        kind(["lower"]).fit(ATTRIBUTES, Y)


def test_rare_attributes_are_dropped() -> None:
    rows = [[["often"], ["once", "often"]], [["often"]]]
    kept = es.CRF(min_count=2).fit(rows, [["a", "b"], ["a"]])
    assert kept.index_.names() == ("often",)
    assert kept.predict(rows) == es.CRF().fit([[["often"]] * 2, [["often"]]], [["a", "b"], ["a"]]).predict(rows)


def test_labels_that_a_model_does_not_have(model: es.CRF, net: es.ConvCRF) -> None:
    strange = es.Corpus.from_tokens([["a", "b"]] * 50, [["B-what", "B-qty"]] * 50)
    with pytest.warns(ResultWarning, match="fields that the model does not have, .*: what$"):
        es.Extractor(model).calibrate(strange)
    taught = es.CoDL(es.CCM(es.HMM(), ONCE), cycles=1)
    with pytest.warns(
        ResultWarning, match="dev has labels that the training set lacks, .* wrong: B-what; pass labels="
    ):
        assert taught.fit(X, Y, unlabelled=X, dev=([["a"]], [["B-what"]])).score_ == 0.0
    with pytest.warns(ResultWarning, match="dev has labels"):
        fresh(net).fit(X, Y, dev=strange)


@pytest.mark.parametrize("kind", [es.CRF, es.Perceptron, es.HMM, tiny_net])
def test_a_tag_that_continues_nothing_is_told(kind: Any) -> None:
    labels = [["O", "I-x"], ["B-x", "I-x"], ["I-x", "O"]]
    what = r"sequence 0, token 1: 'I-x' continues nothing \(2 such tokens in all\), .* give the token 'B-x'"
    with pytest.warns(ResultWarning, match=what):
        kind().fit([["a", "b"]] * 3, labels)
    kind().fit([["a", "b"]] * 2, [[None, "I-x"], ["B-x", "I-x"]])  # behind an unknown label nobody can tell


def test_labels_that_cannot_be_compared(model: es.CRF) -> None:
    found = model.predict(X)
    with pytest.warns(ResultWarning, match="the predicted labels have marks .* and the gold ones have none"):
        es.evaluate(X, found)
    plain = es.Corpus.from_documents(CORPUS.to_documents(), marks=False)
    with pytest.warns(ResultWarning, match="the gold labels have marks"):
        es.evaluate(Y, plain)
    with pytest.warns(ResultWarning, match="gold has 1, 2, 3, cup, cups and 3 more, .*: no label in common"):
        es.evaluate(X, plain)
    es.evaluate([["B-a", "O"]], [["O", "O"]])  # it found nothing, which is no slip
    es.evaluate([["a", "O"]], [["b", "O"]])


def test_tokens_of_ones_own_are_documents(model: es.CRF) -> None:
    for attempt in (es.Extractor(model).extract, lambda own: list(es.Extractor(model).extract_many([own]))):
        with pytest.raises(InputError, match=r"for tokens of your own pass es\.Document\.from_tokens"):
            attempt(["1/2", "cup"])  # type: ignore[arg-type]
    assert es.Extractor(model).extract(es.Document.from_tokens(["1/2", "cup"])).text == "1/2 cup"


def test_weights_that_leave_nothing() -> None:
    with pytest.raises(InputError, match="every sample_weight is 0"):
        es.CRF().fit(X, Y, sample_weight=np.zeros(3))


def test_an_explanation_without_rules(model: es.CRF) -> None:
    assert str(model.explain(X[0])) == (
        "labels  B-qty  B-unit  B-name\n        2      cups    flour\n\nNo rules are used in decoding (optimal)."
    )
    with pytest.warns(ResultWarning, match="too little raw text"):
        worded = es.WordLearner(es.CRF()).fit(X, Y, unlabelled=X[:1])
    assert str(worded.explain(X[0])) == str(model.explain(X[0]))
    attributes = es.CRF().fit(ATTRIBUTES, Y)
    assert "{'word': '3'}" in str(attributes.explain(ATTRIBUTES[2]))  # type: ignore[arg-type]


def test_an_explanation_of_rules_that_only_teach() -> None:
    rule = 'Flour: token in "flour" -> unit'
    plain, ruled = (
        es.PosteriorRegularization(es.HMM(), rule, slack=50.0, iterations=0, decode=how).fit(X, Y, unlabelled=X)
        for how in ("model", "rules")
    )
    assert str(plain.explain(X[0])).endswith("No rules are used in decoding; decode='rules' would use them (optimal).")
    found = ruled.explain(X[0])
    assert found.cause == ("Flour",)
    assert found.after.names() == ruled.predict(X[:1])[0]
    assert found.before.names() == plain.predict(X[:1])[0]


# What ended in Python's words, or in the wrong place.


def test_the_first_label_that_is_no_string() -> None:
    with pytest.raises(LabelError, match=r"sequence 0, token 0: a label is a string, not"):
        es.CRF().fit([["a", "b"]], np.array([[0, 1]]))
    with pytest.raises(LabelError, match=r"sequence 0, token 1: a label is a string, not 2"):
        es.CRF().fit([["a", "b"]] * 2, [["O", 2], ["O", 1]])  # type: ignore[list-item]
    with pytest.raises(LabelError, match=r"sequence 0, token 0: a label is a string, not \['O'\]"):
        es.CRF().fit([["a"]], [[["O"]]])  # type: ignore[list-item]


@pytest.mark.parametrize("kind", [es.CRF, es.Perceptron, tiny_net])
def test_a_tag_behind_an_unknown_label(kind: Any) -> None:
    what = "sequence 1, token 1: 'I-x' continues a field, and no known label begins one; pass labels= .* with 'B-x'"
    labels = [["O", "O"], [None, "I-x"]]
    with pytest.raises(InfeasibleError, match=what):
        kind().fit([["a", "b"]] * 2, labels)
    assert kind().fit([["a", "b"]] * 2, labels, labels=["B-x", "I-x", "O"]).predict([["a"]])


def test_a_pair_is_a_pair_everywhere(model: es.CRF) -> None:
    with pytest.warns(ResultWarning, match="3 texts say little"):
        pair, corpus = (es.Extractor(model).calibrate(data).calibration.to_header() for data in ((X, Y), CORPUS))
    assert pair == corpus
    assert es.discover((X, Y), model).rules.names == es.discover(CORPUS, model).rules.names
    for attempt in (
        lambda: es.CoDL(es.HMM()).fit(X, Y, unlabelled=X, dev=[X, Y]),
        lambda: es.CCM(es.CRF(), ONCE, "svm").fit(X, Y, dev=[X, Y]),
    ):
        with pytest.raises(
            InputError, match=r"dev is a list of two lists; pass a pair in round brackets: dev=\(X, y\)"
        ):
            attempt()
    with pytest.raises(InputError, match="held_out is a list of two lists"):
        es.Experts([es.CRF()]).fit(X, Y, held_out=[X, Y])


def test_a_fitted_model_is_a_prior(model: es.CRF, net: es.ConvCRF) -> None:
    for given in (model, net):
        own: Any = fresh(given).set_params(prior=None)
        own = type(given)(**own.get_params(deep=False) | {"prior": given})
        assert own.prior.labels == given.labels_
        assert fresh(own).fit(X, Y).predict(X)  # a copy still has it


REFUSED: dict[str, tuple[Callable[[Any], Any], type[EspalierError], str]] = {
    "mappings": (
        lambda m: es.HMM().fit(ATTRIBUTES, Y),
        InputError,
        "HMM knows words alone",
    ),
    "one set of texts": (
        lambda m: es.Extractor(m).calibrate(CORPUS, unseen=CORPUS),  # type: ignore[arg-type]
        InputError,
        r"unseen is one set of texts; pass a list of sets: unseen=\[texts\]",
    ),
    "partly labelled texts": (
        lambda m: es.Extractor(m).calibrate((X, [[None, *tags[1:]] for tags in Y])),
        InputError,
        "every text with labels has a token whose label is unknown",
    ),
    "no labels": (
        lambda m: es.decode([[1.0, 2.0]], "A: a once", tokens=["x"]),
        RuleError,
        "unknown field 'a'; known fields: 0, 1, O .*pass labels=, a name for each column",
    ),
    "an unknown field": (
        lambda m: es.rules("A: a once", labels=["qty", "unit"]),
        RuleError,
        "unknown field 'a'; known fields: O, qty, unit",
    ),
    "an infinite penalty": (lambda m: es.rules("A: qty once [penalty inf]"), RuleError, r"infinite; write \[hard\]"),
    "no penalty": (lambda m: es.rules("A: qty once [penalty nan]"), RuleError, r"expected a number, as in \[penalty"),
    "a verb first": (lambda m: es.rules("A: required qty"), RuleError, "write 'qty required'"),
    "=<": (lambda m: es.rules("A: count(qty) =< 2"), RuleError, r"write 'count\(qty\) <= 2'"),
    "=>": (lambda m: es.rules("A: qty => 2"), RuleError, r"write 'count\(qty\) >= 2'"),
    "an unfitted teacher": (lambda m: es.ConvCRF().fit(X, teacher=es.CRF()), NotFittedError, "call its fit first"),
    "a name as teacher": (lambda m: es.ConvCRF().fit(X, teacher="citations"), InputError, "expected a fitted model"),
    "one dilation": (lambda m: es.ConvCRF(dilations=3).fit(X, Y), InputError, "expected whole numbers"),  # type: ignore[arg-type]
    "one dropout": (lambda m: es.ConvCRF(dropout=0.3).fit(X, Y), InputError, "expected five shares"),  # type: ignore[arg-type]
    "a list of clamps": (
        lambda m: es.decode([[1.0, 2.0]], labels=["a", "b"], clamp=["a"]),
        InputError,
        r"clamp is \['a'\]; expected labels by tokens",
    ),
    "one penalty": (lambda m: es.rules(ONCE).with_penalties(3), InputError, "penalties is 3; expected some by name"),  # type: ignore[arg-type]
    "balanced": (lambda m: es.CRF().fit(X, Y, "balanced"), InputError, "is 'balanced'; expected 3 numbers"),
    "progress": (lambda m: es.CRF(progress=5).fit(X, Y), InputError, "progress is 5; expected a function"),  # type: ignore[arg-type]
    "a number to save at": (lambda m: m.save(5), InputError, "save takes the path of a file, not 5"),
    "nothing to save at": (lambda m: es.Extractor(m).save(None), InputError, "the path of a file, not None"),  # type: ignore[arg-type]
    "a number in quotes": (lambda m: m.top_weights("B-qty", "3"), InputError, "n is '3'; expected a whole number"),
    "weights of nothing": (lambda m: es.CRF().top_weights("B-qty"), NotFittedError, "call fit first"),
    "one extraction": (
        lambda m: frames.field_columns(es.Extractor(m).extract("2 cups")),  # type: ignore[arg-type]
        InputError,
        r"extractions is Extraction; .* in a list: \[found\]",
    ),
    "one record": (
        lambda m: frames.record_columns(es.Extractor(m).extract("2 cups")),  # type: ignore[arg-type]
        InputError,
        "extractions is Extraction",
    ),
    "columns of tokens": (lambda m: frames.token_columns(X), InputError, "a Corpus is needed, not list"),  # type: ignore[arg-type]
    "strings to label": (lambda m: es.Extractor(m).label(["2 cups"]), InputError, "documents, not str"),  # type: ignore[list-item]
    "labels before fit": (lambda m: es.CRF().labels_, NotFittedError, "is not fitted yet, so it has no labels_"),
    "segments among experts": (
        lambda m: es.Experts([es.CRF(), es.SemiCRF()], weights=[1, 1]).fit(X, Y),
        InputError,
        "SemiCRF is no model of chains",
    ),
    "two to explain": (lambda m: m.explain(X[:2]), InputError, "explain takes one sequence, not several"),
    "two to explain under rules": (
        lambda m: es.CCM(es.CRF(), ONCE).fit(X, Y).explain(X[:2]),  # type: ignore[arg-type]
        InputError,
        "explain takes one sequence",
    ),
    "a text to explain": (lambda m: m.explain("2 cups"), InputError, "explain takes a list of tokens, not a string"),
    "a function": (lambda m: es.CRF(len).fit(X, Y), InputError, "len is a function; call it yourself"),  # type: ignore[arg-type]
    "a list of functions": (lambda m: es.CRF([len]).fit(X, Y), InputError, "a token of X may be a mapping"),
    "a string of labels": (lambda m: es.CRF().fit(X, Y, labels="abc"), LabelError, r"pass a list: \['abc'\]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(model: es.CRF, name: str) -> None:
    attempt, error, what = REFUSED[name]
    with pytest.raises(error, match=what):
        attempt(model)


def test_one_and_several(model: es.CRF) -> None:
    assert "1 rule, 3 fields)" in repr(es.Extractor(model, "Once: qty once"))
    with pytest.raises(RuleError, match="2 penalties for 1 rule;"):
        es.rules(ONCE).with_penalties([1.0, 2.0])


def test_a_loaded_model_is_shown_in_a_line(tmp_path: Path) -> None:
    fruit, places = ["plum", "fig", "pear", "quince", "apple"], ["Ely", "Wye", "Rye", "Ulm", "Pau"]
    raw = [[what, word, where] for what in fruit for word in ("in", "near") for where in places]
    labels = [["what", "O", "where"]] * 2
    es.WordLearner(es.CRF(), clusters=[4], dimensions=2).fit(raw[:2], labels, unlabelled=raw).save(tmp_path / "m")
    assert "CRF(features=<30 templates>)" in repr(es.load(tmp_path / "m"))

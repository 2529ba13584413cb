"""Token accuracy, exactness, the confusion table, and the report of everything."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, LabelError
from espalier.metrics import Report, confusion, evaluate, exactness, token_accuracy

GOLD = [["B-x", "I-x", "O"], ["O", None], [None], []]
PREDICTED = [["B-x", "I-x", "O"], ["B-x", "O"], ["O"], []]


def test_by_hand() -> None:
    assert token_accuracy(GOLD, PREDICTED) == 3 / 4
    assert exactness(GOLD, PREDICTED) == 1 / 2  # the last two sequences have nothing to judge
    table = confusion(GOLD, PREDICTED)
    assert table.labels == ("B-x", "I-x", "O")
    assert table.counts.tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    assert table.mistakes() == [("O", "B-x", 1)]
    assert json.loads(json.dumps(table.to_dict())) == {"labels": ["B-x", "I-x", "O"], "counts": table.counts.tolist()}


labels = st.sampled_from(["a", "b", "c"])


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.lists(st.lists(st.tuples(st.none() | labels, labels), max_size=6), max_size=5))
def test_against_scikit_learn(pairs: list[list[tuple[str | None, str]]]) -> None:
    known = [pair for sequence in pairs for pair in sequence if pair[0] is not None]
    gold, predicted = [[g for g, _ in s] for s in pairs], [[p for _, p in s] for s in pairs]
    if not known:
        with pytest.raises(InputError):
            token_accuracy(gold, predicted)
        return
    y, z = zip(*known, strict=True)
    assert token_accuracy(gold, predicted) == pytest.approx(accuracy_score(y, z))
    table = confusion(gold, predicted, labels=Labels(["c", "a", "b"]))
    assert table.counts.tolist() == confusion_matrix(y, z, labels=["c", "a", "b"]).tolist()
    assert exactness(gold, predicted) == np.mean(
        [all(g in (None, p) for g, p in s) for s in pairs if any(g is not None for g, _ in s)]
    )


def test_corpora_with_different_label_orders() -> None:
    tokens = [["u", "v"], ["w"]]
    gold = Corpus.from_tokens(tokens, [["a", None], ["b"]], vocabulary=Labels(["b", "a"]))
    predicted = Corpus.from_tokens(tokens, [["a", "a"], ["a"]], vocabulary=Labels(["a", "b"]))
    assert token_accuracy(gold, predicted) == 0.5
    assert token_accuracy(gold, [["a", "a"], ["a"]]) == 0.5
    with pytest.raises(InputError, match="the predicted corpus has no labels"):
        token_accuracy(gold, Corpus.from_tokens(tokens))


def test_a_fixed_set_of_labels() -> None:
    assert confusion([["a"]], [["a"]], labels=Labels(["z", "a"])).counts.tolist() == [[0, 0], [0, 1]]
    with pytest.raises(LabelError, match="predicted sequence 0, token 0: unknown label 'q'"):
        confusion([["a"]], [["q"]], labels=Labels(["a"]))


def test_the_table_is_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        confusion([["a"]], [["a"]]).counts[0, 0] = 3


def test_report() -> None:
    report = evaluate(GOLD, PREDICTED)
    assert isinstance(report, Report)
    assert (report.token_accuracy, report.exact) == (0.75, 0.5)
    assert report.field_f1 == pytest.approx(2 / 3)  # one right of two predicted and one gold
    found = json.loads(json.dumps(report.to_dict()))
    assert found["per_field"] == {"x": {"precision": 0.5, "recall": 1.0, "f1": report.field_f1, "support": 1}}
    assert list(found)[:4] == ["token_accuracy", "field_f1", "exact", "per_field"]
    assert found.keys() == {
        *("token_accuracy", "field_f1", "exact", "per_field", "micro", "macro", "weighted"),
        *("n_sequences", "n_tokens", "strict", "leaves"),
    }
    assert (found["n_sequences"], found["n_tokens"], found["strict"]) == (2, 4, False)


def test_report_as_text() -> None:
    assert str(evaluate(GOLD, PREDICTED)).splitlines() == [
        "token accuracy 75.00   field F1 66.67   exact 50.00   (2 sequences, 4 tokens)",
        "",
        "field     precision     recall         F1  support",
        "x             50.00     100.00      66.67        1",
        "-" * 50,
        "micro         50.00     100.00      66.67        1",
        "macro         50.00     100.00      66.67        1",
        "weighted      50.00     100.00      66.67        1",
    ]


def test_report_readings() -> None:
    gold, predicted = [["B-a/B-b", "I-a"]], [["B-a/B-b", "I-a/I-b"]]
    assert evaluate(gold, predicted).field_f1 == 0.5  # a is right, a/b is too long
    assert evaluate(gold, predicted, leaves=True).field_f1 == 0.0
    assert evaluate([["I-a"]], [["I-a"]]).field_f1 == 1.0
    assert evaluate([["I-a"]], [["I-a"]], strict=True).field_f1 == 0.0

"""Tables in and out, as dicts of columns and, where it is installed, in pandas."""

from __future__ import annotations

import pytest

import espalier as es
from espalier.bridges.frames import corpus_from_table, field_columns, record_columns, token_columns

TABLE = {
    "n": ["a", "a", "b", "c", "c"],
    "word": ["Plum", "35", "Pear", "Fig", "12"],
    "tag": ["B-fruit", "B-price", float("nan"), "B-fruit", None],
}


def test_there_and_back() -> None:
    corpus = corpus_from_table(TABLE, sequence="n", token="word", label="tag")
    assert [corpus.tokens(i) for i in range(3)] == [["Plum", "35"], ["Pear"], ["Fig", "12"]]
    assert corpus.all_labels() == [["B-fruit", "B-price"], [None], ["B-fruit", None]]
    columns = token_columns(corpus)
    assert columns["sequence"] == [0, 0, 1, 2, 2]
    assert columns["label"] == ["B-fruit", "B-price", None, "B-fruit", None]
    assert (
        corpus_from_table(columns, sequence="sequence", token="token", label="label").all_labels()
        == corpus.all_labels()
    )
    assert "label" not in token_columns(corpus_from_table(TABLE, sequence="n", token="word"))
    assert len(corpus_from_table({"n": [], "word": []}, sequence="n", token="word")) == 0


def test_what_is_wrong_with_a_table() -> None:
    with pytest.raises(es.EspalierError, match=r"no column 'wrod'; did you mean 'word'\?"):
        corpus_from_table(TABLE, sequence="n", token="wrod")
    with pytest.raises(es.EspalierError, match="do not stand together: 1 of 'n' come again; sort"):
        corpus_from_table({"n": [1, 2, 1], "word": ["a", "b", "c"]}, sequence="n", token="word")
    with pytest.raises(es.EspalierError, match="'word' has 2 rows, but 'n' has 3"):
        corpus_from_table({"n": [1, 1, 1], "word": ["a", "b"]}, sequence="n", token="word")


def test_fields_as_rows() -> None:
    model = es.CRF(l2=0.1).fit([["Plum", "35"], ["Pear", "40"], ["Plum", "12"]], [["B-fruit", "B-price"]] * 3)
    texts = ["Plum 12", "", "Pear 35"]
    columns = field_columns(es.Extractor(model).extract_many(texts))
    assert columns["text"] == [0, 0, 2, 2]
    assert columns["label"] == ["fruit", "price"] * 2
    for text, value, start, end in zip(
        columns["text"], columns["value"], columns["start"], columns["end"], strict=True
    ):
        assert texts[text][start:end] == value


def test_records_as_rows() -> None:
    model = es.CRF(l2=0.1).fit([["Plum", "35"], ["Pear", "40"], ["Plum", "12"]], [["B-fruit", "B-price"]] * 3)
    found = list(es.Extractor(model).extract_many(["Plum 12 Pear 35", "", "Pear 35"]))
    columns = record_columns(found)
    assert columns == {
        "text": ["Plum 12 Pear 35", "", "Pear 35"],
        "confidence": [one.confidence for one in found],
        "fruit": ["Plum | Pear", None, "Pear"],
        "price": ["12 | 35", None, "35"],
    }
    chosen = record_columns(found, ["price", "place"], between="; ")
    assert list(chosen) == ["text", "confidence", "price", "place"]
    assert chosen["price"] == ["12; 35", None, "35"]
    assert chosen["place"] == [None] * 3
    assert record_columns([], ["fruit"]) == {"text": [], "confidence": [], "fruit": []}


def test_a_field_that_is_called_text_keeps_its_column() -> None:
    model = es.CRF(l2=0.1).fit([["Plum", "35"]] * 2, [["B-text", "B-confidence"]] * 2)
    columns = record_columns(es.Extractor(model).extract_many(["Plum 35"]))
    assert (columns["text"], columns["field.text"], columns["field.confidence"]) == (["Plum 35"], ["Plum"], ["35"])


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(TABLE)
    corpus = corpus_from_table(frame, sequence="n", token="word", label="tag")
    assert corpus.all_labels()[1] == [None]
    assert list(pd.DataFrame(token_columns(corpus)).columns) == ["sequence", "token", "label"]

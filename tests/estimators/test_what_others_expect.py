"""What people know from elsewhere: cross_val_predict, logs, progress, notebooks."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import espalier as es
from espalier.errors import InputError
from espalier.extract.extraction import Extraction, Field

X = [["Ann", "in", "Ulm"], ["Bob"], ["Eve", "of", "Rome"], ["Cy", "saw"], ["Di", "in", "Pau"], ["Ed"]]
Y = [["who", "O", "where"], ["who"], ["who", "O", "where"], ["who", "O"], ["who", "O", "where"], ["who"]]


def test_cross_val_predict() -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    found = selection.cross_val_predict(es.CRF(), X, Y, cv=3)
    assert [len(labels) for labels in found] == [len(labels) for labels in Y]
    folds = selection.KFold(3)
    for rest, held in folds.split(X):
        model = es.CRF().fit([X[i] for i in rest], [Y[i] for i in rest])
        assert [found[i] for i in held] == model.predict([X[i] for i in held])


def test_predictions_are_lists_and_an_array_of_lists() -> None:
    found = es.CRF().fit(X, Y).predict(X)
    assert found == Y
    assert isinstance(found, list)
    assert np.asarray(found).shape == (6,)
    assert np.asarray(found[:1]).shape == (1, 3)


def test_progress_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="espalier"):
        es.CRF(progress=True).fit(X, Y)
        assert "CRF: value" in caplog.records[0].message
        assert caplog.records[0].name == "espalier"
        caplog.clear()
        es.CRF().fit(X, Y)
        es.CRF(progress=False).fit(X, Y)
        assert not caplog.records
        es.CoDL(es.CRF(), progress=True, cycles=1).fit(X, Y, unlabelled=X)
        assert any(record.message.startswith("CoDL: ") for record in caplog.records)
    with caplog.at_level(logging.DEBUG, logger="espalier"):
        caplog.clear()
        es.CRF().fit(X, Y)
        assert caplog.records
    with pytest.raises(InputError, match="progress is 3"):
        es.CRF(progress=3).fit(X, Y)  # type: ignore[arg-type]


def test_an_extraction_shows_itself_in_a_notebook() -> None:
    fields = (
        Field("a/b", "x < y", 0, 5, 0.9),
        Field("a/b/c", "y", 4, 5, 0.8),
        Field('"q"', "z", 6, 7, 0.7),
    )
    html = Extraction("x < y z.", fields, 0.5, certificate=None)._repr_html_()
    assert html.startswith("<div title='confidence 0.50'")
    assert html.count("<mark") == html.count("</mark>") == 3
    assert "x &lt; <mark title='a/b/c 0.80'>y <small>a/b/c</small></mark> <small>a/b</small></mark> <mark" in html
    assert html.endswith("z <small>&quot;q&quot;</small></mark>.</div>")

"""Model files made to harm: tables that do not fit each other would send compiled loops beyond their arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import espalier
from espalier import store
from espalier.citations.parser import bundled_file
from espalier.errors import ModelFileError
from espalier.estimators.base import SequenceLabeller
from espalier.estimators.crf import CRF
from espalier.estimators.hmm import HMM
from espalier.estimators.persist import load
from espalier.papers.segments.semicrf import SemiCRF

X = [["A.", "Cau", "1999"], ["B.", "Dee", ",", "2001"], ["the", "end"]]
Y = [["who", "who", "when"], ["who", "who", "O", "when"], ["O", "O"]]


def forged(tmp_path: Path, model: SequenceLabeller, header: dict[str, Any], **arrays: Any) -> Path:
    """Save a model with other contents, and digests that are right."""
    path = tmp_path / "forged.espalier"
    model.fit(X, Y).save(path)
    kept, tables = store.load(path)
    bent = {name.replace("__", "/"): change(tables[name.replace("__", "/")]) for name, change in arrays.items()}
    store.save(path, {**kept, **header}, {**tables, **bent})
    return path


@pytest.mark.parametrize("kind", [None, 3, [], {}, "", "pickle", "os.system", "crf "])
def test_kinds_that_are_none(tmp_path: Path, kind: Any) -> None:
    with pytest.raises(ModelFileError, match=r"forged.espalier: holds a model of unknown kind"):
        load(forged(tmp_path, CRF(max_iterations=2), {"kind": kind}))


def test_lists_of_values_that_are_too_short(tmp_path: Path) -> None:
    """Attributes that point behind the last value met an IndexError with the first text."""
    header, arrays = store.load(bundled_file())
    short = [key for key in arrays if key.endswith("/lengths") and "features/values/" in key and len(arrays[key])]
    assert len(short) > 5
    refused = 0
    for key in short:
        path = tmp_path / "forged.espalier"
        text = key.removesuffix("lengths") + "text"
        store.save(path, header, {**arrays, key: arrays[key][:0], text: arrays[text][:0]})
        try:
            parser = espalier.load(path)
        except ModelFileError:
            refused += 1
        else:  # only a marker points there
            assert parser.parse("A. Cau. On oak. 1999.") is not None
    assert refused > 5


@pytest.mark.parametrize("table", ["start", "trans", "emission"])
@pytest.mark.parametrize("bend", [lambda a: a.astype(np.float32), lambda a: a[:-1], lambda a: a[..., None]])
def test_tables_of_an_hmm(tmp_path: Path, table: str, bend: Any) -> None:
    with pytest.raises(ModelFileError, match=r"forged.espalier: .*probabilities"):
        load(forged(tmp_path, HMM(), {}, **{table: bend}))


@pytest.mark.parametrize(
    ("table", "bend"),
    [
        ("lengths", lambda a: a[:2]),  # the loops would read seven rows beyond its end
        ("lengths", lambda a: a.astype(np.float32)),
        ("inside", lambda a: a[:-1]),
        ("trans", lambda a: a[:, :-1]),
        ("limit", lambda a: a[:-1]),
        ("limit", lambda a: np.full_like(a, -1)),
        ("limit", lambda a: a.astype(np.int8)),
    ],
)
def test_tables_of_a_segmental_model(tmp_path: Path, table: str, bend: Any) -> None:
    with pytest.raises(ModelFileError, match=r"forged.espalier: .*weights of segments"):
        load(forged(tmp_path, SemiCRF(max_iterations=2), {}, **{table: bend}))

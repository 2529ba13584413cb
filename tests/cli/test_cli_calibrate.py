"""`espalier calibrate`: the same labels, other confidences, and how far they were and are from the truth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Espalier

import espalier as es
from espalier.extract.calibrating import Trial, errors
from espalier.extract.confidence import Verdicts

PLACES = ("Ely", "Wye", "Rye", "Ayr", "Usk")


@pytest.fixture(scope="module")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty adverts; the model is right about most, but a third of them call the place a fruit."""
    lines = []
    for i in range(60):
        place = PLACES[i % len(PLACES)]
        label = "fruit" if i % 3 == 0 else "place"
        lines.append(f"<fruit>plum</fruit> at <price>£ {i}</price> in <{label}>{place}</{label}>\n")
    path = tmp_path_factory.mktemp("held") / "held.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_labels_stay_and_confidences_keep_their_word(
    espalier: Espalier, model: Path, held_out: Path, tmp_path: Path
) -> None:
    path = tmp_path / "calibrated.espalier"
    done = espalier("calibrate", "-m", model, "-d", held_out, "-o", path)
    assert done.code == 0, done.err
    assert done.err == f"espalier: calibrated on 60 records → {path}\n"
    assert done.out.startswith("confidences miss the truth by, in points of 100:\n  fields")
    before, after = es.load(model), es.load(path)
    texts = [f"plum at £ {i} in {PLACES[i % len(PLACES)]}" for i in range(60)]
    first, second = before.extract_many(texts), after.extract_many(texts)
    pairs = list(zip(first, second, strict=True))
    assert all(one.spans == other.spans for one, other in pairs)
    # Two thirds of the held-out records are right, and all look alike to the model.
    assert min(one.confidence for one, _ in pairs) > 0.8
    assert 0.6 < np.mean([other.confidence for _, other in pairs]) < 0.73
    figures = json.loads(espalier("calibrate", "-m", model, "-d", held_out, "-o", path, "--json").out)
    assert figures["records"] == 60
    assert figures["record"]["before"] > 0.1 > figures["record"]["after"]


def test_other_kinds_count_too(espalier: Espalier, model: Path, corpus: Path, held_out: Path, tmp_path: Path) -> None:
    path = tmp_path / "calibrated.espalier"
    done = espalier("calibrate", "-m", model, "-d", corpus, "--unseen", held_out, "-o", path)
    assert done.code == 0, done.err
    assert "3 records say little about confidences" in done.err
    assert es.load(path).extract("plum at £ 3 in Ely").confidence < 0.95  # held_out alone says 2/3


def test_what_is_refused(espalier: Espalier, model: Path, held_out: Path, tmp_path: Path) -> None:
    before = model.read_bytes()
    same = espalier("calibrate", "-m", model, "-d", held_out, "-o", model)
    assert (same.code, "is the same file" in same.err, model.read_bytes() == before) == (2, True, True)
    raw = tmp_path / "raw.txt"
    raw.write_text("plum at £ 3\n", encoding="utf-8")
    path = tmp_path / "new.espalier"
    bare = espalier("calibrate", "-m", model, "-d", raw, "-o", path)
    assert (bare.code, path.exists()) == (2, False)
    assert "no record is labelled" in bare.err


def test_a_calibration_that_made_things_worse_says_so(
    espalier: Espalier, model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"field": (0.03, 0.02), "record": (0.219, 0.238)}
    monkeypatch.setattr("espalier.extract.calibrating.errors", lambda *given: found)
    done = espalier("calibrate", "-m", model, "-d", corpus, "-o", tmp_path / "new.espalier")
    assert done.err.splitlines()[-1] == (
        "espalier: confidences of whole records are farther from the truth than before; "
        f"calibrate on more records, or go on with {model}"
    )
    assert "whole records  21.9 before  23.8 now" in done.out


def test_of_one_record_nothing_is_measured(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.txt"
    one.write_text("<fruit>plum</fruit> at <price>£ 3</price>\n", encoding="utf-8")
    done = espalier("calibrate", "-m", model, "-d", one, "-o", tmp_path / "new.espalier")
    assert (done.code, done.out) == (0, "")
    assert "nothing was measured: that takes two records or more" in done.err


def test_each_half_is_judged_by_the_other() -> None:
    """What a half says about itself would always look good: here the two halves contradict each other."""
    right = np.arange(100) % 2 == 0  # even texts are right, odd ones wrong
    sure = np.full(100, 0.5)
    verdicts = Verdicts(sure, right, np.arange(100), np.full(100, ""))
    found = errors([Trial({"field": verdicts, "record": verdicts}, None)])
    before, after = found["record"]
    assert before == pytest.approx(0.0)
    assert after > 0.9

"""`CCM` over a semi-Markov CRF: plain labels and tags, rules that change the answer, saving, what it refuses."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest

import espalier as es
from espalier.errors import InputError, ResultWarning
from espalier.estimators.ccm import CCM
from espalier.papers.segments.semicrf import SemiCRF
from espalier.rules import RuleSet
from espalier.rules.meaning import degrees
from oracles import segmentations

X = [["a", "b", ",", "c", "d"], ["a", ",", "c"], ["b", "b", ",", "d"]]
PLAIN = [["x", "x", "x", "y", "y"], ["x", "x", "y"], ["x", "x", "x", "y"]]
TAGS = [["B-x", "I-x", "I-x", "B-y", "I-y"], ["B-x", "B-x", "B-y"], ["B-x", "B-x", "I-x", "B-y"]]
NEW = [["c", "a", ",", "d"], ["d", "b"], [], ["c"]]
TEXT = 'Change: change only after token in ","\nOnce: each field once\nFirst: first in x'


def base() -> SemiCRF:
    return SemiCRF(["word"], l2=0.1, threads=1)


def best(model: CCM, tokens: list[str], marked: bool) -> float:
    """The best penalised score over all segmentations, from the meaning of the rules."""
    (potentials,) = list(model.base_.potentials([tokens]))
    fields = model.base_.labels_.names

    def gain(pieces) -> float:
        y = list(
            itertools.chain.from_iterable(
                [f"B-{fields[p.label]}"] + [f"I-{fields[p.label]}"] * (p.end - p.start - 1)
                if marked
                else [fields[p.label]] * (p.end - p.start)
                for p in pieces
            )
        )
        found = degrees(model.rules_, tokens, y)
        return -math.fsum(float(r) * int(d) for r, d in zip(model.rules_.penalties, found, strict=True) if d)

    return segmentations(potentials).reweighted(gain).total(max)


@pytest.mark.parametrize("y", [PLAIN, TAGS])
@pytest.mark.parametrize("penalties", ["count", "fixed", {"Once": 0.5, "Change": 4.0}])
def test_answers_are_the_best_of_all_segmentations(y: list[list[str]], penalties: object) -> None:
    model = CCM(base(), TEXT, penalties).fit(X, y)
    found = model.decode(NEW)
    expected = [best(model, tokens, y is TAGS) for tokens in NEW]
    assert found.scores.tolist() == pytest.approx(expected, abs=1e-9)
    assert found.settled.all()
    labels = model.predict(NEW)
    assert [len(row) for row in labels] == [4, 2, 0, 1]
    assert {name for row in labels for name in row} <= set(model.labels_.names)


def test_hard_rules_change_the_answer() -> None:
    model = CCM(base(), "Never: count(y) <= 0", "hard").fit(X, PLAIN)
    assert "y" in {name for row in model.base_.predict(NEW) for name in row}
    assert model.predict(NEW) == [["x"] * len(tokens) for tokens in NEW]


def test_without_rules_in_force_the_base_answers() -> None:
    model = CCM(base(), TEXT, 0.0).fit(X, TAGS)
    assert model.predict(NEW) == model.base_.predict(NEW)


@pytest.mark.parametrize("y", [PLAIN, TAGS])
def test_saved_and_loaded(y: list[list[str]], tmp_path: Path) -> None:
    model = CCM(base(), TEXT).fit(X, y)
    model.save(tmp_path / "m.espalier")
    loaded = es.load(tmp_path / "m.espalier").model
    assert loaded.predict(NEW) == model.predict(NEW)
    assert loaded.labels_ == model.labels_


def test_where_nothing_is_possible_the_base_answers_with_a_warning() -> None:
    model = CCM(base(), "A: first in x\nB: first in y", "hard").fit(X, PLAIN)
    with pytest.warns(ResultWarning, match="no labelling for 3 of 4 sequences"):
        assert model.predict(NEW) == model.base_.predict(NEW)


def test_a_tag_that_nobody_saw_is_added() -> None:
    short = [["B-x", "I-x", "I-x", "B-y", "B-y"], ["B-x", "I-x", "B-y"], ["B-x", "I-x", "I-x", "B-y"]]
    added = CCM(base(), TEXT).fit(X, short)
    declared = CCM(base(), TEXT).fit(X, short, labels=["B-x", "B-y", "I-x", "I-y"])
    assert added.labels_ == declared.labels_
    assert added.predict(NEW) == declared.predict(NEW)
    # Whoever fixes the labels must name all of them.
    with pytest.raises(InputError, match=r"may give the labels I-y.*pass labels= to fit"):
        CCM(base(), TEXT).fit(X, short, labels=["B-x", "B-y", "I-x"])


@pytest.mark.parametrize("asked", ["potentials", "predict_marginals"])
def test_what_needs_chains_says_so(asked: str) -> None:
    model = CCM(base(), RuleSet.from_text(TEXT)).fit(X, PLAIN)
    with pytest.raises(InputError, match="SemiCRF is no model of chains"):
        getattr(model, asked)(NEW)


def test_fields_without_an_inner_tag_are_refused_when_fitted() -> None:
    with pytest.raises(InputError, match="may give the labels I-x, which the rules do not know; pass labels="):
        CCM(base(), "Once: each field once").fit([["a", "b"]], [["B-x", "B-x"]], labels=["B-x"])
    model = CCM(base(), "Once: each field once").fit([["a", "b"]], [["B-x", "B-x"]], labels=["B-x", "I-x"])
    assert len(model.predict([["a", "b"]])[0]) == 2


def test_models_of_segments_are_known_by_what_they_can_do() -> None:
    class Longer(SemiCRF):
        """A model of segments, too."""

    X, y = [["a", "b"]], [["B-x", "I-x"]]
    found = CCM(Longer(), "Once: each field once").fit(X, y)
    assert found.predict(X) == CCM(base(), "Once: each field once").fit(X, y).predict(X)
    assert not any(hasattr(other, "answers") for other in (es.CRF(), es.HMM(), CCM(base(), TEXT), object()))

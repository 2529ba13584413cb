"""Answers that a counting rule corrected are as sure as the rule lets them be; older calibrations are left alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import espalier as es
from espalier.decoders import counted
from espalier.document import Document, Span
from espalier.extract.confidence import Calibration

TEXTS = ["plum 35 ludlow", "pear 20 ely", "fig 12 wells", "quince 18 ripon", "apple 90 truro"]
TWICE = ["plum 35 ludlow 90", "90 fig 12 wells", "truro pear 20 18"]


def _labelled(text: str) -> Document:
    words = Document.from_text(text)
    names = ("fruit", "price", "place")
    spans = [Span(a, b, name) for (a, b), name in zip(words.tokens, names, strict=True)]
    return Document(text, words.tokens, tuple(spans))


@pytest.fixture(scope="module")
def model() -> es.CRF:
    return es.CRF().fit(es.Corpus.from_documents([_labelled(text) for text in TEXTS]))


@pytest.mark.parametrize("penalty", ["hard", "penalty 2"])
def test_confidence_is_the_probability_under_the_rule(model: es.CRF, penalty: str) -> None:
    extractor = es.Extractor(model, f"Once: price once [{penalty}]")
    answers = extractor.answers([Document.from_text(text) for text in TWICE])
    for i, found in enumerate(extractor.extract_many(TWICE)):
        problem = answers.problem(i)
        own = answers.y[answers.scored.span(i)]
        expected = es.expectations(
            problem.potentials, extractor.rules, tokens=TWICE[i].split(), labels=model.labels_, text=TWICE[i]
        )
        paid = sum(violated.price for violated in found.violations)
        whole = np.exp(problem.potentials.score(own) - paid - expected.log_z)
        assert found.confidence == pytest.approx(whole, abs=2e-6)
        sure = [min(expected.marginals[t, own[t]] for t in _tokens(found, field)) for field in found.fields]
        assert [field.confidence for field in found.fields] == pytest.approx(sure, abs=2e-6)
        assert found.confidence > float(answers.probabilities[1][i]) + 0.02  # the chain alone prefers two prices


def _tokens(found: es.Extraction, field: object) -> list[int]:
    places = Document.from_text(found.text).tokens
    return [t for t, (a, b) in enumerate(places) if field.start <= a and b <= field.end]


def test_what_is_left_out_hardly_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight fields, each once: beside the sums over all of them, which enumeration has checked."""
    adverts = Path(__file__).parents[2] / "examples" / "orchard"
    model = es.CRF(["lower", "shape"], l2=0.3).fit(es.Corpus.from_documents(es.read(adverts / "train.txt")[:30]))
    texts = [document.text for document in es.read(adverts / "test.txt")]

    def confidences(penalty: str) -> np.ndarray:
        found = es.Extractor(model, f"Once: each field once [{penalty}]").extract_many(texts)
        return np.array([one.confidence for one in found])

    usual = [confidences(penalty) for penalty in ("hard", "penalty 3")]
    for name, value in (("SURE", 2.0), ("LEAST", 0.0), ("STATES", 4096)):
        monkeypatch.setattr(counted, name, value)
    for some, penalty in zip(usual, ("hard", "penalty 3"), strict=True):
        np.testing.assert_allclose(some, confidences(penalty), atol=0.03)


def test_alone_and_in_company_the_same(model: es.CRF) -> None:
    extractor = es.Extractor(model, "Once: price once [hard]")
    together = list(extractor.extract_many([*TWICE, *TEXTS]))
    assert [extractor.extract(text).confidence for text in TWICE] == [one.confidence for one in together[:3]]


@pytest.mark.filterwarnings("ignore:.*say.? little about confidences")
def test_a_calibration_of_before_counts_as_before(model: es.CRF) -> None:
    curves = {"field": [[0.0, 1.0], [0.0, 1.0]], "record": [[0.0, 1.0], [0.0, 1.0]]}
    before = Calibration.from_header({"calibration": curves})
    assert (before.counted, Calibration.from_header({}).counted) == (False, True)
    again = Calibration.from_header({"calibration": {**curves, "counts": True}})
    assert again.counted
    assert again.to_header() == {**curves, "counts": True}
    assert before.to_header() == curves
    extractor = es.Extractor(model, "Once: price once [hard]", calibration=before)
    answers = extractor.answers([Document.from_text(text) for text in TWICE])
    assert [one.confidence for one in extractor.extract_many(TWICE)] == answers.probabilities[1].round(6).tolist()
    extractor.calibrate([_labelled(text) for text in TEXTS])
    assert not extractor.calibration.counted  # what it was fitted on
    assert es.Extractor(model, "Once: price once [hard]").calibrate([_labelled(TEXTS[0])]).calibration.counted


def test_other_readings_share_the_same_probability(model: es.CRF) -> None:
    extractor = es.Extractor(model, "Once: price once [hard]")
    found = extractor.extract(TWICE[0], k=4)
    several = [found.confidence, *[one.confidence for one in found.alternatives]]
    assert 0.5 < sum(several) <= 1.0 + 1e-6
    assert several == sorted(several, reverse=True)

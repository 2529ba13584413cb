from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from espalier.documents.cutting.readings import k_best_cuts, k_best_readings
from espalier.documents.deciding.features import seen
from espalier.documents.deciding.model import LABELS, bundled, shape_words
from espalier.documents.deciding.units import units_of
from espalier.documents.lines import TextLine
from espalier.errors import InputError
from espalier.rules.meaning import degree

LINES = [
    TextLine("References"),
    TextLine("Plum, A. (1990). Wires and walls in old"),
    TextLine("orchards. Orchard Letters, 3(2), 12-15."),
    TextLine("Quince, B. (1991). A frame for fruit."),
]


def enumerated() -> list[tuple[float, list[str]]]:
    """Return all labellings with their scores: potentials added up by hand, degrees by the meaning of the rules."""
    model, page = bundled(), seen(units_of(LINES))
    batch, _ = model.decoded(page)
    tokens = shape_words(page)
    found = []
    for labels in product(range(len(LABELS)), repeat=len(LINES)):
        score = float(batch.start[labels[0]] + batch.end[labels[-1]])
        score += sum(float(batch.unary[i, label]) for i, label in enumerate(labels))
        score += sum(float(batch.trans[0, a, b]) for a, b in pairwise(labels))
        names = [LABELS[label] for label in labels]
        for rule, price in zip(model.rules, model.rules.penalties.tolist(), strict=True):
            broken = degree(rule.node, tokens, names)
            score -= price * broken if broken else 0.0
        found.append((score, names))
    return sorted(found, key=lambda one: -one[0])


def test_the_best_readings_are_those_of_all() -> None:
    every = enumerated()
    scores = np.array([score for score, _ in every])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    found = k_best_readings(LINES, 6)
    assert [one.reading.labels for one in found] == [names for _, names in every[:6]]
    assert np.allclose([one.probability for one in found], shares[:6])


def test_the_best_reading_is_that_of_the_model() -> None:
    (best,) = k_best_readings(LINES, 1)
    assert best.reading.labels == bundled().read(LINES).labels


def test_readings_with_the_same_references_are_one_cut() -> None:
    cuts = k_best_cuts(LINES, 12)
    spans = [tuple((one.start, one.end) for one in cut.findings.references) for cut in cuts]
    assert len(set(spans)) == len(spans) < 12
    shares = [cut.probability for cut in cuts]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(sum(one.probability for one in k_best_readings(LINES, 12)))


def test_an_empty_document_has_one_reading() -> None:
    assert [one.probability for one in k_best_readings([], 3)] == [1.0]


def test_a_long_document_has_one_reading_only() -> None:
    with pytest.raises(InputError, match="only one reading"):
        k_best_readings([TextLine(f"{k} apples") for k in range(6001)], 2)

"""What confidences are worth: a monotone map from those of the model to how often they come true.

    minimise  Σ_i (g(p_i) - right_i)²   over functions g that never fall          (isotonic regression)

by the pool-adjacent-violators algorithm (Barlow, Bartholomew, Bremner & Brunk, 1972), O(n log n), on references that
the model has not seen. The map is kept as a few points, each a block of answers with its mean confidence and its share
of right ones, drawn towards the share of all by one answer, so that nothing is certain; between the points it is linear
(`citations.confidence.Curve`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.citations.evaluation import CORE
from espalier.citations.record import Record
from espalier.document import Document
from espalier.errors import InputError

__all__ = ["Verdicts", "calibrate", "isotonic", "judged"]

Float = NDArray[np.float64]

LEAST = 25
"""The fewest answers behind a point."""


def isotonic(confidences: ArrayLike, right: ArrayLike, *, least: int = LEAST) -> tuple[list[float], list[float]]:
    """Return the points of the map: confidences that rise, and how often such answers are right, which never falls.

    confidences : float[n] in 0..1; right : bool[n]; least : answers behind each point, where there are so many.
    """
    p, hit = np.asarray(confidences, np.float64), np.asarray(right, np.float64)
    if p.ndim != 1 or p.shape != hit.shape or not len(p):
        raise InputError(f"{p.shape} confidences and {hit.shape} verdicts; a map needs as many of both, at least one")
    order = np.argsort(p, kind="stable")
    p, hit = p[order], hit[order]
    # Equal confidences belong together, whatever their number.
    edges = np.flatnonzero(np.diff(p) > 0) + 1
    blocks: list[tuple[float, float, int]] = []  # sum of confidences, right ones, answers
    for a, b in zip(np.append(0, edges).tolist(), np.append(edges, len(p)).tolist(), strict=True):
        block = (float(p[a:b].sum()), float(hit[a:b].sum()), b - a)
        while blocks and (blocks[-1][2] < least or blocks[-1][1] * block[2] >= block[1] * blocks[-1][2]):
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    if len(blocks) > 1 and blocks[-1][2] < least:
        last, block = blocks.pop(), blocks.pop()
        blocks.append((last[0] + block[0], last[1] + block[1], last[2] + block[2]))
    overall = float(hit.mean())
    shares = [(s + overall) / (n + 1) for _, s, n in blocks]
    raw = [total / n for total, _, n in blocks]
    return [round(x, 6) for x in raw], [round(float(x), 6) for x in np.maximum.accumulate(shares)]


class Verdicts(NamedTuple):
    """Confidences, float64[n], and whether they came true, bool[n]."""

    sure: Float
    right: NDArray[np.bool_]


def judged(records: Iterable[Record], gold: Iterable[Document]) -> dict[str, Verdicts]:
    """Return the verdicts on every `field` and on every `record`, against references with labels.

    A field is right if gold has one of the same label over the same characters but for marks around it; a record if its
    fields of `CORE` and gold's are the same.
    """
    fields: list[tuple[float, bool]] = []
    wholes: list[tuple[float, bool]] = []
    for record, document in zip(records, gold, strict=True):
        if record.text != document.text:
            raise InputError(f"the record is of another text than the document: {record.text[:40]!r}")
        true = {_trimmed(document.text, span.label, span.start, span.end) for span in document.spans or ()}
        said = [_trimmed(record.text, field.label, field.start, field.end) for field in record.fields]
        pairs = zip(record.fields, said, strict=True)
        fields += [(field.confidence, place in true) for field, place in pairs if place[1] < place[2]]
        wrong = {place for place in true ^ set(said) if place[0] in CORE and place[1] < place[2]}
        wholes.append((record.confidence, not wrong))
    found = {}
    for name, answers in (("field", fields), ("record", wholes)):
        sure, right = zip(*answers, strict=True) if answers else ((), ())
        found[name] = Verdicts(np.array(sure, np.float64), np.array(right, bool))
    return found


def calibrate(records: Sequence[Record], gold: Sequence[Document]) -> dict[str, tuple[list[float], list[float]]]:
    """Return the maps of fields and of records for the header of a model file; records : without calibration."""
    return {name: isotonic(*verdicts) for name, verdicts in judged(records, gold).items()}


def _trimmed(text: str, label: str, start: int, end: int) -> tuple[str, int, int]:
    """Return a stretch without what is neither letter nor digit at both ends; start = end if nothing is left."""
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    return label, start, end

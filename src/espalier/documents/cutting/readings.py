"""What the lines of a document may be instead: the k best readings under the rules, each with its probability.

All rules for lines look at one line or at two in a row, so they are part of the chain, and the k best labellings of it
are exact. Readings that cut the same references are one cut, with the sum of their probabilities: `k_best_cuts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from espalier.corpus import Corpus
from espalier.documents.cutting.finding import Findings, findings_of
from espalier.documents.deciding.features import seen
from espalier.documents.deciding.model import LABELS, LONGEST, LineModel, LineReading, bundled, shape_words
from espalier.documents.lines import PrintedText, TextLine
from espalier.errors import InputError

__all__ = ["LikelyCut", "LikelyReading", "k_best_cuts", "k_best_readings"]


class LikelyReading(NamedTuple):
    """A reading of all lines, and the probability that it is right in every line."""

    reading: LineReading
    probability: float


class LikelyCut(NamedTuple):
    """A way to cut a document into references, and the probability of the readings that cut it so."""

    findings: Findings
    probability: float


def k_best_readings(lines: Sequence[TextLine], k: int, model: LineModel | None = None) -> list[LikelyReading]:
    """Return the k best readings of lines, best first; fewer if there are not so many."""
    from espalier.decoders.base import Problem
    from espalier.inference import k_best, log_partition

    model = bundled() if model is None else model
    best = model.read(lines)
    if len(best.units) > LONGEST:
        raise InputError(
            f"a document of {len(best.units)} lines has only one reading", hint=f"the k best need at most {LONGEST}"
        )
    if not best.units:
        return [LikelyReading(best, 1.0)]
    page = seen(best.units)
    batch, _ = model.decoded(page)
    (grounded,) = model.compiled.ground_corpus(Corpus.from_tokens([shape_words(page)]))
    chain = Problem(batch[0], grounded).folded
    found = k_best(chain, k, threads=1)
    shares = np.exp(found.scores[0] - log_partition(chain, threads=1)[0])
    return [
        LikelyReading(best._replace(labels=[LABELS[label] for label in labels.tolist()]), float(share))
        for labels, share in zip(found.labels, shares, strict=True)
        if share > 0.0
    ]


def k_best_cuts(
    source: PrintedText | Sequence[TextLine], k: int = 20, model: LineModel | None = None
) -> list[LikelyCut]:
    """Return the ways to cut a document that its k best readings give, the most probable first."""
    printed = source if isinstance(source, PrintedText) else PrintedText.of(source)
    model = bundled() if model is None else model
    found: dict[tuple[tuple[int, int], ...], LikelyCut] = {}
    for reading, share in k_best_readings(printed.lines, k, model):
        findings = findings_of(printed, reading, model)
        spans = tuple((one.start, one.end) for one in findings.references)
        before = found.get(spans, LikelyCut(findings, 0.0))
        found[spans] = LikelyCut(before.findings, before.probability + share)
    return sorted(found.values(), key=lambda cut: -cut.probability)

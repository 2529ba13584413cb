"""How `CCM` labels with a base that scores segments: rules speak about tokens, so segments are read as labels.

A base trained on plain labels has the rules' labels as its fields. One trained on tags has fields without marks; the
first token of a segment is B-, the others are I-, and the rules see those.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.counts import BatchDecoding
from espalier.errors import InputError
from espalier.potentials import SegmentBatch
from espalier.rules.compile import Compiled
from espalier.tags import OUTSIDE

__all__ = ["decode_base_segments", "fits_segments", "scores_segments", "segment_tags"]


def scores_segments(base: Any) -> bool:
    """Is the base a model of segments?  Known by its kind: its class would bring all of its training along."""
    return getattr(base, "kind", None) == "semicrf"


def fits_segments(base: Any, labels: Labels) -> bool:
    """Are all labels that a base of segments gives among the known ones?"""
    return all(name in labels for row in _written(base) for name in row)


def _written(base: Any) -> list[list[str]]:
    """Return the label of the first token of a segment of each field, and of the others."""
    marks = ("B-", "I-") if base.marked_ else ("", "")
    return [[name if name == OUTSIDE else mark + name for name in base.labels_.names] for mark in marks]


def segment_tags(base: Any, labels: Labels) -> NDArray[np.int64]:
    """Return the label of the first token of a segment of each field, and of the others, int64[2, L], as ids."""
    written = _written(base)
    if not fits_segments(base, labels):
        missing = sorted({name for row in written for name in row} - set(labels.names))
        raise InputError(
            f"a model of segments may give the labels {', '.join(missing)}, which are not among the known ones; "
            "pass labels= to fit, with both marks of every field"
        )
    return np.array([labels.encode(row) for row in written], np.int64)


def decode_base_segments(base: Any, batch: SegmentBatch, compiled: Compiled, corpus: Corpus) -> BatchDecoding:
    """Return the best segmentations under the rules, as labels; -1 where none is possible."""
    from espalier.decoders.segments import decode_segments

    first, inside = tags = segment_tags(base, compiled.labels)
    found = decode_segments(batch, compiled, corpus, tags=tags)
    labels = np.where(found.starts, first[found.labels], inside[found.labels])
    ids = np.where(found.labels < 0, -1, labels).astype(np.int16)
    return BatchDecoding(ids, found.scores, found.bounds, found.rounds, found.nodes)

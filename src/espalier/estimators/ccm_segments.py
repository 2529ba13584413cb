"""How `CCM` labels with a base that scores segments: rules speak about tokens, so segments are read as labels.

A base trained on plain labels has the rules' labels as its fields. One trained on tags has fields without marks; the
first token of a segment is B-, the others are I-, and the rules see those.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.certify import BatchDecoding
from espalier.errors import InputError
from espalier.rules.compile import Compiled
from espalier.papers.segments.potentials import SegmentBatch

__all__ = ["decode_base_segments", "segment_tags"]


def segment_tags(base: Any, labels: Labels) -> NDArray[np.int64]:
    """Return the label of the first token of a segment of each field, and of the others, int64[2, L], as ids."""
    written = base.segment_labels()
    missing = sorted({name for row in written for name in row} - set(labels.names))
    if missing:
        raise InputError(
            f"a model of segments may give the labels {', '.join(missing)}, which are not among the known ones",
            hint="pass labels= to fit, with both marks of every field",
        )
    return np.array([labels.encode(row) for row in written], np.int64)


def decode_base_segments(base: Any, batch: SegmentBatch, compiled: Compiled, corpus: Corpus) -> BatchDecoding:
    """Return the best segmentations under the rules, as labels; -1 where none is possible."""
    from espalier.papers.segments.decoding import decode_segments

    first, inside = tags = segment_tags(base, compiled.labels)
    found = decode_segments(batch, compiled, corpus, tags=tags)
    labels = np.where(found.starts, first[found.labels], inside[found.labels])
    ids = np.where(found.labels < 0, -1, labels).astype(np.int16)
    return BatchDecoding(ids, found.scores, found.bounds, found.rounds, found.nodes)

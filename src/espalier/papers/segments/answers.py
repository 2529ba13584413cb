"""The answers of models that score segments, under rules, as `CCM` and `Extractor` ask for them.

Rules speak about tokens, so segments are read as labels. A model that was trained on plain labels has the rules' labels
as its fields. One trained on tags has fields without marks; the first token of a segment is B-, the others are I-, and
the rules see those. For an extractor a field is a segment, as sure as that this very segment is there. Documents are
decoded one by one (`decoding`). Confidences are those of the model without its rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.base import violated
from espalier.decoders.certify import BatchDecoding, WorkDone, prove
from espalier.document import Document
from espalier.extract.answers import FieldNames, bounded, unsure
from espalier.extract.confidence import Calibration
from espalier.extract.extraction import Extraction, Field
from espalier.inference import log_partition, path_scores, viterbi
from espalier.papers.segments.decoding import best_segmentations, decode_segments
from espalier.papers.segments.inference import segment_marginals
from espalier.papers.segments.potentials import SegmentBatch, SegmentPotentials
from espalier.rules.compile import Compiled, Grounded
from espalier.tags import OUTSIDE

__all__ = ["SegmentAnswers"]

Labels16 = NDArray[np.int16]
Bool = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SegmentAnswers:
    """Texts, the scores of their segments, and the rules that answers keep.

    tags : int64[2, L], which of the rules' labels the first token of a segment of each field has, and which the others.
    """

    corpus: Corpus
    potentials: SegmentBatch
    compiled: Compiled
    tags: NDArray[np.int64]

    @property
    def documents(self) -> Sequence[Document]:
        """The texts, as the corpus holds them."""
        assert self.corpus.documents is not None
        return self.corpus.documents

    def decoded(self) -> BatchDecoding:
        """Return the best segmentations under the rules, as labels; -1 where none is possible."""
        found = decode_segments(self.potentials, self.compiled, self.corpus, tags=self.tags)
        labels = np.where(found.starts, self.tags[0][found.labels], self.tags[1][found.labels])
        ids = np.where(found.labels < 0, -1, labels).astype(np.int16)
        return BatchDecoding(ids, found.scores, found.bounds, found.rounds, found.nodes)

    def extractions(
        self, names: FieldNames, calibration: Calibration, made: type[Extraction], k: int = 1
    ) -> list[Extraction]:
        """Return what was found in each document, with its k - 1 next best readings; made : the class of results."""
        rows = zip(self.documents, range(len(self.corpus)), self.compiled.ground_corpus(self.corpus), strict=True)
        return [_extraction(d, self.potentials[i], g, self.tags, names, calibration, made, k) for d, i, g in rows]


def _extraction(
    document: Document,
    potentials: SegmentPotentials,
    grounded: Grounded,
    tags: NDArray[np.int64],
    names: FieldNames,
    calibration: Calibration,
    made: type[Extraction],
    k: int,
) -> Extraction:
    """Return the k best readings of one document; where hard rules leave none, that of the model alone."""
    best = best_segmentations(potentials, grounded, tags, k)
    if not document.tokens:
        score = best.scores[0] if best.scores else -np.inf
        return made(document.text, (), 0.0, prove(score, score, "list").rounded())
    ranked = [(labels, starts, max(s, best.rest)) for labels, starts, s in zip(*best[:3], strict=True)]
    possible = bool(ranked)
    if not possible:
        alone = viterbi(potentials)
        ranked = [(alone.labels, alone.starts, best.rest)]
    log_z, shares = float(log_partition(potentials)[0]), segment_marginals(potentials)
    fields, proofs, paid, whole = [], [], [], []
    prices, work = grounded.compiled.rules.penalties, WorkDone(best.lists, best.nodes)
    for labels, starts, bound in ranked:
        score = float(path_scores(potentials, labels, starts)[0])
        whole.append(np.exp(min(score - log_z, 0.0)))
        names_of = [grounded.compiled.labels.names[j] for j in np.where(starts, tags[0][labels], tags[1][labels])]
        paid.append(violated(grounded, np.flatnonzero(prices > 0).tolist(), prices, names_of))
        proofs.append(prove(score - sum(v.price for v in paid[-1]), bound, "list", work).rounded())
        fields.append(_fields(document, labels, starts, shares, names, calibration))
    if not possible:
        return made(document.text, unsure(fields[0]), 0.0, proofs[0], paid[0])
    sure = calibration.of_readings(np.array(whole)).tolist()
    fields = [bounded(own, fields[0], sure[0]) for own in fields]
    others = [made(document.text, *row) for row in zip(fields[1:], sure[1:], proofs[1:], paid[1:], strict=True)]
    return made(document.text, fields[0], sure[0], proofs[0], paid[0], tuple(others))


def _fields(
    document: Document,
    labels: Labels16,
    starts: Bool,
    shares: NDArray[np.float64],
    names: FieldNames,
    calibration: Calibration,
) -> tuple[Field, ...]:
    """Return the segments that are fields; shares : float64[T, D, L], the probability of every segment by its end."""
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(labels)) - 1
    sure = calibration.of_fields(shares[last, last - first, labels[first]]).tolist()
    found = []
    for a, b, j, p in zip(first.tolist(), last.tolist(), labels[first].tolist(), sure, strict=True):
        name = names.names[j]
        if name is not None and name != OUTSIDE:
            start, end = document.tokens[a][0], document.tokens[b][1]
            found.append(Field(name, document.text[start:end], start, end, p))
    return tuple(found)

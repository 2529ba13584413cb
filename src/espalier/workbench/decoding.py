"""From scores and rules to answers: labels, fields, what is proven, what is broken, and how sure it is.

Everything is done for many records at once, as in `espalier.citations.answers`, but for the labels of any task. Labels
and violations come first (`decode`); confidences need the sums over all labellings and come on top (`weigh`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.citations.confidence import answer_probabilities, with_local_rules
from espalier.corpus import Corpus
from espalier.decoders.base import Problem
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import degree_matrix
from espalier.decoders.conflict import relax
from espalier.decoders.counts import Conditions, CountForm
from espalier.decoders.table import run
from espalier.document import Document
from espalier.inference import viterbi
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled
from espalier.rules.grounding import Bits
from espalier.rules.meaning import violations
from espalier.workbench.labellers import Labeller
from espalier.workbench.scores import alone

__all__ = ["Answer", "Batch", "Decoded", "alternatives", "decode", "fields_of", "weigh"]

NODES = 8192
"""Of the search for one record, so that strange rules cannot hold up a request; what is unproven then says so."""

Int16 = NDArray[np.int16]
Field = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Batch:
    """N documents, their tokens as a corpus, and their scores."""

    documents: Sequence[Document]
    corpus: Corpus
    potentials: ChainBatch

    @property
    def spans(self) -> list[slice]:
        """The tokens of each document."""
        return [slice(a, b) for a, b in pairwise(self.corpus.indptr.tolist())]


@dataclass(frozen=True, eq=False)
class Decoded:
    """Answers for a batch: y : int16[M]; certificates : of each document; degrees : int64[N, K], how much of each rule
    is broken; broken : what each answer pays for."""

    y: Int16
    certificates: list[dict[str, Any]]
    degrees: NDArray[np.int64]
    broken: list[list[dict[str, Any]]]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What is said about one text; fields have a label, a place and a confidence."""

    y: Int16
    fields: list[Field]
    confidence: float
    certificate: dict[str, Any]
    violations: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return it as the API writes it."""
        parts = {"fields": self.fields, "confidence": self.confidence}
        return parts | {"certificate": self.certificate, "violations": self.violations}


def decode(batch: Batch, compiled: Compiled, bits: Bits | None = None) -> Decoded:
    """Return the best labellings under the rules; where hard rules cannot all be kept, those that break least."""
    bits = compiled.ground_bits(batch.corpus) if bits is None else bits
    found = decode_batch(batch.potentials, compiled, batch.corpus, bits=bits, max_nodes=NODES)
    possible = np.isfinite(found.scores)
    for i in np.flatnonzero(~possible).tolist():
        found.labels[batch.spans[i]] = _nearest(batch, compiled, i)
    gaps = np.where(
        found.settled, 0.0, np.where(possible, found.bounds - np.where(possible, found.scores, 0.0), np.nan)
    )
    status = np.where(found.settled, "optimal", np.where(possible, "bounded", "infeasible")).tolist()
    degrees = degree_matrix(compiled, batch.corpus, found.labels, bits)
    certificates = [
        {"status": word, "gap": round(gap, 9) if math.isfinite(gap) else None}
        for word, gap in zip(status, gaps.tolist(), strict=True)
    ]
    return Decoded(found.labels, certificates, degrees, _broken(batch, compiled, found.labels, degrees))


def _problem(batch: Batch, compiled: Compiled, i: int) -> Problem:
    return Problem(batch.potentials[i], compiled.ground_corpus(batch.corpus[[i]])[0])


def _nearest(batch: Batch, compiled: Compiled, i: int) -> Int16:
    """Return the labels of document i that break hard rules least, else those that the model prefers."""
    nearest = relax(_problem(batch, compiled, i))
    return viterbi(batch.potentials[i]).labels if nearest is None or nearest.labels is None else nearest.labels


def _broken(batch: Batch, compiled: Compiled, y: Int16, degrees: NDArray[np.int64]) -> list[list[dict[str, Any]]]:
    """Return what each answer pays for; only rules that it breaks are asked where."""
    prices = compiled.rules.penalties
    names, spans = compiled.labels.names, batch.spans
    broken: list[list[dict[str, Any]]] = [[] for _ in spans]
    for i, k in zip(*(axis.tolist() for axis in np.nonzero((degrees > 0) & (prices > 0))), strict=True):
        document, rule, price = batch.documents[i], compiled.rules[k], float(prices[k])
        for v in violations(rule, document.words, [names[j] for j in y[spans[i]].tolist()], text=document.text):
            start, end = (None, None) if v.position is None else document.tokens[v.position]
            paid = None if price == math.inf else price * v.amount
            place = {"token": v.position, "start": start, "end": end}
            broken[i].append({"rule": rule.name, **place, "amount": v.amount, "price": paid})
    return broken


def fields_of(labeller: Labeller, batch: Batch, y: Int16, sure: NDArray[np.float64] | None = None) -> list[list[Field]]:
    """Cut documents into fields: runs of tokens with labels of one field; sure : float64[M], confidence of each token.

    A field is as sure as its least sure token.
    """
    names, opens = labeller.names, labeller.opens
    number = np.array([names.index(name) for name in names], np.int64)[y]
    begins = opens[y]
    begins[1:] |= number[1:] != number[:-1]
    begins[batch.corpus.indptr[:-1][batch.corpus.lengths > 0]] = True
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(y)) - 1
    least = [None] * len(first)
    if sure is not None and len(first):
        least = labeller.calibration.of_fields(np.minimum.reduceat(sure, first)).tolist()
    document_of = np.repeat(np.arange(len(batch.documents)), batch.corpus.lengths)[first].tolist()
    found: list[list[Field]] = [[] for _ in batch.documents]
    offset = batch.corpus.indptr.tolist()
    for i, label, a, b, p in zip(document_of, y[first].tolist(), first.tolist(), last.tolist(), least, strict=True):
        name = names[label]
        if name is not None:
            tokens, base = batch.documents[i].tokens, offset[i]
            place = {"label": name, "start": tokens[a - base][0], "end": tokens[b - base][1]}
            found[i].append(place if p is None else {**place, "confidence": p})
    return found


def weigh(labeller: Labeller, batch: Batch, compiled: Compiled, decoded: Decoded) -> list[Answer]:
    """Add confidences; a text without tokens is answered with certainty by nothing."""
    tokens, whole = _probabilities(batch, compiled, decoded.y)
    fields = fields_of(labeller, batch, decoded.y, tokens)
    sure = labeller.calibration.of_records(whole).tolist()
    return [
        Answer(decoded.y[span], fields[i], sure[i], decoded.certificates[i], decoded.broken[i])
        for i, span in enumerate(batch.spans)
    ]


def _probabilities(batch: Batch, compiled: Compiled, y: Int16) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    chain = batch.potentials
    form = CountForm.of(compiled, compiled.rules.penalties, chain.trans, chain.start)
    conditions = Conditions.of(compiled.ground_bits(batch.corpus))
    return answer_probabilities(with_local_rules(chain, form, conditions), y)


def alternatives(labeller: Labeller, batch: Batch, compiled: Compiled, i: int, k: int) -> Iterator[Answer]:
    """Yield the k best answers for document i after the first."""
    one = Batch([batch.documents[i]], batch.corpus[[i]], alone(batch.potentials, i))
    readings = [(other, other.labels) for other in run(_problem(batch, compiled, i), k=k) if other.labels is not None]
    if not readings:
        return
    whole = np.concatenate([_probabilities(one, compiled, y)[1] for _, y in readings])
    shares = labeller.calibration.of_readings(whole).tolist()
    for (other, y), share in zip(readings[1:], shares[1:], strict=True):
        degrees, gap = degree_matrix(compiled, one.corpus, y), other.certificate.gap
        certificate = {"status": str(other.status), "gap": round(gap, 9) if math.isfinite(gap) else None}
        decoded = Decoded(y, [certificate], degrees, _broken(one, compiled, y, degrees))
        for answer in weigh(labeller, one, compiled, decoded):
            yield replace(answer, confidence=share)

"""From the potentials of a batch of references to their records: decode under rules, weigh, cut into fields.

Decoding is exact wherever `decoders.batch` proves it; the record says. A reference that no labelling saves from
breaking a hard rule gets the one that breaks least. Most answers pay for no rule; only the others are asked which.
Cost: array operations over all tokens, and Python a field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from espalier.citations.confidence import Calibration, answer_probabilities, with_local_rules
from espalier.citations.record import LABELS, Field, Record
from espalier.corpus import Corpus
from espalier.decoders.base import GAP, Problem, Violated
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import degree_matrix
from espalier.decoders.counts import Conditions, CountForm
from espalier.document import Document
from espalier.errors import LabelError, did_you_mean
from espalier.features.columns import ranges
from espalier.inference import path_scores, viterbi
from espalier.lazy import cached_property
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, Grounded, degrees_of
from espalier.rules.meaning import violations
from espalier.tags import parse_tag

__all__ = ["Batch", "FieldNames"]

Float = NDArray[np.float64]
Int16 = NDArray[np.int16]


@dataclass(frozen=True, slots=True, eq=False)
class FieldNames:
    """What the L labels of a model are called in records.

    names : the field of each label; number : int64[L], the same as numbers; opens : bool[L], does the label begin a
    field even after one of the same name?
    """

    names: tuple[str, ...]
    number: NDArray[np.int64]
    opens: NDArray[np.bool_]

    @classmethod
    def of(cls, labels: Iterable[str], renamed: Mapping[str, str]) -> FieldNames:
        """Read plain labels, or tags, of which those with B- open fields and `O` is `other`.

        Of a hierarchy the outermost level counts.
        """
        names, opens = [], []
        for label in labels:
            mark, name = (parse_tag(label) or (("", "other"),))[0]
            name = renamed.get(name, name)
            if name not in LABELS:
                raise LabelError(
                    f"the model has the label {label!r}, which is no field of a reference{did_you_mean(name, LABELS)}; "
                    f"fields: {', '.join(LABELS)}; pass names={{{name!r}: ...}} to say which of them it is"
                )
            names.append(name)
            opens.append(mark == "B")
        return cls(tuple(names), np.array([LABELS.index(name) for name in names], np.int64), np.array(opens, bool))


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Labellings of N sequences: y : int16[M]; and of each what is proven and what it breaks."""

    y: Int16
    certificates: list[str]
    violations: list[tuple[Violated, ...]]


class Batch:
    """References on their way to records: N documents, all with tokens, and their potentials."""

    def __init__(
        self,
        documents: list[Document],
        corpus: Corpus,
        potentials: ChainBatch,
        compiled: Compiled,
        fields: FieldNames,
        calibration: Calibration,
        threads: int | None = None,
    ) -> None:
        """Ground the rules; corpus : the tokens of the documents."""
        self.documents, self.corpus, self.potentials = documents, corpus, potentials
        self.compiled, self.fields, self.calibration, self.threads = compiled, fields, calibration, threads
        self.bits = compiled.ground_bits(corpus)
        self.ends = corpus.indptr.tolist()

    def records(self) -> list[Record]:
        """Return the record of each document."""
        return self._records(self.decoded, self.calibration.of_records)

    @cached_property
    def decoded(self) -> Answer:
        """The best labellings under the rules."""
        found = decode_batch(self.potentials, self.compiled, self.corpus, threads=self.threads, bits=self.bits)
        y, possible = found.labels, np.isfinite(found.scores)
        for i in np.flatnonzero(~possible).tolist():
            y[self._span(i)] = self._nearest(i)
        scores = np.where(possible, found.scores, 0.0)
        paid = path_scores(self.potentials, y, threads=1) - scores
        pays = ~possible | (paid > GAP * np.maximum(1.0, np.abs(scores)))
        broken: list[tuple[Violated, ...]] = [()] * len(pays)
        for i, found_broken in self._all_broken(np.flatnonzero(pays), y):
            broken[i] = found_broken
        status = np.where(found.settled, "optimal", np.where(possible, "bounded", "infeasible"))
        return Answer(y, status.tolist(), broken)

    def _span(self, i: int) -> slice:
        return slice(self.ends[i], self.ends[i + 1])

    def _grounded(self, i: int) -> Grounded:
        document = self.documents[i]
        return Grounded(self.compiled, tuple(document.words), document.text, self.bits[self._span(i)])

    def _problem(self, i: int) -> Problem:
        return Problem(self.potentials[i], self._grounded(i))

    def _nearest(self, i: int) -> Int16:
        """Return the labels of sequence i that break hard rules least, else those that the model prefers."""
        from espalier.decoders.conflict import relax

        nearest = relax(self._problem(i))
        if nearest is None or nearest.labels is None:
            return viterbi(self.potentials[i]).labels
        return nearest.labels

    def _all_broken(self, chosen: NDArray[np.int64], y: Int16) -> Iterator[tuple[int, tuple[Violated, ...]]]:
        """Yield each chosen sequence and what its labels pay for; y : int16[M], the labels of all sequences."""
        token = ranges(self.corpus.indptr[chosen], self.corpus.lengths[chosen])
        degrees = degree_matrix(self.compiled, self.corpus[chosen], y[token], self.bits[token])
        for i, own in zip(chosen.tolist(), degrees.tolist(), strict=True):
            yield i, self._broken(i, y[self._span(i)], own)

    def _broken(self, i: int, y: Int16, degrees: list[int]) -> tuple[Violated, ...]:
        """Return what labels y of sequence i pay for, given the degree of each rule."""
        document, labels, words = self.documents[i], self.compiled.labels.names, None
        found: list[Violated] = []
        for rule, price, degree in zip(self.compiled.rules, self._prices, degrees, strict=True):
            if degree > 0 and price > 0:
                words = words or (document.words, [labels[j] for j in y.tolist()])
                for v in violations(rule, *words, text=document.text):
                    found.append(Violated(rule.name, v.position, v.amount, price * v.amount))
        return tuple(found)

    @cached_property
    def _prices(self) -> list[float]:
        prices: list[float] = self.compiled.rules.penalties.tolist()
        return prices

    @cached_property
    def _weighed(self) -> ChainBatch:
        """The chain that confidences are taken from."""
        chain = self.potentials
        form = CountForm.prepared(self.compiled, self.compiled.rules.penalties, chain.trans, chain.start)
        return with_local_rules(self.potentials, form, Conditions.of(self.bits))

    def _records(self, answer: Answer, calibrated: Callable[[Float], Float]) -> list[Record]:
        """Cut the documents into fields: runs of tokens with labels of one field; calibrated : of whole records."""
        y, number = answer.y, self.fields.number[answer.y]
        begins = self.fields.opens[y]
        begins[1:] |= number[1:] != number[:-1]
        begins[self.corpus.indptr[:-1]] = True
        first = np.flatnonzero(begins)
        tokens, whole = answer_probabilities(self._weighed, y)
        pieces = zip(
            [self.fields.names[j] for j in y[first].tolist()],
            first.tolist(),
            np.append(first[1:], len(y)).tolist(),
            self.calibration.of_fields(np.minimum.reduceat(tokens, first)).tolist(),
            strict=True,
        )
        sure = calibrated(whole).tolist()
        several = np.diff(np.searchsorted(first, self.corpus.indptr)).tolist()
        return [
            Record(
                document.text,
                _fields(document, self.ends[i], islice(pieces, several[i])),
                sure[i],
                answer.certificates[i],
                answer.violations[i],
            )
            for i, document in enumerate(self.documents)
        ]

    def alternatives(self, i: int, k: int) -> tuple[Record, ...]:
        """Return the second to the k-th best record of document i under the rules."""
        from espalier.decoders.table import run

        best, grounded = self.decoded.y[self._span(i)], self._grounded(i)
        readings, status, broken = [best], [self.decoded.certificates[i]], [self.decoded.violations[i]]
        for other in run(self._problem(i), k=k):
            if other.labels is not None and len(readings) < k and not np.array_equal(other.labels, best):
                readings.append(other.labels)
                status.append(str(other.status))
                broken.append(self._broken(i, other.labels, degrees_of(grounded, other.labels).tolist()))
        answer = Answer(np.concatenate(readings), status, broken)
        first, *others = self._copies(i, len(readings))._records(answer, self.calibration.of_readings)
        return tuple(_bounded(other, first) for other in others)

    def _copies(self, i: int, n: int) -> Batch:
        """Return a batch of document i only, n times."""
        chain = self.potentials
        span = self._span(i)
        indptr = np.arange(n + 1) * (span.stop - span.start)
        unary, trans_class = np.tile(chain.unary[span], (n, 1)), np.tile(chain.trans_class[span], n)
        own = ChainBatch(indptr, unary, chain.trans, trans_class, chain.start, chain.end)
        return Batch([self.documents[i]] * n, self.corpus[[i] * n], own, self.compiled, self.fields, self.calibration)


def _bounded(other: Record, best: Record) -> Record:
    """Return another reading; what only it has is right only if the best one is wrong."""
    left, known = round(1.0 - best.confidence, 6), {(field.label, field.start, field.end) for field in best.fields}
    fields = tuple(
        field
        if (field.label, field.start, field.end) in known
        else replace(field, confidence=min(field.confidence, left))
        for field in other.fields
    )
    return replace(other, fields=fields)


def _fields(document: Document, first: int, pieces: Iterable[tuple[str, int, int, float]]) -> tuple[Field, ...]:
    """Return the fields of a document whose tokens are numbered from `first` on."""
    text, tokens, fields = document.text, document.tokens, []
    for label, a, b, sure in pieces:
        start, end = tokens[a - first][0], tokens[b - first - 1][1]
        fields.append(Field(label, text[start:end], start, end, sure))
    return tuple(fields)

"""From the scores of a batch of texts to their fields: decode under rules, certify, weigh, cut.

    decode     the best labelling under the rules, exact wherever `decoders.batch` proves it
    certify    scores and degrees recomputed from the rules, compared with the bounds        (`decoders.certify`)
    weigh      the probability of every token's label and of the whole labelling             (`extract.confidence`)
    cut        runs of tokens with labels of one field are a field, as sure as its least sure token

A text that no labelling saves from breaking a hard rule gets the one that breaks least. Cost: operations on arrays over
all tokens, and Python for each field and each broken rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.base import Problem, Problems, Violated
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import BatchDecoding, Certificate, Status, certify_batch, degree_matrix
from espalier.document import Document
from espalier.extract.confidence import Calibration, Unfamiliar, rated, signs_of
from espalier.extract.extraction import Field
from espalier.inference import viterbi
from espalier.lazy import cached_property
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, Grounded
from espalier.rules.lowering import Bits
from espalier.rules.meaning import violations_of
from espalier.tags import parse_tag, segments

if TYPE_CHECKING:
    from espalier.decoders.kbest import Ranked

__all__ = ["Answers", "FieldNames", "Reading", "Scored", "bounded", "decode", "unsure"]

Float = NDArray[np.float64]
Int16 = NDArray[np.int16]

Choose = Callable[[Corpus, ChainBatch], Int16]
"""How a model picks labels that does not take the best score: texts and potentials to labels, int16[M]."""


@dataclass(frozen=True, slots=True, eq=False)
class FieldNames:
    """What the L labels of a model are called in extractions.

    labels : the labels themselves; names : the field of each, None outside all fields; number : int64[L], the same as
    numbers; opens : bool[L], does the label begin a field even after one of the same name? nested : are there fields
    inside fields? renamed : fields of the model that have another name here.
    """

    labels: tuple[str, ...]
    names: tuple[str | None, ...]
    number: NDArray[np.int64]
    opens: NDArray[np.bool_]
    nested: bool
    renamed: Mapping[str, str]

    @classmethod
    def of(
        cls, labels: Iterable[str], renamed: Mapping[str, str] | None = None, *, outside: str | None = None
    ) -> FieldNames:
        """Read plain labels, or tags, of which those with B- open fields.

        renamed : fields under other names, those of a hierarchy by their paths. outside : what text outside all fields
        is called; None: it is no field. With it, only the outermost level of a hierarchy counts, and fields cover the
        text.
        """
        labels, renamed = tuple(labels), renamed or {}
        levels = [parse_tag(label) for label in labels]
        nested = outside is None and any(len(tag) > 1 for tag in levels)
        names = [renamed.get(tag[0][1], tag[0][1]) if tag else outside for tag in levels]
        order = {name: j for j, name in enumerate(dict.fromkeys(names))}
        return cls(
            labels,
            tuple(names),
            np.array([order[name] for name in names], np.int64),
            np.array([bool(tag) and tag[0][0] == "B" for tag in levels], bool),
            nested,
            dict(renamed),
        )

    @property
    def known(self) -> tuple[str, ...]:
        """The fields of the model, under its own names; of a hierarchy those of every level, by their paths."""
        levels = [[name for _, name in parse_tag(label)] for label in self.labels]
        paths = ("/".join(names[: n + 1]) for names in levels for n in range(len(names) if self.nested else 1) if names)
        return tuple(dict.fromkeys(paths))

    def called(self, field: str) -> str:
        """Return what a field of the model is called here."""
        return self.renamed.get(field, field)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of all fields, each once; of a hierarchy the whole paths, as `authors/person`."""
        if self.nested:
            paths = ("/".join(name for _, name in parse_tag(label)) for label in self.labels)
            return tuple(dict.fromkeys(self.called(path) for path in paths if path))
        return tuple(name for name in dict.fromkeys(self.names) if name is not None)


@dataclass(frozen=True, eq=False)
class Scored:
    """N documents, their tokens as a corpus, and their potentials."""

    documents: Sequence[Document]
    corpus: Corpus
    potentials: ChainBatch

    @cached_property
    def ends(self) -> list[int]:
        """Where each document ends in tokens, after a 0."""
        ends: list[int] = self.corpus.indptr.tolist()
        return ends

    def span(self, i: int) -> slice:
        """Return the tokens of document i."""
        return slice(self.ends[i], self.ends[i + 1])

    def repeated(self, chosen: Sequence[int]) -> Scored:
        """Return some of the documents, one as often as it is chosen."""
        return Scored([self.documents[i] for i in chosen], self.corpus[list(chosen)], self.potentials.chosen(chosen))


class Reading(NamedTuple):
    """One labelling of one document: its fields, how sure it is, what is proven, what it breaks, how unusual it is."""

    fields: tuple[Field, ...]
    confidence: float
    certificate: Certificate
    violations: tuple[Violated, ...]
    unfamiliar: Unfamiliar | None = None


@dataclass(frozen=True, eq=False)
class Answers:
    """The labellings of a batch under rules.

    y : int16[M]; degrees : int64[N, K], how much of each rule is broken; bits : where the conditions of the rules hold.
    """

    scored: Scored
    compiled: Compiled
    bits: Bits
    y: Int16
    certificates: Sequence[Certificate]
    degrees: NDArray[np.int64]

    @property
    def documents(self) -> Sequence[Document]:
        """The documents that were labelled."""
        return self.scored.documents

    @cached_property
    def violations(self) -> list[tuple[Violated, ...]]:
        """What each labelling pays for; only rules that it breaks are asked where."""
        prices, names, documents = self.compiled.rules.penalties, self.compiled.labels.names, self.scored.documents
        found: list[list[Violated]] = [[] for _ in documents]
        broken: dict[int, list[int]] = {}
        for i, k in zip(*(axis.tolist() for axis in np.nonzero((self.degrees > 0) & (prices > 0))), strict=True):
            broken.setdefault(i, []).append(k)
        for i, several in broken.items():
            rules, document = [self.compiled.rules[k] for k in several], documents[i]
            labels = [names[j] for j in self.y[self.scored.span(i)].tolist()]
            where = violations_of(rules, document.words, labels, text=document.text)
            for k, rule, places in zip(several, rules, where, strict=True):
                price = float(prices[k])
                found[i] += [Violated(rule.name, v.position, v.amount, price * v.amount) for v in places]
        return [tuple(paid) for paid in found]

    @cached_property
    def probabilities(self) -> tuple[Float, Float]:
        """The probability of every token's label, float64[M], and of every labelling, float64[N]; no rule counts."""
        return rated(self.scored.potentials, self.compiled, self.bits, self.y, counted=False)

    @cached_property
    def counted(self) -> tuple[Float, Float]:
        """The same where rules that count are in the sums."""
        return rated(self.scored.potentials, self.compiled, self.bits, self.y, counted=True)

    def readings(self, names: FieldNames, calibration: Calibration, signs: Float | None = None) -> list[Reading]:
        """Return each document with its fields; one without tokens has none. signs : if others say how texts look."""
        tokens, whole = self.counted if calibration.counted else self.probabilities
        if signs is None and calibration.usual is not None:
            signs = self.signs(names)
        whole = np.where(self.scored.corpus.lengths > 0, calibration.of_records(whole, signs), 0.0)
        proofs = [certificate.rounded() for certificate in self.certificates]
        strange = [None] * len(whole) if signs is None else calibration.unfamiliar(signs)
        fields = self.fields(names, calibration, tokens, signs)
        rows = zip(fields, whole.tolist(), proofs, self.violations, strange, strict=True)
        found = [Reading(*row) for row in rows]
        for i, reading in enumerate(found):
            if reading.certificate.status is Status.INFEASIBLE and self.scored.documents[i].tokens:
                found[i] = unsure(reading, self.problem(i))
        return found

    def signs(self, names: FieldNames) -> Float:
        """Return how each text looks, float64[N, 4]: see `extract.confidence`."""
        lengths = self.scored.corpus.lengths
        first = np.flatnonzero(self._begins(names))
        fields = np.diff(np.searchsorted(first, self.scored.corpus.indptr)).astype(np.float64)
        score = self.scored.potentials.unary[np.arange(len(self.y)), self.y]
        return signs_of(lengths, fields, self.probabilities[0], score)

    def _begins(self, names: FieldNames) -> NDArray[np.bool_]:
        """Return the tokens that begin a field of the outermost level, or what lies between two fields."""
        y, indptr = self.y, self.scored.corpus.indptr
        number, begins = names.number[y], names.opens[y]
        begins[1:] |= number[1:] != number[:-1]
        begins[indptr[:-1][np.diff(indptr) > 0]] = True
        return begins

    def fields(
        self,
        names: FieldNames,
        calibration: Calibration | None = None,
        tokens: Float | None = None,
        signs: Float | None = None,
    ) -> list[tuple[Field, ...]]:
        """Cut the documents into fields.

        tokens : float64[M], how sure every token is; without it fields say 1. signs : float64[N, 4], of the documents.
        """
        if names.nested:
            return _nested(self, names, calibration or Calibration(), tokens, signs)
        y, indptr = self.y, self.scored.corpus.indptr
        first = np.flatnonzero(self._begins(names))
        cuts = np.searchsorted(first, indptr)
        sure = [1.0] * len(first)
        if tokens is not None and calibration is not None and len(first):
            text = None if signs is None else np.repeat(np.arange(len(signs)), np.diff(cuts))
            sure = calibration.of_fields(np.minimum.reduceat(tokens, first), signs, text).tolist()
        label, starts = names.names, first.tolist()
        pieces = zip([label[j] for j in y[first].tolist()], starts, [*starts[1:], len(y)], sure, strict=False)
        return [
            _fields(document, offset, islice(pieces, b - a))
            for document, offset, (a, b) in zip(
                self.scored.documents, self.scored.ends, pairwise(cuts.tolist()), strict=False
            )
        ]

    def all_readings(self, k: int, names: FieldNames, calibration: Calibration) -> list[list[Reading]]:
        """Return the k best readings of each document."""
        pairs = zip(self.readings(names, calibration), self._alternatives(k, names, calibration), strict=True)
        return [[best, *others] for best, others in pairs]

    def _alternatives(self, k: int, names: FieldNames, calibration: Calibration) -> list[list[Reading]]:
        """Return for each document its second to k-th best reading under the rules."""
        from espalier.decoders.kbest import k_best_batch

        rho = self.compiled.rules.penalties
        problems = Problems(self.scored.potentials, self.compiled, rho, self.bits, self.problem)
        ranked = k_best_batch(problems, k)
        others = [self._others(i, k, several) for i, several in enumerate(ranked)]
        chosen = [i for i, own in enumerate(others) for _ in range(len(own) + 1) if own]
        if not chosen:
            return [[] for _ in others]
        rows = [row for i, own in enumerate(others) if own for row in (self._own(i), *own)]
        y = np.concatenate([row.labels for row in rows])
        scored, bits = self.scored.repeated(chosen), self.bits[self.scored.potentials.tokens_of(np.array(chosen))]
        bounds, none = np.array([row.bound for row in rows]), np.zeros(len(rows), np.int64)
        found = BatchDecoding(y, bounds, bounds, none, none, dict(enumerate(row.method for row in rows)))
        certified = certify_batch(scored.potentials, self.compiled, scored.corpus, found, bits=bits)
        repeated = Answers(scored, self.compiled, bits, y, certified.certificates, certified.degrees)
        readings = iter(repeated._shared(others, names, calibration))
        return [list(islice(readings, len(own))) for own in others]

    def _own(self, i: int) -> Ranked:
        from espalier.decoders.kbest import Ranked

        return Ranked(self.y[self.scored.span(i)], self.certificates[i].bound, self.certificates[i].method)

    def _others(self, i: int, k: int, ranked: Sequence[Ranked]) -> list[Ranked]:
        """Return the labellings of document i that come after its best one."""
        best = self.y[self.scored.span(i)]
        return [one for one in ranked if not np.array_equal(one.labels, best)][: k - 1]

    def _shared(
        self, others: Sequence[Sequence[object]], names: FieldNames, calibration: Calibration
    ) -> Iterable[Reading]:
        """Yield the readings after the best one of each document; the readings of a document share one probability.

        How a text looks is said by its best reading.
        """
        counts = [len(own) + 1 for own in others if own]
        first = np.repeat(np.cumsum([0, *counts[:-1]]), counts)
        signs = None if calibration.usual is None else self.signs(names)[first]
        readings, at = self.readings(names, calibration, signs), 0
        whole = (self.counted if calibration.counted else self.probabilities)[1]
        for n in counts:
            shares = calibration.of_readings(whole[at : at + n], None if signs is None else signs[at : at + 1]).tolist()
            best, *rest = readings[at : at + n]
            for reading, share in zip(rest, shares[1:], strict=True):
                yield reading._replace(confidence=share, fields=bounded(reading.fields, best.fields, shares[0]))
            at += n

    def problem(self, i: int) -> Problem:
        """Return the decoding problem of document i."""
        return problem_of(self.scored, self.compiled, self.bits, i)


def problem_of(scored: Scored, compiled: Compiled, bits: Bits, i: int) -> Problem:
    """Return the decoding problem of one document of a batch."""
    document = scored.documents[i]
    grounded = Grounded(compiled, tuple(document.words), document.text, bits[scored.span(i)])
    return Problem(scored.potentials[i], grounded)


def decode(
    scored: Scored,
    compiled: Compiled,
    *,
    threads: int | None = None,
    max_nodes: int | None = None,
    choose: Choose | None = None,
) -> Answers:
    """Return the best labellings under the rules, with their certificates.

    max_nodes : of each search; None takes the decoder's own limit. choose : how a model picks labels that does not take
    the best score; what it picks is certified like any other labelling, under the bound of the best score.
    """
    bits = compiled.ground_bits(scored.corpus)
    if choose is None:
        limit: dict[str, Any] = {} if max_nodes is None else {"max_nodes": max_nodes}
        found = decode_batch(scored.potentials, compiled, scored.corpus, threads=threads, bits=bits, **limit)
    else:
        found = _chosen(scored, choose, threads)
    certified = certify_batch(scored.potentials, compiled, scored.corpus, found, bits=bits)
    y, degrees = found.labels, certified.degrees
    open_ = [i for i, score in enumerate(certified.scores.tolist()) if score == -np.inf and scored.documents[i].tokens]
    for i in open_:
        if y[scored.ends[i]] < 0:
            y[scored.span(i)] = _nearest_labels(problem_of(scored, compiled, bits, i))
    if open_:
        degrees = degree_matrix(compiled, scored.corpus, y, bits)
    return Answers(scored, compiled, bits, y, certified.certificates, degrees)


def _chosen(scored: Scored, choose: Choose, threads: int | None) -> BatchDecoding:
    """Return labels that were not picked for their score, with the best score as their bound."""
    best, N = viterbi(scored.potentials, threads=threads), len(scored.potentials)
    once, none = np.ones(N, np.int64), np.zeros(N, np.int64)
    return BatchDecoding(choose(scored.corpus, scored.potentials), best.scores, best.scores, once, none)


def _fields(document: Document, offset: int, pieces: Iterable[tuple[str | None, int, int, float]]) -> tuple[Field, ...]:
    """Return the fields of a document whose tokens are numbered from `offset` on."""
    text, tokens, fields = document.text, document.tokens, []
    for label, a, b, sure in pieces:
        if label is not None:
            start, end = tokens[a - offset][0], tokens[b - offset - 1][1]
            fields.append(Field(label, text[start:end], start, end, sure))
    return tuple(fields)


def _nested(
    answers: Answers, names: FieldNames, calibration: Calibration, tokens: Float | None, signs: Float | None
) -> list[tuple[Field, ...]]:
    """Cut the documents into the fields of every level."""
    found, scored = [], answers.scored
    for i, document in enumerate(scored.documents):
        offset, at = scored.ends[i], document.tokens
        cut = segments([names.labels[j] for j in answers.y[scored.span(i)].tolist()])
        least = [1.0 if tokens is None else float(tokens[offset + s.start : offset + s.end].min()) for s in cut]
        rows = None if signs is None else np.repeat(signs[i : i + 1], len(cut), axis=0)
        sure = calibration.of_fields(np.array(least), rows).tolist()
        places = [(names.called(s.label), at[s.start][0], at[s.end - 1][1], p) for s, p in zip(cut, sure, strict=True)]
        found.append(tuple(Field(label, document.text[a:b], a, b, p) for label, a, b, p in places))
    return found


def bounded(fields: tuple[Field, ...], best: tuple[Field, ...], sure: float) -> tuple[Field, ...]:
    """Return the fields of another reading.

    What only it has is right only if the best reading is wrong, which is `sure` with that probability right.
    """
    left, known = round(1.0 - sure, 6), {(field.label, field.start, field.end) for field in best}
    return tuple(
        field
        if (field.label, field.start, field.end) in known or field.confidence <= left
        else field._replace(confidence=left)
        for field in fields
    )


def _nearest_labels(problem: Problem) -> NDArray[np.int16]:
    """Return the labels that break hard rules least, else those that the model prefers."""
    from espalier.decoders.conflict import relax

    nearest = relax(problem)
    return viterbi(problem.potentials).labels if nearest is None or nearest.labels is None else nearest.labels


def unsure(reading: Reading, problem: Problem | None = None) -> Reading:
    """Return a reading as what it is if no labelling keeps the rules: sure of nothing, and with the names of the rules.

    Under the rules every labelling has the probability 0; a calibration would make something of that. problem : whose
    rules are asked, if its scores are those of a chain.
    """
    from espalier.decoders.conflict import conflict

    why = None if problem is None else conflict(problem)
    fields = tuple(field._replace(confidence=0.0) for field in reading.fields)
    certificate = replace(reading.certificate, conflict=() if why is None else why.rules)
    return reading._replace(fields=fields, confidence=0.0, certificate=certificate)

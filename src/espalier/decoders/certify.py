"""What is proven about answers: certificates, from scores and degrees that are recomputed from the rules.

`prove` compares a score with an upper bound and is the only place that says OPTIMAL. `certify_batch` asks it for a
whole batch, `base.certify` for one labelling. The scores of a batch come from the potentials, its degrees from
`degree_matrix`: those of the meaning (`rules.meaning.degrees`), by operations on arrays; random tests hold the two to
the same numbers.

Local and linear rules cost O(M (charges + features)) in NumPy for a corpus of M tokens, however many rules there are.
Rules that only a monitor reads are compiled tables (`decoders.counts`), O(M) each. Where a table is too large, and for
sequences with unknown labels, rules are read one by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.counts import Conditions, Parts
from espalier.errors import EspalierError
from espalier.inference import path_scores
from espalier.kernels import are_loaded
from espalier.potentials import ChainBatch, Potentials
from espalier.rules.compile import Compiled, degrees_of
from espalier.rules.lowering import Bits, holds_when_empty

__all__ = [
    "GAP",
    "BatchDecoding",
    "Certificate",
    "Certified",
    "Status",
    "WorkDone",
    "certify_batch",
    "degree_matrix",
    "gates",
    "is_open",
    "magnitude_of",
    "prove",
    "scores_of",
    "sums",
    "tolerance",
]

Int = NDArray[np.int64]
Float = NDArray[np.float64]

GAP = 1e-9
"""The largest gap of an optimal answer, relative to max(1, |score|)."""


class Status(str, Enum):
    """What is proven about an answer."""

    OPTIMAL = "optimal"  # no labelling scores more
    BOUNDED = "bounded"  # the search ended early; no labelling scores more than the bound
    HEURISTIC = "heuristic"  # the method proves nothing by itself; a bound may come from elsewhere
    INFEASIBLE = "infeasible"  # every labelling scores -inf

    def __str__(self) -> str:
        """Return the plain word."""
        return self.value


class WorkDone(NamedTuple):
    """What an answer cost: Viterbi passes, search nodes expanded (or labellings looked at), seconds if measured."""

    viterbi: int = 0
    nodes: int = 0
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is known about an answer, and how.

    bound : no labelling scores more (inf: unknown). For the r-th of k best, no labelling but those listed before
    it does. gap : bound - score, at least 0. conflict : names of hard rules that no labelling satisfies together,
    if the status is INFEASIBLE and they were looked for; none if the potentials forbid every labelling. work : what it
    took, which is no part of what is proven: certificates that differ in it alone are equal. scores : whose scores it
    speaks of, where a model may have several ("first expert alone"); "" where there is no question.
    """

    status: Status
    bound: float
    gap: float
    method: str
    work: WorkDone = field(compare=False)
    conflict: tuple[str, ...] = ()
    scores: str = ""

    @property
    def proven(self) -> bool:
        """Is the answer proven to be the best?"""
        return self.status is Status.OPTIMAL

    def to_dict(self) -> dict[str, Any]:
        """Return status, bound, gap and method as JSON values, and `scores` if it says anything.

        What is not a finite number is None.
        """
        bound, gap = (x if math.isfinite(x) else None for x in (self.bound, self.gap))
        found = {"status": self.status.value, "bound": bound, "gap": gap, "method": self.method}
        return found | {"scores": self.scores} if self.scores else found

    def about(self, scores: str) -> Certificate:
        """Return it with the name of the scores that it speaks of."""
        return Certificate(self.status, self.bound, self.gap, self.method, self.work, self.conflict, scores)

    def rounded(self) -> Certificate:
        """Return it with six digits: the same text has the same certificate in any batch."""
        bound, gap = round(self.bound, 6) + 0.0, round(self.gap, 6) + 0.0  # infinite stays infinite; no -0.0
        return Certificate(self.status, bound, gap, self.method, self.work, self.conflict, self.scores)


def tolerance(score: float) -> float:
    """Return the largest gap at which an answer of this score still counts as optimal."""
    return GAP * max(1.0, abs(score))


def prove(
    score: float,
    bound: float,
    method: str,
    work: WorkDone | None = None,
    *,
    heuristic: bool = False,
    magnitude: float | None = None,
) -> Certificate:
    """Compare a score, recomputed from the meaning of the rules, with an upper bound: the only place that says OPTIMAL.

    OPTIMAL means bound - score <= GAP * max(1, |score|); a larger gap gives BOUNDED, or HEURISTIC if it is infinite or
    the method is. A score of -inf under a bound of -inf is INFEASIBLE. A bound below the score by more than rounding
    is a mistake of the decoder and raises; magnitude : what the rounding of the bound scales with, |score| if None.
    """
    slack, gap = GAP * max(1.0, abs(score)), bound - score
    if -slack <= gap <= slack < math.inf:  # nearly always
        return Certificate(Status.OPTIMAL, max(bound, score), max(0.0, gap), method, work or WorkDone())
    if math.isnan(bound) or math.isnan(score):
        raise EspalierError(f"{method} proposed a labelling of score {score} with bound {bound}", hint="this is a bug")
    if score == -math.inf:
        if bound == -math.inf:
            return Certificate(Status.INFEASIBLE, -math.inf, 0.0, method, work or WorkDone())
        status = Status.HEURISTIC if heuristic or bound == math.inf else Status.BOUNDED
        return Certificate(status, bound, math.inf, method, work or WorkDone())
    if gap < -tolerance(magnitude or 0.0):
        raise EspalierError(f"{method} claims the bound {bound}, but found the score {score}", hint="this is a bug")
    if gap < 0.0:  # rounding, of large terms that cancel
        return Certificate(Status.OPTIMAL, score, 0.0, method, work or WorkDone())
    status = Status.HEURISTIC if heuristic or bound == math.inf else Status.BOUNDED
    return Certificate(status, bound, gap, method, work or WorkDone())


def magnitude_of(potentials: Potentials, y: Sequence[int] | NDArray[Any]) -> float:
    """Return the sum of the absolute terms of s(x, y): what the rounding of any order of adding them scales with."""
    ids = np.asarray(y, dtype=np.int64)
    before, after = ids[:-1], ids[1:]
    steps = potentials.trans[np.arange(len(before)), before, after] if potentials.trans.ndim == 3 else None
    terms = [
        potentials.unary[np.arange(len(ids)), ids],
        potentials.trans[before, after] if steps is None else steps,
        potentials.start[ids[:1]],
        potentials.end[ids[-1:]],
    ]
    return float(sum(np.abs(term).sum() for term in terms))


# Many answers at once.


@dataclass(frozen=True, slots=True, eq=False)
class BatchDecoding:
    """The best labellings of N sequences under rules.

    labels : int16[M]; scores, bounds : float64[N]; rounds, nodes : int64[N], Viterbi passes and search nodes spent.
    climbed : the method that answered, of each sequence that the compiled passes left open.
    A sequence that no labelling satisfies has score and bound -inf. Scores are the decoder's own: what is proven about
    an answer, `certify_batch` says.
    """

    labels: NDArray[np.int16]
    scores: Float
    bounds: Float
    rounds: Int
    nodes: Int
    climbed: dict[int, str] = field(default_factory=dict)

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Where the search may end, bool[N]: its bound meets its score; an infeasible sequence has no score."""
        return ~is_open(self.scores, self.bounds) & np.isfinite(self.scores)

    def method(self, i: int) -> str:
        """Return what answered sequence i."""
        return self.climbed.get(i) or ("search" if self.nodes[i] else "viterbi" if self.rounds[i] <= 1 else "soft-dd")


def is_open(scores: Float, bounds: Float) -> NDArray[np.bool_]:
    """Is the bound still above the score, by more than rounding?  (From -inf every finite bound is far away.)"""
    slack = GAP * np.maximum(1.0, np.abs(np.where(np.isfinite(scores), scores, 0.0)))
    return np.asarray(bounds > scores + slack)


class Certified(NamedTuple):
    """What N labellings score and break: scores : float64[N], minus penalties; degrees : int64[N, K]; certificates."""

    scores: Float
    degrees: Int
    certificates: list[Certificate]


def certify_batch(
    batch: ChainBatch,
    compiled: Compiled,
    corpus: Corpus,
    found: BatchDecoding,
    penalties: Float | None = None,
    *,
    bits: Bits | None = None,
) -> Certified:
    """Recompute what the labellings of a batch score and break, and compare that with the bounds that were found.

    A sequence without a labelling (label -1) scores -inf and breaks nothing. bits : `compiled.ground_bits(corpus)`, if
    already known.
    """
    rho = compiled.check_penalties(penalties)
    y = np.maximum(found.labels, 0)
    degrees = degree_matrix(compiled, corpus, y, bits)
    hard = np.isinf(rho)
    scores = scores_of(batch, y) - degrees[:, ~hard] @ rho[~hard]
    scores[(degrees[:, hard] > 0).any(axis=1)] = -np.inf
    # No label at the first token: there is none at any. A sequence without tokens has its one labelling.
    missing = found.labels[np.minimum(corpus.indptr[:-1], max(len(y) - 1, 0))] < 0 if len(y) else np.zeros(0, bool)
    if missing.any():
        missing &= corpus.lengths > 0
        scores[missing], degrees[missing] = -np.inf, 0
    rows = zip(scores.tolist(), found.bounds.tolist(), found.rounds.tolist(), found.nodes.tolist(), strict=True)
    certificates, once = [], WorkDone(1, 0)
    for i, (score, bound, rounds, nodes) in enumerate(rows):
        method = found.method(i)
        magnitude = None
        if bound < score - tolerance(score):  # by rounding, or by a mistake
            magnitude = magnitude_of(batch[i], y[corpus.indptr[i] : corpus.indptr[i + 1]])
        work = once if rounds == 1 and not nodes else WorkDone(rounds, nodes)
        certificates.append(prove(score, bound, method, work, magnitude=magnitude))
    if batch.sources:
        certificates = [one.about(source) for one, source in zip(certificates, batch.sources, strict=True)]
    return Certified(scores, degrees, certificates)


def scores_of(batch: ChainBatch, y: NDArray[np.integer[Any]]) -> Float:
    """Return s(y) of labellings without unknown labels, float64[N]; one, or a few at first, without a kernel."""
    if len(batch) == 1:
        return np.array([batch.score(y)])
    if are_loaded(len(y)):
        return path_scores(batch, y, threads=1)
    ends = batch.indptr.tolist()
    return np.array([batch.chosen([i]).score(y[ends[i] : ends[i + 1]]) for i in range(len(batch))])


def degree_matrix(compiled: Compiled, corpus: Corpus, y: NDArray[Any], bits: Bits | None = None) -> Int:
    """Return the degree of every rule for each labelled sequence, int64[N, K].

    y : label ids of the M tokens, -1 where unknown. bits : `compiled.ground_bits(corpus)`, if already known.
    """
    bits = compiled.ground_bits(corpus) if bits is None else bits
    ids = np.maximum(np.asarray(y, np.int64), 0)
    before = np.empty_like(ids)
    before[1:] = ids[:-1]
    before[corpus.indptr[:-1][corpus.lengths > 0]] = -1
    degrees = np.zeros((len(corpus), compiled.K), np.int64)
    local, linear = compiled.local, compiled.linear
    if bits.any():  # in most short texts no condition holds
        first = (before < 0)[:, None]
        unary = bits[:, local.unary_bit] * local.unary[:, ids].T
        pair = bits[:, local.pair_bit] * np.where(first, local.first[:, ids].T, local.pair[:, before, ids].T)
        _add(degrees, local.unary_rule, sums(corpus.indptr, unary))
        _add(degrees, local.pair_rule, sums(corpus.indptr, pair))
    counts = sums(corpus.indptr, linear.values[:, before, ids].T)
    excess = np.maximum(counts @ linear.coefficients.T - linear.bound, 0) * gates(compiled, corpus, bits)
    _add(degrees, linear.rule, excess)
    unknown = np.asarray(y) < 0
    unread = sums(corpus.indptr, unknown[:, None])[:, 0] > 0 if unknown.any() else np.zeros(len(corpus), bool)
    slow = np.flatnonzero(unread | ~_monitored(compiled, corpus.indptr, ids, bits, degrees))
    for i, grounded in zip(slow.tolist(), compiled.ground_corpus(corpus[slow]) if len(slow) else (), strict=True):
        degrees[i] = degrees_of(grounded, y[corpus.indptr[i] : corpus.indptr[i + 1]])
    return degrees


def _monitored(compiled: Compiled, indptr: Int, ids: Int, bits: Bits, degrees: Int) -> NDArray[np.bool_]:
    """Write the degrees of rules that are neither local nor linear; return for which sequences that worked, bool[N]."""
    read = [k for k, form in enumerate(compiled.form) if form == "monitor"]
    if not read:
        return np.ones(len(degrees), bool)
    parts = compiled.remember("read parts", lambda: Parts.of(compiled, np.ones(compiled.K), read))
    if parts.rest:
        return np.zeros(len(degrees), bool)
    charged = np.zeros((len(degrees), parts.Q))
    if charged.size:
        from espalier.kernels.parts import charge_parts

        conditions = Conditions.of(bits)
        tables = parts.tables(conditions, np.arange(len(compiled.labels)))
        charge_parts(indptr, ids.astype(np.int16), conditions.pattern, tables, charged)
    known: NDArray[np.bool_] = np.asarray(np.isfinite(charged).all(axis=1))
    _add(degrees, parts.rule, np.where(known[:, None], charged, 0.0).astype(np.int64))
    return known


def _add(degrees: Int, rule: Int, amounts: Int) -> None:
    """Add amounts : int64[N, n] to the degrees of the rules that they belong to."""
    if len(degrees) == 1:
        np.add.at(degrees[0], rule, amounts[0])
    elif amounts.size:
        np.add.at(degrees.T, rule, amounts.T)


def gates(compiled: Compiled, corpus: Corpus, bits: Bits) -> NDArray[np.bool_]:
    """Return which rows of the linear rules apply to each sequence, bool[N, R]; the first token of one tells."""
    if (compiled.linear.gate < 0).all():
        return np.ones((len(corpus), len(compiled.linear.gate)), bool)
    on = np.ones((len(corpus), bits.shape[1] + 1), bool)  # the last column is gate -1: always
    present = corpus.lengths > 0
    on[present, :-1] = bits[corpus.indptr[:-1][present]]
    if not present.all():
        on[~present, :-1] = [holds_when_empty(condition) for condition in compiled.conditions]
    return on[:, compiled.linear.gate]


def sums(indptr: Int, amounts: NDArray[Any]) -> Int:
    """Sum amounts : [M, n] over the tokens of each sequence, int64[N, n]; a sequence without tokens gets 0."""
    if len(indptr) == 2:
        return np.asarray(amounts.sum(axis=0, dtype=np.int64)[None], np.int64)
    total, present = np.zeros((len(indptr) - 1, amounts.shape[1]), np.int64), np.diff(indptr) > 0
    if present.any():
        total[present] = np.add.reduceat(amounts, indptr[:-1][present], axis=0, dtype=np.int64)
    return total

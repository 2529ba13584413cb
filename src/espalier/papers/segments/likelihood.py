"""The conditional log-likelihood of a semi-Markov CRF, and its gradient.

    f(w) = Σ_n ω_n ( log Z(x_n; w) - log Z(x_n, what is known; w) )           ω_n: sample weights

as in `learning.likelihood`, with sums over segmentations. Known is the field that covers a token and whether a segment
starts at it; each may be unknown. If nothing is unknown, only one segmentation is left, and its counts c never change:
f = Σ ω log Z - w·c. Otherwise what is known limits how far back segments may reach (`segments.kernels`), and a
second pass under that limit gives the second term.

The weights, in order: (attribute, label) pairs of tokens, of first tokens and of last tokens; lengths [B, L] and marks
inside [L], if declared; learned transitions. Cost of one pass: O(rows added + T L (L + D)); memory: six rows a token,
whatever D. Work is cut into chunks by the data alone and added up in their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import UNKNOWN, Corpus, Labels
from espalier.errors import InfeasibleError, InputError, LabelError, Place
from espalier.features.matrix import FeatureMatrix
from espalier.kernels import aligned, padded
from espalier.kernels.history import dot
from espalier.learning.likelihood import RowGradient
from espalier.models.linear import Pairs, RowPlan
from espalier.papers.segments.kernels import SegmentSums, expectations, reaches
from espalier.papers.segments.model import LENGTH_BINS, SegmentalModel, SegmentFeatures, SegmentInput
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.tags import OUTSIDE, is_tag, parse_tag, path_of

__all__ = ["KnownSegments", "SegmentLikelihood"]

TOKENS_A_CHUNK = 1000
MOST_CHUNKS = 16
"""A pass is cut into pieces of about so many tokens, and into so many at most, whatever the number of threads."""

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class KnownSegments:
    """What the labels of a corpus say of its segments.

    labels : the fields; marked : were the labels IOB2 tags?
    indptr : int64[N + 1]; y : int16[M], the field that covers each token; cuts : int8[M], 1 where a segment starts, 0
    where none does; -1 where unknown. An `I-` tag after an unknown token continues its segment; after another field it
    starts one, as most tools read it. Between a known plain label and an unknown one nothing is known.
    """

    labels: Labels
    marked: bool
    indptr: NDArray[np.int64]
    y: NDArray[np.int16]
    cuts: NDArray[np.int8]

    @classmethod
    def of(cls, corpus: Corpus, outside: str | None) -> KnownSegments:
        """Read a labelled corpus; each token of `outside` is a segment of its own."""
        assert corpus.y is not None
        assert corpus.labels is not None
        names = corpus.labels.names
        marked = all(map(is_tag, names))
        fields = Labels(dict.fromkeys(_field(name) if marked else name for name in names))
        field_of = np.array([fields.index(_field(name) if marked else name) for name in names] + [UNKNOWN])
        mark_of = np.array([name[0] if marked and name != OUTSIDE else "" for name in names] + ["?"])
        y, mark = field_of[corpus.y], mark_of[corpus.y]
        before = np.append(UNKNOWN, y[:-1])
        alone = y == (fields.index(outside) if outside is not None and outside in fields else len(fields))
        cuts = np.full(len(y), -1, np.int8)
        cuts[(y >= 0) & (before >= 0)] = 1
        cuts[(y >= 0) & (before == y)] = 0
        cuts[(mark == "I") & (before < 0)] = 0
        cuts[(mark == "B") | alone] = 1
        cuts[1:][alone[:-1]] = 1
        cuts[corpus.indptr[:-1][corpus.lengths > 0]] = 1
        return cls(fields, marked, corpus.indptr, y.astype(np.int16), cuts)

    def stretches(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return first tokens and lengths of the stretches known to lie in one segment: tokens joined by cuts of 0."""
        starts = np.flatnonzero(self.cuts != 0)
        return starts, np.diff(np.append(starts, len(self.cuts)))

    def steps(self) -> NDArray[np.bool_]:
        """Return which label is known to follow which, bool[L, L]."""
        seen = np.zeros((len(self.labels), len(self.labels)), bool)
        inside = np.ones(len(self.y), bool)
        inside[self.indptr[:-1][np.diff(self.indptr) > 0]] = False
        t = np.flatnonzero(inside & (self.cuts == 1) & (self.y >= 0))
        t = t[self.y[t - 1] >= 0]
        seen[self.y[t - 1], self.y[t]] = True
        return seen

    def check(self, limit: NDArray[np.int64]) -> None:
        """Raise if a segment is known to be longer than the limit of its label, int64[L]."""
        starts, lengths = self.stretches()
        y = self.y[starts + lengths - 1]  # the last token of a stretch is labelled, if the stretch has more than one
        allowed = np.where(y >= 0, limit[y], limit.max())
        bad = np.flatnonzero(lengths > allowed)
        if len(bad):
            m, n = int(starts[bad[0]]), int(lengths[bad[0]])
            i = int(np.searchsorted(self.indptr, m, side="right")) - 1
            more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
            raise InputError(
                Place(i),
                f" has a segment of {n} tokens from token {m - int(self.indptr[i])} on{more}, above the "
                f"limit of {int(allowed[bad[0]])}",
                hint="raise max_length, or None for the longest segment in training",
            )


def _field(tag: str) -> str:
    """Return the field of a tag of one level."""
    if len(parse_tag(tag)) > 1:
        raise LabelError(f"tag {tag!r} has several levels", hint="segments have one: join the names or keep one level")
    return path_of(tag)


class _Rows:
    """Score rows of one matrix under changing weights, rows of expectations, and the way back from these."""

    def __init__(self, matrix: FeatureMatrix, pairs: Pairs, n_chunks: int, threads: int) -> None:
        M, self.threads = matrix.n_tokens, threads
        self.plan = RowPlan.of(matrix, pairs)
        self.tokens = self.plan.tokens(np.arange(M))
        self.way_back = RowGradient(matrix, pairs, np.arange(M), M, n_chunks, threads)
        self.token_chunks = balanced(np.arange(M + 1), n_chunks)
        self.scores = aligned(M, padded(pairs.n_labels))
        self.expected = aligned(M + matrix.n_bundles, padded(pairs.n_labels))

    def score(self, w: Float) -> None:
        """Fill `scores` and empty `expected`."""
        self.plan.prepare(w, self.threads)
        chunks = self.token_chunks
        run_chunks(lambda c: self.plan.score(self.tokens, *chunks[c], w, self.scores), len(chunks), self.threads)
        self.expected[:] = 0.0


class SegmentLikelihood:
    """f and its gradient for one corpus; call it with a weight vector.

    Parameters
    ----------
    data : the corpus; its matrices belong to tokens, first tokens and last tokens.
    known : what is known of its segments.
    pairs : the weighted (attribute, label) pairs of the three matrices.
    features : which segment features have weights.
    learned : bool[L, L]; the transitions that have a weight; the others weigh 0.
    limit : int64[L]; the tokens that a segment of each label may have at most.
    sample_weight : float64[N], one if not given.
    """

    def __init__(
        self,
        data: SegmentInput,
        known: KnownSegments,
        pairs: tuple[Pairs, Pairs, Pairs],
        features: SegmentFeatures,
        learned: NDArray[np.bool_],
        limit: NDArray[np.int64],
        sample_weight: Float | None = None,
        threads: int | None = None,
    ) -> None:
        """Lay out the corpus and count what the labels show."""
        M, N, L = data.n_tokens, len(data.indptr) - 1, len(limit)
        known.check(limit)
        self.free, self.known = np.zeros((2, M, padded(L)), np.int32)
        reaches(data.indptr, np.full(M, -1, np.int16), np.full(M, -1, np.int8), limit, self.free)
        reaches(data.indptr, known.y, known.cuts, limit, self.known)
        self.threads = choose_threads(int(self.free.sum()) // L, threads)  # by segments, not by tokens
        self.data, self.features, self.pairs, self.limit = data, features, pairs, limit
        self.from_label, self.to_label = np.nonzero(learned)
        self.sample_weight = np.ones(N) if sample_weight is None else np.asarray(sample_weight, np.float64)
        n_lengths = len(LENGTH_BINS) * L * features.length
        self.sizes = np.array([*map(len, pairs), n_lengths, L * features.punctuation])
        n_chunks = min(max(M // TOKENS_A_CHUNK, 2), MOST_CHUNKS)
        self.chunks = balanced(data.indptr, n_chunks)
        self.rows = [_Rows(m, p, n_chunks, self.threads) for m, p in zip(data.matrices, pairs, strict=True)]
        self.observed: Float | None = None
        if (known.y >= 0).all() and (known.cuts >= 0).all():
            # Only one segmentation is within reach, so that any weights give its counts.
            _, self.observed = self._expect(np.zeros(self.n_parameters), {1.0: self.known})

    @property
    def n_parameters(self) -> int:
        """Weights in all."""
        return int(self.sizes.sum()) + len(self.from_label)

    def __call__(self, w: Float) -> tuple[float, Float]:
        """Return f(w) and its gradient; nan where a weight is not finite."""
        if not np.isfinite(w).all():
            return np.nan, np.full(len(w), np.nan)
        if self.observed is None:
            return self._expect(w, {1.0: self.free, -1.0: self.known})
        log_z, gradient = self._expect(w, {1.0: self.free})
        gradient -= self.observed
        return log_z - dot(w, self.observed), gradient

    def model(self, w: Float) -> SegmentalModel:
        """Return the model that has these weights."""
        L = len(self.limit)
        tokens, first, last, lengths, inside, steps = np.split(w, np.cumsum(self.sizes))
        trans = np.zeros((L, L))
        trans[self.from_label, self.to_label] = steps
        return SegmentalModel(
            self.pairs, (tokens, first, last), lengths.reshape(-1, L) if len(lengths) else np.zeros((1, L)),
            inside if len(inside) else np.zeros(L), trans, self.limit,
        )  # fmt: skip

    def _expect(self, w: Float, terms: dict[float, NDArray[np.int32]]) -> tuple[float, Float]:
        """Return Σ sign ω log Z over the terms (sign: reach), and its gradient."""
        data, model, rows = self.data, self.model(w), self.rows
        for each, weights in zip(rows, model.weights, strict=True):
            each.score(np.ascontiguousarray(weights))
        known = {sign: model.segments(data, [each.scores for each in rows], reach) for sign, reach in terms.items()}
        table, trans = next(iter(known.values())).table, next(iter(known.values())).trans
        kinds, steps = (np.zeros((len(self.chunks), *scores.shape)) for scores in (table, trans))
        log_z = {sign: np.zeros(len(data.indptr) - 1) for sign in terms}
        covering, starting, ending = (each.expected for each in rows)

        def chunk(c: int) -> None:
            for sign, segments in known.items():
                expected = SegmentSums(log_z[sign], np.zeros(0), covering, starting, ending, kinds[c], steps[c])
                expectations(segments, *self.chunks[c], sign * self.sample_weight, expected)

        run_chunks(chunk, len(self.chunks), self.threads)
        _check_feasible(log_z.values())
        L = len(self.limit)
        by_kind = kinds.sum(axis=0)[:, :L].reshape(-1, 2, L)  # bin, mark inside
        gradient = np.empty(self.n_parameters)
        *parts, lengths, inside, transitions = np.split(gradient, np.cumsum(self.sizes))
        for each, part in zip(rows, parts, strict=True):
            each.way_back.fill(each.expected, part)
        lengths[:] = by_kind.sum(axis=1).ravel()[: len(lengths)]
        inside[:] = by_kind[:, 1].sum(axis=0)[: len(inside)]
        transitions[:] = steps.sum(axis=0)[self.from_label, self.to_label]
        return float(sum(sign * dot(self.sample_weight, log_z[sign]) for sign in terms)), gradient


def _check_feasible(log_z: Iterable[Float]) -> None:
    """Raise if no segmentation of a sequence was within reach."""
    for values in log_z:
        bad = np.flatnonzero(np.isneginf(values))
        if len(bad):
            raise InfeasibleError(Place(int(bad[0])), ": no segmentation agrees with its labels and starts of segments")

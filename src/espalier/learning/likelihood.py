"""The conditional log-likelihood of a linear-chain CRF, and its gradient.

    f(w) = Σ_n ω_n ( log Z(x_n; w) - log Z(x_n, known labels; w) )           ω_n: sample weights
    ∂f/∂w_k = Σ_n ω_n ( E[f_k | x_n] - E[f_k | x_n, known labels] )

With every label known the second term is the score of the labels, and its gradient the observed counts c, which never
change: f = Σ ω log Z - w·c. With unknown labels (-1) it is a second forward-backward with the known ones clamped.

The weights are those of the observed (attribute, label) pairs, then those of the learned transitions. Cost of one pass:
O(rows of references added + T (L + E)) for E learned transitions; memory: one padded row a token and a bundle.
Work is cut into chunks by the data alone and added up in their order: the result is the same on any number of threads.

`SoftLikelihood` fits a distribution q over labellings instead of labels, by the cross-entropy:

    f(w) = Σ_n ω_n ( log Z(x_n; w) - E_{q_n}[s(x_n, y; w)] )             = Σ_n ω_n ( KL(q_n ‖ p_w) + H(q_n) )
    ∂f/∂w_k = Σ_n ω_n ( E_{p_w}[f_k] - E_{q_n}[f_k] )

A chain model sees q only through its marginals and expected transitions, whose feature counts c never change: the
likelihood of known labels with c for the observed counts, at the same cost. Marginals pass through single precision on
their way to counts, as they do in the likelihood itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InfeasibleError, Place
from espalier.features.matrix import FeatureMatrix
from espalier.inference import posterior
from espalier.kernels import LANES, LARGEST, Lanes, Transitions, aligned, padded
from espalier.kernels.history import dot
from espalier.kernels.lanes import forward_backward_lanes
from espalier.kernels.rows import (
    attribute_gradient,
    bundle_gradient,
    fingerprints,
    keep_representatives,
    observed_counts,
    transpose_refs,
)
from espalier.models.linear import WORTH_A_BARRIER, Pairs, RowPlan
from espalier.parallel import balanced, choose_threads, independent_chunks, run_chunks
from espalier.potentials import ChainBatch

__all__ = ["ChainLikelihood", "RowGradient", "SoftLikelihood", "Twins"]

TOKENS_A_CHUNK = 2500
MOST_CHUNKS = 16
"""A pass is cut into pieces of about so many tokens, and into so many at most, whatever the number of threads."""

Float = NDArray[np.float64]


class RowGradient:
    """The way from rows of expectations, one a token, to the gradient of the weights of pairs."""

    def __init__(
        self,
        matrix: FeatureMatrix,
        pairs: Pairs,
        row_of_token: NDArray[np.int64],
        n_rows: int,
        n_chunks: int,
        threads: int,
    ) -> None:
        """Turn the matrix round: the rows that each attribute and each bundle is a sum of."""
        A = matrix.n_attributes
        self.pairs, self.wide, self.n_rows, self.threads = pairs, pairs.wide_row >= 0, n_rows, threads
        self.owner_ptr, self.owners, self.owner_values = transpose_refs(matrix.levels, row_of_token, A, n_rows)
        self.bundle_chunks = balanced(self.owner_ptr[A:], n_chunks)
        self.attribute_chunks = balanced(self.owner_ptr[: A + 1], n_chunks)

    def fill(self, rows: NDArray[np.floating], gradient: Float) -> None:
        """Fill the gradient, float64[P] or longer: bundles first, whose rows come after the others, then attributes."""
        pairs = self.pairs

        def bundles(c: int) -> None:
            lo, hi = self.bundle_chunks[c]
            first = self.owner_ptr[pairs.n_attributes :]
            bundle_gradient(lo, hi, first, self.owners, self.owner_values, rows, self.n_rows)

        def attributes(c: int) -> None:
            lo, hi = self.attribute_chunks[c]
            buffer = np.empty(rows.shape[1])
            attribute_gradient(
                lo, hi, self.owner_ptr, self.owners, self.owner_values, pairs.ptr, pairs.label, self.wide,
                rows, buffer, gradient,
            )  # fmt: skip

        small = len(self.owners) < WORTH_A_BARRIER * 4
        run_chunks(bundles, len(self.bundle_chunks), 1 if small else self.threads)
        run_chunks(attributes, len(self.attribute_chunks), self.threads)


class ChainLikelihood:
    """f and its gradient for one corpus; call it with a weight vector.

    Parameters
    ----------
    matrix, indptr, y : features, sequence borders and label ids (-1 unknown) of M tokens.
    pairs : the weighted (attribute, label) pairs.
    learned : bool[L, L]; the transitions that have a weight.
    start_allowed, allowed : bool[L] and bool[L, L]; everything else is forbidden.
    sample_weight : float64[N], one if not given.
    """

    def __init__(
        self,
        matrix: FeatureMatrix,
        indptr: NDArray[np.int64],
        y: NDArray[np.int16],
        pairs: Pairs,
        learned: NDArray[np.bool_],
        start_allowed: NDArray[np.bool_],
        allowed: NDArray[np.bool_],
        sample_weight: Float | None = None,
        threads: int | None = None,
    ) -> None:
        """Lay out the corpus and count what the labels show."""
        N = len(indptr) - 1
        self.threads = choose_threads(len(y), threads)
        self.pairs, self.allowed, self.learned = pairs, allowed, learned & allowed
        self.start_exp, self.end_exp = start_allowed.astype(np.float64), np.ones(pairs.n_labels)
        self.from_label, self.to_label = np.nonzero(self.learned)
        self.lanes = lanes = Lanes.of(indptr)
        self.plan = RowPlan.of(matrix, pairs)
        self.tokens = self.plan.tokens(lanes.token_of_row)
        self.sample_weight = np.ones(N) if sample_weight is None else np.asarray(sample_weight, np.float64)
        self.lane_weight = np.where(lanes.sequence >= 0, self.sample_weight[lanes.sequence], 0.0) if N else np.zeros(0)
        self.rows = RowGradient(
            matrix, pairs, lanes.row_of_token, lanes.n_rows, independent_chunks(self.threads), self.threads
        )
        chunks = min(max(len(y) // TOKENS_A_CHUNK, 2), MOST_CHUNKS)
        self.group_chunks = balanced(lanes.group_ptr, chunks)
        width = padded(pairs.n_labels)
        self.marginals = aligned(lanes.n_rows + matrix.n_bundles, width, dtype=np.float32)
        longest = max((lanes.group_ptr[hi] - lanes.group_ptr[lo] for lo, hi in self.group_chunks), default=0)
        # Working space for the score rows of a chunk, one a thread: taken from the list and given back.
        self.spare_rows = [aligned(LANES * int(longest), width) for _ in range(self.threads)]
        self.transitions = Transitions.of(np.where(allowed, 0.0, -np.inf), self.learned)
        self.label_of_row = np.full(lanes.n_rows, -1, np.int64)
        self.label_of_row[lanes.row_of_token] = y
        self.partial = bool((y < 0).any())
        self.observed = None if self.partial else self._observed(matrix, indptr, y)

    @property
    def n_parameters(self) -> int:
        """Weights in all: pairs, then transitions."""
        return len(self.pairs) + len(self.from_label)

    def __call__(self, w: Float) -> tuple[float, Float]:
        """Return f(w) and its gradient."""
        gradient = np.empty(self.n_parameters)
        self._set_transitions(w)
        self.plan.prepare(w, self.threads)
        if not self.partial:
            log_z, counts = self._expectations(w, clamped=False)
            self._gather(gradient, counts)
            assert self.observed is not None
            gradient -= self.observed
            return log_z - dot(w, self.observed), gradient
        known_z, known_counts = self._expectations(w, clamped=True)
        known_rows = self.marginals[: self.lanes.n_rows].copy()
        log_z, counts = self._expectations(w, clamped=False)
        self.marginals[: self.lanes.n_rows] -= known_rows
        self._gather(gradient, counts - known_counts)
        return log_z - known_z, gradient

    def _set_transitions(self, w: Float) -> None:
        """Put the transition weights in place; exceptions are found anew only where a base must change."""
        trans = np.where(self.allowed, 0.0, -np.inf)
        trans[self.from_label, self.to_label] = w[len(self.pairs) :]
        self.transitions = self.transitions.updated(trans, self.learned)

    def _expectations(self, w: Float, *, clamped: bool) -> tuple[float, Float]:
        """Turn rows into weighted marginals; return Σ ω log Z and the expected counts of the learned transitions."""
        lanes, trans = self.lanes, self.transitions
        log_z = np.zeros(len(lanes.lengths))
        expected = np.zeros((len(self.group_chunks), len(trans.source)))
        steps = trans.steps(self.start_exp, self.end_exp)
        in_range = self.from_label.size == 0 or np.abs(w[len(self.pairs) :]).max() < LARGEST

        def chunk(c: int) -> None:
            lo, hi = self.group_chunks[c]
            if not in_range:
                log_z[LANES * lo : LANES * hi] = np.nan
                return
            rows = self.spare_rows.pop()
            self._score(LANES * lanes.group_ptr[lo], LANES * lanes.group_ptr[hi], w, rows, clamped)
            forward_backward_lanes(
                lo, hi, lanes.group_ptr, lanes.lengths, self.lane_weight, steps,
                rows, self.marginals, expected[c], log_z,
            )  # fmt: skip
            self.spare_rows.append(rows)

        run_chunks(chunk, len(self.group_chunks), self.threads)
        slots = expected.sum(axis=0) * trans.exponentials()
        counts = np.zeros_like(trans.trans)
        counts[trans.source, trans.target] = slots
        failed = np.flatnonzero(np.isnan(log_z))
        for lane in failed:
            log_z[lane] = self._plain(int(lane), w, counts, clamped=clamped)
        return float(dot(self.lane_weight, log_z)), counts[self.from_label, self.to_label]

    def _score(self, first: int, last: int, w: Float, rows: Float, clamped: bool) -> None:
        """Write the scores of rows first..last-1; clamped, all labels but the known ones are forbidden."""
        self.plan.score(self.tokens, first, last, w, rows, first)
        if clamped:
            y = self.label_of_row[first:last]
            known = np.flatnonzero(y >= 0)
            kept = rows[known, y[known]]
            rows[known] = -np.inf
            rows[known, y[known]] = kept

    def _plain(self, lane: int, w: Float, counts: Float, *, clamped: bool) -> float:
        """Redo one sequence in log space: its scores lie too far apart for scaled probabilities."""
        L = self.pairs.n_labels
        group, k = divmod(lane, LANES)
        first = LANES * self.lanes.group_ptr[group] + k
        places = first + LANES * np.arange(self.lanes.lengths[lane])
        space = aligned(1, self.marginals.shape[1])
        unary = np.empty((len(places), L))
        for t, row in enumerate(places):
            self._score(row, row + 1, w, space, clamped)
            unary[t] = space[0, :L]
        start, end = np.log(self.start_exp, where=self.start_exp > 0, out=np.full(L, -np.inf)), np.log(self.end_exp)
        T, trans = len(places), self.transitions.trans[None]
        one = ChainBatch(np.array([0, T]), unary, trans, np.zeros(T, np.int32), start, end)
        found = posterior(one, threads=1, allow_infeasible=True)
        if not np.isfinite(found.log_z[0]):
            what = "its labels break" if clamped else "no labelling keeps"
            raise InfeasibleError(
                Place(int(self.lanes.sequence[lane])), f": {what} the allowed transitions, or a weight is nan"
            )
        self.marginals[places, :L] = self.lane_weight[lane] * found.marginals
        counts += self.lane_weight[lane] * found.transitions[0]
        return float(found.log_z[0])

    def _observed(self, matrix: FeatureMatrix, indptr: NDArray[np.int64], y: NDArray[np.int16]) -> Float:
        """Count what the labels show, weighted: pairs, then transitions."""
        counts = np.zeros(self.n_parameters)
        weight = np.repeat(self.sample_weight, np.diff(indptr))
        observed_counts(matrix.levels, y, weight, self.pairs.ptr, self.pairs.label, counts)
        inside = np.ones(len(y), bool)
        inside[indptr[:-1][np.diff(indptr) > 0]] = False
        after = np.flatnonzero(inside)
        steps = np.zeros(self.allowed.shape)
        np.add.at(steps, (y[after - 1], y[after]), weight[after])
        counts[len(self.pairs) :] = steps[self.from_label, self.to_label]
        return counts

    def _gather(self, gradient: Float, transition_counts: Float) -> None:
        """Fill the gradient from the marginal rows and what was counted."""
        self.rows.fill(self.marginals, gradient)
        gradient[len(self.pairs) :] = transition_counts


class SoftLikelihood(ChainLikelihood):
    """f and its gradient for one unlabelled corpus; `fit_to` a distribution, then call it with a weight vector.

    The parameters are those of `ChainLikelihood`, without labels and with one weight ω for all sequences.
    """

    def __init__(
        self,
        matrix: FeatureMatrix,
        indptr: NDArray[np.int64],
        pairs: Pairs,
        learned: NDArray[np.bool_],
        start_allowed: NDArray[np.bool_],
        allowed: NDArray[np.bool_],
        weight: float = 1.0,
        threads: int | None = None,
    ) -> None:
        """Lay out the corpus."""
        unknown = np.full(matrix.n_tokens, -1, np.int16)
        weights = np.full(len(indptr) - 1, float(weight))
        super().__init__(matrix, indptr, unknown, pairs, learned, start_allowed, allowed, weights, threads)
        self.weight, self.indptr = float(weight), indptr

    def potentials(self, w: Float) -> ChainBatch:
        """Return the potentials of the corpus under weights w."""
        L, lanes = self.pairs.n_labels, self.lanes
        self._set_transitions(w)
        self.plan.prepare(w, self.threads)
        rows = aligned(lanes.n_rows, self.marginals.shape[1], empty=True)
        self._score(0, lanes.n_rows, w, rows, clamped=False)
        start = np.where(self.start_exp > 0, 0.0, -np.inf)
        classes = np.zeros(len(lanes.row_of_token), np.int32)
        unary = np.ascontiguousarray(rows[lanes.row_of_token, :L])
        return ChainBatch(self.indptr, unary, self.transitions.trans[None].copy(), classes, start, np.zeros(L))

    def counts(self, marginals: Float, transitions: Float) -> Float:
        """Return the feature counts of token marginals, float64[M, L], and transitions, float64[L, L]; unweighted."""
        counts = np.empty(self.n_parameters)
        self.marginals[: self.lanes.n_rows] = 0.0
        self.marginals[self.lanes.row_of_token, : self.pairs.n_labels] = marginals
        self._gather(counts, transitions[self.from_label, self.to_label])
        return counts

    def fit_to(self, marginals: Float, transitions: Float) -> None:
        """Fit this distribution from now on, given by its marginals and its expected transitions."""
        self.observed, self.partial = self.weight * self.counts(marginals, transitions), False


@dataclass(frozen=True, slots=True, eq=False)
class Twins:
    """A matrix with one attribute for each set of twins: attributes that stand on exactly the same tokens learn as one.

    Rare words have many (the word, its lower form, its suffixes, its neighbours' words ...), each with the same data
    and so, under an L2 penalty, the same weight w. k twins act as one attribute of weight u = k w and penalty
    l2 u² / k. In the variable v = u / √k the penalty is plainly l2 v², and v moves as w would: the loss, the penalty
    and the steps of L-BFGS are unchanged, only the vectors are shorter. (Twins also share an L1 penalty, l1 |u|, but
    each coordinate of v would need its own; so the trainer leaves twins apart then.)

    matrix : the smaller matrix; group : int64[A], the new attribute of each old one; size : int64[new A], the twins
    in each.
    """

    matrix: FeatureMatrix
    group: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def apart(cls, matrix: FeatureMatrix) -> Twins:
        """Leave every attribute by itself."""
        return cls(matrix, np.arange(matrix.n_attributes), np.ones(matrix.n_attributes, np.int64))

    @classmethod
    def merge(cls, matrix: FeatureMatrix) -> Twins:
        """Find the twins of a matrix; real-valued ones are left as they are."""
        if len(matrix.token_values) or len(matrix.bundle_values):
            return cls.apart(matrix)
        A = matrix.n_attributes
        levels = matrix.levels
        random = np.random.default_rng(0).integers(1, 2**64, matrix.n_tokens, dtype=np.uint64)
        _, first, group = np.unique(fingerprints(levels, A, random), return_index=True, return_inverse=True)
        # Number the groups in the order of their first attributes, so that neighbours stay neighbours.
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        group = rank[group]
        new_id = np.full(A, -1, np.int64)
        new_id[first] = rank
        merged = FeatureMatrix(len(first), *keep_representatives(levels, A, new_id, len(first)))
        return cls(merged, group, np.bincount(group, minlength=len(first)))

    def scale(self, pairs: Pairs) -> Float:
        """√k of the attribute of every pair: u = scale · v."""
        return np.sqrt(np.repeat(self.size, np.diff(pairs.ptr)))

    def expand(self, pairs: Pairs, u: Float) -> tuple[Pairs, Float]:
        """Return the pairs and weights of all attributes: each twin gets its share u / k."""
        lengths = np.diff(pairs.ptr)[self.group]
        ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        source = np.arange(ptr[-1]) + np.repeat(pairs.ptr[self.group] - ptr[:-1], lengths)
        share = np.repeat(self.size[self.group], lengths)
        return Pairs.of(pairs.n_labels, ptr, pairs.label[source]), u[source] / share

"""Exact inference over potentials: best labellings, log partition, marginals, entropy, samples.

Every function takes chains (`Potentials`, a list of them, or a `ChainBatch`) or segmentations (`SegmentPotentials`,
a list, or a `SegmentBatch`), and returns arrays over all N sequences and M tokens laid end to end. Ties go to the
lowest labels from the last token backwards (see `kernels.chain`, `kernels.segment`).

A sequence whose every labelling scores -inf raises `InfeasibleError`; with `allow_infeasible` it gets labels -1,
score and log_z -inf, marginals and entropy 0. `threads=None` chooses by size; results never depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.errors import InfeasibleError, InputError, Place
from espalier.kernels import padded
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.potentials import ChainBatch, Potentials

if TYPE_CHECKING:  # few models score segments, and kernels are loaded when they are needed
    from espalier.kernels.chain import NodeColumns
    from espalier.papers.segments.kernels import Segments as SegmentScores
    from espalier.papers.segments.potentials import SegmentBatch, SegmentPotentials

__all__ = [
    "Labellings",
    "Posterior",
    "Segmentations",
    "entropy",
    "k_best",
    "label_and_pair_marginals",
    "log_partition",
    "marginals",
    "pair_marginals",
    "path_scores",
    "posterior",
    "sample",
    "segment_marginals",
    "viterbi",
]

Float: TypeAlias = NDArray[np.float64]
Int16: TypeAlias = NDArray[np.int16]
Bool: TypeAlias = NDArray[np.bool_]
Chains: TypeAlias = ChainBatch | Potentials | Sequence[Potentials]
Segments: TypeAlias = "SegmentBatch | SegmentPotentials | Sequence[SegmentPotentials]"

_CHUNK_TOKENS = 2048  # enough work to hide handing out a chunk
_MOST_CHUNKS = 64
_MOST_PARTIAL = 1 << 22  # float64 values that the expected counts of all chunks may take together


class Labellings(NamedTuple):
    """labels : int16[M] and scores : float64[N]; of k best, int16[k, M] and float64[N, k]."""

    labels: Int16
    scores: Float


class Segmentations(NamedTuple):
    """labels : int16[M], starts : bool[M] (a segment starts here), scores : float64[N]; k best as above."""

    labels: Int16
    starts: Bool
    scores: Float


class Posterior(NamedTuple):
    """What one forward-backward pass gives of p(y) ∝ exp s(y).

    log_z, entropy : float64[N]; marginals : float64[M, L]; transitions : the expected transition counts,
    float64[C, L, L] by transition class for chains, float64[L, L] between consecutive segments for segmentations.
    """

    log_z: Float
    marginals: Float
    transitions: Float
    entropy: Float


@dataclass(frozen=True, slots=True)
class _Problem:
    """A batch as its kernels take it."""

    batch: ChainBatch | SegmentBatch
    arrays: tuple[NDArray[Any], ...]  # the leading arguments of kernels that look for the best; the first is indptr

    @property
    def segmental(self) -> bool:
        """Is it of segmentations?"""
        return not isinstance(self.batch, ChainBatch)

    @property
    def kernels(self) -> ModuleType:
        """The kernels of this kind, loaded when they are needed."""
        if self.segmental:
            from espalier.kernels import segment

            return segment
        from espalier.kernels import chain

        return chain

    @property
    def N(self) -> int:
        return len(self.arrays[0]) - 1

    @property
    def M(self) -> int:
        return len(self.arrays[1])

    @property
    def L(self) -> int:
        return int(self.arrays[1].shape[-1])

    def summed(self) -> Any:
        """Return what kernels that sum take: a `NodeColumns`, or `Segments`."""
        return _segments_of(*self.arrays) if self.segmental else _lattice_of(*self.arrays)

    def chunks(self, partial: int = 1) -> list[tuple[int, int]]:
        """Cut the batch by its data alone; `partial` values of each chunk must fit in memory together."""
        n = min(self.M // _CHUNK_TOKENS, _MOST_CHUNKS, _MOST_PARTIAL // partial)
        return balanced(self.arrays[0], max(n, 1))

    def run(self, kernel: Callable[..., None], threads: int | None, given: Sequence[Any], *outputs: Any) -> None:
        """Run a kernel over all chunks."""
        chunks = self.chunks()
        run_chunks(lambda c: kernel(*given, *chunks[c], *outputs), len(chunks), choose_threads(self.M, threads))


def _problem(potentials: Chains | Segments) -> _Problem:
    """Bring any accepted form into arrays of one type each, so that every kernel is compiled once."""
    batch = _batch(potentials)
    names: tuple[tuple[str, type], ...]
    if isinstance(batch, ChainBatch):
        names = (("unary", float), ("trans", float), ("trans_class", np.int32), ("start", float), ("end", float))
    else:
        names = (("score", float), ("trans", float), ("start", float), ("end", float))
    if batch.n_labels > np.iinfo(np.int16).max:
        raise InputError(f"{batch.n_labels} labels, but labels are 16-bit numbers: at most {np.iinfo(np.int16).max}")
    arrays = [np.ascontiguousarray(getattr(batch, name), dtype) for name, dtype in names]
    return _Problem(batch, (np.ascontiguousarray(batch.indptr, np.int64), *arrays))


def _lattice_of(
    indptr: NDArray[np.int64], unary: Float, trans: Float, trans_class: NDArray[np.int32], start: Float, end: Float
) -> NodeColumns:
    """Return the lattice of chains: a node for each label, and the transitions that are allowed, by their targets."""
    from espalier.kernels.chain import NodeColumns

    (M, L), C, there = unary.shape, len(trans), np.diff(indptr) > 0
    score = unary.copy()
    score[indptr[:-1][there]] += start
    score[indptr[1:][there] - 1] += end
    steps = trans.transpose(0, 2, 1)
    allowed = steps != -np.inf  # nan stays, and is seen in the result
    into = np.append(0, np.cumsum(allowed.sum(axis=2)))
    source = np.nonzero(allowed)[2].astype(np.int32)
    return NodeColumns(
        indptr, L * np.arange(M + 1), score.reshape(-1), trans_class, L * np.arange(C), into, source, steps[allowed]
    )


def _segments_of(indptr: NDArray[np.int64], score: Float, trans: Float, start: Float, end: Float) -> SegmentScores:
    """Return segmentations as kernels sum them: every segment has a row of the table for itself."""
    from espalier.papers.segments.kernels import Segments

    (M, D, L), W, lengths = score.shape, padded(score.shape[2]), np.diff(indptr)
    first, last = np.zeros((2, M, W))
    first[indptr[:-1][lengths > 0], :L] = start
    last[indptr[1:][lengths > 0] - 1, :L] = end
    table, wide = np.zeros((M * D, W)), np.zeros((L, W))
    table[:, :L], wide[:, :L] = score.reshape(-1, L), trans
    before = np.arange(M) - np.repeat(indptr[:-1], lengths)
    reach = np.zeros((M, W), np.int32)
    reach[:, :L] = np.minimum(before + 1, D)[:, None]
    none = np.zeros(M + 1, np.int64)
    return Segments(indptr, np.zeros((M, W)), first, last, table, D, np.arange(-1, D), none, wide, reach)


def _batch(potentials: Chains | Segments) -> ChainBatch | SegmentBatch:
    """Make a batch of one sequence or a list."""
    if isinstance(potentials, ChainBatch):
        return potentials
    several: Sequence[Any] = potentials if isinstance(potentials, (list, tuple)) else [potentials]
    if all(isinstance(p, Potentials) for p in several):
        return ChainBatch.of(several)
    from espalier.papers.segments.potentials import SegmentBatch, SegmentPotentials

    if isinstance(potentials, SegmentBatch):
        return potentials
    if all(isinstance(p, SegmentPotentials) for p in several):
        return SegmentBatch.of(several)
    if several is potentials:
        kinds = ", ".join(sorted({type(p).__name__ for p in several}))
        raise InputError(f"a list of {kinds}", hint="expected all Potentials or all SegmentPotentials")
    what = "expected Potentials, SegmentPotentials, a list of one of them, or a batch"
    raise InputError(what, hint=f"got {type(potentials).__name__}")


def _require_feasible(scores: Float, allow_infeasible: bool) -> None:
    """Raise if a sequence has the score or log_z -inf."""
    bad = np.flatnonzero(np.isneginf(scores))
    if len(bad) and not allow_infeasible:
        others = f" (nor have {len(bad) - 1} others)" if len(bad) > 1 else ""
        raise InfeasibleError(
            Place(int(bad[0])),
            f" has no labelling with a finite score{others}",
            hint="look for tokens or transitions where everything is -inf, or pass allow_infeasible=True",
        )


def _count(value: int, name: str, least: int) -> int:
    """Check a whole number."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} is {value!r}, expected a whole number of at least {least}")
    return int(value)


@overload
def viterbi(potentials: Chains, *, threads: int | None = ..., allow_infeasible: bool = ...) -> Labellings: ...
@overload
def viterbi(potentials: Segments, *, threads: int | None = ..., allow_infeasible: bool = ...) -> Segmentations: ...
def viterbi(
    potentials: Chains | Segments, *, threads: int | None = None, allow_infeasible: bool = False
) -> Labellings | Segmentations:
    """Return the best labelling of each sequence and its score."""
    p = _problem(potentials)
    found = _labelled(p, p.kernels.viterbi, threads, np.empty(p.M, np.int16), np.empty(p.N))
    _require_feasible(found.scores, allow_infeasible)
    return found


def _labelled(
    p: _Problem, kernel: Callable[..., None], threads: int | None, labels: Int16, scores: Float
) -> Labellings | Segmentations:
    """Run a kernel that writes labels and scores; of segmentations also where segments start."""
    if not p.segmental:
        p.run(kernel, threads, p.arrays, labels, scores)
        return Labellings(labels, scores)
    starts = np.empty(labels.shape, np.bool_)
    p.run(kernel, threads, p.arrays, labels, starts, scores)
    return Segmentations(labels, starts, scores)


@overload
def k_best(potentials: Chains, k: int, *, threads: int | None = ..., allow_infeasible: bool = ...) -> Labellings: ...
@overload
def k_best(
    potentials: Segments, k: int, *, threads: int | None = ..., allow_infeasible: bool = ...
) -> Segmentations: ...
def k_best(
    potentials: Chains | Segments, k: int, *, threads: int | None = None, allow_infeasible: bool = False
) -> Labellings | Segmentations:
    """Return the k best distinct labellings of each sequence in order: labels[r] and scores[:, r] hold the r-th.

    Where fewer exist with a finite score the rest has labels -1 and score -inf.
    """
    p, k = _problem(potentials), _count(k, "k", 1)
    found = _labelled(p, p.kernels.k_best, threads, np.empty((k, p.M), np.int16), np.empty((p.N, k)))
    _require_feasible(found.scores[:, 0], allow_infeasible)
    return found


def log_partition(
    potentials: Chains | Segments, *, threads: int | None = None, allow_infeasible: bool = False
) -> Float:
    """Return log Σ_y exp s(y) of each sequence, float64[N]: the forward pass alone."""
    p = _problem(potentials)
    log_z = np.empty(p.N)
    p.run(p.kernels.log_partition, threads, [p.summed()], log_z)
    _require_feasible(log_z, allow_infeasible)
    return log_z


def posterior(
    potentials: Chains | Segments, *, threads: int | None = None, allow_infeasible: bool = False
) -> Posterior:
    """Return log_z, marginals, expected transition counts and entropies from one pass."""
    p = _problem(potentials)
    return (_segment_posterior if p.segmental else _chain_posterior)(p, threads, allow_infeasible)[0]


def _chain_posterior(p: _Problem, threads: int | None, allow_infeasible: bool) -> tuple[Posterior, Float]:
    """Return the posterior of chains, and its transitions."""
    lattice, trans = p.summed(), p.arrays[2]
    chunks = p.chunks(partial=max(len(lattice.source), 1))
    log_z, entropies, marginal = np.empty(p.N), np.empty(p.N), np.empty((p.M, p.L))
    # One table a chunk, added in the order of the chunks: the sum is the same for any number of threads.
    counts = np.zeros((len(chunks), len(lattice.source)))
    kernel = p.kernels.forward_backward
    run_chunks(
        lambda c: kernel(lattice, *chunks[c], log_z, marginal.reshape(-1), counts[c], entropies),
        len(chunks),
        choose_threads(p.M, threads),
    )
    _require_feasible(log_z, allow_infeasible)
    steps = np.zeros((len(trans), p.L, p.L))  # by targets, as the edges
    steps[trans.transpose(0, 2, 1) != -np.inf] = counts.sum(axis=0)
    transitions = np.ascontiguousarray(steps.transpose(0, 2, 1))
    return Posterior(log_z, marginal, transitions, entropies), transitions


def _segment_posterior(p: _Problem, threads: int | None, allow_infeasible: bool) -> tuple[Posterior, Float]:
    """Return the posterior of segmentations, and the probability of every segment, float64[M, D, L]."""
    from espalier.papers.segments.kernels import SegmentSums

    scores = p.summed()
    chunks, W = p.chunks(partial=p.L * padded(p.L)), padded(p.L)
    log_z, entropies, (covering, starting, ending) = np.empty(p.N), np.empty(p.N), np.zeros((3, p.M, W))
    parts, transitions = np.zeros(scores.table.shape), np.zeros((len(chunks), p.L, W))
    kernel, weight = p.kernels.expectations, np.ones(p.N)

    def chunk(c: int) -> None:
        expected = SegmentSums(log_z, entropies, covering, starting, ending, parts, transitions[c])
        kernel(scores, *chunks[c], weight, expected)

    run_chunks(chunk, len(chunks), choose_threads(p.M, threads))
    _require_feasible(log_z, allow_infeasible)
    found = Posterior(log_z, covering[:, : p.L].copy(), transitions.sum(axis=0)[:, : p.L].copy(), entropies)
    return found, parts[:, : p.L].reshape(p.arrays[1].shape)


def marginals(potentials: Chains | Segments, *, threads: int | None = None, allow_infeasible: bool = False) -> Float:
    """Return p(y_m = l), float64[M, L]; of segmentations, that a segment l covers token m."""
    return posterior(potentials, threads=threads, allow_infeasible=allow_infeasible).marginals


def entropy(potentials: Chains | Segments, *, threads: int | None = None, allow_infeasible: bool = False) -> Float:
    """Return the entropy of each sequence's distribution in natural units, float64[N]."""
    return posterior(potentials, threads=threads, allow_infeasible=allow_infeasible).entropy


def pair_marginals(potentials: Chains, *, threads: int | None = None, allow_infeasible: bool = False) -> Float:
    """Return p(y_{m-1} = l', y_m = l) of chains, float64[M, L, L]; 0 at first tokens."""
    return label_and_pair_marginals(potentials, threads=threads, allow_infeasible=allow_infeasible)[1]


def label_and_pair_marginals(
    potentials: Chains, *, threads: int | None = None, allow_infeasible: bool = False
) -> tuple[Float, Float]:
    """Return both `marginals` and `pair_marginals` of chains, from one pass."""
    p = _problem(potentials)
    if p.segmental:
        raise InputError("pair marginals are of chains", hint="for segmentations ask segment_marginals")
    indptr, unary, trans, trans_class, start, end = p.arrays
    own = trans[trans_class]  # a class for each token, so that what is counted of a class is of its token
    each = _Problem(p.batch, (indptr, unary, own, np.arange(p.M, dtype=np.int32), start, end))
    found, pairs = _chain_posterior(each, threads, allow_infeasible)
    return found.marginals, pairs


def segment_marginals(potentials: Segments, *, threads: int | None = None, allow_infeasible: bool = False) -> Float:
    """Return the probability of the segment of d + 1 tokens that ends at token m with label l, float64[M, D, L]."""
    p = _problem(potentials)
    if not p.segmental:
        raise InputError("segment marginals are of segmentations", hint="for chains ask pair_marginals")
    return _segment_posterior(p, threads, allow_infeasible)[1]


@overload
def sample(
    potentials: Chains,
    n: int,
    rng: np.random.Generator,
    *,
    threads: int | None = ...,
    allow_infeasible: bool = ...,
) -> Int16: ...
@overload
def sample(
    potentials: Segments,
    n: int,
    rng: np.random.Generator,
    *,
    threads: int | None = ...,
    allow_infeasible: bool = ...,
) -> tuple[Int16, Bool]: ...
def sample(
    potentials: Chains | Segments,
    n: int,
    rng: np.random.Generator,
    *,
    threads: int | None = None,
    allow_infeasible: bool = False,
) -> Int16 | tuple[Int16, Bool]:
    """Return n independent exact samples: labels int16[n, M]; of segmentations also starts bool[n, M]."""
    p, n = _problem(potentials), _count(n, "n", 0)
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng is of type {type(rng).__name__}", hint="expected np.random.default_rng(seed)")
    labels, log_z = np.empty((n, p.M), np.int16), np.empty(p.N)
    if p.segmental:
        starts = np.empty((n, p.M), np.bool_)
        p.run(p.kernels.sample, threads, [p.summed()], rng.random((n, p.M, 2)), labels, starts, log_z)
        _require_feasible(log_z, allow_infeasible)
        return labels, starts
    p.run(p.kernels.sample, threads, [p.summed()], rng.random((n, p.M)), labels, log_z)
    _require_feasible(log_z, allow_infeasible)
    return labels


def path_scores(
    potentials: Chains | Segments, labels: ArrayLike, starts: ArrayLike | None = None, *, threads: int | None = None
) -> Float:
    """Return s(y) of given labellings, float64[N]; a forbidden one scores -inf.

    labels : int[M]; starts : bool[M] for segmentations, where a segment of more than D tokens scores -inf.
    """
    y = np.asarray(labels)
    p = _problem(potentials)
    if y.shape != (p.M,) or y.dtype.kind not in "iu":
        raise InputError(f"labels are {y.dtype}{list(y.shape)}, expected one integer for each of the {p.M} tokens")
    if len(y) and not 0 <= y.min() <= y.max() < p.L:
        wrong = np.flatnonzero((y < 0) | (y >= p.L))
        raise InputError(
            f"{_place(p, wrong[0])} has label {y[wrong[0]]}, expected 0..{p.L - 1}", hint="unknown labels have no score"
        )
    y, scores = np.ascontiguousarray(y, np.int16), np.empty(p.N)
    if p.segmental:
        p.run(p.kernels.path_scores, threads, p.arrays, y, _checked_starts(p, y, starts), scores)
        return scores
    if starts is not None:
        raise InputError("starts are for segmentations", hint="a chain is scored by its labels alone")
    p.run(p.kernels.path_scores, threads, p.arrays, y, scores)
    return scores


def _checked_starts(p: _Problem, y: Int16, starts: ArrayLike | None) -> Bool:
    """Return starts : bool[M] if they cut every sequence into segments of one label each."""
    if starts is None or np.shape(starts) != (p.M,) or np.asarray(starts).dtype != np.bool_:
        raise InputError(f"segmentations need starts, one bool for each of the {p.M} tokens")
    cuts = np.array(starts)
    firsts = p.arrays[0][:-1][np.diff(p.arrays[0]) > 0]
    if not cuts[firsts].all():
        raise InputError(f"{_place(p, firsts[~cuts[firsts]][0])} is the first of its sequence and must start a segment")
    changes = np.flatnonzero(~cuts[1:] & (y[1:] != y[:-1])) + 1
    if len(changes):
        raise InputError(f"{_place(p, changes[0])} changes the label but does not start a segment")
    return cuts


def _place(p: _Problem, m: int) -> str:
    """Name token m by its sequence and its place there."""
    i = int(np.searchsorted(p.arrays[0], m, side="right")) - 1
    return f"sequence {i}, token {m - int(p.arrays[0][i])}"

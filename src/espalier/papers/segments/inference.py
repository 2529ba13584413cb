"""Inference over segmentations, as `espalier.inference` asks for it: best ones, sums, marginals, samples, scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.errors import InputError
from espalier.inference import LaidOut, Posterior, require_feasible
from espalier.kernels import padded
from espalier.parallel import choose_threads, run_chunks

if TYPE_CHECKING:
    from espalier.papers.segments.kernels import Segments
    from espalier.papers.segments.potentials import SegmentBatch, SegmentPotentials

__all__ = ["Segmentations", "laid_out", "segment_marginals"]

Float: TypeAlias = NDArray[np.float64]
Int16: TypeAlias = NDArray[np.int16]
Bool: TypeAlias = NDArray[np.bool_]


class Segmentations(NamedTuple):
    """labels : int16[M], starts : bool[M] (a segment starts here), scores : float64[N]; k best: [k, M], [N, k]."""

    labels: Int16
    starts: Bool
    scores: Float


def laid_out(batch: SegmentBatch) -> LaidOut:
    """Return a batch as its kernels take it."""
    arrays = (np.ascontiguousarray(getattr(batch, name), float) for name in ("score", "trans", "start", "end"))
    return _Segments((np.ascontiguousarray(batch.indptr, np.int64), *arrays))


def segment_marginals(
    potentials: SegmentPotentials | SegmentBatch | Sequence[SegmentPotentials],
    *,
    threads: int | None = None,
    allow_infeasible: bool = False,
) -> Float:
    """Return the probability of the segment of d + 1 tokens that ends at token m with label l, float64[M, D, L]."""
    several: Sequence[Any] = potentials if isinstance(potentials, list | tuple) else [potentials]
    if not several or not hasattr(several[0], "laid_out"):
        raise InputError("segment marginals are of segmentations", hint="for chains ask inference.pair_marginals")
    found: Float = several[0].laid_out(several).posterior(threads, allow_infeasible)[1]
    return found


class _Segments(LaidOut):
    """Segmentations: indptr, score, trans, start, end."""

    __slots__ = ()

    @property
    def kernels(self) -> ModuleType:
        """The kernels of segmentations."""
        from espalier.papers.segments import kernels

        return kernels

    def summed(self) -> Segments:
        """Return segmentations as kernels sum them: every segment has a row of the table for itself."""
        from espalier.papers.segments.kernels import Segments

        indptr, score, trans, start, end = self.arrays
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

    def labelled(self, kernel: Callable[..., None], threads: int | None, labels: Int16, scores: Float) -> Segmentations:
        """Return the labels and scores that a kernel writes, and where segments start."""
        starts = np.empty(labels.shape, np.bool_)
        self.run(kernel, threads, self.arrays, labels, starts, scores)
        return Segmentations(labels, starts, scores)

    def posterior(self, threads: int | None, allow_infeasible: bool) -> tuple[Posterior, Float]:
        """Return the posterior (its transitions are between segments, [L, L]), and the probability of every segment."""
        from espalier.papers.segments.kernels import SegmentSums

        scores, W = self.summed(), padded(self.L)
        chunks = self.chunks(partial=self.L * W)
        log_z, entropies, (covering, starting, ending) = np.empty(self.N), np.empty(self.N), np.zeros((3, self.M, W))
        parts, transitions = np.zeros(scores.table.shape), np.zeros((len(chunks), self.L, W))
        kernel, weight = self.kernels.expectations, np.ones(self.N)

        def chunk(c: int) -> None:
            expected = SegmentSums(log_z, entropies, covering, starting, ending, parts, transitions[c])
            kernel(scores, *chunks[c], weight, expected)

        run_chunks(chunk, len(chunks), choose_threads(self.M, threads))
        require_feasible(log_z, allow_infeasible)
        steps = transitions.sum(axis=0)[:, : self.L].copy()
        found = Posterior(log_z, covering[:, : self.L].copy(), steps, entropies)
        return found, parts[:, : self.L].reshape(self.arrays[1].shape)

    def sampled(self, n: int, rng: np.random.Generator, threads: int | None, log_z: Float) -> tuple[Int16, Bool]:
        """Return labels, int16[n, M], and where segments start, bool[n, M]."""
        labels, starts = np.empty((n, self.M), np.int16), np.empty((n, self.M), np.bool_)
        self.run(self.kernels.sample, threads, [self.summed()], rng.random((n, self.M, 2)), labels, starts, log_z)
        return labels, starts

    def path_scores(self, y: Int16, starts: ArrayLike | None, threads: int | None) -> Float:
        """Return the scores of segmentations; starts : bool[M]; a segment of more than D tokens scores -inf."""
        scores = np.empty(self.N)
        self.run(self.kernels.path_scores, threads, self.arrays, y, self._checked_starts(y, starts), scores)
        return scores

    def _checked_starts(self, y: Int16, starts: ArrayLike | None) -> Bool:
        """Return starts : bool[M] if they cut every sequence into segments of one label each."""
        if starts is None or np.shape(starts) != (self.M,) or np.asarray(starts).dtype != np.bool_:
            raise InputError(f"segmentations need starts, one bool for each of the {self.M} tokens")
        cuts = np.array(starts)
        firsts = self.arrays[0][:-1][np.diff(self.arrays[0]) > 0]
        if not cuts[firsts].all():
            m = firsts[~cuts[firsts]][0]
            raise InputError(f"{self.place(m)} is the first of its sequence and must start a segment")
        changes = np.flatnonzero(~cuts[1:] & (y[1:] != y[:-1])) + 1
        if len(changes):
            raise InputError(f"{self.place(changes[0])} changes the label but does not start a segment")
        return cuts

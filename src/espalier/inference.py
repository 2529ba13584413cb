"""Exact inference over potentials: best labellings, log partition, marginals, entropy, samples.

Every function takes chains (`Potentials`, a list of them, or a `ChainBatch`), or potentials of another shape that say
how they are laid out (`LaidOut`), and returns arrays over all N sequences and M tokens laid end to end. Ties go to the
lowest labels from the last token backwards (see `kernels.chain`).

A sequence whose every labelling scores -inf raises `InfeasibleError`; with `allow_infeasible` it gets labels -1,
score and log_z -inf, marginals and entropy 0. `threads=None` chooses by size; results never depend on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.errors import InfeasibleError, InputError, Place
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.potentials import ChainBatch, OtherPotentials, Potentials

if TYPE_CHECKING:  # kernels are loaded when they are needed
    from espalier.kernels.chain import NodeColumns

__all__ = [
    "Labellings",
    "LaidOut",
    "Posterior",
    "entropy",
    "k_best",
    "label_and_pair_marginals",
    "log_partition",
    "marginals",
    "pair_marginals",
    "path_scores",
    "posterior",
    "require_feasible",
    "sample",
    "viterbi",
]

Float: TypeAlias = NDArray[np.float64]
Int16: TypeAlias = NDArray[np.int16]
Chains: TypeAlias = ChainBatch | Potentials | Sequence[Potentials]
Others: TypeAlias = OtherPotentials | Sequence[OtherPotentials]

_CHUNK_TOKENS = 2048  # enough work to hide handing out a chunk
_MOST_CHUNKS = 64
_MOST_PARTIAL = 1 << 22  # float64 values that the expected counts of all chunks may take together


class Labellings(NamedTuple):
    """labels : int16[M] and scores : float64[N]; of k best, int16[k, M] and float64[N, k]."""

    labels: Int16
    scores: Float


class Posterior(NamedTuple):
    """What one forward-backward pass gives of p(y) ∝ exp s(y).

    log_z, entropy : float64[N]; marginals : float64[M, L]; transitions : the expected transition counts, of chains
    float64[C, L, L] by transition class.
    """

    log_z: Float
    marginals: Float
    transitions: Float
    entropy: Float


@dataclass(frozen=True, slots=True)
class LaidOut(ABC):
    """A batch of potentials as their kernels take it. Those of another shape than a chain bring a class of their own.

    Their static method `laid_out(several)` returns it for a list of them (for a batch, a list of one). `kernels` is a
    module with `viterbi`, `k_best` and `log_partition`; each takes leading arguments, a range of sequences, and arrays
    for what it finds.

    arrays : the leading arguments of kernels that look for the best; the first is indptr, the second has M rows and L
    columns at last.
    """

    arrays: tuple[NDArray[Any], ...]

    @property
    @abstractmethod
    def kernels(self) -> ModuleType:
        """The kernels of this kind, loaded when they are needed."""

    @abstractmethod
    def summed(self) -> Any:
        """Return what kernels that sum take."""

    @abstractmethod
    def labelled(self, kernel: Callable[..., None], threads: int | None, labels: Int16, scores: Float) -> Any:
        """Run a kernel that writes the best labels and their scores; return those, and what else is found."""

    @abstractmethod
    def posterior(self, threads: int | None, allow_infeasible: bool) -> tuple[Posterior, Any]:
        """Return the posterior, and the probability of every part."""

    @abstractmethod
    def sampled(self, n: int, rng: np.random.Generator, threads: int | None, log_z: Float) -> Any:
        """Return n samples; log_z is written."""

    @abstractmethod
    def path_scores(self, y: Int16, starts: Any, threads: int | None) -> Float:
        """Return the scores of labellings; starts : what else there is to know of them."""

    @property
    def N(self) -> int:
        """Sequences."""
        return len(self.arrays[0]) - 1

    @property
    def M(self) -> int:
        """Tokens."""
        return len(self.arrays[1])

    @property
    def L(self) -> int:
        """Labels."""
        return int(self.arrays[1].shape[-1])

    def chunks(self, partial: int = 1) -> list[tuple[int, int]]:
        """Cut the batch by its data alone; `partial` values of each chunk must fit in memory together."""
        n = min(self.M // _CHUNK_TOKENS, _MOST_CHUNKS, _MOST_PARTIAL // partial)
        return balanced(self.arrays[0], max(n, 1))

    def run(self, kernel: Callable[..., None], threads: int | None, given: Sequence[Any], *outputs: Any) -> None:
        """Run a kernel over all chunks."""
        chunks = self.chunks()
        run_chunks(lambda c: kernel(*given, *chunks[c], *outputs), len(chunks), choose_threads(self.M, threads))

    def place(self, m: int) -> str:
        """Name token m by its sequence and its place there."""
        i = int(np.searchsorted(self.arrays[0], m, side="right")) - 1
        return f"sequence {i}, token {m - int(self.arrays[0][i])}"


class _Chains(LaidOut):
    """Chains: indptr, unary, trans, trans_class, start, end."""

    __slots__ = ()

    @property
    def kernels(self) -> ModuleType:
        """The kernels of chains."""
        from espalier.kernels import chain

        return chain

    def summed(self) -> NodeColumns:
        """Return the lattice of the chains."""
        return _lattice_of(*self.arrays)

    def labelled(self, kernel: Callable[..., None], threads: int | None, labels: Int16, scores: Float) -> Labellings:
        """Return the labels and scores that a kernel writes."""
        self.run(kernel, threads, self.arrays, labels, scores)
        return Labellings(labels, scores)

    def posterior(self, threads: int | None, allow_infeasible: bool) -> tuple[Posterior, Float]:
        """Return the posterior, and its transitions."""
        lattice, trans = self.summed(), self.arrays[2]
        chunks = self.chunks(partial=max(len(lattice.source), 1))
        log_z, entropies, marginal = np.empty(self.N), np.empty(self.N), np.empty((self.M, self.L))
        # One table a chunk, added in the order of the chunks: the sum is the same for any number of threads.
        counts = np.zeros((len(chunks), len(lattice.source)))
        kernel = self.kernels.forward_backward
        run_chunks(
            lambda c: kernel(lattice, *chunks[c], log_z, marginal.reshape(-1), counts[c], entropies),
            len(chunks),
            choose_threads(self.M, threads),
        )
        require_feasible(log_z, allow_infeasible)
        steps = np.zeros((len(trans), self.L, self.L))  # by targets, as the edges
        steps[trans.transpose(0, 2, 1) != -np.inf] = counts.sum(axis=0)
        transitions = np.ascontiguousarray(steps.transpose(0, 2, 1))
        return Posterior(log_z, marginal, transitions, entropies), transitions

    def sampled(self, n: int, rng: np.random.Generator, threads: int | None, log_z: Float) -> Int16:
        """Return labels, int16[n, M]."""
        labels = np.empty((n, self.M), np.int16)
        self.run(self.kernels.sample, threads, [self.summed()], rng.random((n, self.M)), labels, log_z)
        return labels

    def path_scores(self, y: Int16, starts: Any, threads: int | None) -> Float:
        """Return the scores of labellings."""
        if starts is not None:
            raise InputError("starts are not for chains", hint="a chain is scored by its labels alone")
        scores = np.empty(self.N)
        self.run(self.kernels.path_scores, threads, self.arrays, y, scores)
        return scores


def _laid(potentials: Chains | Others) -> LaidOut:
    """Bring any accepted form into arrays of one type each, so that every kernel is compiled once."""
    several: Sequence[Any] = potentials if isinstance(potentials, (list, tuple)) else [potentials]
    if isinstance(potentials, ChainBatch) or all(isinstance(p, Potentials) for p in several):
        batch = potentials if isinstance(potentials, ChainBatch) else ChainBatch.of(several)
        types = {"unary": float, "trans": float, "trans_class": np.int32, "start": float, "end": float}
        arrays = [np.ascontiguousarray(getattr(batch, name), dtype) for name, dtype in types.items()]
        found: LaidOut = _Chains((np.ascontiguousarray(batch.indptr, np.int64), *arrays))
    elif len({type(p) for p in several}) == 1 and hasattr(several[0], "laid_out"):
        found = several[0].laid_out(several)
    elif several is potentials:
        kinds = ", ".join(sorted({type(p).__name__ for p in several}))
        raise InputError(f"a list of {kinds}", hint="expected potentials of one kind")
    else:
        what = "expected Potentials, a list of them, or a batch"
        raise InputError(what, hint=f"got {type(potentials).__name__}")
    if np.iinfo(np.int16).max < found.L:
        raise InputError(f"{found.L} labels, but labels are 16-bit numbers: at most {np.iinfo(np.int16).max}")
    return found


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


def require_feasible(scores: Float, allow_infeasible: bool) -> None:
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
def viterbi(potentials: Others, *, threads: int | None = ..., allow_infeasible: bool = ...) -> Any: ...
def viterbi(potentials: Chains | Others, *, threads: int | None = None, allow_infeasible: bool = False) -> Any:
    """Return the best labelling of each sequence and its score."""
    p = _laid(potentials)
    found = p.labelled(p.kernels.viterbi, threads, np.empty(p.M, np.int16), np.empty(p.N))
    require_feasible(found.scores, allow_infeasible)
    return found


@overload
def k_best(potentials: Chains, k: int, *, threads: int | None = ..., allow_infeasible: bool = ...) -> Labellings: ...
@overload
def k_best(potentials: Others, k: int, *, threads: int | None = ..., allow_infeasible: bool = ...) -> Any: ...
def k_best(potentials: Chains | Others, k: int, *, threads: int | None = None, allow_infeasible: bool = False) -> Any:
    """Return the k best distinct labellings of each sequence in order: labels[r] and scores[:, r] hold the r-th.

    Where fewer exist with a finite score the rest has labels -1 and score -inf.
    """
    p, k = _laid(potentials), _count(k, "k", 1)
    found = p.labelled(p.kernels.k_best, threads, np.empty((k, p.M), np.int16), np.empty((p.N, k)))
    require_feasible(found.scores[:, 0], allow_infeasible)
    return found


def log_partition(potentials: Chains | Others, *, threads: int | None = None, allow_infeasible: bool = False) -> Float:
    """Return log Σ_y exp s(y) of each sequence, float64[N]: the forward pass alone."""
    p = _laid(potentials)
    log_z = np.empty(p.N)
    p.run(p.kernels.log_partition, threads, [p.summed()], log_z)
    require_feasible(log_z, allow_infeasible)
    return log_z


def posterior(potentials: Chains | Others, *, threads: int | None = None, allow_infeasible: bool = False) -> Posterior:
    """Return log_z, marginals, expected transition counts and entropies from one pass."""
    return _laid(potentials).posterior(threads, allow_infeasible)[0]


def marginals(potentials: Chains | Others, *, threads: int | None = None, allow_infeasible: bool = False) -> Float:
    """Return p(y_m = l), float64[M, L]."""
    return posterior(potentials, threads=threads, allow_infeasible=allow_infeasible).marginals


def entropy(potentials: Chains | Others, *, threads: int | None = None, allow_infeasible: bool = False) -> Float:
    """Return the entropy of each sequence's distribution in natural units, float64[N]."""
    return posterior(potentials, threads=threads, allow_infeasible=allow_infeasible).entropy


def pair_marginals(potentials: Chains, *, threads: int | None = None, allow_infeasible: bool = False) -> Float:
    """Return p(y_{m-1} = l', y_m = l) of chains, float64[M, L, L]; 0 at first tokens."""
    return label_and_pair_marginals(potentials, threads=threads, allow_infeasible=allow_infeasible)[1]


def label_and_pair_marginals(
    potentials: Chains, *, threads: int | None = None, allow_infeasible: bool = False
) -> tuple[Float, Float]:
    """Return both `marginals` and `pair_marginals` of chains, from one pass."""
    p = _laid(potentials)
    if not isinstance(p, _Chains):
        raise InputError("pair marginals are of chains", hint=f"and {type(potentials).__name__} is none")
    indptr, unary, trans, trans_class, start, end = p.arrays
    own = trans[trans_class]  # a class for each token, so that what is counted of a class is of its token
    each = _Chains((indptr, unary, own, np.arange(p.M, dtype=np.int32), start, end))
    found, pairs = each.posterior(threads, allow_infeasible)
    return found.marginals, pairs


def sample(
    potentials: Chains | Others,
    n: int,
    rng: np.random.Generator,
    *,
    threads: int | None = None,
    allow_infeasible: bool = False,
) -> Any:
    """Return n independent exact samples: of chains labels int16[n, M]."""
    p, n = _laid(potentials), _count(n, "n", 0)
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng is of type {type(rng).__name__}", hint="expected np.random.default_rng(seed)")
    log_z = np.empty(p.N)
    found = p.sampled(n, rng, threads, log_z)
    require_feasible(log_z, allow_infeasible)
    return found


def path_scores(
    potentials: Chains | Others, labels: ArrayLike, starts: Any = None, *, threads: int | None = None
) -> Float:
    """Return s(y) of given labellings, float64[N]; a forbidden one scores -inf.

    labels : int[M]; starts : what potentials of another shape need to know besides.
    """
    y = np.asarray(labels)
    p = _laid(potentials)
    if y.shape != (p.M,) or y.dtype.kind not in "iu":
        raise InputError(f"labels are {y.dtype}{list(y.shape)}, expected one integer for each of the {p.M} tokens")
    if len(y) and not 0 <= y.min() <= y.max() < p.L:
        wrong = np.flatnonzero((y < 0) | (y >= p.L))
        raise InputError(
            f"{p.place(wrong[0])} has label {y[wrong[0]]}, expected 0..{p.L - 1}", hint="unknown labels have no score"
        )
    return p.path_scores(np.ascontiguousarray(y, np.int16), starts, threads)

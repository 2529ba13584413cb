"""The training loop of a net: batches, gradients in threads, steps, and a look at held-out data after every epoch.

First epochs learn label after label (`token_loss`), the last ones whole sequences (`chain_loss`); only these need
compiled code. A batch is cut into a fixed number of shards, whose random numbers depend on the seed, the step and the
shard alone, and whose gradients are added in their order: the result is the same, bit for bit, on any number of
threads.

`Run` is what an interrupted run goes on from: weights, moments, and how far it came.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.features.hashed import HashedWords
from espalier.learning.adamw import AdamW, added, schedule
from espalier.learning.chain_loss import Chain, SoftLabels, Targets, chain_loss, token_loss
from espalier.models.conv import Borders, ConvShape, Floats, NetInput, Parameters, Workspace
from espalier.models.conv_gradients import Dropout, SomeRows, backward, forward
from espalier.parallel import one_blas_thread, run_chunks

__all__ = ["Gradients", "NetData", "Progress", "Run", "Term", "TrainingPlan", "train_net"]

Float = NDArray[np.float64]

MOST_TOKENS = 2048
"""Of a shard: long texts make more shards, not larger ones, since a token needs some 30 KB on the way back."""


@dataclass(frozen=True, slots=True, eq=False)
class NetData:
    """Labelled sequences as a net reads them.

    indptr : int64[N + 1]; words : the ids of all word types; word : int32[M], the type of each token; space : uint8[M];
    y : int16[M], -1 unknown; weight : float64[N], of the labels; soft, soft_weight : probabilities and float64[N];
    soft_transitions : float32[N, L, L], the transitions that are expected with them, where these are known.
    start_allowed, allowed : bool[L] and bool[L, L].
    """

    indptr: NDArray[np.int64]
    words: HashedWords
    word: NDArray[np.int32]
    space: NDArray[np.uint8]
    y: NDArray[np.int16]
    weight: Float
    start_allowed: NDArray[np.bool_]
    allowed: NDArray[np.bool_]
    soft: SoftLabels | None = None
    soft_weight: Float | None = None
    soft_transitions: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        """Return N."""
        return len(self.indptr) - 1


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How to train: see the parameters of `ConvCRF`, which have these names."""

    epochs: int
    crf_epochs: int
    min_steps: int
    batch: int
    rate: float
    crf_rate: float
    decay: float
    average: float
    shards: int
    patience: int
    seed: int
    dropout: Sequence[float]

    def phases(self, n: int) -> list[tuple[bool, int, int]]:
        """Return each phase: does it learn sequences, epochs, and steps in an epoch, for n sequences."""
        each = -(-n // self.batch_of(n))
        epochs = max(self.epochs, -(-self.min_steps // each)) if self.epochs else 0
        crf_epochs = self.crf_epochs
        if crf_epochs:  # as large a part of the steps as it would have with enough data
            crf_epochs = max(crf_epochs, -(-self.min_steps * crf_epochs // (each * (self.epochs + crf_epochs))))
        return [(chains, k, each) for chains, k in ((False, epochs), (True, crf_epochs)) if k]

    def batch_of(self, n: int) -> int:
        """Return the sequences of a batch: fewer where there are few, so that there are some steps in an epoch."""
        return min(self.batch, max(8, n // 16))


class Progress(NamedTuple):
    """What `progress` is called with after an epoch.

    epoch, epochs : from 1, over both phases; phase : "tokens" or "sequences"; loss : for each token; score : token
    accuracy on held-out data, or None; rate : sequences a second; seconds : since the start; skipped : steps whose
    gradient was no number.
    """

    epoch: int
    epochs: int
    phase: str
    loss: float
    score: float | None
    rate: float
    seconds: float
    skipped: int


@dataclass(slots=True, eq=False)
class Run:
    """A run of training: what it has learned, and how far it is.

    weights : as the search has them; mean : their moving average, or None; best, best_score : those of the best epoch,
    by held-out data; epoch, step : done so far, over all phases; since : epochs since the best.
    """

    weights: Parameters
    search: AdamW
    mean: Parameters | None = None
    best: Parameters | None = None
    best_score: float = -1.0
    since: int = 0
    epoch: int = 0
    history: list[Progress] = field(default_factory=list)

    @property
    def current(self) -> Parameters:
        """The weights to label with."""
        return self.weights if self.mean is None else self.mean

    @property
    def result(self) -> Parameters:
        """What was learned: the best epoch by held-out data, else the last."""
        return self.current if self.best is None else self.best


Gradients = dict[str, Floats | SomeRows]
Term = Callable[[Parameters, int], Gradients]
"""The gradients of a further term, at weights and a step."""

Score = Callable[[Parameters, bool], float]
"""Token accuracy of weights on other data; the second argument: are sequences decoded as a whole?"""


def train_net(
    run: Run,
    shape: ConvShape,
    data: NetData,
    plan: TrainingPlan,
    *,
    threads: int = 1,
    score: Score | None = None,
    progress: Callable[[Progress], None] | None = None,
    keep: Callable[[Run], None] | None = None,
    term: Term | None = None,
) -> Run:
    """Go on with a run until its plan is done; `keep` is called after every epoch, to store it.

    term : something else to minimise, whose gradients are added to those of every step.
    """
    phases = plan.phases(len(data))
    epochs = sum(k for _, k, _ in phases)
    begin, before = time.perf_counter(), run.history[-1].seconds if run.history else 0.0
    with one_blas_thread():
        works = [Workspace(run.weights["table"].dtype) for _ in range(threads)]
        batch = _Batches(shape, data, plan, works, term)
        for chains, phase_epochs, each, done in _remaining(phases, run.epoch):
            if done == 0:
                run.search, run.since = run.search.anew(), 0
            for epoch in range(done, phase_epochs):
                if plan.patience and run.since >= plan.patience:
                    run.epoch += phase_epochs - epoch
                    break
                start = time.perf_counter()
                loss, skipped = _epoch(run, batch, chains, run.epoch, epoch * each, phase_epochs * each)
                now = time.perf_counter()
                run.epoch += 1
                found = None if score is None else score(run.current, chains)
                run.history.append(
                    Progress(
                        run.epoch, epochs, "sequences" if chains else "tokens", loss, found,
                        len(data) / max(now - start, 1e-9), before + now - begin, skipped,
                    )
                )  # fmt: skip
                _see(run, found)
                if progress is not None:
                    progress(run.history[-1])
                if keep is not None:
                    keep(run)
    return run


def _remaining(phases: list[tuple[bool, int, int]], epoch: int) -> Iterator[tuple[bool, int, int, int]]:
    """Yield the phases that are not over, each with the epochs of it that are done."""
    for chains, epochs, each in phases:
        if epoch < epochs:
            yield chains, epochs, each, epoch
        epoch = max(0, epoch - epochs)


def _see(run: Run, score: float | None) -> None:
    """Keep the weights of the best epoch."""
    if score is None:
        return
    run.since += 1
    if score > run.best_score:
        run.best, run.best_score, run.since = {k: w.copy() for k, w in run.current.items()}, score, 0


def _epoch(run: Run, batch: _Batches, chains: bool, epoch: int, first: int, steps: int) -> tuple[float, int]:
    """Take the steps of an epoch; return the mean loss of a token, and how many steps were skipped."""
    plan, total, weight, skipped = batch.plan, 0.0, 0.0, 0
    rate = plan.crf_rate if chains else plan.rate
    for k, chosen in enumerate(batch.order(epoch)):
        value, size, gradients = batch.gradients(run.weights, chosen, chains, (plan.seed, epoch, k))
        if batch.term is not None:
            gradients = added([gradients, batch.term(run.weights, first + k)])
        length = run.search.step(gradients, rate * schedule(first + k, steps))
        skipped += not np.isfinite(length)
        total, weight = total + value, weight + size
        if run.mean is not None:
            share = min(plan.average, 1.0 - 1.0 / (first + k + 2))  # a plain mean at first
            for name, mean in run.mean.items():
                mean += mean.dtype.type(1.0 - share) * (run.weights[name] - mean)
    return total / max(weight, 1e-12), skipped


class _Batches:
    """Batches of the data, and their gradients."""

    def __init__(
        self, shape: ConvShape, data: NetData, plan: TrainingPlan, works: list[Workspace], term: Term | None
    ) -> None:
        self.term = term
        self.shape, self.data, self.plan, self.works, self.threads = shape, data, plan, works, len(works)
        self.lengths = np.diff(data.indptr)
        self.ids = data.words.sizes.sum(axis=1)
        self.first_id = np.cumsum(self.ids) - self.ids

    def order(self, epoch: int) -> Iterator[NDArray[np.int64]]:
        """Yield the sequences of each batch of an epoch."""
        order = np.random.default_rng([self.plan.seed, epoch]).permutation(len(self.data))
        size = self.plan.batch_of(len(order))
        for a in range(0, len(order), size):
            yield order[a : a + size]

    def gradients(
        self, weights: Parameters, chosen: NDArray[np.int64], chains: bool, key: tuple[int, ...]
    ) -> tuple[float, float, Gradients]:
        """Return the loss of a batch, its weight in tokens, and the gradients of the mean loss of a token."""
        chosen = chosen[np.lexsort((chosen, -self.lengths[chosen]))]
        data, tokens = self.data, int(self.lengths[chosen].sum())
        shards = max(self.plan.shards, -(-tokens // MOST_TOKENS))
        each = data.weight[chosen] + (0.0 if data.soft_weight is None else data.soft_weight[chosen])
        size = max(float((each * self.lengths[chosen]).sum()), 1e-12)

        parts: dict[int, tuple[float, Gradients]] = {}

        def shard(k: int) -> None:
            mine = chosen[k::shards]
            mine = mine[self.lengths[mine] > 0]
            rng = np.random.default_rng([*key, k])
            if not len(mine):
                return
            work = self.works.pop()  # one for each thread: fewer of them stay in the cache
            try:
                parts[k] = self._shard(weights, mine, chains, 1.0 / size, rng, work)
            finally:
                self.works.append(work)

        run_chunks(shard, shards, self.threads)
        found = [parts[k] for k in sorted(parts)]
        if not found:
            return 0.0, 0.0, {}
        return size * sum(value for value, _ in found), size, added([gradients for _, gradients in found])

    def _shard(
        self, weights: Parameters, mine: NDArray[np.int64], chains: bool, scale: float, rng: np.random.Generator,
        work: Workspace,
    ) -> tuple[float, Gradients]:  # fmt: skip
        batch, targets = self._taken(mine, scale)
        scores, kept = forward(weights, self.shape, batch, work, Dropout(rng, *self.plan.dropout))
        if not chains:
            value, slope = token_loss(scores, targets)
            return value, backward(weights, self.shape, batch, slope, kept, work)
        allowed = (self.data.allowed, self.data.start_allowed, np.ones(self.shape.labels, bool))
        names = ("trans", "start", "end")
        chain = Chain(
            *(np.where(ok, weights[n], -np.inf).astype(np.float64) for n, ok in zip(names, allowed, strict=True))
        )
        value, slopes = chain_loss(scores, targets, chain)
        gradients = backward(weights, self.shape, batch, slopes.scores, kept, work)
        for name, slope, ok in zip(names, slopes[1:], allowed, strict=True):
            gradients[name] = np.where(ok, slope, 0.0).astype(work.dtype)
        return value, gradients

    def _taken(self, mine: NDArray[np.int64], scale: float) -> tuple[NetInput, Targets]:
        """Return some sequences as input and targets; weights are multiplied by `scale`."""
        data, lengths = self.data, self.lengths[mine]
        ends = np.cumsum(lengths)
        tokens = np.arange(ends[-1]) + np.repeat(data.indptr[mine] - (ends - lengths), lengths)
        used, word = np.unique(data.word[tokens], return_inverse=True)
        words = data.words.at(self.first_id, self.ids, used)
        soft = None if data.soft is None else data.soft.taken(tokens)
        soft_weight = None if data.soft_weight is None else scale * data.soft_weight[mine]
        steps = None if data.soft_transitions is None else data.soft_transitions[mine]
        targets = Targets(lengths, data.y[tokens], scale * data.weight[mine], soft, soft_weight, steps)
        return NetInput(words, word, data.space[tokens], Borders(lengths)), targets

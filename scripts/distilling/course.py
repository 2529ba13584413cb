"""A course of learning in PyTorch: labels, and what teachers say, token by token, as `espalier.learning` does it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from distilling.lessons import Lessons
from distilling.nets import Batch, Words
from numpy.typing import NDArray
from torch.nn import functional

from espalier.learning.adamw import BETAS, LONGEST, schedule

__all__ = ["Course", "OnDevice", "learn", "said_by"]

AVERAGE = 0.9995
"""The moving average of the weights."""

SORTED = 32
"""Batches whose references are sorted by length together: a teacher wastes less on padding."""


@dataclass(frozen=True)
class Course:
    """How to learn: passes over the lessons, references a step, the highest rate, how strongly weights are drawn to 0.

    soft_share : how much teachers count where there are labels, too.
    """

    epochs: int
    batch: int = 512
    rate: float = 3e-3
    decay: float = 0.01
    soft_share: float = 0.7
    seed: int = 0


class OnDevice:
    """Lessons where the net is."""

    def __init__(self, lessons: Lessons, device: str) -> None:
        """Copy them there."""
        self.lessons, self.device = lessons, device
        self.word, self.space, self.y, self.weight = (
            torch.from_numpy(np.ascontiguousarray(each)).to(device)
            for each in (lessons.word, lessons.space, lessons.y, lessons.weight)
        )
        self.lengths = np.diff(lessons.indptr)

    def take(self, chosen: NDArray[np.int64]) -> tuple[Batch, torch.Tensor]:
        """Return some references, and the places of their tokens."""
        lengths = self.lengths[chosen]
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) + np.repeat(self.lessons.indptr[chosen] - (ends - lengths), lengths)
        at = torch.from_numpy(places).to(self.device)
        return Batch(self.word[at].long(), self.space[at].long(), lengths), at

    def batches(self, order: NDArray[np.int64], size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield the references of each step; those of one step are about as long."""
        order = order[self.lengths[order] > 0]
        for a in range(0, len(order), size * SORTED):
            piece = order[a : a + size * SORTED]
            piece = piece[np.argsort(self.lengths[piece], kind="stable")]
            parts = [piece[k : k + size] for k in range(0, len(piece), size)]
            for k in rng.permutation(len(parts)):
                yield parts[k]


def learn(
    net: Any,
    data: OnDevice,
    words: Words,
    course: Course,
    said: torch.Tensor | None = None,
    say: Callable[[str], None] = print,
) -> Any:
    """Learn; return the net with the moving average of its weights.

    said : float16[M, L], what teachers say: it counts `soft_share` where there are labels, and alone elsewhere.
    """
    net = net.to(data.device).train()
    weights = list(net.parameters())
    means = [w.detach().clone() for w in weights]
    rng = np.random.default_rng(course.seed)
    torch.manual_seed(course.seed)
    step, begin = 0, time.perf_counter()
    search = torch.optim.AdamW(
        weights, lr=course.rate, betas=BETAS, weight_decay=course.decay, fused=data.device != "cpu"
    )
    for k in range(course.epochs):
        batches = list(data.batches(data.lessons.epoch(k, rng), course.batch, rng))
        total = torch.zeros((), device=data.device)
        for chosen in batches:
            for group in search.param_groups:
                group["lr"] = course.rate * schedule(step, course.epochs * len(batches))
            loss = _loss(net, data, words, chosen, said, course.soft_share)
            search.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, LONGEST)
            search.step()
            step += 1
            share = min(AVERAGE, 1.0 - 1.0 / (step + 1))
            torch._foreach_lerp_(means, [w.detach() for w in weights], 1.0 - share)
            total += loss.detach()
        passed = time.perf_counter() - begin
        say(f"epoch {k + 1} of {course.epochs}: loss {total.item() / len(batches):.4f}, {passed:.0f} s, {step} steps")
    with torch.no_grad():
        for w, mean in zip(weights, means, strict=True):
            w.copy_(mean)
    return net.eval()


def _loss(
    net: Any, data: OnDevice, words: Words, chosen: NDArray[np.int64], said: torch.Tensor | None, soft_share: float
) -> torch.Tensor:
    """Return the mean loss of a token; references count as much as they weigh."""
    batch, at = data.take(chosen)
    with _quick(data.device):
        scores = net(words, batch)
    each = functional.log_softmax(scores.float(), 1)
    y = data.y[at].long()
    of = torch.repeat_interleave(torch.from_numpy(chosen), batch.lengths).to(data.device)
    weight, known = data.weight[of], y >= 0
    hard = -each.gather(1, y.clamp(min=0)[:, None])[:, 0]
    if said is None:
        return (weight * known * hard).sum() / (weight * known).sum().clamp(min=1e-6)
    soft = -(said[at].float() * each).sum(1)
    loss = torch.where(known, soft_share * soft + (1.0 - soft_share) * hard, soft)
    return (weight * loss).sum() / weight.sum()


@torch.no_grad()
def said_by(nets: Sequence[tuple[Any, Words]], data: OnDevice, size: int = 2048) -> torch.Tensor:
    """Return the mean probabilities of teachers, float16[M, L]."""
    found: torch.Tensor | None = None
    order = np.flatnonzero(data.lengths > 0)
    order = order[np.argsort(data.lengths[order], kind="stable")]
    for k in range(0, len(order), size):
        batch, at = data.take(order[k : k + size])
        with _quick(data.device):
            several = [functional.softmax(net(words, batch).float(), 1) for net, words in nets]
        mean = torch.stack(several).mean(0)
        if found is None:
            found = torch.zeros(len(data.word), mean.shape[1], dtype=torch.float16, device=data.device)
        found[at] = mean.half()
    assert found is not None
    return found


def _quick(device: str) -> Any:
    """Return the context in which products are computed in half precision, where there is an accelerator."""
    return torch.autocast(device, torch.bfloat16, enabled=device != "cpu")

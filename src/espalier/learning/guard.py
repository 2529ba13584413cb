"""Guard rails for learning from unlabelled text: it may hurt, so the supervised model stays in the race.

A learner shows the guard every model it makes. With a score on held-out data the guard keeps the best one, the
supervised model included, and says when nothing has become better for a while. Without a score it can tell nothing:
it keeps the last model and makes no claim.

    guard = Guard(supervised, score, keep="best", patience=3)
    while not guard.stop and there is more to do:
        guard.see(next model)
    guard.model, guard.score, guard.supervised_score, guard.cycle
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from espalier.errors import InputError

__all__ = ["Guard"]

Model = TypeVar("Model")


class Guard(Generic[Model]):
    """Keeps one of the models it has seen.

    model, cycle : the kept model and its number, 0 for the supervised one; score : of the kept model, and
    supervised_score : of the first, both None without a score; stop : has the last `patience` models brought nothing?
    """

    def __init__(
        self,
        supervised: Model,
        score: Callable[[Model], float] | None = None,
        *,
        keep: str = "best",
        patience: int | None = None,
    ) -> None:
        """Start from the supervised model.

        score : higher is better. keep : "best" (ties go to the earlier model) or "last"; without a score always the
        last. patience : models in a row without a new best score before `stop`; None never stops.
        """
        if keep not in ("best", "last"):
            raise InputError(f"keep is {keep!r}", hint="expected 'best' or 'last'")
        if patience is not None and (isinstance(patience, bool) or not isinstance(patience, int) or patience < 1):
            raise InputError(f"patience is {patience!r}", hint="expected None or a whole number of at least 1")
        self._score, self._keep, self._patience = score, keep, patience
        self.model, self.cycle = supervised, 0
        self.supervised_score = None if score is None else float(score(supervised))
        self.score = self._best = self.supervised_score
        self.seen = self._best_cycle = 0

    def see(self, model: Model) -> float | None:
        """Take the next model; return its score, None without one."""
        self.seen += 1
        score = None if self._score is None else float(self._score(model))
        better = score is not None and self._best is not None and score > self._best
        if better:
            self._best, self._best_cycle = score, self.seen
        if better or score is None or self._keep == "last":
            self.model, self.cycle, self.score = model, self.seen, score
        return score

    @property
    def stop(self) -> bool:
        """Have the last `patience` models brought no new best score?"""
        if self._patience is None or self._best is None:
            return False
        return self.seen - self._best_cycle >= self._patience

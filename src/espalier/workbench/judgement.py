"""Is a new model worse than the one in use? Both are judged on records that they have not learned from.

From 100 corrected records on, a fifth of them judges a model that learned from the others. With fewer, every record
judges: three models learn from two thirds each, and each is judged on the third that it has not seen. The model in use
is judged on the same records. If it has learned from some of them, a model like it is trained without them, in its
place: otherwise it would be flattered.

A new model is worse if field F1 or the share of whole records is lower, and chance is no excuse: fewer than 20 records
judge, or a paired bootstrap over records says p < 0.05.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from espalier.document import Document
from espalier.recipes.judging import compare_answers, gold_of, tags_of

__all__ = ["FEWEST_DRAWN", "JudgedTraining", "Judging", "folds", "is_worse", "verdict"]

FEWEST_DRAWN = 20
"""With fewer held-out records no curve is drawn, and chance is no excuse."""

_FOLDS, _FEW_FOLDS = 5, 3
_LEVEL = 0.05
_RESAMPLES = 4000
_METRICS = ("field_f1", "exact")

Learn = Callable[[str, Sequence[Document], int], Any]


def folds(n: int) -> list[list[int]]:
    """Return which of n records judge: one fold of a fifth, or where that is too few, folds that hold all records."""
    if n < 2:
        return [[]]
    if n // _FOLDS >= FEWEST_DRAWN:
        return [list(range(_FOLDS - 1, n, _FOLDS))]
    return [list(range(k, n, _FEW_FOLDS)) for k in range(min(_FEW_FOLDS, n))]


@dataclass(frozen=True, slots=True)
class JudgedTraining:
    """Figures of the new model, and how it compares with the one in use: a row for each metric, None without one."""

    scores: dict[str, float]
    rows: list[dict[str, Any]] | None


class Judging:
    """Judges a way to train on records, against the model in use.

    active : the model in use, None if there is none: `file`, `method` (None: not trained here), `seen` (which records,
    by place). learn(method, documents, step) : trains. progress(step) : is told before each fold.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        active: Mapping[str, Any] | None,
        learn: Learn,
        progress: Callable[[int], None],
    ) -> None:
        """Take the records and the model in use."""
        self._documents, self._active, self._learn, self._progress = documents, active, learn, progress
        self._seen = frozenset[int]() if active is None else frozenset(active["seen"])
        self._model: Any = None

    def run(self, parts: Sequence[Sequence[int]], method: str) -> JudgedTraining | None:
        """Judge on all parts; None where there is nothing to judge by."""
        judges = [self._documents[i] for part in parts for i in part]
        if not judges:
            return None
        new: list[list[str]] = []
        old: list[list[str]] = []
        for step, part in enumerate(parts, 1):
            self._progress(step)
            rest = [i for i in range(len(self._documents)) if i not in set(part)]
            held = [self._documents[i] for i in part]
            answers = tags_of(self._learn(method, [self._documents[i] for i in rest], step), held)
            new += answers
            if self._active is not None:
                old += self._rival(part, rest, held, method, answers, step)
        rows = compare_answers(gold_of(judges, old or new, new), old or new, new, _RESAMPLES)
        scores = {row["metric"]: row["b"] for row in rows}
        return JudgedTraining(scores, rows if self._active is not None else None)

    def _rival(
        self, part: Sequence[int], rest: Collection[int], held: Sequence[Document], method: str,
        answers: list[list[str]], step: int,
    ) -> list[list[str]]:  # fmt: skip
        """Return what the model in use says about held-out records, or one like it that has not seen them."""
        assert self._active is not None
        if not self._seen.intersection(part) or self._active["method"] is None:
            return tags_of(self._loaded(), held)
        before = [i for i in rest if i in self._seen]
        if self._active["method"] == method and len(before) == len(rest):
            return answers  # the same way, from the same records
        if not before:
            return tags_of(self._loaded(), held)
        return tags_of(self._learn(self._active["method"], [self._documents[i] for i in before], step), held)

    def _loaded(self) -> Any:
        from espalier.loading import load

        assert self._active is not None
        if self._model is None:
            self._model = load(self._active["file"])
        return self._model


def is_worse(row: Mapping[str, Any], judges: int) -> bool:
    """Is the second model worse by this metric, and chance no excuse?"""
    return bool(row["difference"] < -1e-12 and (judges < FEWEST_DRAWN or row["p_bootstrap"] < _LEVEL))


def verdict(judged: JudgedTraining | None, active: Mapping[str, Any] | None, judges: int) -> dict[str, Any]:
    """Return whether to put the new model in use, and why."""
    empty = {"metric": "", "held_out": judges, "before": None, "after": None, "p": None}
    if active is None:
        return {"used": True, "why": "nothing to compare", **empty}
    if judged is None or judged.rows is None:
        return {"used": False, "why": "too few records", **empty}
    rows = [row for row in judged.rows if row["metric"] in _METRICS]
    chosen = next((row for row in rows if is_worse(row, judges)), rows[0])
    figures = {"before": chosen["a"], "after": chosen["b"], "p": chosen["p_bootstrap"]}
    worse = is_worse(chosen, judges)
    better = chosen["difference"] > 0 and chosen["p_bootstrap"] < _LEVEL
    why = "worse" if worse else "better" if better else "not worse"
    return {"used": not worse, "why": why, "metric": chosen["metric"], "held_out": judges, **figures}

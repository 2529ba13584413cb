"""What other rules would change on the records on the screen: before against after, and the count of each rule.

Scores and tokens are kept, so a moved slider costs one decoding and no scoring; `bench/serve.py` says how long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.extract.answers import Answers, Scored
from espalier.rules.compile import Compiled
from espalier.workbench.answers import places, violation_dicts
from espalier.workbench.bench import Bench, cut_short
from espalier.workbench.labellers import Labeller
from espalier.workbench.memory import Kept
from espalier.workbench.rule_texts import applied
from espalier.workbench.tasks import ProjectTask, RuleState

__all__ = ["Redecoder"]

_TOKENS = 2048  # of a piece
_KEPT = 128  # decodings of so many pieces

Degrees = NDArray[np.int64]


class Redecoder:
    """Decodes records under rules that are not stored; keeps the answers of the last few rules."""

    def __init__(self, bench: Bench) -> None:
        """Take the workbench."""
        self._bench = bench
        self._sides: Kept[Answers] = Kept(_KEPT)

    def redecode(
        self, task: ProjectTask, ids: Sequence[int] | None, state: RuleState, model: int | None
    ) -> dict[str, Any]:
        """Return what differs between the task's rules and others."""
        records = self._bench.records
        stored = records.all(task.name) if ids is None else records.several(task.name, list(dict.fromkeys(ids)))
        self._bench.check_many(len(stored))
        began = perf_counter()
        found: list[dict[str, Any]] = []
        degrees: tuple[list[Degrees], list[Degrees]] = [], []
        with self._bench.computing() as turn:
            labeller = self._bench.labeller(task, model)
            rules = applied(task.rules, labeller), applied(state, labeller)
            for a, b in turn.pieces([one.document for one in stored], _TOKENS):
                some = stored[a:b]
                batch = self._bench.batch(labeller, some)
                numbers = tuple(one.id for one in some)
                keys = (task.rules.key, state.key)
                sides = [self._side(labeller, batch, numbers, *side) for side in zip(keys, rules, strict=True)]
                found += _differences(labeller, batch, numbers, *sides)
                for side, kept in zip(sides, degrees, strict=True):
                    kept.append(side.degrees)
        return {
            "model": model,
            "milliseconds": round(1000 * (perf_counter() - began), 1),
            "decoded": len(stored),
            "changed": sum(record["changed"] for record in found),
            "rules": _counts(*(_columns(c, d) for c, d in zip(rules, degrees, strict=True))),
            "records": found,
        }

    def _side(
        self, labeller: Labeller, batch: Scored, numbers: tuple[int, ...], key: tuple[object, ...], compiled: Compiled
    ) -> Answers:
        def decoded() -> Answers:
            return cut_short(labeller.extractor.with_rules(compiled), batch.documents).decode(batch)

        return self._sides.made((labeller.key, key, numbers), decoded)


def _differences(
    labeller: Labeller, batch: Scored, numbers: Sequence[int], before: Answers, after: Answers
) -> list[dict[str, Any]]:
    """Return the records whose labels, violations or certificate differ."""
    moved = np.concatenate([[0], np.cumsum(before.y != after.y)])[batch.corpus.indptr]
    tokens = np.diff(moved).tolist()
    names = labeller.extractor.field_names
    old, new = (side.fields(names) for side in (before, after))
    proofs = [[certificate.to_dict() for certificate in side.certificates] for side in (before, after)]
    found = []
    for i, number in enumerate(numbers):
        same = before.violations[i] == after.violations[i]
        # The bound moves with every price, and the method says nothing about the answer.
        same = same and all(proofs[0][i][name] == proofs[1][i][name] for name in ("status", "gap"))
        if tokens[i] or not same:
            found.append(
                {
                    "id": number,
                    "changed": tokens[i] > 0,
                    "tokens_changed": tokens[i],
                    "before": places(old[i]),
                    "after": places(new[i]),
                    "violations": violation_dicts(batch.documents[i], after.violations[i]),
                    "certificate": proofs[1][i],
                }
            )
    return found


def _counts(before: Mapping[str, Degrees], after: Mapping[str, Degrees]) -> list[dict[str, Any]]:
    """Return for every rule of either side how often it is broken, and in how many records that differs."""
    found = []
    for name in {**after, **before}:
        old, new = before.get(name), after.get(name)
        counts = {"before": None if old is None else int(old.sum()), "after": None if new is None else int(new.sum())}
        differ = None if old is None or new is None else int((old != new).sum())
        found.append({"name": name, **counts, "records": differ})
    return found


def _columns(compiled: Compiled, degrees: Sequence[Degrees]) -> dict[str, Degrees]:
    """Return how much of each rule every record breaks, by the rule's name."""
    together = np.concatenate([np.zeros((0, compiled.K), np.int64), *degrees])
    return dict(zip(compiled.rules.names, together.T, strict=True))

"""What other rules would change on the records on the screen: before against after, and the count of each rule.

Scores and tokens are kept, so a moved slider costs one decoding and no scoring; `bench/serve.py` says how long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from espalier.extract.answers import Answers, Scored
from espalier.rules.compile import Compiled
from espalier.server.answers import certificate_of, places, violations_of
from espalier.server.core import cut_short
from espalier.server.labellers import Labeller
from espalier.server.memory import Kept
from espalier.server.rule_texts import applied
from espalier.server.tasks import ProjectTask, RuleState
from espalier.workbench.bench import Bench
from espalier.workbench.shapes.rules import ChangedRecord, Redecoded, RuleCount

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

    def redecode(self, task: ProjectTask, ids: Sequence[int] | None, state: RuleState, asked: int | None) -> Redecoded:
        """Return what differs between the task's rules and others."""
        model = self._bench.models.chosen(task, asked)
        records = self._bench.records
        stored = records.all(task.name) if ids is None else records.several(task.name, list(dict.fromkeys(ids)))
        self._bench.check_many(len(stored))
        began = perf_counter()
        found: list[ChangedRecord] = []
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
        return Redecoded(
            model=model,
            milliseconds=round(1000 * (perf_counter() - began), 1),
            decoded=len(stored),
            changed=sum(record.changed for record in found),
            rules=_counts(*(_columns(c, d) for c, d in zip(rules, degrees, strict=True))),
            records=found,
        )

    def _side(
        self, labeller: Labeller, batch: Scored, numbers: tuple[int, ...], key: tuple[object, ...], compiled: Compiled
    ) -> Answers:
        def decoded() -> Answers:
            return cut_short(labeller.extractor.with_rules(compiled), batch.documents).decode(batch)

        return self._sides.made((labeller.key, key, numbers), decoded)


def _differences(
    labeller: Labeller, batch: Scored, numbers: Sequence[int], before: Answers, after: Answers
) -> list[ChangedRecord]:
    """Return the records whose labels, violations or certificate differ."""
    moved = np.concatenate([[0], np.cumsum(before.y != after.y)])[batch.corpus.indptr]
    tokens = np.diff(moved).tolist()
    names = labeller.extractor.field_names
    old, new = (side.fields(names) for side in (before, after))
    found = []
    for i, number in enumerate(numbers):
        one, other = (certificate_of(side.certificates[i]) for side in (before, after))
        # The bound moves with every price, and the method says nothing about the answer.
        same = before.violations[i] == after.violations[i] and (one.status, one.gap) == (other.status, other.gap)
        if tokens[i] or not same:
            found.append(
                ChangedRecord(
                    id=number,
                    changed=tokens[i] > 0,
                    tokens_changed=tokens[i],
                    before=places(old[i]),
                    after=places(new[i]),
                    violations=violations_of(batch.documents[i], after.violations[i]),
                    certificate=other,
                )
            )
    return found


def _counts(before: Mapping[str, Degrees], after: Mapping[str, Degrees]) -> list[RuleCount]:
    """Return for every rule of either side how often it is broken, and in how many records that differs."""
    found = []
    for name in {**after, **before}:
        old, new = before.get(name), after.get(name)
        counts = [None if side is None else int(side.sum()) for side in (old, new)]
        differ = None if old is None or new is None else int((old != new).sum())
        found.append(RuleCount(name=name, before=counts[0], after=counts[1], records=differ))
    return found


def _columns(compiled: Compiled, degrees: Sequence[Degrees]) -> dict[str, Degrees]:
    """Return how much of each rule every record breaks, by the rule's name."""
    together = np.concatenate([np.zeros((0, compiled.K), np.int64), *degrees])
    return dict(zip(compiled.rules.names, together.T, strict=True))

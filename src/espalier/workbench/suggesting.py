"""Rules that the corrected records keep and the answers break: `learning.discovery` on a task's own records."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import replace
from itertools import count, pairwise

from espalier.corpus import Corpus, Labels
from espalier.errors import ResultWarning
from espalier.learning.discovery import discover
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled
from espalier.rules.text import print_node
from espalier.server.failures import Failure
from espalier.server.labellers import Labeller
from espalier.server.rule_texts import applied
from espalier.server.tasks import ProjectTask
from espalier.server.turns import Turn
from espalier.tags import is_tag
from espalier.workbench.bench import Bench
from espalier.workbench.shapes.rules import Suggestion, Suggestions

__all__ = ["suggest"]


class _Answers:
    """A model under the task's rules, as discovery asks for one."""

    def __init__(self, labeller: Labeller, compiled: Compiled, turn: Turn) -> None:
        self.labels_: Labels = labeller.labels
        self._turn = turn
        self._extractor = labeller.extractor.with_rules(compiled)

    def potentials(self, corpus: Corpus) -> ChainBatch:
        self._turn.check()
        return self._extractor.score(corpus.to_documents()).potentials

    def predict(self, corpus: Corpus) -> list[list[str]]:
        self._turn.check()
        found = self._extractor.decode(self._extractor.score(corpus.to_documents()))
        names = self.labels_.names
        return [[names[j] for j in found.y[a:b]] for a, b in pairwise(corpus.indptr.tolist())]


def suggest(bench: Bench, task: ProjectTask, most: int) -> Suggestions:
    """Return the rules that would have objected to most of the wrong answers, with names that are free."""
    stored = bench.records.all(task.name, corrected=True)
    if not stored:
        raise Failure(
            409, "no record of this task is corrected yet", "rules are found by comparing answers with corrections"
        )
    with bench.computing() as turn:
        labeller = bench.labeller(task, task.active)
        compiled = applied(task.rules, labeller)
        marks = all(map(is_tag, labeller.labels))
        corpus = Corpus.from_documents([one.document for one in stored], vocabulary=labeller.labels, marks=marks)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResultWarning)
            found = discover(corpus, _Answers(labeller, compiled, turn), max_rules=most)
    taken = set(compiled.rules.names)
    rows = []
    for row, rule in zip(found.rows, found.rules, strict=True):
        named = replace(rule, name=_free(taken))
        taken.add(named.name)
        rows.append(
            Suggestion(
                name=named.name,
                text=print_node(rule.node),
                line=str(named),
                penalty=None if rule.hard else rule.penalty,
                support=row.support,
                gold=row.gold,
                predicted=row.predicted,
                fixes=None if row.fixes is None else len(row.fixes),
                breaks=None if row.breaks is None else len(row.breaks),
            )
        )
    return Suggestions(judged=len(stored), candidates=found.candidates, suggestions=rows)


def _free(taken: Collection[str]) -> str:
    """Return a short name that no rule has; what is found names itself by its whole text."""
    return next(name for n in count(1) if (name := f"Found{n}") not in taken)

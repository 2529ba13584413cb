"""The workbench itself: the core of the server, with the records of a team and what models say about them, kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from espalier.corpus import Corpus
from espalier.extract.answers import Scored
from espalier.extract.extraction import Extraction
from espalier.potentials import ChainBatch
from espalier.server.answers import parsed_text, places
from espalier.server.core import Core, Limits, most_readings
from espalier.server.history import HistoryStore
from espalier.server.labellers import Labeller
from espalier.server.memory import Kept, alone, joined, size
from espalier.server.tasks import ProjectTask
from espalier.server.turns import Turn
from espalier.workbench.records import RecordStore, Stored
from espalier.workbench.shapes.records import Queue, RecordAnswer, RecordsAnswer

__all__ = ["Bench", "listed", "queued", "record_answer"]

_CORRECTED = {"any": None, "yes": True, "no": False}
_BATCHES = 64  # pieces with their scores in memory
_SURE = 500_000  # confidences in memory: an order needs those of all records, whose answers may be too many to keep


class Bench(Core):
    """One open project, with its records."""

    def __init__(self, directory: Path, limits: Limits | None = None, *, member: bool = False) -> None:
        """Open the project of a directory, as the core does."""
        super().__init__(directory, limits, member=member)
        self.records, self.history = RecordStore(self.database), HistoryStore(self.database)
        self._scores: Kept[ChainBatch] = Kept(self.limits.scores, size)
        self._answers: Kept[Extraction] = Kept(self.limits.answers, lambda answer: 1 + len(answer.text) // 500)
        self._sure: Kept[float] = Kept(_SURE)
        self._batches: Kept[Scored] = Kept(_BATCHES)

    def batch(self, labeller: Labeller, stored: Sequence[Stored]) -> Scored:
        """Return records with their scores; those of the last few requests are kept whole."""
        documents = [one.document for one in stored]

        def scored() -> Scored:
            corpus = Corpus.from_tokens([document.words for document in documents], documents=documents)
            return Scored(documents, corpus, joined(self._scores.several(keys, potentials)))

        def potentials(missing: list[int]) -> list[ChainBatch]:
            found = labeller.extractor.score([documents[i] for i in missing]).potentials
            return [alone(found, i) for i in range(len(missing))]

        keys = [(labeller.key, one.id) for one in stored]
        return self._batches.made(tuple(keys), scored)

    def answers(self, task: ProjectTask, stored: Sequence[Stored], model: int | None, turn: Turn) -> list[Extraction]:
        """Return what a model and the task's rules say about records."""
        found: list[Extraction] = []
        for a, b in turn.pieces([one.document for one in stored]):
            found += self._answers_of(task, stored[a:b], model)
        return found

    def said(self, task: ProjectTask, stored: Sequence[Stored], model: int | None) -> list[Extraction]:
        """Return what a model and the task's rules say about records, in a turn of its own."""
        with self.computing() as turn:
            return self.answers(task, stored, model, turn)

    def _answers_of(self, task: ProjectTask, some: Sequence[Stored], model: int | None) -> list[Extraction]:
        """Return the answers for the records of one piece; they are kept."""
        rules = (task.rules.key, hash(task.labels))
        keys = [(model, rules, one.id) for one in some]
        return self._answers.several(keys, lambda missing: self._decoded(task, [some[i] for i in missing], model))

    def _decoded(self, task: ProjectTask, some: Sequence[Stored], model: int | None, k: int = 1) -> list[Extraction]:
        """Return the k best answers for the records of one piece."""
        documents = [one.document for one in some]
        extractor = self.extractor(task, model, documents)
        decoded = extractor.decode(self.batch(self.labeller(task, model), some))
        return extractor.extractions(decoded, k=most_readings(documents, k))

    def confidences(self, task: ProjectTask, stored: Sequence[Stored]) -> list[float]:
        """Return how sure the active model is of each record."""
        rules = (task.rules.key, hash(task.labels))
        keys = [(task.active, rules, one.id) for one in stored]

        def sure(missing: list[int]) -> Iterator[float]:
            rest = [stored[i] for i in missing]
            for a, b in turn.pieces([one.document for one in rest]):
                yield from (answer.confidence for answer in self.answers(task, rest[a:b], task.active, turn))

        with self.computing() as turn:
            return self._sure.several(keys, sure)

    def readings(
        self, task: ProjectTask, stored: Sequence[Stored], model: int | None, k: int, turn: Turn
    ) -> list[Extraction]:
        """Return the k best answers for each record."""
        if k == 1:
            return self.answers(task, stored, model, turn)
        documents, found = [one.document for one in stored], list[Extraction]()
        self.check_work(documents, k)
        for a, b in turn.pieces(documents):
            found += self._decoded(task, stored[a:b], model, k)
        return found

    def written(self, task: ProjectTask, stored: Sequence[Stored], k: int) -> list[RecordAnswer]:
        """Return records as the API writes them, with what the active model says."""
        with self.computing() as turn:
            answers = self.readings(task, stored, task.active, k, turn)
        return list(map(record_answer, stored, answers))  # when others have their turn already

    def answer(self, task: ProjectTask, stored: Stored) -> Extraction:
        """Return what the active model says about one record.

        A route that writes asks for it first: who is told to come again (503) has changed nothing, and may just do it.
        """
        return self.said(task, [stored], task.active)[0]


def record_answer(stored: Stored, answer: Extraction) -> RecordAnswer:
    """Return a record as the API writes it."""
    spans = stored.document.spans
    return parsed_text(
        stored.document,
        answer,
        RecordAnswer,
        id=stored.id,
        corrected=None if spans is None else places(spans),
        corrected_at=stored.corrected_at,
        corrected_by=stored.who,
        version=stored.version,
        flag=stored.flag,
        skipped=stored.skipped is not None,
        comments=stored.comments,
        source=stored.source,
    )


def listed(
    bench: Bench,
    task: ProjectTask,
    order: str,
    corrected: str,
    offset: int,
    limit: int,
    k: int,
    found: Sequence[Stored] | None = None,
) -> RecordsAnswer:
    """Return a page of records, of those that were found or of all; an order by confidence needs the answers of all."""
    bench.check_many(limit)
    total, done = bench.records.counts(task.name)
    matching = {"any": total, "yes": done, "no": total - done}[corrected] if found is None else len(found)
    if found is None and order == "position":
        stored = bench.records.all(task.name, _CORRECTED[corrected], offset, limit)
    else:
        everything = bench.records.all(task.name, _CORRECTED[corrected]) if found is None else list(found)
        if order != "position":
            everything = _by_confidence(bench, task, everything, reverse=order == "confidence")
        stored = everything[offset : offset + limit]
    records = bench.written(task, stored, k)
    return RecordsAnswer(
        total=total, corrected=done, matching=matching, offset=offset, model=task.active, records=records
    )


def queued(bench: Bench, task: ProjectTask, limit: int, skip: Sequence[int], k: int) -> Queue:
    """Return the least confident records that nobody corrected nor put off."""
    stored = [one for one in bench.records.all(task.name, corrected=False) if one.skipped is None]
    left, skipped = len(stored), frozenset(skip)
    stored = [one for one in stored if one.id not in skipped]
    first = _by_confidence(bench, task, stored)[:limit]
    return Queue(left=left, records=bench.written(task, first, k))


def _by_confidence(bench: Bench, task: ProjectTask, stored: Sequence[Stored], *, reverse: bool = False) -> list[Stored]:
    sure = dict(zip((one.id for one in stored), bench.confidences(task, stored), strict=True))
    return sorted(stored, key=lambda one: sure[one.id], reverse=reverse)

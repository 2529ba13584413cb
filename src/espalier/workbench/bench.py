"""The workbench itself: a project, its models in memory, and what they say about texts. Routes call this.

Computing goes one request at a time (`computing`, `turns`): the compiled passes use all cores by themselves, and what
is kept between requests needs no further locks. Work is cut into pieces by tokens, and between two of them others have
their turn. A request that waits or computes too long is answered so; what it has done by then is kept, so that asking
again goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from espalier.corpus import Corpus
from espalier.document import Document
from espalier.extract.answers import Scored
from espalier.extract.extraction import Extraction
from espalier.extract.extractor import Extractor
from espalier.potentials import ChainBatch
from espalier.workbench.answers import places, text_dict
from espalier.workbench.database import Database
from espalier.workbench.failures import Failure
from espalier.workbench.history import HistoryStore
from espalier.workbench.labellers import Labeller, load_labeller
from espalier.workbench.memory import Kept, alone, joined, size
from espalier.workbench.models import ModelStore
from espalier.workbench.records import RecordStore, Stored
from espalier.workbench.rule_texts import applied
from espalier.workbench.starting import ServerStart
from espalier.workbench.tasks import ProjectTask, TaskStore, document_of
from espalier.workbench.turns import LONG, Turn, Turns

__all__ = ["Bench", "Limits", "cut_short", "listed", "queued", "record_dict"]

_CORRECTED = {"any": None, "yes": True, "no": False}
_MODELS = 4  # models in memory
_BATCHES = 64  # pieces with their scores in memory
_RULED = 8  # models under rules in memory
_SURE = 500_000  # confidences in memory: an order needs those of all records, whose answers may be too many to keep


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may ask for: bytes, records, characters of a record, seconds; and bytes of scores in memory.

    file : bytes of a request whose body is a file; tokens : of all texts, times the readings of each; values : of a
    request in JSON; held : bytes of all requests that a process holds at a time; added : records that a file or a
    pasted text may bring; lines : of a text, and line : characters of each; answers : in memory, long ones count more.
    """

    body: int = 10_000_000
    file: int = 50_000_000
    records: int = 2000
    length: int = 20_000
    tokens: int = 1_000_000
    values: int = 50_000
    held: int = 200_000_000
    added: int = 100_000
    lines: int = 400_000
    line: int = 1_000_000
    seconds: float = 20.0
    scores: int = 256 << 20
    answers: int = 20_000


class Bench:
    """One open project."""

    def __init__(self, directory: Path, limits: Limits | None = None, *, member: bool = False) -> None:
        """Open the project of a directory; it is made if it is not there.

        member : another process of the same server has it already.
        """
        self.limits = Limits() if limits is None else limits
        self.directory, self.start = directory, ServerStart()
        self.database = Database(directory, member=member)
        self.tasks, self.records = TaskStore(self.database), RecordStore(self.database)
        self.models, self.history = ModelStore(self.database), HistoryStore(self.database)
        self._labellers: Kept[Labeller] = Kept(_MODELS)
        self._ruled: Kept[Extractor] = Kept(_RULED)
        self.turns = Turns()
        self._scores: Kept[ChainBatch] = Kept(self.limits.scores, size)
        self._answers: Kept[Extraction] = Kept(self.limits.answers, lambda answer: 1 + len(answer.text) // 500)
        self._sure: Kept[float] = Kept(_SURE)
        self._batches: Kept[Scored] = Kept(_BATCHES)

    def close(self) -> None:
        """Let another server have the project."""
        self.database.close()

    def computing(self) -> AbstractContextManager[Turn]:
        """Wait for the turn to compute; its `check` is to be called often."""
        self.start.wait()
        return self.turns.turn(self.limits.seconds)

    def labeller(self, task: ProjectTask, model: int | None) -> Labeller:
        """Return a model of a task by number; None is no model. Call it while computing."""
        key = (task.name, task.labels, model)  # a task that is made anew may have other labels
        return self._labellers.made(key, lambda: load_labeller(self.models, task, model))

    def extractor(self, task: ProjectTask, model: int | None, documents: Sequence[Document]) -> Extractor:
        """Return a model under the rules of a task, for the documents of a piece. Call it while computing."""
        labeller = self.labeller(task, model)
        ruled = self._ruled.made(
            (labeller, task.rules.key), lambda: labeller.extractor.with_rules(applied(task.rules, labeller))
        )
        return cut_short(ruled, documents)

    def check_many(self, count: int) -> None:
        """Refuse more records than one request may ask for."""
        if count > self.limits.records:
            hint = f"at most {self.limits.records:,} go into one request; ask for them in parts"
            raise Failure(413, f"{count:,} records in one request", hint)

    def check_length(self, text: str, where: str) -> None:
        """Refuse a text that is too long for one record."""
        if len(text) > self.limits.length:
            hint = f"a record has at most {self.limits.length:,}; split it"
            raise Failure(413, f"a text of {len(text):,} characters", hint, where)

    def check_texts(self, texts: Sequence[str]) -> None:
        """Refuse too many texts, and one that is too long."""
        self.check_many(len(texts))
        for i, text in enumerate(texts):
            self.check_length(text, f"text {i}")

    def check_work(self, documents: Sequence[Document], k: int) -> None:
        """Refuse more tokens than one request may ask for, all readings counted."""
        tokens = sum(len(document.tokens) for document in documents)
        if tokens * k > self.limits.tokens:
            most = max(1, self.limits.tokens * len(documents) // (tokens * k))
            hint = f"send at most {most:,} texts as long as these at a time" + (", or ask for fewer readings" * (k > 1))
            raise Failure(413, f"{tokens:,} tokens in one request, {k} readings of each", hint)

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
        return extractor.extractions(decoded, k=_readings(documents, k))

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

    def of_documents(
        self, task: ProjectTask, documents: Sequence[Document], model: int | None, k: int = 1
    ) -> list[Extraction]:  # fmt: skip
        """Return the k best answers for documents that are not stored."""
        self.check_work(documents, k)
        with self.computing() as turn:
            return self.of_pieces(turn, task, model, documents, k)

    def of_pieces(
        self, turn: Turn, task: ProjectTask, model: int | None, documents: Sequence[Document], k: int
    ) -> list[Extraction]:
        """Return the k best answers for documents, in the pieces of a turn."""
        found: list[Extraction] = []
        for a, b in turn.pieces(documents):
            some = documents[a:b]
            extractor = self.extractor(task, model, some)
            scored = extractor.score(some)
            if _is_long(some):  # scoring and decoding are a piece each
                turn.check()
            found += extractor.extractions(extractor.decode(scored), k=_readings(some, k))
        return found

    def parse(self, task: ProjectTask, texts: Sequence[str], k: int, model: int | None) -> list[dict[str, Any]]:
        """Return texts with their answers as the API writes them; nothing is kept."""
        self.check_texts(texts)
        documents = [document_of(task.name, text) for text in texts]
        answers = self.of_documents(task, documents, model, k)
        return [text_dict(document, answer) for document, answer in zip(documents, answers, strict=True)]

    def record_dicts(self, task: ProjectTask, stored: Sequence[Stored], k: int) -> list[dict[str, Any]]:
        """Return records as the API writes them, with what the active model says."""
        with self.computing() as turn:
            answers = self.readings(task, stored, task.active, k, turn)
        return [record_dict(one, answer) for one, answer in zip(stored, answers, strict=True)]

    def answer(self, task: ProjectTask, stored: Stored) -> Extraction:
        """Return what the active model says about one record.

        A route that writes asks for it first: who is told to come again (503) has changed nothing, and may just do it.
        """
        return self.said(task, [stored], task.active)[0]


def _is_long(documents: Sequence[Document]) -> bool:
    """Is a piece one long text?"""
    return any(len(document.tokens) > LONG for document in documents)


def _readings(documents: Sequence[Document], k: int) -> int:
    """Return how many readings of a piece are given: of a long text one, because others would take seconds."""
    return 1 if _is_long(documents) else k


def cut_short(extractor: Extractor, documents: Sequence[Document]) -> Extractor:
    """Return an extractor that does not search for a proof in a long text: that would take seconds.

    Long texts are pieces by themselves, so an answer does not depend on the texts beside it.
    """
    if not _is_long(documents):
        return extractor
    found = copy(extractor)
    found.max_nodes = 0
    return found


def record_dict(stored: Stored, answer: Extraction) -> dict[str, Any]:
    """Return a record as the API writes it."""
    spans = stored.document.spans
    return {
        "id": stored.id,
        **text_dict(stored.document, answer),
        "corrected": None if spans is None else places(spans),
        "corrected_at": stored.corrected_at,
        "corrected_by": stored.who,
        "version": stored.version,
        "flag": stored.flag,
        "skipped": stored.skipped is not None,
        "comments": stored.comments,
        "source": stored.source,
    }


def listed(
    bench: Bench,
    task: ProjectTask,
    order: str,
    corrected: str,
    offset: int,
    limit: int,
    k: int,
    found: Sequence[Stored] | None = None,
) -> dict[str, Any]:
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
    counts = {"total": total, "corrected": done, "matching": matching, "offset": offset, "model": task.active}
    return {**counts, "records": bench.record_dicts(task, stored, k)}


def queued(bench: Bench, task: ProjectTask, limit: int, skip: Sequence[int], k: int) -> dict[str, Any]:
    """Return the least confident records that nobody corrected nor put off."""
    stored = [one for one in bench.records.all(task.name, corrected=False) if one.skipped is None]
    left, skipped = len(stored), frozenset(skip)
    stored = [one for one in stored if one.id not in skipped]
    first = _by_confidence(bench, task, stored)[:limit]
    return {"left": left, "records": bench.record_dicts(task, first, k)}


def _by_confidence(bench: Bench, task: ProjectTask, stored: Sequence[Stored], *, reverse: bool = False) -> list[Stored]:
    sure = dict(zip((one.id for one in stored), bench.confidences(task, stored), strict=True))
    return sorted(stored, key=lambda one: sure[one.id], reverse=reverse)

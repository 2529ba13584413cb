"""The application core: a project, its models in memory, and what they say about texts. Routes call this.

Computing goes one request at a time (`computing`, `turns`): the compiled passes use all cores by themselves, and what
is kept between requests needs no further locks. Work is cut into pieces by tokens, and between two of them others have
their turn. A request that waits or computes too long is answered so; what it has done by then is kept, so that asking
again goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from espalier.document import Document
from espalier.extract.extraction import Extraction
from espalier.extract.extractor import Extractor
from espalier.server.database import Database
from espalier.server.failures import Failure
from espalier.server.labellers import Labeller, load_labeller
from espalier.server.memory import Kept
from espalier.server.models import ModelStore
from espalier.server.rule_texts import applied
from espalier.server.starting import ServerStart
from espalier.server.tasks import ProjectTask, TaskStore, document_of
from espalier.server.turns import LONG, Turn, Turns

__all__ = ["Answered", "Core", "Limits", "cut_short", "most_readings"]

_MODELS = 4  # models in memory
_RULED = 8  # models under rules in memory

Answered = tuple[ProjectTask, int | None, Sequence[Document], Sequence[Extraction]]
"""What was asked and said: the task, the number of its model, documents, an answer for each."""


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


class Core:
    """One open project, and its models."""

    def __init__(self, directory: Path, limits: Limits | None = None, *, member: bool = False) -> None:
        """Open the project of a directory; it is made if it is not there.

        member : another process of the same server has it already.
        """
        self.limits = Limits() if limits is None else limits
        self.directory, self.start, self.turns = directory, ServerStart(), Turns()
        self.database = Database(directory, member=member)
        self.tasks, self.models = TaskStore(self.database), ModelStore(self.database)
        self._labellers: Kept[Labeller] = Kept(_MODELS)
        self._ruled: Kept[Extractor] = Kept(_RULED)

    def close(self) -> None:
        """Let another server have the project."""
        self.start.end()
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

    def of_documents(
        self, task: ProjectTask, documents: Sequence[Document], model: int | None, k: int = 1
    ) -> list[Extraction]:
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
            found += extractor.extractions(extractor.decode(scored), k=most_readings(some, k))
        return found

    def answered(self, name: str, model: int | None, texts: Sequence[str], k: int) -> Answered:
        """Return what a model of a task (None: the one in use) says about texts; nothing is kept."""
        self.check_texts(texts)
        task = self.tasks.get(name)
        number = self.models.chosen(task, model)
        documents = [document_of(name, text) for text in texts]
        return task, number, documents, self.of_documents(task, documents, number, k)


def _is_long(documents: Sequence[Document]) -> bool:
    """Is a piece one long text?"""
    return any(len(document.tokens) > LONG for document in documents)


def most_readings(documents: Sequence[Document], k: int) -> int:
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

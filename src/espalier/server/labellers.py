"""Models as the server uses them: scores of tokens, what they learned about rules, what their confidences are worth.

The rules themselves are the task's, not the model's, so that they can be changed without training; of a model that was
trained under rules only the penalties are taken, for rules that are still the same. Without a model all scores are
zero: then only the rules speak, and `O` stands first, so that text which no rule speaks about is in no field.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from espalier.corpus import Corpus, Labels
from espalier.document import Document
from espalier.errors import EspalierError, InputError, ModelFileError
from espalier.extract.extractor import Extractor
from espalier.loading import load
from espalier.potentials import ChainBatch
from espalier.rules.nodes import Node
from espalier.server.failures import Failure
from espalier.server.models import ModelStore
from espalier.server.tasks import ProjectTask
from espalier.tags import OUTSIDE

__all__ = ["Labeller", "check_file", "load_labeller"]

NODES = 8192
"""Of the search for one record, so that strange rules cannot hold up a request; what is unproven then says so."""


@dataclass(frozen=True, eq=False)
class Labeller:
    """A model, or none: number : which of the task's; kind : of estimator; extractor : what finds fields with it.

    learned : penalties of rules by name, with the rule they are for.
    """

    number: int | None
    kind: str
    extractor: Extractor
    learned: Mapping[str, tuple[Node, float]] = field(default_factory=dict)

    @property
    def key(self) -> tuple[int | None, int]:
        """What tells it apart: without a model the labels of the task, which may change, decide what it says."""
        return self.number, hash(self.labels)

    @property
    def labels(self) -> Labels:
        """The labels of the model."""
        labels: Labels = self.extractor.model.labels_
        return labels


def load_labeller(models: ModelStore, task: ProjectTask, model: int | None) -> Labeller:
    """Return the labeller of a model by number, or with None the one that knows nothing."""
    if model is None:
        return _knowing_nothing(task)
    models.check_labels(task, model)
    if models.get(task.name, model).source == "bundled":
        from espalier.citations.parser import bundled_file

        return _read(bundled_file(), model)
    return _from_bytes(models.file(task.name, model), model)


def check_file(task: ProjectTask, file: bytes) -> Labeller:
    """Return the labeller of a model file that somebody brought; what cannot serve the task is refused."""
    try:
        found = _from_bytes(file, None)
    except ModelFileError as error:
        raise Failure(400, "this is not a model file that can be used", str(error)) from None
    own, wanted = set(found.extractor.labels), set(task.fields)
    if own != wanted:
        odd = [f"{label} (unknown)" for label in sorted(own - wanted)] + [
            f"{label} (missing)" for label in sorted(wanted - own)
        ]
        what = f"the labels of the model are not those of the task {task.name}: {', '.join(odd[:8])}"
        raise Failure(400, what, f"labels of the task: {', '.join(task.fields)}")
    return found


def _from_bytes(file: bytes, model: int | None) -> Labeller:
    """Read a model file; its reader takes a path, and its messages name it, which nobody wants to see."""
    descriptor, name = tempfile.mkstemp(suffix=".espalier")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(file)
        return _read(Path(name), model)
    except ModelFileError as error:
        raise ModelFileError(*error.args, hint=error.ways) from None
    finally:
        os.unlink(name)


def _read(path: Path, model: int | None) -> Labeller:
    extractor = load(path)
    extractor.max_nodes = NODES
    try:
        extractor.score([Document.from_text("x")])
    except InputError as error:
        raise ModelFileError(f"the workbench shows models that score tokens: {error}") from None
    except EspalierError as error:
        raise ModelFileError(f"the model gives no scores: {error}") from None
    rules = extractor.rules
    learned = {rule.name: (rule.node, price) for rule, price in zip(rules, rules.penalties.tolist(), strict=True)}
    return Labeller(model, extractor.model.kind, extractor, learned)


class _NoModel:
    """Scores of zero for every label that may stand where it stands: what a task has before its first model."""

    def __init__(self, labels: Labels) -> None:
        self.labels_ = labels

    def potentials(self, corpus: Corpus) -> ChainBatch:
        start, follow = self.labels_.allowed()
        unary, classes = np.zeros((corpus.n_tokens, len(start))), np.zeros(corpus.n_tokens, np.int32)
        trans, begin = np.where(follow, 0.0, -np.inf)[None], np.where(start, 0.0, -np.inf)
        return ChainBatch(corpus.indptr, unary, trans, classes, begin, np.zeros(len(start)))


def _knowing_nothing(task: ProjectTask) -> Labeller:
    labels = Labels([OUTSIDE, *(label for label in task.labels if label != OUTSIDE)])
    extractor = Extractor(_NoModel(labels))
    extractor.max_nodes = NODES
    return Labeller(None, "none", extractor)

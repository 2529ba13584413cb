"""Models as the workbench uses them: scores of tokens, what they learned about rules, what their confidences are worth.

The rules themselves are the task's, not the model's, so that they can be changed without training; of a model that was
trained under rules only the penalties are taken, for rules that are still the same. Without a model all scores are
zero: then only the rules speak, and `O` stands first, so that text which no rule speaks about is in no field.
"""

from __future__ import annotations

import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import store
from espalier.citations.confidence import Calibration
from espalier.citations.parser import BUNDLED
from espalier.corpus import Corpus, Labels
from espalier.errors import EspalierError, ModelFileError
from espalier.estimators.ccm import CCM
from espalier.estimators.persist import unpack
from espalier.potentials import ChainBatch
from espalier.rules.nodes import Node
from espalier.tags import OUTSIDE, parse_tag, path_of
from espalier.workbench.failures import Failure
from espalier.workbench.models import ModelStore
from espalier.workbench.tasks import BUNDLED_MODEL, REFERENCES, Task

__all__ = ["Labeller", "Labellers", "bundled_file", "check_file"]

_KEPT = 4  # models in memory
_BUNDLED_FILE = resources.files("espalier.citations") / BUNDLED[REFERENCES]


@dataclass(frozen=True, eq=False)
class Labeller:
    """A model, or none: model : its number; learned : penalties of rules by name, with the rule they are for.

    names : the field of each label, None outside; opens : bool[L], does a label begin a field after one of its name?
    """

    model: int | None
    kind: str
    labels: Labels
    potentials: Callable[[Corpus], ChainBatch]
    learned: Mapping[str, tuple[Node, float]] = field(default_factory=dict)
    calibration: Calibration = field(default_factory=Calibration)

    @property
    def names(self) -> tuple[str | None, ...]:
        """The field of each label."""
        return tuple(None if label == OUTSIDE else path_of(label) for label in self.labels)

    @property
    def opens(self) -> NDArray[np.bool_]:
        """Which labels begin a field."""
        return np.array([bool(levels := parse_tag(label)) and levels[0][0] == "B" for label in self.labels], bool)


class Labellers:
    """Models by number, loaded when first used, a few of them kept."""

    def __init__(self, models: ModelStore) -> None:
        """Take the table of models."""
        self._models = models
        self._kept: OrderedDict[tuple[str, int | None], Labeller] = OrderedDict()

    def get(self, task: Task, model: int | None) -> Labeller:
        """Return the labeller of a model, or with None the one that knows nothing. Call it one thread at a time."""
        key = (task.name if model is None or model == BUNDLED_MODEL else "", model)
        if key not in self._kept:
            self._kept[key] = self._load(task, model)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _load(self, task: Task, model: int | None) -> Labeller:
        if model is None:
            return _knowing_nothing(task)
        if self._models.get(task.name, model).source == "bundled":
            with resources.as_file(_BUNDLED_FILE) as path:
                return _read(path, model)
        return _from_bytes(self._models.file(task.name, model), model)

    def forget(self, task: str) -> None:
        """Drop what is kept of a task that was deleted."""
        for key in [key for key in self._kept if key[0] == task]:
            del self._kept[key]


def bundled_file() -> bytes:
    """Return the model file that comes with the library."""
    return _BUNDLED_FILE.read_bytes()


def check_file(task: Task, file: bytes) -> Labeller:
    """Return the labeller of a model file that somebody brought; what cannot serve the task is refused."""
    try:
        found = _from_bytes(file, None)
    except ModelFileError as error:
        raise Failure(400, "this is not a model file that can be used", str(error)) from None
    own, wanted = {name for name in found.names if name is not None}, set(task.fields)
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
        raise ModelFileError(str(error).replace(f"{name!r}: ", "").replace(f"{name}: ", "")) from None
    finally:
        os.unlink(name)


def _read(path: Path, model: int | None) -> Labeller:
    header, arrays = store.load(path)
    estimator: Any = unpack(header, arrays)
    inner = _under_rules(estimator)
    learned: dict[str, tuple[Node, float]] = {}
    if inner is not None:
        rules = inner.compiled_.rules
        learned = {rule.name: (rule.node, price) for rule, price in zip(rules, rules.penalties.tolist(), strict=True)}

    def potentials(corpus: Corpus) -> ChainBatch:
        batch = estimator.potentials(corpus)
        if not isinstance(batch, ChainBatch):
            raise ModelFileError(f"the workbench shows models that score tokens; a {estimator.kind} scores segments")
        return batch

    try:
        potentials(Corpus.from_tokens([["x"]]))
    except ModelFileError:
        raise
    except EspalierError as error:
        raise ModelFileError(f"the model gives no scores: {error}") from None
    return Labeller(
        model, estimator.kind, estimator.labels_, potentials, learned, Calibration.from_header(header)
    )  # fmt: skip


def _under_rules(estimator: Any) -> CCM | None:
    """Return the CCM inside an estimator, if there is one."""
    while estimator is not None and not isinstance(estimator, CCM):
        estimator = getattr(estimator, "model_", None)
    return estimator


def _knowing_nothing(task: Task) -> Labeller:
    labels = Labels([OUTSIDE, *(label for label in task.labels if label != OUTSIDE)])
    start, follow = labels.allowed()
    zero = np.where(follow, 0.0, -np.inf)[None]

    def potentials(corpus: Corpus) -> ChainBatch:
        unary, classes = np.zeros((corpus.n_tokens, len(labels))), np.zeros(corpus.n_tokens, np.int32)
        return ChainBatch(
            corpus.indptr, unary, zero, classes, np.where(start, 0.0, -np.inf), np.zeros(len(labels))
        )  # fmt: skip

    return Labeller(None, "none", labels, potentials)

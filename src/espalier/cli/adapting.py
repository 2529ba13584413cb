"""Learning that begins from a model: whose weights are the prior, how labels of other schemes are read, what is saved.

The task `citations` begins from the bundled model, so that a handful of references teaches it a style; `--set
prior=null` begins from nothing, and `--set prior=FILE` from a model file, for any task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from espalier import store
from espalier.citations.parser import BUNDLED, model_file
from espalier.citations.schemes import Scheme, load_scheme
from espalier.document import Document
from espalier.errors import InputError
from espalier.estimators.crf import CRF
from espalier.estimators.linear import Learned
from espalier.estimators.persist import pack, unpack
from espalier.learning.recombination import layered
from espalier.tags import path_of

__all__ = ["BUNDLED", "Start", "begin", "converted"]


L2 = 0.03
"""How strongly a CRF is drawn to its prior: chosen on made-up styles (`adapt_citations.py --choose`), as the next."""

COPIES = 10
"""How many copies with exchanged fields it learns from, besides each sequence."""

CYCLES, POOL_WEIGHT = 1, 0.2
"""How often the pool is labelled and learned from, and how much a sequence of it counts."""


_KEPT = ("calibration", "attribution")


@dataclass(frozen=True, slots=True)
class Start:
    """Where learning begins: a model's name, its weights, and what else its file says that stays true."""

    name: str
    learned: Learned
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a CRF that begins here."""
        return {"prior": self.learned, "l2": L2, "copies": 0 if layered(self.learned.labels) else COPIES}

    @property
    def pool_parameters(self) -> dict[str, Any]:
        """The parameters of CoDL around it."""
        return {"cycles": CYCLES, "pool_weight": POOL_WEIGHT}

    def save(self, estimator: Any, path: Path) -> None:
        """Write a fitted estimator to a file, with what was kept."""
        header, arrays = pack(estimator)
        store.save(path, header | dict(self.kept), arrays)


def begin(source: str | Path) -> Start:
    """Return the start from a bundled model, by its name, or from a model file."""
    name = str(source)
    with resources.as_file(resources.files("espalier.citations")) as home:
        header, arrays = store.load(home / BUNDLED[name] if name in BUNDLED else model_file(source))
    model: Any = unpack(header, arrays)
    while not isinstance(model, CRF):
        inner = getattr(model, "model_", getattr(model, "base_", None))
        if inner is None:
            raise InputError(f"{source}: holds a {type(model).__name__}; only a CRF can be learned from further")
        model = inner
    return Start(name, model.learned_, {key: header[key] for key in _KEPT if key in header})


def converted(documents: Sequence[Document], labels: Sequence[str]) -> list[Document]:
    """Return references with the labels of the task: those of AnyStyle and GROBID are understood too.

    Every token is then in a field, by the conventions of the bundled model; records without labels stay as they are.
    """
    present = {span.label for document in documents for span in document.spans or ()}
    schemes = _schemes(labels)
    scheme = next((scheme for scheme in schemes if present <= scheme.labels.keys()), schemes[0])
    return [document if document.spans is None else scheme.convert(document) for document in documents]


def _schemes(labels: Sequence[str]) -> list[Scheme]:
    """Return how labels may be meant: as AnyStyle's or ours, as GROBID's; labels : ours, plain or as tags."""
    anystyle = load_scheme("anystyle")
    ours = {label: label for label in map(path_of, labels)} | dict(anystyle.labels)
    return [replace(anystyle, name="citations", labels=ours), load_scheme("grobid")]

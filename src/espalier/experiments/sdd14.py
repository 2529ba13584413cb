"""What the tables of Anzaroot, Passos, Belanger and McCallum (2014) share: the base, and rules found in other data.

Base: a CRF on marked paths of the UMass references, trained on the training split, with plain templates (words,
affixes, shapes, position; the paper has lexicons and a rule-based splitter besides). Rules: every count template over
all fields, kept if of importance 2.75 on the development split; penalties by an averaged perceptron there, the base
frozen. Epochs and rate are the first that were tried. Test references are decoded exactly wherever it can be proven.

Field F1 is of leaf segments with their full path: the paper does not say how nested segments count.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.batch import BatchDecoding, decode_batch
from espalier.estimators.crf import CRF
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell
from espalier.learning.discovery import discover
from espalier.learning.penalty_training import HeldOut, train_perceptron_penalties
from espalier.metrics import segment_scores
from espalier.rules.compile import Compiled, compile_rules

__all__ = ["KINDS", "NEEDS", "SOURCE", "STUDY", "Study"]

SOURCE = "Anzaroot, Passos, Belanger & McCallum 2014"
NEEDS = ("umass/train", "umass/dev", "umass/test")
TAGS = "bio_paths"

KINDS = {
    "only-one": ("singleton",),
    "hierarchical": ("hierarchical",),
    "pairwise": ("pairwise",),
    "all": ("singleton", "hierarchical", "pairwise"),
}
"""The families of constraints of table 1, by templates."""

STUDY: dict[str, Any] = {
    "templates": [
        "bias", "word", "lower", "prefix1-4", "suffix1-4", "shape", "fullshape", "length", "flags", "position5",
        "lower[-2,-1,1,2]", "shape[-1,1]", "suffix2[-1,1]",
    ],
    "l2": 1.0,
    "max_iterations": 60,
    "importance": 2.75,
    "epochs": 5,
    "rate": 0.2,
}  # fmt: skip
"""What every cell of these tables has under "study"."""


class Study(NamedTuple):
    """Data and settings (as JSON text); base and rules are learned once a process, whatever cell asks first."""

    data: Data
    settings: str

    @classmethod
    def of(cls, data: Data, cell: Cell) -> Study:
        """Return the study that a cell belongs to."""
        return cls(data, json.dumps(cell.settings["study"], sort_keys=True))

    @property
    def base(self) -> CRF:
        """The base model."""
        return _base(self, self.data.digest("umass/train"))

    @property
    def test(self) -> Corpus:
        """The test references."""
        return self.data.corpus("umass/test", TAGS)

    def rules(self, family: str) -> Compiled:
        """Return the constraints of a family, with penalties."""
        return _rules(self, self.data.digest("umass/train"), self.data.digest("umass/dev"), family)

    def plain(self) -> list[list[str]]:
        """Return what the base alone says about the test references."""
        return self.base.predict(self.test)

    def constrained(
        self,
        compiled: Compiled,
        penalties: NDArray[np.float64] | None = None,
        *,
        max_rounds: int = 20,
        max_nodes: int = 65_536,
    ) -> tuple[list[list[str]], BatchDecoding]:
        """Decode the test references; one without an answer, because rules exclude each other, gets the base's."""
        test, names = self.test, self.base.labels_
        found = decode_batch(
            self.base.potentials(test), compiled, test, penalties, max_rounds=max_rounds, max_nodes=max_nodes
        )
        labels = self.plain()
        for i, (a, b) in enumerate(zip(test.indptr[:-1].tolist(), test.indptr[1:].tolist(), strict=True)):
            if (found.labels[a:b] >= 0).all():
                labels[i] = [names[k] for k in found.labels[a:b].tolist()]
        return labels, found

    def f1(self, predicted: list[list[str]]) -> float:
        """Return the field F1 of labels of the test references, in percent."""
        return 100.0 * segment_scores(self.test.all_labels(), predicted, leaves=True).micro.f1


@lru_cache(maxsize=1)
def _base(study: Study, _train: str) -> CRF:
    chosen = json.loads(study.settings)
    model = CRF(chosen["templates"], l2=chosen["l2"], max_iterations=chosen["max_iterations"])
    return model.fit(study.data.corpus("umass/train", TAGS))


@lru_cache(maxsize=len(KINDS))
def _rules(study: Study, _train: str, _dev: str, family: str) -> Compiled:
    chosen, model, whole = json.loads(study.settings), study.base, study.data.corpus("umass/dev", TAGS)
    # A few references have labels that the base has never seen; nothing can be learned from those.
    known = [i for i, y in enumerate(whole.all_labels()) if all(label in model.labels_ for label in y)]
    gold = [whole.label_names(i) for i in known]
    dev = Corpus.from_tokens([whole.tokens(i) for i in known], gold, vocabulary=model.labels_)
    predicted = model.predict(dev)
    found = discover(dev, predicted, KINDS[family], importance=chosen["importance"], cover=None, penalties=None)
    compiled = compile_rules(found.rules, model.labels_)
    parts = [HeldOut.of(model.potentials(dev), dev, compiled)]
    rho = train_perceptron_penalties(parts, compiled, epochs=chosen["epochs"], rate=chosen["rate"])
    return compile_rules(found.rules.with_penalties(rho), model.labels_)

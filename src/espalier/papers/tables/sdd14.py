"""What the tables of Anzaroot, Passos, Belanger and McCallum (2014) share: the base, and rules found in other data.

Base: a CRF on marked paths of the UMass references, trained on the training split with the features of the task `umass`
(words, affixes, shapes, position, word lists, and which lists have a word in the chunk; the paper has a rule-based
splitter besides). Labels of one leaf share weights (`sdd14_shared`), which the paper does not do. Features and sharing
are the best on the development split of some thirty models, so its figures flatter them; l2 and iterations are those of
an earlier model and were not tuned for this one. A study may have several members, nets among them, whose weighted
scores are added (`ours_umass`).

Rules: every count template over all fields, kept if of importance 2.75 on the development split; penalties by an
averaged perceptron there, the base frozen. Epochs and rate are the first that were tried. Test references are decoded
exactly wherever it can be proven. Field F1 is of leaf segments with their full path: the paper does not say how nested
segments count.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import BatchDecoding
from espalier.estimators.conv_crf import ConvCRF
from espalier.estimators.crf import CRF
from espalier.features.declare import parse_templates
from espalier.inference import viterbi
from espalier.learning.discovery import discover
from espalier.learning.penalty_training import HeldOut, train_perceptron_penalties
from espalier.metrics import segment_scores
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell
from espalier.papers.tables.sdd14_shared import SharedCRF
from espalier.potentials import ChainBatch, sum_of_potentials
from espalier.rules.compile import Compiled, compile_rules
from espalier.tasks import load_task

__all__ = ["EVERY", "KINDS", "LEAF", "MEMBER", "STUDY", "Study", "level_scores"]

TAGS = "bio_paths"
LEAF, EVERY = "leaf", "all levels"
"""Columns for the F1 of leaves alone, and of the segments of all levels."""

KINDS = {
    "only-one": ("singleton",),
    "hierarchical": ("hierarchical",),
    "pairwise": ("pairwise",),
    "all": ("singleton", "hierarchical", "pairwise"),
}
"""The families of constraints of table 1, by templates."""

MEMBER: dict[str, Any] = {"task": "umass", "more": [], "shared": True, "l2": 0.3, "max_iterations": 60}
"""A CRF with the features of a task and more templates; shared : are weights shared among labels of a leaf?

With `refit` rules are learned by a member of the training split, and answers are those of one that has learned from the
development split, too. `weight` is how much its scores count, 1 if there is none; a member with `net`, the parameters
of a ConvCRF, is one.
"""

STUDY: dict[str, Any] = {"members": [MEMBER], "importance": 2.75, "epochs": 5, "rate": 0.2}
"""What every cell of these tables has under "study"."""


class Study(NamedTuple):
    """Data and settings (as JSON text); members and rules are learned once in a process, whatever cell asks first."""

    data: Data
    settings: str

    @classmethod
    def of(cls, data: Data, cell: Cell) -> Study:
        """Return the study that a cell belongs to."""
        return cls(data, json.dumps(cell.settings["study"], sort_keys=True))

    @property
    def chosen(self) -> list[dict[str, Any]]:
        """What the members are."""
        members: list[dict[str, Any]] = json.loads(self.settings)["members"]
        return members

    @property
    def labels(self) -> Labels:
        """The labels of the base."""
        return self._member(self.chosen[0], False).labels_

    @property
    def weights(self) -> list[float]:
        """How much the scores of each member count."""
        return [one.get("weight", 1.0) for one in self.chosen]

    def _member(self, one: dict[str, Any], refit: bool) -> CRF | ConvCRF:
        digests = self.data.digest("umass/train"), self.data.digest("umass/dev")
        return _member(self.data, digests, json.dumps(one), refit and one.get("refit", False))

    @property
    def test(self) -> Corpus:
        """The test references."""
        return self.data.corpus("umass/test", TAGS)

    def potentials(self, corpus: Corpus, *, refit: bool = True) -> ChainBatch:
        """Return the sum of the members' potentials; refit : of those that answer, else of those for rules."""
        return sum_of_potentials([self._member(one, refit).potentials(corpus) for one in self.chosen], self.weights)

    def rules(self, family: str) -> Compiled:
        """Return the constraints of a family, with penalties."""
        return _rules(self, self.data.digest("umass/train"), self.data.digest("umass/dev"), family)

    def plain(self) -> list[list[str]]:
        """Return what the base alone says about the test references."""
        return self._named(viterbi(self.potentials(self.test)).labels, self.test)

    def constrained(
        self,
        compiled: Compiled,
        penalties: NDArray[np.float64] | None = None,
        *,
        max_rounds: int = 20,
        max_nodes: int = 65_536,
    ) -> tuple[list[list[str]], BatchDecoding]:
        """Decode the test references; one without an answer, because rules exclude each other, gets the base's."""
        test = self.test
        batch = self.potentials(test)
        found = decode_batch(batch, compiled, test, penalties, threads=1, max_rounds=max_rounds, max_nodes=max_nodes)
        y = np.where(found.labels >= 0, found.labels, viterbi(batch).labels)
        return self._named(y, test), found

    def f1(self, predicted: list[list[str]]) -> float:
        """Return the field F1 of labels of the test references, in percent."""
        return 100.0 * segment_scores(self.test.all_labels(), predicted, leaves=True).micro.f1

    def _named(self, y: NDArray[np.int16], corpus: Corpus) -> list[list[str]]:
        names, ends = self.labels, corpus.indptr.tolist()
        return [[names[k] for k in y[a:b].tolist()] for a, b in pairwise(ends)]


def level_scores(gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
    """Return the field F1 of labels by column, in percent."""
    levels = ((LEAF, True), (EVERY, False))
    return {column: 100.0 * segment_scores(gold, predicted, leaves=leaves).micro.f1 for column, leaves in levels}


@lru_cache(maxsize=8)
def _member(data: Data, _digests: tuple[str, str], settings: str, refit: bool) -> CRF | ConvCRF:
    chosen, train = json.loads(settings), data.corpus("umass/train", TAGS)
    assert train.labels is not None
    names = train.labels.names
    if refit:
        corpora = (train, _known(data, train.labels))
        tokens = [corpus.tokens(i) for corpus in corpora for i in range(len(corpus))]
        given: list[Any] = [labels for corpus in corpora for labels in corpus.all_labels()]
        train = Corpus.from_tokens(tokens, given, vocabulary=train.labels)
    if "net" in chosen:
        return ConvCRF(threads=1, **chosen["net"]).fit(train, labels=names)
    features = [*load_task(chosen["task"]).extractor.templates, *parse_templates(chosen["more"])]
    kind = SharedCRF if chosen["shared"] else CRF
    model = kind(features, l2=chosen["l2"], max_iterations=chosen["max_iterations"], threads=1)
    return model.fit(train, labels=names)


def _known(data: Data, labels: Labels) -> Corpus:
    """Return the development split without a few references that have labels which the base has never seen."""
    whole = data.corpus("umass/dev", TAGS)
    known = [i for i, y in enumerate(whole.all_labels()) if all(label in labels for label in y)]
    gold = [whole.label_names(i) for i in known]
    return Corpus.from_tokens([whole.tokens(i) for i in known], gold, vocabulary=labels)


@lru_cache(maxsize=2 * len(KINDS))
def _rules(study: Study, _train: str, _dev: str, family: str) -> Compiled:
    chosen, labels = json.loads(study.settings), study.labels
    dev = _known(study.data, labels)
    batch = study.potentials(dev, refit=False)
    predicted = study._named(viterbi(batch).labels, dev)
    found = discover(dev, predicted, KINDS[family], importance=chosen["importance"], cover=None, penalties=None)
    compiled = compile_rules(found.rules, labels)
    # A sum of n scores is n times as large as their mean, and so are the steps that suit it.
    rate = chosen["rate"] * sum(study.weights)
    unseen = [HeldOut.of(batch, dev, compiled)]
    rho = train_perceptron_penalties(unseen, compiled, epochs=chosen["epochs"], rate=rate, threads=1)
    return compile_rules(found.rules.with_penalties(rho), labels)

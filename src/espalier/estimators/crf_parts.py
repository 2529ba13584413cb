"""A CRF of labels and of a pool in parts: what is here, and what workers need to know (`learning.sharded_chain`).

All text passes through this process once: the attributes are those of labels and pool together, and so are the twins
among them. The likelihood of the labels is computed here, or over processes of its own where the CRF has `jobs`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.base import fresh
from espalier.estimators.crf import CRF
from espalier.estimators.joined import token_rows
from espalier.estimators.linear import TrainingSet
from espalier.learning.codl import join
from espalier.learning.sharded_chain import ChainPart, Layout, PartedLikelihood, Sight
from espalier.learning.sharded_likelihood import likelihood_of
from espalier.learning.twins import Twins
from espalier.models.chain import ChainModel
from espalier.models.moved import carried
from espalier.models.pairs import Pairs
from espalier.shards import Shards

__all__ = ["CRFInParts", "check_copies"]

Float = NDArray[np.float64]


def check_copies(base: CRF) -> None:
    """Refuse a CRF whose training data no part has by itself."""
    if base.copies:
        raise InputError(
            f"copies={base.copies} exchanges words between all sequences, and workers see their own alone; "
            "set copies=0, or leave out jobs"
        )


class CRFInParts:
    """The training problem of one CRF on a labelled corpus and a pool; `matrix` holds the features of the pool."""

    def __init__(self, base: CRF, labelled: Corpus, weight: Float | None, pool: Corpus) -> None:
        """Extract the attributes of all the text."""
        base._check_parameters()
        check_copies(base)
        assert labelled.labels is not None
        self.base, self.labelled, self.labels, self.weight = base, labelled, labelled.labels, weight
        everything = join(labelled, pool)
        self.index, matrix = base._indexed(everything, everything)
        self.prior = None if base.prior is None else base.prior.over(self.index, self.labels)
        self.twins = Twins.apart(matrix) if base.l1 or self.prior else Twins.merge(matrix)
        M = labelled.n_tokens
        self.own = token_rows(self.twins.matrix, 0, M)
        self.matrix = token_rows(self.twins.matrix, M, M + pool.n_tokens)
        self._turns = 0

    def travelling(self, crf: CRF) -> ChainModel:
        """Return a fitted CRF over the attributes that workers know: one for all twins, with the sum of their weights.

        Attributes that it does not know weigh nothing.
        """
        if crf.labels_ != self.labels:
            raise InputError("the model and the labelled data have other labels, or in another order; fit with labels=")
        model = crf.model_
        placed = model if crf.index_ is self.index else self.start(crf)  # which forgets what is forbidden
        L, pairs = len(self.labels), placed.pairs
        keys, which = np.unique(self.twins.group[pairs.attributes()] * L + pairs.label, return_inverse=True)
        merged = Sight(keys, np.zeros((L, L), bool), np.zeros(L, bool)).as_pairs(self.own.n_attributes)
        w = np.bincount(which, placed.w, len(keys)).astype(np.float64)
        return ChainModel(merged, w, model.trans, model.start, model.end)

    def start(self, crf: CRF) -> ChainModel:
        """Return the weights of a fitted CRF to begin from."""
        return crf.learned_.over(self.index, self.labels)

    def fit(
        self, shards: Shards[ChainPart], attributes: Sequence[NDArray[np.int64]], seen: Sight, start: ChainModel | None
    ) -> tuple[CRF, float]:
        """Return the CRF of the labels and of what workers believe of the pool, and the loss of the labels under it.

        seen : what the pool's labels show; start : weights to begin the search from.
        """
        labelled, crf = self.labelled, fresh(self.base)
        assert labelled.y is not None
        layout, observed = self._layout(seen)
        data = TrainingSet(
            self.own, labelled.indptr, labelled.y, self.labels, layout.start_allowed, layout.allowed, observed,
            self.weight, start, self.prior,
        )  # fmt: skip
        with likelihood_of(
            self.own, labelled.indptr, labelled.y, *layout[1:], self.weight, crf.threads, crf.jobs
        ) as here:
            likelihood = PartedLikelihood(here, shards, attributes, layout)
            crf.model_ = crf._minimised(data, self.twins, layout.pairs, likelihood)
            steps = crf.model_.trans[here.from_label, here.to_label]
            loss, _ = here(np.append(carried(crf.model_, self.twins.group, layout.pairs), steps))
        crf.index_, crf.labels_, crf.training_digest_ = self.index, self.labels, labelled.digest()
        return crf, loss

    def _layout(self, seen: Sight) -> tuple[Layout, NDArray[np.bool_]]:
        """Return the weights to learn, those that a CRF of all these labels has, and the transitions observed."""
        labelled = self.labelled
        assert labelled.y is not None
        A = self.own.n_attributes
        seen = Sight.of(self.own, np.arange(A), labelled.indptr, labelled.y, len(self.labels)) + seen
        start_allowed, allowed = self.labels.allowed()
        start_allowed, allowed = start_allowed | seen.starts, allowed | seen.transitions
        pairs: Pairs = seen.as_pairs(A)
        learned = seen.transitions if self.base.transitions == "observed" else allowed
        if self.prior is not None:
            pairs, learned = pairs.union(self.prior.pairs), learned | (self.prior.trans != 0)
        self._turns += 1
        return Layout(self._turns, pairs, learned, start_allowed, allowed), seen.transitions

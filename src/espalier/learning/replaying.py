"""Sequences that are learned again beside new ones, so that a model which begins from another keeps what that one knew.

A prior holds single weights back; it does not say which of them matter together. Some sequences of the old kind do:
whoever learns from them too has to label them as before (Robins, 1995, calls it rehearsal; the sequences may be made up
for it). They have no copies: their fields are nobody's words but their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus

__all__ = ["with_replay"]

Float = NDArray[np.float64]

WEIGHT = 0.1
"""What a replayed sequence counts beside a new one: of 1, 0.3 and 0.1 the one that new styles of references pay least
for; for those known before all three are about as good (`scripts/adapt_citations.py --keep`)."""


def with_replay(corpus: Corpus, weight: Float | None, replay: Corpus) -> tuple[Corpus, Float]:
    """Return a labelled corpus with replayed sequences behind it, and the weights of all, float64[N].

    weight : of the sequences of `corpus`, None: one each. A label of `replay` that `corpus` lacks is a LabelError.
    """
    from espalier.learning.codl import joined

    again = Corpus.from_tokens(list(replay), replay.all_labels(), vocabulary=corpus.labels)
    own = np.ones(len(corpus)) if weight is None else weight
    return joined(corpus, again), np.append(own, np.full(len(again), WEIGHT))

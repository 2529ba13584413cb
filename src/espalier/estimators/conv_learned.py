"""What passes between a `ConvCRF` and its training: labelled text as arrays, what was learned, and held-out scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.estimators.moves import moves_of
from espalier.features.hashed import hashed_words, spaces_before
from espalier.models.conv import ConvShape, Parameters
from espalier.models.conv_scoring import ScoringNet
from espalier.potentials import ChainBatch

if TYPE_CHECKING:  # whoever labels never waits for what only training needs
    from espalier.learning.net_training import NetData, Score

__all__ = ["LearnedNet", "chain_batch", "forbidding", "net_data", "scorer_of"]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearnedNet:
    """What a fitted net has learned, as a value: its shape, its labels and its weights."""

    shape: ConvShape
    labels: Labels
    weights: Parameters

    def over(self, labels: Labels, begin: Parameters) -> Parameters:
        """Return the weights over other labels, by their names; labels that are new have those of `begin`."""
        at = {name: k for k, name in enumerate(self.labels.names)}
        new = np.array([k for k, name in enumerate(labels.names) if name in at], np.int64)
        old = np.array([at[labels.names[k]] for k in new.tolist()], np.int64)
        found = {name: w.copy() for name, w in self.weights.items()}
        for name in ("output", "output_bias", "start", "end", "trans"):
            mine, own = self.weights[name], begin[name].copy()
            if name == "trans":
                own[np.ix_(new, new)] = mine[np.ix_(old, old)]
            else:
                own[..., new] = mine[..., old]
            found[name] = np.where(np.isfinite(own), own, 0.0).astype(own.dtype)  # what is allowed is decided anew
        return found

    def __repr__(self) -> str:
        """Show the size."""
        return f"LearnedNet({self.shape.channels} channels, {len(self.labels)} labels)"


def net_data(corpus: Corpus, buckets: int, weight: Float | None, moves_from: Corpus) -> NetData:
    """Return labelled sequences as a net learns from them; moves_from : the sequences that say what may follow what."""
    from espalier.learning.net_training import NetData

    assert corpus.y is not None
    moves = moves_of(moves_from)
    return NetData(
        indptr=corpus.indptr,
        words=hashed_words(corpus.types, buckets),
        word=corpus.token_ids,
        space=spaces_before(corpus),
        y=corpus.y,
        weight=np.ones(len(corpus)) if weight is None else weight,
        start_allowed=moves.start_allowed,
        allowed=moves.allowed,
    )


def forbidding(weights: Parameters, data: NetData) -> Parameters:
    """Return the weights, with -inf between labels that may not follow each other."""
    trans = np.where(data.allowed, weights["trans"], -np.inf).astype(np.float32)
    return weights | {
        "trans": trans,
        "start": np.where(data.start_allowed, weights["start"], -np.inf).astype(np.float32),
    }


def chain_batch(net: ScoringNet, corpus: Corpus, threads: int | None) -> ChainBatch:
    """Return the potentials of a corpus."""
    trans, start, end = (net.weights[name].astype(np.float64) for name in ("trans", "start", "end"))
    classes = np.zeros(corpus.n_tokens, np.int32)
    return ChainBatch(corpus.indptr, net.scores(corpus, threads), trans[None], classes, start, end)


def scorer_of(dev: Corpus | None, labels: Labels, shape: ConvShape, data: NetData, threads: int | None) -> Score | None:
    """Return token accuracy on held-out data as a function of weights; None without data."""
    if dev is None:
        return None
    assert dev.y is not None
    assert dev.labels is not None
    ids = {name: k for k, name in enumerate(labels.names)}
    gold = np.array([*(ids.get(name, -2) for name in dev.labels.names), -1])[dev.y]  # -2: a label it cannot know

    def score(weights: Parameters, chains: bool) -> float:
        net = ScoringNet(shape, forbidding(weights, data))
        if chains:
            from espalier.inference import viterbi

            found = viterbi(chain_batch(net, dev, threads), threads=threads).labels
        else:  # without compiled code
            found = net.scores(dev, threads).argmax(axis=1).astype(np.int16)
        return float((found == gold)[gold != -1].mean())

    return score

"""What a cascade of experts costs and brings: a threshold for `Experts.ask_below`, chosen on held-out data.

    asked(θ)     the share of sequences of which the first expert is less sure than θ: what the others cost
    whole(θ)     the share of sequences all of whose labels are right

Two answers of each sequence are enough for all thresholds: that of the first expert and that of all. The lowest
threshold is chosen from which on, up to always asking, `whole` never falls below that of always asking by more than
`loss`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.certify import sums
from espalier.decoders.probabilities import sureness
from espalier.errors import InputError
from espalier.estimators.base import SequenceLabeller, as_corpus
from espalier.estimators.ccm import CCM
from espalier.estimators.experts import Experts

__all__ = ["Compromise", "TradeOff", "trade_off"]

LOSS = 0.001
"""How much smaller the share of sequences that are wholly right may be than when all experts are always asked."""

THRESHOLDS = (*np.round(np.arange(0.0, 1.0, 0.01), 2).tolist(), 0.995, 0.999)

Right = Callable[[Corpus, NDArray[np.int16]], NDArray[np.bool_]]


class Compromise(NamedTuple):
    """One threshold: the share of sequences asked about, of those wholly right, and of tokens right."""

    threshold: float
    asked: float
    whole: float
    tokens: float


@dataclass(frozen=True, slots=True)
class TradeOff:
    """All thresholds, and the two ends: rows : rising; alone : nothing is asked; always : everything is."""

    rows: tuple[Compromise, ...]
    alone: Compromise
    always: Compromise

    def choose(self, loss: float = LOSS) -> Compromise:
        """Return the row that asks least and loses no more than `loss` of `whole`, as do all that ask more."""
        found = self.always
        for row in reversed((self.alone, *self.rows)):
            if row.whole < self.always.whole - loss - 1e-12:
                break
            found = row
        return found

    def __str__(self) -> str:
        """Return a table: every row that differs from the one before."""
        lines, last = ["threshold   asked   whole  tokens"], -1.0
        for row in (self.alone, *self.rows, self.always):
            if row.asked > last or row is self.always:
                lines.append(f"{row.threshold:9.3f} {row.asked:7.2%} {row.whole:7.2%} {row.tokens:7.2%}")
            last = max(last, row.asked)
        return "\n".join(lines)


def trade_off(
    model: Any,
    X: Any,
    y: Sequence[Sequence[str | None]] | None = None,
    *,
    thresholds: Sequence[float] = THRESHOLDS,
    right: Right | None = None,
) -> TradeOff:
    """Return what each threshold costs and brings on labelled sequences that the experts have not seen.

    Parameters
    ----------
    model : fitted Experts, or a model under rules whose base they are: answers are then those under the rules.
    X, y : sequences and label lists, or a Corpus that has labels.
    thresholds : candidates for `ask_below`.
    right : which answers are right, a function of the corpus and its label ids, int16[M], to bool[N]; None: those with
        no wrong label.

    Returns
    -------
    TradeOff : print it, and take `choose().threshold`.
    """
    ruled = model if isinstance(model, CCM) else None
    experts = getattr(model, "base_", model)
    if not isinstance(experts, Experts):
        raise InputError(f"a {type(experts).__name__} is no cascade", hint="give Experts, or a CCM over Experts")
    experts.check_fitted()
    corpus = as_corpus(X, y, vocabulary=experts.labels_)
    if corpus.y is None or not len(corpus):
        raise InputError("a threshold is chosen on labelled sequences", hint="give a labelled Corpus, or X and y")
    every = experts.always_asked()
    sure = sureness(experts.experts_[0].chain_potentials(corpus, "experts are"))
    answers = [_tagged(one, ruled, corpus) for one in (experts.experts_[0], every)]
    known = np.asarray(corpus.y) >= 0
    correct = [(answer == corpus.y) | ~known for answer in answers]
    hits = [sums(corpus.indptr, (own & known)[:, None])[:, 0] for own in correct]
    whole = [
        sums(corpus.indptr, ~own[:, None])[:, 0] == 0 if right is None else right(corpus, answer)
        for own, answer in zip(correct, answers, strict=True)
    ]
    total = max(int(known.sum()), 1)

    def row(threshold: float, asked: NDArray[np.bool_]) -> Compromise:
        chosen, found = np.where(asked, whole[1], whole[0]), np.where(asked, hits[1], hits[0])
        return Compromise(float(threshold), float(asked.mean()), float(chosen.mean()), float(found.sum() / total))

    none = np.zeros(len(corpus), bool)
    rows = tuple(row(threshold, sure < threshold) for threshold in sorted(thresholds))
    return TradeOff(rows, row(0.0, none), row(np.inf, ~none))


def _tagged(base: SequenceLabeller, ruled: Any, corpus: Corpus) -> NDArray[np.int16]:
    """Return the label ids that a base gives, under the rules if there are any."""
    return np.asarray((base if ruled is None else ruled.with_base(base)).tag(corpus)[0], np.int16)

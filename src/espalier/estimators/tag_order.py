"""Tags of a training set in an order that IOB2 does not know: what is a slip, and what cannot be learned at all."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import UNKNOWN, Corpus
from espalier.errors import InfeasibleError, Place, ResultWarning

__all__ = ["allowed_moves", "say_if_broken"]

Bool = NDArray[np.bool_]


def say_if_broken(corpus: Corpus, stacklevel: int = 3) -> None:
    """Warn of an I- that continues nothing: one slip, and a model may give such tags everywhere.

    Behind a label that is unknown nobody can tell.
    """
    if corpus.y is None or corpus.labels is None or not corpus.n_tokens:
        return
    start, follow = corpus.labels.allowed()
    first = np.zeros(corpus.n_tokens, bool)
    first[corpus.indptr[:-1][corpus.lengths > 0]] = True
    before = np.append(np.int16(UNKNOWN), corpus.y[:-1])
    known = (corpus.y >= 0) & (first | (before >= 0))
    wrong = np.flatnonzero(known & ~np.where(first, start[corpus.y], follow[before, corpus.y]))
    if len(wrong):
        name = corpus.labels.names[corpus.y[wrong[0]]]
        rest = f" ({len(wrong)} such tokens in all)" if len(wrong) > 1 else ""
        what = f"{_place(corpus, int(wrong[0]))}: {name!r} continues nothing{rest}, so the model may do the same"
        warnings.warn(f"{what}; if it is a slip, give the token {_opening(name)!r}", ResultWarning, stacklevel)


def allowed_moves(corpus: Corpus) -> tuple[Bool, Bool, Bool]:
    """Return `corpus.moves()`; a label that nothing leads to is an error.

    That is an I-x behind an unknown label, where there is no label B-x.
    """
    assert corpus.y is not None
    assert corpus.labels is not None
    start, allowed, observed = corpus.moves()
    reached = start.copy()
    while (more := reached | allowed[reached].any(axis=0)).sum() > reached.sum():
        reached = more
    lost = np.flatnonzero((corpus.y >= 0) & ~reached[corpus.y])
    if len(lost):
        name = corpus.labels.names[corpus.y[lost[0]]]
        what = f": {name!r} continues a field, and no known label begins one"
        hint = f"pass labels= to fit, all label names, with {_opening(name)!r} among them"
        raise InfeasibleError(_place(corpus, int(lost[0])), what, hint=hint)
    return start, allowed, observed


def _place(corpus: Corpus, m: int) -> Place:
    """Return where token m of all tokens stands."""
    i = int(np.searchsorted(corpus.indptr, m, "right")) - 1
    return Place(i, m - int(corpus.indptr[i]))


def _opening(name: str) -> str:
    """Return the tag that begins what this one continues, at its innermost level."""
    outer, _, inner = name.rpartition("I-")
    return f"{outer}B-{inner}"

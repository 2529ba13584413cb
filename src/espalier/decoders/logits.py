"""Word potentials out of sub-word logits, as token classifiers give them.

A classifier labels sub-words; rules and people speak of words. As such classifiers are trained on the first sub-word
of every word, that one speaks for the word. Logits become log probabilities, so that penalties in natural-log units
weigh the same for every token.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from espalier.errors import InputError
from espalier.potentials import Potentials

__all__ = ["first_subword"]


def first_subword(
    logits: ArrayLike, word_ids: Sequence[int | None], *, trans: ArrayLike | None = None, n_words: int | None = None
) -> Potentials:
    """Return potentials of words from logits of sub-words: those of each word's first sub-word, log-softmaxed.

    logits : float[S, L]; word_ids : the word of each sub-word, None for special ones, as a fast tokenizer's
    `word_ids()` gives them. Words are numbered from 0 without gaps; a word without any sub-word (cut off by the
    longest length, or empty) is an error. `n_words` also notices words cut off at the end.
    """
    scores = np.asarray(logits, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] == 0:
        raise InputError(
            f"logits have shape {scores.shape}, expected (sub-words, labels)", hint="take one sequence of a batch"
        )
    if len(word_ids) != len(scores):
        raise InputError(f"{len(scores)} rows of logits, but {len(word_ids)} word ids")
    if not np.isfinite(scores).all():
        raise InputError("logits hold nan or inf")
    firsts: dict[int, int] = {}
    for s, word in enumerate(word_ids):
        if word is not None:
            firsts.setdefault(int(word), s)
    n = (max(firsts, default=-1) + 1) if n_words is None else n_words
    missing = next((word for word in range(n) if word not in firsts), None)
    if missing is not None:
        raise InputError(
            f"word {missing} of {n} has no sub-word: cut off by the classifier's longest length, or empty",
            hint="split the text into shorter stretches, or leave out empty words",
        )
    odd = next((word for word in firsts if not 0 <= word < n), None)
    if odd is not None:
        raise InputError(f"word id {odd} is outside 0 to {n - 1}")
    chosen = scores[[firsts[word] for word in range(n)]].reshape(n, scores.shape[1])
    top = chosen.max(axis=1, keepdims=True)
    return Potentials(chosen - top - np.log(np.exp(chosen - top).sum(axis=1, keepdims=True)), trans)

"""Scores in any form that people have them in, as potentials; those of many sequences laid end to end: `ChainBatch`.

Padded batches [N, T, L] with a mask or lengths, ragged lists, logits of sub-words, tensors of any library on any
device; which places of a padded batch are tokens; and which tags may follow which.

No library is imported for its tensors. Whatever speaks the array protocol (`__array__`) or DLPack is taken. A tensor
that records gradients is asked to `detach`, one on a device to come over by `cpu`, and a number type that NumPy does
not have (bfloat16) to be `float`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, Place
from espalier.potentials import ChainBatch, Potentials

__all__ = [
    "Padding",
    "as_array",
    "as_batch",
    "as_floats",
    "first_subword",
    "is_batch",
    "limited",
    "parts_of",
    "per_sequence",
    "tag_limits",
    "ties_broken",
    "tokens_of",
]

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

PARTS = ("trans", "start", "end")
STEPS = ("detach", "cpu", "float")  # what a tensor can be asked for, in this order, until NumPy takes it


def as_array(value: Any, name: str) -> NDArray[Any]:
    """Return any array-like value as a NumPy array, or say why that cannot be done."""
    if isinstance(value, np.ndarray):
        return value
    complaint: Exception | None = None
    for step in (None, *STEPS):
        if step is not None:
            ask = getattr(value, step, None)
            if not callable(ask):
                continue
            value = ask()
        try:
            found = _taken(value)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            complaint = complaint or error
            continue
        if found is not None:
            return found
    why = f": {str(complaint).splitlines()[0]}" if complaint is not None and str(complaint) else ""
    raise InputError(
        f"{name} is of type {type(value).__name__} and cannot be read as an array of numbers{why}",
        hint="pass lists of numbers, or an array that NumPy can read",
    )


def _taken(value: Any) -> NDArray[Any] | None:
    """Return what NumPy makes of a value; None if that is no array of numbers."""
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        shared: NDArray[Any] = np.from_dlpack(value)
        return shared
    found = np.asarray(value)
    return None if found.dtype == object or found.dtype.kind in "USmM" else found


def as_floats(value: Any, name: str) -> NDArray[np.float64]:
    """Return any array-like value as float64."""
    if value is None:
        raise InputError(f"{name} is None", hint="pass an array of numbers")
    found = as_array(value, name)
    try:
        return np.asarray(found, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} holds no numbers: {error}") from None


def dimensions(value: Any) -> int | None:
    """Return the number of dimensions of an array or of nested lists, None where it cannot be told."""
    known = getattr(value, "ndim", None)
    if isinstance(known, int):
        return known
    if isinstance(value, list | tuple):
        inner = [dimensions(item) for item in value[:1]]
        return 1 if not inner else None if inner[0] is None else inner[0] + 1
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape)
    return 0 if isinstance(value, int | float | np.number) else None


class Padding(NamedTuple):
    """A batch of scores and, where it came padded, which places of [N, T] hold tokens."""

    batch: ChainBatch
    places: Bool | None


def is_batch(scores: Any) -> bool:
    """Are these the scores of several sequences, by their form?"""
    if isinstance(scores, ChainBatch):
        return True
    if isinstance(scores, Potentials):
        return False
    if isinstance(scores, tuple) and scores and not isinstance(scores[0], Potentials):
        return dimensions(scores[0]) == 3
    if isinstance(scores, list | tuple):
        return any(isinstance(item, Potentials) or dimensions(item) == 2 for item in scores)
    return dimensions(scores) == 3


def as_batch(scores: Any, mask: Any = None, lengths: Any = None, n_labels: int | None = None) -> Padding:
    """Return the scores of a batch in any accepted form, end to end.

    mask : bool[N, T], true at tokens, wherever they stand; lengths : int[N], tokens stand first. n_labels : for a batch
    of nothing but empty lists.
    """
    listed = isinstance(scores, list | tuple)
    known = isinstance(scores, ChainBatch) or (listed and isinstance(scores[0], Potentials))
    padded = mask is not None or lengths is not None
    if known and padded:
        raise InputError("a list of potentials has no padding", hint="leave out mask= and lengths=")
    if known or (isinstance(scores, list) and not padded):
        return Padding(scores if isinstance(scores, ChainBatch) else _ragged(list(scores), n_labels), None)
    given = scores if isinstance(scores, tuple) else (scores,)
    unary = as_array(given[0], "the batch of scores")
    if unary.ndim != 3 or unary.shape[2] == 0:
        raise InputError(f"the batch of scores has shape {unary.shape}", hint="expected (sequences, tokens, labels)")
    places = _places(unary.shape[:2], mask, lengths)
    L = unary.shape[2]
    trans, start, end = parts_of(given)
    if trans is not None and trans.ndim != 2:
        raise InputError(
            f"trans has shape {trans.shape}, expected {(L, L)}", hint="sequences of a padded batch share transitions"
        )
    one = Potentials(as_floats(unary[places], "the batch of scores").reshape(-1, L), trans, start, end)
    indptr = np.concatenate([[0], np.cumsum(places.sum(axis=1))]).astype(np.int64)
    classes = np.zeros(len(one.unary), np.int32)
    return Padding(ChainBatch(indptr, one.unary, one.trans[None], classes, one.start, one.end), places)


def parts_of(given: tuple[Any, ...]) -> tuple[Float | None, Float | None, Float | None]:
    """Return trans, start and end of a tuple (unary, trans, start, end), None for those that are not given."""
    if not 1 <= len(given) <= 4:
        raise InputError(f"a tuple of {len(given)} arrays", hint="expected (unary, trans, start, end)")
    named = zip(PARTS, (*given[1:], None, None, None), strict=False)
    trans, start, end = (None if array is None else as_floats(array, name) for name, array in named)
    return trans, start, end


def _places(shape: tuple[int, ...], mask: Any, lengths: Any) -> Bool:
    """Return which places hold tokens, bool[N, T]."""
    if mask is not None and lengths is not None:
        raise InputError("both mask and lengths", hint="pass one of them")
    if lengths is not None:
        counts = as_array(lengths, "lengths")
        if counts.shape != shape[:1] or counts.dtype.kind not in "iu":
            raise InputError(
                f"lengths are {counts.dtype}{list(counts.shape)}", hint=f"expected {shape[0]} whole numbers"
            )
        wrong = np.flatnonzero((counts < 0) | (counts > shape[1]))
        if len(wrong):
            raise InputError(Place(int(wrong[0])), f" has length {counts[wrong[0]]}, expected 0 to {shape[1]}")
        return np.asarray(np.arange(shape[1]) < counts[:, None])
    if mask is None:
        return np.ones(shape, bool)
    found = as_array(mask, "mask")
    if found.shape != shape:
        raise InputError(f"mask has shape {found.shape}", hint=f"expected {shape}: sequences, tokens")
    if not np.isin(found, (0, 1)).all():
        raise InputError("mask holds other values than 0 and 1", hint="1 or True marks a token, 0 or False padding")
    return found.astype(bool)


def _ragged(sequences: list[Any], n_labels: int | None) -> ChainBatch:
    """Return a list of scores, one [T_i, L] or `Potentials` each, as a batch."""
    known = [_sequence(item, i) for i, item in enumerate(sequences)]
    widths = {p.n_labels for p in known if p is not None}
    if len(widths) > 1:
        raise InputError(f"sequences of one batch have {' and '.join(map(str, sorted(widths)))} labels")
    L = widths.pop() if widths else n_labels or 1
    bare = Potentials(np.zeros((0, L)))
    first = next((p for p in known if p is not None), bare)
    for i, p in enumerate(known):
        if p is None:
            known[i] = replace(
                first, unary=np.zeros((0, L)), trans=first.trans if first.trans.ndim == 2 else bare.trans
            )
    found = [p for p in known if p is not None]
    if any(not (np.array_equal(p.start, first.start) and np.array_equal(p.end, first.end)) for p in found):
        found = [_ends_inside(p) for p in found]
    return ChainBatch.of(found)


def _sequence(item: Any, i: int) -> Potentials | None:
    """Return the scores of sequence i; None for one without tokens whose number of labels is not known."""
    if isinstance(item, Potentials):
        return item
    unary = as_floats(item, f"sequence {i}")
    if unary.size == 0 and unary.ndim < 2:
        return None
    if unary.ndim != 2 or unary.shape[1] == 0:
        raise InputError(Place(i), f" has scores of shape {unary.shape}", hint="expected (tokens, labels)")
    try:
        return Potentials(unary)
    except InputError as error:
        raise InputError(Place(i), f": {error.what}", hint=error.hint) from None


def _ends_inside(p: Potentials) -> Potentials:
    """Return potentials whose first and last tokens hold what start and end score."""
    unary, none = p.unary.copy(), np.zeros(p.n_labels)
    if len(unary):
        unary[0] += p.start
        unary[-1] += p.end
    return replace(p, unary=unary, start=none, end=none)


def tokens_of(tokens: Any, indptr: NDArray[np.int64], places: Bool | None, *, needed: bool) -> Corpus:
    """Return the tokens of a batch as a corpus; lists as long as the padded batch is wide are cut to its tokens."""
    lengths = np.diff(indptr).tolist()
    if tokens is None:
        if needed:
            raise InputError("rules speak about tokens", hint="pass tokens=, one list of strings for each sequence")
        return Corpus.from_tokens([[""] * n for n in lengths])
    if isinstance(tokens, str) or len(tokens) != len(lengths):
        what = "a string" if isinstance(tokens, str) else f"{len(tokens)} lists of tokens"
        raise InputError(f"{len(lengths)} sequences of scores, but tokens is {what}", hint="pass one list for each")
    lists: list[Sequence[str]] = []
    for i, (words, n) in enumerate(zip(tokens, lengths, strict=True)):
        if places is not None and len(words) != n and len(words) == places.shape[1] and not isinstance(words, str):
            words = [word for word, here in zip(words, places[i].tolist(), strict=True) if here]
        if len(words) != n and not isinstance(words, str):
            raise InputError(
                Place(i),
                f" has {n} rows of scores, but {len(words)} tokens",
                hint="mask= or lengths= says what is padding",
            )
        lists.append(list(words) if not isinstance(words, str) else words)
    return Corpus.from_tokens(lists)


def tag_limits(labels: Labels, wish: bool | None) -> tuple[Bool, Bool] | None:
    """Return which labels may begin and which may follow which, where labels are B- and I- tags; else None.

    wish : True insists, None takes tags that can be valid, False never. Labels in which an I- tag can continue nothing
    (a scheme without B-) are no such tags.
    """
    if wish is False:
        return None
    start, follow = labels.allowed()
    marked = any(name[:2] == "I-" for name in labels.names) and not bool(start.all())
    useless = [name for j, name in enumerate(labels.names) if not start[j] and not np.delete(follow[:, j], j).any()]
    if marked and not useless:
        return start, follow
    if wish:
        why = f"tag {useless[0]!r} can continue nothing" if marked else "labels are not all O, B- and I- tags"
        raise InputError(f"{why}, so tags cannot be kept valid", hint="leave out valid_tags=")
    return None


TIE = 2.0**-36
"""What decides where two labellings have the same score: less than any score that somebody means."""


def limited(batch: ChainBatch, limits: tuple[Bool, Bool] | None) -> ChainBatch:
    """Return a batch in which invalid tags are forbidden, and where scores tie a field goes on (`ties_broken`)."""
    if limits is None:
        return batch
    start, trans = np.where(limits[0], batch.start, -np.inf), ties_broken(batch.trans, limits)
    return replace(batch, start=start, trans=np.where(limits[1], trans, -np.inf))


def ties_broken(trans: NDArray[np.float64], limits: tuple[Bool, Bool]) -> NDArray[np.float64]:
    """Return transitions in which a B- inside its own field is worth a trifle less than the I- of the field.

    Without it the lowest label would be taken, B-: of constant scores under rules each token would be a field.
    """
    start, follow = limits
    inside = follow[:, ~start].astype(np.int64)
    return np.asarray(trans - TIE * (start & (inside @ inside.T > 0)))


def per_sequence(values: Any, n: int, name: str) -> Sequence[Any]:
    """Return one value for each of n sequences, None for all where nothing is given."""
    if values is None:
        return [None] * n
    if isinstance(values, str | Mapping) or not isinstance(values, Sequence) or len(values) != n:
        raise InputError(f"{name} of a batch is one value for each of its {n} sequences", hint="pass a list")
    return values


def first_subword(
    logits: ArrayLike, word_ids: Sequence[int | None], *, trans: ArrayLike | None = None, n_words: int | None = None
) -> Potentials:
    """Return potentials of words from logits of sub-words: those of each word's first sub-word, log-softmaxed.

    A token classifier labels sub-words; rules and people speak of words. As classifiers are trained on the first
    sub-word of every word, that one speaks for the word. Logits become log probabilities, so that penalties in
    natural-log units weigh the same for every token.

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

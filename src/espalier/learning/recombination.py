"""Training sequences whose fields are exchanged: what a handful of them says about a style, without their words.

A copy of a sequence has its fields in the same order, with the same marks between them, but each field has the words of
others of the same label, drawn from all sequences: some of the first words of one and some of the last of another. Only
if either has digits, or but one word, they are those of one: parts of two dates or ranges make none.

    Ada King, Notes, 1843.   Grace Hopper: Code, 1952.     ->     Grace King, Code, 1843.   Ada King: Notes, 1843.   ...

A model that learns from copies too can explain less by single words, and learns more of what all copies share: how the
style is built, whatever words its fields begin and end with. Jia and Liang (2016) recombine the derivations of a
grammar; a sequence of fields is the flat case.

Sequences of an old kind may be learned again beside new ones (`with_replay`), so that a model which begins from another
keeps what that one knew. A prior holds single weights back; it does not say which of them matter together. Whoever
learns from old sequences too has to label them as before (Robins, 1995, calls it rehearsal; the sequences may be made
up for it). They have no copies: their fields are nobody's words but their own.

Marks are the tokens without a letter or digit at either end of a field. What is outside all fields, or unknown, stays
as it is. Cost: a copy takes as long to make as to read; learning from k copies, k + 1 times as long as without.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.tags import is_tag, parse_tag, segments

__all__ = ["layered", "more_examples", "recombined", "with_replay"]

Float = NDArray[np.float64]


REPLAYED = 0.1
"""What a replayed sequence counts beside a new one: of 1, 0.3 and 0.1 the one that new styles of references pay least
for; for those known before all three are about as good (`scripts/adapt_citations.py --keep`)."""


class _Piece(NamedTuple):
    """A field: marks, words and marks, the tag of its first token and that of the others; or one token in no field.

    label : of the field, None for a token that stays as it is.
    """

    label: str | None
    before: Sequence[str]
    words: Sequence[str]
    after: Sequence[str]
    first: str | None
    others: str | None

    def filled(self, words: Sequence[str]) -> tuple[list[str], list[str | None]]:
        """Return tokens and tags of the piece with other words."""
        tokens = [*self.before, *words, *self.after]
        return tokens, [self.first, *[self.others] * (len(tokens) - 1)]


def more_examples(
    corpus: Corpus, weight: Float | None, copies: int, seed: int, replay: Corpus | None
) -> tuple[Corpus, Float | None]:
    """Return labelled sequences with copies and replayed sequences behind them, and the weights of all."""
    if copies:
        corpus, weight = recombined(corpus, copies, weight, np.random.default_rng(seed))
    return (corpus, weight) if replay is None else with_replay(corpus, weight, replay)


def with_replay(corpus: Corpus, weight: Float | None, replay: Corpus) -> tuple[Corpus, Float]:
    """Return a labelled corpus with replayed sequences behind it, and the weights of all, float64[N].

    weight : of the sequences of `corpus`, None: one each. A label of `replay` that `corpus` lacks is a LabelError.
    """
    again = Corpus.from_tokens(list(replay), replay.all_labels(), vocabulary=corpus.labels)
    own = np.ones(len(corpus)) if weight is None else weight
    return corpus + again, np.append(own, np.full(len(again), REPLAYED))


def recombined(corpus: Corpus, copies: int, weight: Float | None, rng: np.random.Generator) -> tuple[Corpus, Float]:
    """Return a labelled corpus with `copies` copies of each sequence behind it, and the weights of all sequences.

    weight : float64[N], None: one each. The copies of a sequence together weigh as much as the sequence itself.
    """
    assert corpus.labels is not None
    deep = layered(corpus.labels)
    if deep:
        raise InputError(
            "copies exchange fields of one level", hint=f"the label {deep[0]!r} has several, so leave out copies"
        )
    tokens, tags = list(corpus), corpus.all_labels()
    sequences = [list(_pieces(x, y)) for x, y in zip(tokens, tags, strict=True)]
    fillers = defaultdict(list)
    for piece in (piece for sequence in sequences for piece in sequence):
        if piece.label is not None:
            fillers[piece.label].append(piece.words)
    for _ in range(copies):
        for sequence in sequences:
            x, y = _copy(sequence, fillers, rng)
            tokens.append(x)
            tags.append(y)
    own = np.ones(len(corpus)) if weight is None else weight
    return Corpus.from_tokens(tokens, tags, vocabulary=corpus.labels), np.append(own, np.tile(own / copies, copies))


def layered(labels: Iterable[str]) -> list[str]:
    """Return the labels that have several levels: of these there are no copies."""
    return [label for label in labels if is_tag(label) and len(parse_tag(label)) > 1]


def _pieces(tokens: Sequence[str], tags: Sequence[str | None]) -> Iterator[_Piece]:
    """Cut a sequence into fields and the tokens between them."""
    end = 0
    for field in [*segments(tags), None]:
        start = len(tokens) if field is None else field.start
        yield from (_Piece(None, (), tokens[t : t + 1], (), tags[t], tags[t]) for t in range(end, start))
        if field is not None:
            yield _field(tokens[start : field.end], field.label, tags[start])
            end = field.end


def _field(tokens: Sequence[str], label: str, first: str | None) -> _Piece:
    """Take the marks off a field; one of nothing but marks has them as its words."""
    worded = [t for t, token in enumerate(tokens) if _has_a_word(token)] or [0, len(tokens) - 1]
    a, b = worded[0], worded[-1] + 1
    others = label if first == label else f"I-{label}"
    return _Piece(label, tokens[:a], tokens[a:b], tokens[b:], first, others)


def _copy(
    sequence: Sequence[_Piece], fillers: Mapping[str, Sequence[Sequence[str]]], rng: np.random.Generator
) -> tuple[list[str], list[str | None]]:
    """Return tokens and tags of a sequence with words of others in its fields."""
    tokens: list[str] = []
    tags: list[str | None] = []
    for piece in sequence:
        x, y = piece.filled(piece.words if piece.label is None else _words(fillers[piece.label], rng))
        tokens += x
        tags += y
    return tokens, tags


def _words(known: Sequence[Sequence[str]], rng: np.random.Generator) -> Sequence[str]:
    """Return some of the first words of a field and some of the last of another, or those of a field as they are."""
    begin, end = (known[k] for k in rng.integers(len(known), size=2).tolist())
    if not (_divisible(begin) and _divisible(end)):
        return begin
    words = [*begin[: int(rng.integers(len(begin) + 1))], *end[int(rng.integers(len(end) + 1)) :]]
    return words if any(map(_has_a_word, words)) else begin


def _divisible(words: Sequence[str]) -> bool:
    """Has a field parts that mean something by themselves?"""
    return len(words) > 1 and not any(c.isdigit() for word in words for c in word)


def _has_a_word(word: str) -> bool:
    """Has a token a letter or a digit?"""
    return any(map(str.isalnum, word))

"""Where conditions hold: every distinct part of every condition once, for a whole corpus in arrays.

A word condition is asked once for each word type. Nodes that say nothing about labels (*input-only* nodes) are settled
here, too: `Satisfied(node)` is the token condition that holds everywhere or nowhere in a sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.rules import nodes as n
from espalier.rules.meaning import degree
from espalier.rules.phrases import PhrasePattern, Phrases
from espalier.rules.predicates import ALWAYS, AllOf, AnyOf, At, Condition, Near, NoneOf, Text, Window, WordCondition

__all__ = ["Plan", "Satisfied", "Sequences", "both", "holds_when_empty", "input_only"]

Bits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Satisfied(Condition):
    """The sequence satisfies an input-only node; the same at every token."""

    node: n.Node

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Does it?"""
        return degree(self.node, tokens, [None] * len(tokens), text=text) == 0


def input_only(node: n.Node) -> bool:
    """Is the node's degree the same for all labellings of a sequence?"""
    if isinstance(node, n.Linear):
        return all(term.unit == "tokens" and term.fields == n.ANYTHING for term in node.terms)
    if isinstance(node, n.All | n.Any):
        return all(input_only(part) for part in node.parts)
    if isinstance(node, n.If):
        return input_only(node.condition) and input_only(node.then)
    return isinstance(node, n.Exists) or (isinstance(node, n.Not) and input_only(node.part))


def holds_when_empty(condition: Condition) -> bool:
    """Does it hold in a sequence without tokens?  Only conditions on whole sequences can."""
    return isinstance(condition, Satisfied) and degree(condition.node, [], []) == 0


def both(one: Condition, other: Condition) -> Condition:
    """Return the conjunction, without the trivial part."""
    if ALWAYS in (one, other):
        return other if one == ALWAYS else one
    return one & other


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """N sequences of M tokens as arrays: what conditions are evaluated on.

    indptr : int64[N + 1]; token_ids : int[M] into `types`; text(i) is the text of sequence i.
    """

    indptr: NDArray[np.int64]
    token_ids: NDArray[np.int32]
    types: tuple[str, ...]
    text: Callable[[int], str]
    sequence: NDArray[np.int64] = field(init=False)
    position: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        """Derive which sequence every token is in, and where."""
        if len(self.indptr) == 2:
            sequence, position = np.zeros(len(self.token_ids), np.int64), np.arange(len(self.token_ids))
        else:
            lengths = np.diff(self.indptr)
            sequence = np.repeat(np.arange(len(lengths)), lengths)
            position = np.arange(self.indptr[-1]) - np.repeat(self.indptr[:-1], lengths)
        object.__setattr__(self, "sequence", sequence)
        object.__setattr__(self, "position", position)

    @classmethod
    def of_tokens(cls, tokens: Sequence[str], text: str | None) -> Sequences:
        """One sequence; without `text` its tokens are joined by one space."""
        index = {word: k for k, word in enumerate(dict.fromkeys(tokens))}
        ids = np.array([index[word] for word in tokens], dtype=np.int32)
        whole = " ".join(tokens) if text is None else text
        return cls(np.array([0, len(tokens)], dtype=np.int64), ids, tuple(index), lambda i: whole)

    @classmethod
    def of_corpus(cls, corpus: Corpus) -> Sequences:
        """All sequences of a corpus, with the texts of its documents if there are any."""
        documents = corpus.documents

        def text(i: int) -> str:
            return " ".join(corpus.tokens(i)) if documents is None else documents[i].text

        return cls(corpus.indptr, corpus.token_ids, corpus.types, text)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """T of every sequence, int64[N]."""
        return np.diff(self.indptr)

    def tokens(self, i: int) -> list[str]:
        """Return the tokens of sequence i."""
        return [self.types[k] for k in self.token_ids[self.indptr[i] : self.indptr[i + 1]].tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Every distinct part of some conditions, parts before wholes; made once, so that grounding hashes nothing.

    steps : a condition, or an input-only node, with the numbers of the steps it is made of.
    outputs : the step of each condition.
    """

    steps: tuple[tuple[Condition | n.Node, tuple[int, ...]], ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, conditions: Sequence[Condition]) -> Plan:
        """Take the conditions apart."""
        numbers: dict[Condition | n.Node, int] = {}
        steps: list[tuple[Condition | n.Node, tuple[int, ...]]] = []

        def number(item: Condition | n.Node) -> int:
            if item not in numbers:
                inner = tuple(number(part) for part in _inner(item))
                numbers[item] = len(steps)
                steps.append((item, inner))
            return numbers[item]

        outputs = tuple(number(condition) for condition in conditions)
        return cls(tuple(steps), outputs)

    def ground(self, batch: Sequences) -> Bits:
        """Return where each of the B conditions holds, bool[M, B]."""
        bits = np.zeros((len(batch.token_ids), len(self.outputs)), bool)
        found: dict[int, Bits | None] = {}
        for b, k in enumerate(self.outputs):
            where = self._where(k, batch, found)
            if where is not None:
                bits[:, b] = where
        return bits

    def _where(self, k: int, batch: Sequences, found: dict[int, Bits | None]) -> Bits | None:
        """Return where step k holds, None if nowhere; found : what is known of the steps."""
        if k not in found:
            item, inner = self.steps[k]
            known: list[Bits] = []
            for part in inner:
                where = self._where(part, batch, found)
                if where is not None:
                    known.append(where)
                elif isinstance(item, AllOf | Near | Window):  # in most texts most conditions hold nowhere
                    break
                else:
                    by_token = isinstance(self.steps[part][0], Condition)
                    known.append(np.zeros(len(batch.token_ids if by_token else batch.lengths), bool))
            else:
                where = _tokens(item, known, batch) if isinstance(item, Condition) else _sequences(item, known, batch)
            found[k] = where
        return found[k]


def _inner(item: Condition | n.Node) -> tuple[Condition | n.Node, ...]:
    """Return what a condition or an input-only node is made of."""
    match item:
        case Satisfied():
            return (item.node,)
        case Condition():
            return item.inner()
        case n.Exists():
            return (item.condition,)
        case n.All() | n.Any():
            return item.parts
        case n.Not():
            return (item.part,)
        case n.If():
            return (item.condition, item.then)
    return ()


def _tokens(condition: Condition, inner: list[Bits], batch: Sequences) -> Bits | None:
    """Return where a condition holds, bool[M], given the same of its parts; None may stand for nowhere."""
    match condition:
        case WordCondition():
            return _words(condition, batch)
        case At(first, last):
            T = batch.lengths[batch.sequence]
            above = batch.position >= (first if first >= 0 else first + T)
            return above & (batch.position <= (last if last >= 0 else last + T))
        case Near():
            return _shifted(inner[0], condition.offset, batch)
        case Window(first, last):
            return _within(inner[0], first, last, batch)
        case Phrases():
            return condition.where(batch.indptr, batch.token_ids, batch.types)
        case PhrasePattern():
            return condition.where(inner, batch.position == 0)
        case AllOf():
            return reduce(np.bitwise_and, inner)
        case AnyOf():
            return reduce(np.bitwise_or, inner)
        case NoneOf():
            return ~inner[0]
        case Satisfied():
            return inner[0][batch.sequence]
        case Text():
            found = [T > 0 and condition.holds((), 0, batch.text(i)) for i, T in enumerate(batch.lengths)]
            return np.array(found, dtype=bool)[batch.sequence]
    # Somebody's own condition: ask it token by token.
    tokens = [batch.tokens(i) for i in range(len(batch.lengths))]
    where = zip(batch.sequence.tolist(), batch.position.tolist(), strict=True)
    return np.array([condition.holds(tokens[i], t, batch.text(i)) for i, t in where], dtype=bool)


def _sequences(node: n.Node, inner: list[Bits], batch: Sequences) -> Bits:
    """Return which sequences satisfy an input-only node, bool[N], given the same of its parts."""
    match node:
        case n.Exists():
            return np.bincount(batch.sequence, inner[0], minlength=len(batch.lengths)) > 0
        case n.All():
            return reduce(np.bitwise_and, inner)
        case n.Any():
            return reduce(np.bitwise_or, inner)
        case n.Not():
            return ~inner[0]
        case n.If():
            return ~inner[0] | inner[1]
        case n.Linear(terms, comparison, bound):
            total = sum(term.coefficient for term in terms) * batch.lengths
            verdicts: dict[str, Bits] = {"<=": total <= bound, ">=": total >= bound, "==": total == bound}
            return verdicts[comparison]
    raise TypeError(f"{type(node).__name__} depends on labels")


def _words(condition: WordCondition, batch: Sequences) -> Bits | None:
    """Ask once for each word type that occurs; a part of a corpus shares the types of the whole."""
    if len(batch.types) <= len(batch.token_ids):
        found = condition.accepted(batch.types)
        return np.array(found, bool)[batch.token_ids] if any(found) else None
    accepted = np.zeros(len(batch.types), bool)
    used = np.flatnonzero(np.bincount(batch.token_ids, minlength=len(accepted)))
    accepted[used] = condition.accepted([batch.types[k] for k in used.tolist()])
    return accepted[batch.token_ids]


def _shifted(bits: Bits, offset: int, batch: Sequences) -> Bits:
    """Return bits[t + offset], False where that token is in another sequence or in none."""
    M = len(bits)
    if len(batch.indptr) == 2:
        found, n = np.zeros(M, bool), max(M - abs(offset), 0)
        if offset < 0:
            found[M - n :] = bits[:n]
        else:
            found[:n] = bits[M - n :]
        return found
    there = np.arange(M) + offset
    inside = (there >= 0) & (there < M)
    there[~inside] = 0
    inside &= batch.sequence[there] == batch.sequence if M else inside
    return inside & bits[there]


def _within(bits: Bits, first: int, last: int, batch: Sequences) -> Bits:
    """Return whether bits[u] is true for some u from t + first to t + last in the sequence of t."""
    upto = np.append(0, np.cumsum(bits))
    t, begin, end = np.arange(len(bits)), batch.indptr[batch.sequence], batch.indptr[batch.sequence + 1]
    return np.asarray(upto[np.clip(t + last + 1, begin, end)] > upto[np.clip(t + first, begin, end)])

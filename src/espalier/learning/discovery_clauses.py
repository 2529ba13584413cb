"""Rules counted over a whole labelled corpus at once: in how many places each applies, and in how many it is broken.

A *clause* is one place where a rule has something to say, and holds or is broken there:

| node           | clauses of a sequence                                             | broken                          |
|----------------|-------------------------------------------------------------------|---------------------------------|
| Implies        | tokens that meet condition and `given`, if the other is labelled  | the other label is wrong        |
| Later          | one, if `first` occurs                                            | no `second` behind its last     |
| Before         | segments of `first`, if `second` occurs                           | begins after a `second` ended   |
| Followed       | segments of `first`, if what is behind is labelled                | `second` is not right behind    |
| Once           | fields that occur                                                 | those that occur twice          |
| Linear         | one, if a counted field occurs or the comparison fails            | the comparison fails            |
| If             | those of `then`, where the condition holds                        | those of `then`                 |
| All            | those of all parts                                                | those of all parts              |
| any other node | one                                                               | its degree is not 0             |

A sequence has a broken clause exactly where `rules.meaning` gives the rule a degree above 0; a test holds the two
together. Only the last row of the table asks the meaning itself, sequence by sequence. The others are sums over a
few arrays, made once a field: segments, where the first ends and the last begins and ends, labels of tokens. After
that a rule costs O(N), or O(tokens with `given`) for Implies, instead of a compilation and N readings: about 10 µs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.rules import meaning
from espalier.rules import nodes as n
from espalier.rules.forms import PathTable
from espalier.rules.lowering import Plan, Sequences
from espalier.rules.predicates import Condition
from espalier.tags import OUTSIDE

__all__ = ["ClauseCounter", "Clauses"]

FAR = np.iinfo(np.int64).max
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]


class Clauses(NamedTuple):
    """The clauses of one rule in each of N sequences, and how many are broken; both int64[N]."""

    applies: Int
    broken: Int


class _Segments(NamedTuple):
    """The S segments of some fields in N sequences, in reading order.

    sequence, start : int64[S], where each is and begins; number : int64[N]; first_end : int64[N], where the first one
    ends (past every end if there is none); last_start, last_end : int64[N], -1 if there is none.
    """

    sequence: Int
    start: Int
    number: Int
    first_end: Int
    last_start: Int
    last_end: Int


class _Places(NamedTuple):
    """The C clauses of Implies nodes that differ in `fields` only.

    applies : int64[N]; sequence : int64[C], where each clause is; other : int64[C], the label that decides, L + 1 if
    it lies beyond an end.
    """

    applies: Int
    sequence: Int
    other: Int


class ClauseCounter:
    """Counts clauses in one labelled corpus; labels may be unknown here and there."""

    def __init__(self, corpus: Corpus) -> None:
        """Find all segments of all paths: O(M P)."""
        if corpus.y is None or corpus.labels is None:
            raise InputError("rules can be counted in labelled sequences only", hint="this corpus has no labels")
        self.N, self._corpus = len(corpus), corpus
        self._L = L = len(corpus.labels)
        # Unknown labels become label L, which is in no segment, as `O`.
        self._y = np.where(corpus.y < 0, L, corpus.y).astype(np.int64)
        self._names = corpus.labels.names
        self._table = PathTable.of((*self._names, OUTSIDE))
        self._tokens = Sequences.of_corpus(corpus)
        self._sequence, self._position = self._tokens.sequence, self._tokens.position
        self._begins, self._ends = self._borders()
        self._segments: dict[n.Fields, _Segments] = {}
        self._holds: dict[Condition, Bool] = {}
        self._places: dict[tuple[Condition, n.Fields, int], _Places] = {}
        self._inner: dict[n.Node, Clauses] = {}
        self._members: dict[n.Fields, Bool] = {}

    def count(self, node: n.Node) -> Clauses:
        """Return the clauses of a rule."""
        return _COUNTS.get(type(node), ClauseCounter._whole)(self, node)

    def _borders(self) -> tuple[Bool, Bool]:
        """Return at which tokens a segment of each path begins, and which are the last of one, bool[M, P] each."""
        table, y = self._table, self._y
        before = np.where(self._position == 0, len(table.names), np.roll(y, 1))
        inside, kept = table.inside[y], table.kept[before, y]
        goes_on = np.zeros_like(kept)
        goes_on[:-1] = kept[1:]
        return inside & ~kept, inside & ~goes_on

    def _of(self, fields: n.Fields) -> _Segments:
        found = self._segments.get(fields)
        if found is None:
            chosen = self._table.has_path(fields)
            begins, _ = np.nonzero(self._begins[:, chosen])
            ends, _ = np.nonzero(self._ends[:, chosen])
            sequence, start = self._sequence[begins], self._position[begins]
            over, end = self._sequence[ends], self._position[ends] + 1
            first_end, last_start, last_end = np.full(self.N, FAR), np.full(self.N, -1), np.full(self.N, -1)
            np.minimum.at(first_end, over, end)
            np.maximum.at(last_start, sequence, start)
            np.maximum.at(last_end, over, end)
            found = _Segments(sequence, start, self._sums(sequence), first_end, last_start, last_end)
            self._segments[fields] = found
        return found

    def _has_label(self, fields: n.Fields) -> Bool:
        """Return which labels are in the fields, bool[L + 2]; an unknown one never, one beyond the ends as `None`."""
        found = self._members.get(fields)
        if found is None:
            known = [fields.has_label(name) for name in self._names]
            found = self._members[fields] = np.array([*known, False, fields.has_label(None)])
        return found

    def _holding(self, condition: Condition) -> Bool:
        found = self._holds.get(condition)
        if found is None:
            found = self._holds[condition] = Plan.of((condition,)).ground(self._tokens)[:, 0]
        return found

    def _where(self, node: n.Implies) -> _Places:
        key = (node.condition, node.given, node.offset)
        found = self._places.get(key)
        if found is None:
            on = self._holding(node.condition)
            if node.given != n.ANYTHING:
                on = on & self._has_label(node.given)[self._y]
            at = np.flatnonzero(on)
            there = self._position[at] + node.offset
            inside = (there >= 0) & (there < self._corpus.lengths[self._sequence[at]])
            other = np.where(inside, self._y[np.where(inside, at + node.offset, at)], self._L + 1)
            known = other != self._L
            sequence = self._sequence[at[known]]
            found = self._places[key] = _Places(self._sums(sequence), sequence, other[known])
        return found

    def _sums(self, sequence: Int) -> Int:
        return np.bincount(sequence, minlength=self.N)

    def _implies(self, node: n.Implies) -> Clauses:
        places = self._where(node)
        has = self._has_label(node.fields)
        broken = self._sums(places.sequence[~has[places.other]])
        if node.phrase_goes_on is not None:
            t = np.flatnonzero(self._holding(node.phrase_goes_on))  # never the first token of a sequence
            apart = self._table.continued(node.fields)[self._y[t - 1], self._y[t]] == 0
            t = t[apart & has[self._y[t - 1]] & has[self._y[t]]]
            broken = broken + self._sums(self._sequence[t])
        return Clauses(places.applies, broken)

    def _linear(self, node: n.Linear) -> Clauses:
        total, occurs = np.zeros(self.N, np.int64), np.zeros(self.N, bool)
        for term in node.terms:
            counted = self._of(term.fields).number if term.unit == "segments" else self._tokens_in(term.fields)
            total += term.coefficient * counted
            occurs |= counted > 0
        compare = {"<=": np.greater, ">=": np.less, "==": np.not_equal}[node.comparison]
        broken = compare(total, node.bound)
        return Clauses((occurs | broken).astype(np.int64), broken.astype(np.int64))

    def _tokens_in(self, fields: n.Fields) -> Int:
        if fields == n.ANYTHING:
            return self._corpus.lengths
        return self._sums(self._sequence[self._has_label(fields)[self._y]])

    def _once(self, node: n.Once) -> Clauses:
        paths = self._table.paths
        groups = ([path in group for path in paths] for group in node.fields.groups(paths))
        begins = (np.nonzero(self._begins[:, np.array(group, bool)])[0] for group in groups)
        counts = [self._sums(self._sequence[at]) for at in begins]
        table = np.array(counts, np.int64).reshape(-1, self.N)
        return Clauses((table > 0).sum(axis=0), (table > 1).sum(axis=0))

    def _before(self, node: n.Before) -> Clauses:
        first, second = self._of(node.first), self._of(node.second)
        late = first.start >= second.first_end[first.sequence]
        return Clauses(np.where(second.number > 0, first.number, 0), self._sums(first.sequence[late]))

    def _followed(self, node: n.Followed) -> Clauses:
        at, _ = np.nonzero(self._ends[:, self._table.has_path(node.first)])
        inside = self._position[at] + 1 < self._corpus.lengths[self._sequence[at]]
        behind = np.where(inside, self._y[np.where(inside, at + 1, at)], self._L + 1)
        known = behind != self._L
        sequence, wrong = self._sequence[at[known]], ~self._has_label(node.second)[behind[known]]
        return Clauses(self._sums(sequence), self._sums(sequence[wrong]))

    def _later(self, node: n.Later) -> Clauses:
        first, second = self._of(node.first), self._of(node.second)
        occurs = first.number > 0
        broken = occurs & (second.last_start < first.last_end)
        return Clauses(occurs.astype(np.int64), broken.astype(np.int64))

    def _if(self, node: n.If) -> Clauses:
        on = self._part(node.condition).broken == 0
        then = self._part(node.then)
        return Clauses(then.applies * on, then.broken * on)

    def _all(self, node: n.All) -> Clauses:
        parts = [self._part(part) for part in node.parts]
        nothing = np.zeros(self.N, np.int64)
        return Clauses(sum((p.applies for p in parts), nothing), sum((p.broken for p in parts), nothing))

    def _part(self, node: n.Node) -> Clauses:
        """Return the clauses of a part of a rule; rules made from templates share theirs."""
        found = self._inner.get(node)
        if found is None:
            found = self._inner[node] = self.count(node)
        return found

    def _whole(self, node: n.Node) -> Clauses:
        corpus = self._corpus
        texts = [None] * self.N if corpus.documents is None else [d.text for d in corpus.documents]
        degrees = [meaning.degree(node, corpus.tokens(i), corpus.label_names(i), text=texts[i]) for i in range(self.N)]
        return Clauses(np.ones(self.N, np.int64), (np.array(degrees, np.int64).reshape(self.N) > 0).astype(np.int64))


_COUNTS: dict[type[n.Node], Callable[[ClauseCounter, Any], Clauses]] = {
    n.Implies: ClauseCounter._implies,
    n.Linear: ClauseCounter._linear,
    n.Once: ClauseCounter._once,
    n.Before: ClauseCounter._before,
    n.Followed: ClauseCounter._followed,
    n.Later: ClauseCounter._later,
    n.If: ClauseCounter._if,
    n.All: ClauseCounter._all,
}

"""Rules as expectations: what a compiled rule set says in sums over a chain.

Two kinds of rules have the form f(x, y) = Σ_t g_t(y_{t-1}, y_t), so that E[f] follows from the marginals of a chain:

    local rules    f is the violation degree itself;        E[f] <= rate · (the most it could be)
    count rules    f = a . n(y), one for every row of it;   E[f] <= b + rate

The second is a *relaxation*: the degree max(0, a . n(y) - b) is no sum over the chain, and its expectation may be
positive where E[f] <= b. Over a whole corpus it is a weak one (a sequence without a title makes up for one with two),
over one sequence a strong one. Rows limited by a condition on the input apply where it holds. Rules of the third form,
monitors, have no such sums: `unusable` names them.

A *multiplier* λ_j for each feature moves the potentials by -λ_j f_j, in O(M n L + C' m L²) for n and m charges and C'
kinds of transitions (matrix, conditions, group); a forward-backward pass then gives E[f] under p(y) e^{-λ·f} / Z.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.inference import Posterior
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled
from espalier.rules.forms import LocalForm

__all__ = ["ChainFeatures", "GroundedFeatures", "Moved", "unusable"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]


def unusable(compiled: Compiled) -> list[str]:
    """Return the names of the rules with a price that no sum over a chain expresses."""
    used = set(ChainFeatures.of(compiled).rule.tolist())
    return [
        rule.name
        for k, rule in enumerate(compiled.rules)
        if k not in used and rule.penalty != 0 and compiled.form[k] != "local"  # local and not used: never violated
    ]


@dataclass(frozen=True, slots=True, eq=False)
class ChainFeatures:
    """The J features of the usable rules of a set, as n charges on labels and m on pairs of neighbours.

    rule : int64[J], the rule of each feature; counts : bool[J], a . n(y) rather than a violation degree; bound :
    float64[J], the b of counts, else 0; gate : int64[J], the condition that switches a count on, -1 for always.
    charges : what labels and pairs add to a feature, which stands there for a rule. A bit of -1 always holds.
    """

    compiled: Compiled
    rule: Int
    counts: Bool
    bound: Float
    gate: Int
    charges: LocalForm

    @classmethod
    def of(cls, compiled: Compiled) -> ChainFeatures:
        """Collect the features of all local and linear rules; rules of penalty 0 are switched off and have none."""
        charges: list[tuple[int, int, Float]] = []  # feature, bit, [L + 1, L]
        rule: list[int] = []
        bound: list[float] = []
        gate: list[int] = []
        off = {k for k, r in enumerate(compiled.rules) if r.penalty == 0}
        for table in compiled.local_tables():
            if table.rule in off:
                continue
            if not rule or rule[-1] != table.rule:  # tables come by rule, and those of one rule add up
                rule.append(table.rule)
                bound.append(0.0)
                gate.append(-1)
            charges.append((len(rule) - 1, table.bit, _matrix(table.unary, table.pair, table.first)))
        n_local, form = len(rule), compiled.linear
        weights = np.tensordot(form.coefficients.astype(np.float64), form.values.astype(np.float64), axes=1)
        for r, k in enumerate(form.rule.tolist()):
            if k in off or not weights[r].any():  # decided by the input alone: nothing that a distribution could change
                continue
            charges.append((len(rule), int(form.gate[r]), weights[r]))
            rule.append(k)
            bound.append(float(form.bound[r]))
            gate.append(int(form.gate[r]))
        counts = np.arange(len(rule)) >= n_local
        stacked = LocalForm.of(charges, len(compiled.labels), np.float64)
        return cls(compiled, np.array(rule, np.int64), counts, np.array(bound), np.array(gate, np.int64), stacked)

    @property
    def J(self) -> int:
        """The number of features."""
        return len(self.rule)

    @property
    def names(self) -> list[str]:
        """The rule of every feature."""
        return [self.compiled.rules[k].name for k in self.rule.tolist()]

    def ground(self, corpus: Corpus) -> GroundedFeatures:
        """Meet the tokens of a corpus."""
        bits = self.compiled.ground_bits(corpus)
        bits = np.concatenate([bits, np.ones((len(bits), 1), bool)], axis=1)  # bit -1
        on = bits[:, self.charges.pair_bit]
        patterns, pattern = np.unique(np.packbits(on, axis=1), axis=0, return_inverse=True)
        unpacked = np.unpackbits(patterns, axis=1, count=on.shape[1]).astype(bool)
        if not len(on):
            unpacked = np.zeros((1, on.shape[1]), bool)  # a pattern that no token has
        first = corpus.indptr[:-1][corpus.lengths > 0]
        active = np.zeros((len(corpus), self.J), bool)
        active[corpus.lengths > 0] = bits[first][:, self.gate]  # a gate holds at every token of a sequence or at none
        grounded = GroundedFeatures(
            self, corpus.indptr, bits[:, self.charges.unary_bit], pattern.reshape(-1).astype(np.int64), unpacked,
            np.zeros((len(corpus), self.J)),
        )  # fmt: skip
        return replace(grounded, opportunities=np.where(self.counts, active, grounded.largest()))


def _matrix(unary: Int | None, pair: Int | None, first: Int | None) -> Float:
    """Return the charges of a local table as float64[L + 1, L], the last row being for a first label."""
    if unary is not None:
        return np.tile(unary.astype(np.float64), (len(unary) + 1, 1))
    assert pair is not None
    assert first is not None
    return np.concatenate([pair, first[None]]).astype(np.float64)


class Moved(NamedTuple):
    """Potentials moved by multipliers; its C' transition matrices are one for each kind of transition that occurs.

    group, origin, pattern : int64[C']; whose multipliers, which matrix before, which pattern of conditions.
    """

    batch: ChainBatch
    group: Int
    origin: Int
    pattern: Int

    def unmoved(self, posterior: Posterior, C: int) -> Posterior:
        """Return the posterior with expected transitions by the C matrices of the potentials before the move."""
        transitions = np.zeros((C, *posterior.transitions.shape[1:]))
        np.add.at(transitions, self.origin, posterior.transitions)
        return posterior._replace(transitions=transitions)


@dataclass(frozen=True, slots=True, eq=False)
class GroundedFeatures:
    """Features on the N sequences and M tokens of a corpus.

    unary_on : bool[M, n], where the charges on labels apply; pattern : int64[M] and patterns : bool[P, m], the same
    for pairs, most tokens having one of a few patterns. opportunities : float64[N, J], the most that a violation degree
    could be, token by token; of a count, whether it applies. An empty sequence has none.
    """

    features: ChainFeatures
    indptr: Int
    unary_on: Bool
    pattern: Int
    patterns: Bool
    opportunities: Float

    def __len__(self) -> int:
        """Return N."""
        return len(self.indptr) - 1

    def limits(self, rates: ArrayLike = 0.0) -> Float:
        """Return what E[f] may be at most in each sequence, float64[N, J]: the bounds, plus rates by opportunity.

        rates : float64[J] or one number, not negative.
        """
        allowed = np.asarray(rates, np.float64)
        if allowed.shape not in ((), (self.features.J,)) or not np.isfinite(allowed).all() or (allowed < 0).any():
            raise InputError(
                f"rates are {rates!r}", hint=f"expected finite numbers of at least 0, one or {self.features.J}"
            )
        applies = self.features.counts & (self.opportunities > 0)
        return np.where(applies, self.features.bound, 0.0) + allowed * self.opportunities

    def move(self, batch: ChainBatch, multipliers: Float, group: Int | None = None) -> Moved:
        """Return potentials minus multipliers · f.

        multipliers : float64[G, J], finite; group : int64[N], the row of each sequence, 0 if not given.
        """
        s, lengths = self.features.charges, np.diff(self.indptr)
        owner = np.zeros(len(self), np.int64) if group is None else group
        at = np.repeat(owner, lengths)  # [M]
        unary = batch.unary - (self.unary_on * multipliers[:, s.unary_rule][at]) @ s.unary
        begins = self.indptr[:-1][lengths > 0]
        on = self.patterns[self.pattern[begins]] * multipliers[:, s.pair_rule][at[begins]]
        unary[begins] -= on @ s.first
        C, P = len(batch.trans), len(self.patterns)
        kinds, trans_class = np.unique((at * C + batch.trans_class) * P + self.pattern, return_inverse=True)
        if not len(at):
            return Moved(batch, *np.zeros((3, C), np.int64))
        rows, origin, pattern = kinds // (C * P), kinds // P % C, kinds % P
        prices = self.patterns[pattern] * multipliers[:, s.pair_rule][rows]  # [C', m]
        trans = batch.trans[origin] - np.tensordot(prices, s.pair, axes=1)
        moved = replace(batch, unary=unary, trans=trans, trans_class=trans_class.reshape(-1).astype(np.int32))
        return Moved(moved, rows, origin, pattern)

    def expected(self, posterior: Posterior, moved: Moved, group: Int, G: int) -> Float:
        """Return E[f] of every group of sequences, float64[G, J], from the posterior of moved potentials."""
        f, s, lengths = self.features, self.features.charges, np.diff(self.indptr)
        total = np.zeros((G, f.J))
        at = np.repeat(group, lengths)
        charged = (posterior.marginals @ s.unary.T) * self.unary_on
        begins = self.indptr[:-1][lengths > 0]
        first = (posterior.marginals[begins] @ s.first.T) * self.patterns[self.pattern[begins]]
        entered = np.tensordot(posterior.transitions, s.pair, axes=((1, 2), (1, 2))) * self.patterns[moved.pattern]
        for where, feature, values in (
            (at, s.unary_rule, charged), (at[begins], s.pair_rule, first), (moved.group, s.pair_rule, entered),
        ):  # fmt: skip
            for j, column in zip(feature.tolist(), values.T, strict=True):
                total[:, j] += np.bincount(where, column, G)
        return total

    def values(self, y: NDArray[np.integer]) -> Float:
        """Return f of a labelling y : int[M] in each sequence, float64[N, J]; an unknown label (-1) adds nothing."""
        f, s, lengths = self.features, self.features.charges, np.diff(self.indptr)
        total = np.zeros((len(self), f.J))
        sequence, ids = np.repeat(np.arange(len(self)), lengths), np.asarray(y, np.int64)
        begins = np.zeros(len(ids), bool)
        begins[self.indptr[:-1][lengths > 0]] = True
        before = np.append(0, ids)[:-1]
        known = ids >= 0
        charged = s.unary[:, ids].T * self.unary_on * known[:, None]
        pairs = s.pair[:, before, ids].T * (known & (begins | (before >= 0)))[:, None]
        entered = np.where(begins[:, None], s.first[:, ids].T * known[:, None], pairs) * self.patterns[self.pattern]
        for feature, parts in ((s.unary_rule, charged), (s.pair_rule, entered)):
            for j, column in zip(feature.tolist(), parts.T, strict=True):
                total[:, j] += np.bincount(sequence, column, len(self))
        return total

    def largest(self) -> Float:
        """Return what f cannot exceed, float64[N, J]: the largest charge of each kind wherever it applies."""
        f, s, lengths = self.features, self.features.charges, np.diff(self.indptr)
        total = np.zeros((len(self), f.J))
        sequence = np.repeat(np.arange(len(self)), lengths)
        begins = np.zeros(len(sequence), bool)
        begins[self.indptr[:-1][lengths > 0]] = True
        alone = self.unary_on * s.unary.max(axis=1, initial=0.0)
        largest = np.where(begins[:, None], s.first.max(axis=1, initial=0.0), s.pair.max(axis=(1, 2), initial=0.0))
        for feature, most in ((s.unary_rule, alone), (s.pair_rule, largest * self.patterns[self.pattern])):
            for j, column in zip(feature.tolist(), most.T, strict=True):
                total[:, j] += np.bincount(sequence, column, len(self))
        return total

    def part(self, sequences: Int, batch: ChainBatch) -> tuple[GroundedFeatures, ChainBatch]:
        """Return some sequences, by number, with their potentials."""
        chosen, tokens = batch.chosen(sequences), batch.tokens_of(sequences)
        features = replace(
            self, indptr=chosen.indptr, unary_on=self.unary_on[tokens], pattern=self.pattern[tokens],
            opportunities=self.opportunities[sequences],
        )  # fmt: skip
        return features, chosen

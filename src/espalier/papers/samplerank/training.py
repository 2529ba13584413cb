"""SampleRank: learning inside a random walk over labellings (Wick et al. 2009), with rules for unlabelled text.

Singh, Yao, Riedel & McCallum (2010), "Constraint-driven rank-based learning for information extraction". The walk
proposes small changes of a labelling; whenever the model ranks the two labellings otherwise than a truth function F,

    w += α (f(a) - f(b))        where F(a) > F(b) but s(a) - s(b) <= margin

On labelled sequences F = -loss(y, gold). On unlabelled ones, with ŷ the labels that the supervised model gave them,

    self        -loss(y, ŷ)                             cons         Σ_k p_k c_k(y)
    self+cons   -loss(y, ŷ) + λ_s Σ_k p_k c_k(y)        model+cons   s(x, y) + λ_m Σ_k p_k c_k(y)

c_k sums +1 for every place that keeps rule k and -1 for every violation, that is, a number which the text alone decides
minus 2 d_k(x, y); the number cancels in every comparison, so F takes -2 d_k. (Where labels decide whether a rule
applies, a place where it does not counts as kept.) p_k is the rule's penalty, 1 unless set.

Where this departs from the paper: ties of the model count as wrong (else zero weights would never move), and a margin
may be asked for; F1 is that of the sequence at hand. Blocks make the proposals asymmetric and nobody corrects for it:
the walk is a source of pairs, not a sample of p(y | x). Rules are rescored where labels change, so only local and
linear ones can be taken (`RuleTables.of` names any other). Cost: see `espalier.papers.samplerank.kernels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.certify import gates
from espalier.decoders.counts import Conditions
from espalier.errors import InputError
from espalier.features.matrix import FeatureMatrix
from espalier.kernels import Averaged
from espalier.learning.perceptron import all_pairs, mean_of_steps, without_zeros
from espalier.models.linear import ChainModel
from espalier.papers.samplerank.kernels import samplerank_epoch
from espalier.rules.compile import Compiled
from espalier.tags import segments

__all__ = [
    "HARD",
    "TRUTHS",
    "Pass",
    "Proposals",
    "RuleTables",
    "SegmentTables",
    "Truth",
    "Walk",
    "mean_size",
    "truth_weights",
]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

HARD = 1e6
"""The strength of a hard rule in F: finite, so that two violations are worse than one, and above any loss."""

TRUTHS = ("self", "cons", "self+cons", "model+cons")


def truth_weights(truth: str, lambda_s: float, lambda_m: float) -> tuple[float, float, float]:
    """Return the weights of loss, model and rules in one of TRUTHS."""
    rules = {"self": 0.0, "cons": 1.0, "self+cons": lambda_s, "model+cons": lambda_m}[truth]
    return float(truth.startswith("self")), float(truth.startswith("model")), rules


def mean_size(matrix: FeatureMatrix) -> float:
    """Return the mean of ‖f_t‖² over tokens, the number of attributes of a token if their values are one.

    An update changes the score of a token's label by α ‖f_t‖²: the unit in which margins are natural.
    """
    inner = np.ones(len(matrix.bundle_ids)) if not len(matrix.bundle_values) else matrix.bundle_values**2
    outer = np.ones(len(matrix.token_refs)) if not len(matrix.token_values) else matrix.token_values**2
    bundle = np.repeat(np.arange(matrix.n_bundles), np.diff(matrix.bundle_indptr))
    sizes = np.concatenate([np.ones(matrix.n_attributes), np.bincount(bundle, inner, matrix.n_bundles)])
    return float(outer @ sizes[matrix.token_refs]) / max(matrix.n_tokens, 1)


class SegmentTables(NamedTuple):
    """How labels form segments, at leaf level.

    field : int64[L], equal numbers for labels of one field, -1 outside; opens : bool[L + 1, L], does j after i (i = L:
    nothing) open a segment; follows : int16[L], the label that continues a segment of each label.
    """

    field: Int
    opens: NDArray[np.bool_]
    follows: NDArray[np.int16]

    @classmethod
    def of(cls, labels: Labels) -> SegmentTables:
        """Ask `tags.segments` about every pair of labels."""
        alone = [segments([name], leaves=True) for name in labels]
        paths = [found[0].label if found else None for found in alone]
        numbers = {path: k for k, path in enumerate(dict.fromkeys(p for p in paths if p is not None))}
        pairs = [[any(s.start for s in segments([i, j], leaves=True)) for j in labels] for i in labels]
        opens = np.array([*pairs, [path is not None for path in paths]], bool).reshape(len(labels) + 1, len(labels))
        fields = np.array([-1 if path is None else numbers[path] for path in paths], np.int64)
        # A label goes on as one of its field that opens nothing after it; outside, and single tags, repeat themselves.
        goes_on = (fields[:, None] == fields) & ~opens[:-1]
        follows = np.where(goes_on.any(axis=1), goes_on.argmax(axis=1), np.arange(len(labels)))
        return cls(fields, opens, follows.astype(np.int16))


class RuleTables(NamedTuple):
    """Rules as charges that a changed label looks up; see `rule_change`.

    unary_pattern, pair_pattern : int64[M]; unary_charge : float64[P, L]; pair_charge : float64[Q, L + 1, L];
    row_values : int64[L + 1, L, R]; bound : int64[R]; price : float64[N, R] or [1, R], 0 where a row does not apply.
    """

    unary_pattern: Int
    unary_charge: Float
    pair_pattern: Int
    pair_charge: Float
    row_values: Int
    bound: Int
    price: Float

    @classmethod
    def none(cls, n_tokens: int, n_labels: int) -> RuleTables:
        """Return the tables of no rules."""
        L, nowhere = n_labels, np.zeros(n_tokens, np.int64)
        return cls(
            nowhere, np.zeros((1, L)), nowhere, np.zeros((1, L + 1, L)),
            np.zeros((L + 1, L, 0), np.int64), np.zeros(0, np.int64), np.zeros((1, 0)),
        )  # fmt: skip

    @classmethod
    def of(cls, compiled: Compiled, corpus: Corpus, strengths: Float | None = None) -> RuleTables:
        """Meet a corpus; strengths : float64[K], the p_k, those of the rules if None."""
        p = compiled.check_penalties(strengths)
        p = np.where(np.isinf(p), HARD, p)
        odd = [rule.name for rule, form in zip(compiled.rules, compiled.form, strict=True) if form == "monitor"]
        if odd:
            raise InputError(
                f"rule {odd[0]!r} looks further than two neighbouring labels and counts of segments, and SampleRank "
                "rescores changed labels only",
                hint=f"leave it out: rules.without({', '.join(map(repr, odd))})",
            )
        bits = compiled.ground_bits(corpus)
        local, linear, L = compiled.local, compiled.linear, len(compiled.labels)
        unary = Conditions.of(bits[:, local.unary_bit])
        pair = Conditions.of(bits[:, local.pair_bit])
        pairs = np.concatenate([local.pair, local.first[:, None]], axis=1)  # [m, L + 1, L]
        values = np.tensordot(linear.values.astype(np.int64), linear.coefficients, axes=([0], [1]))
        return cls(
            unary.pattern,
            (unary.patterns * p[local.unary_rule]) @ local.unary.astype(np.float64),
            pair.pattern,
            np.tensordot(pair.patterns * p[local.pair_rule], pairs.astype(np.float64), axes=1),
            np.ascontiguousarray(values.reshape(L + 1, L, len(linear.bound))),
            linear.bound,
            _row_prices(compiled, corpus, bits, p),
        )

    def after(self, n_sequences: int, n_tokens: int) -> RuleTables:
        """Return the tables for a corpus in front of which so many sequences and tokens stand, without rules."""
        unary, pair = (np.pad(p, (n_tokens, 0)) for p in (self.unary_pattern, self.pair_pattern))
        price = self.price if len(self.price) == 1 else np.pad(self.price, ((n_sequences, 0), (0, 0)))
        return RuleTables(unary, self.unary_charge, pair, self.pair_charge, self.row_values, self.bound, price)


def _row_prices(compiled: Compiled, corpus: Corpus, bits: NDArray[np.bool_], p: Float) -> Float:
    """Return the price of every row for each sequence; a gate holds at every token of a sequence or at none."""
    linear = compiled.linear
    price = p[linear.rule][None]
    if (linear.gate < 0).all() or not len(corpus):
        return price
    return np.where(gates(compiled, corpus, bits), price, 0.0)


class Proposals(NamedTuple):
    """How the walk goes.

    block : the longest stretch that a proposal relabels; temperature : τ of accepting a labelling that the model likes
    less; alpha : the step; by_segments : the loss is 1 - F1 of segments, not the number of wrong tokens; boundaries :
    learn scores of first and last labels too.
    """

    block: int = 1
    temperature: float = 1.0
    alpha: float = 1.0
    by_segments: bool = False
    boundaries: bool = False


class Truth(NamedTuple):
    """What is known about N sequences of M tokens, and how much each teaches.

    gold : int16[M], what the loss compares with, -1 not judged; kappa : float64[N, 3], the weights of loss, model and
    rules in F; sweeps : int64[N], proposals a token in one visit; margin : float64[N], by how much the model must be
    right; omega : float64[N], sample weights; rules : their tables.
    """

    gold: NDArray[np.int16]
    kappa: Float
    sweeps: Int
    margin: Float
    omega: Float
    rules: RuleTables


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass over some sequences did."""

    proposals: int
    updates: int
    moves: int


class Walk:
    """Weights, and a labelling of every sequence, on their way; `run` takes them further.

    y : int16[M], the labels; weights : of attributes, transitions, first and last labels; steps : proposals so far.
    """

    def __init__(
        self,
        matrix: FeatureMatrix,
        indptr: Int,
        allowed: tuple[NDArray[np.bool_], NDArray[np.bool_]],
        segments: SegmentTables,
        proposals: Proposals,
        rng: np.random.Generator,
    ) -> None:
        """Begin with zero weights.

        Every attribute has a weight with every label. allowed : bool[L] and bool[L, L], first labels and transitions
        that may be; rng : orders the visits and seeds the kernel's own generator.
        """
        self._matrix, self._indptr, self._segments = matrix, indptr, segments
        self._pairs, self._rng = all_pairs(matrix.n_attributes, len(allowed[0])), rng
        # Numbers of one type each, so that the kernel is compiled once.
        temperature, alpha = float(proposals.temperature), float(proposals.alpha)
        self._proposals = proposals._replace(block=int(proposals.block), temperature=temperature, alpha=alpha)
        self._state = rng.integers(1, 2**63, 1, dtype=np.uint64)
        start, trans = (np.where(may_be, 0.0, -np.inf) for may_be in allowed)
        self.restart([np.zeros(len(self._pairs)), trans, start, np.zeros(len(start))])

    def restart(self, weights: Sequence[Float]) -> None:
        """Forget the averages and begin with these weights, every sequence at its best labelling under them."""
        self.weights = [part.copy() for part in weights]
        self._sums = [np.zeros_like(part) for part in weights]
        self.steps = 0
        self.y = self.model().tag(self._matrix, self._indptr)[0]

    def run(self, truth: Truth, sequences: Int) -> Pass:
        """Visit these sequences in a random order."""
        learned = Averaged(*(array for pair in zip(self.weights, self._sums, strict=True) for array in pair))
        found = samplerank_epoch(
            self._state, self._rng.permutation(sequences), self.steps, self._proposals, truth, self._segments,
            self._indptr, self.y, self._matrix.levels, learned,
        )  # fmt: skip
        done = Pass(*(int(number) for number in found))
        self.steps += done.proposals
        return done

    def averaged(self) -> list[Float]:
        """Return the mean of the weights after every proposal since the last restart."""
        return [mean_of_steps(w, u, self.steps) for w, u in zip(self.weights, self._sums, strict=True)]

    def model(self, weights: Sequence[Float] | None = None) -> ChainModel:
        """Return a model of the given weights, by default the current ones."""
        w, trans, start, end = self.weights if weights is None else weights
        kept, w = without_zeros(self._pairs, w)
        return ChainModel(kept, w, trans.copy(), start.copy(), end.copy())

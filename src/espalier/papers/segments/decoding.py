"""Segmentations under rules: fold what is local, list the rest lazily.

    max over segmentations g of  s(x, g) - Σ_k ρ_k d_k(x, y(g))

Rules speak about the labels y(g) of tokens, not about segments: of plain labels two neighbouring segments of one label
are one run, so a border between them is no change of label. With `tags` a segment has one label at its first token and
another at the others (B- and I-), and neighbouring segments stay apart.

Local rules go into the scores. What a rule charges inside a segment is a sum over its tokens, a difference of running
sums; what it charges at a border depends on both labels and on the place, for which segment potentials have no room.
So each label has two states, 'after another label' and 'after itself', and each pays the least that a border of its
kind may cost: exact for rules about a change of label, a lower bound of the charge for others.

The rest is listed: let F_1 >= F_2 >= ... be the folded scores in falling order and S_m <= F_m what all rules leave of
them. A segmentation beyond the m-th has S <= F_m, so the best of m is the best of all once its S >= F_m; the list grows
until then, at most to `max_paths`. Exact for any rule while the list lasts. Cost O(T (D L + L²) m log m) a list of m.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier import inference
from espalier.corpus import Corpus
from espalier.decoders.base import checked_count, price
from espalier.decoders.certify import BatchDecoding, tolerance
from espalier.errors import InputError
from espalier.papers.segments.potentials import SegmentBatch, SegmentPotentials
from espalier.rules.compile import Compiled, Grounded, degrees_of

__all__ = ["BestSegmentations", "SegmentDecoding", "best_segmentations", "decode_segments"]

Float: TypeAlias = NDArray[np.float64]
Int: TypeAlias = NDArray[np.int64]
Bool: TypeAlias = NDArray[np.bool_]

GROWTH, MOST_PATHS = 4, 1024
"""How much longer each list is than the one before, and the longest."""


@dataclass(frozen=True, slots=True, eq=False)
class SegmentDecoding(BatchDecoding):
    """The best segmentations: `labels` are fields, and starts : bool[M] says where segments begin.

    rounds : lists made; nodes : segmentations listed. A sequence without an answer has labels -1 and no starts.
    """

    starts: Bool = field(default_factory=lambda: np.zeros(0, bool))


class BestSegmentations(NamedTuple):
    """Segmentations of one sequence, best first: labels : int16[n, T]; starts : bool[n, T]; scores minus penalties.

    rest : no segmentation but these scores more; lists, nodes : lists made, and segmentations listed.
    """

    labels: NDArray[np.int16]
    starts: Bool
    scores: list[float]
    rest: float
    lists: int
    nodes: int


def decode_segments(
    batch: SegmentBatch,
    compiled: Compiled,
    corpus: Corpus,
    penalties: ArrayLike | None = None,
    *,
    tags: ArrayLike | None = None,
    max_paths: int = MOST_PATHS,
) -> SegmentDecoding:
    """Decode every sequence of a batch of segment potentials under a compiled rule set.

    corpus : the tokens of the batch. tags : int[2, L], which of the rules' labels the first token of a segment of each
    field has, and which the others; without them the rules' labels are the fields. max_paths : the longest list; where
    it proves nothing the answer is the best of it, and the bound its last score.
    """
    rho = compiled.check_penalties(penalties)
    if len(corpus) != len(batch) or not np.array_equal(corpus.indptr, batch.indptr):
        raise InputError(f"{len(batch)} sequences of potentials but {len(corpus)} of tokens, or of other lengths")
    first, inside = _checked_tags(tags, batch.n_labels, len(compiled.labels))
    longest, N, M = checked_count(max_paths, "max_paths"), len(batch), len(batch.score)
    found = SegmentDecoding(
        np.full(M, -1, np.int16), np.full(N, -np.inf), np.full(N, -np.inf), np.zeros(N, np.int64),
        np.zeros(N, np.int64), starts=np.zeros(M, bool),
    )  # fmt: skip
    for i, grounded in enumerate(compiled.ground_corpus(corpus)):
        tokens = slice(int(batch.indptr[i]), int(batch.indptr[i + 1]))
        best = _Search(batch[i], grounded, rho, first, inside).listed(1, longest)
        if len(best.scores):
            found.labels[tokens], found.starts[tokens] = best.labels[0], best.starts[0]
            found.scores[i], found.bounds[i] = best.scores[0], max(best.scores[0], best.rest)
        else:
            found.bounds[i] = best.rest
        found.rounds[i], found.nodes[i] = best.lists, best.nodes
    return found


def best_segmentations(potentials: SegmentPotentials, grounded: Grounded, tags: ArrayLike, k: int) -> BestSegmentations:
    """Return the k best segmentations of one sequence under its rules; tags : as of `decode_segments`."""
    first, inside = _checked_tags(tags, potentials.n_labels, len(grounded.compiled.labels))
    search = _Search(potentials, grounded, grounded.compiled.rules.penalties, first, inside)
    return search.listed(checked_count(k, "k"), max(MOST_PATHS, k))


def _checked_tags(tags: ArrayLike | None, L: int, C: int) -> tuple[Int, Int]:
    """Return the rules' label of a first token and of the others by field, int64[L] each."""
    chosen = np.tile(np.arange(L), (2, 1)) if tags is None else np.asarray(tags, np.int64)
    if chosen.shape != (2, L):
        raise InputError(
            f"tags have shape {chosen.shape}", hint=f"expected (2, {L}): a first label and another for each field"
        )
    if (tags is None and L != C) or (chosen < 0).any() or (chosen >= C).any():
        raise InputError(
            f"potentials of {L} fields, but rules for {C} labels", hint="say by tags= which belongs to which"
        )
    return chosen[0], chosen[1]


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """One sequence: potentials, rules, prices, and the rules' labels of first and of other tokens of each field."""

    potentials: SegmentPotentials
    grounded: Grounded
    rho: Float
    first: Int
    inside: Int

    def listed(self, k: int, longest: int) -> BestSegmentations:
        """Return the k best of a list of at most `longest` segmentations."""
        if not self.grounded.T:
            empty, paid = np.zeros((1, 0), np.int16), self._paid(np.zeros(0, np.int16), np.zeros(0, bool))
            kept = int(paid < np.inf)
            return BestSegmentations(empty[:kept], empty[:kept] > 0, [-paid][:kept], -np.inf, 0, 0)
        L, folded = self.potentials.n_labels, self._folded()
        m, lists, nodes = k, 0, 0
        while True:
            found = inference.k_best(folded, m, allow_infeasible=True)
            n = int(np.isfinite(found.scores[0]).sum())
            labels = np.where(found.labels < 0, -1, found.labels % L).astype(np.int16)
            scores = [self._score(labels[r], found.starts[r]) for r in range(n)]
            best = [r for r in sorted(range(n), key=lambda r: -scores[r]) if scores[r] > -np.inf][:k]
            # Beyond the list nothing scores more than its last; beyond a list of everything there is nothing.
            rest = float(found.scores[0, n - 1]) if n == m else -np.inf
            lists, nodes = lists + 1, nodes + n
            last = scores[best[-1]] if len(best) == k else -np.inf
            if last >= rest - tolerance(rest) or m >= longest:
                return BestSegmentations(
                    labels[best], found.starts[best], [scores[r] for r in best], rest, lists, nodes
                )
            m = min(GROWTH * m, longest)

    def _score(self, labels: NDArray[np.int16], starts: Bool) -> float:
        """Return the score of a segmentation minus all penalties."""
        p, begin = self.potentials, np.flatnonzero(starts)
        last = np.append(begin[1:], len(labels)) - 1
        y = labels[begin].astype(np.int64)
        score = p.score[last, last - begin, y].sum() + p.trans[y[:-1], y[1:]].sum() + p.start[y[0]] + p.end[y[-1]]
        return float(score) - self._paid(labels, starts)

    def _paid(self, labels: NDArray[np.int16], starts: Bool) -> float:
        """Return the penalties of the labelling that a segmentation reads as."""
        y = np.where(starts, self.first[labels], self.inside[labels])
        return price(degrees_of(self.grounded, y), self.rho)

    def _folded(self) -> SegmentPotentials:
        """Return potentials over 2 L states, L 'after another label' and L 'after itself', with local charges."""
        p, form, bits = self.potentials, self.grounded.compiled.local, self.grounded.bits
        T, L = p.n_tokens, p.n_labels
        hard = np.isinf(self.rho)
        score = p.score[:, : min(p.longest, T)]
        score = np.concatenate([score, score], axis=2)
        unary, pair = form.charged(bits, np.where(hard, 0.0, self.rho))
        score -= self._segment_charges(unary, pair, score.shape[1])
        if hard.any():
            unary, pair = form.charged(bits, hard.astype(np.float64))
            score[self._segment_charges(unary, pair, score.shape[1]) > 0.5] = -np.inf  # counts, but for rounding
        same = np.eye(L, dtype=bool)
        other_kind, own_kind = np.where(same, -np.inf, p.trans), np.where(same, p.trans, -np.inf)
        trans = np.tile(np.concatenate([other_kind, own_kind], axis=1), (2, 1))
        start = np.append(p.start, np.full(L, -np.inf))
        return SegmentPotentials(score, trans, start, np.append(p.end, p.end))

    def _segment_charges(self, unary: Any, pair: Any, D: int) -> Float:
        """Return what every segment is charged, border before it included, float64[T, D, 2 L].

        unary : [T, C] and pair : [T, C, C] or None, what labels and pairs that enter a token cost.
        """
        T, L = len(unary), len(self.first)
        opening, following = unary[:, self.first], unary[:, self.inside].copy()  # a segment's first token, the others
        second = following.copy()  # the token after the first: it is entered from the first label
        borders = np.zeros((T, 2 * L))
        if pair is not None:
            following += pair[:, self.inside, self.inside]
            second += pair[:, self.first, self.inside]
            borders[1:] = self._border_charges(pair[1:])
        following[0] = 0.0
        upto = np.cumsum(following, axis=0)
        charges = np.zeros((T, D, L))
        charges[:, 0] = opening
        for d in range(1, D):
            begin = np.arange(T - d)
            charges[d:, d] = opening[begin] + second[begin + 1] + upto[d:] - upto[begin + 1]
        whole = np.concatenate([charges, charges], axis=2)
        for d in range(D):
            whole[d:, d] += borders[: T - d]
        return whole

    def _border_charges(self, pair: Float) -> Float:
        """Return the least that a border into each token costs, float64[T - 1, 2 L], by the state behind it."""
        L = len(self.first)
        entered = pair[:, :, self.first]
        least = np.minimum(entered[:, self.first], entered[:, self.inside])  # [T - 1, field before, field]
        own = least[:, np.arange(L), np.arange(L)]
        others = np.where(np.eye(L, dtype=bool), np.inf, least).min(axis=1, initial=np.inf)
        return np.concatenate([np.where(np.isinf(others), 0.0, others), own], axis=1)

"""A compiled rule set on the tokens of one sequence: what decoders and learners ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import UNKNOWN
from espalier.errors import InputError
from espalier.lazy import cached_property
from espalier.rules import meaning
from espalier.rules.grounding import Bits, holds_when_empty
from espalier.rules.linear import Row
from espalier.rules.monitors import Monitor

if TYPE_CHECKING:
    from espalier.rules.compile import Compiled

__all__ = ["ChainScores", "Grounded", "degrees_of"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class ChainScores(Protocol):
    """What `fold` asks of potentials: a dataclass with these arrays."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def unary(self) -> Float:
        """float64[T, L]."""

    @property
    def trans(self) -> Float:
        """float64[L, L] or float64[T - 1, L, L]."""


Scores = TypeVar("Scores", bound=ChainScores)


@dataclass(frozen=True, eq=False)
class Grounded:
    """A compiled rule set that has met the tokens of one sequence.

    bits : bool[T, B], where its conditions hold.
    """

    compiled: Compiled
    tokens: tuple[str, ...]
    text: str | None
    bits: Bits

    @property
    def T(self) -> int:
        """The number of tokens."""
        return len(self.tokens)

    def local_unary(self, k: int) -> Int:
        """Return what local rule k charges for label l at token t, int64[T, L]."""
        return self._charged(k)[0]

    def local_pair(self, k: int) -> Int | None:
        """Return what local rule k charges for y_{t-1} = i, y_t = j, int64[T, L, L], row 0 unused; None if nothing."""
        return self._charged(k)[1]

    def _charged(self, k: int) -> tuple[Int, Int | None]:
        form = self.compiled.form[k]
        if form != "local":
            raise InputError(f"rule {self.compiled.rules[k].name!r} is not local; its form is {form!r}")
        return self.compiled.local.charged(self.bits, np.eye(self.compiled.K, dtype=np.int64)[k])

    def fold(self, potentials: Scores, penalties: ArrayLike | None = None) -> Scores:
        """Return potentials minus the penalties of all local rules; -inf where a hard one forbids."""
        rho = self.compiled.check_penalties(penalties)
        if potentials.unary.shape != (self.T, len(self.compiled.labels)):
            raise InputError(
                f"potentials of shape {potentials.unary.shape} for {self.T} tokens, {len(self.compiled.labels)} labels"
            )
        hard = np.isinf(rho)
        unary, pair = self.compiled.local.charged(self.bits, np.where(hard, 0.0, rho))
        new_unary = potentials.unary - unary
        new_trans = potentials.trans if pair is None else potentials.trans - pair[1:]
        if hard.any():
            unary, pair = self.compiled.local.charged(self.bits, hard.astype(np.int64))
            new_unary = np.where(unary > 0, -np.inf, new_unary)
            new_trans = new_trans if pair is None else np.where(pair[1:] > 0, -np.inf, new_trans)
        return replace(potentials, unary=new_unary, trans=new_trans)

    @cached_property
    def _bit_rows(self) -> list[list[bool]]:
        rows: list[list[bool]] = self.bits.tolist()
        return rows

    def monitor(self, k: int) -> Monitor:
        """Return the monitor of rule k, whatever its form."""
        return Monitor(self.compiled.machines[k], self._bit_rows)

    @property
    def features(self) -> NDArray[np.int16]:
        """The features of the linear rules, int16[F, L + 1, L]."""
        return self.compiled.features

    @cached_property
    def active(self) -> Int:
        """The numbers of the rows of `compiled.linear` that apply to these tokens."""
        gate = self.compiled.linear.gate
        if self.T:
            on = np.append(self.bits[0], True)  # gate -1 is always on
        else:
            on = np.array([holds_when_empty(c) for c in self.compiled.conditions] + [True])
        return np.flatnonzero(on[gate])

    @cached_property
    def rows(self) -> list[Row]:
        """The rows a . n(y) <= b of the linear rules that apply to these tokens."""
        form = self.compiled.linear
        return [Row(int(form.rule[r]), form.coefficients[r], int(form.bound[r])) for r in self.active]

    def counts(self, y: Sequence[int] | NDArray[Any]) -> Int:
        """Return n(y), int64[F]."""
        return self.compiled.linear.counts(self._labels(y, 0))

    def _labels(self, y: Sequence[int] | NDArray[Any], least: int) -> Int:
        ids = np.asarray(y, dtype=np.int64)
        if ids.shape != (self.T,):
            raise InputError(f"{self.T} tokens, but labels of shape {ids.shape}")
        wrong = np.flatnonzero((ids < least) | (ids >= len(self.compiled.labels)))
        if len(wrong):
            t = int(wrong[0])
            raise InputError(f"token {t} has label {ids[t]}, expected {least}..{len(self.compiled.labels) - 1}")
        return ids


def degrees_of(grounded: Grounded, y: Sequence[int] | NDArray[Any]) -> Int:
    """Return the degree of every rule for a labelling, int64[K], each by its cheapest form.

    Labels may be unknown (-1); then the reference meaning is asked, because forms read known labels only.
    """
    compiled = grounded.compiled
    ids = grounded._labels(y, UNKNOWN)
    if (ids == UNKNOWN).any():
        names = compiled.labels.decode(ids.tolist())
        return meaning.degrees(compiled.rules, grounded.tokens, names, text=grounded.text)
    degrees = compiled.local.degrees(grounded.bits, ids, compiled.K)
    degrees += compiled.linear.excess(ids, grounded.active, compiled.K)
    pairs = list(enumerate(zip([-1, *ids.tolist()], ids.tolist(), strict=False)))
    for k, form in enumerate(compiled.form):
        if form == "monitor":
            monitor = grounded.monitor(k)
            state = monitor.initial
            for t, (i, j) in pairs:
                state, increment = monitor.step(state, t, i, j)
                degrees[k] += increment
            degrees[k] += monitor.final(state)
    return degrees

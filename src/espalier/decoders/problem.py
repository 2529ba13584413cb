"""A decoding problem and the score of a labelling, from the definition.

    S(y) = s(x, y) - Σ_k ρ_k d_k(x, y)          (eq. 3-4 of Chang, Ratinov & Roth, 2012)

`evaluate` asks the reference meaning of the rules, so that no decoder is judged by its own arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Labels
from espalier.errors import InputError
from espalier.lazy import cached_property
from espalier.potentials import Potentials
from espalier.rules import meaning
from espalier.rules.compile import Grounded
from espalier.rules.ruleset import RuleSet

__all__ = ["Evaluation", "Problem", "evaluate", "price"]


class Evaluation(NamedTuple):
    """model_score : s(x, y); degrees : int64[K]; score : model_score minus penalties, -inf if a hard rule is broken."""

    model_score: float
    degrees: NDArray[np.int64]
    score: float


@dataclass(frozen=True, eq=False)
class Problem:
    """Potentials of one sequence, the rules grounded in its tokens, and what each rule costs.

    penalties : float64[K], the rule set's own if None.
    """

    potentials: Potentials
    grounded: Grounded
    penalties: NDArray[np.float64]

    def __init__(self, potentials: Potentials, grounded: Grounded, penalties: ArrayLike | None = None) -> None:
        """Check that the three speak of the same tokens, labels and rules."""
        labels = grounded.compiled.labels
        if potentials.n_tokens != len(grounded.tokens):
            raise InputError(f"potentials of {potentials.n_tokens} tokens, but {len(grounded.tokens)} tokens are given")
        if potentials.n_labels != len(labels):
            raise InputError(f"potentials of {potentials.n_labels} labels, but {len(labels)} label names are given")
        chosen = np.array(grounded.compiled.check_penalties(penalties))
        chosen.flags.writeable = False
        object.__setattr__(self, "potentials", potentials)
        object.__setattr__(self, "grounded", grounded)
        object.__setattr__(self, "penalties", chosen)

    @property
    def rules(self) -> RuleSet:
        """The K rules."""
        return self.grounded.compiled.rules

    @property
    def labels(self) -> Labels:
        """The L label names."""
        return self.grounded.compiled.labels

    @property
    def T(self) -> int:
        """The number of tokens."""
        return self.potentials.n_tokens

    @property
    def L(self) -> int:
        """The number of labels."""
        return self.potentials.n_labels

    @cached_property
    def folded(self) -> Potentials:
        """The potentials minus the penalties of all local rules; -inf where a hard one forbids."""
        local, bits, hard = self.grounded.compiled.local, self.grounded.bits, np.isinf(self.penalties)
        unary, pair = local.charged(bits, np.where(hard, 0.0, self.penalties))
        new_unary = self.potentials.unary - unary
        new_trans = self.potentials.trans if pair is None else self.potentials.trans - pair[1:]
        if hard.any():
            unary, pair = local.charged(bits, hard.astype(np.int64))
            new_unary = np.where(unary > 0, -np.inf, new_unary)
            new_trans = new_trans if pair is None else np.where(pair[1:] > 0, -np.inf, new_trans)
        return replace(self.potentials, unary=new_unary, trans=new_trans)

    @cached_property
    def globals(self) -> tuple[int, ...]:
        """The rules that cost something and are not local, by index: what `folded` does not know."""
        forms = self.grounded.compiled.form
        return tuple(k for k, form in enumerate(forms) if form != "local" and self.penalties[k] > 0)

    @cached_property
    def hard(self) -> tuple[int, ...]:
        """The hard rules, by index."""
        return tuple(int(k) for k in np.flatnonzero(np.isposinf(self.penalties)))

    def with_penalties(self, penalties: ArrayLike) -> Problem:
        """Return the same problem at other prices."""
        return Problem(self.potentials, self.grounded, penalties)

    def with_potentials(self, potentials: Potentials) -> Problem:
        """Return the same problem with other scores."""
        return Problem(potentials, self.grounded, self.penalties)

    def tempered(self) -> Problem:
        """Return scores and penalties divided by the temperature: P(y) ∝ exp S(y), and the best answer stays the best.

        Penalties are divided too: otherwise the most probable labelling would not be the one that decoders find.
        """
        heat = self.potentials.temperature
        if heat == 1.0:
            return self
        return Problem(self.potentials.tempered(), self.grounded, self.penalties / heat)


def price(degrees: NDArray[np.int64], penalties: NDArray[np.float64]) -> float:
    """Return Σ_k ρ_k d_k with 0 * inf = 0."""
    broken = degrees > 0
    return float((degrees[broken] * penalties[broken]).sum())


def evaluate(problem: Problem, y: Sequence[int] | NDArray[Any]) -> Evaluation:
    """Score a labelling from the definition: potentials, and the reference meaning of every rule."""
    model_score = problem.potentials.score(y)
    names = [problem.labels.names[i] for i in y]
    grounded = problem.grounded
    degrees = meaning.degrees(problem.rules, grounded.tokens, names, text=grounded.text)
    return Evaluation(model_score, degrees, model_score - price(degrees, problem.penalties))

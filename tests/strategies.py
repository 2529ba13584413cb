"""Hypothesis strategies: random problems small enough for `oracles` to enumerate.

Scores are integers (`exact=True`: sums are exact, ties are common) or floats; some are -inf, so that many problems
forbid much and some forbid everything. `scale` stretches finite scores.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from espalier.papers.segments.potentials import SegmentPotentials
from espalier.potentials import Potentials

MOST_STRUCTURES = 800


def score_arrays(shape: tuple[int, ...], *, exact: bool = False, scale: float = 1.0) -> st.SearchStrategy[np.ndarray]:
    """Draw float64 arrays of scores; about one in six entries is -inf, unless none is wanted for this array."""
    finite = st.integers(-2, 2).map(float) if exact else st.floats(-4.0, 4.0, allow_subnormal=False)
    finite = finite.map(lambda x: x * scale)
    entries = st.sampled_from((False,) * 5 + (True,)).flatmap(lambda no: st.just(-np.inf) if no else finite)
    return st.booleans().flatmap(lambda mixed: hnp.arrays(np.float64, shape, elements=entries if mixed else finite))


@st.composite
def chains(draw: st.DrawFn, *, exact: bool = False, scale: float = 1.0, min_tokens: int = 0) -> Potentials:
    """Draw a chain of 0..6 tokens and 1..4 labels; half of them have transitions that depend on the position."""
    L = draw(st.integers(1, 4))
    T = draw(st.integers(min_tokens, max(t for t in range(7) if L**t <= MOST_STRUCTURES)))
    by_position = draw(st.booleans())
    shapes = [(T, L), (max(T - 1, 0), L, L) if by_position else (L, L), (L,), (L,)]
    return Potentials(*(draw(score_arrays(shape, exact=exact, scale=scale)) for shape in shapes))


@st.composite
def segment_chains(
    draw: st.DrawFn, *, exact: bool = False, scale: float = 1.0, min_tokens: int = 0
) -> SegmentPotentials:
    """Draw a problem of 0..6 tokens, 1..3 labels and segments of up to 1..8 tokens, so D may exceed T."""
    L = draw(st.integers(1, 3))
    T = draw(st.integers(min_tokens, max(t for t in range(7) if L * (1 + L) ** (t - 1) <= MOST_STRUCTURES)))
    D = draw(st.integers(1, 8))
    shapes = [(T, D, L), (L, L), (L,), (L,)]
    return SegmentPotentials(*(draw(score_arrays(shape, exact=exact, scale=scale)) for shape in shapes))

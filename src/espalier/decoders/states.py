"""The best labelling by Viterbi over the product automaton of the global rules: compiled, for automata of many states.

What `product` does with a lattice of arrays, for one labelling and without the lattice: each field once over 13 labels
has 53,249 states, and 210 tokens take a third of a second. States that cannot lead above a labelling already known are
left out. Exact; O(T S L) time at most, O(T S) memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Decoding, Problem, WorkDone, certify, infeasible, tolerance
from espalier.decoders.lattice import priced
from espalier.kernels.automaton import automaton_path
from espalier.rules.automaton import Automaton, SizeError

__all__ = ["MOST_STATES", "automaton_of", "decode"]

MOST_STATES = 200_000
MOST_PLACES = 20_000_000  # states times tokens; four bytes each
PART_STATES = 2_000  # of one part of a rule, which is tabulated step by step


def automaton_of(problem: Problem) -> Automaton | None:
    """Return the automaton of a problem's global rules, None if it is too large; it is kept with the rules."""
    compiled, rules = problem.grounded.compiled, problem.globals
    size = compiled.automaton_size(rules, PART_STATES)
    if size is None or size > MOST_STATES or size * problem.T > MOST_PLACES:
        return None

    def built() -> Automaton | None:
        try:
            return compiled.automaton(rules, MOST_STATES)
        except SizeError:
            return None

    return compiled.remember(("automaton", rules), built)


def decode(problem: Problem, automaton: Automaton, known: Decoding | None = None) -> Decoding:
    """Return the best labelling; known : one that is possible, which prunes."""
    p, rho = problem.folded, problem.penalties[list(automaton.rules)]
    floor = -np.inf if known is None or known.labels is None else known.score - tolerance(known.score)
    if not problem.T:
        score = float(p.score([])) - float(priced(automaton.final[:1], rho)[0])
        return (
            infeasible(problem, "product", WorkDone()) if score == -np.inf else certify(problem, [], score, "product")
        )
    path: NDArray[np.int16] = np.empty(problem.T, np.int16)
    trans = p.trans[None] if p.trans.ndim == 2 else p.trans
    score, met = automaton_path(
        np.array(p.unary), np.array(trans) if len(trans) else np.zeros((1, problem.L, problem.L)), np.array(p.start),
        np.array(p.end), automaton.classes(problem.grounded.bits), automaton.label, automaton.next,
        automaton.increment_ids, priced(automaton.increment_rows, rho), priced(automaton.final, rho), floor, path,
    )  # fmt: skip
    work = WorkDone(nodes=int(met))
    if score == -np.inf:
        return infeasible(problem, "product", work)
    return certify(problem, path, float(score), "product", work)

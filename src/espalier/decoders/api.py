"""The front door: anybody's scores, rules as text or as a set, a method by name.

decode(potentials, rules, tokens=tokens, labels=labels)            the best labelling, with a certificate
explain(potentials, rules, tokens=tokens, labels=labels)           what the rules changed, and which of them
marginals(potentials, rules, tokens=tokens, labels=labels)         p(y_t = l) under the rules
sample(potentials, rules, n=10, tokens=tokens, labels=labels)      labellings drawn under the rules
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier import inference
from espalier.corpus import Labels
from espalier.decoders import conflict as conflicts
from espalier.decoders import gibbs, product, table
from espalier.decoders.base import Decoding, Problem, Status, infeasible
from espalier.decoders.explanation import Explanation
from espalier.decoders.explanation import explain as explain_problem
from espalier.decoders.lattice import LatticeTooLarge
from espalier.decoders.viterbi import Clamp, clamped
from espalier.errors import InputError
from espalier.potentials import Potentials
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.ruleset import Rule, RuleSet

__all__ = ["Marginals", "Rules", "Samples", "Scores", "decode", "explain", "marginals", "problem_of", "sample"]

Scores: TypeAlias = Potentials | ArrayLike | tuple[ArrayLike | None, ...]
"""Potentials, unary scores [T, L], or a tuple (unary, trans, start, end), the last three optional."""

Rules: TypeAlias = RuleSet | Rule | str | Compiled | None
"""Rules as a set, as one rule, as text, or already compiled for the labels."""


class Marginals(NamedTuple):
    """probabilities : p(y_t = l), float64[T, L]; log_z : None where it is unknown; method : exact or sampled, and how.

    exact : are they computed, rather than estimated from samples?
    """

    probabilities: NDArray[np.float64]
    log_z: float | None
    method: str
    exact: bool


class Samples(NamedTuple):
    """labels : int16[n, T]; method : how they were drawn; exact : are they independent draws?"""

    labels: NDArray[np.int16]
    method: str
    exact: bool


def problem_of(
    potentials: Scores,
    rules: Rules = None,
    *,
    tokens: Sequence[str] | None = None,
    labels: Labels | Sequence[str] | None = None,
    penalties: Mapping[str, float] | ArrayLike | None = None,
    text: str | None = None,
    clamp: Clamp | None = None,
) -> Problem:
    """Check what a user gave and make a Problem of it."""
    scores = _potentials(potentials)
    compiled = rules if isinstance(rules, Compiled) else _compiled(rules, _labels(labels, scores))
    if isinstance(rules, Compiled) and labels is not None and Labels(labels) != rules.labels:
        raise InputError("the rules were compiled for other labels, or for the same in another order")
    if tokens is None and compiled.K:
        raise InputError("rules speak about tokens", hint="pass tokens=, one string for each row of the unary scores")
    if isinstance(tokens, str):
        raise InputError("tokens is a string, not a list of tokens", hint="split it first")
    if clamp:
        scores = clamped(scores, clamp, compiled.labels)
    words = [""] * scores.n_tokens if tokens is None else list(tokens)
    if isinstance(penalties, Mapping):
        penalties = compiled.rules.with_penalties(penalties).penalties
    return Problem(scores, compiled.ground(words, text), penalties)


def decode(
    potentials: Scores,
    rules: Rules = None,
    *,
    tokens: Sequence[str] | None = None,
    labels: Labels | Sequence[str] | None = None,
    method: str = "auto",
    k: int = 1,
    penalties: Mapping[str, float] | ArrayLike | None = None,
    text: str | None = None,
    clamp: Clamp | None = None,
    relax: bool = False,
    **options: Any,
) -> Decoding:
    """Return the best labelling under the rules, or the k best, with a certificate.

    Parameters
    ----------
    potentials
        Log scores of T tokens and L labels: `Potentials`, unary scores of shape [T, L], or a tuple
        (unary, trans, start, end).
    rules
        A `RuleSet`, one rule, or their text.
    tokens
        One string for each row of the unary scores; rules need them.
    labels
        One name for each column of the unary scores; the numbers 0, 1, ... if not given.
    method
        "auto" tries the cheapest exact method first; any name of `espalier.decoders.DECODERS` takes that one.
    k
        How many labellings to return, the best first.
    penalties
        Other prices than the rules' own, by name, or all K in order.
    text
        What rules with `text ~` search; the tokens joined by spaces if not given.
    clamp
        Tokens whose label is known: `{0: "a", (3, 6): ("b", "c")}`.
    relax
        Where hard rules exclude each other, return the labels that violate them least, instead of none.
    **options
        Options of the method.

    Returns
    -------
    Decoding
        Labels, score, violations and a certificate. If no labelling is possible, the status of the certificate is
        INFEASIBLE, and it names hard rules that exclude each other.

    Raises
    ------
    InputError
        If scores, tokens and labels do not fit together, or a method does not take the rules.

    Examples
    --------
    >>> import espalier as es
    >>> scores = [[0.0, 1.0], [0.5, 0.0], [0.0, 1.0]]
    >>> answer = es.decode(scores, "Once: each field once [hard]", tokens=["a", "b", "c"], labels=["x", "y"])
    >>> answer.names()
    ['y', 'y', 'y']
    >>> str(answer.certificate.status)
    'optimal'
    """
    problem = problem_of(potentials, rules, tokens=tokens, labels=labels, penalties=penalties, text=text, clamp=clamp)
    found = table.run(problem, method, k=k, **options)
    return found if found.status is not Status.INFEASIBLE else _explained(problem, found, relax)


def explain(
    potentials: Scores,
    rules: Rules = None,
    *,
    tokens: Sequence[str] | None = None,
    labels: Labels | Sequence[str] | None = None,
    method: str = "auto",
    penalties: Mapping[str, float] | ArrayLike | None = None,
    text: str | None = None,
    clamp: Clamp | None = None,
    budget: int = 200,
) -> Explanation:
    """Return the answers without and with the rules side by side, and the smallest set of rules that makes the change.

    Parameters
    ----------
    potentials, rules, tokens, labels, method, penalties, text, clamp
        As for `decode`.
    budget
        How many decodings to spend on finding the smallest set of rules.

    Returns
    -------
    Explanation
        Both answers, what each rule does, and the rules that make the difference; printed, it is a table.

    Raises
    ------
    InfeasibleError
        If the rules allow no labelling.

    Examples
    --------
    >>> import espalier as es
    >>> scores = [[0.0, 1.0], [0.5, 0.0], [0.0, 1.0]]
    >>> found = es.explain(scores, "Once: each field once [hard]", tokens=["a", "b", "c"], labels=["x", "y"])
    >>> found.changed, found.cause
    ((1,), ('Once',))
    """
    problem = problem_of(potentials, rules, tokens=tokens, labels=labels, penalties=penalties, text=text, clamp=clamp)
    return explain_problem(problem, method=method, budget=budget)


def _explained(problem: Problem, found: Decoding, relax: bool) -> Decoding:
    """Say why nothing is possible and, if wanted, what breaks least."""
    why = conflicts.conflict(problem)
    nearest = conflicts.relax(problem) if relax else None
    names = () if why is None else why.rules
    y = None if nearest is None else nearest.labels
    return infeasible(problem, found.certificate.method, found.certificate.work, conflict=names, y=y)


def marginals(
    potentials: Scores,
    rules: Rules = None,
    *,
    tokens: Sequence[str] | None = None,
    labels: Labels | Sequence[str] | None = None,
    method: str = "auto",
    penalties: Mapping[str, float] | ArrayLike | None = None,
    text: str | None = None,
    clamp: Clamp | None = None,
    rng: np.random.Generator | int = 0,
    **options: Any,
) -> Marginals:
    """Return p(y_t = l) under p(y) ∝ exp(score minus penalties), at the temperature of the potentials.

    method : "exact" (forward-backward over the product automaton), "gibbs" (estimated; options sweeps, burn, window),
    or "auto": exact where the product automaton fits in `max_edges`. The result says which it was.
    """
    problem = problem_of(potentials, rules, tokens=tokens, labels=labels, penalties=penalties, text=text, clamp=clamp)
    problem = problem.tempered()
    exact, sampled = _split(method, options, {"max_edges"}, {"sweeps", "burn", "window"})
    if exact is not None:
        try:
            return Marginals(*_exact_posterior(problem, **exact), "exact", True)
        except LatticeTooLarge:
            if method == "exact":
                raise
    return Marginals(gibbs.marginals(problem, rng, **sampled), None, "gibbs", False)


def sample(
    potentials: Scores,
    rules: Rules = None,
    *,
    n: int = 1,
    tokens: Sequence[str] | None = None,
    labels: Labels | Sequence[str] | None = None,
    method: str = "auto",
    penalties: Mapping[str, float] | ArrayLike | None = None,
    text: str | None = None,
    clamp: Clamp | None = None,
    rng: np.random.Generator | int = 0,
    **options: Any,
) -> Samples:
    """Draw n labellings from p(y) ∝ exp(score minus penalties), at the temperature of the potentials.

    method : "exact" (independent draws over the product automaton), "gibbs" (a Markov chain; options burn, thin,
    window), or "auto": exact where the product automaton fits in `max_edges`. The result says which it was.
    """
    problem = problem_of(potentials, rules, tokens=tokens, labels=labels, penalties=penalties, text=text, clamp=clamp)
    problem = problem.tempered()
    exact, sampled = _split(method, options, {"max_edges"}, {"burn", "thin", "window"})
    generator = gibbs.generator(rng)
    if exact is not None:
        try:
            return Samples(product.sample(problem, n, generator, **exact), "exact", True)
        except LatticeTooLarge:
            if method == "exact":
                raise
    return Samples(gibbs.sample(problem, n, generator, **sampled), "gibbs", False)


def _exact_posterior(problem: Problem, **options: Any) -> tuple[NDArray[np.float64], float]:
    """Return marginals and log_z; without global rules the chain's own kernels do it."""
    if problem.globals or not problem.T:
        found = product.posterior(problem, **options)
        return found.marginals, found.log_z
    chain = inference.posterior(problem.folded)
    return chain.marginals, float(chain.log_z[0])


def _split(
    method: str, options: dict[str, Any], exact: set[str], sampled: set[str]
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Sort options by the way they belong to; the first is None if it must not be tried."""
    if method not in ("auto", "exact", "gibbs"):
        raise InputError(f"unknown method {method!r}", hint="use 'auto', 'exact' or 'gibbs'")
    for name in options:
        if name not in exact | sampled:
            raise InputError(f"unknown option {name!r}", hint=f"options: {', '.join(sorted(exact | sampled))}")
    first = {name: value for name, value in options.items() if name in exact}
    return None if method == "gibbs" else first, {name: v for name, v in options.items() if name in sampled}


def _potentials(scores: Scores) -> Potentials:
    """Return Potentials of anything that a user may call scores."""
    if isinstance(scores, Potentials):
        return scores
    if isinstance(scores, tuple):
        if not 1 <= len(scores) <= 4:
            raise InputError(f"a tuple of {len(scores)} arrays", hint="expected (unary, trans, start, end)")
        return Potentials(*scores)
    return Potentials(scores)


def _labels(labels: Labels | Sequence[str] | None, scores: Potentials) -> Labels:
    """Return the label names; numbers where none are given."""
    if isinstance(labels, Labels):
        return labels
    return Labels(map(str, range(scores.n_labels)) if labels is None else labels)


def _compiled(rules: RuleSet | Rule | str | None, labels: Labels) -> Compiled:
    """Compile rules in any form for the labels."""
    if isinstance(rules, str):
        chosen = RuleSet.from_text(rules, labels=labels)
    elif isinstance(rules, Rule):
        chosen = RuleSet([rules])
    elif rules is None or isinstance(rules, RuleSet):
        chosen = rules or RuleSet([])
    else:
        raise InputError(f"rules are a RuleSet or text, not {type(rules).__name__}")
    return compile_rules(chosen, labels)

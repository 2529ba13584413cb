"""The front door: anybody's scores, rules as text or as a set, a method by name.

decode(potentials, rules, tokens=tokens, labels=labels)            the best labelling, with a certificate; or of a batch
explain(potentials, rules, tokens=tokens, labels=labels)           what the rules changed, and which of them
marginals(potentials, rules, tokens=tokens, labels=labels)         p(y_t = l) under the rules
sample(potentials, rules, n=10, tokens=tokens, labels=labels)      labellings drawn under the rules
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier import inference
from espalier.corpus import Corpus, Labels
from espalier.decoders import product
from espalier.decoders.base import Decoding, Problem, Problems, checked_count, generator, infeasible
from espalier.decoders.certify import Status
from espalier.decoders.explanation import Explanation
from espalier.decoders.explanation import explain as explain_problem
from espalier.decoders.lattice import LatticeTooLarge
from espalier.decoders.many import Decodings, auto, decode_each, decode_together, gathered
from espalier.decoders.questions import Batch, Rules, Scores, compiled_for, problem_of
from espalier.decoders.score_forms import as_batch, is_batch, limited, per_sequence, tag_limits, tokens_of
from espalier.decoders.viterbi import Clamp, clamped_batch
from espalier.errors import InputError
from espalier.potentials import ChainBatch, Potentials

__all__ = ["Marginals", "Rules", "Samples", "Scores", "decode", "explain", "marginals", "problem_of", "sample"]

SWEEPS = 1000
"""Samples that marginals are estimated from."""


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


@overload
def decode(
    potentials: Potentials | tuple[ArrayLike | None, ...],
    rules: Rules = ...,
    *,
    tokens: Sequence[str] | None = ...,
    mask: None = ...,
    lengths: None = ...,
    **options: Any,
) -> Decoding: ...
@overload
def decode(
    potentials: ChainBatch | Sequence[Potentials],
    rules: Rules = ...,
    *,
    tokens: Sequence[Sequence[str]] | None = ...,
    **options: Any,
) -> Decodings: ...
@overload
def decode(potentials: Batch, rules: Rules = ..., **options: Any) -> Any: ...
def decode(
    potentials: Batch,
    rules: Rules = None,
    *,
    tokens: Any = None,
    labels: Labels | Sequence[str] | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    method: str = "auto",
    k: int = 1,
    penalties: Mapping[str, float] | ArrayLike | None = None,
    text: Any = None,
    clamp: Any = None,
    valid_tags: bool | None = None,
    relax: bool = False,
    threads: int | None = None,
    **options: Any,
) -> Decoding | Decodings:
    """Return the best labelling under the rules, or the k best, with a certificate: of one sequence, or of many.

    Parameters
    ----------
    potentials
        Log scores of T tokens and L labels: `Potentials`, unary scores of shape [T, L], or a tuple
        (unary, trans, start, end). Scores of many sequences: [N, T, L], alone or in such a tuple, or a list with one
        entry for each. Arrays may be NumPy's or any that it can read: tensors of PyTorch, arrays of JAX.
    rules
        A `RuleSet`, one rule, or their text.
    tokens
        One string for each row of the unary scores; rules need them. Of a batch, one list for each sequence.
    labels
        One name for each column of the unary scores; the numbers 0, 1, ... if not given.
    mask
        Of a batch [N, T, L]: true at tokens and false at padding, [N, T]. Tokens may stand anywhere.
    lengths
        Of a batch [N, T, L], instead of a mask: how many of the T places are tokens.
    method
        "auto" tries the cheapest exact method first; any name of `espalier.decoders.DECODERS` takes that one, and so
        does the place of a `Decoder` of your own, "module:object".
    k
        How many labellings to return, the best first.
    penalties
        Other prices than the rules' own, by name, or all K in order.
    text
        What rules with `text ~` search; the tokens joined by spaces if not given. Of a batch, a list.
    clamp
        Tokens whose label is known: `{0: "a", (3, 6): ("b", "c")}`. Of a batch, a list, with None for no such token.
    valid_tags
        Leave out labellings in which an I- tag has nothing to continue. By default where labels are B-, I- and O tags;
        the answer says whether (`valid_tags`). False for models of another scheme, or to see what they say.
    relax
        Where hard rules exclude each other, return the labels that violate them least, instead of none.
    threads
        Of a batch; by default as many as its size is worth. Answers do not depend on it.
    **options
        Options of the method.

    Returns
    -------
    Decoding
        Labels, score, violations and a certificate. If no labelling is possible, the status of the certificate is
        INFEASIBLE, and it names hard rules that exclude each other. Of a batch, `Decodings`: a sequence of them, with
        labels and scores as arrays.

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
    >>> es.decode([scores, scores[:2]], labels=["x", "y"]).names()
    [['y', 'x', 'y'], ['y', 'x']]
    """
    if is_batch(potentials):
        scores = as_batch(potentials, mask, lengths, None if labels is None else len(labels))
        compiled = compiled_for(rules, labels, scores.batch.n_labels)
        corpus = tokens_of(tokens, scores.batch.indptr, scores.places, needed=compiled.K > 0)
        texts = per_sequence(text, len(corpus), "text")
        batch = clamped_batch(scores.batch, per_sequence(clamp, len(corpus), "clamp"), compiled.labels)
        limits = tag_limits(compiled.labels, valid_tags)
        rho = compiled.rules.with_penalties(penalties).penalties if isinstance(penalties, Mapping) else penalties
        problems = Problems.of(limited(batch, limits), compiled, corpus, rho, texts=texts)
        if method == "auto" and k == 1 and all(each is None for each in texts):
            found = _together(problems, corpus, relax, threads, options)
        else:
            found = gathered(problems, _answers(problems, method, k, relax, threads, options))
        return replace(found, valid_tags=limits is not None, places=scores.places)
    if mask is not None or lengths is not None:
        raise InputError("mask and lengths are for batches of shape (sequences, tokens, labels)")
    one: Any = potentials  # no batch
    problem = problem_of(
        one, rules, tokens=tokens, labels=labels, penalties=penalties, text=text, clamp=clamp, valid_tags=valid_tags
    )
    (answer,) = _answers(Problems.of_one(problem), method, k, relax, 1, options)
    return answer if tag_limits(problem.labels, valid_tags) is None else replace(answer, valid_tags=True)


def _answers(
    problems: Problems, method: str, k: int, relax: bool, threads: int | None, options: dict[str, Any]
) -> list[Decoding]:
    """Return the answer to each problem; where nothing is possible, with the reason."""
    if method == "auto":
        _check_options(options)
        found = decode_each(problems, k=k, threads=threads, **options)
    else:
        from espalier.decoders import table

        found = [table.run(problems.one(i), method, k=k, **options) for i in range(len(problems))]
    return [_explained(problems.one(i), answer, relax) for i, answer in enumerate(found)]


def _together(
    problems: Problems, corpus: Corpus, relax: bool, threads: int | None, options: dict[str, Any]
) -> Decodings:
    """Do the same for a batch, as arrays."""
    _check_options(options)
    finish = partial(_explained, relax=relax)
    found = decode_together(problems, corpus, finish, threads=threads, **options)
    for i, certificate in enumerate(found.certificates if relax else ()):
        nearest = found[i].labels if certificate.status is Status.INFEASIBLE else None
        if nearest is not None:
            found.labels[found.indptr[i] : found.indptr[i + 1]] = nearest
    return found


def _check_options(options: dict[str, Any]) -> None:
    """Refuse options that "auto" does not have."""
    if options:
        from espalier.decoders import table

        table.check_options("auto", auto, options)


def _explained(problem: Problem, found: Decoding, relax: bool) -> Decoding:
    """Say why nothing is possible, where that is so, and what breaks least, if wanted."""
    if found.status is not Status.INFEASIBLE:
        return found
    from espalier.decoders import conflict as conflicts

    why = conflicts.conflict(problem)
    nearest = conflicts.relaxed(Problems.of_one(problem))[0] if relax else None
    names = () if why is None else why.rules
    return infeasible(problem, found.certificate.method, found.certificate.work, conflict=names, y=nearest)


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
    valid_tags: bool | None = None,
    budget: int = 200,
) -> Explanation:
    """Return the answers without and with the rules side by side, and the smallest set of rules that makes the change.

    Parameters
    ----------
    potentials, rules, tokens, labels, method, penalties, text, clamp, valid_tags
        As for `decode`, of one sequence.
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
    problem = problem_of(
        potentials,
        rules,
        tokens=tokens,
        labels=labels,
        penalties=penalties,
        text=text,
        clamp=clamp,
        valid_tags=valid_tags,
    )  # fmt: skip
    return explain_problem(problem, method=method, budget=budget)


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
    valid_tags: bool | None = None,
    rng: np.random.Generator | int = 0,
    **options: Any,
) -> Marginals:
    """Return p(y_t = l) under p(y) ∝ exp(score minus penalties), at the temperature of the potentials.

    method : "exact" (forward-backward over the product automaton), the name of a decoder that samples, as "gibbs"
    (estimated from `sweeps` samples, 1000 if not given; more options are the sampler's), or "auto": exact where the
    product automaton fits in `max_edges`. The result says which it was.
    """
    problem = problem_of(
        potentials,
        rules,
        tokens=tokens,
        labels=labels,
        penalties=penalties,
        text=text,
        clamp=clamp,
        valid_tags=valid_tags,
    )  # fmt: skip
    problem = problem.tempered()
    exact, sampled = _split(method, options, "sweeps")
    if exact is not None:
        try:
            return Marginals(*_exact_posterior(problem, **exact), "exact", True)
        except LatticeTooLarge:
            if method == "exact":
                raise
    n = checked_count(sampled.pop("sweeps", SWEEPS), "sweeps")
    drawn = _drawn(problem, method, n, rng, sampled)
    shares = (drawn.labels[:, :, None] == np.arange(problem.L)).mean(axis=0)  # their error falls as 1 / sqrt(n)
    return Marginals(shares, None, drawn.method, False)


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
    valid_tags: bool | None = None,
    rng: np.random.Generator | int = 0,
    **options: Any,
) -> Samples:
    """Draw n labellings from p(y) ∝ exp(score minus penalties), at the temperature of the potentials.

    method : "exact" (independent draws over the product automaton), the name of a decoder that samples, as "gibbs" (a
    Markov chain; options burn, thin, window), or "auto": exact where the product automaton fits in `max_edges`. The
    result says which it was.
    """
    problem = problem_of(
        potentials,
        rules,
        tokens=tokens,
        labels=labels,
        penalties=penalties,
        text=text,
        clamp=clamp,
        valid_tags=valid_tags,
    )  # fmt: skip
    problem = problem.tempered()
    exact, sampled = _split(method, options)
    draws = generator(rng)
    if exact is not None:
        try:
            return Samples(product.sample(problem, n, draws, **exact), "exact", True)
        except LatticeTooLarge:
            if method == "exact":
                raise
    return _drawn(problem, method, n, draws, sampled)


def _exact_posterior(problem: Problem, **options: Any) -> tuple[NDArray[np.float64], float]:
    """Return marginals and log_z; without global rules the chain's own kernels do it."""
    if problem.globals or not problem.T:
        found = product.posterior(problem, **options)
        return found.marginals, found.log_z
    chain = inference.posterior(problem.folded)
    return chain.marginals, float(chain.log_z[0])


def _split(method: str, options: dict[str, Any], *more: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Sort options by the way they belong to: exact ones, None if that must not be tried, and those of sampling.

    more : options of sampling that are not the sampler's own.
    """
    exact = {name: value for name, value in options.items() if name == "max_edges"}
    sampled = {name: value for name, value in options.items() if name not in exact}
    if {*sampled} - {*more} or method not in ("auto", "exact"):
        from espalier.decoders import table

        drawing = table.sampler("auto" if method == "exact" else method)
        table.check_options(drawing.name, drawing.sample, sampled, more)
    return (exact if method in ("auto", "exact") else None), sampled


def _drawn(problem: Problem, method: str, n: int, rng: np.random.Generator | int, options: dict[str, Any]) -> Samples:
    """Draw n labellings by a decoder that samples."""
    from espalier.decoders import table

    drawing = table.sampler(method)
    assert drawing.sample is not None
    return Samples(drawing.sample(problem, n, rng, **options), drawing.name, False)

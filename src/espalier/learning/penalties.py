"""Penalties by counting (algorithm 1 of Chang, Ratinov & Roth, 2012), for any model.

    ρ_k = -log( P(C_k = 1) / P(C_k = 0) ) = log( (kept_k + a) / (violated_k + b) ),  0 if negative

violated_k is the degree of rule k in the gold labels, kept_k the number of *occasions* on which they keep it. The paper
divides by tokens, so every token is an occasion of every rule: `over="tokens"`. With `over="applicable"` only those
count where the rule has something to say, which `rules.lowering` defines for every form of rule:

| rule                              | an occasion                                                             |
|-----------------------------------|-------------------------------------------------------------------------|
| Implies                           | a token where the condition holds and the label is among the given ones |
| Change                            | a border between two segments                                           |
| Once                              | a segment of its fields                                                 |
| Length                            | a segment of its fields; for an upper bound also each token beyond it   |
| Before                            | a segment of `first`, where `second` occurs at all                      |
| Later                             | a sequence in which `first` occurs; each violation                      |
| If                                | one of `then`, where `condition` holds                                  |
| All                               | one of any part                                                         |
| Linear, Exists, Any, Not          | a sequence; where it is violated, each unit of the degree               |
| any rule that counts `once`       | a sequence with an occasion                                             |

Pseudo-counts a and b stand for what one believes without evidence: a rule that nobody saw costs log(a / b), and a rule
that all gold labels break costs nothing. Tokens without a label violate nothing and are no occasion; a sequence with
such tokens does not count for rules that look at more than neighbouring labels.

Cost: O(M (charges + features)) on arrays; rules without a local or linear form are read token by token.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import UNKNOWN, Corpus
from espalier.decoders.certify import degree_matrix, sums
from espalier.errors import InputError
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.lowering import FORMS, occasions
from espalier.rules.ruleset import KEPT_PRIOR, VIOLATED_PRIOR, Rule, RuleSet

__all__ = ["Tally", "count_penalties", "log_odds", "tally"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Tally(NamedTuple):
    """How often each of K rules is violated and kept, float64[K] each."""

    violated: Float
    kept: Float


def count_penalties(
    compiled: Compiled,
    corpus: Corpus,
    *,
    over: str = "tokens",
    kept_prior: float = KEPT_PRIOR,
    violated_prior: float = VIOLATED_PRIOR,
    sample_weight: Float | None = None,
) -> Float:
    """Return the penalties of all rules, float64[K]: counted for those without one, the others keep theirs.

    corpus : labelled, with the labels that the rules were compiled for. over : "applicable" or "tokens".
    kept_prior, violated_prior : a and b, positive. sample_weight : float64[N], how much each sequence counts.
    """
    if not (kept_prior > 0 and violated_prior > 0 and np.isfinite(kept_prior) and np.isfinite(violated_prior)):
        raise InputError(
            f"pseudo-counts are {kept_prior} kept and {violated_prior} violated", hint="both must be positive"
        )
    rho = compiled.rules.penalties
    unset = compiled.rules.unset
    if not unset:
        return rho
    free = compile_rules(compiled.rules.only(unset), compiled.labels)
    counted = tally(free, corpus, over=over, sample_weight=sample_weight)
    rho[[rule.penalty is None for rule in compiled.rules]] = log_odds(counted, kept_prior, violated_prior)
    return rho


def log_odds(counted: Tally, kept_prior: float = KEPT_PRIOR, violated_prior: float = VIOLATED_PRIOR) -> Float:
    """Return the penalties that counts stand for, float64[K]."""
    return np.maximum(np.log((counted.kept + kept_prior) / (counted.violated + violated_prior)), 0.0)


def tally(compiled: Compiled, corpus: Corpus, *, over: str = "tokens", sample_weight: Float | None = None) -> Tally:
    """Count violations and occasions on which a rule is kept, over the gold labels of a corpus."""
    if over not in ("applicable", "tokens"):
        raise InputError(f"penalties are counted over 'applicable' or 'tokens', not {over!r}")
    if corpus.y is None or corpus.labels != compiled.labels:
        raise InputError("counting needs a corpus with the labels that the rules were compiled for")
    degrees = degree_matrix(compiled, corpus, corpus.y)
    counts = np.where(_readable(compiled, corpus), 1.0, 0.0)
    counts *= 1.0 if sample_weight is None else np.asarray(sample_weight, np.float64)[:, None]
    if over == "tokens":
        known = sums(corpus.indptr, (corpus.y != UNKNOWN)[:, None])
        violated = (counts * degrees).sum(axis=0)
        return Tally(violated, np.maximum((counts * known).sum(axis=0) - violated, 0.0))
    possible = _occasion_matrix(compiled, corpus, degrees)
    return Tally((counts * degrees).sum(axis=0), (counts * (possible - degrees)).sum(axis=0))


def _readable(compiled: Compiled, corpus: Corpus) -> NDArray[np.bool_]:
    """Return which rules the labels of each sequence can judge, bool[N, K]."""
    assert corpus.y is not None
    complete = sums(corpus.indptr, (corpus.y == UNKNOWN)[:, None]) == 0
    nearby = [f == "local" and not _whole(r) for f, r in zip(compiled.form, compiled.rules, strict=True)]
    return np.asarray(complete | np.array(nearby, bool))


def _whole(rule: Rule) -> bool:
    """Is a whole sequence one occasion of the rule?"""
    return rule.once or FORMS[type(rule.node)].occasions is None


def _occasion_matrix(compiled: Compiled, corpus: Corpus, degrees: Int) -> Int:
    """Return the number of occasions of every rule in each sequence, int64[N, K]."""
    assert corpus.y is not None
    found = np.maximum(degrees, 1)  # where the sequence is the occasion
    others = [k for k, rule in enumerate(compiled.rules) if rule.once or not _whole(rule)]
    chosen = [compiled.rules[k] for k in others]
    companions = RuleSet(Rule(rule.name, occasions(rule.node), once=rule.once) for rule in chosen)
    found[:, others] = degree_matrix(compile_rules(companions, compiled.labels), corpus, corpus.y)
    return found

"""Relations between labels, mined from labelled sequences.

`mine` counts the clauses (`learning.discovery_clauses`) of the five relations of Fersini, Messina, Felici & Roth (2014,
eq. 17-21) for every pair of fields, and keeps those that are supported and nearly always hold. What one costs, and how
a few are chosen, is in `learning.relations`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.learning.discovery_clauses import ClauseCounter
from espalier.learning.relations import DELIMITERS, Relation, counted
from espalier.rules.generators import RELATION_KINDS, relation_templates

__all__ = ["mine"]


def mine(
    corpus: Corpus,
    kinds: Collection[str] = RELATION_KINDS,
    *,
    min_support: int = 5,
    min_confidence: float = 0.9,
    delimiters: Sequence[str] = DELIMITERS,
) -> list[Relation]:
    """Return the relations that hold in at least `min_support` clauses and a share of at least `min_confidence`.

    corpus : labelled. kinds : of `rules.relation_templates`. Their order is the templates' order. A relation that is
    broken in every sequence it applies to says nothing about any, and is left out: a field is followed by itself, but
    never at its end.
    """
    counter = ClauseCounter(corpus)
    assert corpus.labels is not None
    if not 0 <= min_confidence <= 1:
        raise InputError(f"min_confidence is {min_confidence!r}", hint="expected a share from 0 to 1")
    found = []
    for kind in kinds:
        for rule in relation_templates(corpus.labels, delimiters, (kind,)):
            clauses = counter.count(rule.node)
            relation = counted(rule, kind, clauses)
            sensible = ((clauses.applies > 0) & (clauses.broken == 0)).any()
            if sensible and relation.support >= min_support and relation.confidence >= min_confidence:
                found.append(relation)
    return found

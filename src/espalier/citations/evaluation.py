"""How good a labelling of references is: fields exactly right, and whole references without a mistake.

A field is right if the answer has one of the same label over the same words; marks around it do not count, so that it
makes no difference on which side of a border a full stop was put. A reference is right if all its fields with a label
among `CORE` are.

    F1 = 2 right / (predicted + gold)           exact = right references / references
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from espalier.citations.record import CORE
from espalier.metrics.scores import Score

__all__ = ["CORE", "CitationReport", "Marks", "evaluate", "fields_of", "is_whole"]

Marks = tuple[str, int, int]
"""A field: its label, its first word and the end of its last, in tokens."""


@dataclass(frozen=True, slots=True)
class CitationReport:
    """What was counted over some references.

    tokens : share of tokens with the right label; fields : of all fields together; core : of those with a label among
    `CORE` together; exact : share of whole references; per_field : of each label that occurs; references : how many
    there were.
    """

    tokens: float
    fields: Score
    core: Score
    exact: float
    per_field: Mapping[str, Score]
    references: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        per_field = {label: score.to_dict() for label, score in self.per_field.items()}
        return {
            "token_accuracy": self.tokens,
            "field_f1": self.fields.f1,
            "core_f1": self.core.f1,
            "exact": self.exact,
            "per_field": per_field,
        }


def fields_of(words: Sequence[str], tags: Sequence[str]) -> list[Marks]:
    """Return the runs of one label, without the marks around them; a run of marks alone is no field."""
    found, T, start = [], len(tags), 0
    for t in range(1, T + 1):
        if t < T and tags[t] == tags[start]:
            continue
        inner = [i for i in range(start, t) if any(map(str.isalnum, words[i]))]
        if inner:
            found.append((tags[start], inner[0], inner[-1] + 1))
        start = t
    return found


def is_whole(there: set[Marks], said: set[Marks]) -> bool:
    """Return whether a reference has all its fields with a label among `CORE` right, and no others of these."""
    return not any(label in CORE for label, *_ in there ^ said)


def evaluate(
    words: Iterable[Sequence[str]], gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]
) -> CitationReport:
    """Compare two labellings of the same references."""
    right, guessed, true = Counter[str](), Counter[str](), Counter[str]()
    n = hits = tokens = exact = 0
    for w, y, z in zip(words, gold, predicted, strict=True):
        there, said = set(fields_of(w, y)), set(fields_of(w, z))
        right.update(label for label, *_ in there & said)
        guessed.update(label for label, *_ in said)
        true.update(label for label, *_ in there)
        hits += sum(a == b for a, b in zip(y, z, strict=True))
        tokens += len(w)
        exact += is_whole(there, said)
        n += 1
    labels = sorted(true.keys() | guessed.keys())
    per_field = {label: Score.of_counts(right[label], guessed[label], true[label]) for label in labels}

    def together(chosen: Sequence[str]) -> Score:
        return Score.of_counts(*(sum(count[label] for label in chosen) for count in (right, guessed, true)))

    return CitationReport(hits / max(tokens, 1), together(labels), together(CORE), exact / max(n, 1), per_field, n)

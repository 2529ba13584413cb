"""`ConditionField`: a token condition of the rule language as a feature, `condition:time`.

Whatever a rule may ask about tokens, a model may weigh: patterns over several tokens, windows of any width, lists of
phrases. The text that a condition sees is the tokens, joined by single spaces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from espalier.corpus import Corpus
from espalier.errors import InputError, RuleError
from espalier.features.fields import NamedField
from espalier.features.matrix import Column, Raw
from espalier.rules.lowering import Plan, Sequences
from espalier.rules.predicates import Condition, WordCondition, lists_of, own_function
from espalier.rules.reader import Scope, parse_condition, print_condition

__all__ = ["ConditionField"]


@dataclass(frozen=True, slots=True)
class ConditionField(NamedField):
    """Does the condition hold at the token?  The attribute is the bare `condition:time`.

    Parameters
    ----------
    label : its name.
    condition : a token condition of `espalier.rules`, or its text.
    """

    condition: Condition

    kind = "condition"
    bare = True

    def __post_init__(self) -> None:
        """Check the name, and read the condition where it is text."""
        NamedField.__post_init__(self)
        given: object = self.condition
        if isinstance(given, str):
            object.__setattr__(self, "condition", _read(self.label, given, Scope()))
        elif not isinstance(given, Condition):
            raise InputError(f"condition {self.label!r}: expected a token condition or its text, found {given!r:.80}")

    @classmethod
    def declared(cls, name: str, value: Any, base: Path | None) -> ConditionField:
        """Return the field of a task file (a text) or of a model file (a text and the lists that it names)."""
        text, lists = value, {}
        if isinstance(value, Mapping) and set(value) == {"text", "lexicons"}:
            text, lists = value["text"], value["lexicons"]
        if not isinstance(text, str) or not isinstance(lists, Mapping):
            raise InputError(f"condition {name!r}: expected a token condition as text, found {value!r:.80}")
        return cls(name, _read(name, text, Scope(lexicons=lists, directory=base)))

    def to_state(self) -> dict[str, Any]:
        """Return the text, and the lists that it names, for model files."""
        own = own_function(self.condition)
        if own:
            raise InputError(
                f"condition {self.label!r} uses the Python function {own!r}, which cannot be stored",
                hint="use a word list, a list of phrases or a pattern",
            )
        return {"text": print_condition(self.condition), "lexicons": lists_of(self.condition)}

    @property
    def of_type(self) -> bool:
        """Does the condition look at the word alone?"""
        return isinstance(self.condition, WordCondition)

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return one value for the words that satisfy it."""
        assert isinstance(self.condition, WordCondition)
        return _raw(np.array(self.condition.accepted(words), bool))

    def by_token(self, corpus: Corpus) -> Raw:
        """Return one value for the tokens at which it holds."""

        def text(i: int) -> str:
            return " ".join(corpus.tokens(i))

        batch = Sequences(corpus.indptr, corpus.token_ids, corpus.types, text)
        return _raw(Plan.of([self.condition]).ground(batch)[:, 0])


def _raw(holds: np.ndarray) -> Raw:
    return Raw([""], Column.of_one(np.where(holds, 0, -1)))


def _read(name: str, text: str, scope: Scope) -> Condition:
    try:
        return parse_condition(text, scope)
    except RuleError as error:
        raise InputError(f"condition {name!r}: {error}") from None

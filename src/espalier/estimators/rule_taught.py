"""Rules as teachers: what the learners from expectations share."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, ResultWarning
from espalier.estimators.base import check_number, compiled_rules, fresh
from espalier.estimators.unlabelled import TaughtLabeller
from espalier.learning.expectations import ChainFeatures, unusable
from espalier.rules.ruleset import KEPT_PRIOR, VIOLATED_PRIOR, RuleSet

__all__ = ["Chosen", "RuleTaught", "by_rule"]

Float = NDArray[np.float64]
Chosen = str | float | Mapping[str, float]
"""A word, one number for all rules, or numbers by the names of rules."""


class RuleTaught(TaughtLabeller):
    """What both learners share: rules as features, and what they allow."""

    chosen: ClassVar[tuple[str, ...]]  # the parameters that may be numbers by the names of rules
    rules: RuleSet | str
    bounds: Chosen
    features_: ChainFeatures
    rates_: Float

    @property
    def rules_(self) -> RuleSet:
        """The rules that taught the model."""
        return self.features_.compiled.rules

    def _learn_rules(self, corpus: Corpus) -> None:
        """Compile the rules and find what they allow; those that are no expectations are named in a warning."""
        assert corpus.labels is not None
        self.features_ = features = ChainFeatures.of(compiled_rules(self.rules, corpus.labels))
        left = unusable(features.compiled)
        if not features.J:
            what = f" ({', '.join(left)} cannot)" if left else ""
            raise InputError(
                f"no rule can be put as an expectation over a chain{what}", hint="give local or count rules"
            )
        if left:
            warnings.warn(
                f"{len(left)} rules are no expectations over a chain and teach nothing: {', '.join(left)}",
                ResultWarning,
                stacklevel=3,
            )
        self.rates_ = _rates(self.bounds, features, corpus)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        header, arrays = super().state()
        chosen = {name: getattr(self, name) for name in self.chosen}
        header |= {name: dict(value) if isinstance(value, Mapping) else value for name, value in chosen.items()}
        return header | {"rules": self.rules_.to_dict()}, arrays | {"rates": self.rates_}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        super().restore(header, arrays)
        self.base, self.rules = fresh(self.model_), RuleSet.from_dict(header["rules"])
        for name in self.chosen:
            setattr(self, name, header[name])
        self.features_ = ChainFeatures.of(compiled_rules(self.rules, Labels(header["labels"])))
        self.rates_ = np.array(arrays["rates"])


def by_rule(chosen: Any, what: str, rules: RuleSet) -> Float:
    """Return a number, or a mapping from names of rules (others: 0), as float64[K]."""
    if isinstance(chosen, Mapping):
        for name, value in chosen.items():
            check_number(f"{what} of rule {rules[name].name!r}", value)
        return np.array([float(chosen.get(name, 0.0)) for name in rules.names])
    check_number(what, chosen)
    return np.full(rules.K, float(chosen))


def _rates(bounds: Chosen, features: ChainFeatures, corpus: Corpus) -> Float:
    """Return how often each feature may be violated for each opportunity, float64[J]."""
    if bounds == "zero":
        return np.zeros(features.J)
    if bounds != "labelled":
        if isinstance(bounds, str):
            raise InputError(f"bounds is {bounds!r}", hint="expected 'zero', 'labelled', a number or a mapping")
        return by_rule(bounds, "bounds", features.compiled.rules)[features.rule]
    assert corpus.y is not None
    known = np.bincount(np.repeat(np.arange(len(corpus)), corpus.lengths), corpus.y >= 0, len(corpus)) == corpus.lengths
    part = corpus[known]
    assert part.y is not None
    grounded = features.ground(part)
    over = np.maximum(grounded.values(part.y) - grounded.limits(), 0.0).sum(axis=0)
    prior = KEPT_PRIOR + VIOLATED_PRIOR
    return np.asarray((over + VIOLATED_PRIOR) / (grounded.opportunities.sum(axis=0) + prior))

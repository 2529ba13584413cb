"""The ways to train, by name: what each takes, and how it is put around a model.

    supervised      the model; with rules a CCM around it
    words           a WordLearner around that: classes of the words of raw text are features
    codl            a CoDL around that
    em              an EM around an HMM
    pr, ge          take model and rules apart, and need both

Packages bring others (`espalier.methods`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from espalier.estimators.abilities import scores_chains
from espalier.estimators.persist import class_of
from espalier.registry import Registered

if TYPE_CHECKING:
    from espalier.recipes.adapting import Start
    from espalier.rules.ruleset import RuleSet

__all__ = ["METHODS", "TRAINED", "Able", "Ingredients", "Method", "averaged", "featured", "made"]

TRAINED = ("perceptron", "svm")
"""The penalties that are trained on held-out sequences."""

_GIVEN = ("count", "hard", "fixed", "number")

Able = Callable[[type[Any]], bool]
"""Can a method train a class of models?"""


class Ingredients(NamedTuple):
    """What a method is put around: an unfitted model, under its rules if the method wants it so.

    kind : of the model; rules, price : as they were asked for; start : what learning begins from.
    """

    base: Any
    kind: str
    rules: RuleSet
    price: str | float | None
    start: Start | None


@dataclass(frozen=True, slots=True)
class Method:
    """What a method takes, and what it makes of that.

    summary : for who chooses; able : tells which classes of models it trains; penalties : what rules may cost.
    pool : does it learn from raw text? alone : also without any, where there are no rules?
    rules : "around" the model as a CCM, "own" if it takes them itself, "needed" if not without, or "none".
    model : the kind of the only model that it trains, in place of `able`.
    built : puts it around its parts.
    """

    summary: str
    able: Able | None
    penalties: tuple[str, ...]
    built: Callable[[Ingredients], Any] = lambda parts: parts.base
    pool: bool = True
    alone: bool = False
    rules: Literal["around", "own", "needed", "none"] = "around"
    model: str = ""


def made(kind: str, *parts: Any) -> Any:
    """Return an unfitted estimator; `parts` are its first arguments."""
    of_kind: Any = class_of(kind)
    return of_kind(*parts)


def featured(model: type[Any]) -> bool:
    """Has a class of models templates of features?"""
    return "features" in inspect.signature(model).parameters


def averaged(kind: str) -> bool:
    """Is it a model of the papers, an HMM or a perceptron?"""
    model = class_of(kind)
    return hasattr(model, "mixed") and not hasattr(model, "fit_soft")


def _has(method: str) -> Able:
    return lambda model: hasattr(model, method)


def _codl(parts: Ingredients) -> Any:
    # HMM and perceptron are averaged, as in the papers; other models learn anew from labels and guesses.
    own = {"update": "interpolate" if averaged(parts.kind) else "pool"}
    return made("codl", parts.base).set_params(**own, **({} if parts.start is None else parts.start.pool_parameters))


def _pr(parts: Ingredients) -> Any:
    """Posterior regularisation has words of its own for penalties."""
    price = parts.price
    slack: str | float = "count" if price is None else price
    if isinstance(price, str):
        slack = {"count": "count", "hard": "none"}.get(price, 1.0)  # "fixed": 1 where a rule has none
    return made("pr", parts.base, parts.rules).set_params(slack=slack)


SUPERVISED = Method("from corrected records", _has("fit"), (*_GIVEN, *TRAINED), pool=False, alone=True)
WORDS = Method(
    "words that the other records use alike are alike; rules teach on those records, too",
    featured, (*_GIVEN, *TRAINED), lambda parts: made("words", parts.base),
)  # fmt: skip
CODL = Method(
    "constraint-driven: labels the other records under the rules, and learns from those, too",
    scores_chains, (*_GIVEN, *TRAINED), _codl,
)  # fmt: skip
EM = Method(
    "expectation maximisation of an HMM; the rules are applied afterwards",
    _has("count"), (), lambda parts: made("em", parts.base), rules="none",
)  # fmt: skip
PR = Method(
    "posterior regularisation: expectations of the rules on the other records",
    scores_chains, _GIVEN, _pr, rules="needed",
)  # fmt: skip
GE = Method(
    "generalised expectation: the same, by gradient",
    _has("fit_soft"), (), lambda parts: made("ge", parts.base, parts.rules), rules="needed",
)  # fmt: skip

METHODS = Registered("methods", Method)
"""The ways to train a model, by name."""

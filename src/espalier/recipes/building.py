"""An unfitted estimator from what `plan` decided: the model, rules around it, the method around both, and settings."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from espalier.errors import Argument, Hint, InputError, Part, nearest
from espalier.estimators.persist import MODELS
from espalier.recipes.methods import Ingredients, Method, averaged, made

if TYPE_CHECKING:
    from espalier.features.extract import FeatureExtractor
    from espalier.recipes.adapting import Start
    from espalier.rules.ruleset import RuleSet
    from espalier.tasks.task import Task

__all__ = ["COUNTING", "argument", "built", "default_kind"]

COUNTING: Mapping[str, Any] = {"over": "applicable", "kept_prior": 150.0}
"""How penalties are counted for a model that is trained to tell labels apart: over the occasions of a rule.

Over tokens, as the papers count for an HMM, they grow with the length of the texts: of a rule that is broken each tenth
time that it applies, once in a thousand tokens, the price is 7, more than such a model is ever sure by. The prior was
chosen on records of `bench/raw_text.py --part dev`.
"""


def argument(name: str, value: Any = ...) -> Argument:
    """Return an argument of `train`, for messages."""
    return Argument("train", name, value)


def built(
    method: str,
    way: Method,
    kind: str,
    task: Task | None,
    features: FeatureExtractor | None,
    rules: RuleSet,
    price: str | float | None,
    settings: Mapping[str, Any],
    start: Start | None,
) -> Any:
    """Return the estimator; way : the method; kind : of the model; see `recipes.plan`."""
    chosen = _by_prefix(settings)
    base = _base(kind, task, features, chosen[""], start)
    return _wrapped(method, way, Ingredients(base, kind, rules, price, start), chosen)


def default_kind(task: Task | None) -> str:
    """Return the kind of model that a task asks for; without one a CRF."""
    name = str("crf" if task is None else task.defaults.get("model", "crf"))
    if task is not None and name not in MODELS:
        near = nearest(name, MODELS, f"expected {', '.join(MODELS)}")
        raise InputError(f"task {task.name}, [defaults]: unknown model {name!r}", hint=near)
    return name


def _base(
    kind: str,
    task: Task | None,
    features: FeatureExtractor | None,
    chosen: Mapping[str, Any],
    start: Start | None,
) -> Any:
    """Return the model with the task's features and, if it is the task's own, parameters; what was set comes first."""
    model = made(kind)
    featured = "features" in model.get_params(deep=False)
    if task is not None and featured:
        model.set_params(features=task.extractor)
    if task is not None and kind == default_kind(task):
        own = {key: value for key, value in task.defaults.items() if key != "model"}
        _configure(model, own, lambda key, value: f"task {task.name}, [defaults] {key}={value}")
    if features is not None and not featured:
        ways: list[Hint] = [("leave out ", argument("features")), ("choose another ", argument("model"))]
        raise InputError(argument("model", kind), " knows words alone", hint=ways)
    if features is not None:
        model.set_params(features=features)
    if start is None:
        return _set(model, chosen, "")
    return start.joined(_set(model.set_params(**start.parameters), chosen, ""))


def _wrapped(method: str, way: Method, parts: Ingredients, chosen: Mapping[str, Mapping[str, Any]]) -> Any:
    """Put rules and method around a model."""
    rules, price = parts.rules, parts.price
    under_rules = way.rules == "around" and rules.K
    if chosen["rules"] and not under_rules:
        whom: tuple[Part, ...] = (" is for a model under rules: ", argument("rules"), ", supervised, words or codl")
        raise InputError(Argument("set", "rules.NAME"), *whom)
    if chosen["method"] and method == "supervised":
        what = " is for the method, and supervised has nothing to set"
        raise InputError(Argument("set", "method.NAME"), what, hint=("see ", argument("method")))
    if under_rules:
        ruled = made("ccm", parts.base, rules, "count" if price is None else price)
        tells_apart = parts.start is None and not averaged(parts.kind)  # what begins from a model: sizes not tried
        ruled = _set(ruled.set_params(**COUNTING) if tells_apart else ruled, chosen["rules"], "rules.")
        parts = parts._replace(base=ruled)
    return _set(way.built(parts), chosen["method"], "method.")


def _by_prefix(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Divide settings by whom they are for: the model, the rules around it, or the method around both."""
    chosen: dict[str, dict[str, Any]] = {"": {}, "rules": {}, "method": {}}
    for name, value in settings.items():
        prefix, _, key = name.rpartition(".")
        if prefix not in chosen:
            near = nearest(prefix, chosen, "expected NAME, rules.NAME or method.NAME")
            raise InputError(Argument("set", name, value), f": nothing is called {prefix!r}", hint=near)
        chosen[prefix][key] = value
    return chosen


def _set(estimator: Any, chosen: Mapping[str, Any], prefix: str) -> Any:
    return _configure(estimator, chosen, lambda key, value: Argument("set", prefix + key, value), prefix)


def _configure(
    estimator: Any, chosen: Mapping[str, Any], place: Callable[[str, Any], Part], prefix: str = ""
) -> Any:  # fmt: skip
    """Set parameters; a value whose kind differs from the only one declared is refused before an algorithm trips.

    place : names a parameter and its value in messages.
    """
    expected = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a word"}
    signature = inspect.signature(type(estimator).__init__).parameters
    for key, value in chosen.items():
        parameter = signature.get(key)
        if parameter is None or parameter.annotation not in expected:  # several kinds: the estimator knows which
            continue
        default = parameter.default
        fits = isinstance(value, type(default)) or (isinstance(default, float) and isinstance(value, int))
        if not fits or isinstance(value, bool) != isinstance(default, bool):
            example = f"{prefix}{key}={json.dumps(default)}"
            what = f": expected {expected[str(parameter.annotation)]}, such as {example}"
            raise InputError(place(key, value), what)
    return estimator.set_params(**chosen)

"""From what was asked for to an unfitted estimator, and how to read the labels of its data.

What does not go together is refused with the way out, before a record is read.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.errors import Argument, Hint, InputError, Part, nearest
from espalier.estimators.abilities import scores_chains
from espalier.estimators.persist import MODELS, class_of
from espalier.recipes.building import argument, built, default_kind
from espalier.recipes.methods import METHODS, TRAINED, Able, Method, featured
from espalier.registry import Registered

if TYPE_CHECKING:
    from espalier.corpus import Labels
    from espalier.features.extract import FeatureExtractor
    from espalier.recipes.adapting import Start
    from espalier.rules.ruleset import RuleSet
    from espalier.tasks.task import Task

__all__ = ["METHODS", "MODELS", "Recipe", "plan"]

_PENALTIES = ("count", "hard", *TRAINED, "fixed")

# What messages speak of: arguments of `train`, and what to add to them.
_ADD_TEXT = Argument("add", "unlabelled", said="pass unlabelled=")
_ADD_RULES = Argument("add", "rules", said="pass rules=")
_NO_RULES = Argument("add", "no rules", said="pass rules=''")
_SOME_RULES: Hint = (_ADD_RULES, " or a ", Argument("train", "task"), " that has some")


@dataclass(frozen=True, slots=True)
class Recipe:
    """An unfitted estimator and how to read the labels of its data.

    Attributes
    ----------
    estimator : what will be fitted.
    kind : what answers in the end, for messages.
    method : one of METHODS.
    rules : those that it learns under or from.
    labels : those that the task declares, None without a task.
    task : the name of the task, None without one.
    marks : are labels tags, with B- and I-?
    start : the model that learning begins from, or None.
    """

    estimator: Any
    kind: str
    method: str
    rules: RuleSet
    labels: Labels | None
    task: str | None
    marks: bool
    start: Start | None = None

    @property
    def under_rules(self) -> bool:
        """Is the estimator a CCM, which chooses penalties on held-out records?"""
        return self.method == "supervised" and self.rules.K > 0

    def to_dict(self) -> dict[str, Any]:
        """Return what was trained and how, in a JSON-able form."""
        how = {"kind": self.kind, "method": self.method, "rules": self.rules.K}
        return how if self.start is None else how | {"prior": self.start.name}


def plan(
    *,
    task: Task | str | Path | None = None,
    model: str | None = None,
    method: str | None = None,
    rules: RuleSet | str | None = None,
    penalties: str | float | None = None,
    features: FeatureExtractor | None = None,
    tags: bool | None = None,
    settings: Mapping[str, Any] | None = None,
    unlabelled: bool = False,
    start: Start | Callable[[], Start] | None = None,
    usual_start: Callable[[], Start] | None = None,
) -> Recipe:
    """Decide what to train and how, before any data is read.

    Parameters
    ----------
    task : a task, its name or its file: labels, features, rules, and which model to train.
    model : one of MODELS; by default the task's, or a CRF.
    method : one of METHODS; by default "supervised"; where there is unlabelled text "words", or "codl" for a model
        that has no features or begins from another.
    rules : instead of the task's; an empty text leaves those out.
    penalties : what rules cost: "count" (learned), "svm", "perceptron", "hard", "fixed" or a number.
    features : instead of the task's.
    tags : learn where fields begin, or one plain label for each; by default as the task has its labels, else tags.
    settings : parameters by name, such as `{"l2": 0.5}`; those of the rules and of the method have a prefix, as
        "rules.folds" and "method.gamma".
    unlabelled : will there be unlabelled text?
    start : the model that learning begins from, or a function that reads it; for a CRF, supervised or by CoDL, with
        the features of that model.
    usual_start : reads such a model; called if there is no `start`, and only where learning can begin from one.

    Returns
    -------
    Recipe

    Raises
    ------
    InputError
        What was asked for does not go together.

    Examples
    --------
    >>> from espalier.recipes import plan
    >>> plan(model="hmm", rules="Once: each field once").estimator
    CCM(base=HMM(), rules=RuleSet(Once))
    """
    from espalier.tasks.task import load_task

    declared = load_task(task) if isinstance(task, str | Path) else task
    known = _rules(rules, declared)
    begun_elsewhere = start is not None or (usual_start is not None and features is None)
    how = method or _usual_method(unlabelled, model, declared, begun_elsewhere, settings or {})
    way = _named("method", how, METHODS)
    _check_sources(how, way, known, unlabelled)
    _check_price(how, way, known, penalties)
    kind = _kind(how, way, model, declared)
    if penalties in TRAINED and not scores_chains(class_of(kind)):
        other: Hint = ("another ", argument("model"))
        what = " are trained with a model of chains"
        raise InputError(argument("penalties", penalties), what, hint=["use count", other])
    begins = kind == "crf" and how in ("supervised", "codl") and features is None
    if start is not None and not begins:
        whom: tuple[Part, ...] = (" is for ", argument("model", "crf"), ", supervised or codl, with its features")
        raise InputError(argument("start"), *whom, hint="leave out what differs")
    source = usual_start if start is None and begins else start
    begun = source() if callable(source) else source
    return Recipe(
        estimator=built(how, way, kind, declared, features, known, penalties, settings or {}, begun),
        kind=kind,
        method=how,
        rules=known,
        labels=None if declared is None else declared.labels,
        task=None if declared is None else declared.name,
        marks=_marks(declared, tags),
        start=begun,
    )


def _named(name: str, word: str, known: Registered[Any]) -> Any:
    """Return what a word names, or a place, `module:object`."""
    try:
        return known.named(word)
    except KeyError:
        hint = nearest(word, known, f"expected {', '.join(known)}")
        raise InputError(argument(name, word), ": unknown", hint=hint) from None


def _usual_method(
    unlabelled: bool, model: str | None, task: Task | None, begun: bool, settings: Mapping[str, Any]
) -> str:  # fmt: skip
    """Return what to do where nobody said: raw text teaches words, where the model can be told of them."""
    if not unlabelled:
        return "supervised"
    kind = default_kind(task) if model is None else model
    if (begun and kind == "crf") or kind not in MODELS or not featured(class_of(kind)):
        return "codl"
    own = inspect.signature(class_of("words")).parameters
    asked = [name.removeprefix("method.") for name in settings if name.startswith("method.")]
    return "words" if all(name in own for name in asked) else "codl"


def _rules(rules: RuleSet | str | None, task: Task | None) -> RuleSet:
    from espalier.rules.ruleset import RuleSet

    if isinstance(rules, str):
        return RuleSet.from_text(rules, labels=None if task is None else task.labels)
    return rules if rules is not None else RuleSet() if task is None else task.rules


def _marks(task: Task | None, tags: bool | None) -> bool:
    """Decide between tags and plain labels: as the task has them, else tags unless told otherwise."""
    from espalier.tags import is_tag

    if task is None:
        return tags is not False
    marks = all(is_tag(label) for label in task.labels)
    if tags is not None and tags != marks:
        have = "tags" if marks else "plain labels"
        raise InputError(f"the task {task.name} has {have}", hint=("leave out ", argument("tags", tags)))
    return marks


def _check_sources(method: str, way: Method, rules: RuleSet, pool: bool) -> None:
    """Refuse rules or text that a method would not use, and its absence where it is needed."""
    name = argument("method", method)
    if pool and not way.pool:
        without: Hint = ("leave out ", argument("unlabelled"))
        raise InputError(name, " learns from labels alone", hint=[without, "choose words"])
    if not pool and not way.alone:
        raise InputError(name, " learns from unlabelled text", hint=[_ADD_TEXT, ("leave out ", argument("method"))])
    if rules.K and way.rules == "none":
        raise InputError(name, " knows no rules", hint=["choose codl", _NO_RULES])
    if not rules.K and way.rules == "needed":
        raise InputError(name, " learns from rules", hint=[_SOME_RULES, "choose codl"])
    if rules.K and way.pool and not pool:
        raise InputError(name, " uses rules on unlabelled text", hint=[_ADD_TEXT, _NO_RULES])


def _check_price(method: str, way: Method, rules: RuleSet, price: str | float | None) -> None:
    if price is None:
        return
    if price not in _PENALTIES if isinstance(price, str) else not 0 <= price < math.inf:
        words = f"expected {', '.join(_PENALTIES)}, or a number of at least 0"
        raise InputError(argument("penalties", price), ": unknown", hint=nearest(str(price), _PENALTIES, words))
    if not rules.K:
        raise InputError(argument("penalties"), " are for rules, and there are none", hint=_SOME_RULES)
    if not way.penalties:
        weight: Hint = ("it weighs rules by ", Argument("set", "method.weight", 100))
        raise InputError(argument("method", method), " has no penalties", hint=weight)
    if (price if isinstance(price, str) else "number") not in way.penalties:
        what = argument("method", method), " cannot use ", argument("penalties", price)
        raise InputError(*what, hint=f"choose {', '.join(way.penalties)}")


def _kind(method: str, way: Method, asked: str | None, task: Task | None) -> str:
    """Return the kind of model: the method's own, or the one asked for, the task's, the first that will do."""
    able = way.able
    if asked is None:
        return way.model if able is None else next(_fitting(able, default_kind(task), *MODELS))
    chosen, name = _named("model", asked, MODELS), argument("method", method)
    if able is None:
        raise InputError(name, " trains a model of its own", hint=("leave out ", argument("model")))
    if not able(chosen):
        others = ", ".join(_fitting(able, *MODELS))
        raise InputError(name, " cannot train ", argument("model", asked), hint=f"choose {others}")
    kind: str = chosen.kind
    return kind


def _fitting(able: Able, *kinds: str) -> Iterator[str]:
    """Yield the kinds that will do; a class is imported when it is asked about."""
    return (kind for kind in kinds if able(class_of(kind)))

"""What `train` was told, taken together: which estimator to fit, on which labels.

    supervised      the model; with rules a CCM around it
    codl            a CoDL around that
    em              an EM around an HMM
    samplerank      a model of its own, which rules teach on unlabelled text
    pr, ge          take model and rules apart, and need both

What does not go together is refused with the way out, before a record is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from espalier.cli.settings import Kind, Method, configure, make, parse_penalties, parse_settings, read_features
from espalier.errors import InputError, RuleError, did_you_mean

if TYPE_CHECKING:
    from espalier.cli.adapting import Start
    from espalier.corpus import Labels
    from espalier.rules.ruleset import RuleSet
    from espalier.tasks.task import Task

__all__ = ["NO_RULES", "Recipe", "make_recipe"]

NO_RULES = "none"
"""The source of rules that leaves the task's out."""

_TRAINED = ("perceptron", "svm")


class _Way(NamedTuple):
    """What a method takes: kinds of models (the first is its default if the task's is none of them), and penalties.

    in_parts : the kinds that it can train over processes.
    """

    kinds: tuple[str, ...]
    penalties: tuple[str, ...]
    in_parts: tuple[str, ...] = ()


_WAYS = {
    Method.supervised: _Way(
        ("crf", "hmm", "perceptron", "semicrf"), ("count", "hard", "fixed", "number", *_TRAINED), ("crf",)
    ),
    Method.codl: _Way(("crf", "hmm", "perceptron"), ("count", "hard", "fixed", "number", *_TRAINED), ("crf", "hmm")),
    Method.em: _Way(("hmm",), (), ("hmm",)),
    Method.samplerank: _Way((), ("hard", "fixed", "number")),
    Method.pr: _Way(("crf", "hmm", "perceptron"), ("count", "hard", "fixed", "number"), ("crf", "hmm")),
    Method.ge: _Way(("crf",), ()),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """An unfitted estimator and how to read the labels of its data.

    kind : what answers in the end, for messages; labels : those that the task declares, None without a task; marks :
    are labels tags, with B- and I-? start : the model that learning begins from, or None;
    schemes : are labels of other schemes understood?
    """

    estimator: Any
    kind: str
    method: Method
    rules: RuleSet
    labels: Labels | None
    task: str | None
    marks: bool
    start: Start | None = None
    schemes: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return what was trained and how, in a JSON-able form."""
        how = {"kind": self.kind, "method": self.method.value, "rules": self.rules.K}
        return how if self.start is None else how | {"prior": self.start.name}


def make_recipe(
    *,
    task: str | None = None,
    kind: Kind | None = None,
    method: Method | None = None,
    features: Path | None = None,
    rules: Sequence[str] = (),
    penalties: str | None = None,
    settings: Sequence[str] = (),
    tags: bool | None = None,
    pool: bool = False,
    jobs: int | None = None,
) -> Recipe:
    """Return what to train; the arguments are options of `train`, and `pool` says if there is unlabelled text."""
    from espalier.cli.adapting import BUNDLED
    from espalier.tasks.task import load_task

    chosen, price = parse_settings(settings), None if penalties is None else parse_penalties(penalties)
    declared = None if task is None else load_task(task)
    known = _gathered(declared, rules)
    how = method or (Method.codl if pool else Method.supervised)
    _check_sources(how, known, pool)
    _check_price(how, known, price)
    model = _kind(how, kind, declared)
    if price in _TRAINED and model == Kind.semicrf:
        raise InputError(f"--penalties {price} are trained with a model of chains; use count, or another --model")
    _check_jobs(how, model, jobs)
    start = _start(how, model, task, features, chosen[""])
    base = _base(model, declared, features, chosen[""], start)
    return Recipe(
        estimator=_over_processes(_wrapped(how, model, base, known, price, chosen, start), jobs),
        kind=model.value if model else how.value,
        method=how,
        rules=known,
        labels=None if declared is None else declared.labels,
        task=None if declared is None else declared.name,
        marks=_marks(declared, tags),
        start=start,
        schemes=task in BUNDLED,
    )


def _start(
    method: Method, kind: Kind | None, task: str | None, features: Path | None, chosen: dict[str, Any]
) -> Start | None:
    """Return the model to begin from and take it out of the settings: the one they name, else the task's own."""
    from espalier.cli.adapting import BUNDLED, begin

    able = kind == Kind.crf and method in (Method.supervised, Method.codl) and features is None
    if "prior" not in chosen:
        return begin(task) if able and task in BUNDLED else None
    source = chosen.pop("prior")
    if source is None:
        return None
    if not isinstance(source, str):
        raise InputError(f"--set prior={source}: expected a model file, or null to begin from nothing")
    if not able:
        raise InputError(
            "--set prior is for --model crf, supervised or codl, with the features of the prior; leave out what differs"
        )
    return begin(source)


def _marks(task: Task | None, tags: bool | None) -> bool:
    """Decide between tags and plain labels: as the task has them, else tags unless told otherwise."""
    from espalier.tags import is_tag

    if task is None:
        return tags is not False
    marks = all(is_tag(label) for label in task.labels)
    if tags is not None and tags != marks:
        have, option = ("tags", "--plain") if marks else ("plain labels", "--tags")
        raise InputError(f"the task {task.name} has {have}; leave out {option}")
    return marks


def _gathered(task: Task | None, sources: Sequence[str]) -> RuleSet:
    """Return the task's rules and those of the sources; a later rule takes the place of one with the same name."""
    from espalier.rules.ruleset import Rule, RuleSet

    found: dict[str, Rule] = {}
    if task is not None and NO_RULES not in sources:
        found |= {rule.name: rule for rule in task.rules}
    for source in sources:
        if source != NO_RULES:
            found |= {rule.name: rule for rule in _read(source, None if task is None else task.labels)}
    return RuleSet(found.values())


def _read(source: str, labels: Labels | None) -> RuleSet:
    """Return the rules of a file of rules, or of a task by its file or name."""
    from espalier.rules.ruleset import RuleSet
    from espalier.tasks.task import load_task, names

    path = Path(source)
    if path.suffix == ".toml" or (source in names() and not path.exists()):
        return load_task(source).rules
    try:
        return RuleSet.from_text(path.read_text(encoding="utf-8-sig"), labels=labels, directory=path.parent)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error}") from None
    except RuleError as error:
        raise error.within(str(path)) from None


def _check_sources(method: Method, rules: RuleSet, pool: bool) -> None:
    """Refuse rules or text that a method would not use, and its absence where it is needed."""
    name = f"--method {method.value}"
    if method == Method.supervised and pool:
        raise InputError(f"{name} learns from labels alone; leave out --unlabelled, or choose codl")
    if method not in (Method.supervised, Method.samplerank) and not pool:
        raise InputError(f"{name} learns from unlabelled text; add --unlabelled FILE, or leave out --method")
    if method == Method.em and rules.K:
        raise InputError(f"{name} knows no rules; choose codl, or add --rules {NO_RULES}")
    if method in (Method.pr, Method.ge) and not rules.K:
        raise InputError(f"{name} learns from rules; add --rules FILE or a --task that has some, or choose codl")
    if method == Method.samplerank and rules.K and not pool:
        raise InputError(f"{name} uses rules on unlabelled text; add --unlabelled FILE, or --rules {NO_RULES}")


def _check_price(method: Method, rules: RuleSet, price: str | float | None) -> None:
    if price is None:
        return
    if not rules.K:
        raise InputError("--penalties are for rules, and there are none; add --rules FILE or a --task that has some")
    takes = _WAYS[method].penalties
    if not takes:
        raise InputError(f"--method {method.value} has no penalties; it weighs rules by --set method.weight=100")
    if (price if isinstance(price, str) else "number") not in takes:
        raise InputError(f"--method {method.value} cannot use --penalties {price}; choose {', '.join(takes)}")


def _kind(method: Method, asked: Kind | None, task: Task | None) -> Kind | None:
    """Return the kind of model: the one asked for, else the task's, else the method's own; None if that is another."""
    takes = _WAYS[method].kinds
    if asked is None:
        usual = _default_kind(task)
        return usual if usual.value in takes else Kind(takes[0]) if takes else None
    if not takes:
        raise InputError(f"--method {method.value} trains a model of its own; leave out --model")
    if asked.value not in takes:
        raise InputError(f"--method {method.value} cannot train --model {asked.value}; choose {', '.join(takes)}")
    return asked


def _check_jobs(method: Method, kind: Kind | None, jobs: int | None) -> None:
    able = _WAYS[method].in_parts
    if jobs is not None and (kind is None or kind.value not in able):
        what = f"--method {method.value}" + ("" if kind is None or not able else f" with --model {kind.value}")
        way = f", or choose --model {' or '.join(able)}" if able else ""
        raise InputError(f"{what} learns in this process alone; leave out --jobs{way}")


def _over_processes(estimator: Any, jobs: int | None) -> Any:
    """Give every model inside so many processes, but one whose own number was set."""
    model = estimator if jobs is not None else None
    while model is not None:
        own = model.get_params(deep=False)
        if own.get("jobs", jobs) is None:
            model.set_params(jobs=jobs)
        model = own.get("model", own.get("base"))
    return estimator


def _default_kind(task: Task | None) -> Kind:
    name = str("crf" if task is None else task.defaults.get("model", "crf"))
    kinds = [kind.value for kind in Kind]
    if task is not None and name not in kinds:
        near = did_you_mean(name, kinds) or f"; expected {', '.join(kinds)}"
        raise InputError(f"task {task.name}, [defaults]: unknown model {name!r}{near}")
    return Kind(name)


def _base(
    kind: Kind | None, task: Task | None, features: Path | None, chosen: Mapping[str, Any], start: Start | None
) -> Any:
    """Return the model with the task's features and, if it is the task's own, parameters; options come first."""
    model = make("samplerank" if kind is None else kind.value)
    if task is not None and "features" in model.get_params(deep=False):
        model.set_params(features=task.extractor)
    if task is not None and kind == _default_kind(task):
        own = {key: value for key, value in task.defaults.items() if key != "model"}
        configure(model, own, f"task {task.name}, [defaults] ")
    if features is not None and "features" not in model.get_params(deep=False):
        raise InputError(f"--model {model.kind} knows words alone; leave out --features, or choose another --model")
    if features is not None:
        model.set_params(features=read_features(features))
    if start is not None:
        model.set_params(**start.parameters)
    return configure(model, chosen, "--set ")


def _wrapped(
    method: Method,
    kind: Kind | None,
    base: Any,
    rules: RuleSet,
    price: str | float | None,
    chosen: Mapping[str, Mapping[str, Any]],
    start: Start | None,
) -> Any:
    """Put rules and method around a model."""
    under_rules = method in (Method.supervised, Method.codl) and rules.K
    if chosen["rules"] and not under_rules:
        raise InputError("--set rules.NAME is for a model under rules: with --rules, supervised or codl")
    if chosen["method"] and method == Method.supervised:
        raise InputError("--set method.NAME is for the method, and supervised has nothing to set; see --method")
    if under_rules:
        base = configure(make("ccm", base, rules, "count" if price is None else price), chosen["rules"], "--set rules.")
    learner = base
    if method == Method.codl:  # only HMM and perceptron have an average of two models
        learner = make("codl", base).set_params(update="interpolate" if kind in ("hmm", "perceptron") else "pool")
        learner.set_params(**({} if start is None else start.pool_parameters))
    elif method == Method.em:
        learner = make("em", base)
    elif method == Method.samplerank and rules.K:
        learner = base.set_params(rules=_priced(rules, price))
    elif method == Method.pr:
        learner = make("pr", base, rules).set_params(slack=_slack(price))
    elif method == Method.ge:
        learner = make("ge", base, rules)
    return configure(learner, chosen["method"], "--set method.")


def _priced(rules: RuleSet, price: str | float | None) -> RuleSet:
    """Give rules without a penalty one, where a learner takes them from the rules."""
    if price is None or price == "fixed":
        return rules
    return rules.with_penalties(dict.fromkeys(rules.unset, math.inf if price == "hard" else float(price)))


def _slack(price: str | float | None) -> str | float:
    """Return penalties as posterior regularisation calls them."""
    if price is None or isinstance(price, float):
        return "count" if price is None else price
    return {"count": "count", "hard": "none"}.get(price, 1.0)  # "fixed": 1 where a rule has none

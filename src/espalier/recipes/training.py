"""A plan and documents to a fitted model, and how it came to it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.errors import Argument, InputError, LabelError, ResultWarning, listed, nearest
from espalier.recipes.plan import Recipe, plan

if TYPE_CHECKING:
    from espalier.corpus import Corpus
    from espalier.document import Document
    from espalier.features.extract import FeatureExtractor
    from espalier.learning.lbfgs import Minimum
    from espalier.recipes.adapting import Start
    from espalier.rules.ruleset import RuleSet
    from espalier.tasks.task import Task

__all__ = ["Trained", "check_labels", "fit", "train"]

News = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Trained:
    """A fitted model, and how a method came to it.

    Attributes
    ----------
    recipe : what was decided.
    sizes : numbers of records, tokens and labels.
    history : a record for each cycle of the method.
    kept : the cycle whose model was kept, None if nothing was chosen.
    beside : what the model is compared with, by name: token accuracy on the held-out records.
    """

    recipe: Recipe
    sizes: Mapping[str, int]
    history: Sequence[Mapping[str, Any]]
    kept: int | None
    beside: Mapping[str, float]

    @property
    def estimator(self) -> Any:
        """The fitted model."""
        return self.recipe.estimator

    def save(self, path: str | Path) -> None:
        """Write the model to a file; with it what the model that learning began from says of itself."""
        if self.recipe.start is None:
            self.estimator.save(path)
        else:
            self.recipe.start.save(self.estimator, path)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able form of the learning."""
        found = {"kept": self.kept, "history": list(self.history)} if self.history else {}
        return {**self.sizes, **found} | ({"beside": dict(self.beside)} if self.beside else {})


def train(
    labelled: Sequence[Document],
    *,
    unlabelled: Sequence[Document] | None = None,
    dev: Sequence[Document] = (),
    progress: News | None = None,
    task: Task | str | Path | None = None,
    model: str | None = None,
    method: str | None = None,
    rules: RuleSet | str | None = None,
    penalties: str | float | None = None,
    features: FeatureExtractor | None = None,
    tags: bool | None = None,
    settings: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    start: Start | None = None,
) -> Trained:
    """Learn a model from labelled documents, and from rules and unlabelled text if there are any.

    It is what `espalier train` does.

    Parameters
    ----------
    labelled : documents to learn from, as `es.read` returns them.
    unlabelled : raw text to learn from; labels in it are not looked at.
    dev : labelled documents to choose a model by.
    progress : hears in words how it goes.
    task, model, method, rules, penalties, features, tags, settings, start : see `espalier.recipes.plan`.
    jobs : has no effect any more, and goes with the next release.

    Returns
    -------
    Trained

    Raises
    ------
    InputError
        What was asked for does not go together, or no document is labelled.

    Examples
    --------
    >>> import io
    >>> import espalier as es
    >>> from espalier.recipes import train
    >>> texts = "<fruit>plum</fruit> in <place>Ely</place>\\n<fruit>fig</fruit> near <place>Wye</place>"
    >>> trained = train(es.read(io.StringIO(texts), "inline"), rules="Once: each field once")
    >>> trained.estimator.predict([["plum", "near", "Ely"]])
    [['B-fruit', 'O', 'B-place']]
    """
    if jobs is not None:
        what = f"jobs={jobs!r} has no effect, and the next release has no such parameter: leave it out"
        warnings.warn(what, FutureWarning, stacklevel=2)
    recipe = plan(
        task=task, model=model, method=method, rules=rules, penalties=penalties, features=features, tags=tags,
        settings=settings, unlabelled=unlabelled is not None, start=start,
    )  # fmt: skip
    return fit(recipe, labelled, unlabelled=unlabelled, dev=dev, progress=progress)


def fit(
    recipe: Recipe,
    labelled: Sequence[Document],
    *,
    unlabelled: Sequence[Document] | None = None,
    dev: Sequence[Document] = (),
    progress: News | None = None,
) -> Trained:
    """Fit the estimator of a recipe to documents; the arguments are those of `train`.

    Returns
    -------
    Trained
        The recipe's own estimator, fitted.
    """
    from espalier.corpus import Corpus

    open_ = sum(document.spans is None for document in labelled)
    if open_ == len(labelled):
        hint = ("raw text is for ", Argument("train", "unlabelled"))
        raise InputError(f"none of the {len(labelled)} training records is labelled", hint=hint)
    if open_:
        what = f"training records without labels: {open_}; their labels count as unknown"
        warnings.warn(what, ResultWarning, stacklevel=2)
    corpus = _corpus(recipe, labelled)
    text = None if unlabelled is None else Corpus.from_tokens([document.words for document in unlabelled])
    judges = Corpus.from_documents(dev, marks=recipe.marks) if dev else None
    _listen(recipe.estimator, progress)
    more: dict[str, Any] = {} if text is None else {"unlabelled": text}
    if judges is not None and (text is not None or recipe.under_rules):
        more["dev"] = judges
    model = recipe.estimator.fit(corpus, **more)
    sizes = {"records": len(corpus), "unlabelled": open_, "tokens": corpus.n_tokens, "labels": len(model.labels_)}
    if text is not None:
        sizes |= {"pool_records": len(text), "pool_tokens": text.n_tokens}
    history = [_record(state) for state in getattr(model, "history_", ())]
    return Trained(recipe, sizes, history, getattr(model, "cycle_", None), _beside(recipe, judges))


def check_labels(recipe: Recipe, documents: Sequence[Document]) -> None:
    """Refuse a label that the task of a recipe does not declare."""
    if recipe.labels is not None:
        _corpus(recipe, documents)


def _corpus(recipe: Recipe, documents: Sequence[Document]) -> Corpus:
    """Return labelled documents with the labels of the task, else with those of the data.

    A field that has one word in all examples may have two in the next text: its I- tag is there all the same. So is a
    field that rules name and no example has, unless its name looks like a slip.
    """
    from espalier.corpus import Corpus, Labels
    from espalier.tags import with_inside

    labels = recipe.labels
    if labels is None:
        found = Corpus.from_documents(documents, marks=recipe.marks).labels
        names = [] if found is None else [*found.names]
        new = _named_by_rules(recipe, names)
        if new:
            what = f"the rules name {listed(new)}, which no training record has"
            warnings.warn(f"{what}: a field all the same, for other texts", ResultWarning, stacklevel=3)
        names += [f"B-{name}" if recipe.marks else name for name in new]
        labels = None if found is None else Labels(with_inside(names) if recipe.marks else sorted(names))
    try:
        return Corpus.from_documents(documents, vocabulary=labels, marks=recipe.marks)
    except LabelError as error:
        raise error.noted(f"the labels are those that the task {recipe.task} lists") from None


def _named_by_rules(recipe: Recipe, names: Sequence[str]) -> list[str]:
    """Return the fields that rules name and that no label stands for, but for slips and parts of a hierarchy."""
    from espalier.rules.nodes import fields_of, known_fields, unknown_field

    known = known_fields(names)
    named = dict.fromkeys(name for rule in recipe.rules for one in fields_of(rule.node) for name in one.names)
    new = [name for name in named if "/" not in name and "*" not in name and unknown_field([name], known) is not None]
    return [name for name in new if names and not nearest(name, known)]


def _beside(recipe: Recipe, dev: Corpus | None) -> dict[str, float]:
    """Return the token accuracy of the model that the fitted one should surpass."""
    supervised = getattr(recipe.estimator, "supervised_score_", None)
    if supervised is not None:
        return {"supervised": supervised}
    return {"without rules": recipe.estimator.base_.score(dev)} if recipe.under_rules and dev is not None else {}


def _listen(estimator: Any, news: News | None) -> None:
    """Let `news` hear of every cycle of a method and every iteration of the model inside it."""
    latest = [""]

    def cycle(state: Any) -> None:
        assert news is not None
        latest[0] = _words(state)
        news(latest[0])

    def iteration(state: Minimum) -> None:
        assert news is not None
        news(f"{latest[0]}  iteration {state.iterations}  objective {state.value:,.1f}".strip())

    model = estimator if news is not None else None
    while model is not None:
        own = model.get_params(deep=False)
        inner = own.get("model", own.get("base"))
        if "progress" in own:
            model.set_params(progress=iteration if inner is None else cycle)
        model = inner


def _record(state: Any) -> dict[str, Any]:
    """Return one record of a method's history as names and numbers."""
    return asdict(state) if is_dataclass(state) and not isinstance(state, type) else {"objective": float(state)}


def _words(state: Any) -> str:
    known = [(name.replace("_", " "), value) for name, value in _record(state).items() if value is not None]
    return "  ".join(f"{name} {value:,.4g}" for name, value in known)

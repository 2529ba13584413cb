"""What `train` does with documents, and what it tells of the learning."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.cli.console import complain
from espalier.cli.files import STANDARD
from espalier.cli.wording import counted
from espalier.corpus import Corpus, Labels
from espalier.document import Document
from espalier.errors import InputError, LabelError
from espalier.estimators.ccm import CCM
from espalier.learning.lbfgs import Minimum
from espalier.tags import OUTSIDE, path_of

if TYPE_CHECKING:
    from espalier.cli.recipe import Recipe

__all__ = ["Learning", "as_declared", "as_learned", "fit", "model_output", "save"]

News = Callable[[str], None]


def model_output(path: Path | None, task: str | None) -> Path:
    """Return where to write the model: the file that was named, else one with the name of the task.

    A place where no model can be written is refused before the time for training is spent, and so is a file that is
    there but that nobody named.
    """
    if path is None:
        path = Path(f"{Path(task or 'model').stem}.espalier")
        if os.path.lexists(path):
            raise InputError(f"{path} is there already; name the file to write: --output {path} replaces it")
    if path == STANDARD:
        raise InputError("a model cannot be written to stdout; name a file, such as -o my.espalier")
    if path.is_dir():
        raise InputError(f"{path} is a directory; name a file in it, such as -o {path / 'my.espalier'}")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"{path}: the directory {str(path.parent)!r} does not exist or cannot be written")
    return path


def as_declared(recipe: Recipe, documents: Sequence[Document]) -> list[Document]:
    """Return documents with the labels that the task declares, where those of other schemes are understood."""
    from espalier.cli.adapting import converted

    if not recipe.schemes or recipe.labels is None:
        return list(documents)
    return converted(documents, recipe.labels.names)


def as_learned(recipe: Recipe, documents: Sequence[Document]) -> list[Document]:
    """Return documents to learn from, `as_declared`; a label that the task does not declare is an error."""
    declared = as_declared(recipe, documents)
    if recipe.labels is not None:
        _corpus(recipe, declared)
    return declared


def save(recipe: Recipe, path: Path) -> None:
    """Write the fitted estimator to a file."""
    if recipe.start is None:
        recipe.estimator.save(path)
    else:
        recipe.start.save(recipe.estimator, path)


def fit(
    recipe: Recipe,
    documents: Sequence[Document],
    *,
    pool: Sequence[Document] | None,
    dev: Sequence[Document],
    news: News,
) -> dict[str, int]:
    """Fit the estimator to documents, and return the sizes; `news` hears how it goes.

    pool : documents whose labels are not looked at, None without any; dev : labelled documents to choose by, or none.
    """
    unlabelled = sum(document.spans is None for document in documents)
    if unlabelled == len(documents):
        raise InputError(f"none of the {len(documents)} training records is labelled; raw text is for --unlabelled")
    if unlabelled:
        complain(f"training records without labels: {unlabelled}; their labels count as unknown")
    corpus = _corpus(recipe, documents)
    text = None if pool is None else Corpus.from_tokens([document.words for document in pool])
    _listen(recipe.estimator, news)
    recipe.estimator.fit(corpus, **_also(recipe, text, dev))
    sizes = {
        "records": len(corpus),
        "unlabelled": unlabelled,
        "tokens": corpus.n_tokens,
        "labels": len(recipe.estimator.labels_),
    }
    return sizes if text is None else sizes | {"pool_records": len(text), "pool_tokens": text.n_tokens}


def _corpus(recipe: Recipe, documents: Sequence[Document]) -> Corpus:
    """Return labelled documents with the labels of the task, if there is one."""
    try:
        corpus = Corpus.from_documents(documents, vocabulary=recipe.labels, marks=recipe.marks)
    except LabelError as error:
        raise error.noted(f"the labels are those that the task {recipe.task} lists") from None
    if recipe.kind != "semicrf" or not recipe.rules.K or not recipe.marks:
        return corpus
    # Rules see segments as tags, and one of them may be longer or shorter than all in the data.
    assert corpus.labels is not None
    fields = {path_of(name) for name in corpus.labels} - {OUTSIDE}
    both = Labels(sorted({*corpus.labels, *(f"{mark}-{field}" for field in fields for mark in "BI")}))
    return Corpus.from_documents(documents, vocabulary=both, marks=True)


def _also(recipe: Recipe, pool: Corpus | None, dev: Sequence[Document]) -> dict[str, Any]:
    """Return what `fit` takes besides labelled sequences: the pool, and labelled data to choose by."""
    more: dict[str, Any] = {} if pool is None else {"unlabelled": pool}
    if dev and (pool is not None or isinstance(recipe.estimator, CCM)):
        more["dev"] = Corpus.from_documents(dev, marks=recipe.marks)
    return more


def _listen(estimator: Any, news: News) -> None:
    """Let `news` hear of every cycle of a method and every iteration of the model inside it."""
    latest = [""]

    def cycle(state: Any) -> None:
        latest[0] = _words(state)
        news(latest[0])

    def iteration(state: Minimum) -> None:
        news(f"{latest[0]}  iteration {state.iterations}  objective {state.value:,.1f}".strip())

    model = estimator
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


@dataclass(frozen=True, slots=True)
class Learning:
    """How a method came to its model.

    history : a record for each cycle; kept : the cycle whose model was kept, None if nothing was chosen; beside : what
    the model is compared with, by name: token accuracy on the held-out records.
    """

    method: str
    history: Sequence[Mapping[str, Any]]
    kept: int | None
    judged: bool
    beside: Mapping[str, float]

    @classmethod
    def of(cls, recipe: Recipe, dev: Sequence[Document]) -> Learning:
        """Collect it from a fitted estimator."""
        model, method = recipe.estimator, recipe.method.value
        beside: dict[str, float] = {}
        if getattr(model, "supervised_score_", None) is not None:
            beside["supervised"] = model.supervised_score_
        elif isinstance(model, CCM) and dev:
            beside["without rules"] = model.base_.score(Corpus.from_documents(dev, marks=recipe.marks))
        history = [_record(state) for state in getattr(model, "history_", ())]
        return cls(method, history, getattr(model, "cycle_", None), bool(dev), beside)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able form; empty where there is nothing to tell."""
        found = {"kept": self.kept, "history": list(self.history)} if self.history else {}
        return found | ({"beside": dict(self.beside)} if self.beside else {})

    def lines(self) -> list[str]:
        """Say it in a line, or not at all."""
        if self.kept is None or not self.history:
            return []
        which = f"the model of cycle {self.kept}" if self.kept else "the supervised model"
        why = (
            "the best by the held-out records" if self.judged else "the last; only --dev can tell whether it is better"
        )
        return [f"{self.method}: {counted(len(self.history), 'step')}; kept {which}, {why}"]

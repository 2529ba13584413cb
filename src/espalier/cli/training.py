"""What `train` does with documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from espalier.cli.console import complain
from espalier.cli.files import STANDARD
from espalier.corpus import Corpus
from espalier.document import Document
from espalier.errors import InputError
from espalier.learning.lbfgs import Minimum

__all__ = ["check_output", "fit"]


def check_output(path: Path) -> None:
    """Refuse a place where no model can be written, before the time for training is spent."""
    if path == STANDARD:
        raise InputError("a model cannot be written to stdout; name a file, such as -o my.espalier")
    if path.is_dir():
        raise InputError(f"{path} is a directory; name a file in it, such as -o {path / 'my.espalier'}")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"{path}: the directory {str(path.parent)!r} does not exist or cannot be written")


def fit(estimator: Any, documents: Sequence[Document], *, marks: bool, news: Callable[[str], None]) -> dict[str, int]:
    """Fit an estimator to labelled documents, and return the sizes; `news` hears how it goes."""
    unlabelled = sum(document.spans is None for document in documents)
    if unlabelled == len(documents):
        raise InputError(f"none of the {len(documents)} training records is labelled")
    if unlabelled:
        complain(f"training records without labels: {unlabelled}; their labels count as unknown")
    corpus = Corpus.from_documents(documents, marks=marks)

    def told(state: Any) -> None:
        news(
            f"iteration {state.iterations}  objective {state.value:,.1f}" if isinstance(state, Minimum) else str(state)
        )

    if "progress" in estimator.get_params(deep=False):
        estimator.set_params(progress=told)
    estimator.fit(corpus)
    return {
        "records": len(corpus),
        "unlabelled": unlabelled,
        "tokens": corpus.n_tokens,
        "labels": len(estimator.labels_),
    }

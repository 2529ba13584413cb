"""`load`: from a model file back to a fitted estimator; the file is data, and nothing in it is executed."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from espalier import store
from espalier.corpus import Labels
from espalier.errors import ModelFileError, did_you_mean
from espalier.estimators.base import SequenceLabeller

__all__ = ["KINDS", "load"]

KINDS = {
    "crf": ("espalier.estimators.crf", "CRF"),
    "hmm": ("espalier.estimators.hmm", "HMM"),
    "perceptron": ("espalier.estimators.perceptron", "Perceptron"),
    "semicrf": ("espalier.estimators.semicrf", "SemiCRF"),
}
"""The kind in a model file's header, and the class it names: a closed list, so a file cannot name anything else."""


def load(path: str | os.PathLike[str]) -> SequenceLabeller:
    """Return the fitted estimator that `save` wrote."""
    header, arrays = store.load(path)
    kind = header.get("kind")
    if kind not in KINDS:
        raise ModelFileError(f"{path}: holds a model of unknown kind {kind!r}{did_you_mean(str(kind), KINDS)}")
    module, name = KINDS[kind]
    estimator: Any = getattr(import_module(module), name)()
    known = estimator.get_params(deep=False)
    estimator.set_params(**{k: v for k, v in header["parameters"].items() if k in known})
    try:
        estimator._restore(header, arrays)
        estimator.labels_ = Labels(header["labels"])
        estimator.training_digest_ = header["training_data"]
    except (KeyError, TypeError, IndexError) as error:
        raise ModelFileError(f"{path}: the model file lacks or misshapes a part: {error!r}") from error
    assert isinstance(estimator, SequenceLabeller)
    return estimator

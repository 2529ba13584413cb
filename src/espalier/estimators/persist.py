"""Model files: a fitted estimator as a header and arrays, and back; a file is data, and nothing in it is executed.

`pack` and `unpack` are each other's inverse. An estimator that holds another one packs it into its own state: the inner
header under a name, the inner arrays under that name and a slash (`nested`, `unnested`).
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import store
from espalier.corpus import Labels
from espalier.errors import InputError, ModelFileError
from espalier.estimators.base import SequenceLabeller
from espalier.estimators.kinds import BUNDLED, class_of

__all__ = ["load", "nested", "pack", "unnested", "unpack"]

NOT_KEPT = ("jobs", "threads")
"""Parameters that say where to work, not what to learn: a model file does not depend on them."""

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


def pack(estimator: SequenceLabeller) -> tuple[Header, Arrays]:
    """Return what a model file holds of a fitted estimator: JSON and arrays.

    Parameters that JSON cannot hold, features or an infinite penalty for instance, are part of the estimator's state.
    """
    kind = getattr(estimator, "kind", None)
    if kind is None or not isinstance(estimator, SequenceLabeller):
        raise InputError(
            f"a {type(estimator).__name__} cannot be stored in a model file",
            hint=(f"derive it from SequenceLabeller, with a `kind` of its own (there are {', '.join(BUNDLED)})"),
        )
    estimator.check_fitted()
    extra, arrays = estimator.state()
    given = {n: v.item() if isinstance(v, np.generic) else v for n, v in estimator.get_params(deep=False).items()}
    params = [(name, v) for name, v in given.items() if name not in NOT_KEPT and (name not in extra or v != math.inf)]
    header = {
        "kind": kind,
        "parameters": {name: v for name, v in params if isinstance(v, (str, int, float, bool, type(None)))},
        "labels": list(estimator.labels_.names),
        "training_data": estimator.training_digest_,
    }
    return header | extra, arrays


def unpack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> SequenceLabeller:
    """Return the fitted estimator that `pack` took apart; whatever does not fit is a ModelFileError."""
    estimator = _empty(class_of(header.get("kind")))
    try:
        known = estimator.get_params(deep=False)
        estimator.set_params(**{k: v for k, v in header["parameters"].items() if k in known})
        estimator.restore(header, arrays)
        estimator.labels_ = Labels(header["labels"])
        estimator.training_digest_ = header["training_data"]
    except (KeyError, TypeError, IndexError, AttributeError, InputError) as error:
        raise ModelFileError(f"the model file lacks or misshapes a part: {error!r}") from error
    return estimator


def _empty(cls: type[SequenceLabeller]) -> SequenceLabeller:
    """Make an estimator with None for what its constructor asks for; `restore` knows better."""
    parameters = inspect.signature(cls).parameters.values()
    return cls(**{p.name: None for p in parameters if p.default is p.empty})


def nested(name: str, estimator: SequenceLabeller) -> tuple[Header, Arrays]:
    """Pack an estimator under a name, for the state of the one that holds it."""
    header, arrays = pack(estimator)
    return {name: header}, {f"{name}/{key}": array for key, array in arrays.items()}


def unnested(name: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> SequenceLabeller:
    """Return the estimator that `nested` packed under a name."""
    prefix = f"{name}/"
    inner = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
    return unpack(header[name], inner)


def load(path: str | os.PathLike[str]) -> SequenceLabeller:
    """Return the fitted estimator that `save` wrote."""
    header, arrays = store.load(path)
    try:
        return unpack(header, arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error

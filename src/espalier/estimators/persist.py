"""Model files: a fitted estimator as a header and arrays, and back; the kinds of models that files may hold.

A file is data, and nothing in it is executed. `pack` and `unpack` are each other's inverse. An estimator that holds
another one packs it into its own state: the inner header under a name, the inner arrays under that name and a slash
(`nested`, `unnested`).

A model registers its kind where it is defined (`SequenceLabeller.__init_subclass__`), so a model of your own can be
loaded once its module is imported. Those that a package brings (`registry`) are imported when a file holds one. Nothing
heavy is imported here before it is needed: whoever asks for the names of kinds loads no model.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from espalier.errors import InputError, ModelFileError, nearest
from espalier.registry import Registered, ours

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from espalier.estimators.base import SequenceLabeller

    Arrays = dict[str, NDArray[Any]]

__all__ = ["LEARNERS", "MODELS", "class_of", "load", "nested", "pack", "register", "unnested", "unpack"]

MODELS = Registered("models", type)
"""The kinds of models that read text by themselves, and the class of each: `train` offers them, in this order."""

LEARNERS = Registered("learners", type)
"""The kinds of all other estimators that a model file may hold: most hold a model."""

_CLASSES: dict[str, type[SequenceLabeller]] = {}
# Module state, on purpose: the classes that were defined so far, by kind.


def register(cls: type[SequenceLabeller]) -> None:
    """Remember a class by its kind; a kind that another class has is an error."""
    known = _CLASSES.get(cls.kind)
    place = {**ours("models"), **ours("learners")}.get(cls.kind, cls.__module__)
    if place.partition(":")[0] != cls.__module__ or (known is not None and known.__qualname__ != cls.__qualname__):
        raise InputError(f"there is a model of kind {cls.kind!r} already", hint=f"give {cls.__name__} another kind")
    _CLASSES[cls.kind] = cls


def class_of(kind: Any) -> type[SequenceLabeller]:
    """Return the model class that a kind names: one that was defined before, or one that a package brings."""
    name = kind if isinstance(kind, str) else ""
    for known in sorted((MODELS, LEARNERS), key=lambda known: name not in ours(known.group)):  # others cost time
        if name not in _CLASSES and name in known:
            found = known[name]  # which is imported, and so registered: whoever loads a CRF never waits for the others
            if name not in _CLASSES:
                raise ModelFileError(
                    f"{found.__module__}:{found.__qualname__} is registered as a model of kind {name!r}",
                    hint="give the class that `kind`, and derive it from SequenceLabeller",
                )
    if name not in _CLASSES:
        other = "a later Espalier may have written it, or it is your own: then import its class first"
        hint = nearest(str(kind), {*MODELS, *LEARNERS, *_CLASSES}, other)
        raise ModelFileError(f"holds a model of unknown kind {kind!r}", hint=hint)
    return _CLASSES[name]


NOT_KEPT = ("jobs", "threads")
"""Parameters that say where to work, not what to learn: a model file does not depend on them."""

Header = dict[str, Any]


def pack(estimator: SequenceLabeller) -> tuple[Header, Arrays]:
    """Return what a model file holds of a fitted estimator: JSON and arrays.

    Parameters that JSON cannot hold, features or an infinite penalty for instance, are part of the estimator's state.
    """
    import numpy as np

    kind = getattr(estimator, "kind", None)
    if kind not in _CLASSES or not hasattr(estimator, "state"):
        raise InputError(
            f"a {type(estimator).__name__} cannot be stored in a model file",
            hint=f"derive it from SequenceLabeller, with a `kind` of its own (not {', '.join([*MODELS, *LEARNERS])})",
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
    from espalier.corpus import Labels

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


def checked_path(path: Any) -> str | os.PathLike[str]:
    """Return where to save; raise InputError for what is no path."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"save takes the path of a file, not {path!r}", hint="such as 'my.espalier'")
    return path


def nested(name: str, estimator: SequenceLabeller) -> tuple[Header, Arrays]:
    """Pack an estimator under a name, for the state of the one that holds it."""
    header, arrays = pack(estimator)
    return {name: header}, {f"{name}/{key}": array for key, array in arrays.items()}


def unnested(name: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> SequenceLabeller:
    """Return the estimator that `nested` packed under a name."""
    from espalier.store import below

    return unpack(header[name], below(f"{name}/", arrays))


def load(path: str | os.PathLike[str]) -> SequenceLabeller:
    """Return the fitted estimator that `save` wrote."""
    from espalier.store import load as load_file

    header, arrays = load_file(path)
    try:
        return unpack(header, arrays)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error

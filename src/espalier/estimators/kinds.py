"""The kinds of models that files may hold, and their classes.

A model registers its kind where it is defined (`SequenceLabeller.__init_subclass__`), so a model of your own can be
loaded once its module is imported. Those that come with Espalier are imported when a file holds one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from espalier.errors import InputError, ModelFileError, nearest

if TYPE_CHECKING:
    from espalier.estimators.base import SequenceLabeller

__all__ = ["BUNDLED", "MODELS", "class_of", "register"]

MODELS = {
    "crf": "espalier.estimators.crf",
    "hmm": "espalier.estimators.hmm",
    "perceptron": "espalier.estimators.perceptron",
    "semicrf": "espalier.estimators.semicrf",
    "conv_crf": "espalier.estimators.conv_crf",
}
"""The kinds of base models, and the module of each: `train` offers them, in this order."""

BUNDLED = MODELS | {
    "ccm": "espalier.estimators.ccm",
    "codl": "espalier.estimators.codl",
    "em": "espalier.estimators.em",
    "experts": "espalier.estimators.experts",
    "ge": "espalier.estimators.generalized_expectation",
    "pr": "espalier.estimators.posterior_regularization",
    "samplerank": "espalier.estimators.samplerank",
    "two_stage": "espalier.estimators.two_stage",
    "words": "espalier.estimators.word_learner",
}
"""The kinds of all models that come with Espalier, and their modules."""

_CLASSES: dict[str, type[SequenceLabeller]] = {}
# Module state, on purpose: the classes that were defined so far, by kind.


def register(cls: type[SequenceLabeller]) -> None:
    """Remember a class by its kind; a kind that another class has is an error."""
    known = _CLASSES.get(cls.kind)
    ours = cls.__module__.startswith("espalier.")
    if (cls.kind in BUNDLED and not ours) or (known is not None and known.__qualname__ != cls.__qualname__):
        raise InputError(f"there is a model of kind {cls.kind!r} already", hint=f"give {cls.__name__} another kind")
    _CLASSES[cls.kind] = cls


def class_of(kind: Any) -> type[SequenceLabeller]:
    """Return the model class that a kind names: one of Espalier's, or one that was defined before."""
    name = kind if isinstance(kind, str) else ""
    if name in BUNDLED and name not in _CLASSES:
        import_module(BUNDLED[name])  # which registers its class: whoever loads a CRF never waits for the others
    if name not in _CLASSES:
        other = "a later Espalier may have written it, or it is your own: then import its class first"
        hint = nearest(str(kind), {*BUNDLED, *_CLASSES}, other)
        raise ModelFileError(f"holds a model of unknown kind {kind!r}", hint=hint)
    return _CLASSES[name]

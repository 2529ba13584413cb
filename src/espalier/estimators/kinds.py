"""The kinds of models that files may hold, and their classes.

A model registers its kind where it is defined (`SequenceLabeller.__init_subclass__`), so a model of your own can be
loaded once its module is imported. Those that come with Espalier are imported when a file holds one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from espalier.errors import InputError, ModelFileError, nearest

if TYPE_CHECKING:
    from espalier.estimators.base import SequenceLabeller

__all__ = ["BUNDLED", "class_of", "register"]

BUNDLED = (
    "ccm", "codl", "conv_crf", "crf", "em", "experts", "ge", "hmm", "perceptron", "pr", "samplerank", "semicrf",
    "two_stage",
)  # fmt: skip
"""The kinds of the models that come with Espalier."""

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
    if kind in BUNDLED and kind not in _CLASSES:
        _import_bundled(kind)
    if not isinstance(kind, str) or kind not in _CLASSES:
        other = "a later Espalier may have written it, or it is your own: then import its class first"
        hint = nearest(str(kind), {*BUNDLED, *_CLASSES}, other)
        raise ModelFileError(f"holds a model of unknown kind {kind!r}", hint=hint)
    return _CLASSES[kind]


def _import_bundled(kind: str) -> None:
    """Import the module of a kind, which registers its class: whoever loads a CRF never waits for the others."""
    match kind:
        case "ccm":
            import espalier.estimators.ccm
        case "codl":
            import espalier.estimators.codl
        case "conv_crf":
            import espalier.estimators.conv_crf
        case "crf":
            import espalier.estimators.crf
        case "em":
            import espalier.estimators.em
        case "experts":
            import espalier.estimators.experts
        case "ge":
            import espalier.estimators.generalized_expectation
        case "hmm":
            import espalier.estimators.hmm
        case "perceptron":
            import espalier.estimators.perceptron
        case "pr":
            import espalier.estimators.posterior_regularization
        case "samplerank":
            import espalier.estimators.samplerank
        case "semicrf":
            import espalier.estimators.semicrf
        case _:
            import espalier.estimators.two_stage  # noqa: F401

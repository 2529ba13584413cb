"""What `train` is told in single words: models, methods, `--set NAME=VALUE` and penalties."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum
from typing import Any

from espalier.errors import InputError

__all__ = ["Kind", "MethodName", "parse_penalties", "parse_settings"]


class Kind(str, Enum):
    """The models that can be trained: `espalier.recipes.MODELS`."""

    hmm = "hmm"
    perceptron = "perceptron"
    crf = "crf"
    semicrf = "semicrf"


class MethodName(str, Enum):
    """The ways to train one: `espalier.recipes.METHODS`."""

    supervised = "supervised"
    codl = "codl"
    em = "em"
    samplerank = "samplerank"
    pr = "pr"
    ge = "ge"


_ELSEWHERE = {
    "features": "use --features",
    "rules": "use --rules",
    "penalties": "use --penalties",
    "base": "use --model",
    "model": "use --model",
    "progress": "",
    "word_classes": "train from Python",
}
"""Parameters that are objects, and the option that gives them."""


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Read `l2=0.5 rules.folds=3 method.gamma=0.9` into names and values.

    Values are as in JSON (numbers, true, false, null, lists, objects); anything else is a string.
    """
    chosen: dict[str, Any] = {}
    for setting in settings:
        name, sign, text = setting.partition("=")
        key = name.rpartition(".")[2]
        if not key or not sign:
            raise InputError(f"--set {setting}: expected NAME=VALUE, for example l2=0.5")
        if key in _ELSEWHERE:
            raise InputError(f"--set {setting}: {key} cannot be set here", hint=_ELSEWHERE[key])
        try:
            chosen[name] = json.loads(text)
        except (ValueError, RecursionError):
            chosen[name] = text
    return chosen


def parse_penalties(text: str) -> str | float:
    """Read `--penalties`: a number, or a word."""
    try:
        return float(text)
    except ValueError:
        return text

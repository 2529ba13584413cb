"""What `train` was told in single words: kinds, methods, `--set NAME=VALUE`, penalties, and a file of features."""

from __future__ import annotations

import inspect
import json
import math
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.errors import FormatError, InputError, did_you_mean

if TYPE_CHECKING:
    from espalier.features.extract import FeatureExtractor

__all__ = ["Kind", "Method", "configure", "make", "parse_penalties", "parse_settings", "read_features"]

PREFIXES = ("", "rules", "method")
"""Whom a setting is for: the model, the rules around it, or the learner around both."""

PENALTIES = ("count", "hard", "perceptron", "svm", "fixed")


class Kind(str, Enum):
    """The models that can be trained."""

    hmm = "hmm"
    perceptron = "perceptron"
    crf = "crf"
    semicrf = "semicrf"


class Method(str, Enum):
    """The ways to train one."""

    supervised = "supervised"
    codl = "codl"
    em = "em"
    samplerank = "samplerank"
    pr = "pr"
    ge = "ge"


def make(kind: str, *parts: Any) -> Any:
    """Return an unfitted estimator by the kind that model files know it by; `parts` are its first arguments."""
    from espalier.estimators.persist import class_of

    return class_of(kind)(*parts)


def configure(estimator: Any, chosen: Mapping[str, Any], where: str) -> Any:
    """Set parameters of an estimator; `where` stands before a name in messages, such as "--set "."""
    signature = inspect.signature(type(estimator).__init__).parameters
    for key, value in chosen.items():
        if key in signature:
            _check(f"{where}{key}", value, signature[key])
    return estimator.set_params(**chosen)


def _check(name: str, value: Any, parameter: inspect.Parameter) -> None:
    """Refuse a value whose kind differs from the only one declared, before an algorithm trips over it."""
    expected = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a word"}
    default = parameter.default
    if parameter.annotation not in expected:  # several kinds: the estimator knows which
        return
    fits = isinstance(value, type(default)) or (isinstance(default, float) and isinstance(value, int))
    if not fits or isinstance(value, bool) != isinstance(default, bool):
        example = f"{name.split()[-1]}={json.dumps(default)}"
        raise InputError(f"{name}={value}: expected {expected[parameter.annotation]}, such as {example}")


def parse_settings(settings: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Read `l2=0.5 rules.folds=3 method.gamma=0.9` into a table for each of "", "rules" and "method".

    Values are as in JSON (numbers, true, false, null, lists, objects); anything else is a string.
    """
    chosen: dict[str, dict[str, Any]] = {prefix: {} for prefix in PREFIXES}
    for setting in settings:
        name, sign, text = setting.partition("=")
        prefix, _, key = name.rpartition(".")
        if not key or not sign:
            raise InputError(f"--set {setting}: expected NAME=VALUE, for example l2=0.5")
        if prefix not in chosen:
            known = "; expected NAME, rules.NAME or method.NAME"
            raise InputError(f"--set {setting}: nothing is called {prefix!r}{did_you_mean(prefix, PREFIXES) or known}")
        if key in _ELSEWHERE:
            raise InputError(f"--set {setting}: {key} cannot be set here{_ELSEWHERE[key]}")
        try:
            chosen[prefix][key] = json.loads(text)
        except (ValueError, RecursionError):
            chosen[prefix][key] = text
    return chosen


_ELSEWHERE = {
    "features": "; use --features",
    "rules": "; use --rules",
    "penalties": "; use --penalties",
    "base": "; use --model",
    "model": "; use --model",
    "progress": "",
    "word_classes": "; train from Python",
}
"""Parameters that are objects, and the option that gives them."""


def parse_penalties(text: str) -> str | float:
    """Read `--penalties`: one of five words, or a number of at least 0."""
    if text in PENALTIES:
        return text
    try:
        price = float(text)
    except ValueError:
        price = math.nan
    if not 0 <= price < math.inf:
        near = did_you_mean(text, PENALTIES) or f"; expected {', '.join(PENALTIES)}, or a number of at least 0"
        raise InputError(f"--penalties {text}: unknown{near}")
    return price


def read_features(path: Path) -> FeatureExtractor:
    """Read the `[features]` table of a TOML file; lexicon files are relative to it."""
    from espalier.features.extract import FeatureExtractor

    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or lists in lists in lists
        raise FormatError(f"not a TOML file: {error}", path=str(path)) from None
    if not isinstance(table.get("features"), dict):
        raise FormatError("has no [features] table; write one with a list 'templates'", path=str(path))
    try:
        return FeatureExtractor.from_table(table["features"], base=path.parent)
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(*error.args, path=str(path), hint=error.ways) from None

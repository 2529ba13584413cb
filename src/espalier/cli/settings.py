"""From what `train` was told to an estimator that is ready to fit."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.errors import FormatError, InputError

if TYPE_CHECKING:
    from espalier.features.extract import FeatureExtractor

__all__ = ["Kind", "make_estimator", "parse_settings", "read_features"]


class Kind(str, Enum):
    """The models that can be trained."""

    hmm = "hmm"
    perceptron = "perceptron"
    crf = "crf"
    semicrf = "semicrf"


def make_estimator(kind: Kind, features: Path | None, settings: Sequence[str]) -> Any:
    """Return an estimator of that kind with the features of a task file and the given parameters."""
    from espalier.estimators.persist import KINDS

    module, name = KINDS[kind.value]
    estimator = getattr(import_module(module), name)()
    chosen = parse_settings(settings)
    for key, value in chosen.items():
        _check(key, value, estimator.get_params(deep=False).get(key))
    if features is not None:
        chosen["features"] = read_features(features)
    return estimator.set_params(**chosen)


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Read `l2=0.5 transitions=all`: numbers, true, false and null as in JSON, anything else is a string."""
    chosen: dict[str, Any] = {}
    for setting in settings:
        key, sign, text = setting.partition("=")
        if not key or not sign:
            raise InputError(f"--set {setting}: expected NAME=VALUE, for example l2=0.5")
        if key in ("features", "progress"):
            raise InputError(f"--set {setting}: {key} cannot be set here{'; use --features' * (key == 'features')}")
        try:
            chosen[key] = json.loads(text)
        except ValueError:
            chosen[key] = text
    return chosen


def _check(key: str, value: Any, default: Any) -> None:
    """Refuse a value whose kind differs from the default's, before an algorithm trips over it."""
    expected = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}.get(type(default))
    fits = isinstance(value, type(default)) or (isinstance(default, float) and isinstance(value, int))
    if expected and (not fits or isinstance(value, bool) != isinstance(default, bool)):
        raise InputError(f"--set {key}={value}: expected {expected}, such as {key}={json.dumps(default)}")


def read_features(path: Path) -> FeatureExtractor:
    """Read the `[features]` table of a TOML file; lexicon files are relative to it."""
    from espalier.features.extract import FeatureExtractor

    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # not TOML, or not UTF-8
        raise FormatError(f"not a TOML file: {error}", path=str(path)) from None
    if not isinstance(table.get("features"), dict):
        raise FormatError("has no [features] table; write one with a list 'templates'", path=str(path))
    try:
        return FeatureExtractor.from_table(table["features"], base=path.parent)
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(str(error), path=str(path)) from None

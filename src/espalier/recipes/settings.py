"""What is typed about a training: parameters as words, the price of rules, the file of the model."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from espalier.errors import InputError

__all__ = ["model_output", "parse_penalties", "parse_settings"]

_ELSEWHERE = {
    "features": "use --features",
    "rules": "use --rules",
    "penalties": "use --penalties",
    "base": "use --model",
    "model": "use --model",
    "progress": "",
    "map": "train from Python",
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


def model_output(path: Path | None, task: str | None) -> Path:
    """Return where to write the model: the file that was named, else one with the name of the task.

    A place where no model can be written is refused before the time for training is spent, and so is a file that is
    there but that nobody named.
    """
    if path is None:
        path = Path(f"{Path(task or 'model').stem}.espalier")
        if os.path.lexists(path):
            raise InputError(f"{path} is there already", hint=f"name the file to write: --output {path} replaces it")
    if str(path) == "-":
        raise InputError("a model cannot be written to stdout", hint="name a file, such as -o my.espalier")
    if path.is_dir():
        raise InputError(f"{path} is a directory", hint=f"name a file in it, such as -o {path / 'my.espalier'}")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"{path}: the directory {str(path.parent)!r} does not exist or cannot be written")
    return path

"""The words of the command line: options instead of arguments, records from 1, one record but two records."""

from __future__ import annotations

import json
from collections.abc import Mapping

from espalier.errors import Argument, EspalierError, Part, Place

__all__ = ["counted", "in_options"]

# What stands for an argument of a function; {} is its value.
_OPTIONS: Mapping[tuple[str, str], str] = {
    ("read", "encoding"): "--encoding {}",
    ("read", "format"): "--from {}",
    ("read", "labels"): "from Python, es.read can be told a label for it",
    ("read", "repair"): "'espalier convert --repair'",
    ("write", "lossy"): "--lossy",
    ("fit", "labels"): "give a --task that lists it",
    ("fit", "rules"): "add --rules FILE",
    ("add", "no rules"): "add --rules none",
    ("add", "rules"): "add --rules FILE",
    ("add", "unlabelled"): "add --unlabelled FILE",
    ("method", "unlabelled_truth"): "--set method.unlabelled_truth={}",
    ("train", "start"): "--set prior",
}
# Where a command writes, the option that names the format.
_FORMAT_OPTION: Mapping[str, str] = {"label": "--format"}


def counted(n: int, what: str) -> str:
    """Return "1 record", "2 records" for a word whose plural ends in s."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def in_options(error: EspalierError, command: str) -> str:
    """Return the message of an error as a user of that command should read it."""

    def words(part: Part) -> str | None:
        if isinstance(part, Place):
            return f"record {part.sequence + 1}" + ("" if part.token is None else f", token {part.token + 1}")
        if isinstance(part, Argument):
            return _option(part, command)
        return part

    return error.told(words)


def _option(argument: Argument, command: str) -> str | None:
    """Return the option that stands for an argument; None if there is none."""
    function, name, value, _ = argument
    if (function, name) in _OPTIONS:
        return _OPTIONS[function, name].format(value)
    if (function, name) == ("write", "format"):
        return f"{_FORMAT_OPTION.get(command, '--to')} {value}"
    if (function, name) == ("train", "tags"):
        return "--tags" if value else "--plain"
    if function == "set":
        return f"--set {name}" + ("" if value is ... else f"={value if isinstance(value, str) else json.dumps(value)}")
    if function in command.split():  # what Python and the command line call alike
        return f"--{name}" + ("" if value is ... else f" {value}")
    return None

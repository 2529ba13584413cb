"""What people type by mistake, and what they are told: a number with a comma, a file that is named a little wrong ...

Typer says what is wrong in words of its own, which differ between its versions. Here the same is said in plain words,
with what to type instead where that can be guessed.
"""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args, get_type_hints

from espalier.errors import InputError, nearest

__all__ = ["SPREADSHEETS", "in_plain_words", "unopened"]

SPREADSHEETS = (".xlsx", ".xls", ".ods")
"""Ends of names that ask for a spreadsheet; what spreadsheets open and we write is CSV."""


def in_plain_words(
    error: Any,
    arguments: Sequence[str],
    named: Sequence[str],
    commands: Sequence[str],
    command: Callable[..., None] | None,
) -> str:
    """Return what is wrong with a command line that Typer refused.

    named : the words of the command that was found, none if none was; command : its function; commands : the first
    words of all.
    """
    if not named and (words := _options_first(arguments, commands)):
        return words
    if named and (words := _bare_files(arguments)):
        return words
    number = None if command is None else _number(error, arguments, command)
    if number is not None:
        return number
    said = str(error.format_message()).replace("Value error, ", "")
    return f"{said} (see 'espalier {''.join(f'{word} ' for word in named)}--help')"


def _options_first(arguments: Sequence[str], commands: Sequence[str]) -> str:
    """Tell who wrote options before the command where they belong; "" for any other line."""
    at = next((i for i, word in enumerate(arguments) if word in commands), 0)
    if not at or not arguments[0].startswith("-"):
        return ""
    right = shlex.join([arguments[at], *arguments[at + 1 :], *arguments[:at]])
    return f"{arguments[0]}: options stand after the command; write: espalier {right}"


def _bare_files(arguments: Sequence[str]) -> str:
    """Tell who named files without options, as AnyStyle has it, which options `train` has; "" for any other line."""
    files = list(takewhile(lambda word: not word.startswith("-"), arguments[1:3]))
    if arguments[0] != "train" or not files or {"-l", "--labelled"} & {*arguments}:
        return ""
    options = shlex.join(part for pair in zip(("--labelled", "--output"), files, strict=False) for part in pair)
    hint = f"write: espalier train {options}, and for references --task citations"
    return f"{files[0]}: train takes files by options alone; {hint}"


def _number(error: Any, arguments: Sequence[str], command: Callable[..., None]) -> str | None:
    """Say that an option needs a number, and got none; None if that is not what is wrong."""
    option = getattr(error, "param", None)
    wanted = get_type_hints(command).get(getattr(option, "name", None) or "")
    kinds = {wanted, *get_args(wanted)}
    given = None if option is None else _value(arguments, option.opts)
    if given is None or not kinds & {int, float} or _is(float if float in kinds else int, given[1]):
        return None
    name, text = given
    if float not in kinds:
        return f"{name} {text}: a whole number is needed here, such as 2"
    point = text.replace(",", ".")
    hint = f"; did you mean {point}?" if text.count(",") == 1 and _is(float, point) else ", such as 0.8"
    return f"{name} {text}: a number is needed here{hint}"


def _value(arguments: Sequence[str], names: Sequence[str]) -> tuple[str, str] | None:
    """Return the option as it was written, and its value: `-k two`, `--jobs=two`, `-ktwo`."""
    for i, word in enumerate(arguments):
        for name in names:
            if word == name and i + 1 < len(arguments):
                return name, arguments[i + 1]
            if word.startswith(f"{name}=") or (word.startswith(name) and name[:2] != "--"):
                return name, word[len(name) :].removeprefix("=")
    return None


def _is(kind: type[int] | type[float], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def unopened(error: OSError, path: Path | str, hint: str = "") -> InputError:
    """Return the error of a file that could not be opened: is its folder missing, is there one of a like name?

    hint : what to do, where no name is near.
    """
    folder, name = os.path.split(path)
    if error.errno != errno.ENOENT:
        return InputError(f"{path}: {error.strerror}", hint=hint)
    if folder and not os.path.isdir(folder):
        return InputError(f"{path}: the folder {folder} does not exist", hint=hint)
    try:
        near = nearest(name, os.listdir(folder or "."), hint)
    except OSError:
        near = hint
    return InputError(f"{path}: {error.strerror}", hint=near)

"""The exceptions of Espalier; every message says what is wrong, where, and what to do.

    EspalierError
    ├── InputError            (ValueError)      an argument is wrong
    │   ├── FormatError                         a data file is malformed: path, line, what
    │   ├── LabelError                          a label that is unknown or was never seen
    │   └── RuleError                           a rule's text is wrong: column, what, nearest word
    ├── ModelFileError        (ValueError)      a model file is truncated, tampered with or too new
    ├── NotFittedError        (AttributeError)  an estimator was used before `fit`
    ├── InfeasibleError       (ValueError)      no labelling has a finite score
    └── MissingExtraError     (ImportError)     an optional package is not installed

and one warning, ResultWarning (UserWarning): there is a result, but not quite the one that was asked for.

A message is text with data in it: a `Place` in the data, an `Argument` of a function. `str(error)` says them as Python
does (`sequence 0`, `lossy=True`); whoever shows the message elsewhere says them in words of its own (`told`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

__all__ = [
    "Argument",
    "EspalierError",
    "FormatError",
    "InfeasibleError",
    "InputError",
    "LabelError",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
    "Place",
    "ResultWarning",
    "RuleError",
    "check_several",
    "counted",
    "in_order",
    "listed",
    "nearest",
    "shortened",
    "unopened",
]


class Place(NamedTuple):
    """A sequence, and perhaps a token of it, in a message; both count from 0. noun : what a sequence is called."""

    sequence: int
    token: int | None = None
    noun: str = "sequence"

    def __str__(self) -> str:
        """Return the place as Python counts."""
        return f"{self.noun} {self.sequence}" + ("" if self.token is None else f", token {self.token}")


class Argument(NamedTuple):
    """An argument of a function, in a message.

    function : whose it is, such as "read"; value : what to pass, `...` if that is up to the reader; said : what Python
    says instead of `name=value`.
    """

    function: str
    name: str
    value: Any = ...
    said: str = ""

    def __str__(self) -> str:
        """Return the argument as it is written in Python."""
        return self.said or f"{self.name}={'' if self.value is ... else repr(self.value)}"


Part = str | Place | Argument
Hint = Part | tuple[Part, ...]
Error = TypeVar("Error", bound="EspalierError")


class EspalierError(Exception):
    """The root: catch this to catch everything Espalier raises on purpose.

    Parameters
    ----------
    *message : what is wrong, and where: text, places and arguments, which are put together.
    hint : what to do about it, in the same form; a list has several ways.

    Examples
    --------
    >>> import espalier as es
    >>> try:
    ...     es.rules("Once: each feild once")
    ... except es.EspalierError as error:
    ...     print(type(error).__name__)
    RuleError
    """

    def __init__(self, *message: Part, hint: Hint | list[Hint] = "") -> None:
        """Keep the parts of the message."""
        super().__init__(*message)
        self.place: tuple[Part, ...] = ()
        ways = hint if isinstance(hint, list) else [hint]
        self.ways: list[Any] = [(way,) if isinstance(way, str | Place | Argument) else way for way in ways]

    def __str__(self) -> str:
        """Return the message in Python's words."""
        return self.told(str)

    @property
    def what(self) -> str:
        """What is wrong."""
        return "".join(map(str, self.args))

    @property
    def where(self) -> str:
        """The place that the message begins with, empty if there is none."""
        return "".join(map(str, self.place))

    @property
    def parts(self) -> tuple[Part, ...]:
        """The message without the hint, the place first."""
        return (*self.place, ": ", *self.args) if self.place else self.args

    @property
    def hint(self) -> str:
        """What to do about it, empty if the message says it all."""
        return self._advice(str)

    def told(self, words: Callable[[Part], str | None]) -> str:
        """Return the message in other words than Python's.

        words : returns how a part is said; None if that cannot be said, and with it a way out that has such a part.
        """
        advice = self._advice(words)
        return "".join(words(part) or "" for part in self.parts) + (f"; {advice}" if advice else "")

    def _advice(self, words: Callable[[Part], str | None]) -> str:
        said = ([words(part) for part in way] for way in self.ways)
        return ", or ".join("".join(filter(None, way)) for way in said if any(way) and None not in way)

    def within(self: Error, *where: Part) -> Error:
        """Return the same error with a place before its message, such as the name of a file."""
        error = copy(self)
        error.place = (*where, ": ", *self.place) if self.place else where
        return error

    def noted(self: Error, *note: Part) -> Error:
        """Return the same error with a note in parentheses behind its hint."""
        error = copy(self)
        error.ways = [*self.ways[:-1], (*self.ways[-1], " (", *note, ")")]
        return error

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling between processes: what is kept of it is more than its arguments."""
        return (_rebuilt, (type(self), self.args, self.__dict__))


class InputError(EspalierError, ValueError):
    """An argument is wrong."""


class FormatError(InputError):
    """A data file is malformed; the message starts with `path:line:`."""

    def __init__(self, *complaint: Part, path: str = "", line: int = 0, hint: Hint | list[Hint] = "") -> None:
        """Compose the message from the place and the complaint."""
        super().__init__(*(shortened(part) if isinstance(part, str) else part for part in complaint), hint=hint)
        self.path, self.line = path, line
        self.place = (f"{path}:{line}" if line else path,) if path else ()


class LabelError(InputError):
    """A label that is unknown or was never seen."""


class RuleError(InputError):
    """A rule's text is wrong; the message shows the place with a caret.

    line, column : the place in the text, from 1; 0 if none is known. shown : the line, and below it the caret.
    """

    def __init__(
        self, *complaint: Part, line: int = 0, column: int = 0, shown: str = "", hint: Hint | list[Hint] = ""
    ) -> None:
        """Compose the message from the place and the complaint."""
        super().__init__(*complaint, hint=hint)
        self.line, self.column, self.shown = line, column, shown
        self.place = (f"line {line}, column {column}",) if line else ()

    def told(self, words: Callable[[Part], str | None]) -> str:
        """Return the message in other words, and the line with the caret."""
        return super().told(words) + (f"\n{self.shown}" if self.shown else "")


def _rebuilt(cls: type[EspalierError], args: tuple[Part, ...], state: dict[str, Any]) -> EspalierError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error


class ModelFileError(EspalierError, ValueError):
    """A model file is truncated, tampered with or written by a newer version."""


class NotFittedError(EspalierError, AttributeError):
    """An estimator was used before `fit`."""


class InfeasibleError(EspalierError, ValueError):
    """No labelling has a finite score."""


class MissingExtraError(EspalierError, ImportError):
    """An optional package is not installed; the message names the extra to install."""


class ResultWarning(UserWarning):
    """There is a result, but not quite the one that was asked for; the message says what stands in."""


_NEAR = 0.65  # of difflib: 1 is the same


def nearest(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the hint `did you mean 'x'?` for the nearest known word; `otherwise` if none is near.

    The word itself is no help where it is refused, nor is one that shares three letters of five by chance.
    """
    close = get_close_matches(word, [other for other in known if other != word], n=1, cutoff=_NEAR)
    return f"did you mean {close[0]!r}?" if close else otherwise


def listed(words: Iterable[str], most: int = 60) -> str:
    """Return words with commas between; of a very long list the rest is counted, never cut off in silence."""
    several = list(words)
    rest = f" and {len(several) - most} more" if len(several) > most else ""
    return ", ".join(several[:most]) + rest


def counted(n: int, what: str, several: str = "") -> str:
    """Return a number with its noun, such as `1 rule` or `2 rules`; several : the plural, if it is no `s` more."""
    return f"{n} {what if n == 1 else several or what + 's'}"


def shortened(what: str, longest: int = 600) -> str:
    """Return a message that can be read: of a longer one, the beginning and the end."""
    half = longest // 2
    return what if len(what) <= longest else f"{what[:half]} … {what[-half:]}"


def in_order(values: Any, what: str, hint: Hint) -> list[Any]:
    """Return several things that somebody passed, by their places, whatever numbers a Series of pandas gives them.

    What would be taken apart wrongly, or is no collection, is an error: a string, a mapping, a table, one thing alone.

    what : the name of the argument; hint : what to pass instead.
    """
    check_several(values, what, hint)
    return list(values)


def check_several(values: Any, what: str, hint: Hint) -> None:
    """Raise what `in_order` does; a stream is not touched."""
    if hasattr(values, "columns"):  # going over a table gives the names of its columns
        table = "pass one column of it, or make a corpus of it with espalier.bridges.frames.corpus_from_table"
        raise InputError(f"{what} is a table, a {type(values).__name__}", hint=table)
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise InputError(f"{what} is {type(values).__name__}", hint=hint)


def unopened(error: OSError, path: str | os.PathLike[str], hint: str = "") -> InputError:
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

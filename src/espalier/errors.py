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
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "EspalierError",
    "FormatError",
    "InfeasibleError",
    "InputError",
    "LabelError",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
    "ResultWarning",
    "RuleError",
    "did_you_mean",
    "shortened",
]


class EspalierError(Exception):
    """The root: catch this to catch everything Espalier raises on purpose."""


class InputError(EspalierError, ValueError):
    """An argument is wrong."""


class FormatError(InputError):
    """A data file is malformed; the message starts with `path:line:`."""

    def __init__(self, what: str, *, path: str = "", line: int = 0) -> None:
        """Compose the message from the place and the complaint."""
        what = shortened(what)
        self.path, self.line, self.what = path, line, what
        place = f"{path}:{line}: " if path and line else f"{path}: " if path else ""
        super().__init__(place + what)

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling between processes (keyword-only arguments need help)."""
        return (_rebuild_format_error, (self.what, self.path, self.line))


def _rebuild_format_error(what: str, path: str, line: int) -> FormatError:
    return FormatError(what, path=path, line=line)


class LabelError(InputError):
    """A label that is unknown or was never seen."""


class RuleError(InputError):
    """A rule's text is wrong; the message shows the place with a caret."""


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


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `"; did you mean 'x'?"` for the nearest known word, or an empty string."""
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def shortened(what: str, longest: int = 600) -> str:
    """Return a message that can be read: of a longer one, the beginning and the end."""
    half = longest // 2
    return what if len(what) <= longest else f"{what[:half]} … {what[-half:]}"

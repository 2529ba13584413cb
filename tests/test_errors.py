"""The exception tree is the one its docstring draws, and its members survive the trip between processes."""

from __future__ import annotations

import builtins
import pickle
import re

import pytest

from espalier import errors
from espalier.errors import EspalierError, FormatError, InputError, did_you_mean

CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, EspalierError)]


def drawn() -> dict[str, tuple[str, str]]:
    """Each name in the docstring's tree with its parent and the built-in exception it also is."""
    found: dict[str, tuple[str, str]] = {}
    parents: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^([│├└─ ]*)(\w+Error)(?:\s+\((\w+)\))?", line)
        if not match:
            continue
        indent, name, builtin = len(match[1]), match[2], match[3] or ""
        while parents and parents[-1][0] >= indent:
            parents.pop()
        found[name] = (parents[-1][1] if parents else "Exception", builtin)
        parents.append((indent, name))
    return found


def test_the_drawing_is_complete() -> None:
    assert set(drawn()) == {cls.__name__ for cls in CLASSES}
    assert set(errors.__all__) == {cls.__name__ for cls in CLASSES} | {"ResultWarning", "did_you_mean", "shortened"}


@pytest.mark.parametrize("cls", CLASSES)
def test_the_drawing_is_true(cls: type[EspalierError]) -> None:
    parent, builtin = drawn()[cls.__name__]
    bases = [base.__name__ for base in cls.__bases__]
    assert bases == [parent, builtin] if builtin else bases == [parent]
    if builtin:
        assert issubclass(cls, getattr(builtins, builtin))


@pytest.mark.parametrize("cls", CLASSES)
def test_pickling(cls: type[EspalierError]) -> None:
    error = pickle.loads(pickle.dumps(cls("something is wrong")))
    assert type(error) is cls
    assert str(error) == "something is wrong"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (FormatError("no tab", path="a.tsv", line=3), "a.tsv:3: no tab"),
        (FormatError("no tab", path="a.tsv"), "a.tsv: no tab"),
        (FormatError("no tab", line=3), "no tab"),
        (FormatError("no tab"), "no tab"),
    ],
)
def test_format_error_says_where(error: FormatError, message: str) -> None:
    assert str(error) == message
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path, again.line, again.what) == (message, error.path, error.line, "no tab")
    assert isinstance(again, InputError)


def test_did_you_mean() -> None:
    assert did_you_mean("titel", ["title", "date"]) == "; did you mean 'title'?"
    assert did_you_mean("xyzzy", ["title", "date"]) == ""
    assert did_you_mean("a", []) == ""

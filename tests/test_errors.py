"""The exception tree is the one its docstring draws, and its members survive the trip between processes."""

from __future__ import annotations

import ast
import builtins
import pickle
import re
from pathlib import Path

import pytest

from espalier import errors
from espalier.errors import Argument, EspalierError, FormatError, InputError, Part, Place, RuleError, nearest

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
    others = {"Argument", "Place", "ResultWarning", "check_several", "counted", "in_order", "listed", "nearest"}
    others |= {"shortened", "unopened"}
    assert set(errors.__all__) == {cls.__name__ for cls in CLASSES} | others


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


def test_nearest() -> None:
    assert nearest("titel", ["title", "date"]) == "did you mean 'title'?"
    assert nearest("xyzzy", ["title", "date"], "known: title, date") == "known: title, date"
    assert nearest("a", []) == ""


LOSSY = Argument("write", "lossy", True)
LABELS = Argument("fit", "labels", said="pass labels= to fit")


def loud(part: Part) -> str | None:
    """Say a message as some program might: places from 1, one option, and nothing of `fit`."""
    if isinstance(part, Place):
        return f"RECORD {part.sequence + 1}" + ("" if part.token is None else f"/{part.token + 1}")
    return {LOSSY: "--LOSSY", LABELS: None}.get(part, part.upper() if isinstance(part, str) else str(part))


@pytest.mark.parametrize(
    ("error", "python", "elsewhere"),
    [
        (InputError("odd", hint="do this"), "odd; do this", "ODD; DO THIS"),
        (InputError(Place(0, 2), ": odd"), "sequence 0, token 2: odd", "RECORD 1/3: ODD"),
        (InputError(Place(3, noun="document"), " is odd"), "document 3 is odd", "RECORD 4 IS ODD"),
        (InputError("odd", hint=(LOSSY, " works")), "odd; lossy=True works", "ODD; --LOSSY WORKS"),
        (
            InputError("odd", hint=[LABELS, ("use ", LOSSY)]),
            "odd; pass labels= to fit, or use lossy=True",
            "ODD; USE --LOSSY",
        ),
        (InputError("odd", hint=LABELS), "odd; pass labels= to fit", "ODD"),
        (FormatError("odd", path="a", line=2, hint=LOSSY), "a:2: odd; lossy=True", "A:2: ODD; --LOSSY"),
        (RuleError("odd", line=1, column=2, hint="no"), "line 1, column 2: odd; no", "LINE 1, COLUMN 2: ODD; NO"),
        (
            RuleError("odd", line=3, column=2, shown="x\n^"),
            "line 3, column 2: odd\nx\n^",
            "LINE 3, COLUMN 2: ODD\nx\n^",
        ),
    ],
)
def test_a_message_in_other_words(error: EspalierError, python: str, elsewhere: str) -> None:
    assert (str(error), error.told(loud)) == (python, elsewhere)
    again = pickle.loads(pickle.dumps(error.within("f.txt")))
    assert (str(again), again.told(loud)) == (f"f.txt: {python}", f"F.TXT: {elsewhere}")
    assert (again.hint, type(again)) == (error.hint, type(error))
    assert error.what.endswith("odd")


def test_an_argument_as_python_writes_it() -> None:
    assert [str(Argument("read", "encoding", value)) for value in (..., "latin-1", None)] == [
        "encoding=", "encoding='latin-1'", "encoding=None",
    ]  # fmt: skip


def hidden_hints(source: str) -> list[str]:
    """Messages of errors that say what to do behind a semicolon, where nobody can tell it from what is wrong."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in errors.__all__:
            texts = (part for argument in node.args for part in ast.walk(argument) if isinstance(part, ast.Constant))
            if node.func.id.endswith("Error") and not any(keyword.arg == "hint" for keyword in node.keywords):
                found += [text.value for text in texts if isinstance(text.value, str) and "; " in text.value]
    return found


def test_what_to_do_is_the_hint() -> None:
    assert hidden_hints('raise InputError(f"{x} is odd; make it even")') == [" is odd; make it even"]
    assert hidden_hints('raise InputError("odd", hint="make it even; or not")') == []
    root = Path(errors.__file__).parent
    assert [
        (path.name, *found) for path in root.rglob("*.py") if (found := hidden_hints(path.read_text("utf-8")))
    ] == []

"""The page of errors is true: its rows are run, and its classes are those of `errors`."""

from __future__ import annotations

import re

import pytest
from doc_errors import NAME, Row, raised, rows, stage
from doc_pages import page

from espalier import errors

PAGE = page(NAME)
ROWS = rows(PAGE)


@pytest.fixture(scope="module")
def names():
    with stage() as found:
        yield found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.code[:60])
def test_row(row: Row, names: dict[str, object]) -> None:
    """The code raises this class with this message; on the command line, this exit code and this line."""
    assert raised(row.code, names) == row, "run: python tests/docs/doc_errors.py"


def test_rows_are_read() -> None:
    tables = PAGE.split("| message |")[1:]
    assert len(tables) == 9
    assert len(ROWS) == sum(len(re.findall(r"^\| `", table, re.MULTILINE)) for table in tables) >= 70


def test_messages_say_what_to_do_and_are_of_ours() -> None:
    """Nothing that Python raises by accident: classes of `errors`, or files that are missing."""
    ours = set(errors.__all__) | {"FileNotFoundError"}
    for row in ROWS:
        assert row.kind in ours or row.kind in "12", row
        assert "Traceback" not in row.message
        assert "did you mean" not in row.message or row.message.count("?") == 1


def test_every_class_is_on_the_page() -> None:
    listed = dict(
        re.findall(r"^\| `(\w+)` \| (?:`(\w+)`)? ?\|", PAGE.split("| when |")[1].split("\n\n")[0], re.MULTILINE)
    )
    classes = {name for name in errors.__all__ if name.endswith("Error")}
    assert set(listed) == classes
    for name, also in listed.items():
        assert not also or also in {base.__name__ for base in getattr(errors, name).__mro__}
    shown = {row.kind for row in ROWS}
    assert classes - shown == {"EspalierError", "MissingExtraError"}  # the root, and what cannot be missing here

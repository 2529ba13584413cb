"""Plain text: lines, blocks, blank lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_documents import FLAT, LAW, read_text, through, written

from espalier.document import Document
from espalier.errors import InputError


def test_lines_and_blank_lines() -> None:
    text = "\ufeffone\r\n\n  two \n"
    assert [(d.text, d.meta["line"]) for d in read_text(text)] == [("one", 1), ("  two ", 3)]
    kept = read_text(text, "plain", blank="keep")
    assert [(d.text, d.meta["line"]) for d in kept] == [("one", 1), ("", 2), ("  two ", 3)]
    assert written(kept, "plain", blank="keep") == "one\n\n  two \n"


def test_blocks() -> None:
    found = read_text("\none\ntwo\n\n \nthree", "plain", blocks=True)
    assert [(d.text, d.meta["line"]) for d in found] == [("one\ntwo", 2), ("three", 6)]


@LAW
@given(text=st.text(max_size=20))
def test_round_trip_or_refusal(text: str) -> None:
    """Every text is read back as it was, or refused; by the definition of a line and a block."""
    document = Document.from_text(text)
    for blocks in (False, True):
        rows = text.split("\n")
        sayable = all(row.strip() and not row.endswith("\r") for row in rows) and (blocks or len(rows) == 1)
        if sayable:
            (back,) = through([document], "plain", blocks=blocks, reading={"blocks": blocks})
            assert (back.text, back.tokens) == (text, document.tokens)
        else:
            with pytest.raises(InputError, match="document 0: "):
                written([document], "plain", blocks=blocks)


def test_lossy() -> None:
    documents = [FLAT, Document.from_text("a\n\nb\r"), Document.from_text(" ")]
    assert written(documents, "plain", lossy=True) == f"{FLAT.text}\na  b\n"
    assert written(documents, "plain", lossy=True, blocks=True) == f"{FLAT.text}\n\na\nb\n\n"
    with pytest.raises(InputError, match="it is labelled, and plain text has no labels"):
        written([FLAT], "plain")


@pytest.mark.parametrize("options", [{"blank": "drop"}, {"blank": "keep", "blocks": True}])
def test_wrong_options(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match="blank"):
        read_text("a", "plain", **options)

"""The page about features prints what it shows, and its table names every field."""

from __future__ import annotations

from itertools import pairwise

import pytest
from doc_pages import Block, blocks, page, run_python

PAGE = page("docs/features.md")
CODE = [(one.text, below.text) for one, below in pairwise([*blocks(PAGE), Block("", "")]) if one.language == "python"]


@pytest.fixture(scope="module")
def printed() -> list[str]:
    names: dict[str, object] = {}
    return [run_python(code, "features", names) for code, _ in CODE]


@pytest.mark.parametrize("k", range(len(CODE)))
def test_blocks_print_what_stands_below_them(k: int, printed: list[str]) -> None:
    assert printed[k] == CODE[k][1]


def test_the_table_names_every_field() -> None:
    fields = [
        "word",
        "lower",
        "shape",
        "fullshape",
        "length",
        "flags",
        "bias",
        "edge",
        "quoted",
        "bracketed",
        "position",
    ]
    kinds = ["regex", "condition", "lexicon", "table", "vectors", "call", "sequence"]
    assert all(f"`{name}`" in PAGE for name in fields)
    assert all(f"`{kind}:" in PAGE for kind in kinds)

"""The page about anybody's scores prints what it shows, with the real packages where they are installed."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from doc_pages import Block, blocks, page, run_python

PAGE = page("docs/anybodys-scores.md")
PACKAGES = ("pycrfsuite", "sklearn_crfsuite", "spacy", "torch")
CODE = [
    (block.text, below.text) for block, below in pairwise([*blocks(PAGE), Block("", "")]) if block.language == "python"
]


def needed(code: str) -> list[str]:
    return [name for name in PACKAGES if f"import {name}\n" in code or f"bridges.{name}_" in code]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """What every block prints, in the order of the page; None where a package is not installed."""
    names: dict[str, object] = {}
    printed: dict[str, str | None] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("scores"))
        for code, _ in CODE:
            missing = [name for name in needed(code) if find_spec(name) is None]
            printed[code] = None if missing else run_python(code, "anybodys-scores", names)
    return printed


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("k", range(len(CODE)))
def test_blocks_print_what_stands_below_them(k: int, ran: dict[str, str | None]) -> None:
    code, shown = CODE[k]
    if ran[code] is None:
        pytest.skip(f"needs {', '.join(needed(code))}")
    assert ran[code] == shown


def test_the_bench_that_the_page_names_is_there() -> None:
    assert (Path(__file__).parents[2] / "bench" / "batches.py").exists()

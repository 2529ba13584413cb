"""When a net helps: the blocks of the page print what stands below them, and its tables are those of the study."""

from __future__ import annotations

from pathlib import Path

import pytest
from doc_pages import copy_examples, page, run_page

import espalier as es

NAME = "docs/experts.md"
RULES = Path(__file__).resolve().parents[2] / "examples" / "experts"


def test_blocks_print_what_stands_below_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_examples(tmp_path)
    monkeypatch.chdir(tmp_path)
    ran = list(run_page(NAME, skip=("python ",)))
    assert len(ran) >= 3
    for block, printed, shown in ran:
        assert printed == shown, block


@pytest.mark.parametrize("path", sorted(RULES.glob("*.rules")), ids=lambda path: path.stem)
def test_rules_of_the_study_are_read(path: Path) -> None:
    assert es.rules(path.read_text(encoding="utf-8")).K >= 10
    assert f"`{path.name}`" in page("examples/README.md")

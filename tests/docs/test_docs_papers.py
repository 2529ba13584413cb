"""The page about the papers: its blocks print what stands below them, and its tables are there."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest
from doc_pages import copy_examples, page, run_page

from espalier.papers.tables.registry import BY_NAME_ONLY
from espalier.registry import ours


def test_blocks_print_what_stands_below_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_examples(tmp_path)
    monkeypatch.chdir(tmp_path)
    ran = list(run_page("docs/papers.md"))
    assert len(ran) >= 4
    for block, printed, shown in ran:
        assert printed == shown, block


def test_every_table_is_of_a_paper() -> None:
    patterns = re.findall(r"\| `([\w*-]+)` \|$", page("docs/papers.md"), re.MULTILINE)
    tables = [name for name in ours("tables") if name not in BY_NAME_ONLY]
    assert [name for name in tables if sum(fnmatch(name, pattern) for pattern in patterns) != 1] == []

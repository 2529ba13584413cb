"""The page on the architecture: its walks are those of a run, and the files that it names are there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from write_walks import PAGE, WALK, with_walks  # noqa: E402

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_has_both_walks() -> None:
    assert [found[1] for found in WALK.finditer(TEXT)] == ["parse", "train"]


@pytest.mark.parametrize("name", ["parse", "train"])
def test_a_walk_is_what_a_run_meets(name: str) -> None:
    [walk] = [found for found in WALK.finditer(TEXT) if found[1] == name]
    written = f"<!-- walk: {walk[0]}<!-- end of walk -->"
    assert with_walks(written) == written, "run: python scripts/write_walks.py"


def test_files_that_are_named_are_there() -> None:
    for name in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|md))`", TEXT):
        assert any((place / name).exists() for place in (ROOT, ROOT / "src" / "espalier")), name

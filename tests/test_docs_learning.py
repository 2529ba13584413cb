"""The page about learning does what it says: blocks run and print what stands below them, commands run, names exist."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import shlex
import shutil
from pathlib import Path

import pytest

import espalier as es
from espalier.cli import main
from espalier.estimators.persist import class_of
from espalier.registry import ours

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def orchard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the examples, and nothing else."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_blocks_print_what_stands_below_them(orchard: Path) -> None:
    names: dict[str, object] = {}
    printed, shown = "", 0
    for language, block in BLOCKS:
        if language == "python":
            assert printed == "", "a block prints something, and nothing stands below it"
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block, "docs/learning.md", "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert block == printed
            printed, shown = "", shown + 1
    assert printed == ""
    assert shown >= 10


def test_commands(orchard: Path) -> None:
    """They run in a directory that has the examples, after the block of the page that cuts files out of these."""
    [cutting] = [block for language, block in BLOCKS if language == "python" and "write_text" in block]
    exec(compile(cutting, "docs/learning.md", "exec"), {"pathlib": pathlib})
    lines = [line for language, block in BLOCKS if language == "sh" for line in block.splitlines()]
    assert len(lines) >= 6
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, line


def test_every_learner_is_in_the_table() -> None:
    table = PAGE.split("| learner |")[1].split("\n\n")[0]
    named = set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE))
    core, papers = set(), set()
    for kind in ours("learners"):
        found = class_of(kind)
        (papers if found.__module__.startswith("espalier.papers") else core).add(found.__name__)
    assert named == core | {"WordClasses", "discover"}
    assert all(f"`{name}`" in PAGE.split("## The data of this page")[0] for name in papers)


def test_links_and_names_exist() -> None:
    for name in re.findall(r"\bes\.(\w+)", PAGE):
        assert hasattr(es, name)
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
    rules_page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## (.+)$", rules_page, re.MULTILINE)}
    assert set(re.findall(r"rules\.md#([\w-]+)", PAGE)) <= headings

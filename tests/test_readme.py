"""The README does what it says: its Python blocks and its `espalier` commands run, its tables are true."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import espalier as es
from espalier.cli import main
from espalier.io import FORMATS
from kept_nets import kept_nets

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[str]:
    lines = [line.removeprefix("$ ") for block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("espalier ") and line != "espalier warm"]  # which has its tests


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory with the examples in it, and some references. Nets learn a few steps: here nobody looks."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "refs.txt").write_text(blocks(README, "text")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with kept_nets(min_steps=6):
        yield tmp_path


def test_there_is_something_to_run() -> None:
    assert len(blocks(README, "python")) == 5
    assert len(commands(README)) == 22


@pytest.mark.filterwarnings("ignore:.*say little about confidences")  # there are eighty adverts in all
@pytest.mark.parametrize("block", blocks(README, "python"))
def test_python_block(block: str, scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It runs, and prints what the comments behind its prints say."""
    exec(compile(block, "README.md", "exec"), {})
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    for words in map(str.split, shown(block)):
        assert any(line[: len(words)] == words for line in printed), (words, printed)


def shown(block: str) -> list[str]:
    """What is printed, by the comments behind prints: `# 0.9: how sure it is` and `# fruit Plum ...` begin with it."""
    comments = re.findall(r"^ *print\(.*\)  +# (.*)$", block, re.MULTILINE)
    return [re.split(r" \.\.\.|: ", comment)[0] for comment in comments if re.search(r" \.\.\.|: ", comment)]


def test_what_is_printed_is_compared() -> None:
    assert [len(shown(block)) for block in blocks(README, "python")] == [1, 4, 0, 0, 0]


@pytest.mark.parametrize("page", ["README.md", "examples/README.md"])
def test_commands(page: str, scratch: Path) -> None:
    for command in commands((ROOT / page).read_text(encoding="utf-8")):
        assert main(shlex.split(command)[1:]) == 0, command


def test_the_drawing_is_the_program_s_own(scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "-l", "examples/orchard/train.txt", "-o", "m.espalier"]) == 0
    assert main(["label", "examples/orchard/new.txt", "-m", "m.espalier", "-f", "table"]) == 0
    _, drawing = blocks(README, "text")
    assert drawing in capsys.readouterr().out


def test_before_and_after(scratch: Path) -> None:
    """What is shown of references is what becomes of them."""
    assert "`espalier parse refs.txt --output refs.bib`" in README
    assert main(["parse", "refs.txt", "--output", "refs.bib"]) == 0
    assert (scratch / "refs.bib").read_text(encoding="utf-8") == blocks(README, "bibtex")[0]


def test_the_picture_is_the_program_s_own() -> None:
    """The first references are in it, and nothing that a browser would have to fetch."""
    picture = (ROOT / "docs" / "images" / "parse.svg").read_text(encoding="utf-8")
    lines = (ROOT / "examples" / "references.txt").read_text(encoding="utf-8").splitlines()
    assert "@font-face" not in picture
    assert "url(http" not in picture
    for word in ("Grafting", "forecasts", "cameras,", "quince.", "fico.", "Alpenvorland."):
        assert word in picture
        assert any(word in line for line in lines[:6])


def test_a_style_is_learned(scratch: Path) -> None:
    """The page on styles does what it says: its commands run, and then its Python."""
    page = (ROOT / "docs" / "adapting.md").read_text(encoding="utf-8")
    for command in commands(page):
        assert main(shlex.split(command)[1:]) == 0, command
    for block in blocks(page, "python"):
        exec(compile(block, "docs/adapting.md", "exec"), {})
    for link in re.findall(r"\]\(([^)#]+)\)", page):
        assert (ROOT / "docs" / link).exists(), link


def test_extras_are_installed_where_they_are_needed() -> None:
    """Those of the table exist; a block whose command needs more than the first one does says so in its first line."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = re.findall(r"^\| .* \| `espalier-nlp(?:\[([\w,]+)\])?` \|$", README, re.MULTILINE)
    assert len(table) == 4
    for extra in ",".join(filter(None, table)).split(","):
        assert re.search(rf"^{extra} = \[", project, re.MULTILINE), extra
    (run,) = [block for block in blocks(README, "sh") if "espalier run " in block]
    assert run.splitlines()[0] == "pip install 'espalier-nlp[cluster]'"
    assert len(run.splitlines()) == 2


def test_the_server_is_asked_as_its_page_says() -> None:
    (curl,) = re.findall(r"^    (curl .*)$", README, re.MULTILINE)
    assert f"\n{curl}\n" in (ROOT / "docs" / "server-api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", ["README.md", "docs/help.md", "docs/tutorial.md", "docs/cli.md", "docs/workbench.md", "docs/server-api.md"]
)
def test_pages_for_everybody_speak_of_no_inner_loops(page: str) -> None:
    assert "inner loops" not in (ROOT / page).read_text(encoding="utf-8")


def test_every_format_is_listed() -> None:
    section = README.split("## Formats")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(FORMATS)


def test_names_and_links_exist() -> None:
    for name in re.findall(r"\bes\.(\w+)", README):
        assert hasattr(es, name)
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link


def test_the_examples_are_what_their_page_says() -> None:
    train, test, new = (es.read(ROOT / "examples" / "orchard" / f"{name}.txt") for name in ("train", "test", "new"))
    assert (len(train), len(test), len(new)) == (60, 20, 20)
    assert all(document.spans and not document.straddling for document in train + test)
    assert all(document.spans is None for document in new)
    fields = {"fruit", "variety", "form", "stock", "age", "price", "place", "contact"}
    assert {span.label for document in train + test for span in document.spans or ()} == fields


def test_demo(tmp_path: Path) -> None:
    """The script runs from anywhere, it parses references, and the model it trains is a good one."""
    shim = tmp_path / "espalier"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m espalier "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "COLUMNS")}
    demo = subprocess.run(
        ["sh", str(ROOT / "examples" / "demo.sh"), str(shim)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert demo.returncode == 0
    assert re.fullmatch(r"(espalier: crf from .* → .*\n)+", demo.stderr)
    assert "\n  12  " in demo.stdout
    assert "\n@book{" in demo.stdout
    figures = re.search(r"token accuracy ([\d.]+) +field F1 ([\d.]+)", demo.stdout)
    assert figures is not None
    assert float(figures[1]) >= 95
    assert float(figures[2]) >= 90
    assert list(tmp_path.iterdir()) == [shim]

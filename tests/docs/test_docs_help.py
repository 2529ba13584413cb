"""The help page: its commands exist, its Python prints what stands below, its links lead somewhere."""

from __future__ import annotations

import re

from doc_pages import ROOT, page, run_page, same

from espalier.cli.app import COMMANDS, GROUPS
from espalier.documents.sources import ENDINGS

NAME = "docs/help.md"


def test_python_prints_what_is_shown() -> None:
    ran = list(run_page(NAME))
    assert len(ran) == 1
    for block, printed, shown in ran:
        assert same(shown, printed), block + printed


def test_every_command_is_in_the_table() -> None:
    named = set(re.findall(r"`espalier (\w+)", page(NAME)))
    assert named <= {*COMMANDS, *GROUPS, "run"} | {"find"}
    assert named >= {*COMMANDS} - {"info", "reproduce"}


def test_the_files_of_a_folder_are_listed() -> None:
    (listed,) = re.findall(r"^Of a folder.*?these files are read: (.*?)\. stderr", page(NAME), re.DOTALL | re.MULTILINE)
    assert re.findall(r"`(\.\w+)`", listed) == list(ENDINGS)


def test_what_is_missing_without_the_command_line_depends() -> None:
    assert "needs the package '" not in page(NAME)  # typer or rich, as it happens


def test_the_line_about_compiling_is_the_program_s_own() -> None:
    said = re.search(r"^\| `(compiling [^`]+)`", page(NAME), re.MULTILINE)
    assert said is not None
    assert said[1] in (ROOT / "src" / "espalier" / "kernels" / "__init__.py").read_text(encoding="utf-8")

"""The name under which Espalier is installed is ours, and every message and page says it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import espalier as es

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = "espalier-nlp"

# `espalier` alone is another project on the package index.
FOREIGN = re.compile(r"pip3? install[^\n`&;|]*[\s'\"]espalier(?![\w-])|(?<![\w.-])espalier\\?\[")


def speaking_files() -> list[Path]:
    """Everything that can tell somebody what to install: sources, pages, scripts, settings."""
    kinds = {".py", ".md", ".toml", ".sh", ".yml", ".yaml", ".cff", ".js", ".html", ".cfg", ""}
    places = [ROOT / name for name in ("src", "docs", "bench", "scripts", "examples", ".ci", ".github")]
    found = [p for place in places for p in place.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return [p for p in [*found, *ROOT.glob("*")] if p.is_file() and p.suffix in kinds and "node_modules" not in p.parts]


def test_no_message_or_page_installs_somebody_elses_package() -> None:
    files = speaking_files()
    assert {"README.md", "capacity.md", "pyproject.toml"} <= {path.name for path in files}
    said = []
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            if FOREIGN.search(line):
                said.append(f"{path.relative_to(ROOT)}: {line.strip()}")
    assert said == []


@pytest.mark.parametrize(
    ("line", "foreign"),
    [
        ("pip install espalier", True),
        ("run: pip install 'espalier[cli]'", True),
        ("the extra espalier[serve]", True),
        ("pip install --upgrade espalier", True),
        ("pip install 'espalier-nlp[cli]'", False),
        ("pip install '.[cli]' && espalier parse", False),
        ("name.espalier[0]", False),
    ],
)
def test_the_pattern_tells_ours_from_theirs(line: str, foreign: bool) -> None:
    assert bool(FOREIGN.search(line)) == foreign


def test_every_extra_that_is_named_exists() -> None:
    named = set()
    for path in speaking_files():
        for group in re.findall(rf"{OURS}\[([\w,]+)\]", path.read_text(encoding="utf-8")):
            named |= set(group.split(","))
    assert {"cli", "documents", "serve", "cluster"} <= named <= EXTRAS.keys()


def test_name_version_and_extras() -> None:
    assert PROJECT["name"] == OURS
    assert PROJECT["version"] == es.__version__
    assert {"cli", "documents", "serve", "cluster", "reproduce", "all"} <= EXTRAS.keys()
    (everything,) = (Requirement(line) for line in EXTRAS["all"])
    assert everything.name == OURS
    assert everything.extras == {"cli", "documents", "serve", "cluster", "reproduce"}


def test_every_requirement_of_ours_is_ours() -> None:
    """An extra that stands on another names our distribution, not the module."""
    names = {Requirement(line).name for lines in EXTRAS.values() for line in lines}
    assert OURS in names
    assert "espalier" not in names


def test_examples_are_written_where_there_are_none(tmp_path: Path) -> None:
    """In a process of its own, in an empty directory; what is there already stays."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "espalier", *words]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")

    done = run("examples")
    assert (done.returncode, done.stderr) == (0, "")
    ours, theirs = ROOT / "examples", tmp_path / "examples"
    names = {p.relative_to(ours) for p in ours.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert {p.relative_to(theirs) for p in theirs.rglob("*") if p.is_file()} == names
    assert f"{len(names)} files written" in done.stdout
    (theirs / "references.txt").write_text("mine", encoding="utf-8")
    (theirs / "style.txt").unlink()
    done = run("examples")
    assert "1 file written to examples; 1 of yours differ, and stay" in done.stdout
    assert (theirs / "references.txt").read_text(encoding="utf-8") == "mine"
    assert run("examples", "-o", "examples/style.txt").returncode == 2

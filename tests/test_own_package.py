"""The example of the page 'Your own package on Espalier', as an installed distribution and by its commands."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import espalier as es

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "examples" / "package"
PAGE = (ROOT / "docs" / "own-package.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the examples, and one beside it where the package lies as an installer leaves it."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(ROOT / "examples", home / "examples")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = home / "site" / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    shutil.copy(PACKAGE / "espalier_words.py", home / "site")
    about = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(about, encoding="utf-8")
    groups = project["entry-points"].items()
    rows = [f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in own.items()) for group, own in groups]
    (info / "entry_points.txt").write_text("\n".join(rows), encoding="utf-8")
    for part in ("train", "test"):
        records = es.read(home / "examples" / "orchard" / f"{part}.txt")
        folder = home / "data" / "orchard" / "normalised"
        folder.mkdir(parents=True, exist_ok=True)
        rows = [json.dumps({"tokens": record.words, "labels": record.tags}) + "\n" for record in records]
        (folder / f"{part}.jsonl").write_text("".join(rows), encoding="utf-8")
    return home


def run(home: Path, *command: str) -> str:
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(home / "site"), str(ROOT / "src")])}
    done = subprocess.run([sys.executable, *command], env=surroundings, capture_output=True, text=True, cwd=home)
    assert done.returncode == 0, done.stderr
    return done.stdout


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_shows_the_package() -> None:
    assert (PACKAGE / "espalier_words.py").read_text(encoding="utf-8") in blocks("python")
    assert (PACKAGE / "pyproject.toml").read_text(encoding="utf-8") in blocks("toml")


def test_the_commands_of_the_page(home: Path) -> None:
    """Each runs as it stands there, in a process that has never heard of the package but by its metadata."""
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("espalier ")]
    said = [run(home, "-m", "espalier", *command.split()[1:]) for command in commands]
    assert len(commands) == 3
    assert "Pixy" in said[1]
    assert all(name in said[2] for name in ("alpha 0.1", "alpha 1", "word-tables"))


def test_the_answers_of_the_page(home: Path) -> None:
    script = """
import json, sys, espalier as es
from espalier.decoders import DECODERS
from espalier.recipes import METHODS, MODELS
before = "espalier_words" in sys.modules
model = es.load("words.espalier").model
rule = "Once: each field once [hard]"
asked = [[0.0, 1.0], [0.5, 0.0], [0.0, 1.0]], rule
steps, best, none = (
    es.decode(*asked, tokens=list("abc"), labels=["x", "y"], method=name) for name in ("steps", "auto", "auto")
)
ruled = es.CCM(MODELS["word_table"](), rule.replace(" [hard]", "")).fit([["a", "b"]], [["x", "y"]])
print(json.dumps([
    before, type(model).__module__, type(model.model_).__name__, steps.names(), best.names(), steps.certificate.method,
    str(steps.status), [*MODELS][-1], [*METHODS][-1], [*DECODERS][-1], ruled.predict([["a", "b"]]),
]))
"""
    found = json.loads(run(home, "-c", script))
    assert found[:3] == [False, "espalier_words", "CCM"]
    assert found[3] == found[4] == ["y", "y", "y"]
    assert found[5] == "steps"
    assert found[7:] == ["word_table", "self_taught", "steps", [["x", "y"]]]

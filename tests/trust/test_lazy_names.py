"""`on_use`: names of a package that are imported when they are first used."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import espalier.decoders as decoders

LAZY = {
    **{"DECODERS": "table", "first_subword": "score_forms", "Explanation": "explanation", "explain": "explanation"},
    **{"decode": "api", "marginals": "api", "sample": "api"},
}


def run(script: str, *paths: Path) -> str:
    """What a script prints in a new process."""
    prepared = f"import sys; sys.path[:0] = {[str(path) for path in paths]!r}\n{script}"
    return subprocess.run([sys.executable, "-c", prepared], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A directory with a package `orchard` whose module `trees` says when it is imported."""
    inside = tmp_path / "orchard"
    inside.mkdir()
    (inside / "__init__.py").write_text(
        "from espalier.lazy import on_use\n"
        "__all__ = ['PEAR', 'here']\n"
        "here = 1\n"
        "__getattr__, __dir__ = on_use(__name__, {'PEAR': 'trees'})\n",
        encoding="utf-8",
    )
    (inside / "trees.py").write_text("print('imported')\nPEAR = 'pear'\nAPPLE = 'apple'\n", encoding="utf-8")
    return tmp_path


def test_a_name_is_imported_once_and_only_when_used(package: Path) -> None:
    script = "import orchard; print(orchard.here, 'PEAR' in dir(orchard)); print(orchard.PEAR, orchard.PEAR)"
    assert run(script, package) == "1 True\nimported\npear pear\n"
    assert run(f"{script}; print('PEAR' in vars(orchard))", package).endswith("True\n")


def test_imports_of_names_of_stars_and_of_modules(package: Path) -> None:
    assert run("from orchard import PEAR; print(PEAR)", package) == "imported\npear\n"
    assert run("from orchard import *; print(PEAR, here)", package) == "imported\npear 1\n"
    assert run("from orchard import trees; print(trees.APPLE)", package) == "imported\napple\n"


def test_other_names_are_not_there(package: Path) -> None:
    script = "import orchard\ntry: orchard.APPLE\nexcept AttributeError as error: print(error)"
    assert run(script, package) == "module 'orchard' has no attribute 'APPLE'\n"
    assert run("import orchard; print(hasattr(orchard, 'APPLE'))", package) == "False\n"


def test_the_decoders_are_what_their_modules_hold() -> None:
    assert set(decoders.__all__) <= set(dir(decoders))
    for name, module in LAZY.items():
        assert getattr(decoders, name) is getattr(import_module(f"espalier.decoders.{module}"), name)


def test_no_module_of_the_decoders_takes_the_name_of_a_function() -> None:
    modules = {path.stem for path in Path(decoders.__file__).parent.glob("*.py")}
    assert modules.isdisjoint(LAZY)
    script = "import espalier.decoders.explanation; from espalier.decoders import *; import espalier.decoders.api; "
    script += "from espalier.decoders import explain as b; print(callable(explain), b is explain)"
    assert run(script) == "True True\n"


def test_the_methods_wait_until_they_are_asked_for() -> None:
    script = "import espalier.decoders as d; here = lambda: 'espalier.decoders.ilp' in sys.modules; "
    script += "before = here(); d.decode; d.DECODERS['ilp']; print(before, here(), d.decode.__module__)"
    assert run(script) == "False True espalier.decoders.api\n"

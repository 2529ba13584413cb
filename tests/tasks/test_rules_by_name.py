"""`es.rules` is a package that can be called, whoever imports it first and however."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import espalier

CHECK = """
assert es.rules("A: x once").K == 1
assert es.RuleSet([es.rules.Rule("A", es.rules.once("x"))]) == es.rules("A: x once")
import espalier.rules
import espalier.rules as by_name
from espalier import rules
from espalier.rules import RuleSet, rules as function
assert rules is es.rules is by_name is espalier.rules is sys.modules["espalier.rules"]
assert es.RuleSet is RuleSet and function("A: x once") == rules("A: x once") == es.rules(text="A: x once")
"""


@pytest.mark.parametrize(
    "first",
    [
        "import espalier as es",
        "import espalier.rules; import espalier as es",
        "import espalier.rules.nodes; import espalier as es",
        "from espalier import rules; import espalier as es",
        "from espalier.rules import rules; import espalier as es",
        "import espalier as es; es.decode; es.explain",
        "import espalier as es; es.RuleSet; es.rules",
        "import espalier as es; es.load_task",
        "from espalier import *; import espalier as es",
    ],
)
def test_import_orders(first: str) -> None:
    run = subprocess.run([sys.executable, "-c", f"import sys; {first}\n{CHECK}"], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_type_checkers_may_call_it(tmp_path: Path) -> None:
    """Typed code may call it, too: type checkers read imports that Python never runs."""
    pytest.importorskip("mypy", reason="needs mypy")
    (tmp_path / "user.py").write_text('import espalier as es\nk: int = es.rules("A: x once").K\n', encoding="utf-8")
    source = Path(espalier.__file__).parents[1]
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "user.py"]
    run = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(source)}, capture_output=True, text=True
    )
    assert "user.py" not in run.stdout, run.stdout
